//! X13, X15 and M-TXT2: what the document says about its own simulations, on the worlds as shipped.

use super::search::{EQUAL, Equalities, Search};
use super::{Budget, Claim, Expected, Verdict};
use crate::kernel::evaluate::evaluate;
use crate::kernel::learn::{Deployed, UniformlyRandom};
use crate::kernel::model::worlds::{Linear, World};
use crate::kernel::model::{Exogenous, Mechanism};
use crate::kernel::numeric::Stream;
use crate::kernel::preprocess::Unaware;

pub(super) const CLAIMS: &[Claim] = &[
    Claim::printed(
        "X13",
        "at δ = 0 the states of the linear world are independent of Z",
        &["behaviour policy of supplement F.2"],
        Expected::Refuted,
        |_| second_state(true),
        |_| second_state(false),
    )
    .at(910, r"the state variables $\{S_t\}_{t\geq1}$ are independent of sensitive attribute $Z$")
    .runs("kernel::model::worlds"),
    Claim::ours(
        "X13",
        "at δ = 0 the counterfactual states of all levels are equal",
        &["linear world"],
        Expected::Exact,
        |_| equal_means(0.0),
        |_| equal_means(1.0),
    )
    .at(910, r"the state variables $\{S_t\}_{t\geq1}$ are independent of sensitive attribute $Z$")
    .runs("kernel::model::worlds"),
    Claim::ours(
        "M-TXT2",
        "regressing observed rewards on (S̃, A) estimates the level-weighted reward where A does not depend on Z given S̃; under F.2's behaviour not",
        &["linear world, δ = 1, t = 1"],
        Expected::NotRefuted,
        |_| observed_reward(false),
        |_| observed_reward(true),
    )
    .at(327, r"One can use preprocessed $\hat{s}_{it}$ and observed $r_{it}$ to learn a CF policy")
    .runs("kernel::model::worlds"),
    Claim::ours(
        "X15",
        "the CF metric of a random policy is 0 when the worlds share its draw",
        &["shared Uᴬ, as eq:cf_metric needs"],
        Expected::Exact,
        |budget| random_policy(budget, true),
        |budget| random_policy(budget, false),
    )
    .at(407, r"\textit{Random} policies naturally satisfy CF")
    .runs("kernel::evaluate::evaluate"),
];

/// (E(S′ | s, a, z), E(R | s, a, z)).
fn mean(world: &Linear, z: usize, s: f64, a: u32) -> (f64, f64) {
    let (mut next, mut reward) = ([0.0], [0.0]);
    world.mean(z, &[s], &[a], &mut next, &mut reward);
    (next[0], reward[0])
}

/// P(A = a | Z = z), or without Z the mean of the two.
fn behaviour(world: &Linear, z: usize, a: usize, by_level: bool) -> f64 {
    let of = |z: usize| {
        let mut p = [0.0; 2];
        world.behaviour(z, &[0.0], &mut p);
        p[a]
    };
    if by_level { of(z) } else { (of(0) + of(1)) / 2.0 }
}

/// |E(S₂ | Z = 1) − E(S₂ | Z = 0)| at δ = 0; means are linear in the state, so S₁ may be replaced by its mean.
fn second_state(by_level: bool) -> Verdict {
    let world = Linear::new(0.0);
    let second = |z: usize| -> f64 {
        let s = world.initial_mean(z)[0];
        (0..2).map(|a| behaviour(&world, z, a, by_level) * mean(&world, z, s, a as u32).0).sum()
    };
    let mut search = Search::new();
    let apart = (second(1) - second(0)).abs();
    search.case(if apart < EQUAL { 0.0 } else { apart }, 0.0, || {
        format!("linear world, δ = 0: S₁ has mean −0.3, P(A = 1 | Z) = {:.6} and {:.6}, E(S₂ | Z = 1) − E(S₂ | Z = 0) = (difference)·(0.3·(−0.3) + 0.4) = {apart:.4}", behaviour(&world, 0, 1, true), behaviour(&world, 1, 1, true))
    });
    search.verdict()
}

fn equal_means(strength: f64) -> Verdict {
    let world = Linear::new(strength);
    let mut equal = Equalities::new();
    equal.case(world.initial_mean(0)[0], world.initial_mean(1)[0], 0.0, || format!("first means at δ = {strength}"));
    for k in -20..=20 {
        for a in 0..2 {
            let s = f64::from(k) / 4.0;
            equal.case(mean(&world, 0, s, a).0, mean(&world, 1, s, a).0, EQUAL, || {
                format!("δ = {strength}, s = {s}, a = {a}")
            });
        }
    }
    equal.verdict()
}

/// The contrast of actions at S̃ = (−½, ½), where the level-weighted rewards tie, from observed rewards: levels weighted by P(Z | A).
fn observed_reward(by_level: bool) -> Verdict {
    let world = Linear::new(1.0);
    let weight = |z: usize, a: usize| {
        let joint = |z: usize| behaviour(&world, z, a, by_level);
        joint(z) / (joint(0) + joint(1))
    };
    let reward = |z: usize, a: usize| mean(&world, z, [-0.5, 0.5][z], a as u32).1;
    let contrast = |weight: &dyn Fn(usize, usize) -> f64| -> f64 {
        (0..2).map(|z| weight(z, 1) * reward(z, 1) - weight(z, 0) * reward(z, 0)).sum()
    };
    let (truth, regression) = (contrast(&|_, _| 0.5), contrast(&weight));
    let mut search = Search::new();
    let off = (regression - truth).abs();
    search.case(if off < EQUAL { 0.0 } else { off }, 0.0, || {
        format!("linear world, δ = 1, s⁰ = −½, s¹ = ½: the weighted contrast R̃(1) − R̃(0) is {truth:.4}; weighting by P(Z = 1 | A = 1) = {:.4} and P(Z = 1 | A = 0) = {:.4} gives {regression:.4}", weight(1, 1), weight(1, 0))
    });
    search.verdict()
}

/// The library's metric, or its value when the two worlds draw on their own: Σₐ π(a)(1 − π(a)) = ½.
fn random_policy(budget: Budget, shared: bool) -> Verdict {
    let world = Linear::new(1.0);
    let exogenous = Exogenous::draw(&world, budget.pick(500, 10_000), 5, Stream::new(95));
    let agent = Deployed::new(Unaware { state_dim: 1 }, UniformlyRandom { actions: 2 });
    let measured = evaluate(&world, &agent, &exogenous, 0.9).unfairness.metric.mean;
    let metric = if shared { measured } else { 0.5 * (1.0 - 0.5) + 0.5 * (1.0 - 0.5) };
    let mut equal = Equalities::new();
    equal.case(metric, 0.0, 0.0, || {
        "two actions with probability ½, drawn separately in two worlds: they differ with probability ½".into()
    });
    equal.verdict()
}
