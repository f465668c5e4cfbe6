//! The audit of a policy on recorded histories.

use crate::fixture::*;
use crate::oracle;
use crate::oracle::explore;
use counterfair::audit::{AuditError, PanelDraws, audit, probabilities_along};
use counterfair::kernel::learn::{Agent, Behaviour, Deployed, UniformlyRandom};
use counterfair::kernel::model::worlds::{Linear, ThreeLevels};
use counterfair::kernel::model::{Exogenous, Mechanism, World, abduct, predict, simulate};
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::people::Panel;
use counterfair::kernel::preprocess::{Full, Sequential, StateOverflow};
use counterfair::theory::rules::Replay;
use counterfair::theory::rules::{EpisodeMixture, StepMixture};
use std::sync::Arc;

fn full_agent() -> impl Agent {
    Deployed::new(Full { state_dim: 1 }, Rule { rule: |x: &[usize]| full_rule(x[0], x[1]), deterministic: false })
}

/// The behaviour data of a census, everybody four times, the j-th copy with all action draws at (j + ½)/4.
fn census_of_audits(horizon: usize) -> (Panel, PanelDraws) {
    let world = plain();
    let panel = simulate(&world, &world.census(horizon, 4, 1).unwrap());
    let n = panel.people();
    let copies = resample(&panel, &(0..4 * n).map(|i| i % n).collect::<Vec<_>>());
    let uniforms = (0..4 * n * horizon).map(|at| (at / (n * horizon)) as f64 / 4.0 + 0.125).collect();
    (copies, PanelDraws { coins: vec![0.5; 4 * n], uniforms })
}

#[test]
fn on_the_census_of_behaviour_data_the_audit_is_the_enumerated_one() {
    let world = plain();
    let (panel, draws) = census_of_audits(2);
    let exact = explore(&world, &oracle::behaviour, &oracle::full, 2, DISCOUNT);
    let found = audit(&panel, &world, &full_agent(), &draws).unwrap();
    for ((pair, estimate), (expected_pair, expected)) in found.unfairness.pairs.iter().zip(&exact.differ) {
        assert_eq!(pair, expected_pair);
        assert_same(estimate.mean, *expected);
    }
    assert_same(found.unfairness.metric.mean, exact.metric());
    assert_same(found.unfairness.total_variation.mean, exact.total_variation());
    for (t, rates) in exact.rates.iter().enumerate() {
        for z in 0..LEVELS {
            for a in 0..ACTIONS {
                assert_same(found.rates.at(t, z, a).unwrap().mean, rates[z][a]);
            }
        }
    }
    // Following the agent's own actions instead of the recorded ones would be another number.
    let own = explore(&world, &oracle::full, &oracle::full, 2, DISCOUNT);
    assert_differs(own.rates[1][0][0], exact.rates[1][0][0]);
}

#[test]
fn the_evaluators_mechanism_and_not_the_policys_makes_the_other_worlds() {
    let world = plain();
    let (panel, draws) = census_of_audits(3);
    let weights = world.level_probabilities().to_vec();
    let own_means = Wrong(&world);
    let agent = Deployed::new(Sequential::new(&own_means, weights), Rule { rule: fair_rule, deterministic: false });
    assert_eq!(audit(&panel, &own_means, &agent, &draws).unwrap().unfairness.metric.mean, 0.0);
    assert!(audit(&panel, &world, &agent, &draws).unwrap().unfairness.metric.mean > 0.05);
}

/// The fixture's means with the levels' starting points moved by whole numbers.
struct Wrong<'a>(&'a counterfair::theory::FiniteWorld);

impl Mechanism for Wrong<'_> {
    fn state_dim(&self) -> usize {
        1
    }
    fn levels(&self) -> usize {
        LEVELS
    }
    fn actions(&self) -> usize {
        ACTIONS
    }
    fn initial_mean(&self, level: usize) -> &[f64] {
        &[[0.0], [1.0], [1.0]][level]
    }
    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        self.0.mean(level, states, actions, next, rewards);
    }
}

/// Two thousand people of the three-level world, cut to unequal horizons (some to none), with and without a final state.
fn uneven() -> (ThreeLevels, Panel) {
    let world = ThreeLevels::new(0.8);
    let panel = simulate(&world, &Exogenous::draw(&world, 1500, 6, Stream::new(23).named("uneven")));
    let cut = cut(&panel, |i| (i * 7 + i / 5) % 7, |i| i % 3 != 0);
    (world, cut)
}

/// Agents of every kind on the three-level world: random and deterministic, with memories and with mixtures.
fn agents() -> Vec<Box<dyn Agent>> {
    let sign = |x: &[f64]| (x.iter().enumerate().map(|(j, x)| (j as f64 - 1.3) * x).sum::<f64>() * 1.7).floor();
    let shares = move |x: &[f64]| [[0.2, 0.3, 0.5], [0.6, 0.1, 0.3], [0.0, 1.0, 0.0]][sign(x).rem_euclid(3.0) as usize];
    let choice = move |x: &[f64]| [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]][sign(x).rem_euclid(3.0) as usize];
    let ours = || Sequential::new(ThreeLevels::new(0.5), vec![0.5, 0.3, 0.2]);
    let random = || Arc::new(Deployed::new(Full { state_dim: 2 }, OnRows { rule: shares, deterministic: false }));
    let fair = || Arc::new(Deployed::new(ours(), OnRows { rule: choice, deterministic: true }));
    vec![
        Box::new(Deployed::new(Full { state_dim: 2 }, OnRows { rule: choice, deterministic: true })),
        Box::new(Deployed::new(ours(), OnRows { rule: shares, deterministic: false })),
        Box::new(StepMixture { first: random(), second: fair(), weight: 0.3 }),
        Box::new(EpisodeMixture { first: random(), second: fair(), weight: 0.6 }),
        Box::new(Replay::new(ThreeLevels::new(0.5), OnRows { rule: choice, deterministic: true })),
        Box::new(Deployed::new(Full { state_dim: 2 }, Behaviour(ThreeLevels::new(0.8)))),
    ]
}

/// A rule on real rows.
struct OnRows<F> {
    rule: F,
    deterministic: bool,
}

impl<V: counterfair::kernel::preprocess::View, F: Fn(&[f64]) -> [f64; 3] + Send + Sync>
    counterfair::kernel::learn::Policy<V> for OnRows<F>
{
    fn actions(&self) -> usize {
        3
    }
    fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]) {
        for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(3)) {
            out.copy_from_slice(&(self.rule)(row));
        }
    }
    fn is_deterministic(&self) -> bool {
        self.deterministic
    }
}

#[test]
fn unequal_horizons_give_what_asking_about_one_person_at_a_time_gives() {
    let (world, panel) = uneven();
    let draws = PanelDraws::draw(&panel, Stream::new(4));
    for agent in agents() {
        let found = audit(&panel, &world, &*agent, &draws).unwrap();
        let (mut differ, mut variation, mut decisions) = (vec![0.0; 9], vec![0.0; 9], 0.0);
        let mut would = vec![];
        for i in 0..panel.people() {
            let person = panel.person(i);
            let noise = abduct(&world, person);
            let worlds: Vec<Vec<f64>> = (0..3)
                .map(|k| match k == person.level as usize {
                    true => person.states.to_vec(),
                    false => predict(&world, &noise, person.actions, k).states,
                })
                .collect();
            let mut memories: Vec<_> =
                (0..3).map(|k| agent.begin(&[k as u32], &worlds[k][..2], &draws.coins[i..=i])).collect();
            for (t, decision) in panel.decisions_of(i).enumerate() {
                let (mut chosen, mut p) = ([[0u32]; 3], [[0.0; 3]; 3]);
                for k in 0..3 {
                    if t > 0 {
                        agent.advance(&mut memories[k], &person.actions[t - 1..t], &worlds[k][2 * t..2 * t + 2]);
                    }
                    agent.act(&mut memories[k], &draws.uniforms[decision..=decision], &mut chosen[k]);
                    agent.probabilities(&mut memories[k], &mut p[k]);
                }
                for (k, l) in [(0, 1), (0, 2), (1, 2)] {
                    differ[3 * k + l] += f64::from(u8::from(chosen[k] != chosen[l]));
                    variation[3 * k + l] += (0..3).map(|a| 0.5 * (p[k][a] - p[l][a]).abs()).sum::<f64>();
                }
                decisions += 1.0;
                would.push(chosen[person.level as usize][0]);
            }
        }
        assert_eq!(decisions, panel.decisions() as f64);
        assert_eq!(found.actions, would);
        for ((k, l), estimate) in &found.unfairness.pairs {
            assert_same(estimate.mean, differ[3 * k + l] / decisions);
        }
        let largest = variation.iter().fold(0.0f64, |most, x| most.max(x / decisions));
        assert_same(found.unfairness.total_variation.mean, largest);
        for z in 0..3 {
            let of_level: Vec<u32> = (0..panel.people())
                .filter(|&i| panel.level_codes()[i] == z)
                .flat_map(|i| would[panel.decisions_of(i)].to_vec())
                .collect();
            for a in 0..3 {
                let share = of_level.iter().filter(|x| **x == a).count() as f64 / of_level.len() as f64;
                assert_same(found.rates.overall(z as usize, a as usize).unwrap().mean, share);
            }
        }
    }
}

#[test]
fn probabilities_along_histories_are_those_of_one_person_at_a_time() {
    let (_, panel) = uneven();
    let draws = PanelDraws::draw(&panel, Stream::new(4));
    for agent in agents() {
        let found = probabilities_along(&panel, &*agent, &draws.coins).unwrap();
        assert_eq!(found.len(), panel.state_rows() * 3);
        for i in 0..panel.people() {
            let person = panel.person(i);
            let mut memory = agent.begin(&[person.level], &person.states[..2], &draws.coins[i..=i]);
            for (t, row) in panel.states_of(i).enumerate() {
                if t > 0 {
                    agent.advance(&mut memory, &person.actions[t - 1..t], &person.states[2 * t..2 * t + 2]);
                }
                let mut p = [0.0; 3];
                agent.probabilities(&mut memory, &mut p);
                assert_eq!(found[3 * row..3 * row + 3], p);
            }
        }
    }
}

#[test]
fn draws_come_from_named_streams_and_do_not_depend_on_each_other() {
    let (_, panel) = uneven();
    let draws = PanelDraws::draw(&panel, Stream::new(9));
    assert_eq!((draws.coins.len(), draws.uniforms.len()), (panel.people(), panel.decisions()));
    let mut coins = vec![0.0; panel.people()];
    counterfair::kernel::numeric::fill_uniform(&mut Stream::new(9).named("coin").rng(), &mut coins);
    assert_eq!(draws.coins, coins);
    assert_ne!(draws.coins[..50], draws.uniforms[..50]);
}

#[test]
fn shapes_that_do_not_fit_are_named() {
    let (panel, draws) = census_of_audits(1);
    let world = plain();
    let err = |mechanism: &dyn Mechanism, agent: &dyn Agent, draws: &PanelDraws| {
        audit(&panel, mechanism, agent, draws).unwrap_err()
    };
    let two = Deployed::new(Full { state_dim: 1 }, UniformlyRandom { actions: 2 });
    let shape = |what, who, panel, other| AuditError::Shape { what, who, panel, other };
    assert_eq!(err(&Linear::new(1.0), &full_agent(), &draws), shape("levels", "mechanism", 3, 2));
    assert_eq!(err(&ThreeLevels::new(1.0), &full_agent(), &draws), shape("state coordinates", "mechanism", 1, 2));
    assert_eq!(err(&world, &two, &draws), shape("actions", "agent", 3, 2));
    let needed = panel.people();
    let short = PanelDraws { coins: vec![0.5], ..draws.clone() };
    assert_eq!(err(&world, &full_agent(), &short), AuditError::Draws { of: "people", needed, found: 1 });
    let short = PanelDraws { uniforms: vec![], ..draws };
    assert_eq!(err(&world, &full_agent(), &short), AuditError::Draws { of: "decisions", needed, found: 0 });
    assert_eq!(probabilities_along(&panel, &two, &short.coins).unwrap_err(), shape("actions", "agent", 3, 2));
    let error = probabilities_along(&panel, &full_agent(), &[]).unwrap_err();
    assert_eq!(error, AuditError::Draws { of: "people", needed, found: 0 });
}

#[test]
fn a_counterfactual_state_that_overflows_is_named() {
    let people: [Row; 2] =
        [(1, &[1.0, 2.0], &[0, 0], &[0.0, 0.0]), (0, &[2.0, 3.0, 4.0], &[0, 0, 0], &[0.0, 0.0, 0.0])];
    let panel = panel(2, 2, &people);
    let agent = Deployed::new(Full { state_dim: 1 }, UniformlyRandom { actions: 2 });
    let draws = PanelDraws::draw(&panel, Stream::new(1));
    let error = audit(&panel, &Exploding, &agent, &draws).unwrap_err();
    assert_eq!(error, AuditError::Overflow(StateOverflow { id: "p1".into(), t: 3, value: f64::INFINITY }));
}

/// Level 1 squares its state far beyond the finite numbers at the second step.
struct Exploding;

impl Mechanism for Exploding {
    fn state_dim(&self) -> usize {
        1
    }
    fn levels(&self) -> usize {
        2
    }
    fn actions(&self) -> usize {
        2
    }
    fn initial_mean(&self, _level: usize) -> &[f64] {
        &[0.0]
    }
    fn mean(&self, level: usize, states: &[f64], _actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        rewards.fill(0.0);
        for (s, next) in states.iter().zip(next) {
            *next = if level == 1 { (s * 1e150).powi(2) } else { *s };
        }
    }
}
