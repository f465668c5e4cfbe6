//! E1 … E6: the triangle inequalities, the event on which the proof works, and what a large gap implies on it.

use crate::kernel::numeric::Stream;
use crate::kernel::numeric::small::norm;
use crate::theory::claims::regret::CHERNOFF;
use crate::theory::claims::search::{Search, signed};
use crate::theory::claims::shipped::fitted_q;
use crate::theory::claims::{Budget, Claim, Expected, Verdict};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::printed(
        "E1",
        "‖π̂(ŝ′) − π̂(ŝ″)‖₂ ≤ ‖π̂(ŝ′) − π̂(s)‖₂ + ‖π̂(s) − π̂(ŝ″)‖₂, attained",
        &[],
        Expected::NotRefuted,
        |budget| triangle(budget, 1.0),
        |budget| triangle(budget, 0.5),
    )
    .at(827, r"\leq& \|\hat{\pi}(\hat{s}_{z'}) - \hat{\pi}(s) \|_2"),
    Claim::printed(
        "E2",
        "‖π̂(ŝ) − π̂(s)‖₂ ≤ ‖π̂(s) − π*(s)‖₂ + ‖π̂(ŝ) − π*(ŝ)‖₂ + ‖π*(ŝ) − π*(s)‖₂: all 81 deterministic rules on two states",
        &["three actions"],
        Expected::NotRefuted,
        |_| through_the_optimum([1.0, 1.0, 1.0]),
        |_| through_the_optimum([1.0, 0.0, 1.0]),
    )
    .at(831, r"\E\|\hat{\pi}(s) - \pi^*(s) \|_2 + \E\|\hat{\pi}(\hat{s}_{z}) - \pi^*(\hat{s}_{z}) \|"),
    Claim::printed(
        "E3",
        "P(‖Q* − f̂‖∞ ≤ ξ) ≥ 1 − n^{−κ} − d·exp(−nλ₀/8) with n = NT (here C₂ up to 1000)",
        &["thm:regret", "trajectories"],
        Expected::Refuted,
        |_| one_frozen_person(),
        |_| many_people(1.0),
    )
    .at(834, r"$P(\mathcal{A}_0) \geq 1 - n^{-\kappa} - d\exp(-n\lambda_0/8)$")
    .under("X4"),
    Claim::ours(
        "E3",
        "P(‖Q* − f̂‖∞ ≤ ξ) ≥ 1 − n^{−κ} − d·exp(−.153Nλ₀/R₂²): N people in the exponent",
        &["two states that never change, rewards without noise"],
        Expected::NotRefuted,
        |_| many_people(1.0),
        |_| many_people(40.0),
    )
    .at(834, r"$P(\mathcal{A}_0) \geq 1 - n^{-\kappa} - d\exp(-n\lambda_0/8)$"),
    Claim::printed(
        "E4",
        "‖Q* − f̂‖∞ ≤ ξ = C₁dLRε/(λ₀(λ₀−4dLε)(1−γ)²) when n and B are large (here C₁ = 10⁶)",
        &["thm:regret"],
        Expected::Refuted,
        |_| reward_error(|l, ε, γ| 1e6 * l * ε / ((1.0 - 4.0 * l * ε) * (1.0 - γ).powi(2))),
        |_| reward_error(|_, ε, γ| 2.0 * ε / (1.0 - γ)),
    )
    .at(840, r"\xi = \frac{ C_1 dLR_{\max}\epsilon}{\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)^2}")
    .runs("kernel::learn::fitted_q_iteration")
    .under("X1"),
    Claim::ours(
        "E4",
        "‖Q* − f̂‖∞ ≤ ξ = R₂ε_r/(√c(1−γ)) when states are exact, n and B large, attained",
        &["c = λ_min(C)/n; thm:regret′ has c = λ₀/4, hence its factor 2"],
        Expected::NotRefuted,
        |_| reward_error(|_, ε, γ| ε / (1.0 - γ)),
        |_| reward_error(|_, ε, γ| 0.5 * ε / (1.0 - γ)),
    )
    .at(840, r"\xi = \frac{ C_1 dLR_{\max}\epsilon}{\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)^2}")
    .runs("kernel::learn::fitted_q_iteration"),
    Claim::printed(
        "E5",
        "gap(s) > 2ξ implies max f̂(s,·) > f̂(s,a′) for every a′ outside argmax Q*(s,·), which is E6: every action π̂ may take is in it",
        &["‖Q* − f̂‖∞ ≤ ξ"],
        Expected::NotRefuted,
        |budget| large_gap(budget, 2.0),
        |budget| large_gap(budget, 1.0),
    )
    .at(848, r"\hat{f} (s,a) - \max_{a'\in A - \arg\max_a Q^{opt}(s,a)} \hat{f}(s,a') > 0"),
];

fn apart(x: &[f64], y: &[f64]) -> f64 {
    norm(&x.iter().zip(y).map(|(x, y)| x - y).collect::<Vec<_>>())
}

fn triangle(budget: Budget, factor: f64) -> Verdict {
    let mut search = Search::new();
    let mut case = |a: &[f64], b: &[f64], c: &[f64]| {
        search.case(apart(a, b), factor * (apart(a, c) + apart(c, b)), || {
            format!("π̂(ŝ′) = {a:.3?}, π̂(ŝ″) = {b:.3?}, π̂(s) = {c:.3?}")
        });
    };
    case(&[1.0, 0.0], &[0.0, 1.0], &[0.5, 0.5]);
    let mut rng = Stream::new(1).named("E1").rng();
    for _ in 0..budget.pick(200, 5000) {
        let mut law = || {
            let x: Vec<f64> = (0..3).map(|_| signed(&mut rng).abs()).collect();
            let total: f64 = x.iter().sum();
            x.iter().map(|x| x / total).collect::<Vec<f64>>()
        };
        let (a, b, c) = (law(), law(), law());
        case(&a, &b, &c);
    }
    search.verdict()
}

/// All choices of (π̂(s), π̂(ŝ), π*(s), π*(ŝ)) among three actions; `weights` stand before the three terms.
fn through_the_optimum(weights: [f64; 3]) -> Verdict {
    let mut search = Search::new();
    let law = |a: usize| [0, 1, 2].map(|b| f64::from(u8::from(a == b)));
    for code in 0..81usize {
        let [learned, learned_there, best, best_there] = [code % 3, code / 3 % 3, code / 9 % 3, code / 27];
        let d = |a: usize, b: usize| apart(&law(a), &law(b));
        let right = weights[0] * d(learned, best)
            + weights[1] * d(learned_there, best_there)
            + weights[2] * d(best_there, best);
        search.case(d(learned_there, learned), right, || {
            format!("actions 0, 1, 2: π̂(s) = {learned}, π̂(ŝ) = {learned_there}, π*(s) = {best}, π*(ŝ) = {best_there}")
        });
    }
    search.verdict()
}

/// Two states that never change, φ one-hot, r ≡ 1 without noise, γ = ½, so Q* = 2: N = 1 person sees one of them only.
///
/// At the other state least squares of minimal norm says 0: the error is 2 for sure, while ξ falls with T.
fn one_frozen_person() -> Verdict {
    let mut search = Search::new();
    for constant in [1.0, 1000.0] {
        let (n, κ, γ, λ0, d) = (1e14f64, 1.0, 0.5f64, 0.5, 2.0);
        let ξ = constant * d * κ * n.ln() / (λ0 * n.sqrt() * (1.0 - γ).powi(2));
        let claimed = 1.0 - n.powf(-κ) - d * (-n * λ0 / 8.0).exp();
        let probability = f64::from(u8::from(2.0 <= ξ));
        search.case(claimed, probability, || {
            format!("one person, T = 10¹⁴, in one of two states for ever, φ one-hot, λ₀ = ½, r ≡ 1, γ = ½, Q* = 2, f̂ = 0 at the state never seen: error 2 for sure; C₂ = {constant}, κ = 1: ξ = {ξ:.2e}, claimed probability {claimed}")
        });
    }
    search.verdict()
}

/// The same with N people: f̂ is exact when both states are seen, which fails with probability 2·2^{−N}.
fn many_people(multiple: f64) -> Verdict {
    let mut search = Search::new();
    for people in [5.0f64, 10.0, 20.0, 40.0, 100.0] {
        let (horizon, κ) = (50.0, 10.0);
        // λ₀ = ½ and R₂ = 1. κ is large, so that the exponential term is the one under test.
        let right = (people * horizon).powf(-κ) + 2.0 * (-CHERNOFF * multiple * people / 2.0).exp();
        search.case(2.0 * 0.5f64.powf(people), right, || {
            format!("N = {people} people of T = 50 in one of two states for ever, λ₀ = ½, κ = {κ}: all in one state with probability 2·2^−N; exponent times {multiple}")
        });
    }
    search.verdict()
}

/// One state, φ ≡ 1 (λ₀ = 1, any L), r ≡ 1 read as 1 + ε: |Q* − f̂| = ε/(1−γ).
fn reward_error(bound: fn(f64, f64, f64) -> f64) -> Verdict {
    let mut search = Search::new();
    for (l, ε, γ) in [(1e-9, 0.01, 0.5), (1e-12, 0.1, 0.9)] {
        // γ⁴⁰⁰ is below rounding.
        let f = fitted_q(1, &[(0, 0, 1.0 + ε, 0), (0, 1, 1.0 + ε, 0)], γ, 400)[0];
        search.case((f - 1.0 / (1.0 - γ)).abs(), bound(l, ε, γ), || {
            format!("one state, φ ≡ 1, d = λ₀ = R = 1, r ≡ 1, r̂ ≡ 1 + {ε}, γ = {γ}: Q* = 1/(1−γ), f̂ = (1 + ε)/(1−γ); φ does not depend on the state, so L may be {l:e}")
        });
    }
    search.verdict()
}

/// Rows of action values with gap just above factor·ξ, first one by hand: 1 when the conclusion fails.
fn large_gap(budget: Budget, factor: f64) -> Verdict {
    let mut search = Search::new();
    let ξ = 0.1;
    let mut case = |q: &[f64], f: &[f64]| {
        let most = |x: &[f64]| x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let best = most(q);
        let outside = f.iter().zip(q).filter(|(_, q)| **q < best).map(|(f, _)| *f).fold(f64::NEG_INFINITY, f64::max);
        // Any action with the largest f̂ may be the one taken.
        let taken = f.iter().zip(q).any(|(x, q)| *x == most(f) && *q < best);
        let fails = most(f) <= outside || taken;
        search.case(f64::from(u8::from(fails)), 0.0, || format!("Q*(s,·) = {q:.4?}, f̂(s,·) = {f:.4?}, ξ = {ξ}"));
    };
    case(&[1.0 + factor * ξ * 1.01, 1.0], &[1.0 + factor * ξ * 1.01 - ξ, 1.0 + ξ]);
    for i in 0..budget.pick(2000, 200_000) {
        let mut rng = Stream::new(5).named("E5").index(i).rng();
        let actions = 2 + (i % 3) as usize;
        let mut q: Vec<f64> = (0..actions).map(|_| signed(&mut rng)).collect();
        // Ties at the top are allowed; the first action below them is pushed to the edge of the hypothesis.
        q[0] = 1.0 + factor * ξ * 1.0001;
        let second = q[1..].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        q[1..].iter_mut().for_each(|x| *x += 1.0 - second);
        if i % 5 == 0 {
            q.push(q[0]);
        }
        let best = q.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let harmful = i % 2 == 0;
        let f: Vec<f64> = q
            .iter()
            .map(|&x| x + ξ * if harmful { if x == best { -1.0 } else { 1.0 } } else { signed(&mut rng) })
            .collect();
        case(&q, &f);
    }
    search.verdict()
}
