//! The deployed policy: fair value, what is gained by unfairness, and what recorded data can say of them.
//!
//! # Equation
//! ```text
//! Ṽ = Σ_z p_z E Σₜ γ^{t−1} Σₖ pₖ Rₜᵏ(read_z),    |J − Ṽ| ≤ 2V Σ_{z,k} p_z pₖ E γ^{τ_zk − 1},    Ṽ ≤ J*CF
//! ```
//! read_z are the decisions for a person at level z as a function of the noise, τ_zk the first time at which read_z and read_k part. What J has beyond Ṽ
//! is gained by unfairness, and has either sign. It shrinks with the error of the means where a margin, ties counted, keeps decisions apart from their
//! boundary; without one it need not shrink at all.

use super::listed::{AnyRule, Moved, Reads, linear_rule, made, numbers, random_world, told};
use super::process::decisions;
use super::search::signed;
use super::{Claim, Found, Limit, Quotation, Run, Worst};
use crate::audit::{PanelDraws, UnfairnessLaw, Yardstick, audit, parity_gap, unfairness};
use crate::estimate::{Basis, Certificate, FitSettings, Refitter, fit};
use crate::kernel::evaluate::{OneWorld, Reading, fair_value, follow_readings};
use crate::kernel::learn::{Agent, Deployed, Policy, UniformlyRandom};
use crate::kernel::model::worlds::{Linear, Nonlinear, spread_by_level};
use crate::kernel::model::{Exogenous, Mechanism, World, simulate};
use crate::kernel::numeric::quadrature::normal_cdf;
use crate::kernel::numeric::{Stream, fill_standard_normal};
use crate::kernel::people::{Labels, Panel, PanelBuilder, Person};
use crate::kernel::preprocess::{Augmented, Full, Preprocessor, Sequential, Unaware};
use crate::theory::coverage::unfairness::{Kind, plain_policy};
use crate::theory::finite_world::Tables;
use crate::theory::optimum::{FairOptimum, PaperWorld};
use crate::theory::{FiniteWorld, Regret, RegretMeter};
use std::sync::{Mutex, PoisonError};

const REGRET: Option<Quotation> = Quotation::at(
    378,
    r"the regret of the optimal policy estimated using Algorithm~\ref{alg:cf:1} and FQI is upper bounded by",
);
const METRIC: Option<Quotation> = Quotation::at(411, r"\frac{1}{NT} \sum_{i=1}^N \sum_{t=1}^{T} \mathbf{I}");

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
    Claim {
        label: "eq:cf_metric",
        says: "the certificate's bounds at 50, 90 and 95 % hold that often",
        assumes: &[
            "asm:additive",
            "N = 200, T = 5, linear world, linear means; 60 studies",
            "3.29 sd of the count: a false alarm in a thousand",
        ],
        limit: Limit::AtMost,
        check: |run| match run {
            Run::Stated => certificate(&Linear::new(1.0), 60),
            Run::Control => certificate(&spread_by_level(1.0), 12),
        },
        control: "noise that spreads by level",
        runs: "estimate::Certificate, audit::unfairness",
        source: METRIC,
        ..Claim::LEMMA
    },
    Claim {
        label: "eq:cf_metric",
        says: "θ ≤ sup over a confidence set of θ_N(μ) + √(log(1/α₂)/2N) in 95 % of studies, and on average",
        assumes: &[
            "asm:additive",
            "400 people learned from, 1500 others judged, T = 5; 20 studies",
            "3.29 sd of the count: a false alarm in a thousand",
        ],
        limit: Limit::AtMost,
        check: |run| match run {
            Run::Stated => finite_sample(&Linear::new(1.0), 20),
            Run::Control => finite_sample(&spread_by_level(1.0), 6),
        },
        control: "noise that spreads by level",
        runs: "audit::unfairness",
        source: METRIC,
        proved_by: &["finite_sample_certificate", "hoeffding"],
        ..Claim::LEMMA
    },
    Claim {
        label: "eq:cf_metric",
        says: "unfairness is at least the parity gap: |p₀ − p₁| ≤ θ₁, and the lower end of the gap's 95 % interval is above θ₁ in 2.5 % of panels at most",
        assumes: &[
            "Z is a root",
            "two actions, t = 1; 200 panels of 400 people",
            "3.29 sd of the count: a false alarm in a thousand",
        ],
        limit: Limit::AtMost,
        check: |run| parity(run == Run::Stated),
        control: "Z is the sign of the noise: a fair rule, whose groups differ all the same",
        runs: "audit::parity_gap, audit::audit",
        source: METRIC,
        proved_by: &["parity_gap_bounds_unfairness", "parity_bounds_are_sharp"],
        ..Claim::LEMMA
    },
    Claim {
        label: "eq:cf_metric",
        says: "if the noises of a person's worlds differ by at most Γ, decisions differ only where gap_f̂ ≤ 2L_f̂ eₜ, eₜ₊₁ = ℓeₜ + 2η + Γ",
        assumes: &["e₁ = 2η₁ + Γ", "linear world, ℓ = 0.8, η = η₁ = 0.05, Γ = 0.5; 1000 people, T = 5"],
        limit: Limit::AtMost,
        check: |run| tube(run.pick(0.5, 0.0)),
        control: "Γ left out of e",
        runs: "kernel::preprocess::Sequential",
        source: METRIC,
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
        let means = Sequential::new(Moved::by_level(world.clone(), off), p.to_vec());
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
        for (k, states) in reading.worlds.iter().enumerate() {
            for (i, s) in states.iter().enumerate() {
                found[z * horizon + reading.t][(first + i) * levels + k] = *s;
            }
        }
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

const DISCOUNT: f64 = 0.7;

fn meter() -> RegretMeter {
    RegretMeter::new(PaperWorld::Nonlinear, 1.0, DISCOUNT).expect("a world that the optimum is known for")
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
        ("unaware", plain_policy(Kind::Unaware, &panel, &fitted)),
        ("ours", plain_policy(Kind::Ours, &panel, &fitted)),
        ("full", plain_policy(Kind::Full, &panel, &fitted)),
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

/// The best fair rule, on whatever states it is told.
struct Best<'a>(&'a FairOptimum);

impl Policy<Augmented> for Best<'_> {
    fn actions(&self) -> usize {
        2
    }
    fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]) {
        for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(2)) {
            out.fill(0.0);
            out[self.0.action(row[0], row[1])] = 1.0;
        }
    }
    fn is_deterministic(&self) -> bool {
        true
    }
}

/// The sum of a quantity at e and −e against a tenth of the sum of its sizes: small for what is odd, large for what is even.
fn either_sign(of: fn(&Regret) -> f64) -> Found {
    let (meter, world) = (meter(), Nonlinear::new(1.0));
    let draws = Exogenous::draw(&world, 2000, 20, Stream::new(266));
    let mut worst = Worst::default();
    for e in [0.05, 0.1, 0.2] {
        let [plus, minus] = [e, -e].map(|e| {
            let method = Sequential::new(Moved::by_level(world.clone(), e), vec![0.5, 0.5]);
            of(&meter.measure(&Deployed::new(method, Best(meter.best())), &draws))
        });
        worst.at_most((plus + minus).abs(), 0.1 * (plus.abs() + minus.abs()), || {
            format!("means of level 1 off by ±{e}: {plus:.5} and {minus:.5}")
        });
    }
    worst.found()
}

const HORIZON: usize = 5;

/// Standard deviations beyond which a count is no chance: one in a thousand.
const FAR: f64 = 3.29;

fn recorded(world: &dyn World, people: usize, stream: Stream) -> Panel {
    simulate(world, &Exogenous::draw(world, people, HORIZON, stream))
}

/// Our policy learned from people with additive linear means, what is said about it on `judged` others (or on them, if 0), and the truth: the CF
/// metric along the histories of 2000 more under the world's own mechanism.
fn study<W: World>(world: &W, learned: usize, judged: usize, stream: Stream) -> (UnfairnessLaw, f64) {
    let panel = recorded(world, learned, stream.named("learned"));
    let settings = FitSettings { basis: Basis::Linear, ..FitSettings::default() };
    let refitter = Refitter::new(&panel, &settings).expect("both levels have people");
    let certificate = Certificate::new(&refitter, &panel, 60, 1).expect("refits with positive weights");
    let agent = plain_policy(Kind::Ours, &panel, refitter.fitted());
    let others = (judged > 0).then(|| recorded(world, judged, stream.named("judged")));
    let people = others.as_ref().unwrap_or(&panel);
    let draws = |panel: &Panel| PanelDraws::draw(panel, stream.named("draws"));
    let law = unfairness(&*agent, people, &Yardstick::Certificate(&certificate), &draws(people), 0.95);
    let followed = recorded(world, 2000, stream.named("truth"));
    let truth = audit(&followed, world, &*agent, &draws(&followed)).expect("histories that stay finite");
    (law.expect("histories that stay finite"), truth.unfairness.metric.mean)
}

fn mean_of(found: &[(UnfairnessLaw, f64)], of: impl Fn(&(UnfairnessLaw, f64)) -> f64) -> f64 {
    found.iter().map(of).sum::<f64>() / found.len() as f64
}

/// How often the truth is below the bound of each level, against a binomial count.
fn certificate<W: World>(world: &W, studies: u64) -> Found {
    let found: Vec<_> = (0..studies).map(|i| study(world, 200, 0, Stream::new(267).index(i))).collect();
    let (mut worst, n) = (Worst::default(), studies as f64);
    for level in [0.5, 0.9, 0.95] {
        let held = found.iter().filter(|(law, truth)| *truth <= law.upper(level)).count() as f64;
        worst.at_most((held - n * level).abs(), FAR * (n * level * (1.0 - level)).sqrt(), || {
            let (bound, truth) = (mean_of(&found, |(law, _)| law.upper(level)), mean_of(&found, |(_, truth)| *truth));
            format!("{} world, {studies} studies: the {level} bound holds in {held}; mean bound {bound:.4}, mean truth {truth:.4}", world.name())
        });
    }
    worst.found()
}

/// How often the truth is above the finite-sample bound, against 5 %, and the mean of the truth against that of the bound, which shows the slack.
fn finite_sample<W: World>(world: &W, studies: u64) -> Found {
    let found: Vec<_> = (0..studies).map(|i| study(world, 400, 1500, Stream::new(268).index(i))).collect();
    let bound = |law: &UnfairnessLaw| law.finite_sample_bound.expect("the judged were not learned from");
    let missed = found.iter().filter(|(law, truth)| *truth > bound(law)).count() as f64;
    let (mut worst, n) = (Worst::default(), studies as f64);
    let means = (mean_of(&found, |(_, truth)| *truth), mean_of(&found, |(law, _)| bound(law)));
    let text = format!(
        "{} world, {studies} studies: the bound fails in {missed}; mean truth {:.4}, mean bound {:.4}",
        world.name(),
        means.0,
        means.1
    );
    worst.at_most(means.0, means.1, || text.clone());
    worst.at_most(missed, 0.05 * n + FAR * (n * 0.05 * 0.95).sqrt(), || text);
    worst.found()
}

/// S₁ = −0.3 + z + U and the rule 1{s > 0}, so that worlds part where −0.7 < U < 0.3. If not `root`, the level is the sign of U, and a rule on what
/// alg:cf:1 makes is fair although the groups differ.
fn parity(root: bool) -> Found {
    let world = Linear::new(1.0);
    let unaware = Deployed::new(Unaware { state_dim: 1 }, linear_rule(vec![0.0, 0.0, 0.0, 1.0]));
    let fair =
        Deployed::new(Sequential::new(world.clone(), vec![0.5, 0.5]), linear_rule(vec![0.0, 0.0, 0.0, 0.3, 1.0, 0.0]));
    let (agent, θ): (&dyn Agent, f64) =
        if root { (&unaware, normal_cdf(0.3) - normal_cdf(-0.7)) } else { (&fair, 0.0) };
    let mut worst = Worst::default();
    // With U kept in both worlds, as here, θ₁ is the gap itself: the bound is attained.
    if root {
        worst.equal(normal_cdf(0.7) - normal_cdf(-0.3), θ, ROUNDED, || "|p₀ − p₁| against θ₁".into());
    }
    let (panels, mut missed) = (200u64, 0.0);
    for i in 0..panels {
        let mut noise = vec![0.0; 400];
        fill_standard_normal(&mut Stream::new(269).index(i).rng(), &mut noise);
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).expect("a panel with a state");
        for (j, u) in noise.iter().enumerate() {
            let level = if root { (j % 2) as u32 } else { u32::from(*u > 0.0) };
            let (id, state) = (j.to_string(), [world.initial_mean(level as usize)[0] + u]);
            let person = Person { id: &id, level, states: &state, actions: &[0], rewards: &[0.0] };
            builder.push(person).expect("finite states");
        }
        let gap = parity_gap(&builder.finish(), agent, &vec![0.5; 400], 0.95);
        missed += f64::from(u8::from(gap.interval.0 > θ));
    }
    let n = panels as f64;
    worst.at_most(missed, 0.025 * n + FAR * (n * 0.025 * 0.975).sqrt(), || {
        format!("{panels} panels of 400 people, θ₁ = {θ:.4}: the lower end of the parity gap's interval is above it in {missed}")
    });
    worst.found()
}

/// Two worlds of a person whose noises are at most 0.5 apart, read through alg:cf:1 with means off by 0.05; `allowed` is the Γ in the recursion. Where
/// decisions differ, the larger gap of the two worlds against its bound.
fn tube(allowed: f64) -> Found {
    let (world, η, apart) = (Linear::new(1.0), 0.05, 0.5);
    // Off by as much as they may be, and in opposite directions.
    let method = Sequential::new(Moved::new(world.clone(), vec![-η, η]), vec![0.5, 0.5]);
    let mut worst = Worst::default();
    for i in 0..1000 {
        let mut rng = Stream::new(270).index(i).rng();
        let weights: Vec<[f64; 3]> = (0..2).map(|_| [0, 1, 2].map(|_| signed(&mut rng))).collect();
        let value = |view: &[f64], a: usize| weights[a][0] + weights[a][1] * view[0] + weights[a][2] * view[1];
        let lipschitz = weights.iter().map(|w| w[1].abs() + w[2].abs()).fold(0.0, f64::max);
        let mut noise = [0.0; HORIZON];
        fill_standard_normal(&mut rng, &mut noise);
        let first = |z: usize, u: f64| [world.initial_mean(z)[0] + u];
        let mut other = || noise_apart(&mut rng, apart);
        let mut states = [first(0, noise[0]), first(1, noise[0] + other())];
        let mut memories = [method.begin(&[0], &states[0]), method.begin(&[1], &states[1])];
        let mut e = 2.0 * η + allowed;
        for t in 0..HORIZON {
            let gaps = [0, 1].map(|z| value(&memories[z].view, 1) - value(&memories[z].view, 0));
            let largest = if (gaps[0] > 0.0) != (gaps[1] > 0.0) { gaps[0].abs().max(gaps[1].abs()) } else { 0.0 };
            worst.at_most(largest, 2.0 * lipschitz * e, || {
                format!("f̂ = (1, ŝ⁰, ŝ¹)·w with w = {weights:.4?} by action, t = {}: views {:.4?} and {:.4?}, Γ = {allowed} in eₜ = {e:.4}", t + 1, memories[0].view, memories[1].view)
            });
            if t + 1 < HORIZON {
                let action = [(i as usize + t) as u32 % 2];
                let shift = [0.0, other()];
                for z in 0..2 {
                    let (mut next, mut reward) = ([0.0], [0.0]);
                    world.mean(z, &states[z], &action, &mut next, &mut reward);
                    states[z] = [next[0] + noise[t + 1] + shift[z]];
                    method.advance(&mut memories[z], &action, &states[z]);
                }
                e = 0.8 * e + 2.0 * η + allowed;
            }
        }
    }
    worst.found()
}

/// A difference of noises of at most `apart`, at its largest half of the time.
fn noise_apart(rng: &mut impl rand::Rng, apart: f64) -> f64 {
    let x = signed(rng);
    apart * if x.abs() > 0.5 { x.signum() } else { x }
}
