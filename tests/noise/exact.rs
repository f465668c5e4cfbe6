//! What must hold to the last digit, whatever the data: true counterfactuals, the own world, steps and files.

use counterfair::estimate::{FitSettings, Fitted, NoiseChoice, OutputSet, fit};
use counterfair::kernel::model::worlds::{by_name, spread_by_level, three_levels_mixed};
use counterfair::kernel::model::{Exogenous, Mechanism, Noise, World, abduct, predict, simulate};
use counterfair::kernel::model::{NoiseLaw, Output, Rung};
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::people::{Panel, PanelBuilder, Person};
use counterfair::kernel::preprocess::{Oracle, Preprocessor, Sequential, batch};

/// Reconstruction is a dozen operations a step on numbers below 20; the slowest part is the inverse of a skewed law, exact to 1e-13.
const EXACT: f64 = 1e-12;

const UNEVEN: [&str; 4] = ["spread-by-level", "spread-by-state", "skewed", "three-levels-mixed"];

/// The noise that was drawn for one person.
fn drawn(exogenous: &Exogenous, i: usize, p: usize) -> Noise {
    let states = (0..=exogenous.horizon()).flat_map(|t| exogenous.states(t)[i * p..(i + 1) * p].to_vec()).collect();
    Noise { states, rewards: (0..exogenous.horizon()).map(|t| exogenous.rewards(t)[i]).collect() }
}

#[test]
fn with_the_true_mechanism_each_rung_returns_the_true_counterfactuals() {
    for name in UNEVEN {
        let world = by_name(name, 0.8).unwrap();
        let (p, levels) = (world.state_dim(), world.levels());
        let exogenous = Exogenous::draw(&*world, 60, 7, Stream::new(31).named(name));
        let panel = simulate(&*world, &exogenous);
        let weights = world.level_probabilities().to_vec();
        let by_name = || by_name(name, 0.8).unwrap();
        let sequential = batch(&Sequential::new(Known(by_name()), weights.clone()), &panel).unwrap();
        let oracle = batch(&Oracle::new(Known(by_name()), weights.clone()), &panel).unwrap();
        for (i, person) in panel.iter().enumerate() {
            let noise = drawn(&exogenous, i, p);
            let truth: Vec<_> = (0..levels).map(|k| predict(&Known(by_name()), &noise, person.actions, k)).collect();
            for (t, row) in panel.states_of(i).enumerate() {
                for (k, truth) in truth.iter().enumerate() {
                    for j in 0..p {
                        let expected = truth.states[t * p + j];
                        let at = (row * levels + k) * p + j;
                        for found in [sequential.views()[at], oracle.views()[at]] {
                            assert!(
                                (found - expected).abs() < EXACT,
                                "{name}: person {i}, time {t}, level {k}: {found} {expected}"
                            );
                        }
                    }
                }
            }
            for (t, decision) in panel.decisions_of(i).enumerate() {
                let expected: f64 = (0..levels).map(|k| weights[k] * truth[k].rewards[t]).sum();
                for found in [sequential.rewards()[decision], oracle.rewards()[decision]] {
                    assert!((found - expected).abs() < EXACT, "{name}: person {i}, reward {t}: {found} {expected}");
                }
            }
            let again = abduct(&Known(by_name()), person);
            let apart = again.states.iter().zip(&noise.states).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            // Noise of a skewed law is known less well than the state it makes: 1e-12 up to five deviations out.
            assert!(apart < 1e-11, "{name}: person {i}: noise is off by {apart:e}");
        }
    }
}

/// A boxed world as a mechanism.
struct Known(Box<dyn World>);

impl Mechanism for Known {
    fn state_dim(&self) -> usize {
        self.0.state_dim()
    }
    fn levels(&self) -> usize {
        self.0.levels()
    }
    fn actions(&self) -> usize {
        self.0.actions()
    }
    fn initial_mean(&self, level: usize) -> &[f64] {
        self.0.initial_mean(level)
    }
    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        self.0.mean(level, states, actions, next, rewards);
    }
    fn noise(&self) -> Option<&dyn NoiseLaw> {
        self.0.noise()
    }
}

/// Means, spreads and bijections that have nothing to do with the data.
struct Arbitrary;

impl Mechanism for Arbitrary {
    fn state_dim(&self) -> usize {
        2
    }
    fn levels(&self) -> usize {
        3
    }
    fn actions(&self) -> usize {
        3
    }
    fn initial_mean(&self, level: usize) -> &[f64] {
        const MEANS: [[f64; 2]; 3] = [[0.37, -1.1], [2.3, 0.61], [-0.9, 0.013]];
        &MEANS[level]
    }
    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        let z = level as f64 + 0.3;
        for ((s, next), (a, r)) in states.chunks_exact(2).zip(next.chunks_exact_mut(2)).zip(actions.iter().zip(rewards))
        {
            let a = f64::from(*a);
            next.copy_from_slice(&[(z * s[0] + a).sin(), (s[1] - 0.7 * a * z).cos()]);
            *r = (s[0] * s[1]).tanh() + z * a;
        }
    }
    fn noise(&self) -> Option<&dyn NoiseLaw> {
        Some(self)
    }
}

impl NoiseLaw for Arbitrary {
    fn initial_spread(&self, level: usize) -> &[f64] {
        const SPREADS: [[f64; 2]; 3] = [[0.4, 1.7], [1.1, 0.2], [2.3, 0.9]];
        &SPREADS[level]
    }
    fn spread(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        next.iter_mut().zip(states).for_each(|(sd, s)| *sd = 0.5 + level as f64 + s.sin().abs());
        rewards.iter_mut().zip(actions).for_each(|(sd, a)| *sd = 0.3 + f64::from(*a) * (level as f64 + 1.0));
    }
    fn to_common(&self, _: Output, level: usize, noise: f64) -> f64 {
        noise.signum() * noise.abs().powf(1.0 + 0.3 * level as f64)
    }
    fn of_common(&self, _: Output, level: usize, common: f64) -> f64 {
        common.signum() * common.abs().powf(1.0 / (1.0 + 0.3 * level as f64))
    }
}

/// Three levels, two coordinates; people of one to six decisions, some without their last state.
fn uneven_panel(people: usize, seed: u64) -> Panel {
    let world = three_levels_mixed(0.7);
    let whole = simulate(&world, &Exogenous::draw(&world, people, 6, Stream::new(seed)));
    let mut builder = PanelBuilder::new(whole.levels().clone(), whole.action_names().clone(), 2).unwrap();
    for (i, person) in whole.iter().enumerate() {
        let t = 1 + (i * i) % 6;
        let states = &person.states[..2 * (t + usize::from(i % 3 != 0))];
        let (actions, rewards) = (&person.actions[..t], &person.rewards[..t]);
        builder.push(Person { id: person.id, level: person.level, states, actions, rewards }).unwrap();
    }
    builder.finish()
}

fn settings(noise: NoiseChoice) -> FitSettings {
    FitSettings { noise, ..FitSettings::default() }
}

fn own_world_is_observed(mechanism: &impl Mechanism, panel: &Panel) {
    let (p, levels) = (panel.state_dim(), panel.levels().len());
    let made = batch(&Sequential::new(mechanism, vec![0.2, 0.3, 0.5]), panel).unwrap();
    let mut moved = 0;
    for (i, person) in panel.iter().enumerate() {
        for (t, row) in panel.states_of(i).enumerate() {
            let view = &made.views()[row * levels * p..(row + 1) * levels * p];
            let z = person.level as usize;
            assert_eq!(&view[z * p..(z + 1) * p], &person.states[t * p..(t + 1) * p], "person {i}, time {t}");
            moved += usize::from(view[(z + 1) % levels * p] != person.states[t * p]);
        }
    }
    assert!(moved > panel.people(), "other worlds are other worlds");
}

#[test]
fn the_own_component_is_the_observed_state_bit_for_bit_whatever_the_mechanism() {
    let panel = uneven_panel(240, 32);
    own_world_is_observed(&Arbitrary, &panel);
    for noise in [NoiseChoice::Scale, NoiseChoice::Rank, NoiseChoice::Chosen] {
        own_world_is_observed(&fit(&panel, &settings(noise)).unwrap(), &panel);
    }
}

#[test]
fn a_batch_is_the_fold_of_steps_on_every_rung() {
    let panel = uneven_panel(240, 33);
    let fitted = fit(&panel, &settings(NoiseChoice::Rank)).unwrap();
    let rungs: Vec<Rung> = fitted.fitted_noise().unwrap().report().outputs.iter().map(|o| o.rung).collect();
    assert_eq!(rungs, [Rung::Rank; 3]);
    let law = fitted.noise().unwrap();
    assert!(law.to_common(Output::First(0), 2, 0.5) != 0.5, "first states have a law too");
    let method = Sequential::new(fitted, panel.level_shares());
    let made = batch(&method, &panel).unwrap();
    for (i, person) in panel.iter().enumerate() {
        let mut memory = method.begin(&[person.level], &person.states[..2]);
        for (t, row) in panel.states_of(i).enumerate() {
            if t > 0 {
                method.advance(&mut memory, &person.actions[t - 1..t], &person.states[2 * t..2 * t + 2]);
            }
            assert_eq!(memory.view, made.views()[row * 6..(row + 1) * 6], "person {i}, time {t}");
            if let Some(&reward) = person.rewards.get(t) {
                let mut reward = [reward];
                method.reward(&mut memory, &person.actions[t..=t], &mut reward);
                assert_eq!(reward[0], made.rewards()[panel.decisions_of(i).start + t], "person {i}, time {t}");
            }
        }
    }
}

#[test]
fn a_file_brings_back_every_rung_and_old_files_are_additive() {
    let panel = uneven_panel(240, 34);
    for noise in [NoiseChoice::Additive, NoiseChoice::Scale, NoiseChoice::Rank, NoiseChoice::Chosen] {
        let fitted = fit(&panel, &settings(noise)).unwrap();
        let text = serde_json::to_string(&fitted).unwrap();
        let back: Fitted = serde_json::from_str(&text).unwrap();
        assert!(back == fitted && back.is_consistent(), "{noise:?}");
        assert_eq!(text.contains("\"noise\""), noise != NoiseChoice::Additive);
    }
    // One number of the file at a time made impossible.
    let text = serde_json::to_string(&fit(&panel, &settings(NoiseChoice::Rank)).unwrap()).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value["noise"]["outputs"][0]["shape"]["common"][3] = (-1e9).into();
    assert!(!serde_json::from_value::<Fitted>(value.clone()).unwrap().is_consistent(), "knots that do not increase");
    value = serde_json::from_str(&text).unwrap();
    value["noise"]["initial"][1][0] = 0.0.into();
    assert!(!serde_json::from_value::<Fitted>(value.clone()).unwrap().is_consistent(), "a spread of 0");
    value = serde_json::from_str(&text).unwrap();
    value["noise"]["outputs"][1]["spread"]["log"][2] = serde_json::json!([900.0]);
    assert!(!serde_json::from_value::<Fitted>(value).unwrap().is_consistent(), "a spread of e⁹⁰⁰");
}

#[test]
fn a_kept_coordinate_is_the_observed_one_in_every_world() {
    let panel = uneven_panel(240, 35);
    for noise in [NoiseChoice::Additive, NoiseChoice::Chosen] {
        let keep = OutputSet::default().with(1).unwrap();
        let fitted = fit(&panel, &FitSettings { noise, keep, ..FitSettings::default() }).unwrap();
        let person = panel.person(4);
        let noise = abduct(&fitted, person);
        let made = batch(&Sequential::new(fitted.clone(), panel.level_shares()), &panel).unwrap();
        for (state, view) in panel.states().chunks_exact(2).zip(made.views().chunks_exact(6)) {
            assert_eq!([view[1], view[3], view[5]], [state[1]; 3]);
        }
        for k in 0..3 {
            let world = predict(&fitted, &noise, person.actions, k);
            assert!(world.states.iter().skip(1).step_by(2).eq(person.states.iter().skip(1).step_by(2)));
        }
    }
}

/// What the additive method does wrong where σ is 0.6 at level 0 and 1.2 at level 1, with the true means.
///
/// # Equation
/// ```text
/// ŝₜᵏ − sₜᵏ = (σ_z − σ_k) Σ_{j ≤ t} (Π_{i = j}^{t−1} k_k(aᵢ)) Uⱼ,   k_z(a) = 0.5 + 0.3 (a − ½) + 0.3 δ (z − ½)
/// ```
#[test]
fn the_error_of_the_additive_method_has_its_closed_form() {
    /// The means alone.
    struct Means(counterfair::kernel::model::worlds::Linear);
    impl Mechanism for Means {
        fn state_dim(&self) -> usize {
            1
        }
        fn levels(&self) -> usize {
            2
        }
        fn actions(&self) -> usize {
            2
        }
        fn initial_mean(&self, level: usize) -> &[f64] {
            self.0.initial_mean(level)
        }
        fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
            self.0.mean(level, states, actions, next, rewards);
        }
    }
    let (delta, sd) = (0.7, [0.6, 1.2]);
    let world = spread_by_level(delta);
    let exogenous = Exogenous::draw(&world, 50, 6, Stream::new(36));
    let panel = simulate(&world, &exogenous);
    let additive =
        batch(&Sequential::new(Means(counterfair::kernel::model::worlds::Linear::new(delta)), vec![0.5; 2]), &panel)
            .unwrap();
    let scaled = batch(&Sequential::new(&world, vec![0.5; 2]), &panel).unwrap();
    let mut largest = 0.0f64;
    for (i, person) in panel.iter().enumerate() {
        let z = person.level as usize;
        let k = 1 - z;
        let mut sum = 0.0;
        for (t, row) in panel.states_of(i).enumerate() {
            if t > 0 {
                sum *= 0.5 + 0.3 * (f64::from(person.actions[t - 1]) - 0.5) + 0.3 * delta * (k as f64 - 0.5);
            }
            sum += exogenous.states(t)[i];
            let error = additive.views()[2 * row + k] - scaled.views()[2 * row + k];
            assert!((error - (sd[z] - sd[k]) * sum).abs() < EXACT, "person {i}, time {t}: {error}");
            largest = largest.max(error.abs());
        }
    }
    assert!(largest > 1.0, "an error that matters: {largest}");
}
