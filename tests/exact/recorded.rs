//! Values over the recorded horizon against dynamic programming on the tables, and what must not change them.

use crate::fixture::*;
use counterfair::audit::recorded::{Dropout, NoValue, RecordedSettings, RecordedValues};
use counterfair::audit::recorded::{PolicyAlong, RecordedError, recorded_values};
use counterfair::kernel::model::{Exogenous, simulate};
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::people::Panel;
use counterfair::theory::FiniteWorld;

/// What a prior of 1e-9 rows moves: 1e-9 times weights of order 100, over the fewest people in a cell of the census.
const PRIOR: f64 = 1e-6;

fn along(panel: &Panel, rule: impl Fn(usize, usize) -> [f64; ACTIONS]) -> Vec<f64> {
    panel
        .iter()
        .flat_map(|person| person.states.iter().map(move |s| (*s as usize, person.level as usize)))
        .flat_map(|(s, z)| rule(s, z))
        .collect()
}

fn settings() -> RecordedSettings {
    RecordedSettings { discount: DISCOUNT, replicates: 8, prior_rows: 1e-9, ..RecordedSettings::default() }
}

fn values(panel: &Panel, settings: &RecordedSettings) -> RecordedValues {
    let probabilities = along(panel, full_rule);
    let policy = PolicyAlong { name: "Rule", probabilities: &probabilities, worlds: None };
    recorded_values(panel, &[policy], settings).unwrap()
}

/// V_h(s, z) of a rule, by h steps of the Bellman equation on the tables.
fn by_tables(world: &FiniteWorld, rule: impl Fn(usize, usize) -> [f64; ACTIONS], h: usize) -> [[f64; POINTS]; LEVELS] {
    let mut value = [[0.0; POINTS]; LEVELS];
    for _ in 0..h {
        value = std::array::from_fn(|z| {
            std::array::from_fn(|s| {
                let of = |(a, share): (usize, f64)| {
                    let next = world.next_point(z, s, a);
                    let later: f64 = world
                        .noise_law()
                        // Points that no mean leads to have no successor on the lattice, and are never visited.
                        .map(|(u, p)| p * value[z][(next + u).min(POINTS - 1)])
                        .sum();
                    share * (world.mean_reward(z, s, a) + 0.125 + DISCOUNT * later)
                };
                rule(s, z).into_iter().enumerate().map(of).sum()
            })
        });
    }
    value
}

fn expected(world: &FiniteWorld, panel: &Panel, rule: impl Fn(usize, usize) -> [f64; ACTIONS] + Copy) -> f64 {
    let of = |i: usize| {
        let person = panel.person(i);
        by_tables(world, rule, person.actions.len())[person.level as usize][person.states[0] as usize]
    };
    (0..panel.people()).map(of).sum::<f64>() / panel.people() as f64
}

fn census() -> (FiniteWorld, Panel) {
    let world = even();
    let panel = simulate(&world, &world.census(3, 4, 1).unwrap());
    (world, panel)
}

#[test]
fn on_a_census_the_value_is_that_of_the_tables_with_as_many_steps_as_decisions() {
    let (world, panel) = census();
    let found = values(&panel, &settings());
    let truth = expected(&world, &panel, full_rule);
    let rule = found.policy("Rule").unwrap();
    assert!((rule.value.mean - truth).abs() < PRIOR, "{} is not {truth}", rule.value.mean);
    assert_differs(rule.value.mean, by_tables(&world, full_rule, 40)[0][0]);
    let random = found.policy("Random").unwrap();
    let uniform = expected(&world, &panel, |_, _| [1.0 / 3.0; ACTIONS]);
    assert!((random.value.mean - uniform).abs() < PRIOR, "{} is not {uniform}", random.value.mean);
    let returns = |i: usize| panel.person(i).rewards.iter().rev().fold(0.0, |later, r| r + DISCOUNT * later);
    let received = (0..panel.people()).map(returns).sum::<f64>() / panel.people() as f64;
    assert_same(found.received.mean, received);
    assert_same(rule.minus("received").unwrap().mean, rule.value.mean - received);
    assert_same(rule.minus("Random").unwrap().mean, rule.value.mean - random.value.mean);
}

#[test]
fn people_with_fewer_decisions_are_valued_over_fewer() {
    let (world, panel) = census();
    // A third of the people has one decision, a third two, and of every other one the last state was not recorded.
    let unequal = cut(&panel, |i| 1 + i % 3, |i| i % 2 == 0);
    let found = values(&unequal, &settings());
    let truth = expected(&world, &unequal, full_rule);
    assert!((found.policy("Rule").unwrap().value.mean - truth).abs() < PRIOR);
    assert_differs(truth, expected(&world, &panel, full_rule));
}

#[test]
fn with_right_propensities_the_doubly_robust_value_is_right_too() {
    let (world, panel) = census();
    let behaviour = along(&panel, |s, z| crate::oracle::behaviour(z, &[s], &[]));
    let taken = (0..panel.people()).flat_map(|i| panel.decisions_of(i).zip(panel.states_of(i)));
    let given: Vec<f64> =
        taken.map(|(decision, row)| behaviour[row * ACTIONS + panel.actions()[decision] as usize]).collect();
    let found = values(&panel, &RecordedSettings { propensities: Some(given), ..settings() });
    let rule = found.policy("Rule").unwrap();
    let estimate = rule.doubly_robust.unwrap();
    let truth = expected(&world, &panel, full_rule);
    // Folds are not censuses, so Q is only near the truth, and its errors enter as products with those of weights, which have none.
    assert!((estimate.mean - truth).abs() < estimate.standard_error / 10.0, "{estimate:?} and {truth}");
    rule.weights.mean_weight.iter().for_each(|mean| assert_same(*mean, 1.0));
    assert_eq!(rule.weights.unsupported, 0.0);
}

#[test]
fn no_digit_depends_on_the_order_of_people() {
    let world = noisy();
    let panel = simulate(&world, &Exogenous::draw(&world, 60, 4, Stream::new(12)));
    let backwards = panel.select(&(0..60).rev().collect::<Vec<_>>());
    let settings = RecordedSettings { prior_rows: 0.5, fewest_effective_people: 0.0, ..settings() };
    // As printed: what is kept per decision of the panel stands in the panel's order.
    let printed = |panel: &Panel| serde_json::to_value(values(panel, &settings)).unwrap();
    assert_eq!(printed(&panel), printed(&backwards));
    let other = RecordedSettings { seed: 1, ..settings.clone() };
    assert_ne!(values(&panel, &settings).received.replicates, values(&panel, &other).received.replicates);
}

#[test]
fn nothing_changes_when_leaving_is_modelled_and_nobody_left() {
    let world = noisy();
    let panel = simulate(&world, &Exogenous::draw(&world, 60, 4, Stream::new(12)));
    let weighted = RecordedSettings { dropout: Dropout::Weighted { horizon: None }, ..settings() };
    assert_eq!(values(&panel, &settings()), values(&panel, &weighted));
}

#[test]
fn no_number_is_outside_what_rewards_allow_however_few_people() {
    let world = noisy();
    let loose = RecordedSettings { fewest_effective_people: 0.0, prior_rows: 0.5, ..settings() };
    for seed in 0..40 {
        let panel = simulate(&world, &Exogenous::draw(&world, 9, 6, Stream::new(seed)));
        let found = values(&panel, &loose);
        for policy in &found.policies {
            let inside = |mean: f64| found.allowed.0 <= mean && mean <= found.allowed.1;
            assert!(inside(policy.value.mean) && policy.value.replicates.iter().all(|x| x.is_finite()));
            match policy.doubly_robust {
                Ok(estimate) => assert!(inside(estimate.mean), "{estimate:?} in {:?}", found.allowed),
                Err(NoValue::OutsideRewards { low, high }) => {
                    assert_eq!((low, high), found.allowed);
                }
                Err(_) => {}
            }
        }
    }
}

#[test]
fn too_few_effective_people_are_told_with_their_number() {
    let world = noisy();
    let panel = simulate(&world, &Exogenous::draw(&world, 40, 6, Stream::new(2)));
    let found = values(&panel, &RecordedSettings { prior_rows: 0.5, ..settings() });
    let reason = found.policy("Rule").unwrap().doubly_robust.unwrap_err();
    let NoValue::FewEffectivePeople { effective, needed, .. } = reason else { panic!("{reason}") };
    assert!(effective < needed && needed == 50.0);
    let text = serde_json::to_value(&found).unwrap();
    assert_eq!(text["policies"][0]["doubly_robust"]["problem"], reason.to_string());
    assert_eq!(text["policies"][0]["value"]["interval"].as_array().unwrap().len(), 2);
}

#[test]
fn calls_that_make_no_sense_are_refused_with_their_numbers() {
    let world = noisy();
    let panel = simulate(&world, &Exogenous::draw(&world, 5, 2, Stream::new(2)));
    let mut probabilities = along(&panel, full_rule);
    let ask = |probabilities: &[f64], settings: &RecordedSettings| {
        let policy = PolicyAlong { name: "Rule", probabilities, worlds: None };
        recorded_values(&panel, &[policy], settings).unwrap_err()
    };
    let discount = RecordedSettings { discount: 1.2, ..settings() };
    assert_eq!(ask(&probabilities, &discount), RecordedError::DiscountOutsideUnitInterval(1.2));
    let folds = RecordedSettings { folds: 1, ..settings() };
    assert_eq!(ask(&probabilities, &folds), RecordedError::TooFew { what: "folds", found: 1 });
    let mut given = vec![0.5; panel.decisions()];
    given[3] = 0.0;
    let impossible = RecordedSettings { propensities: Some(given), ..settings() };
    assert_eq!(ask(&probabilities, &impossible), RecordedError::Propensity { decision: 3, value: 0.0 });
    let short = RecordedSettings { dropout: Dropout::Weighted { horizon: Some(1) }, ..settings() };
    assert_eq!(ask(&probabilities, &short), RecordedError::PlannedHorizon { planned: 1, recorded: 2 });
    probabilities[ACTIONS * 2] += 0.5;
    let RecordedError::NotADistribution { row: 2, sum, .. } = ask(&probabilities, &settings()) else { panic!() };
    assert_same(sum, 1.5);
    let fewer = ask(&probabilities[1..], &settings());
    assert!(matches!(fewer, RecordedError::Shape { table: "probabilities", .. }), "{fewer}");
}
