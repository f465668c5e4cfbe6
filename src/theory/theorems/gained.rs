//! The fair value of the deployed policy, and what is gained by unfairness.
//!
//! # Equation
//! ```text
//! Ṽ = Σ_z p_z E Σₜ γ^{t−1} Σₖ pₖ Rₜᵏ(read_z),    |J − Ṽ| ≤ 2V Σ_{z,k} p_z pₖ E γ^{τ_zk − 1},    Ṽ ≤ J*CF
//! ```
//! read_z are the decisions for a person at level z as a function of the noise, τ_zk the first time at which read_z and read_k part. What J has beyond Ṽ
//! is gained by unfairness, and has either sign. It shrinks with the error of the means where a margin, ties counted, keeps decisions apart from their
//! boundary; without one it need not shrink at all.

use super::listed::{AnyRule, Reads, linear_rule, made, numbers, random_world, told};
use super::process::decisions;
use super::{Claim, Found, Limit, Quotation, Run, Worst};
use crate::estimate::{Basis, FitSettings, fit};
use crate::fair::Method;
use crate::kernel::evaluate::{OneWorld, Reading, fair_value, follow_readings};
use crate::kernel::learn::{Agent, Deployed, UniformlyRandom};
use crate::kernel::model::worlds::Nonlinear;
use crate::kernel::model::{Exogenous, Mechanism, World, simulate};
use crate::kernel::numeric::Stream;
use crate::kernel::preprocess::{Augmented, Full, Sequential, Unaware};
use crate::theory::finite_world::Tables;
use crate::theory::optimum::PaperWorld;
use crate::theory::{BestRule, FiniteWorld, Mistaken, Regret, RegretMeter, plain_policy};
use std::sync::{Arc, Mutex, PoisonError};

const REGRET: Option<Quotation> = Quotation::at(
    378,
    r"the regret of the optimal policy estimated using Algorithm~\ref{alg:cf:1} and FQI is upper bounded by",
);

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        label: "X7",
        says: "|J − Ṽ| ≤ 2V Σ p_z p_k E γ^{τ−1}, τ the first time at which decisions for two levels part; attained",
        assumes: &[
            "any deterministic rule, fair or not",
            "|R| ≤ (1−γ)V/(1−γᵀ)",
            "one world by hand and 40 at random, rules on states, levels and wrongly preprocessed states, T = 5",
        ],
        limit: Limit::AtMost,
        check: |run| parted(run.pick(1.0, 0.5)),
        control: "half the right side",
        runs: "kernel::evaluate::follow_readings",
        source: REGRET,
        proved_by: &["gained_by_unfairness"],
        ..Claim::HEADLINE
    },
    Claim {
        label: "X7",
        says: "rules that randomise: |J − Ṽ| ≤ 2V Σ γ^{t−1} E TVₜ between the decisions for two levels; attained",
        assumes: &[
            "any rule, fair or not, probabilities in eighths",
            "|R| ≤ (1−γ)V/(1−γᵀ)",
            "everybody of 20 finite worlds, T = 1 and 2",
        ],
        limit: Limit::AtMost,
        check: |run| varied(run.pick(1.0, 0.5)),
        control: "half the right side",
        runs: "kernel::evaluate::{fair_value, OneWorld}",
        source: REGRET,
        proved_by: &["gained_at_most_total_variation", "draws_part_with_total_variation"],
        ..Claim::LEMMA
    },
    Claim {
        label: "X7",
        says: "under a margin that counts ties J − Ṽ is small: |J − Ṽ| ≤ 2V Σ γ^{t−1} Σ p_z(1 − p_z) P_z(gap of f̂ at 𝕊ₜ ≤ 2Lε_s), hence of order (2Lε_s)^α where P(gap ≤ x) ≤ Cx^α; attained",
        assumes: &[
            "greedy on f̂, which is L-Lipschitz, at states within ε_s of the true ones in every world",
            "a tie has gap 0 and counts",
            "two worlds by hand, 40 at random; means off by at most 0.3; T = 3",
        ],
        limit: Limit::AtMost,
        check: |run| under_margin(run == Run::Stated),
        control: "ties are not counted: J − Ṽ = ±4/5 however small the error of the means is",
        runs: "kernel::evaluate::{fair_value, OneWorld}, kernel::preprocess::Sequential",
        source: REGRET,
        proved_by: &[
            "gained_under_margin_in_n_steps",
            "gained_by_estimated_states",
            "ties_cost_or_earn_a_constant_in_n_steps",
        ],
        ..Claim::LEMMA
    },
    Claim {
        label: "X7",
        says: "J*CF − Ṽ = E Σ γ^{t−1}(V* − Q*(Aₜ)) for random, unaware, full and our policies, hence Ṽ ≤ J*CF",
        assumes: &[
            "non-linear world, δ = 1, γ = 0.7; 2000 people, 30 decisions",
            "four standard errors: a false alarm in 1e-4",
        ],
        limit: Limit::AtMost,
        check: |run| performance_difference(run.pick(|found| found.values.fair.mean, |found| found.values.value.mean)),
        control: "J in the place of Ṽ: it exceeds J*CF",
        runs: "theory::RegretMeter, kernel::evaluate::follow_readings",
        source: REGRET,
        proved_by: &["performance_difference", "fair_value_at_most_optimum"],
        ..Claim::LEMMA
    },
    Claim {
        label: "X7",
        says: "J − Ṽ changes its sign with the error e of the means in the non-linear world: |found(e) + found(−e)| is at most a tenth of |found(e)| + |found(−e)|",
        assumes: &[
            "best rule behind means of level 1 that are off by e",
            "δ = 1, γ = 0.7; |e| = 0.05, 0.1, 0.2; 2000 people, 20 decisions",
        ],
        limit: Limit::AtMost,
        check: |run| either_sign(run.pick(|found| found.values.gained.mean, |found| found.regret.mean)),
        control: "J*CF − Ṽ, which is even in e",
        runs: "theory::RegretMeter, kernel::preprocess::Sequential",
        source: REGRET,
        ..Claim::LEMMA
    },
];

/// Differences of two sums of some hundred rewards that are put down to rounding.
const ROUNDED: f64 = 1e-12;

/// One state; level z is paid 1 for action z and −1 for the other.
fn opposed_tastes() -> FiniteWorld {
    made(Tables {
        points: 1,
        actions: 2,
        levels: vec![1, 1],
        noise: vec![1],
        reward_noise: vec![(0.0, 1)],
        initial: vec![0, 0],
        next: vec![0; 4],
        reward: vec![1.0, -1.0, -1.0, 1.0],
        behaviour: vec![1; 4],
    })
}

/// A decision with ties: states 0, 1, 2 afresh at each step with probabilities .1, .8, .1, R⁰ = ±s and R¹ = ±(s − 2), + for action 1.
fn mostly_ties() -> FiniteWorld {
    let sign = |a: usize| 2.0 * a as f64 - 1.0;
    made(Tables {
        points: 3,
        actions: 2,
        levels: vec![1, 1],
        noise: vec![1, 8, 1],
        reward_noise: vec![(0.0, 1)],
        initial: vec![0, 0],
        next: vec![0; 12],
        reward: (0..12).map(|k: usize| sign(k % 2) * ((k / 2 % 3) as f64 - 2.0 * (k / 6) as f64)).collect(),
        behaviour: vec![1; 12],
    })
}

/// Two levels at random, without reward noise.
fn quiet(i: u64) -> FiniteWorld {
    super::listed::changed(&random_world(2, Stream::new(260).index(i)), |tables| tables.reward_noise = vec![(0.0, 1)])
}

/// The largest |mean reward|.
fn largest_reward(world: &FiniteWorld) -> f64 {
    world.tables().reward.iter().fold(0.0, |most: f64, r| most.max(r.abs()))
}

/// (1 − γᵗ)/(1 − γ).
fn geometric(discount: f64, decisions: usize) -> f64 {
    (1.0 - discount.powi(decisions as i32)) / (1.0 - discount)
}

/// Numbers this small are differences of equal sums.
fn or_zero(x: f64) -> f64 {
    if x.abs() < ROUNDED { 0.0 } else { x.abs() }
}

/// Rules that read the state, the state and the level, and what alg:cf:1 makes with wrong means. The mean over people of a statement that holds for
/// each of them.
fn parted(factor: f64) -> Found {
    let mut worst = Worst::default();
    let mut case = |world: &FiniteWorld, agent: &dyn Agent, γ: f64, horizon: usize, name: &str| {
        let draws = world.census(horizon, 1, 1).expect("a small world");
        let (gained, taken) = decisions(world, agent, &draws, γ);
        let v = largest_reward(world) * geometric(γ, horizon);
        let right = 2.0 * v * parting(world.level_probabilities(), &taken, γ);
        worst.at_most(or_zero(gained), factor * right, || {
            format!(
                "{name}, γ = {γ}, T = {horizon}: J − Ṽ = {gained:.6}, 2VΣ p_z p_k E γ^(τ−1) = {right:.6}; {}",
                told(world)
            )
        });
    };
    let by_level = Deployed::new(Full { state_dim: 1 }, linear_rule(vec![0.0, 0.0, 0.0, -0.5, 0.0, 1.0]));
    for γ in [0.3, 0.8] {
        case(&opposed_tastes(), &by_level, γ, 8, "each level is paid ±1 and takes what it likes");
    }
    for i in 0..40 {
        let world = quiet(i);
        for (k, reads) in [Reads::State, Reads::StateAndLevel, Reads::WrongWorlds(0.5)].into_iter().enumerate() {
            let rule = AnyRule { actions: 2, certain: true, stream: Stream::new(261).index(i).index(k as u64) };
            case(&world, &*reads.deployed(&world, rule), 0.7, 5, &format!("{reads:?}"));
        }
    }
    worst.found()
}

/// Σ p_z p_k mean γ^{τ_zk − 1}.
fn parting(shares: &[f64], taken: &[Vec<Vec<u32>>], discount: f64) -> f64 {
    let (horizon, people) = (taken[0].len(), taken[0][0].len());
    let mut sum = 0.0;
    for (z, own) in taken.iter().enumerate() {
        for (k, other) in taken.iter().enumerate() {
            for i in 0..people {
                if let Some(t) = (0..horizon).find(|&t| own[t][i] != other[t][i]) {
                    sum += shares[z] * shares[k] * discount.powi(t as i32) / people as f64;
                }
            }
        }
    }
    sum
}

/// Everybody, treated at each level in turn: an agent in every world of theirs, all of them driven by the actions taken at that level. `visit` is told
/// z, t and the worlds before each decision.
fn treated_at_each_level(
    world: &FiniteWorld,
    agent: &dyn Agent,
    draws: &Exogenous,
    mut visit: impl FnMut(usize, usize, &mut [OneWorld]),
) {
    let people = 0..draws.people();
    for z in 0..world.levels() {
        let mut worlds: Vec<OneWorld> =
            (0..world.levels()).map(|k| OneWorld::begin(world, agent, draws, people.clone(), k)).collect();
        let mut taken = vec![0; draws.people()];
        for t in 0..draws.horizon() {
            visit(z, t, &mut worlds);
            agent.act(&mut worlds[z].memory, draws.uniforms(t), &mut taken);
            worlds.iter_mut().for_each(|side| side.step(world, agent, draws, t, &taken));
        }
    }
}

/// Rules with probabilities in eighths, on a population in which these are exact.
fn varied(factor: f64) -> Found {
    let mut worst = Worst::default();
    let γ = 0.7;
    let mut case = |world: &FiniteWorld, agent: &dyn Agent, horizon: usize, name: &str| {
        let draws = world.census(horizon, 8, 1).expect("a small world");
        let gained = fair_value(world, agent, &draws, γ).gained.mean;
        let (shares, mut weight) = (world.level_probabilities(), 0.0);
        treated_at_each_level(world, agent, &draws, |z, t, worlds| {
            let odds: Vec<Vec<f64>> = worlds
                .iter_mut()
                .map(|side| {
                    let mut odds = vec![0.0; 2 * draws.people()];
                    agent.probabilities(&mut side.memory, &mut odds);
                    odds
                })
                .collect();
            for (k, other) in odds.iter().enumerate() {
                let apart: f64 = odds[z].iter().zip(other).map(|(p, q)| (p - q).abs()).sum();
                weight += shares[z] * shares[k] * γ.powi(t as i32) * apart / 2.0 / draws.people() as f64;
            }
        });
        let right = 2.0 * largest_reward(world) * geometric(γ, horizon) * weight;
        worst.at_most(or_zero(gained), factor * right, || {
            format!(
                "{name}, γ = {γ}, T = {horizon}: J − Ṽ = {gained:.6}, 2V Σ γ^(t−1) E TV = {right:.6}; {}",
                told(world)
            )
        });
    };
    for i in 0..20 {
        for (k, reads) in [Reads::State, Reads::StateAndLevel, Reads::WrongWorlds(0.5)].into_iter().enumerate() {
            let rule = AnyRule { actions: 2, certain: false, stream: Stream::new(262).index(i).index(k as u64) };
            for (world, horizon) in [(opposed_tastes(), 1), (quiet(i), 2)] {
                case(&world, &*reads.deployed(&world, rule), horizon, &format!("{reads:?}"));
            }
        }
    }
    worst.found()
}

/// Greedy rules on linear scores of states that are read through means off by a number of their level; if not `ties`, a gap of 0 does not count as small.
fn under_margin(ties: bool) -> Found {
    let mut worst = Worst::default();
    let γ = 0.7;
    let mut case = |world: &FiniteWorld, weights: &[f64], off: f64, horizon: usize| {
        let p = world.level_probabilities();
        let means = Sequential::new(Mistaken::by_level(world.clone(), off), p.to_vec());
        let estimated = Deployed::new(means, linear_rule::<Augmented>(weights.to_vec()));
        let draws = world.census(horizon, 1, 1).expect("a small world");
        let gained = fair_value(world, &estimated, &draws, γ).gained.mean;
        // The true states of all levels, and how far the estimates are from them, in every world of everybody.
        let mut off_by = 0.0f64;
        let truth = truths(world, &estimated, &draws);
        treated_at_each_level(world, &estimated, &draws, |z, t, worlds| {
            let truth = &truth[z * horizon + t];
            for side in worlds.iter() {
                let distances = side.memory.parts[0].view.iter().zip(truth).map(|(a, b)| (a - b).abs());
                off_by = distances.fold(off_by, f64::max);
            }
        });
        let lipschitz = [1, 4].map(|k| weights[k].abs() + weights[k + 1].abs()).into_iter().fold(0.0, f64::max);
        let mut right = 0.0;
        for (z, t) in (0..2).flat_map(|z| (0..horizon).map(move |t| (z, t))) {
            let small = truth[z * horizon + t].chunks_exact(2).filter(|s| {
                let gap =
                    (weights[3] - weights[0] + (weights[4] - weights[1]) * s[0] + (weights[5] - weights[2]) * s[1])
                        .abs();
                gap <= 2.0 * lipschitz * off_by && (ties || gap > 0.0)
            });
            let share = small.count() as f64 / draws.people() as f64;
            right += 2.0
                * largest_reward(world)
                * geometric(γ, horizon - t)
                * γ.powi(t as i32)
                * p[z]
                * (1.0 - p[z])
                * share;
        }
        worst.at_most(or_zero(gained), right, || {
            format!("means off by {off}z, f̂ = (1, s⁰, s¹)·{weights:.3?}, γ = {γ}, T = {horizon}: ε_s = {off_by:.4}, L = {lipschitz:.4}, J − Ṽ = {gained:.6}, bound {right:.6}; {}", told(world))
        });
    };
    for off in [1e-6, -1e-6, 0.1] {
        // f̂ = Q*: a = 1 where s⁰ + s¹ > 2.
        case(&mostly_ties(), &[1.0, -0.5, -0.5, -1.0, 0.5, 0.5], off, 1);
        case(&opposed_tastes(), &[0.0, 0.0, 0.0, 0.0, 0.5, 0.5], off, 1);
    }
    for i in 0..40 {
        let mut drawn = numbers(7, Stream::new(263).index(i));
        let off = 0.3 * drawn.pop().expect("seven numbers");
        case(&quiet(i), &drawn, off, 3);
    }
    worst.found()
}

/// The true states of all levels before each decision for people at each level: by that level and time, as rows.
fn truths(world: &FiniteWorld, agent: &dyn Agent, draws: &Exogenous) -> Vec<Vec<f64>> {
    let (levels, horizon) = (world.levels(), draws.horizon());
    let found = Mutex::new(vec![vec![0.0; draws.people() * levels]; levels * horizon]);
    follow_readings(world, agent, draws, 1.0, |first, z, reading: &Reading<'_>, _| {
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        for (k, states) in reading.worlds.iter().map(OneWorld::states).enumerate() {
            for (i, s) in states.iter().enumerate() {
                found[z * horizon + reading.t][(first + i) * levels + k] = *s;
            }
        }
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

const DISCOUNT: f64 = 0.7;

fn meter() -> Arc<RegretMeter> {
    Arc::new(RegretMeter::new(PaperWorld::Nonlinear, 1.0, DISCOUNT).expect("a world that the optimum is known for"))
}

/// J*CF less a value against the losses along the way, for four policies.
fn performance_difference(value: fn(&Regret) -> f64) -> Found {
    let (meter, world) = (meter(), Nonlinear::new(1.0));
    let panel = simulate(&world, &Exogenous::draw(&world, 400, 8, Stream::new(264)));
    let settings = FitSettings { basis: Basis::Spline, ..FitSettings::default() };
    let fitted = fit(&panel, &settings).expect("both levels have people");
    let random = Deployed::new(Unaware { state_dim: 1 }, UniformlyRandom { actions: 2 });
    let agents: [(&str, Box<dyn Agent>); 4] = [
        ("random", Box::new(random)),
        ("unaware", plain_policy(Method::Unaware, &panel, &fitted)),
        ("ours", plain_policy(Method::Ours, &panel, &fitted)),
        ("full", plain_policy(Method::Full, &panel, &fitted)),
    ];
    // γ³⁰ is 2e-5 and values are below 10.
    let draws = Exogenous::draw(&world, 2000, 30, Stream::new(265));
    let mut worst = Worst::default();
    for (name, agent) in agents {
        let found = meter.measure(&*agent, &draws);
        let (best, earned) = (meter.optimum().value, value(&found));
        let error = found.values.fair.standard_error.hypot(found.regret.standard_error);
        worst.at_most((best - earned - found.regret.mean).abs(), 4.0 * error + 1e-3, || {
            format!("the {name} policy: J*CF = {best:.4}, value {earned:.4}, losses along the way {:.4}, standard error {error:.4}", found.regret.mean)
        });
    }
    worst.found()
}

/// The sum of a quantity at e and −e against a tenth of the sum of its sizes: small for what is odd, large for what is even.
fn either_sign(of: fn(&Regret) -> f64) -> Found {
    let (meter, world) = (meter(), Nonlinear::new(1.0));
    let draws = Exogenous::draw(&world, 2000, 20, Stream::new(266));
    let mut worst = Worst::default();
    for e in [0.05, 0.1, 0.2] {
        let [plus, minus] = [e, -e].map(|e| {
            let method = Sequential::new(Mistaken::by_level(world.clone(), e), vec![0.5, 0.5]);
            of(&meter.measure(&Deployed::new(method, BestRule(Arc::clone(&meter))), &draws))
        });
        worst.at_most((plus + minus).abs(), 0.1 * (plus.abs() + minus.abs()), || {
            format!("means of level 1 off by ±{e}: {plus:.5} and {minus:.5}")
        });
    }
    worst.found()
}
