//! Theorem 3″: what a deployed, almost fair policy is worth.
//!
//! # Equation
//! ```text
//! Ṽ = Σ_z p_z E Σₜ γ^{t−1} Σₖ pₖ Rₜᵏ(read_z),    |J − Ṽ| ≤ 2V Σ_{z,k} p_z pₖ E γ^{τ_zk − 1},    Ṽ ≤ J*CF
//! ```
//! read_z are the decisions for a person at level z as a function of the noise, τ_zk the first time at which read_z and read_k part. What J has beyond Ṽ
//! is gained by unfairness; it is of first order in the error of the means and of either sign, which regret, J*CF − Ṽ, is not.

use super::preprocessing::Biased;
use super::search::{EQUAL, Search, signed};
use super::shipped::linear_rule;
use super::{Budget, Claim, Expected, Verdict};
use crate::estimate::{Basis, FitSettings, fit};
use crate::kernel::evaluate::{Reading, follow_readings};
use crate::kernel::learn::{Agent, Deployed, Policy, UniformlyRandom};
use crate::kernel::model::worlds::{Nonlinear, World};
use crate::kernel::model::{Exogenous, simulate};
use crate::kernel::numeric::Stream;
use crate::kernel::preprocess::{Augmented, Full, Sequential, Unaware};
use crate::theory::coverage::unfairness::{Kind, plain_policy};
use crate::theory::finite_world::{FiniteWorld, Tables};
use crate::theory::optimum::{FairOptimum, PaperWorld};
use crate::theory::{Regret, RegretMeter};
use std::sync::Mutex;

const FOLLOWED: &str = "kernel::evaluate::follow_readings";
const METER: &str = "theory::RegretMeter, fair_value";

pub(super) const CLAIMS: &[Claim] = &[
    Claim::ours(
        "X7",
        "|J − Ṽ| ≤ 2V Σ p_z p_k E γ^{τ−1}, τ the first time at which the decisions for two levels part; attained",
        &["any deterministic rule, fair or not", "|R| ≤ (1−γ)V", "finite worlds"],
        Expected::NotRefuted,
        |budget| gained(budget, 1.0),
        |budget| gained(budget, 0.5),
    )
    .at(378, r"the regret of the optimal policy estimated using Algorithm~\ref{alg:cf:1} and FQI is upper bounded by")
    .runs(FOLLOWED),
    Claim::ours(
        "X7",
        "J*CF − Ṽ = E Σ γ^{t−1}(V* − Q*(Aₜ)) ≥ 0 for random, unaware, full and our policies: Ṽ ≤ J*CF; J itself exceeds J*CF",
        &["non-linear world, δ = 1, γ = 0.7", "four standard errors: a false alarm in 1e-4 at most"],
        Expected::NotRefuted,
        |budget| performance_difference(budget, |found| found.values.fair.mean),
        |budget| performance_difference(budget, |found| found.values.value.mean),
    )
    .at(378, r"the regret of the optimal policy estimated using Algorithm~\ref{alg:cf:1} and FQI is upper bounded by")
    .runs(METER),
    Claim::ours(
        "X7",
        "J − Ṽ of the best rule behind means that are off by e changes its sign with e: its odd part is the larger; that of J*CF − Ṽ is not",
        &["non-linear world, δ = 1, γ = 0.7", "|e| = 0.05, 0.1, 0.2"],
        Expected::NotRefuted,
        |budget| either_sign(budget, |found| found.values.gained.mean),
        |budget| either_sign(budget, |found| found.regret.mean),
    )
    .at(378, r"the regret of the optimal policy estimated using Algorithm~\ref{alg:cf:1} and FQI is upper bounded by")
    .runs(METER),
];

/// One state; level z is paid 1 for action z and −1 for the other.
fn opposed_tastes() -> FiniteWorld {
    let tables = Tables {
        points: 1,
        actions: 2,
        levels: vec![1, 1],
        noise: vec![1],
        reward_noise: vec![(0.0, 1)],
        initial: vec![0, 0],
        next: vec![0; 4],
        reward: vec![1.0, -1.0, -1.0, 1.0],
        behaviour: vec![1; 4],
    };
    FiniteWorld::new(tables).expect("tables that fit")
}

/// What an agent decides for the same people at each level: by level and time.
fn decisions(world: &dyn World, agent: &dyn Agent, draws: &Exogenous, discount: f64) -> (f64, Vec<Vec<Vec<u32>>>) {
    let taken = Mutex::new(vec![vec![vec![0; draws.people()]; draws.horizon()]; world.levels()]);
    let (values, _) = follow_readings(world, agent, draws, discount, |first, z, reading: &Reading<'_>, _| {
        let mut taken = taken.lock().expect("nobody panics while writing");
        taken[z][reading.t][first..first + reading.actions.len()].copy_from_slice(reading.actions);
    });
    (values.gained.mean, taken.into_inner().expect("nobody panics while writing"))
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

/// Rules that read the state, the state and the level, and what alg:cf:1 makes with wrong means, in finite worlds. The mean over people of a
/// statement that holds for each of them.
fn gained(budget: Budget, factor: f64) -> Verdict {
    let mut search = Search::new();
    let mut case = |world: &FiniteWorld, name: &str, bound: f64, agent: &dyn Agent, γ: f64, stream: Stream| {
        let draws = Exogenous::draw(world, 300, 8, stream);
        let (gained, taken) = decisions(world, agent, &draws, γ);
        // V over the horizon.
        let v = bound * (1.0 - γ.powi(8)) / (1.0 - γ);
        let right = 2.0 * v * parting(world.level_probabilities(), &taken, γ);
        // Where nothing parts, two sums of the same rewards differ in their last bits.
        search.case(if gained.abs() < EQUAL { 0.0 } else { gained.abs() }, factor * right, || {
            format!("{name}, γ = {γ}, T = 8: J − Ṽ = {gained:.6}, |R| ≤ {bound}, 2VΣ p_z p_k E γ^(τ−1) = {right:.6}")
        });
    };
    let tastes = opposed_tastes();
    let by_level = Deployed::new(Full { state_dim: 1 }, linear_rule(vec![0.0, 0.0, 0.0, -0.5, 0.0, 1.0]));
    for γ in [0.3, 0.8] {
        case(&tastes, "level z is paid ±1 for action z and takes it", 1.0, &by_level, γ, Stream::new(101));
    }
    let finite = finite_world();
    for i in 0..budget.pick(20, 500) {
        let stream = Stream::new(102).index(i);
        let mut rng = stream.named("rule").rng();
        let mut drawn = |count: usize| (0..count).map(|_| signed(&mut rng)).collect::<Vec<f64>>();
        let (unaware, full, ours, bias) = (drawn(4), drawn(6), drawn(6), drawn(1)[0]);
        let words = format!("the finite world of the coverage tables, rules {unaware:.3?}, {full:.3?}, {ours:.3?}");
        let agents: [Box<dyn Agent>; 3] = [
            Box::new(Deployed::new(Unaware { state_dim: 1 }, linear_rule(unaware))),
            Box::new(Deployed::new(Full { state_dim: 1 }, linear_rule(full))),
            Box::new(Deployed::new(
                Sequential::new(Biased::new(finite.clone(), bias), finite.level_probabilities().to_vec()),
                linear_rule(ours),
            )),
        ];
        for agent in &agents {
            case(&finite, &words, LARGEST_REWARD, &**agent, 0.7, stream);
        }
    }
    search.verdict()
}

/// The largest mean reward of [`finite_world`].
const LARGEST_REWARD: f64 = 1.2;

/// Four states, two unequal levels.
fn finite_world() -> FiniteWorld {
    let tables = Tables {
        points: 4,
        actions: 2,
        levels: vec![3, 2],
        noise: vec![5, 3],
        reward_noise: vec![(-0.5, 1), (0.5, 1)],
        initial: vec![0, 1],
        next: vec![0, 1, 0, 2, 1, 2, 1, 2, 0, 2, 1, 1, 1, 2, 2, 2],
        reward: vec![0.2, -0.3, 0.4, 0.1, 0.5, 0.9, 0.3, LARGEST_REWARD, -0.1, 0.3, 0.6, -0.2, 0.4, 0.8, 0.9, 0.2],
        behaviour: vec![7, 3, 6, 4, 5, 5, 4, 6, 5, 5, 4, 6, 6, 4, 3, 7],
    };
    FiniteWorld::new(tables).expect("tables that fit")
}

const DISCOUNT: f64 = 0.7;

fn meter() -> RegretMeter {
    RegretMeter::new(PaperWorld::Nonlinear, 1.0, DISCOUNT).expect("a world that the optimum is known for")
}

/// J*CF less a value against the losses along the way, for four policies.
fn performance_difference(budget: Budget, value: fn(&Regret) -> f64) -> Verdict {
    let (meter, world) = (meter(), Nonlinear::new(1.0));
    let panel = simulate(&world, &Exogenous::draw(&world, 400, 8, Stream::new(103)));
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
    let draws = Exogenous::draw(&world, budget.pick(2000, 50_000), 30, Stream::new(104));
    let mut search = Search::new();
    for (name, agent) in agents {
        let found = meter.measure(&*agent, &draws);
        let (best, earned) = (meter.optimum().value, value(&found));
        let error = found.values.fair.standard_error.hypot(found.regret.standard_error);
        search.case((best - earned - found.regret.mean).abs(), 4.0 * error + 1e-3, || {
            format!("non-linear world, δ = 1, γ = 0.7, the {name} policy: J*CF = {best:.4}, value {earned:.4}, losses along the way {:.4}, standard error {error:.4}", found.regret.mean)
        });
    }
    search.verdict()
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

/// The sum of a quantity at e and −e against half the sum of its sizes: small for what is odd, large for what is even.
fn either_sign(budget: Budget, of: fn(&Regret) -> f64) -> Verdict {
    let (meter, world) = (meter(), Nonlinear::new(1.0));
    let draws = Exogenous::draw(&world, budget.pick(2000, 20_000), 20, Stream::new(105));
    let mut search = Search::new();
    for e in [0.05, 0.1, 0.2] {
        let [plus, minus] = [e, -e].map(|e| {
            let method = Sequential::new(Biased::new(world.clone(), e), vec![0.5, 0.5]);
            of(&meter.measure(&Deployed::new(method, Best(meter.best())), &draws))
        });
        search.case((plus + minus).abs(), 0.5 * (plus.abs() + minus.abs()), || {
            format!("non-linear world, δ = 1, γ = 0.7, means of level 1 off by ±{e}: {plus:.5} and {minus:.5}")
        });
    }
    search.verdict()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::model::Mechanism;

    #[test]
    fn the_largest_reward_is_what_it_is_called() {
        let world = finite_world();
        let mut largest = 0.0f64;
        for z in 0..2 {
            for a in 0..2 {
                let (mut next, mut rewards) = ([0.0; 4], [0.0; 4]);
                world.mean(z, &[0.0, 1.0, 2.0, 3.0], &[a; 4], &mut next, &mut rewards);
                largest = rewards.iter().fold(largest, |most, r| most.max(r.abs()));
            }
        }
        assert_eq!(largest, LARGEST_REWARD);
    }
}
