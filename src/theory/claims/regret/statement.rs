//! `thm:regret` as printed: what no choice of its constant can save, and the assumptions it stands on.

use crate::kernel::numeric::Stream;
use crate::kernel::numeric::small::norm;
use crate::theory::claims::search::{Search, between, signed};
use crate::theory::claims::shipped::fitted_q;
use crate::theory::claims::tabular::{Tabular, distance};
use crate::theory::claims::{Budget, Claim, Expected, Verdict};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::assumption(
        "asm:completeness",
        "an ℓ₂ ball of weights can be closed under the Bellman operator",
        &["one-hot features", "‖w‖₂ ≤ 𝓑"],
        Expected::Refuted,
        |_| closed_ball(norm, |_| 10.0),
        |_| closed_ball(crate::kernel::numeric::small::sup, |γ| 1.0 / (1.0 - γ)),
    )
    .at(669, r"Assume for any $f \in \mathcal{F}$, $\mathcal{T} f \in \mathcal{F}$"),
    Claim::ours(
        "asm:completeness",
        "the sup-norm ball ‖wᵀφ‖∞ ≤ R/(1−γ) is closed under the Bellman operator",
        &["T f ∈ span φ for every bounded f"],
        Expected::NotRefuted,
        |_| closed_ball(crate::kernel::numeric::small::sup, |γ| 1.0 / (1.0 - γ)),
        |_| closed_ball(crate::kernel::numeric::small::sup, |γ| 0.5 / (1.0 - γ)),
    )
    .at(669, r"Assume for any $f \in \mathcal{F}$, $\mathcal{T} f \in \mathcal{F}$"),
    Claim::printed(
        "X1",
        "regret ≤ C dLRε/(λ₀(λ₀−4dLε)(1−γ)³) + terms that vanish with n and B, for some C (here 10⁶)",
        &["thm:regret", "n, B → ∞"],
        Expected::Refuted,
        |_| swapped_arms(|l, _, ε, γ| 1e6 * 2.0 * l * ε / (0.5 * (0.5 - 8.0 * l * ε) * (1.0 - γ).powi(3))),
        |_| swapped_arms(|_, λ0, ε, γ| 2.0 * 2.0 * ε / λ0.sqrt() / (1.0 - γ).powi(2)),
    )
    .at(381, r"\frac{ C dLR_{\max}\epsilon}{\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)^3}")
    .runs("kernel::learn::fitted_q_iteration"),
    Claim::ours(
        "X1",
        "regret ≤ 4R₂ε_r/(√λ₀(1−γ)²) when states are exact, n and B large: a term in ε_r without L or R",
        &["thm:regret′"],
        Expected::NotRefuted,
        |_| swapped_arms(|_, λ0, ε, γ| 4.0 * ε / λ0.sqrt() / (1.0 - γ).powi(2)),
        |_| swapped_arms(|_, λ0, ε, γ| 4.0 * ε / λ0.sqrt() / (1.0 - γ) * 0.2),
    )
    .at(381, r"\frac{ C dLR_{\max}\epsilon}{\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)^3}")
    .runs("kernel::learn::fitted_q_iteration"),
    Claim::printed(
        "X2",
        "the bound of thm:regret, which asks nothing of ε, is a bound for every ε",
        &["thm:regret", "any C > 0", "n, B → ∞"],
        Expected::Refuted,
        |_| negative_bound(&[0.01, 0.05, 0.1]),
        |_| negative_bound(&[0.001, 0.01, 0.05]),
    )
    .at(381, r"\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)^3"),
    Claim::implied(
        "X7",
        "the regret bound 2ξ/(1−γ) covers the deployed policy, which reads ŝ",
        &["‖Q* − f̂‖∞ ≤ ξ"],
        Expected::Refuted,
        |budget| deployed(budget, |ξ, _| 2.0 * ξ),
        |budget| deployed(budget, |ξ, shift| 2.0 * (ξ + shift)),
    )
    .at(378, r"the regret of the optimal policy estimated using Algorithm~\ref{alg:cf:1} and FQI is upper bounded by"),
    Claim::ours(
        "X7",
        "J*CF − Ṽ of the deployed policy ≤ 2(ξ + L_Q ε_s)/(1−γ), Ṽ its fair value: J itself is another matter",
        &["‖Q* − f̂‖∞ ≤ ξ", "Q* is L_Q-Lipschitz in the state"],
        Expected::NotRefuted,
        |budget| deployed(budget, |ξ, shift| 2.0 * (ξ + shift)),
        |budget| deployed(budget, |ξ, shift| ξ + shift),
    )
    .at(378, r"the regret of the optimal policy estimated using Algorithm~\ref{alg:cf:1} and FQI is upper bounded by"),
    Claim::printed(
        "D21",
        "P(error ≤ bound) ≤ 1 − n^{−κ} − d·exp(−nλ₀/8)",
        &["thm:regret"],
        Expected::Refuted,
        |_| sign(|inside, claimed| (inside, claimed)),
        |_| sign(|inside, claimed| (claimed, inside)),
    )
    .at(803, r"\leq 1 - n^{-\kappa} - d\exp(-n\lambda_0/8)"),
    Claim::printed(
        "ALG1-b",
        "T states and T decisions a person give NT tuples",
        &["alg:cf:1"],
        Expected::Refuted,
        |_| tuples(0),
        |_| tuples(1),
    )
    .at(375, r"the number of experience tuples in the dataset, i.e., $n = NT$")
    .runs("kernel::preprocess::batch"),
];

/// The image of the corner of a ball under T for a tabular process, |r| ≤ 1; the ball's radius is a function of γ.
fn closed_ball(size: fn(&[f64]) -> f64, radius: fn(f64) -> f64) -> Verdict {
    let mut search = Search::new();
    for γ in [0.5, 0.9] {
        for states in [2usize, 8] {
            // r = 1 everywhere; every action leads to state 0.
            let pairs = states * 2;
            let transitions = (0..pairs * states).map(|k| f64::from(u8::from(k % states == 0))).collect();
            let mdp = Tabular { states, actions: 2, discount: γ, rewards: vec![1.0; pairs], transitions };
            // All weight on state 0, as much as the ball holds.
            let mut w = vec![0.0; pairs];
            w[0] = radius(γ);
            search.case(size(&mdp.bellman(&w)), radius(γ), || {
                format!("{states} states, 2 actions, one-hot φ (d = {pairs}), r ≡ 1, all moves to the first state, γ = {γ}, w = ({}, 0, …): T w = 1 + γw₁ in every coordinate", w[0])
            });
        }
    }
    search.verdict()
}

/// Two arms in one state with gap 1.9ε and errors ±ε: the wrong arm is played for ever.
fn swapped_arms(bound: fn(f64, f64, f64, f64) -> f64) -> Verdict {
    let mut search = Search::new();
    for (l, ε) in [(1e-9, 0.01), (1e-12, 0.1)] {
        for γ in [0.5, 0.9] {
            // One-hot in the arm, both arms equally often: λ₀ = ½, R₂ = 1.
            let f = fitted_q(1, &[(0, 0, 0.9 * ε, 0), (0, 1, ε, 0)], γ, 50);
            let chosen = usize::from(f[1] > f[0]);
            search.case([0.0, 1.9 * ε][chosen] / (1.0 - γ), bound(l, 0.5, ε, γ), || {
                format!("one state, two arms, r = (1.9ε, 0), r̂ = (0.9ε, ε), ε = {ε}, learned by fitted Q iteration, one-hot φ, λ₀ = ½, γ = {γ}, R = 1: regret 1.9ε/(1−γ); φ does not depend on the state, so L may be {l:e}")
            });
        }
    }
    search.verdict()
}

/// The printed first term at d = 2, L = 1, λ₀ = ½, γ = 0.9, R = 1; a regret is never negative.
fn negative_bound(errors: &[f64]) -> Verdict {
    let mut search = Search::new();
    for &ε in errors {
        let bound = 2.0 * ε / (0.5 * (0.5 - 8.0 * ε) * 1e-3);
        search.case(0.0, bound, || {
            format!(
                "d = 2, L = 1, λ₀ = 0.5, ε = {ε}, γ = 0.9, R = 1: the bound is {bound:.0}·C, a regret is at least 0"
            )
        });
    }
    search.verdict()
}

/// States on a line; the policy reads the estimate at another state's place. `bound` gets ξ and L_Q ε_s.
fn deployed(budget: Budget, bound: fn(f64, f64) -> f64) -> Verdict {
    let mut search = Search::new();
    // s uniform on [0, 1], Q*(s,1) − Q*(s,0) = 2(s − ½), γ = 0; f̂ = Q*, deployed at s + e: wrong on (½ − e, ½).
    for e in [0.05, 0.2] {
        search.case(e * e, bound(0.0, e), || {
            format!("γ = 0, s uniform on [0,1], Q* = ±(s − ½), f̂ = Q*, ŝ = s + {e}: mean regret e² = ∫ 2|s − ½| over (½ − e, ½)")
        });
    }
    // One state is read as a state that ties: the mistake costs 2e and is made in every step.
    for (γ, e) in [(0.9, 0.1), (0.6, 0.3)] {
        let mdp = Tabular {
            states: 2,
            actions: 2,
            discount: γ,
            rewards: vec![-e, e, 0.001 * e, 0.0],
            transitions: [1.0, 0.0].repeat(4),
        };
        let q = mdp.optimum();
        let shift = distance(&q[..2], &q[2..]);
        search.case(mdp.regret(&[0, 0]), bound(0.0, shift) / (1.0 - γ), || {
            format!("γ = {γ}, two states, all moves to the first, r = (−{e}, {e}) there and ({}, 0) at the second, at distance 1; f̂ = Q*; the first is read as the second, L_Q ε_s = {shift:.4}", 0.001 * e)
        });
    }
    for i in 0..budget.pick(300, 20_000) {
        let stream = Stream::new(7).named("deployed").index(i);
        let mdp = Tabular::drawn(stream);
        let mut rng = stream.named("places").rng();
        let place: Vec<f64> = (0..mdp.states).map(|_| between(&mut rng, 0.0, 1.0)).collect();
        let read: Vec<usize> =
            (0..mdp.states).map(|_| crate::kernel::numeric::uniform_index(&mut rng, mdp.states)).collect();
        let q = mdp.optimum();
        let ξ = if i % 4 == 0 { 0.0 } else { between(&mut rng, 0.0, 0.3) };
        let f: Vec<f64> = q.iter().map(|q| q + ξ * signed(&mut rng)).collect();
        let (mut lipschitz, mut ε) = (0.0f64, 0.0f64);
        for s in 0..mdp.states {
            ε = ε.max((place[s] - place[read[s]]).abs());
            for t in 0..s {
                let apart = distance(&q[s * mdp.actions..][..mdp.actions], &q[t * mdp.actions..][..mdp.actions]);
                lipschitz = lipschitz.max(apart / (place[s] - place[t]).abs());
            }
        }
        let greedy = mdp.greedy(&f);
        let rule: Vec<usize> = read.iter().map(|&s| greedy[s]).collect();
        let right = bound(distance(&q, &f), lipschitz * ε) / (1.0 - mdp.discount);
        search.case(mdp.regret(&rule), right, || {
            format!("{mdp}; states at {place:?} are read as {read:?}, f̂ = {f:?}, L_Q = {lipschitz:.3}, ε_s = {ε:.3}")
        });
    }
    search.verdict()
}

/// Noise-free data: the error is 0 and below any bound with probability 1.
fn sign(sides: fn(f64, f64) -> (f64, f64)) -> Verdict {
    let mut search = Search::new();
    for n in [100.0f64, 1000.0] {
        let claimed = 1.0 - n.powf(-1.0) - (-n / 8.0).exp();
        let (left, right) = sides(1.0, claimed);
        search.case(left, right, || format!("d = 1, φ ≡ 1, no noise, ε = 0, κ = 1, n = {n}: the error is 0 with probability 1; the printed upper limit is {claimed:.6}"));
    }
    search.verdict()
}

/// Tuples made by the library from N people with T decisions and T + `extra` states.
fn tuples(extra: usize) -> Verdict {
    use crate::kernel::people::{Labels, PanelBuilder, Person};
    use crate::kernel::preprocess::{Unaware, batch};
    let (people, horizon) = (3, 4);
    let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).expect("a panel with a state");
    for i in 0..people {
        let states: Vec<f64> = (0..horizon + extra).map(|t| t as f64).collect();
        let (actions, rewards) = (vec![0; horizon], vec![1.0; horizon]);
        let id = i.to_string();
        builder
            .push(Person { id: &id, level: 0, states: &states, actions: &actions, rewards: &rewards })
            .expect("a valid person");
    }
    let experience = batch(&Unaware { state_dim: 1 }, &builder.finish()).expect("finite states");
    let mut search = Search::new();
    search.case((people * horizon) as f64, experience.transitions() as f64, || {
        format!("N = {people}, T = {horizon}, {} states a person: the last decision has no next state", horizon + extra)
    });
    search.verdict()
}
