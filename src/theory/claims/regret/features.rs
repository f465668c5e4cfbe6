//! D4, D6, D19: norms of weights and features, and the designs that separate them.

use crate::kernel::numeric::Stream;
use crate::kernel::numeric::small;
use crate::kernel::numeric::small::{dot, norm, sup};
use crate::theory::claims::search::{EQUAL, Equalities, Search, climb, signed};
use crate::theory::claims::shipped::fitted_q;
use crate::theory::claims::{Budget, Claim, Expected, Verdict};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::printed(
        "D4",
        "|φᵀΔw| ≤ ‖Δw‖∞ ‖φ‖∞",
        &[],
        Expected::Refuted,
        |budget| holder(budget, sup),
        |budget| holder(budget, |w| w.iter().map(|x| x.abs()).sum()),
    )
    .at(708, r"\|\hat{w}_f^\top - w_f^\top\|_\infty \cdot \|\phi\|_\infty"),
    Claim::ours(
        "D4",
        "|φᵀΔw| ≤ ‖Δw‖₁ ‖φ‖∞",
        &[],
        Expected::NotRefuted,
        |budget| holder(budget, |w| w.iter().map(|x| x.abs()).sum()),
        |budget| holder(budget, |w| 0.5 * w.iter().map(|x| x.abs()).sum::<f64>()),
    )
    .at(708, r"\|\hat{w}_f^\top - w_f^\top\|_\infty \cdot \|\phi\|_\infty"),
    Claim::printed(
        "D6",
        "‖A⁻¹v‖∞ ≤ ‖A⁻¹‖₂ ‖v‖∞ for positive definite A",
        &["A ≻ 0"],
        Expected::Refuted,
        |budget| row_sums(budget, |_| 1.0),
        |budget| row_sums(budget, |d| (1.0 + (d as f64).sqrt()) / 2.0),
    )
    .at(722, r"\left\|A^{-1}\right\|_2 \left\|\mathbf{b}-\mathbf{d}\right\|_\infty"),
    Claim::ours(
        "D6",
        "‖A⁻¹v‖∞ ≤ ((1+√d)/2) ‖A⁻¹‖₂ ‖v‖∞ for positive definite A, and no smaller constant",
        &["A ≻ 0"],
        Expected::NotRefuted,
        |budget| row_sums(budget, |d| (1.0 + (d as f64).sqrt()) / 2.0),
        |budget| row_sums(budget, |d| (1.0 + (d as f64).sqrt()) / 2.2),
    )
    .at(722, r"\left\|A^{-1}\right\|_2 \left\|\mathbf{b}-\mathbf{d}\right\|_\infty"),
    Claim::implied(
        "D6",
        "A⁻¹ − C⁻¹ = A⁻¹(C − A)C⁻¹",
        &["A, C ≻ 0"],
        Expected::Exact,
        |budget| resolvent(budget, 1.0),
        |budget| resolvent(budget, -1.0),
    )
    .at(723, r"\left\|A^{-1} \right\|_2 \left\|A-C\right\|_2 \left\| C^{-1}\right\|_2"),
    Claim::printed(
        "D18",
        "P(sup‖ŵᵀφ − wᵀφ‖∞ ≥ C₁dLRε/(λ₀(λ₀−4dLε)(1−γ))) ≤ d·exp(−nλ₀/8) for a constant C₁ (here 10⁶)",
        &["‖φ‖∞ ≤ 1", "n = 100"],
        Expected::Refuted,
        |_| wrong_for_sure(|l, ε, γ| 1e6 * l * ε / ((1.0 - 4.0 * l * ε) * (1.0 - γ))),
        |_| wrong_for_sure(|_, ε, _| 1.001 * ε),
    )
    .at(795, r"\geq \frac{C_1dLR_{\max}\epsilon}{\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)}\right) \leq d \exp(-n\lambda_0/8)")
    .runs("kernel::learn::fitted_q_iteration")
    .under("X1"),
    Claim::implied(
        "D4",
        "‖ŵᵀφ − wᵀφ‖∞ ≤ 2ε/λ₀ when ε_s = 0 and L → 0, as lines 708 and 787 together give",
        &["asm:hypothesis", "asm:coverage"],
        Expected::Refuted,
        |_| bent(|_, ε, λ0| 2.0 * ε / λ0),
        |_| bent(|r2, ε, λ0| r2 * ε / f64::sqrt(λ0)),
    )
    .at(787, r"\frac{2\epsilon}{\lambda_0 - 4dL\epsilon} \left(1 + \gamma L + \frac{R_{\max}L}{1-\gamma}\right)"),
    Claim::ours(
        "D18",
        "‖ŵᵀφ − wᵀφ‖∞ ≤ R₂ ε_r/√λ when ε_s = 0, attained by Hadamard rows with bent reward errors",
        &["R₂ = sup‖φ‖₂", "λ = λ_min(A)/n"],
        Expected::NotRefuted,
        |_| bent(|r2, ε, λ0| r2 * ε / f64::sqrt(λ0)),
        |_| bent(|r2, ε, λ0| 0.5 * r2 * ε / f64::sqrt(λ0)),
    )
    .at(795, r"\geq \frac{C_1dLR_{\max}\epsilon}{\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)}\right) \leq d \exp(-n\lambda_0/8)"),
    Claim::assumption(
        "D19",
        "‖w‖ ≤ C*‖wᵀφ‖∞ with a universal C* (here C* = 1000)",
        &["‖φ‖∞ ≤ 1"],
        Expected::Refuted,
        |budget| weight_size(budget, |_| 1000.0),
        |budget| weight_size(budget, |λ0| 1.0 / λ0.sqrt()),
    )
    .at(797, r"\mathcal{B} < \frac{C^*R_{\max}}{1-\gamma}"),
    Claim::ours(
        "D19",
        "‖w‖₂ ≤ ‖wᵀφ‖∞/√λ₀, attained",
        &["asm:coverage"],
        Expected::NotRefuted,
        |budget| weight_size(budget, |λ0| 1.0 / λ0.sqrt()),
        |budget| weight_size(budget, |λ0| 0.5 / λ0.sqrt()),
    )
    .at(797, r"\mathcal{B} < \frac{C^*R_{\max}}{1-\gamma}"),
];

/// |φᵀw| against a norm of w, ‖φ‖∞ = 1; the climb moves φ and w.
fn holder(budget: Budget, weight_norm: fn(&[f64]) -> f64) -> Verdict {
    let mut search = Search::new();
    let mut case = |φ: &[f64], w: &[f64]| {
        search.case(dot(φ, w).abs(), weight_norm(w) * sup(φ), || format!("φ = {φ:.3?}, Δw = {w:.3?}"))
    };
    case(&[1.0, 1.0], &[1.0, 1.0]);
    for (k, d) in [2usize, 3, 5].into_iter().enumerate() {
        let stream = Stream::new(4).named("D4").index(k as u64);
        climb(2 * d, budget.pick(200, 20_000), stream, &mut |x| case(&x[..d], &x[d..]));
    }
    search.verdict()
}

/// ‖Mv‖∞ against constant(d)·‖M‖₂‖v‖∞ for M = BBᵀ; the climb moves B, and v is the sign vector that is worst for M.
fn row_sums(budget: Budget, constant: fn(usize) -> f64) -> Verdict {
    let mut search = Search::new();
    let mut case = |m: &[f64], d: usize| {
        // ‖Mv‖∞ is largest over ‖v‖∞ ≤ 1 at the signs of a row.
        let left = m.chunks_exact(d).map(|row| row.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
        search.case(left, constant(d) * small::spectral_norm(m, d), || {
            format!("A⁻¹ = {m:.4?} by rows (d = {d}), v = the signs of its heaviest row")
        })
    };
    case(&[2.01, 1.0, 1.0, 0.51], 2);
    for d in [2usize, 3, 5, 9] {
        // The extremal projection: diagonal m = (1 + 1/√d)/2 at the first entry, the rest of the row equal.
        let first = (1.0 + (d as f64).sqrt().recip()) / 2.0;
        let other = ((1.0 - first) / (d as f64 - 1.0)).sqrt();
        let u: Vec<f64> = (0..d).map(|j| if j == 0 { first.sqrt() } else { other }).collect();
        case(&outer(&u), d);
        let stream = Stream::new(6).named("D6").index(d as u64);
        climb(d * d, budget.pick(100, 10_000), stream, &mut |b| {
            let m: Vec<f64> = (0..d * d)
                .map(|k| dot(&b[k / d * d..][..d], &b[k % d * d..][..d]) + if k / d == k % d { 1e-6 } else { 0.0 })
                .collect();
            case(&m, d)
        });
    }
    search.verdict()
}

fn outer(u: &[f64]) -> Vec<f64> {
    u.iter().flat_map(|x| u.iter().map(move |y| x * y)).collect()
}

/// A random positive definite matrix with eigenvalues above ½, so that inverses keep fifteen digits.
fn definite(d: usize, rng: &mut impl rand::Rng) -> Vec<f64> {
    let b: Vec<f64> = (0..d * d).map(|_| signed(rng)).collect();
    (0..d * d)
        .map(|k| dot(&b[k / d * d..][..d], &b[k % d * d..][..d]) + if k / d == k % d { 0.5 } else { 0.0 })
        .collect()
}

/// The two sides of the resolvent identity, the right one times `sign`.
fn resolvent(budget: Budget, sign: f64) -> Verdict {
    let mut equal = Equalities::new();
    for i in 0..budget.pick(50, 1000) {
        let mut rng = Stream::new(6).named("resolvent").index(i).rng();
        let d = 2 + (i % 5) as usize;
        let (a, c) = (definite(d, &mut rng), definite(d, &mut rng));
        let (a_inv, c_inv) = (small::inverse(&a, d).expect("A ≻ 0"), small::inverse(&c, d).expect("C ≻ 0"));
        for j in 0..d {
            let column: Vec<f64> = (0..d).map(|k| c_inv[k * d + j]).collect();
            let difference: Vec<f64> = c.iter().zip(&a).map(|(c, a)| c - a).collect();
            let right = small::apply(&a_inv, &small::apply(&difference, &column));
            for k in 0..d {
                // Condition numbers here stay below 100.
                equal.case(a_inv[k * d + j] - c_inv[k * d + j], sign * right[k], 100.0 * EQUAL, || {
                    format!("A = {a:.3?}, C = {c:.3?}, entry ({k}, {j})")
                });
            }
        }
    }
    equal.verdict()
}

/// Sixteen Hadamard rows once each, ε_s = 0, reward errors ±ε whose transform is flat: sup|φᵀΔw| over φ ∈ {±1}¹⁶.
fn bent(right: fn(f64, f64, f64) -> f64) -> Verdict {
    let mut search = Search::new();
    for k in [1u32, 2] {
        // d = 4ᵏ; the inner product x₁x₂ ⊕ x₃x₄ ⊕ … is bent on 2k bits.
        let d = 4usize.pow(k);
        let hadamard = |i: usize, j: usize| if (i & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
        let ε = 0.01;
        let error = |i: usize| if ((i & (i >> 1)) & 0x5555).count_ones().is_multiple_of(2) { ε } else { -ε };
        // A = Σφφᵀ = d·I, so Δw = (1/d) Σ φᵢ(r̂ᵢ − rᵢ).
        let δw: Vec<f64> = (0..d).map(|j| (0..d).map(|i| hadamard(i, j) * error(i)).sum::<f64>() / d as f64).collect();
        let left: f64 = δw.iter().map(|x| x.abs()).sum();
        search.case(left, right((d as f64).sqrt(), ε, 1.0), || {
            format!("d = {d}: the rows of the Hadamard matrix (−1)^popcount(i∧j) once each, r̂ − r = ±{ε} by the bent function Σ x₂ₖ₋₁x₂ₖ of i's bits; A/n = I, |Δw_j| = {ε}/√d, φ* = the signs of Δw")
        });
    }
    search.verdict()
}

/// ‖w‖₂ against factor(λ₀)·max|wᵀφ| with μ_b uniform on a finite set of features.
fn weight_size(budget: Budget, factor: fn(f64) -> f64) -> Verdict {
    let mut search = Search::new();
    let mut case = |rows: &[f64], w: &[f64]| {
        let d = w.len();
        let n = (rows.len() / d) as f64;
        let second: Vec<f64> =
            (0..d * d).map(|k| rows.chunks_exact(d).map(|φ| φ[k / d] * φ[k % d]).sum::<f64>() / n).collect();
        let λ0 = small::symmetric_eigenvalues(&second, d)[0];
        // Below this the eigenvalue itself is rounding noise.
        if λ0 < 1e-9 {
            return 0.0;
        }
        let value = rows.chunks_exact(d).map(|φ| dot(φ, w).abs()).fold(0.0, f64::max);
        search.case(norm(w), factor(λ0) * value, || format!("features {rows:.4?} by rows, w = {w:.1?}, λ₀ = {λ0:.3e}"))
    };
    case(&[1.0, 1.0, 1.0, 0.999], &[-1999.0, 2000.0]);
    case(&[1.0, 1.0, 1.0, -1.0], &[1.0, 0.0]);
    for i in 0..3 {
        let d = 2 + i;
        let rows = 3 * d;
        climb((rows + 1) * d, budget.pick(150, 10_000), Stream::new(19).index(i as u64), &mut |x| {
            let features: Vec<f64> = x[d..].iter().map(|x| x.clamp(-1.0, 1.0)).collect();
            case(&features, &x[..d])
        });
    }
    search.verdict()
}

/// One state, φ ≡ 1, r ≡ 1 read as 1 + ε in all of n rows: |ŵᵀφ − wᵀφ| = ε for sure, against the printed probability that it exceeds `radius`.
fn wrong_for_sure(radius: fn(f64, f64, f64) -> f64) -> Verdict {
    let mut search = Search::new();
    for (l, ε, γ) in [(1e-9, 0.01, 0.5), (1e-12, 0.1, 0.9)] {
        let learned = |r: f64| fitted_q(1, &[(0, 0, r, 0), (0, 1, r, 0)], γ, 1)[0];
        let error = (learned(1.0 + ε) - learned(1.0)).abs();
        let probability = f64::from(u8::from(error >= radius(l, ε, γ)));
        search.case(probability, (-100.0f64 / 8.0).exp(), || {
            format!("one state, φ ≡ 1, d = λ₀ = R = 1, r ≡ 1, r̂ ≡ 1 + {ε}, γ = {γ}, n = 100: |ŵ − w| = ε for sure; φ does not depend on the state, so L may be {l:e}")
        });
    }
    search.verdict()
}
