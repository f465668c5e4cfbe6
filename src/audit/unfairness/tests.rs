use super::*;
use crate::audit::audit;
use crate::estimate::{Basis, FitSettings, Fitted, Pooling};
use crate::kernel::learn::{Deployed, Policy};
use crate::kernel::model::worlds::ThreeLevels;
use crate::kernel::model::{Exogenous, simulate};
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

#[test]
fn histories_followed_many_times_are_those_of_the_audit() {
    let panel = panel(130, 3);
    let draws = PanelDraws::draw(&panel, Stream::new(6));
    let world = ThreeLevels::new(0.6);
    let histories = Histories::new(&panel, &draws);
    for random in [false, true] {
        let agent = unaware(random);
        let expected = audit(&panel, &world, &agent, &draws).unwrap().unfairness;
        let counted = histories.disagreement(&world, &agent).unwrap();
        assert_eq!(counted.summary(!random), expected);
        assert!(expected.metric.mean > 0.05 && expected.total_variation.mean > 0.05);
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
    let law = unfairness(&agent, &panel, &Yardstick::Certificate(&certificate), &draws, 0.9).unwrap();
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
    let law = unfairness(&agent, &judged, &Yardstick::Certificate(&certificate), &draws, 0.95).unwrap();
    let histories = Histories::new(&judged, &draws);
    let of = |b: usize| {
        let counted = histories.disagreement(&certificate.replicate(b), &agent).unwrap();
        counted.weighted(&histories.in_order(&certificate.weights(&judged, b)), false)
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
            unfairness(&unaware(false), panel, &Yardstick::Certificate(&certificate), &draws, 0.95).unwrap()
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
        unfairness(&agent, &judged, &yardstick, &draws, 0.95).unwrap()
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
    let found = unfairness(&unaware(false), &panel, &none, &draws, 0.95);
    assert_eq!(found.err(), Some(UnfairnessError::NoReplicates));
    let few = PanelDraws { coins: vec![0.5; 39], ..draws };
    let one = Yardstick::Judged { refitter: &refitter, carried: None, replicates: 1, seed: 3 };
    let found = unfairness(&unaware(false), &panel, &one, &few, 0.95);
    assert_eq!(found.err(), Some(AuditError::Draws { of: "people", needed: 40, found: 39 }.into()));
}
