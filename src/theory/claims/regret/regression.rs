//! D1, D2, D5, D8, D12, D15: one least-squares step with exact and with estimated states, and the sizes of its parts.

use super::second_moment;
use crate::kernel::learn::Clipping;
use crate::kernel::learn::features::FeatureMap;
use crate::kernel::numeric::Stream;
use crate::kernel::numeric::small;
use crate::kernel::numeric::small::dot;
use crate::theory::beds::{Axis, Tent};
use crate::theory::claims::beds::{Disturbance, HatFit, hat, learn};
use crate::theory::claims::search::{EQUAL, Equalities, Search, climb};
use crate::theory::claims::{Budget, Claim, Expected, Verdict};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::printed(
        "D1",
        "a step of fitted Q iteration is w_f = [Σφφᵀ]⁻¹Σφ(r + γ max f(s′,·)): the library's, on the hat bed",
        &["unconstrained least squares", "Σφφᵀ ≻ 0"],
        Expected::Exact,
        |_| one_step(Disturbance::NONE, 1.0),
        |_| one_step(Disturbance::NONE, 0.5),
    )
    .at(694, r"w_f = \left[\sum_{i=1}^n \phi(s_i,a_i) \phi (s_i,a_i)^\top\right]^{-1}")
    .runs("kernel::learn::fitted_q_iteration"),
    Claim::printed(
        "D2",
        "the same with ŝ, ŝ′ and r̂ in place of s, s′ and r",
        &["unconstrained least squares", "Σφ̂φ̂ᵀ ≻ 0"],
        Expected::Exact,
        |_| one_step(READ_WRONGLY, 1.0),
        |_| one_step(READ_WRONGLY, 0.5),
    )
    .at(698, r"\hat{w}_f = \left[\sum_{i=1}^n \phi(\hat{s}_i,a_i) \phi (\hat{s}_i,a_i)^\top\right]^{-1}")
    .runs("kernel::learn::fitted_q_iteration"),
    Claim::implied(
        "ALG2-a",
        "the argmin over the ball ‖w‖ ≤ 𝓑 of alg:cf:2 is the least-squares solution of D1",
        &["asm:hypothesis"],
        Expected::Refuted,
        |_| in_the_ball(1.0),
        |_| in_the_ball(3.0),
    )
    .at(367, r"\arg \min_{f \in \mathcal{F}}"),
    Claim::printed(
        "D5",
        "w_f − ŵ_f = A⁻¹b − C⁻¹d = A⁻¹(b − d) + (A⁻¹ − C⁻¹)d",
        &["A, C ≻ 0"],
        Expected::Exact,
        |budget| decomposition(budget, 1.0),
        |budget| decomposition(budget, -1.0),
    )
    .at(720, r"\left\| A^{-1}\mathbf{b} - C^{-1}\mathbf{d} \right\|_\infty"),
    Claim::printed(
        "D8",
        "‖A⁻¹‖₂ ≤ 2/(nλ₀) where λ_min(A) ≥ nλ₀/2, attained",
        &["the event of D7"],
        Expected::NotRefuted,
        |budget| inverse_norm(budget, 2.0),
        |budget| inverse_norm(budget, 1.0),
    )
    .at(733, r"\|A^{-1}\|_2 \leq \frac{2}{n\lambda_0}"),
    Claim::printed(
        "D12",
        "λ_min(C) ≥ nλ₀/2 − 2ndLε where λ_min(A) ≥ nλ₀/2",
        &["the event of D7", "‖φ‖∞ ≤ 1", "asm:lipschitz"],
        Expected::NotRefuted,
        |budget| least_eigenvalue(budget, 2.0),
        |budget| least_eigenvalue(budget, 1.0),
    )
    .at(754, r"\lambda_{\min}(C) \geq n\lambda_0/2 - 2ndL\epsilon"),
    Claim::printed(
        "D15",
        "‖d‖∞ ≤ (1 + γL + LV)nε + nV",
        &["|f| ≤ V, which asm:hypothesis does not say", "‖φ‖∞ ≤ 1"],
        Expected::NotRefuted,
        |_| target_sums(1.0, |t| t.limit + (1.0 + t.discount + t.limit) * t.error),
        |_| target_sums(2.0, |t| t.limit + (1.0 + t.discount + t.limit) * t.error),
    )
    .at(779, r"n\epsilon + \frac{n R_{\max}}{1-\gamma}"),
    Claim::ours(
        "D15",
        "‖d‖∞ ≤ n(V + ε_r), attained",
        &["|f| ≤ V", "‖φ‖∞ ≤ 1"],
        Expected::NotRefuted,
        |_| target_sums(1.0, |t| t.limit + t.error),
        |_| target_sums(1.0, |t| t.limit),
    )
    .at(779, r"n\epsilon + \frac{n R_{\max}}{1-\gamma}"),
];

/// States off by up to a hundredth, rewards by five.
const READ_WRONGLY: Disturbance = Disturbance { states: 0.01, rewards: 0.05, scale: 1.0 };

/// The library's second iterate against the formula with its first, on 200 tuples; the formula's γ is scaled by `factor`.
fn one_step(by: Disturbance, factor: f64) -> Verdict {
    let bed = hat();
    let fit = |steps: usize| learn(&bed, 200, steps, by, Clipping::Off, Stream::new(65));
    let (first, second) = (fit(1), fit(2));
    let nodes = bed.cells() + 1;
    let map = Tent::new(vec![Axis { low: 0.0, high: 1.0, nodes }]).expect("two nodes or more");
    let hats = |s: f64| {
        let mut φ = vec![0.0; nodes];
        map.fill(&[s], &mut φ);
        φ
    };
    let mut equal = Equalities::new();
    let HatFit { states, actions, rewards, next, .. } = &second;
    for a in 0..2u32 {
        let (mut gram, mut moment) = (vec![0.0; nodes * nodes], vec![0.0; nodes]);
        for i in (0..states.len()).filter(|&i| actions[i] == a) {
            let (φ, then) = (hats(states[i]), hats(next[i]));
            let best = first.weights.chunks_exact(nodes).map(|w| dot(w, &then)).fold(f64::NEG_INFINITY, f64::max);
            let y = rewards[i] + factor * bed.discount() * best;
            for j in 0..nodes {
                moment[j] += φ[j] * y;
                (0..nodes).for_each(|k| gram[j * nodes + k] += φ[j] * φ[k]);
            }
        }
        let w = small::solve(&gram, &moment).expect("every node was visited");
        for (j, by_hand) in w.into_iter().enumerate() {
            // Gram matrices of hats on a hundred uniform points have condition numbers below 100.
            equal.case(second.weights[a as usize * nodes + j], by_hand, 100.0 * EQUAL, || {
                format!(
                    "hat bed, m = 4, n = 200, action {a}, node {j}; the formula with γ = {}",
                    factor * bed.discount()
                )
            });
        }
    }
    equal.verdict()
}

/// One tuple with φ = 1 and y = 2: least squares says 2, the ball of radius 𝓑 may say less.
fn in_the_ball(radius: f64) -> Verdict {
    let (unconstrained, constrained) = (2.0, f64::min(2.0, radius));
    let mut search = Search::new();
    search.case(unconstrained, constrained, || {
        format!("one tuple, φ = 1, y = 2, 𝓑 = {radius}: (y − w)² is least at w = 2, over |w| ≤ {radius} at w = {constrained}")
    });
    search.verdict()
}

/// Rows of features, of their estimates, and two targets, as Gram matrices and moments; first a case for pencil and paper.
fn decomposition(budget: Budget, sign: f64) -> Verdict {
    let mut equal = Equalities::new();
    let mut case = |φ: &[f64], φ_hat: &[f64], y: &[f64], y_hat: &[f64], d: usize| {
        let moment = |φ: &[f64], y: &[f64]| -> Vec<f64> {
            (0..d).map(|j| φ.chunks_exact(d).zip(y).map(|(φ, y)| φ[j] * y).sum()).collect()
        };
        let (a, c) = (second_moment(φ, d), second_moment(φ_hat, d));
        let least = |m: &[f64]| small::symmetric_eigenvalues(m, d)[0];
        if least(&a) < WELL_CONDITIONED || least(&c) < WELL_CONDITIONED {
            return;
        }
        let (b, e) = (moment(φ, y), moment(φ_hat, y_hat));
        let solve = |m: &[f64], v: &[f64]| small::solve(m, v).expect("positive definite");
        let apart: Vec<f64> = b.iter().zip(&e).map(|(b, e)| b - e).collect();
        let (w, w_hat) = (solve(&a, &b), solve(&c, &e));
        let (first, cross) = (solve(&a, &apart), solve(&a, &e));
        for j in 0..d {
            let right = first[j] + sign * (cross[j] - w_hat[j]);
            equal.case(w[j] - w_hat[j], right, 100.0 * EQUAL, || {
                format!("d = {d}: φ = {φ:?}, φ̂ = {φ_hat:?} by rows, y = {y:?}, ŷ = {y_hat:?}, coordinate {}", j + 1)
            });
        }
    };
    case(&[1.0, 1.0], &[1.0, 0.5], &[1.0, 3.0], &[1.0, 3.0], 1);
    for i in 0..budget.pick(100, 2000) {
        let mut rng = Stream::new(5).named("D5").index(i).rng();
        let mut draw =
            |n: usize| -> Vec<f64> { (0..n).map(|_| crate::theory::claims::search::signed(&mut rng)).collect() };
        let (d, n) = (2, 6);
        let (φ, φ_hat, y, y_hat) = (draw(n * d), draw(n * d), draw(n), draw(n));
        case(&φ, &φ_hat, &y, &y_hat, d);
    }
    equal.verdict()
}

/// Gram matrices below this least eigenvalue lose more digits in a solve than the comparison allows.
const WELL_CONDITIONED: f64 = 0.1;

/// ‖A⁻¹‖₂ by inverting, against constant/(nλ₀) with the largest λ₀ ≤ 1 that the event allows.
fn inverse_norm(budget: Budget, constant: f64) -> Verdict {
    let mut search = Search::new();
    let mut case = |φ: &[f64], d: usize| {
        let a = second_moment(φ, d);
        let n = (φ.len() / d) as f64;
        let least = small::symmetric_eigenvalues(&a, d)[0];
        let (λ0, Some(inverse)) = (f64::min(2.0 * least / n, 1.0), small::inverse(&a, d)) else { return 0.0 };
        if least < WELL_CONDITIONED {
            return 0.0;
        }
        search.case(small::spectral_norm(&inverse, d), constant / (n * λ0), || {
            format!("φ = {φ:.4?} by rows of {d}, λ_min(A) = {least:.4} ≥ nλ₀/2 with n = {n}, λ₀ = {λ0:.4}")
        })
    };
    // Two rows (½, ½) and (½, −½): A = ½I, λ₀ = ½, ‖A⁻¹‖ = 2.
    case(&[0.5, 0.5, 0.5, -0.5], 2);
    for d in [1usize, 2, 3] {
        climb(4 * d, budget.pick(100, 5000), Stream::new(8).index(d as u64), &mut |x| {
            case(&x.iter().map(|x| x.clamp(-1.0, 1.0)).collect::<Vec<_>>(), d)
        });
    }
    search.verdict()
}

/// nλ₀/2 − constant·ndε against λ_min(C) with the largest λ₀ ≤ 1 that the event allows, features moved by at most ε (L = 1).
fn least_eigenvalue(budget: Budget, constant: f64) -> Verdict {
    let mut search = Search::new();
    let ε = 0.05;
    let mut case = |x: &[f64], d: usize| {
        let (a, c) = super::perturbation::gram_pair(x, d, ε);
        let n = (x.len() / 2 / d) as f64;
        let least = |m: &[f64]| small::symmetric_eigenvalues(m, d)[0];
        let λ0 = f64::min(2.0 * least(&a) / n, 1.0);
        search.case(n * λ0 / 2.0 - constant * n * d as f64 * ε, least(&c), || {
            format!("d = {d}, n = {n}, L = 1, ε = {ε}: A = {a:.4?}, C = {c:.4?} by rows, λ₀ = {λ0:.4}")
        })
    };
    // φ = 0.7 is read as 0.65: A = 0.49, λ₀ = 0.98, C = 0.4225.
    case(&[0.7, -1.0], 1);
    for d in [1usize, 2] {
        climb(8 * d, budget.pick(100, 5000), Stream::new(12).index(d as u64), &mut |x| case(x, d));
    }
    search.verdict()
}

/// One tuple with φ̂ = 1: the largest |d| there is.
struct Target {
    discount: f64,
    limit: f64,
    error: f64,
}

/// d = r̂ + γf(ŝ′) with r̂ = R + ε and f(ŝ′) = `height`·V, R = 1, L = 1, n = 1.
fn target_sums(height: f64, right: fn(&Target) -> f64) -> Verdict {
    let mut search = Search::new();
    for discount in [0.0, 0.5, 0.9] {
        for error in [0.0, 0.01, 0.1] {
            let target = Target { discount, limit: 1.0 / (1.0 - discount), error };
            let left = 1.0 + error + discount * height * target.limit;
            search.case(left, right(&target), || {
                format!("n = 1, φ(ŝ) = 1, L = 1, R = 1, γ = {discount}, V = {}, ε_s = 0, r̂ = 1 + {error}, f(ŝ′) = {height}·V: d = r̂ + γf(ŝ′) = {left}", target.limit)
            });
        }
    }
    search.verdict()
}
