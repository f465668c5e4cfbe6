//! Fitted Q iteration against closed forms and exact value iteration.

use counterfair_kernel::learn::features::OneHot;
use counterfair_kernel::learn::features::{FeatureMap, Polynomial};
use counterfair_kernel::learn::{ActionValue, Clipping, FittedQError, Outcome, Settings, fitted_q_iteration};
use counterfair_kernel::people::{Labels, Panel, PanelBuilder, Person};
use counterfair_kernel::preprocess::{Experience, StateOnly, Unaware, batch};

/// Exact arithmetic up to rounding: sums of a few dozen numbers near 10.
const ROUNDING: f64 = 1e-12;

/// Two states {0, 1}, two actions, deterministic: r and s′ for each (s, a); every pair is seen, some more often.
const REWARD: [[f64; 2]; 2] = [[1.0, -0.5], [0.25, 2.0]];
const NEXT: [[usize; 2]; 2] = [[0, 1], [1, 0]];

fn tabular_panel() -> Panel {
    let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(2), 1).unwrap();
    for (i, actions) in [[0u32, 1, 0, 1, 1], [1, 0, 1, 0, 0], [1, 1, 0, 0, 1]].iter().enumerate() {
        let (mut s, mut states, mut rewards) = (i % 2, vec![], vec![]);
        states.push(s as f64);
        for &a in actions {
            rewards.push(REWARD[s][a as usize]);
            s = NEXT[s][a as usize];
            states.push(s as f64);
        }
        let id = i.to_string();
        builder.push(Person { id: &id, level: 0, states: &states, actions, rewards: &rewards }).unwrap();
    }
    builder.finish()
}

fn experience() -> Experience<StateOnly> {
    batch(&Unaware { state_dim: 1 }, &tabular_panel()).unwrap()
}

fn one_hot() -> OneHot {
    OneHot::new(vec![vec![0.0], vec![1.0]]).unwrap()
}

/// Q after B Bellman updates from zero, by hand.
fn value_iteration(iterations: usize, discount: f64, clip: impl Fn(f64) -> f64) -> [[f64; 2]; 2] {
    let mut q = [[0.0; 2]; 2];
    for _ in 0..iterations {
        let v = q.map(|row: [f64; 2]| clip(row[0].max(row[1])));
        for s in 0..2 {
            for a in 0..2 {
                q[s][a] = REWARD[s][a] + discount * v[NEXT[s][a]];
            }
        }
    }
    q
}

fn table(q: &impl ActionValue<StateOnly>) -> [[f64; 2]; 2] {
    let mut out = [0.0; 4];
    q.values(&[0.0, 1.0], &mut out);
    [[out[0], out[2]], [out[1], out[3]]]
}

#[track_caller]
fn assert_tables_agree(ours: [[f64; 2]; 2], exact: [[f64; 2]; 2]) {
    for s in 0..2 {
        for a in 0..2 {
            assert!(
                (ours[s][a] - exact[s][a]).abs() < ROUNDING,
                "Q({s}, {a}) = {} and not {}",
                ours[s][a],
                exact[s][a]
            );
        }
    }
}

#[test]
fn a_table_is_value_iteration_step_by_step() {
    for iterations in [1, 2, 7, 60] {
        let settings = Settings { discount: 0.7, iterations, ..Settings::default() };
        let fit = fitted_q_iteration(&experience(), &one_hot(), settings).unwrap();
        assert_tables_agree(table(&fit.q), value_iteration(iterations, 0.7, |v| v));
        assert_eq!(fit.transitions, 15);
        assert!(matches!(fit.outcome, Outcome::IterationLimit { iterations: done, .. } if done == iterations));
    }
}

#[test]
fn it_stops_once_values_move_by_less_than_the_tolerance() {
    let settings = Settings { discount: 0.7, iterations: 1000, tolerance: 1e-9, ..Settings::default() };
    let fit = fitted_q_iteration(&experience(), &one_hot(), settings).unwrap();
    let Outcome::Converged { iterations } = fit.outcome else { panic!("{:?}", fit.outcome) };
    // The change shrinks like 0.7^b: 1e-9 is reached near b = ln(1e-9)/ln(0.7) ≈ 58.
    assert!((45..75).contains(&iterations), "{iterations}");
    let exact = value_iteration(2000, 0.7, |v| v);
    assert!((table(&fit.q)[1][1] - exact[1][1]).abs() < 1e-7);
}

#[test]
fn the_last_change_is_reported_as_a_share_of_the_largest_value() {
    let settings = Settings { discount: 0.5, iterations: 2, ..Settings::default() };
    let fit = fitted_q_iteration(&experience(), &one_hot(), settings).unwrap();
    let Outcome::IterationLimit { change, .. } = fit.outcome else { panic!("{:?}", fit.outcome) };
    // Weights times the root mean square of their indicator, the share of an action's rows in a state.
    let (before, after) = (value_iteration(1, 0.5, |v| v), value_iteration(2, 0.5, |v| v));
    let data = experience();
    let mut counts = [[0.0f64; 2]; 2];
    for i in 0..3 {
        for (t, d) in data.decisions_of(i).enumerate() {
            counts[data.actions()[d] as usize][data.views()[data.views_of(i).start + t] as usize] += 1.0;
        }
    }
    let (mut moved, mut size) = (0.0f64, 0.0f64);
    for a in 0..2 {
        for s in 0..2 {
            let scale = (counts[a][s] / (counts[a][0] + counts[a][1])).sqrt();
            moved = moved.max((after[s][a] - before[s][a]).abs() * scale);
            size = size.max(after[s][a].abs() * scale);
        }
    }
    assert!((change - moved / size).abs() < ROUNDING, "{change} and not {}", moved / size);
}

#[test]
fn clipping_holds_rewards_and_maxima() {
    let settings = Settings { discount: 0.7, iterations: 40, clipping: Clipping::Rewards(0.5), ..Settings::default() };
    let fit = fitted_q_iteration(&experience(), &one_hot(), settings).unwrap();
    let limit = 0.5 / (1.0 - 0.7);
    let mut q = [[0.0f64; 2]; 2];
    for _ in 0..40 {
        let v = q.map(|row| row[0].max(row[1]).clamp(-limit, limit));
        for s in 0..2 {
            for a in 0..2 {
                q[s][a] = REWARD[s][a].clamp(-0.5, 0.5) + 0.7 * v[NEXT[s][a]];
            }
        }
    }
    assert_tables_agree(table(&fit.q), q);
    for bound in [0.0, -1.0, f64::NAN] {
        let settings = Settings { clipping: Clipping::Rewards(bound), ..Settings::default() };
        assert!(matches!(fitted_q_iteration(&experience(), &one_hot(), settings), Err(FittedQError::RewardBound(_))));
    }
}

#[test]
fn more_weights_than_the_data_determine_is_an_outcome_with_the_same_values_on_the_data() {
    let cubic = Polynomial::new(1, 3).unwrap();
    let settings = Settings { discount: 0.7, iterations: 5, ..Settings::default() };
    let fit = fitted_q_iteration(&experience(), &cubic, settings).unwrap();
    assert_eq!(fit.outcome, Outcome::RankDeficient { action: 0, rank: 2, features: 4 });
    assert_tables_agree(table(&fit.q), value_iteration(5, 0.7, |v| v));
}

#[test]
fn an_action_that_nobody_took_has_rank_zero() {
    let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(3), 1).unwrap();
    builder
        .push(Person { id: "1", level: 0, states: &[0.0, 1.0, 0.0], actions: &[0, 2], rewards: &[1.0, -1.0] })
        .unwrap();
    let data = batch(&Unaware { state_dim: 1 }, &builder.finish()).unwrap();
    let fit = fitted_q_iteration(&data, &Polynomial::new(1, 0).unwrap(), Settings::default()).unwrap();
    assert_eq!(fit.outcome, Outcome::RankDeficient { action: 1, rank: 0, features: 1 });
}

#[test]
fn nearly_collinear_features_fall_back_to_the_rows_and_keep_their_digits() {
    // x near 1000 with spread 1: 1, x, x² have a Gram condition near 1e25 and need the QR path. y is an exact quadratic.
    let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(1), 1).unwrap();
    let states: Vec<f64> = (0..50).map(|i| 1000.0 + (i % 7) as f64 * 0.3).collect();
    let reward = |x: f64| 2.0 + 0.5 * (x - 1000.0) - 0.25 * (x - 1000.0).powi(2);
    let rewards: Vec<f64> = states[..49].iter().map(|x| reward(*x)).collect();
    builder.push(Person { id: "1", level: 0, states: &states, actions: &[0; 49], rewards: &rewards }).unwrap();
    let data = batch(&Unaware { state_dim: 1 }, &builder.finish()).unwrap();
    let settings = Settings { iterations: 1, ..Settings::default() };
    let raw = fitted_q_iteration(&data, &Polynomial::new(1, 2).unwrap(), settings).unwrap();
    assert!(raw.condition > 1e6, "condition {}", raw.condition);
    assert!(matches!(raw.outcome, Outcome::IterationLimit { .. }));
    let mut q = [0.0];
    raw.q.values(&[1000.45], &mut q);
    assert!((q[0] - reward(1000.45)).abs() < 1e-4, "{} and not {}", q[0], reward(1000.45));
    let standardised = Polynomial::for_rows(data.views(), 1, 1, 2).unwrap();
    let good = fitted_q_iteration(&data, &standardised, settings).unwrap();
    assert!(good.condition < 10.0);
    good.q.values(&[1000.45], &mut q);
    assert!((q[0] - reward(1000.45)).abs() < 1e-11);
}

/// φ(s) = s with states that double: the fixed point of the projected operator does not exist, iterates grow like (2γ)^b.
#[test]
fn values_that_run_away_are_called_divergent() {
    let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(1), 1).unwrap();
    builder.push(Person { id: "1", level: 0, states: &[1.0, 2.0], actions: &[0], rewards: &[1.0] }).unwrap();
    let data = batch(&Unaware { state_dim: 1 }, &builder.finish()).unwrap();
    let settings = Settings { discount: 0.9, iterations: 200, ..Settings::default() };
    let fit = fitted_q_iteration(&data, &Identity, settings).unwrap();
    // w_b = Σ_{j<b} 1.8^j first exceeds 1e6 · 2 / (1 − 0.9) = 2e7 at b = 29.
    assert_eq!(fit.outcome, Outcome::Diverged { iteration: 29 });
}

#[derive(Clone, Debug)]
struct Identity;

impl FeatureMap for Identity {
    fn inputs(&self) -> usize {
        1
    }
    fn count(&self) -> usize {
        1
    }
    fn fill(&self, rows: &[f64], out: &mut [f64]) {
        out.copy_from_slice(rows);
    }
}

#[test]
fn calls_that_make_no_sense_are_errors_with_their_values() {
    let data = experience();
    for discount in [-0.1, 1.0, f64::NAN] {
        let settings = Settings { discount, ..Settings::default() };
        assert!(matches!(
            fitted_q_iteration(&data, &one_hot(), settings),
            Err(FittedQError::DiscountOutsideUnitInterval(_))
        ));
    }
    let wide = Polynomial::new(2, 1).unwrap();
    assert_eq!(
        fitted_q_iteration(&data, &wide, Settings::default()).unwrap_err(),
        FittedQError::Width { features: 2, view: 1 }
    );
    let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(1), 1).unwrap();
    builder.push(Person { id: "1", level: 0, states: &[0.5], actions: &[0], rewards: &[1.0] }).unwrap();
    let alone = batch(&Unaware { state_dim: 1 }, &builder.finish()).unwrap();
    assert_eq!(fitted_q_iteration(&alone, &Identity, Settings::default()).unwrap_err(), FittedQError::NoTransitions);
}

#[test]
fn digits_do_not_depend_on_the_number_of_threads() {
    // 33 000 rows make three tasks. Which action pays depends on the state, so greedy actions settle and are held.
    let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(2), 1).unwrap();
    for i in 0..3000 {
        let states: Vec<f64> = (0..11).map(|t| ((i * 37 + t * 91) % 101) as f64 / 50.0 - 1.0).collect();
        let actions: Vec<u32> = (0..10).map(|t| ((i + t * t) % 2) as u32).collect();
        let rewards: Vec<f64> =
            states.iter().zip(&actions).map(|(s, a)| s * s - 0.3 * s + f64::from(*a) * (s - 0.2)).collect();
        let id = i.to_string();
        builder.push(Person { id: &id, level: 0, states: &states, actions: &actions, rewards: &rewards }).unwrap();
    }
    let data = batch(&Unaware { state_dim: 1 }, &builder.finish()).unwrap();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fitted_q_iteration(&data, &Polynomial::new(1, 3).unwrap(), Settings::default()).unwrap())
    };
    assert_eq!(run(1).q.weights(), run(4).q.weights());
}

/// The state twice: an action's weights are never determined.
#[derive(Clone)]
struct Twice;

impl FeatureMap for Twice {
    fn inputs(&self) -> usize {
        1
    }
    fn count(&self) -> usize {
        2
    }
    fn fill(&self, rows: &[f64], out: &mut [f64]) {
        out[..rows.len()].copy_from_slice(rows);
        out[rows.len()..].copy_from_slice(rows);
    }
}

#[test]
fn divergence_is_told_before_a_deficient_rank() {
    let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(1), 1).unwrap();
    // The state doubles, and with it what is promised: q grows by 2γ = 1.8 an iteration.
    builder.push(Person { id: "a", level: 0, states: &[1.0, 2.0], actions: &[0], rewards: &[1.0] }).unwrap();
    let data = batch(&Unaware { state_dim: 1 }, &builder.finish()).unwrap();
    let run = |iterations| {
        let settings = Settings { discount: 0.9, iterations, tolerance: 0.0, clipping: Clipping::Off };
        fitted_q_iteration(&data, &Twice, settings).unwrap()
    };
    let few = run(3);
    assert_eq!(few.outcome, Outcome::RankDeficient { action: 0, rank: 1, features: 2 });
    let mut value = [0.0];
    few.q.values(&[1.0], &mut value);
    assert!((value[0] - (1.0 + 1.8 + 3.24)).abs() < 1e-10, "{value:?}");
    assert!(matches!(run(100).outcome, Outcome::Diverged { iteration: 20..60 }));
}
