//! Fitted Q evaluation against the exact value of a policy in a finite world.

use crate::fixture::*;
use crate::oracle::counterfactual_states;
use counterfair::audit::{
    EvaluationError, EvaluationSettings, FittedEvaluation, fitted_q_evaluation, probabilities_along,
};
use counterfair::kernel::learn::features::OneHot;
use counterfair::kernel::learn::features::{FeatureMap, Polynomial};
use counterfair::kernel::learn::{ActionValue, Agent, Deployed, FittedQError, Outcome};
use counterfair::kernel::model::worlds::Linear;
use counterfair::kernel::model::{Exogenous, World, simulate};
use counterfair::kernel::numeric::uniform_index;
use counterfair::kernel::numeric::{Estimate, Stream};
use counterfair::kernel::people::{Labels, Panel, PanelBuilder, Person};
use counterfair::kernel::preprocess::{Experience, Full, Sequential, StateAndLevel, Unaware, View, batch};
use counterfair::theory::FiniteMdp;

const FOR_EVER: EvaluationSettings = EvaluationSettings { discount: DISCOUNT, iterations: 90, tolerance: 0.0 };

/// γ⁹⁰ = 1e−14. Two decisions reach all twelve states (s, z).
fn census() -> Panel {
    let world = plain();
    simulate(&world, &world.census(2, 4, 1).unwrap())
}

fn full_agent() -> impl Agent {
    Deployed::new(Full { state_dim: 1 }, Rule { rule: |x: &[usize]| full_rule(x[0], x[1]), deterministic: false })
}

/// Policy on (s, z) as a table of the observed process.
fn full_table(mdp: &FiniteMdp) -> Vec<f64> {
    mdp.points().iter().flat_map(|x| full_rule(x[0] as usize, x[1] as usize)).collect()
}

fn fqe<V: View, F: FeatureMap + Clone>(
    experience: &Experience<V>,
    panel: &Panel,
    agent: &dyn Agent,
    features: &F,
    settings: EvaluationSettings,
) -> FittedEvaluation<V, F> {
    let coins = vec![0.5; panel.people()];
    let probabilities = probabilities_along(panel, agent, &coins).unwrap();
    fitted_q_evaluation(experience, &probabilities, features, settings).unwrap()
}

#[test]
fn on_the_census_the_value_of_a_policy_on_state_and_level_is_exact() {
    let (panel, mdp) = (census(), FiniteMdp::observed(&plain()));
    let experience = batch(&Full { state_dim: 1 }, &panel).unwrap();
    let features = OneHot::new(mdp.points().to_vec()).unwrap();
    let found = fqe(&experience, &panel, &full_agent(), &features, FOR_EVER);
    let values = mdp.values(&full_table(&mdp), DISCOUNT);
    assert_same(found.value.unwrap().mean, mdp.initial_value(&values));
    assert!(matches!(found.outcome, Outcome::IterationLimit { iterations: 90, change } if change < 1e-13));
    assert_eq!(found.transitions, panel.people() * 2);
    let q = mdp.action_values(&values, DISCOUNT);
    for (state, q) in q.chunks_exact(ACTIONS).enumerate() {
        for (a, q) in q.iter().enumerate() {
            assert_same(found.q.weights()[a * mdp.states() + state], *q);
        }
    }
    // Reading the value at all recorded states instead of the first ones, as a rival does, is another number.
    let rows: Vec<f64> = (0..panel.people()).flat_map(|i| panel.person(i).states.to_vec()).collect();
    let anywhere: f64 = experience
        .views()
        .chunks_exact(2)
        .map(|x| values[mdp.points().iter().position(|point| point == x).unwrap()])
        .sum::<f64>()
        / rows.len() as f64;
    assert_differs(anywhere, mdp.initial_value(&values));
}

#[test]
fn b_iterations_are_the_value_of_b_decisions() {
    let (panel, mdp) = (census(), FiniteMdp::observed(&plain()));
    let experience = batch(&Full { state_dim: 1 }, &panel).unwrap();
    let features = OneHot::new(mdp.points().to_vec()).unwrap();
    for iterations in 0..4 {
        let settings = EvaluationSettings { iterations, ..FOR_EVER };
        let found = fqe(&experience, &panel, &full_agent(), &features, settings);
        let values = mdp.values_over(&full_table(&mdp), DISCOUNT, iterations);
        assert_same(found.value.unwrap().mean, mdp.initial_value(&values));
    }
}

#[test]
fn on_the_census_the_value_of_a_fair_policy_needs_the_level_beside_its_view() {
    // ½⁴⁰ = 1e−12: the widest fit here, so the fewest iterations.
    let briefly = EvaluationSettings { discount: 0.5, iterations: 40, tolerance: 0.0 };
    let world = even();
    let panel = simulate(&world, &world.census(3, 4, 1).unwrap());
    let ours = || Sequential::new(even(), world.level_probabilities().to_vec());
    let agent = Deployed::new(ours(), Rule { rule: fair_rule, deterministic: false });
    let augmented = batch(&ours(), &panel).unwrap();
    let experience = augmented.with_level(&panel);
    // The truth: the process on (s¹, s², s³, z) is the augmented one for each z; its value by (C12) is that of the mixed rewards.
    let mdp = FiniteMdp::augmented(&world);
    let policy: Vec<f64> =
        mdp.points().iter().flat_map(|x| fair_rule(&x.iter().map(|x| *x as usize).collect::<Vec<_>>())).collect();
    let truth = mdp.initial_value(&mdp.values(&policy, 0.5));
    let with_levels = mdp.points().iter().flat_map(|x| (0..LEVELS).map(|z| [x.clone(), vec![z as f64]].concat()));
    let features = OneHot::new(with_levels.collect()).unwrap();
    let found = fqe(&experience, &panel, &agent, &features, briefly);
    assert!(matches!(found.outcome, Outcome::IterationLimit { .. }), "{:?}", found.outcome);
    assert_same(found.value.unwrap().mean, truth);
    assert!(found.condition >= 1.0 && found.condition < 100.0);

    // The mixed rewards r̃ need no level; observed rewards do, because who was treated depends on it.
    let blind = OneHot::new(mdp.points().to_vec()).unwrap();
    assert_same(fqe(&augmented, &panel, &agent, &blind, briefly).value.unwrap().mean, truth);
    let forgotten = fqe(&experience, &panel, &agent, &IgnoreLast(blind), briefly);
    assert_differs(forgotten.value.unwrap().mean, truth);
}

/// Features that do not read the last number of a row.
#[derive(Clone)]
struct IgnoreLast(OneHot);

impl FeatureMap for IgnoreLast {
    fn inputs(&self) -> usize {
        self.0.inputs() + 1
    }
    fn count(&self) -> usize {
        self.0.count()
    }
    fn fill(&self, rows: &[f64], out: &mut [f64]) {
        let width = self.inputs();
        let cut: Vec<f64> = rows.chunks_exact(width).flat_map(|row| row[..width - 1].to_vec()).collect();
        self.0.fill(&cut, out);
    }
}

#[test]
fn a_view_with_the_level_keeps_rows_and_takes_observed_rewards() {
    let world = plain();
    let panel = cut(&census(), |i| i % 3, |i| i % 2 == 0);
    let ours = Sequential::new(&world, vec![0.2, 0.3, 0.5]);
    let plain = batch(&ours, &panel).unwrap();
    let found = plain.with_level(&panel);
    assert_eq!(found.width(), 4);
    assert_eq!(found.rewards(), panel.rewards());
    assert_ne!(plain.rewards(), panel.rewards());
    for i in 0..panel.people() {
        assert_eq!(found.views_of(i), panel.states_of(i));
        let person = panel.person(i);
        for (t, row) in panel.states_of(i).enumerate() {
            let view = &found.views()[4 * row..4 * row + 4];
            assert_eq!(view[..3], plain.views()[3 * row..3 * row + 3]);
            assert_eq!(view[3], f64::from(person.level));
            let states: Vec<usize> = person.states[..=t].iter().map(|x| *x as usize).collect();
            let actions: Vec<usize> = person.actions[..t].iter().map(|x| *x as usize).collect();
            let truth = counterfactual_states(&world, person.level as usize, &states, &actions);
            assert_eq!(view[..3], truth.iter().map(|x| *x as f64).collect::<Vec<_>>());
        }
    }
}

/// Linear-world data, a random policy on (s, z) and quadratic features with level interactions.
fn linear_problem(people: usize, horizon: usize, stream: Stream) -> (Panel, Vec<f64>) {
    let world = Linear::new(1.0);
    let panel = simulate(&world, &Exogenous::draw(&world, people, horizon, stream));
    let probabilities = (0..panel.people())
        .flat_map(|i| panel.person(i).states.to_vec())
        .flat_map(|s| {
            let p = 1.0 / (1.0 + (-s).exp());
            [1.0 - p, p]
        })
        .collect();
    (panel, probabilities)
}

fn linear_value(panel: &Panel, probabilities: &[f64]) -> FittedEvaluation<StateAndLevel, Polynomial> {
    let features = Polynomial::standardised(2, vec![0.0], vec![1.0], 2).unwrap();
    let experience = batch(&Full { state_dim: 1 }, panel).unwrap();
    fitted_q_evaluation(
        &experience,
        probabilities,
        &features,
        EvaluationSettings { discount: DISCOUNT, iterations: 45, tolerance: 0.0 },
    )
    .unwrap()
}

#[test]
fn the_standard_error_is_the_spread_over_repeated_studies() {
    let estimates: Vec<Estimate> = (0..150)
        .map(|seed| {
            let (panel, probabilities) = linear_problem(250, 5, Stream::new(77).index(seed));
            linear_value(&panel, &probabilities).value.unwrap()
        })
        .collect();
    let spread = Estimate::of(&estimates.iter().map(|e| e.mean).collect::<Vec<_>>());
    let sd = spread.standard_error * (estimates.len() as f64).sqrt();
    let claimed = (estimates.iter().map(|e| e.standard_error.powi(2)).sum::<f64>() / 150.0).sqrt();
    // A standard deviation from 150 normal values is off by 6 % (one standard error); 5 of them are 29 %.
    assert!((claimed / sd - 1.0).abs() < ALARM / (2.0f64 * 150.0).sqrt(), "claimed {claimed}, seen {sd}");
    // Ignoring that a person's steps belong together, or only looking at the first states, would not pass.
    let first_states_only = {
        let (panel, probabilities) = linear_problem(250, 5, Stream::new(77).index(0));
        let fit = linear_value(&panel, &probabilities);
        let mut values = vec![0.0; panel.state_rows() * 2];
        let experience = batch(&Full { state_dim: 1 }, &panel).unwrap();
        counterfair::kernel::learn::ActionValue::values(&fit.q, experience.views(), &mut values);
        let n = panel.state_rows();
        let at = |i: usize| panel.states_of(i).start;
        Estimate::of(
            &(0..panel.people())
                .map(|i| probabilities[2 * at(i)] * values[at(i)] + probabilities[2 * at(i) + 1] * values[n + at(i)])
                .collect::<Vec<_>>(),
        )
    };
    assert!(first_states_only.standard_error < 0.8 * sd);
}

#[test]
fn the_standard_error_agrees_with_the_bootstrap_over_people() {
    let (panel, probabilities) = linear_problem(400, 5, Stream::new(3).named("bootstrap"));
    let claimed = linear_value(&panel, &probabilities);
    let values: Vec<f64> = (0..120)
        .map(|b| {
            let mut rng = Stream::new(3).named("resample").index(b).rng();
            let chosen: Vec<usize> = (0..400).map(|_| uniform_index(&mut rng, 400)).collect();
            let again: Vec<f64> = chosen
                .iter()
                .flat_map(|&i| probabilities[2 * panel.states_of(i).start..2 * panel.states_of(i).end].to_vec())
                .collect();
            linear_value(&resample(&panel, &chosen), &again).value.unwrap().mean
        })
        .collect();
    let sd = Estimate::of(&values).standard_error * 120f64.sqrt();
    // 120 resamples know their spread to 6 %; the two also differ by terms of order 1/√400.
    assert!((claimed.value.unwrap().standard_error / sd - 1.0).abs() < 0.3);
    let mean = Estimate::of(&claimed.parts);
    assert!((mean.mean - claimed.value.unwrap().mean).abs() < 1e-6);
    assert_eq!(mean.standard_error, claimed.value.unwrap().standard_error);
}

#[test]
fn each_persons_part_is_what_leaving_the_person_out_changes() {
    let n = 150;
    let (panel, probabilities) = linear_problem(n, 4, Stream::new(14).named("jackknife"));
    let whole = linear_value(&panel, &probabilities);
    let (value, mut squares, mut misses) = (whole.value.unwrap().mean, 0.0, 0.0);
    for left_out in 0..n {
        let others: Vec<usize> = (0..n).filter(|&i| i != left_out).collect();
        let theirs: Vec<f64> = others
            .iter()
            .flat_map(|&i| probabilities[2 * panel.states_of(i).start..2 * panel.states_of(i).end].to_vec())
            .collect();
        let without = linear_value(&panel.select(&others), &theirs).value.unwrap().mean;
        let (change, influence) = ((n - 1) as f64 * (value - without), whole.parts[left_out] - value);
        squares += influence * influence;
        misses += (change - influence) * (change - influence);
    }
    // What leaving one of 150 out does beyond first order is of relative size 1/150 where nobody has much leverage.
    assert!((misses / squares).sqrt() < 0.1, "relative miss {}", (misses / squares).sqrt());
    let claimed = whole.value.unwrap().standard_error;
    assert!((claimed - (squares / (n * (n - 1)) as f64).sqrt()).abs() < 1e-6 * claimed);
}

#[test]
fn repeated_columns_are_reported_and_do_not_change_the_value() {
    let (panel, mdp) = (census(), FiniteMdp::observed(&plain()));
    let experience = batch(&Full { state_dim: 1 }, &panel).unwrap();
    let mut points = mdp.points().to_vec();
    let single = fqe(&experience, &panel, &full_agent(), &OneHot::new(points.clone()).unwrap(), FOR_EVER);
    points.push(vec![77.0, 0.0]); // a state that never occurs: no data for its weight
    let found = fqe(&experience, &panel, &full_agent(), &OneHot::new(points).unwrap(), FOR_EVER);
    assert_eq!(found.outcome, Outcome::RankDeficient { action: 0, rank: 12, features: 13 });
    assert_same(found.value.unwrap().mean, single.value.unwrap().mean);
    assert_same(found.value.unwrap().standard_error, single.value.unwrap().standard_error);
}

#[test]
fn values_that_grow_without_bound_are_an_outcome_and_no_number() {
    // One feature x, from 1 to 2 with reward 1: w ← 1 + γ·2w grows for ever at γ = 0.7.
    let panel = panel(1, 1, &[(0, &[1.0, 2.0], &[0], &[1.0]), (0, &[1.0, 2.0], &[0], &[1.0])]);
    let experience = batch(&Unaware { state_dim: 1 }, &panel).unwrap();
    let found = fitted_q_evaluation(&experience, &[1.0; 4], &Only, FOR_EVER).unwrap();
    assert!(matches!(found.outcome, Outcome::Diverged { iteration } if iteration < 60), "{:?}", found.outcome);
    assert_eq!((found.value, found.parts.len()), (None, 0));
    let settings = EvaluationSettings { discount: 0.3, iterations: 200, tolerance: 1e-9 };
    let found = fitted_q_evaluation(&experience, &[1.0; 4], &Only, settings).unwrap();
    // w = 1 / (1 − 0.6), read at x = 1; changes shrink by 0.6 a step.
    assert!((found.value.unwrap().mean - 2.5).abs() < 1e-8);
    assert!(matches!(found.outcome, Outcome::Converged { iterations } if (38..=44).contains(&iterations)));
}

/// The state itself as the only feature.
#[derive(Debug, Clone)]
struct Only;

impl FeatureMap for Only {
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
fn calls_that_make_no_sense_are_refused_with_what_was_wrong() {
    let panel = panel(1, 2, &[(0, &[1.0, 2.0], &[0], &[1.0])]);
    let experience = batch(&Unaware { state_dim: 1 }, &panel).unwrap();
    let run = |p: &[f64], settings| fitted_q_evaluation(&experience, p, &Only, settings).unwrap_err();
    let fair = [0.5; 4];
    let outside = EvaluationSettings { discount: 1.0, ..FOR_EVER };
    assert_eq!(run(&fair, outside), EvaluationError::Problem(FittedQError::DiscountOutsideUnitInterval(1.0)));
    assert_eq!(run(&fair[..3], FOR_EVER), EvaluationError::Probabilities { rows: 2, actions: 2, found: 3 });
    assert_eq!(run(&[0.5, 0.5, 0.5, 0.25], FOR_EVER), EvaluationError::NotADistribution { row: 1, sum: 0.75 });
    assert_eq!(run(&[-0.5, 1.5, 0.5, 0.5], FOR_EVER), EvaluationError::NotADistribution { row: 0, sum: 1.0 });
    assert!(matches!(run(&[f64::NAN, 0.5, 0.5, 0.5], FOR_EVER), EvaluationError::NotADistribution { row: 0, .. }));
    let defaults = EvaluationSettings::default();
    assert_eq!((defaults.discount, defaults.iterations, defaults.tolerance), (0.9, 100, 0.0));
}

#[test]
fn a_person_without_a_final_state_contributes_every_known_transition() {
    let panel = cut(&census(), |_| 2, |i| i % 2 == 0);
    let experience = batch(&Full { state_dim: 1 }, &panel).unwrap();
    let features = OneHot::new(FiniteMdp::observed(&plain()).points().to_vec()).unwrap();
    let found = fqe(&experience, &panel, &full_agent(), &features, FOR_EVER);
    assert_eq!(found.transitions, panel.people() * 2 - panel.people() / 2);
    assert_eq!(found.parts.len(), panel.people());
}

/// Whether the state is 0, whether it is 1, and that again: the weights of an action are never determined.
#[derive(Clone)]
struct Doubled;

impl FeatureMap for Doubled {
    fn inputs(&self) -> usize {
        1
    }
    fn count(&self) -> usize {
        3
    }
    fn fill(&self, rows: &[f64], out: &mut [f64]) {
        let n = rows.len();
        for (i, s) in rows.iter().enumerate() {
            (out[i], out[n + i], out[2 * n + i]) = (1.0 - s, *s, *s);
        }
    }
}

#[test]
fn features_that_say_a_thing_twice_give_the_means_of_the_targets_row_by_row() {
    const STEPS: usize = 9000;
    let state = |t: usize| ((t * t / 7 + t / 3) % 2) as f64;
    let action = |t: usize| ((t * t + t / 5) % 3) as u32;
    let reward = |t: usize| (0.37 * t as f64).sin() + state(t);
    // Odds that differ from row to row, so that a row which takes another's is seen.
    let odds = |t: usize| {
        let (a, b) = ((1 + t % 5) as f64 / 10.0, (1 + t % 4) as f64 / 10.0);
        [a, b, 1.0 - a - b]
    };
    let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(3), 1).unwrap();
    let states: Vec<f64> = (0..=STEPS).map(state).collect();
    let (actions, rewards): (Vec<u32>, Vec<f64>) = (0..STEPS).map(|t| (action(t), reward(t))).unzip();
    builder.push(Person { id: "a", level: 0, states: &states, actions: &actions, rewards: &rewards }).unwrap();
    let data = batch(&Unaware { state_dim: 1 }, &builder.finish()).unwrap();
    let probabilities: Vec<f64> = (0..=STEPS).flat_map(odds).collect();
    let settings = EvaluationSettings { discount: 0.8, iterations: 3, tolerance: 0.0 };
    let found = fitted_q_evaluation(&data, &probabilities, &Doubled, settings).unwrap();
    assert_eq!(found.outcome, Outcome::RankDeficient { action: 0, rank: 2, features: 3 });

    let mut q = [[0.0; 3]; 2];
    for _ in 0..3 {
        let (mut sums, mut counts) = ([[0.0; 3]; 2], [[0.0; 3]; 2]);
        for t in 0..STEPS {
            let (s, a, next) = (state(t) as usize, action(t) as usize, state(t + 1) as usize);
            let value: f64 = odds(t + 1).iter().zip(q[next]).map(|(p, q)| p * q).sum();
            sums[s][a] += reward(t) + 0.8 * value;
            counts[s][a] += 1.0;
        }
        q = [0, 1].map(|s| [0, 1, 2].map(|a| sums[s][a] / counts[s][a]));
    }
    let mut values = [0.0; 6];
    found.q.values(&[0.0, 1.0], &mut values);
    for s in 0..2 {
        for a in 0..3 {
            // Means of thousands of numbers near 3, by two orders of summation.
            assert!((values[2 * a + s] - q[s][a]).abs() < 1e-11, "{values:?} and {q:?}");
        }
    }
}

#[test]
fn a_last_decision_without_a_next_state_is_no_transition() {
    let panel = |unfinished: bool| {
        let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(2), 1).unwrap();
        let everybody: [(&[f64], &[u32], &[f64]); 3] = [
            (&[0.0, 1.0, 1.0, 0.0], &[0, 1, 1], &[1.0, 2.0, -0.5]),
            (&[1.0, 0.0, 1.0], &[0, 1, 0], &[0.5, -1.0, 40.0]),
            (&[0.0, 0.0, 1.0, 0.0], &[1, 0, 0], &[0.25, 3.0, 1.5]),
        ];
        for (i, (states, actions, rewards)) in everybody.into_iter().enumerate() {
            // The second person's last decision leads nowhere that is known; with or without it there are two transitions.
            let kept = if unfinished { actions.len() } else { states.len() - 1 };
            let (id, actions, rewards) = (i.to_string(), &actions[..kept], &rewards[..kept]);
            builder.push(Person { id: &id, level: 0, states, actions, rewards }).unwrap();
        }
        builder.finish()
    };
    let evaluated = |panel: &Panel| {
        let data = batch(&Unaware { state_dim: 1 }, panel).unwrap();
        let odds: Vec<f64> =
            (0..panel.state_rows()).flat_map(|row| [0.3 + 0.05 * row as f64, 0.7 - 0.05 * row as f64]).collect();
        let points = OneHot::new(vec![vec![0.0], vec![1.0]]).unwrap();
        fitted_q_evaluation(&data, &odds, &points, FOR_EVER).unwrap()
    };
    let (with, without) = (evaluated(&panel(true)), evaluated(&panel(false)));
    assert_eq!((with.transitions, &with.parts, with.value), (8, &without.parts, without.value));
    assert!(with.parts[1] != with.parts[0] && with.parts.len() == 3);
}
