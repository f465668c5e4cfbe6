//! Fitted mechanisms against an independent implementation, closed forms and worlds without noise.

use super::*;
use crate::kernel::model::worlds::ThreeLevels;
use crate::kernel::model::{Exogenous, simulate};
use crate::kernel::people::{Labels, PanelBuilder, Person};

/// One decision of a made-up panel: next state and reward.
type Law<'a> = &'a dyn Fn(usize, f64, usize) -> (f64, f64);

/// A panel whose states are scattered by a formula; every person decides once. Levels change after `steps` people.
fn scattered(levels: usize, people: usize, steps: usize, law: Law) -> Panel {
    let mut builder = PanelBuilder::new(Labels::numbered(levels), Labels::numbered(2), 1).unwrap();
    for i in 0..people * steps {
        let state = 2.5 * (1.7 * i as f64 + 0.3 * ((i / steps) as f64)).sin();
        let (level, action) = ((i / steps) % levels, (i * i + i / 3) % 2);
        let (next, reward) = law(level, state, action);
        let id = i.to_string();
        let person = Person {
            id: &id,
            level: level as u32,
            states: &[state, next],
            actions: &[action as u32],
            rewards: &[reward],
        };
        builder.push(person).unwrap();
    }
    builder.finish()
}

fn mean(fitted: &Fitted, level: usize, state: f64, action: u32) -> (f64, f64) {
    let (mut next, mut reward) = ([0.0], [0.0]);
    fitted.mean(level, &[state], &[action], &mut next, &mut reward);
    (next[0], reward[0])
}

fn settings(basis: Basis, pooling: Pooling) -> FitSettings {
    FitSettings { basis, pooling, ..FitSettings::default() }
}

/// Fourteen people of nine decisions in one level; the figures come from SciPy's natural `CubicSpline` and dense normal equations.
fn reference_panel() -> Panel {
    let x = |i: usize, t: usize| {
        let (i, t) = (i as f64, t as f64);
        2.5 * (1.7 * i + 2.3 * t + 0.4 * i * t).sin() + 0.3 * i / 14.0
    };
    let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(2), 1).unwrap();
    for i in 0..14 {
        let states: Vec<f64> = (0..10).map(|t| x(i, t)).collect();
        let actions: Vec<u32> = (0..9).map(|t| (((i * i + t * t * t + i * t) / 2) % 2) as u32).collect();
        let reward = |t: usize| {
            let s = states[t];
            s.cos() + 0.2 * f64::from(actions[t]) * s + 0.05 * (9.0 * states[t + 1]).sin()
        };
        let rewards: Vec<f64> = (0..9).map(reward).collect();
        let id = i.to_string();
        builder.push(Person { id: &id, level: 0, states: &states, actions: &actions, rewards: &rewards }).unwrap();
    }
    builder.finish()
}

#[test]
fn smoothing_agrees_with_an_independent_implementation() {
    let fitted = fit(&reference_panel(), &settings(Basis::Spline, Pooling::PerLevel)).unwrap();
    let report = &fitted.reports()[0];
    assert_eq!((report.rows, report.columns, report.rank, report.level), (126, 24, 24, Some(0)));
    // The next state follows no law: cross-validation takes the straight line. The reward is a wave: λ = 10⁻⁶, seventeen degrees.
    let close = |ours: f64, expected: f64| approx::assert_relative_eq!(ours, expected, max_relative = 1e-7);
    close(report.degrees[0], 4.00000270656);
    close(report.degrees[1], 17.0400706765);
    close(report.residual_sd[0], 1.77125562036);
    close(report.residual_sd[1], 0.0338249907605);
    for (state, action, next, reward) in [
        (-4.0, 0, -0.160501977068, -1.93634932207),
        (-1.1, 0, 0.0146157408838, 0.440775367987),
        (0.3, 1, 0.280731423259, 1.02896965927),
        (2.2, 1, 0.844005745824, -0.166530926702),
        (5.0, 1, 1.67409460162, -1.32383716133),
    ] {
        let (ours_next, ours_reward) = mean(&fitted, 0, state, action);
        close(ours_next, next);
        close(ours_reward, reward);
    }
}

#[test]
fn no_action_is_special_to_the_penalty() {
    let law = |_: usize, s: f64, a: usize| (0.3 * s, if a == 0 { s.sin() } else { 0.4 * s * s });
    let swap = |panel: &Panel| {
        let mut builder = PanelBuilder::new(panel.levels().clone(), panel.action_names().clone(), 1).unwrap();
        for person in panel.iter() {
            let actions: Vec<u32> = person.actions.iter().map(|a| 1 - a).collect();
            builder.push(Person { actions: &actions, ..person }).unwrap();
        }
        builder.finish()
    };
    let how = settings(Basis::Spline, Pooling::Pooled);
    let one = fit(&scattered(2, 30, 3, &law), &how).unwrap();
    let other = fit(&swap(&scattered(2, 30, 3, &law)), &how).unwrap();
    for (level, state) in [(0, -3.0), (1, 0.7), (0, 2.0)] {
        for action in 0..2 {
            let (a, b) = (mean(&one, level, state, action), mean(&other, level, state, 1 - action));
            approx::assert_relative_eq!(a.1, b.1, max_relative = 1e-8);
        }
    }
}

#[test]
fn a_steep_state_is_held_to_gain_one_and_a_steep_reward_is_not() {
    // Both are the same wave, whose slope reaches 2.4; the straight line through it is nearly flat.
    let fitted = fit(
        &scattered(1, 60, 4, &|_, s, _| (1.2 * (2.0 * s).sin(), 1.2 * (2.0 * s).sin())),
        &settings(Basis::Spline, Pooling::PerLevel),
    )
    .unwrap();
    assert!(fitted.gain() <= 1.0, "{}", fitted.gain());
    let rise =
        |output: fn((f64, f64)) -> f64| (output(mean(&fitted, 0, 0.05, 0)) - output(mean(&fitted, 0, -0.05, 0))) / 0.1;
    assert!(rise(|m| m.1) > 2.0, "{}", rise(|m| m.1));
    assert!(rise(|m| m.0) < 1.0, "{}", rise(|m| m.0));
}

#[test]
fn a_state_that_grows_by_itself_keeps_its_gain() {
    // μ = 1.3 s + a wave: the straight line has gain 1.3 already, so as much is allowed.
    let law = |_: usize, s: f64, _: usize| (1.3 * s, s);
    let fitted = fit(&scattered(1, 40, 4, &law), &settings(Basis::Spline, Pooling::PerLevel)).unwrap();
    approx::assert_relative_eq!(fitted.gain(), 1.3, max_relative = 1e-6);
}

#[test]
fn levels_are_pooled_when_that_predicts_better_and_only_then() {
    // A little "noise" that no function of the state explains, so that sparing parameters pays.
    let noise = |s: f64| 0.3 * (1e4 * s).sin();
    let additive = |z: usize, s: f64, a: usize| (0.5 * s.sin() + 0.2 * (a + z) as f64 + noise(s), s + noise(s));
    let crossed = |z: usize, s: f64, a: usize| (if a == z { 0.9 * s.sin() } else { -0.9 * s.sin() } + noise(s), s);
    let how = |pooling| settings(Basis::Spline, pooling);
    for (law, expected) in [(&additive as Law, Pooling::Pooled), (&crossed, Pooling::PerLevel)] {
        let panel = scattered(2, 40, 3, law);
        let chosen = fit(&panel, &how(Pooling::Chosen)).unwrap();
        assert_eq!(chosen, fit(&panel, &how(expected)).unwrap(), "{expected:?}");
    }
}

#[test]
fn every_basis_recovers_a_world_it_contains() {
    let law = |z: usize, s: f64, a: usize| {
        (0.2 + 0.4 * s - 0.3 * a as f64 + 0.1 * z as f64 * s, 1.0 - 0.5 * s + 0.25 * (a * z) as f64)
    };
    let panel = scattered(3, 40, 3, &law);
    for basis in [Basis::Linear, Basis::Polynomial(2), Basis::Trigonometric, Basis::Spline] {
        for pooling in [Pooling::Pooled, Pooling::PerLevel, Pooling::Chosen] {
            let fitted = fit(&panel, &settings(basis, pooling)).unwrap();
            for (level, state, action) in [(0, -1.3, 0), (1, 0.4, 1), (2, 2.0, 1), (2, -0.2, 0)] {
                let ((next, reward), (true_next, true_reward)) =
                    (mean(&fitted, level, state, action as u32), law(level, state, action));
                approx::assert_abs_diff_eq!(next, true_next, epsilon = 1e-7);
                approx::assert_abs_diff_eq!(reward, true_reward, epsilon = 1e-7);
            }
            assert!(fitted.is_consistent());
        }
    }
}

#[test]
fn waves_need_sine_and_cosine() {
    let law = |_: usize, s: f64, a: usize| (0.3 * s.sin() - 0.2 * s.cos() * a as f64, 2.0 * s);
    let fitted = fit(&scattered(2, 30, 3, &law), &settings(Basis::Trigonometric, Pooling::Pooled)).unwrap();
    for state in [-2.0, 0.3, 9.0] {
        approx::assert_abs_diff_eq!(mean(&fitted, 1, state, 1).0, law(1, state, 1).0, epsilon = 1e-10);
    }
}

#[test]
fn the_gain_is_the_largest_row_sum_of_slopes_in_ranges() {
    // The three-level world is two-dimensional and known; its fitted linear form has the row sums of its own coefficients.
    let world = ThreeLevels::new(1.0);
    let panel = simulate(&world, &Exogenous::draw(&world, 200, 6, Stream::new(3)));
    let fitted = fit(&panel, &settings(Basis::Linear, Pooling::PerLevel)).unwrap();
    let range = |j: usize| {
        let column = || panel.states().iter().skip(j).step_by(2).copied();
        column().fold(f64::MIN, f64::max) - column().fold(f64::MAX, f64::min)
    };
    let mut largest = 0.0f64;
    for level in 0..3 {
        for action in 0..fitted.actions() as u32 {
            let at = |state: [f64; 2]| {
                let (mut next, mut reward) = ([0.0; 2], [0.0]);
                fitted.mean(level, &state, &[action], &mut next, &mut reward);
                next
            };
            let (origin, right, up) = (at([0.0, 0.0]), at([1.0, 0.0]), at([0.0, 1.0]));
            for j in 0..2 {
                let slopes = (right[j] - origin[j]).abs() * range(0) + (up[j] - origin[j]).abs() * range(1);
                largest = largest.max(slopes / range(j));
            }
        }
    }
    approx::assert_relative_eq!(fitted.gain(), largest, max_relative = 1e-6);
    assert!(largest > 0.2, "a world in which something moves");
}

#[test]
fn a_mechanism_from_a_file_must_fit_together() {
    let law = |z: usize, s: f64, a: usize| (0.4 * s + 0.1 * z as f64, 1.0 - 0.5 * s + 0.25 * a as f64);
    let fitted = fit(&scattered(2, 20, 3, &law), &settings(Basis::Linear, Pooling::PerLevel)).unwrap();
    assert_eq!(fitted.basis(1), Some(&StateBasis::Linear { coordinates: 1 }));
    let with = |change: &dyn Fn(&mut Fitted)| {
        let mut changed = fitted.clone();
        change(&mut changed);
        changed.is_consistent()
    };
    assert!(with(&|_| {}));
    assert!(!with(&|f| f.initial[0].push(0.5)));
    assert!(!with(&|f| f.initial[1][0] = f64::NAN));
    assert!(!with(&|f| f.actions = 3));
    assert!(!with(&|f| f.initial.truncate(1)));
    // No coordinate, no level, no action: the parts agree with each other, and are still no mechanism.
    let nothing = |state_dim: usize, actions: usize, initial: Vec<Vec<f64>>, coefficients: Vec<Vec<Vec<f64>>>| {
        let bases = [StateBasis::Linear { coordinates: state_dim }];
        let means = serde_json::json!({ "table": { "bases": bases, "coefficients": coefficients } });
        let means = serde_json::from_value(means).unwrap();
        Fitted { state_dim, actions, initial, means, ..fitted.clone() }.is_consistent()
    };
    assert!(nothing(1, 2, vec![vec![0.3]; 2], vec![vec![vec![0.5; 4]; 2]; 2]), "the same with everything");
    assert!(!nothing(0, 2, vec![vec![]; 2], vec![vec![vec![0.5]; 2]; 2]));
    assert!(!nothing(1, 2, vec![], vec![]));
    assert!(!nothing(1, 0, vec![vec![0.3]; 2], vec![vec![]; 2]));
}
