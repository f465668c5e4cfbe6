//! Importance-sampling estimators on censuses, by hand, and over repeated studies.

use crate::fixture::*;
use crate::oracle::{self, explore};
use counterfair::kernel::data::Panel;
use counterfair::kernel::evaluate::internals::{NobodyFollows, OffPolicy, OffPolicyError};
use counterfair::kernel::model::{Exogenous, simulate};
use counterfair::kernel::numeric::{Estimate, Stream};
use counterfair::theory::FiniteMdp;
use counterfair::theory::FiniteWorld;

const HORIZON: usize = 2;

fn census() -> (FiniteWorld, Panel) {
    let world = noisy();
    let panel = simulate(&world, &world.census(HORIZON, 4, 1).unwrap());
    (world, panel)
}

/// A rule on (s, z) along a panel, |A| a state row.
fn along(panel: &Panel, rule: impl Fn(usize, usize) -> [f64; ACTIONS]) -> Vec<f64> {
    panel
        .iter()
        .flat_map(|person| person.states.iter().map(move |s| (*s as usize, person.level as usize)))
        .flat_map(|(s, z)| rule(s, z))
        .collect()
}

fn behaviour(s: usize, z: usize) -> [f64; ACTIONS] {
    oracle::behaviour(z, &[s], &[])
}

/// An action value that has nothing to do with the world.
fn arbitrary(s: usize, z: usize) -> [f64; ACTIONS] {
    std::array::from_fn(|a| (3 * s + 5 * z + 7 * a) as f64 / 6.0 - 2.0)
}

#[test]
fn on_the_census_every_estimator_is_the_enumerated_value() {
    let (world, panel) = census();
    let truth = explore(&world, &oracle::full, &oracle::full, HORIZON, DISCOUNT).value;
    let (target, propensity) = (along(&panel, full_rule), along(&panel, behaviour));
    let off = OffPolicy::new(&panel, &target, &propensity, DISCOUNT).unwrap();
    assert_same(off.per_decision().mean, truth);
    assert_same(off.weighted().unwrap().mean, truth);
    assert_same(off.doubly_robust(&along(&panel, arbitrary)).unwrap().mean, truth);
    let overlap = off.overlap();
    overlap.mean_weight.iter().for_each(|mean| assert_same(*mean, 1.0));
    assert_eq!(overlap.unsupported, 0.0);
    // ¾ and then 1, each where ¼ was usual.
    assert_same(overlap.largest_weight, 12.0);

    // The weight of the step before, or of the whole path with the value of the behaviour policy, are other numbers.
    let late: f64 = (0..panel.people())
        .map(|i| {
            let rewards = panel.person(i).rewards;
            let first = panel.states_of(i).start * ACTIONS + panel.person(i).actions[0] as usize;
            rewards[0] + DISCOUNT * target[first] / propensity[first] * rewards[1]
        })
        .sum::<f64>()
        / panel.people() as f64;
    assert_differs(late, truth);
    assert_differs(explore(&world, &oracle::behaviour, &oracle::full, HORIZON, DISCOUNT).value, truth);
}

#[test]
fn with_the_right_action_values_wrong_propensities_do_no_harm() {
    let (world, panel) = census();
    let truth = explore(&world, &oracle::full, &oracle::full, HORIZON, DISCOUNT).value;
    let mdp = FiniteMdp::observed(&world);
    let policy: Vec<f64> = mdp.points().iter().flat_map(|x| full_rule(x[0] as usize, x[1] as usize)).collect();
    // Q of the decisions that remain: two at the first state, one at the second, none after the last.
    let remaining: Vec<Vec<f64>> = (0..HORIZON)
        .map(|t| mdp.action_values(&mdp.values_over(&policy, DISCOUNT, HORIZON - 1 - t), DISCOUNT))
        .collect();
    let mut q = vec![];
    for person in panel.iter() {
        for (t, s) in person.states.iter().enumerate() {
            let state = mdp.points().iter().position(|x| *x == [*s, f64::from(person.level)]).unwrap();
            q.extend((0..ACTIONS).map(|a| remaining.get(t).map_or(0.0, |q| q[state * ACTIONS + a])));
        }
    }
    let (target, wrong) = (along(&panel, full_rule), along(&panel, |_, _| [0.2, 0.5, 0.3]));
    let off = OffPolicy::new(&panel, &target, &wrong, DISCOUNT).unwrap();
    assert_same(off.doubly_robust(&q).unwrap().mean, truth);
    assert_differs(off.per_decision().mean, truth);
    assert_differs(off.weighted().unwrap().mean, truth);
    assert_differs(off.doubly_robust(&along(&panel, arbitrary)).unwrap().mean, truth);
    // A Q that knows the truth leaves less spread than no Q.
    let right = along(&panel, behaviour);
    let off = OffPolicy::new(&panel, &target, &right, DISCOUNT).unwrap();
    assert!(off.doubly_robust(&q).unwrap().standard_error < 0.6 * off.per_decision().standard_error);
}

/// Three people, two actions; horizons 2, 1, 2; the second and the third without a final state.
fn by_hand() -> (Panel, Vec<f64>, Vec<f64>) {
    let panel = panel(
        2,
        2,
        &[
            (0, &[0.0, 1.0, 2.0], &[1, 0], &[2.0, -1.0]),
            (1, &[5.0], &[0], &[3.0]),
            (0, &[1.0, 0.0], &[0, 1], &[0.5, 4.0]),
        ],
    );
    let target = vec![0.25, 0.75, 0.5, 0.5, 0.0, 1.0, 1.0, 0.0, 0.5, 0.5, 0.125, 0.875];
    let behaviour = vec![0.5, 0.5, 0.25, 0.75, 0.5, 0.5, 0.8, 0.2, 1.0, 0.0, 0.5, 0.5];
    (panel, target, behaviour)
}

#[test]
fn three_people_by_hand() {
    let (panel, target, behaviour) = by_hand();
    let off = OffPolicy::new(&panel, &target, &behaviour, DISCOUNT).unwrap();
    // ρ: person 0: ¾/½ = 1.5, then × ½/¼ = 3; person 1: 1/0.8 = 1.25; person 2: ½/1 = 0.5, then × 0.875/0.5 = 0.875.
    let returns = [1.5 * 2.0 - 0.7 * 3.0, 1.25 * 3.0, 0.5 * 0.5 + 0.7 * 0.875 * 4.0];
    let found = off.per_decision();
    assert_same(found.mean, Estimate::of(&returns).mean);
    assert_same(found.standard_error, Estimate::of(&returns).standard_error);

    let m1 = (1.5 * 2.0 + 1.25 * 3.0 + 0.5 * 0.5) / 3.25;
    let m2 = (0.875 * 4.0 - 3.0) / 3.875;
    let found = off.weighted().unwrap();
    assert_same(found.mean, m1 + 0.7 * 2.0 / 3.0 * m2);
    let (w1, w2) = (3.25 / 3.0, 3.875 / 2.0);
    let parts = [
        m1 + 1.5 * (2.0 - m1) / w1 + 0.7 * (m2 + 3.0 * (-1.0 - m2) / w2),
        m1 + 1.25 * (3.0 - m1) / w1,
        m1 + 0.5 * (0.5 - m1) / w1 + 0.7 * (m2 + 0.875 * (4.0 - m2) / w2),
    ];
    assert_same(found.standard_error, Estimate::of(&parts).standard_error);

    let q = [1.0, 2.0, 3.0, 4.0, 9.0, 9.0, 1.0, 5.0, -1.0, 1.0, 2.0, 0.0];
    let parts = [
        (0.25 * 1.0 + 0.75 * 2.0) + 1.5 * (2.0 - 2.0) + 0.7 * (1.5 * (0.5 * 3.0 + 0.5 * 4.0) + 3.0 * (-1.0 - 3.0)),
        1.0 + 1.25 * (3.0 - 1.0),
        0.0 + 0.5 * (0.5 + 1.0) + 0.7 * (0.5 * (0.125 * 2.0) + 0.875 * (4.0 - 0.0)),
    ];
    let found = off.doubly_robust(&q).unwrap();
    assert_same(found.mean, Estimate::of(&parts).mean);
    assert_same(found.standard_error, Estimate::of(&parts).standard_error);

    let overlap = off.overlap();
    assert_same(overlap.effective_people[0], 3.25 * 3.25 / (2.25 + 1.5625 + 0.25));
    assert_same(overlap.effective_people[1], 3.875 * 3.875 / (9.0 + 0.875 * 0.875));
    assert_eq!(overlap.mean_weight, [3.25 / 3.0, 3.875 / 2.0]);
    assert_eq!(overlap.largest_weight, 3.0);
    // Only person 2's first decision has an action of the policy (½) that could not be seen; five decisions.
    assert_same(overlap.unsupported, 0.1);
}

#[test]
fn the_weighted_error_of_one_decision_is_that_of_a_ratio() {
    let (world, _) = census();
    let panel = simulate(&world, &Exogenous::draw(&world, 137, 1, Stream::new(6)));
    let (target, propensity) = (along(&panel, full_rule), along(&panel, behaviour));
    let found = OffPolicy::new(&panel, &target, &propensity, DISCOUNT).unwrap().weighted().unwrap();
    let weights: Vec<f64> = (0..137)
        .map(|i| (panel.states_of(i).start * ACTIONS) + panel.actions()[i] as usize)
        .map(|at| target[at] / propensity[at])
        .collect();
    let sums: Vec<f64> = weights.iter().zip(panel.rewards()).map(|(w, r)| w * r).collect();
    // A ratio of sums, with people whose weight is 0 counted: their influence is 0.
    let positive = weights.iter().filter(|w| **w > 0.0).count() as f64;
    let ratio = Estimate::clustered(&sums, &weights);
    let factor = ((137.0 / 136.0) / (positive / (positive - 1.0))).sqrt();
    assert_same(found.mean, ratio.mean);
    assert_same(found.standard_error, ratio.standard_error * factor);
}

#[test]
fn a_policy_that_nobody_follows_is_said_to_be_so() {
    let panel = panel(1, 2, &[(0, &[0.0, 0.0], &[0, 1], &[1.0, 1.0]), (0, &[0.0, 0.0], &[1, 1], &[1.0, 1.0])]);
    let target = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0];
    let off = OffPolicy::new(&panel, &target, &[0.5; 8], DISCOUNT).unwrap();
    assert_eq!(off.weighted(), Err(NobodyFollows { t: 2 }));
    assert_eq!(off.overlap().effective_people, [1.0, 0.0]);
    assert_same(off.per_decision().mean, 1.0);
}

#[test]
fn tables_that_do_not_fit_are_named() {
    let (panel, target, behaviour) = by_hand();
    let err =
        |target: &[f64], behaviour: &[f64], discount| OffPolicy::new(&panel, target, behaviour, discount).unwrap_err();
    assert_eq!(err(&target, &behaviour, 1.25), OffPolicyError::DiscountOutsideUnitInterval(1.25));
    let shape = |table, found| OffPolicyError::Shape { table, rows: 6, actions: 2, found };
    assert_eq!(err(&target[1..], &behaviour, 0.7), shape("target policy", 11));
    assert_eq!(err(&target, &behaviour[2..], 0.7), shape("behaviour policy", 10));
    let mut wrong = behaviour.clone();
    wrong[3] = 0.5;
    let not = |row, sum| OffPolicyError::NotADistribution { table: "behaviour policy", row, sum };
    assert_eq!(err(&target, &wrong, 0.7), not(1, 0.75));
    wrong[2] = 1.5;
    wrong[3] = -0.5;
    assert_eq!(err(&target, &wrong, 0.7), not(1, 1.0));
    let mut impossible = behaviour.clone();
    (impossible[10], impossible[11]) = (1.0, 0.0);
    let expected = OffPolicyError::ImpossibleAction { id: "p2".into(), t: 2, action: 1 };
    assert_eq!(err(&target, &impossible, 0.7), expected);
    let off = OffPolicy::new(&panel, &target, &behaviour, 1.0).unwrap();
    assert_eq!(off.doubly_robust(&[0.0]).unwrap_err(), shape("action values", 1));
}

#[test]
fn over_repeated_studies_the_estimates_centre_on_the_truth_with_the_spread_they_claim() {
    let world = noisy();
    let truth = explore(&world, &oracle::full, &oracle::full, HORIZON, DISCOUNT).value;
    let studies = 400;
    let mut found: [Vec<Estimate>; 3] = Default::default();
    for seed in 0..studies {
        let panel = simulate(&world, &Exogenous::draw(&world, 300, HORIZON, Stream::new(51).index(seed)));
        let (target, propensity) = (along(&panel, full_rule), along(&panel, behaviour));
        let off = OffPolicy::new(&panel, &target, &propensity, DISCOUNT).unwrap();
        found[0].push(off.per_decision());
        found[1].push(off.weighted().unwrap());
        found[2].push(off.doubly_robust(&along(&panel, arbitrary)).unwrap());
    }
    for estimates in found {
        let means = Estimate::of(&estimates.iter().map(|e| e.mean).collect::<Vec<_>>());
        // The weighted estimator has a bias of order 1/300, well below one standard error of a study.
        let bias = 0.1 * estimates[0].standard_error;
        assert!((means.mean - truth).abs() < ALARM * means.standard_error + bias);
        let sd = means.standard_error * (studies as f64).sqrt();
        let claimed = (estimates.iter().map(|e| e.standard_error.powi(2)).sum::<f64>() / studies as f64).sqrt();
        assert!((claimed / sd - 1.0).abs() < ALARM / (2.0 * studies as f64).sqrt(), "claimed {claimed}, seen {sd}");
    }
}
