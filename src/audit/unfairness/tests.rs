use super::*;
use crate::audit::audit;
use crate::estimate::{Basis, FitSettings, Fitted, Pooling};
use crate::kernel::evaluate::{Disagreement, evaluate};
use crate::kernel::learn::{Deployed, Policy};
use crate::kernel::model::worlds::ThreeLevels;
use crate::kernel::model::{Exogenous, abduct_panel, simulate};
use crate::kernel::people::{PanelBuilder, Person};
use crate::kernel::preprocess::{Augmented, Sequential, StateOnly, Unaware, View};

/// Three actions by a weighted sum of what is read: cut at −½ and ½, or spread around there.
struct Cuts {
    random: bool,
}

impl<V: View> Policy<V> for Cuts {
    fn actions(&self) -> usize {
        3
    }
    fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]) {
        for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(3)) {
            let score: f64 = row.iter().enumerate().map(|(j, x)| x / (1.0 + j as f64)).sum();
            let below = |cut: f64| match self.random {
                true => 1.0 / (1.0 + (2.0 * (score - cut)).exp()),
                false => f64::from(u8::from(score < cut)),
            };
            out.copy_from_slice(&[below(-0.5), below(0.5) - below(-0.5), 1.0 - below(0.5)]);
        }
    }
    fn is_deterministic(&self) -> bool {
        !self.random
    }
}

/// Three unequal levels, two coordinates, one to five decisions; every third person lacks the state after the last one.
fn panel(people: usize, seed: u64) -> Panel {
    let world = ThreeLevels::new(0.8);
    let whole = simulate(&world, &Exogenous::draw(&world, people, 5, Stream::new(seed)));
    let mut builder = PanelBuilder::new(whole.levels().clone(), whole.action_names().clone(), 2).unwrap();
    for (i, person) in whole.iter().enumerate() {
        let t = 1 + i % 5;
        let states = &person.states[..2 * (t + usize::from(i % 3 != 0))];
        builder
            .push(Person { states, actions: &person.actions[..t], rewards: &person.rewards[..t], ..person })
            .unwrap();
    }
    builder.finish()
}

fn linear() -> FitSettings {
    FitSettings { basis: Basis::Linear, pooling: Pooling::PerLevel, ..FitSettings::default() }
}

fn ours(mechanism: &Fitted) -> Deployed<Sequential<Fitted>, Cuts> {
    let agent = Deployed::new(Sequential::new(mechanism.clone(), vec![0.5, 0.3, 0.2]), Cuts { random: false });
    // What it reads is a type.
    let _: &dyn Policy<Augmented> = agent.policy();
    agent
}

fn unaware(random: bool) -> Deployed<Unaware, Cuts> {
    let agent = Deployed::new(Unaware { state_dim: 2 }, Cuts { random });
    let _: &dyn Policy<StateOnly> = agent.policy();
    agent
}

/// One policy judged on people whose states are recorded as they are.
fn judge(
    agent: &dyn Agent,
    panel: &Panel,
    yardstick: Yardstick<'_>,
    draws: &PanelDraws,
    confidence: f64,
) -> Result<UnfairnessLaw, UnfairnessError> {
    unfairness(&[Judged { agent, panel, draws, yardstick, scales: &[] }], confidence).map(|found| found.law)
}

/// The draws behind a simulated panel, so that the policy's own are those that a rollout in the world takes.
fn draws_of(exogenous: &Exogenous) -> PanelDraws {
    let of_person = |i: usize| (0..exogenous.horizon()).map(move |t| exogenous.uniforms(t)[i]);
    PanelDraws { coins: exogenous.coins().to_vec(), uniforms: (0..exogenous.people()).flat_map(of_person).collect() }
}

/// How people are followed under a mechanism that is known.
fn follow(mechanism: &dyn Mechanism, agent: &dyn Agent, panel: &Panel, draws: &PanelDraws, seed: u64) -> Disagreement {
    let weights = vec![1.0; panel.people()];
    let noise = noise_of(&[Recorded { panel, mechanism, weights: &weights }], Stream::new(seed));
    deployed::disagreement(mechanism, agent, panel, draws, &noise[0]).unwrap()
}

/// With the true mechanism a person's own noise is known, and following them under a policy is a rollout in the world that made the record,
/// although other actions were recorded.
#[test]
fn followed_under_the_true_mechanism_records_become_rollouts_in_the_world_itself() {
    let world = ThreeLevels::new(0.8);
    let exogenous = Exogenous::draw(&world, 1500, 6, Stream::new(3));
    let (panel, draws) = (simulate(&world, &exogenous), draws_of(&exogenous));
    let carries = Deployed::new(Sequential::new(ThreeLevels::new(0.3), vec![0.5, 0.3, 0.2]), Cuts { random: false });
    let agents: [&dyn Agent; 3] = [&carries, &unaware(false), &unaware(true)];
    for agent in agents {
        let found = follow(&world, agent, &panel, &draws, 1).summary(agent.is_deterministic());
        let expected = evaluate(&world, agent, &exogenous, 0.9).unfairness;
        assert!(expected.metric.mean > 0.05, "{expected:?}");
        // Noise is what is left of the record, to rounding; no decision here is within rounding of a cut.
        assert_eq!(found.metric.mean, expected.metric.mean);
        assert!((found.total_variation.mean - expected.total_variation.mean).abs() < 1e-12);
        // Along the recorded actions it is another number.
        let recorded = audit(&panel, &world, agent, &draws).unwrap().unfairness;
        assert_ne!(recorded.metric.mean, expected.metric.mean);
    }
}

/// The record says of noise no more than its category: person by person a draw is another noise, but in law it is the same.
#[test]
fn drawn_within_categories_people_are_as_unfairly_treated_as_those_of_the_world_itself() {
    let scale = |low: f64, step: f64| Some(Scale::new(low, low + 10.0 * step, step).unwrap());
    for scales in [vec![scale(-4.0, 0.9), scale(-3.0, 0.6)], vec![None, scale(-6.0, 1.2)]] {
        let world = OnScales::new(ThreeLevels::new(0.8), scales);
        let exogenous = Exogenous::draw(&world, 6000, 5, Stream::new(3));
        let (panel, draws) = (simulate(&world, &exogenous), draws_of(&exogenous));
        let carries =
            Deployed::new(Sequential::new(ThreeLevels::new(0.8), vec![0.5, 0.3, 0.2]), Cuts { random: false });
        let agents: [&dyn Agent; 2] = [&carries, &unaware(false)];
        for agent in agents {
            let found = follow(&world, agent, &panel, &draws, 1).summary(true).metric;
            let fresh = Exogenous::draw(&world, 12_000, 5, Stream::new(77));
            let expected = evaluate(&world, agent, &fresh, 0.9).unfairness.metric;
            let error = found.standard_error.hypot(expected.standard_error);
            // A false alarm at four standard errors has probability 1e-4; without rounding the first of these policies is exactly fair.
            assert!((found.mean - expected.mean).abs() < 4.0 * error, "{found:?} and {expected:?}");
            assert!(found.mean > 0.02);
            assert_ne!(follow(&world, agent, &panel, &draws, 2).summary(true).metric, found);
        }
    }
}

#[test]
fn where_all_levels_have_one_mechanism_worlds_are_the_same_on_scales_and_without() {
    let flat = ThreeLevels::new(0.0);
    let scale = Some(Scale::new(-4.0, 4.0, 0.8).unwrap());
    for scales in [vec![], vec![scale, scale]] {
        let world = OnScales::new(flat.clone(), scales);
        let same = |level: usize| world.initial_mean(level) == world.initial_mean(0);
        assert!((0..3).all(same), "levels of this world differ by its strength alone");
        let exogenous = Exogenous::draw(&world, 500, 4, Stream::new(3));
        let (panel, draws) = (simulate(&world, &exogenous), draws_of(&exogenous));
        let found = follow(&world, &unaware(false), &panel, &draws, 1).summary(true);
        assert_eq!(found.metric.mean, 0.0);
    }
}

#[test]
fn a_policy_is_fair_under_the_means_it_carries_and_not_under_refits() {
    let panel = panel(200, 4);
    let draws = PanelDraws::draw(&panel, Stream::new(6));
    let refitter = Refitter::new(&panel, &linear()).unwrap();
    let agent = ours(refitter.fitted());
    let own = audit(&panel, refitter.fitted(), &agent, &draws).unwrap();
    assert_eq!(own.unfairness.metric.mean, 0.0);
    let certificate = Certificate::new(&refitter, &panel, 30, 5).unwrap();
    let law = judge(&agent, &panel, Yardstick::Certificate(&certificate), &draws, 0.9).unwrap();
    assert_eq!((law.replicates(), law.people, law.pairs.len()), (30, 200, 3));
    assert!(law.metric.draws()[0] > 0.0 && law.upper(0.95) < 0.5, "{:?}", law.metric);
    assert_eq!(law.total_variation, law.metric);
    // Learned from these people: no bound for people it does not depend on.
    assert_eq!(law.finite_sample_bound, None);
}

#[test]
fn a_replicate_is_its_mechanism_with_the_weights_of_its_number() {
    let (learned, judged) = (panel(150, 4), panel(90, 8));
    let draws = PanelDraws::draw(&judged, Stream::new(6));
    let refitter = Refitter::new(&learned, &linear()).unwrap();
    let certificate = Certificate::new(&refitter, &learned, 12, 5).unwrap();
    let agent = unaware(true);
    let law = judge(&agent, &judged, Yardstick::Certificate(&certificate), &draws, 0.95).unwrap();
    let of = |b: usize| {
        let mechanism = certificate.replicate(b);
        let noise = abduct_panel(&mechanism, &judged);
        let counted = deployed::disagreement(&mechanism, &agent, &judged, &draws, &noise).unwrap();
        counted.weighted(&certificate.weights(&judged, b), false)
    };
    let expected = |of_share: fn(&PairShare) -> f64| Law::of((0..12).map(|b| largest(&of(b), of_share)).collect());
    assert_eq!(law.metric, expected(|share| share.differ));
    assert_eq!(law.total_variation, expected(|share| share.total_variation));
    assert_ne!(law.total_variation, law.metric);
    for (i, (pair, pair_law)) in law.pairs.iter().enumerate() {
        assert_eq!((of(0)[i].pair, &Law::of((0..12).map(|b| of(b)[i].differ).collect())), (*pair, pair_law));
    }
    // Other people than those learned from: the bound is there, and above the law's own.
    assert!(law.finite_sample_bound.unwrap() > law.upper(0.95));
}

#[test]
fn the_law_depends_neither_on_threads_nor_on_the_order_of_people() {
    let panel = panel(150, 4);
    let reversed = panel.select(&(0..150).rev().collect::<Vec<_>>());
    let law = |panel: &Panel, threads: usize| {
        let draws = PanelDraws { coins: vec![0.5; 150], uniforms: vec![0.5; panel.decisions()] };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let refitter = Refitter::new(panel, &linear()).unwrap();
            let certificate = Certificate::new(&refitter, panel, 10, 5).unwrap();
            judge(&unaware(false), panel, Yardstick::Certificate(&certificate), &draws, 0.95).unwrap()
        })
    };
    let one = law(&panel, 1);
    assert_eq!(one, law(&panel, 3));
    for (x, y) in one.metric.draws().iter().zip(law(&reversed, 2).metric.draws()) {
        // Sums of the same numbers in another order, and no decision within rounding of a cut.
        assert!((x - y).abs() < 1e-12, "{x} and {y}");
    }
}

#[test]
fn means_that_are_carried_are_pooled_with_those_of_the_judged() {
    let (learned, judged) = (panel(150, 4), panel(90, 8));
    let draws = PanelDraws::draw(&judged, Stream::new(6));
    let (own, refitter) = (Refitter::new(&learned, &linear()).unwrap(), Refitter::new(&judged, &linear()).unwrap());
    let agent = ours(own.fitted());
    let law = |transitions: Option<usize>| {
        let carried = transitions.map(|transitions| Carried { mechanism: own.fitted(), transitions });
        let yardstick = Yardstick::Judged { refitter: &refitter, carried, replicates: 20, seed: 3 };
        judge(&agent, &judged, yardstick, &draws, 0.95).unwrap()
    };
    let (alone, nobody, equal, everybody) =
        (law(None), law(Some(0)), law(Some(judged.transitions())), law(Some(usize::MAX / 1000)));
    // Nobody behind the policy's means: the refits as they are. Everybody behind them: they are the truth, and the policy fair.
    for (x, y) in alone.metric.draws().iter().zip(nobody.metric.draws()) {
        assert!((x - y).abs() < 1e-12, "{x} and {y}");
    }
    assert!(everybody.upper(0.95) < 0.02 * alone.mean(), "{} and {}", everybody.upper(0.95), alone.mean());
    assert!(equal.mean() < 0.9 * alone.mean(), "{} and {}", equal.mean(), alone.mean());
    assert!(alone.finite_sample_bound.is_none() && equal.finite_sample_bound.is_some());
}

#[test]
fn the_finite_sample_bound_is_hoeffdings_with_unequal_horizons() {
    let law = Law::of((0..=1000).map(|i| f64::from(i) / 4000.0).collect());
    // Quantile .975 of the law, at (.975 · 1002 − 1)/4000; two pairs; Σ T² / (Σ T)² = 14/36.
    let quantile = 975.95 / 4000.0;
    let expected = quantile + (f64::ln(2.0 / 0.025) * 14.0 / 36.0 / 2.0).sqrt();
    assert!(expected > 1.0);
    assert_eq!(finite_sample_bound(&law, &[1, 2, 3], 2, 0.95), 1.0);
    let many: Vec<usize> = (0..3000).map(|i| 1 + i % 3).collect();
    let expected = quantile + (f64::ln(2.0 / 0.025) * 14.0 / 36.0 / 2000.0).sqrt();
    approx::assert_relative_eq!(finite_sample_bound(&law, &many, 2, 0.95), expected, max_relative = 1e-12);
    assert_eq!(finite_sample_bound(&law, &many, 0, 0.95), 0.0);
}

#[test]
fn what_does_not_fit_is_refused() {
    let panel = panel(40, 4);
    let draws = PanelDraws::draw(&panel, Stream::new(6));
    let refitter = Refitter::new(&panel, &linear()).unwrap();
    let none = Yardstick::Judged { refitter: &refitter, carried: None, replicates: 0, seed: 3 };
    let found = judge(&unaware(false), &panel, none, &draws, 0.95);
    assert_eq!(found.err(), Some(UnfairnessError::NoReplicates));
    let few = PanelDraws { coins: vec![0.5; 39], ..draws };
    let one = Yardstick::Judged { refitter: &refitter, carried: None, replicates: 1, seed: 3 };
    let found = judge(&unaware(false), &panel, one, &few, 0.95);
    assert_eq!(found.err(), Some(AuditError::Draws { of: "people", needed: 40, found: 39 }.into()));
}
