use super::*;
use crate::kernel::learn::features::FeatureMap;
use crate::kernel::learn::{
    ActionValue, FittedQError, LinearQ, Outcome, Settings, decision_values, fitted_q_iteration,
};
use crate::kernel::model::worlds::{Linear, ThreeLevels};
use crate::kernel::model::{Exogenous, World, simulate};
use crate::kernel::numeric::{Stream, fill_standard_normal};
use crate::kernel::people::{Labels, Panel, PanelBuilder, Person};
use crate::kernel::preprocess::{Augmented, Experience, Full, Oracle, StateOnly, Unaware, batch};

fn three_levels(people: usize, horizon: usize, seed: u64) -> (Panel, Experience<Augmented>, Vec<f64>) {
    let world = ThreeLevels::new(0.7);
    let panel = simulate(&world, &Exogenous::draw(&world, people, horizon, Stream::new(seed)));
    let weights = world.level_probabilities().to_vec();
    let experience = batch(&Oracle::new(world, weights.clone()), &panel).unwrap();
    (panel, experience, weights)
}

#[test]
fn without_penalties_it_is_fitted_q_iteration_on_the_same_features() {
    let world = Linear::new(0.6);
    let panel = simulate(&world, &Exogenous::draw(&world, 400, 8, Stream::new(21)));
    let experience = batch(&Oracle::new(world, vec![0.5, 0.5]), &panel).unwrap();
    let settings = StableSettings {
        discount: 0.7,
        tolerance: 1e-13,
        penalties: Penalties::Fixed(0.0),
        contrast: Contrast::Degree(2),
        ..StableSettings::default()
    };
    let stable = stable_fitted_q(&experience, Coordinates::Worlds { weights: &[0.5, 0.5] }, &settings).unwrap();
    assert!(matches!(stable.outcome, Outcome::Converged { .. }), "{:?}", stable.outcome);
    let plain_settings = Settings { discount: 0.7, iterations: 300, ..Settings::default() };
    let plain = fitted_q_iteration(&experience, stable.q.features(), plain_settings).unwrap();
    let (a, b) = (decision_values(&stable.q, &experience), decision_values(&plain.q, &experience));
    let apart = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    // Values of size 10, Gram matrices with condition numbers near 1e4.
    assert!(apart < 1e-8, "{apart}");
    // The control: with the default's penalties they do part.
    let penalised = StableSettings { penalties: Penalties::Evidence, ..settings };
    let penalised = stable_fitted_q(&experience, Coordinates::Worlds { weights: &[0.5, 0.5] }, &penalised).unwrap();
    let c = decision_values(&penalised.q, &experience);
    assert!(a.iter().zip(&c).map(|(a, c)| (a - c).abs()).fold(0.0, f64::max) > 1e-3);
}

#[test]
fn it_converges_for_every_view_and_keeps_to_what_rewards_allow() {
    let (panel, augmented, weights) = three_levels(150, 4, 5);
    let settings = StableSettings { discount: 0.7, ..StableSettings::default() };
    let full = batch(&Full { state_dim: 2 }, &panel).unwrap();
    let unaware = batch(&Unaware { state_dim: 2 }, &panel).unwrap();
    let check = |outcome: Outcome, values: &[f64], bounds: (f64, f64)| {
        assert!(matches!(outcome, Outcome::Converged { .. }), "{outcome:?}");
        let slack = 0.1 * (bounds.1 - bounds.0);
        assert!(values.iter().all(|q| *q > bounds.0 - slack && *q < bounds.1 + slack));
    };
    let ours = stable_fitted_q(&augmented, Coordinates::Worlds { weights: &weights }, &settings).unwrap();
    check(ours.outcome, &decision_values(&ours.q, &augmented), ours.bounds);
    let with = stable_fitted_q(&full, Coordinates::States { levels: 3 }, &settings).unwrap();
    check(with.outcome, &decision_values(&with.q, &full), with.bounds);
    let without = stable_fitted_q(&unaware, Coordinates::States { levels: 1 }, &settings).unwrap();
    check(without.outcome, &decision_values(&without.q, &unaware), without.bounds);
    // Four coordinates more in six: two worlds' deviations of two states, against two contrasts of a code, against none.
    assert_eq!([ours.q.features().count(), with.q.features().count(), without.q.features().count()], [28, 15, 6]);
}

#[test]
fn another_order_of_people_changes_last_digits_only() {
    let (panel, experience, weights) = three_levels(120, 5, 9);
    let order: Vec<usize> = (0..120).map(|i| (i * 77 + 13) % 120).collect();
    let world = ThreeLevels::new(0.7);
    let shuffled = batch(&Oracle::new(world, weights.clone()), &panel.select(&order)).unwrap();
    let learn = |experience: &Experience<Augmented>| {
        let coordinates = Coordinates::Worlds { weights: &weights };
        stable_fitted_q(experience, coordinates, &StableSettings::default()).unwrap()
    };
    let (a, b) = (learn(&experience), learn(&shuffled));
    assert_eq!(a.contrast_degree, b.contrast_degree);
    let (a, b) = (decision_values(&a.q, &experience), decision_values(&b.q, &experience));
    let scale = a.iter().fold(0.0f64, |m, q| m.max(q.abs()));
    let apart = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    // Updates of penalties stop a per cent short, and rounding may let one run stop an update earlier; sums differ by 1e-13.
    assert!(apart < 1e-6 * scale, "{apart} of {scale}");
}

/// Rewards s + a·edge(s) + noise and states that forget: what is best is known.
fn people(n: usize, edge: impl Fn(f64) -> f64, treated: impl Fn(usize) -> bool) -> Experience<StateOnly> {
    let mut noise = vec![0.0; n * 8];
    fill_standard_normal(&mut Stream::new(77).named("people").rng(), &mut noise);
    let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(2), 1).unwrap();
    for i in 0..n {
        let states = &noise[i * 8..i * 8 + 4];
        let actions: Vec<u32> = (0..3).map(|t| u32::from(treated(i * 3 + t))).collect();
        let reward = |t: usize| {
            let gain = if actions[t] == 1 { edge(states[t]) } else { 0.0 };
            states[t] + gain + 0.3 * noise[i * 8 + 4 + t]
        };
        let (id, rewards) = (i.to_string(), [reward(0), reward(1), reward(2)]);
        builder.push(Person { id: &id, level: 0, states, actions: &actions, rewards: &rewards }).unwrap();
    }
    batch(&Unaware { state_dim: 1 }, &builder.finish()).unwrap()
}

#[test]
fn the_degree_of_contrasts_is_that_of_the_difference_between_actions() {
    let settings = StableSettings { discount: 0.5, ..StableSettings::default() };
    let coordinates = Coordinates::States { levels: 1 };
    let edges: [fn(f64) -> f64; 3] = [|_| 0.4, |s| 0.5 * s, |s| 0.4 * s * s - 0.3];
    for (degree, edge) in edges.into_iter().enumerate() {
        let data = people(250, edge, |i| i % 3 == 0);
        let learned = stable_fitted_q(&data, coordinates, &settings).unwrap();
        assert_eq!(learned.contrast_degree, degree);
        for s in [-1.5, -0.4, 1.3] {
            let mut q = [0.0; 2];
            learned.q.values(&[s], &mut q);
            assert!((q[1] - q[0] - edge(s)).abs() < 0.25, "degree {degree} at {s}: {q:?}");
        }
    }
}

#[test]
fn pessimism_prefers_what_the_data_cover() {
    // Seven decisions of 600 with action 1, which seems better by little.
    let data = people(200, |_| 0.1, |i| i % 97 == 5);
    let coordinates = Coordinates::States { levels: 1 };
    let learn = |pessimism: f64| {
        // A small penalty: evidence would see no difference between actions in seven decisions, and nothing to be unsure of.
        let (penalties, contrast) = (Penalties::Fixed(1.0), Contrast::Degree(1));
        let settings = StableSettings { discount: 0.5, pessimism, penalties, contrast, ..Default::default() };
        stable_fitted_q(&data, coordinates, &settings).unwrap()
    };
    let (estimate, bound) = (learn(0.0), learn(3.0));
    assert!(matches!(bound.outcome, Outcome::Converged { .. }));
    let (a, b) = (decision_values(&estimate.q, &data), decision_values(&bound.q, &data));
    assert!(a.iter().zip(&b).all(|(a, b)| b < a), "a lower bound is below the estimate");
    let edge = |q: &[f64]| q.chunks_exact(2).map(|q| q[1] - q[0]).sum::<f64>() / (q.len() / 2) as f64;
    assert!(edge(&b) < edge(&a) - 0.05, "{} and {}", edge(&b), edge(&a));
}

#[test]
fn hostile_data_are_learned_from_without_an_accident() {
    // Collinear, constant and huge states, more columns than rows, an action seen once at one level, rewards all equal.
    let mut noise = vec![0.0; 60 * 4];
    fill_standard_normal(&mut Stream::new(3).named("hostile").rng(), &mut noise);
    for (states, rewards_spread) in [(10, 1.0), (3, 0.0)] {
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(3), states).unwrap();
        for i in 0..60 {
            let level = u32::from(i % 4 == 0);
            let row = |t: usize| -> Vec<f64> {
                let x = noise[i * 4 + t];
                (0..states).map(|j| [x, 7.0, 1e9 + 1e3 * x, f64::from(level)][j % 4] + (j / 4) as f64 * x).collect()
            };
            let all: Vec<f64> = (0..4).flat_map(row).collect();
            let actions: Vec<u32> =
                (0..3).map(|t| if level == 1 && (i, t) != (8, 1) { 0 } else { (i + t) as u32 % 3 }).collect();
            let rewards: Vec<f64> = (0..3).map(|t| 0.25 + rewards_spread * noise[i * 4 + t]).collect();
            let id = i.to_string();
            builder.push(Person { id: &id, level, states: &all, actions: &actions, rewards: &rewards }).unwrap();
        }
        let panel = builder.finish();
        let experience = batch(&Full { state_dim: states }, &panel).unwrap();
        let settings = StableSettings { discount: 0.95, ..StableSettings::default() };
        let learned = stable_fitted_q(&experience, Coordinates::States { levels: 2 }, &settings).unwrap();
        assert!(matches!(learned.outcome, Outcome::Converged { .. }), "{:?}", learned.outcome);
        assert!(decision_values(&learned.q, &experience).iter().all(|q| q.is_finite()));
    }
}

#[test]
fn what_makes_no_sense_is_an_error_with_its_numbers() {
    let (_, experience, weights) = three_levels(20, 3, 1);
    let settings = StableSettings { discount: 1.0, ..StableSettings::default() };
    let error = stable_fitted_q(&experience, Coordinates::Worlds { weights: &weights }, &settings).unwrap_err();
    assert_eq!(error, FittedQError::DiscountOutsideUnitInterval(1.0));
    let five = Coordinates::Worlds { weights: &[0.2; 5] };
    let error = stable_fitted_q(&experience, five, &StableSettings::default()).unwrap_err();
    assert!(matches!(error, FittedQError::Coordinates { view: 6, .. }), "{error}");
}

#[test]
fn a_stored_action_value_decides_as_the_learned_one() {
    let (_, experience, weights) = three_levels(80, 4, 2);
    let coordinates = Coordinates::Worlds { weights: &weights };
    let learned = stable_fitted_q(&experience, coordinates, &StableSettings::default()).unwrap();
    let stored = serde_json::to_string(&learned.q.features()).unwrap();
    let features: Winsorised = serde_json::from_str(&stored).unwrap();
    let q = LinearQ::<Augmented, _>::new(features, 3, learned.q.weights().to_vec());
    assert_eq!(decision_values(&q, &experience), decision_values(&learned.q, &experience));
}

/// Which action pays depends on the level alone: states are noise, and penalties drive everything that reads them out.
#[test]
fn a_level_may_matter_where_the_state_does_not() {
    let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).unwrap();
    for i in 0..240u32 {
        let mut noise = [0.0; 5];
        fill_standard_normal(&mut Stream::new(77).index(u64::from(i)).rng(), &mut noise);
        let (level, actions) = (i % 2, [(i / 2) % 2, (i / 4) % 2]);
        let pays = |t: usize| f64::from(u8::from(actions[t] == level)) + 0.07 * noise[3 + t];
        let (id, rewards) = (i.to_string(), [pays(0), pays(1)]);
        builder.push(Person { id: &id, level, states: &noise[..3], actions: &actions, rewards: &rewards }).unwrap();
    }
    let experience = batch(&Full { state_dim: 1 }, &builder.finish()).unwrap();
    let found = stable_fitted_q(&experience, Coordinates::States { levels: 2 }, &StableSettings::default()).unwrap();
    assert!(found.contrast_degree > 0);
    for (view, level) in experience.views().chunks_exact(2).map(|view| (view, view[1])) {
        let mut q = [0.0; 2];
        found.q.values(view, &mut q);
        assert!((q[1] > q[0]) == (level == 1.0), "{view:?}: {q:?}");
    }
}
