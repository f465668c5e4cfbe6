//! Assumptions put to the test: what `asm:additive`, `asm:coverage`, `asm:lipschitz` and `asm:margin` give, and what they do not.

use super::search::{EQUAL, Equalities, Search, climb};
use super::tabular::Tabular;
use super::{Budget, Claim, Expected, Verdict};
use crate::kernel::model::worlds::ThreeLevels;
use crate::kernel::model::{Exogenous, Mechanism, simulate};
use crate::kernel::numeric::Stream;
use crate::kernel::numeric::small;
use crate::kernel::numeric::small::{norm, sup};
use crate::kernel::preprocess::{Preprocessor, Sequential, batch};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::ours(
        "asm:additive",
        "only differences of means between levels matter: noise need not have mean zero",
        &["one constant added to all means of all levels"],
        Expected::Exact,
        |budget| shifted(budget, |_| 0.7),
        |budget| shifted(budget, |z| 0.7 * z as f64),
    )
    .at(320, r"are additive to $S_t$ and $R_t$")
    .runs("kernel::preprocess::Sequential"),
    Claim::printed(
        "M-TXT1",
        "preprocessed tuples form a decision process in (s̃, a) alone, with estimated means as with true ones",
        &["|μ̂ − μ| = 0.1 at one level"],
        Expected::Refuted,
        |_| next_estimate([0.0, 0.1]),
        |_| next_estimate([0.0, 0.0]),
    )
    .at(326, r"these preprocessed experience tuples naturally form a MDP")
    .runs("kernel::preprocess::Sequential"),
    Claim::implied(
        "ALG1-g",
        "data determine the counterfactual states, also where a level never saw an action",
        &["no positivity: nobody at level 1 takes action 1"],
        Expected::Refuted,
        |_| unseen_action(1),
        |_| unseen_action(0),
    )
    .at(324, r"allows us to identify and estimate the counterfactual states and rewards using observed data")
    .runs("kernel::preprocess::Sequential"),
    Claim::printed(
        "asm:coverage",
        "λ₀ ≤ 1 when ‖φ‖∞ ≤ 1, attained",
        &["λ₀ = λ_min(E φφᵀ)"],
        Expected::NotRefuted,
        |budget| coverage(budget, 1.0),
        |budget| coverage(budget, 2.0),
    )
    .at(790, r"where we used the fact that $\lambda_0 \leq 1$"),
    Claim::implied(
        "asm:lipschitz",
        "|φ(s) − φ(ŝ)| ≤ Lε with ε = ‖s − ŝ‖∞, whichever norm L belongs to",
        &["L belongs to ‖·‖₂"],
        Expected::Refuted,
        |_| norms(norm),
        |_| norms(sup),
    )
    .at(682, r"\leq L\|s-s'\|"),
    Claim::ours(
        "asm:lipschitz",
        "|φ(s) − φ(ŝ)| ≤ Lε with ε = ‖s − ŝ‖∞ when L belongs to ‖·‖∞, attained",
        &[],
        Expected::NotRefuted,
        |_| norms(sup),
        |_| norms(|x| 2.0 * sup(x)),
    )
    .at(682, r"\leq L\|s-s'\|"),
    Claim::implied(
        "asm:margin",
        "a margin of the first state covers eq:cf_metric, which averages over t = 1 … T",
        &["ℙ is the initial law"],
        Expected::Refuted,
        |_| second_state(0.0),
        |_| second_state(1.0),
    )
    .at(819, r"where $\mathbb{P}$ is the initial state  distribution"),
];

/// A world whose means are all moved by a number of their level.
struct Shifted {
    world: ThreeLevels,
    by: fn(usize) -> f64,
    initial: Vec<Vec<f64>>,
}

impl Mechanism for Shifted {
    fn state_dim(&self) -> usize {
        self.world.state_dim()
    }
    fn levels(&self) -> usize {
        self.world.levels()
    }
    fn actions(&self) -> usize {
        self.world.actions()
    }
    fn initial_mean(&self, level: usize) -> &[f64] {
        &self.initial[level]
    }
    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        self.world.mean(level, states, actions, next, rewards);
        next.iter_mut().chain(rewards).for_each(|x| *x += (self.by)(level));
    }
}

/// `alg:cf:1` with the true means and with the moved ones.
fn shifted(budget: Budget, by: fn(usize) -> f64) -> Verdict {
    let world = ThreeLevels::new(1.0);
    let panel = simulate(&world, &Exogenous::draw(&world, budget.pick(100, 3000), 5, Stream::new(26)));
    let initial = (0..3).map(|z| world.initial_mean(z).iter().map(|m| m + by(z)).collect()).collect();
    let weights = vec![0.5, 0.3, 0.2];
    let moved = Shifted { world: world.clone(), by, initial };
    let made = batch(&Sequential::new(moved, weights.clone()), &panel).expect("finite states");
    let exact = batch(&Sequential::new(world, weights), &panel).expect("finite states");
    let mut equal = Equalities::new();
    let shifts = [0, 1, 2].map(by);
    for (k, (a, b)) in
        made.views().iter().zip(exact.views()).chain(made.rewards().iter().zip(exact.rewards())).enumerate()
    {
        // Five steps of a map with Lipschitz constant below 2 on states below 10.
        equal.case(*a, *b, 100.0 * EQUAL, || {
            format!(
                "ThreeLevels at δ = 1, means of the levels moved by {shifts:?}: number {k} is {a:.6} and was {b:.6}"
            )
        });
    }
    equal.verdict()
}

/// m = 0 and μ(s, a, z) = drift[z][a], rewards 0.
#[derive(Clone, Copy)]
struct Drift([[f64; 2]; 2]);

impl Mechanism for Drift {
    fn state_dim(&self) -> usize {
        1
    }
    fn levels(&self) -> usize {
        2
    }
    fn actions(&self) -> usize {
        2
    }
    fn initial_mean(&self, _: usize) -> &[f64] {
        &[0.0]
    }
    fn mean(&self, level: usize, _: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        for ((next, reward), a) in next.iter_mut().zip(rewards).zip(actions) {
            (*next, *reward) = (self.0[level][*a as usize], 0.0);
        }
    }
}

impl Drift {
    /// (ŝ₂⁰, ŝ₂¹) of a person at level z with s₁ = 0, an action and s₂.
    fn second(self, z: u32, action: u32, state: f64) -> [f64; 2] {
        let method = Sequential::new(self, vec![0.5, 0.5]);
        let mut memory = method.begin(&[z], &[0.0]);
        method.advance(&mut memory, &[action], &[state]);
        [memory.view[0], memory.view[1]]
    }
}

/// μ = 0 in both levels, so that S₂ = U₂ in both worlds; estimated as `estimate[z]`. Two people who differ in Z alone.
fn next_estimate(estimate: [f64; 2]) -> Verdict {
    let mut equal = Equalities::new();
    for u in [-1.0, 0.25] {
        let drift = Drift(estimate.map(|m| [m; 2]));
        let (here, there) = (drift.second(0, 0, u), drift.second(1, 0, u));
        equal.case(here[1], there[1], EQUAL, || {
            format!("m = 0, μ = 0, μ̂ = {estimate:?} by level: from s̃₁ = (0, 0) and U₂ = {u}, Z = 0 gives ŝ₂ = {here:?}, Z = 1 gives {there:?}; the mean of ŝ₂¹ given (s̃₁, a₁) depends on Z")
        });
    }
    equal.verdict()
}

/// Two mechanisms that differ only in μ(·, 1, 1), where there are no data: 0 and 5. A person at level 0 takes `action`.
fn unseen_action(action: u32) -> Verdict {
    let mut equal = Equalities::new();
    let [a, b] = [0.0, 5.0].map(|jump| Drift([[0.0, 0.0], [0.0, jump]]).second(0, action, 0.3)[1]);
    equal.case(a, b, 0.0, || {
        format!("m = 0, μ = 0 but for μ(·, a = 1, z = 1), which is 0 or 5; nobody at level 1 takes action 1, so both fit all data equally; a person with z = 0, a₁ = {action}, s₁ = 0, s₂ = 0.3 has ŝ₂¹ = {a} or {b}")
    });
    equal.verdict()
}

/// λ_min of second moments of features in [−size, size]ᵈ; Hadamard rows attain 1 at size 1.
fn coverage(budget: Budget, size: f64) -> Verdict {
    let mut search = Search::new();
    let mut case = |rows: &[f64], d: usize| {
        let n = (rows.len() / d) as f64;
        let second: Vec<f64> = second_moment(rows, d).iter().map(|x| x / n).collect();
        search.case(small::symmetric_eigenvalues(&second, d)[0], 1.0, || format!("features {rows:.3?} by rows of {d}"))
    };
    case(&[size, size, size, -size], 2);
    for d in [1usize, 2, 3] {
        climb(4 * d, budget.pick(100, 5000), Stream::new(27).index(d as u64), &mut |x| {
            case(&x.iter().map(|x| size * x.clamp(-1.0, 1.0)).collect::<Vec<_>>(), d)
        });
    }
    search.verdict()
}

/// φ(s) = (s₁ + … + s_p)/p^½ and s − ŝ = 0.1·(1, …, 1); L is 1 for ‖·‖₂ and √p for ‖·‖∞.
///
/// `size` is the norm in which L is measured: the dual norm of the gradient (1, …, 1)/√p tells L.
fn norms(size: fn(&[f64]) -> f64) -> Verdict {
    let mut search = Search::new();
    for p in [2usize, 4, 9] {
        let moved = vec![0.1; p];
        let apart = moved.iter().sum::<f64>() / (p as f64).sqrt();
        // sup |φ(s) − φ(ŝ)| / size(s − ŝ) is attained along the diagonal for both norms.
        let lipschitz = apart / size(&moved);
        search.case(apart, lipschitz * 0.1, || {
            format!("φ(s) = (s₁ + … + s_{p})/√{p}, s − ŝ = 0.1·(1, …, 1), so ε = 0.1; L = {lipschitz:.4}")
        });
    }
    search.verdict()
}

/// State 0 pays (1, 0) and leads to state 1, which stays and pays (`later`, 0): the gaps of the first and the second state.
fn second_state(later: f64) -> Verdict {
    let process = Tabular {
        states: 2,
        actions: 2,
        discount: 0.5,
        rewards: vec![1.0, 0.0, later, 0.0],
        transitions: [0.0, 1.0].repeat(4),
    };
    let q = process.optimum();
    let small_gap = |s: usize| f64::from(u8::from((q[2 * s] - q[2 * s + 1]).abs() <= 0.5));
    let mut search = Search::new();
    search.case(small_gap(1), small_gap(0), || {
        format!("{process}; S₁ = 0: Q* = {q:?}, P(gap(S₁) ≤ ½) = {}, P(gap(S₂) ≤ ½) = {}", small_gap(0), small_gap(1))
    });
    search.verdict()
}

/// Σ φφᵀ over the rows.
fn second_moment(rows: &[f64], d: usize) -> Vec<f64> {
    (0..d * d).map(|k| rows.chunks_exact(d).map(|φ| φ[k / d] * φ[k % d]).sum()).collect()
}
