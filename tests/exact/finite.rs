//! Finite worlds, their censuses and the exact solutions of their decision problems.

use crate::fixture::*;
use crate::oracle;
use crate::oracle::explore;
use counterfair::kernel::learn::features::OneHot;
use counterfair::kernel::learn::{Settings, fitted_q_iteration};
use counterfair::kernel::model::{Exogenous, Mechanism, World, simulate};
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::preprocess::{Full, Sequential, batch};
use counterfair::theory::FiniteMdp;
use counterfair::theory::FiniteWorld;
use counterfair::theory::finite_world::{Tables, TablesError};

/// One level, two points, no noise: from 0, action 0 stays for reward 1, action 1 moves to 1 for nothing; at 1, action 0 pays 2.5 and
/// returns to 0, action 1 stays for 1.25.
fn hand_world() -> FiniteWorld {
    FiniteWorld::new(Tables {
        points: 2,
        actions: 2,
        levels: vec![7],
        noise: vec![4],
        reward_noise: vec![(0.0, 1)],
        initial: vec![0],
        next: vec![0, 1, 0, 1],
        reward: vec![1.0, 0.0, 2.5, 1.25],
        behaviour: vec![1, 3, 2, 2],
    })
    .unwrap()
}

#[test]
fn a_problem_solved_by_hand() {
    let mdp = FiniteMdp::observed(&hand_world());
    assert_eq!(mdp.points(), [[0.0, 0.0], [1.0, 0.0]]);
    assert_eq!((mdp.states(), mdp.actions()), (2, 2));
    // γ = ½. Staying at 0 is worth 2. At 1: returning is worth 2.5 + ½ V(0), staying 2.5 for ever. V(0) = max(1 + V(0)/2, V(1)/2):
    // with V(1) = 2.5 + 1 = 3.5, moving is worth 1.75 < 2.
    let q = mdp.optimum(0.5);
    [2.0, 1.75, 3.5, 3.0].iter().zip(&q).for_each(|(expected, q)| assert_same(*q, *expected));
    // γ = 0.9: V(0) = γ V(1), V(1) = max(2.5 + γ V(0), 12.5) = 2.5/(1 − 0.81) = 13.158 going back and forth; staying at 0: 10.
    let q = mdp.optimum(0.9);
    let v1 = 2.5 / 0.19;
    [1.0 + 0.81 * v1, 0.9 * v1, v1, 1.25 + 0.9 * v1]
        .iter()
        .zip(&q)
        .for_each(|(expected, q)| assert_same(*q, *expected));
    assert_same(mdp.initial_value(&[q[1], q[2]]), 0.9 * v1);
    assert_eq!(mdp.greedy(&q), [0.0, 1.0, 1.0, 0.0]);
    assert_eq!(mdp.greedy(&[2.0, 2.0, -1.0, 3.0]), [1.0, 0.0, 0.0, 1.0]);
    // Two sweeps of value iteration: rewards, then rewards + γ max.
    [1.0 + 0.9, 0.9 * 2.5, 2.5 + 0.9, 1.25 + 0.9 * 2.5]
        .iter()
        .zip(mdp.value_iteration(0.9, 2))
        .for_each(|(expected, q)| assert_same(q, *expected));
}

#[test]
fn finite_horizon_values_are_the_enumerated_ones() {
    for world in [noisy(), plain()] {
        let mdp = FiniteMdp::observed(&world);
        let policy: Vec<f64> = mdp.points().iter().flat_map(|x| full_rule(x[0] as usize, x[1] as usize)).collect();
        for horizon in 1..4 {
            let exact = explore(&world, &oracle::full, &oracle::full, horizon, DISCOUNT);
            assert_same(mdp.initial_value(&mdp.values_over(&policy, DISCOUNT, horizon)), exact.value);
        }
        // γ¹⁰⁰ = 3e−16.
        let (far, for_ever) = (mdp.values_over(&policy, DISCOUNT, 100), mdp.values(&policy, DISCOUNT));
        far.iter().zip(&for_ever).for_each(|(far, v)| assert_same(*far, *v));
    }
}

#[test]
fn the_augmented_process_has_the_value_of_a_fair_policy_in_the_world() {
    let world = noisy();
    let mdp = FiniteMdp::augmented(&world);
    assert_eq!(mdp.states(), 27);
    let points = |x: &[f64]| x.iter().map(|x| *x as usize).collect::<Vec<_>>();
    let policy: Vec<f64> = mdp.points().iter().flat_map(|x| fair_rule(&points(x))).collect();
    let rule = |z: usize, s: &[usize], a: &[usize]| fair_rule(&oracle::counterfactual_states(&noisy(), z, s, a));
    let exact = explore(&world, &rule, &rule, 3, DISCOUNT);
    assert_same(mdp.initial_value(&mdp.values_over(&policy, DISCOUNT, 3)), exact.value);
}

#[test]
fn optima_satisfy_bellmans_equation_and_fairness_has_a_price() {
    let world = plain();
    let best = |mdp: &FiniteMdp| {
        let q = mdp.optimum(DISCOUNT);
        let values: Vec<f64> = q.chunks_exact(ACTIONS).map(|q| q.iter().copied().fold(f64::MIN, f64::max)).collect();
        mdp.action_values(&values, DISCOUNT).iter().zip(&q).for_each(|(again, q)| assert_same(*again, *q));
        mdp.value_iteration(DISCOUNT, 120).iter().zip(&q).for_each(|(swept, q)| assert_same(*swept, *q));
        mdp.initial_value(&values)
    };
    let (full, fair) = (best(&FiniteMdp::observed(&world)), best(&FiniteMdp::augmented(&world)));
    assert!(fair < full - 0.01, "fair {fair}, full {full}");
    let policy = |rule: &dyn Fn(usize, usize) -> [f64; 3]| -> f64 {
        let mdp = FiniteMdp::observed(&world);
        let table: Vec<f64> = mdp.points().iter().flat_map(|x| rule(x[0] as usize, x[1] as usize)).collect();
        mdp.initial_value(&mdp.values(&table, DISCOUNT))
    };
    assert!(policy(&full_rule) < full);
    assert!(policy(&|s, _| unaware_choice(s)) < full);
}

#[test]
fn fitted_q_iteration_on_the_census_is_value_iteration() {
    let world = even();
    let panel = simulate(&world, &world.census(3, 4, 1).unwrap());
    let settings = |iterations| Settings { discount: DISCOUNT, iterations, ..Settings::default() };
    let (observed, augmented) = (FiniteMdp::observed(&world), FiniteMdp::augmented(&world));
    for iterations in [1, 2, 5, 40] {
        let experience = batch(&Full { state_dim: 1 }, &panel).unwrap();
        let features = OneHot::new(observed.points().to_vec()).unwrap();
        let fit = fitted_q_iteration(&experience, &features, settings(iterations)).unwrap();
        let exact = observed.value_iteration(DISCOUNT, iterations);
        for (at, q) in exact.iter().enumerate() {
            assert_same(fit.q.weights()[at % ACTIONS * observed.states() + at / ACTIONS], *q);
        }
        let ours = Sequential::new(&world, world.level_probabilities().to_vec());
        let features = OneHot::new(augmented.points().to_vec()).unwrap();
        let fit = fitted_q_iteration(&batch(&ours, &panel).unwrap(), &features, settings(iterations)).unwrap();
        let exact = augmented.value_iteration(DISCOUNT, iterations);
        for (at, q) in exact.iter().enumerate() {
            assert_same(fit.q.weights()[at % ACTIONS * augmented.states() + at / ACTIONS], *q);
        }
    }
}

#[test]
fn a_census_has_every_law_exactly() {
    let world = noisy();
    let census = world.census(2, 5, 3).unwrap();
    assert_eq!((census.people(), census.horizon()), (6 * 3 * 27 * 9 * 25, 2));
    let n = census.people() as f64;
    let share = |test: &dyn Fn(usize) -> bool| (0..census.people()).filter(|&i| test(i)).count() as f64 / n;
    assert_same(share(&|i| census.levels()[i] == 0), 0.5);
    assert_same(share(&|i| census.levels()[i] == 2), 1.0 / 6.0);
    assert_same(share(&|i| census.coins()[i] == 0.5), 1.0 / 3.0);
    assert_same(share(&|i| census.states(2)[i] == 1.0), 1.0 / 3.0);
    assert_same(share(&|i| census.rewards(1)[i] == 0.75), 1.0 / 3.0);
    assert_same(share(&|i| census.uniforms(0)[i] == 0.9), 0.2);
    // Independence: joint shares are products.
    let joint = share(&|i| {
        census.levels()[i] == 1
            && census.states(0)[i] == 0.0
            && census.states(1)[i] == 1.0
            && census.rewards(0)[i] == -0.25
            && census.uniforms(1)[i] == 0.1
    });
    assert_same(joint, 1.0 / 3.0 * 2.0 / 3.0 / 3.0 * 2.0 / 3.0 / 5.0);
    assert_eq!(world.census(30, 1, 1), None);
    assert_eq!(world.census(1, 0, 1), None);
}

#[test]
fn drawn_noise_follows_the_counts() {
    let world = noisy();
    let drawn = Exogenous::draw(&world, 30_000, 1, Stream::new(19));
    let share = |values: &[f64], x: f64| values.iter().filter(|v| **v == x).count() as f64 / values.len() as f64;
    let error = (2.0f64 / 9.0 / 30_000.0).sqrt();
    assert!((share(drawn.states(0), 1.0) - 1.0 / 3.0).abs() < ALARM * error);
    assert_eq!(share(drawn.states(1), 1.0) + share(drawn.states(1), 0.0), 1.0);
    assert!((share(drawn.rewards(0), 0.75) - 1.0 / 3.0).abs() < ALARM * error);
    assert_same(world.state_noise_sd()[0], (2.0f64 / 9.0).sqrt());
    assert_same(world.reward_noise_sd(), (2.0f64 / 9.0).sqrt());
    assert_eq!(world.name(), "finite");
    assert_eq!(world.noise_law().collect::<Vec<_>>(), [(0, 2.0 / 3.0), (1, 1.0 / 3.0)]);
}

#[test]
fn means_are_interpolated_between_points_and_constant_beyond() {
    let world = plain();
    let mean = |s: f64| {
        let (mut next, mut reward) = ([0.0], [0.0]);
        world.mean(1, &[s], &[1], &mut next, &mut reward);
        (next[0], reward[0])
    };
    // Level 1, action 1: μₛ = 2, 0, 0, 0 and μᵣ = ((s² + 3s + 9) mod 11)/4 − 1 = 1.25, −0.5, 1, 0.25.
    assert_eq!(mean(0.0), (2.0, 1.25));
    assert_eq!(mean(0.25), (1.5, 1.25 - 0.25 * 1.75));
    assert_eq!(mean(2.5), (0.0, 0.625));
    assert_eq!(mean(-4.0), mean(0.0));
    assert_eq!(mean(3.0), (0.0, 0.25));
    assert_eq!(mean(9.0), mean(3.0));
    let mut p = [0.0; 3];
    world.behaviour(2, &[1.2], &mut p);
    assert_eq!(p, [0.5, 0.25, 0.25]);
    world.behaviour(2, &[50.0], &mut p);
    assert_eq!(p, [0.25, 0.25, 0.5]);
    world.behaviour(1, &[-50.0], &mut p);
    assert_eq!(p, [0.25, 0.5, 0.25]);
}

#[test]
fn tables_that_make_no_world_are_named() {
    let good = hand_world().tables().clone();
    let err = |change: &dyn Fn(&mut Tables)| {
        let mut tables = good.clone();
        change(&mut tables);
        FiniteWorld::new(tables).unwrap_err()
    };
    let shape = |table, needed, found| TablesError::Shape { table, needed, found };
    assert_eq!(err(&|t| t.initial.push(0)), shape("initial", 1, 2));
    assert_eq!(err(&|t| t.next.push(0)), shape("next", 4, 5));
    assert_eq!(err(&|t| t.reward.clear()), shape("reward", 4, 0));
    assert_eq!(err(&|t| t.behaviour.push(0)), shape("behaviour", 4, 5));
    assert_eq!(err(&|t| t.levels = vec![0]), TablesError::NoMass("levels"));
    assert_eq!(err(&|t| t.noise = vec![0, 0]), TablesError::NoMass("noise"));
    assert_eq!(err(&|t| t.reward_noise = vec![]), TablesError::NoMass("reward_noise"));
    assert_eq!(err(&|t| t.behaviour = vec![0; 4]), TablesError::NoMass("behaviour"));
    assert_eq!(err(&|t| t.noise = vec![1, 1]), TablesError::OffTheLattice { mean: 1, noise: 1, points: 2 });
    assert_eq!(err(&|t| t.initial = vec![2]), TablesError::OffTheLattice { mean: 2, noise: 0, points: 2 });
    assert_eq!(err(&|t| t.behaviour[3] = 3), TablesError::Behaviour { row: 1, sum: 5, first: 4 });
    assert!(matches!(err(&|t| t.reward[2] = f64::NAN), TablesError::NotFinite(_)));
    assert_eq!(err(&|t| t.reward_noise[0].0 = f64::INFINITY), TablesError::NotFinite(f64::INFINITY));
    let mut padded = good.clone();
    padded.noise = vec![1, 0];
    assert!(FiniteWorld::new(padded).is_ok(), "a noise value that never occurs leads nowhere");
}
