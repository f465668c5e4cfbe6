//! D9 … D16: the Gram matrix and the moments when states and rewards are only estimated.

use crate::kernel::numeric::Stream;
use crate::kernel::numeric::small;
use crate::kernel::numeric::small::{dot, sup};
use crate::theory::claims::search::{EQUAL, Equalities, Search, between, climb};
use crate::theory::claims::shipped::fitted_q;
use crate::theory::claims::{Budget, Claim, Expected, Verdict};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::printed(
        "D9",
        "|Σ φⱼ(φₖ−φ̂ₖ) + (φⱼ−φ̂ⱼ)φ̂ₖ| ≤ |Σ (φₖ−φ̂ₖ) + (φⱼ−φ̂ⱼ)|",
        &["‖φ‖∞ ≤ 1"],
        Expected::Refuted,
        |budget| entry(budget, |differences, _| differences.abs()),
        |budget| entry(budget, |_, nε| 2.0 * nε),
    )
    .at(740, r"\leq \left|\sum_{i=1}^n (\phi_k(s_i,a_i) - \phi_k(\hat{s}_i,a_i)) + (\phi_j(s_i,a_i) - \phi_j(\hat{s}_i,a_i))\right|"),
    Claim::ours(
        "D9",
        "|A_jk − C_jk| ≤ 2nLε",
        &["‖φ‖∞ ≤ 1", "asm:lipschitz"],
        Expected::NotRefuted,
        |budget| entry(budget, |_, nε| 2.0 * nε),
        |budget| entry(budget, |_, nε| nε),
    )
    .at(740, r"\leq \left|\sum_{i=1}^n (\phi_k(s_i,a_i) - \phi_k(\hat{s}_i,a_i)) + (\phi_j(s_i,a_i) - \phi_j(\hat{s}_i,a_i))\right|"),
    Claim::printed(
        "D10",
        "‖A − C‖₂ ≤ 2ndLε",
        &["‖φ‖∞ ≤ 1", "asm:lipschitz"],
        Expected::NotRefuted,
        |budget| gram(budget, |d| 2.0 * d),
        |budget| gram(budget, |d| d),
    )
    .at(745, r"\leq 2ndL\epsilon"),
    Claim::printed(
        "D11",
        "|λ_min(A) − λ_min(C)| ≤ ‖A − C‖₂ (Weyl)",
        &["A, C symmetric"],
        Expected::NotRefuted,
        |budget| weyl(budget, 1.0),
        |budget| weyl(budget, 0.5),
    )
    .at(750, r"|\lambda_{\min}(A) - \lambda_{\min}(C)| \leq \|A-C\|_2"),
    Claim::printed(
        "D13",
        "‖C⁻¹‖₂ ≤ 2/(nλ₀ − 4ndLε) for every ε",
        &["λ_min(A) ≥ nλ₀/2"],
        Expected::Refuted,
        |budget| inverse_gram(budget, false, 2.0),
        |budget| inverse_gram(budget, true, 2.0),
    )
    .at(758, r"\|C^{-1}\|_2 \leq \frac{2}{n\lambda_0 - 4ndL\epsilon}")
    .under("X2"),
    Claim::ours(
        "D13",
        "‖C⁻¹‖₂ ≤ 2/(nλ₀ − 4ndLε) when 4dLε < λ₀",
        &["λ_min(A) ≥ nλ₀/2", "4dLε < λ₀"],
        Expected::NotRefuted,
        |budget| inverse_gram(budget, true, 2.0),
        |budget| inverse_gram(budget, true, 1.0),
    )
    .at(758, r"\|C^{-1}\|_2 \leq \frac{2}{n\lambda_0 - 4ndL\epsilon}"),
    Claim::printed(
        "D14",
        "‖b − d‖∞ ≤ (1 + γL + LR/(1−γ)) nε",
        &["f = wᵀφ, |f| ≤ R/(1−γ)", "asm:lipschitz"],
        Expected::Refuted,
        |budget| moments(budget, |m| (1.0 + m.γ * m.lipschitz + m.limit * m.lipschitz) * (m.ε_s + m.ε_r)),
        |budget| moments(budget, Moment::corrected),
    )
    .at(772, r"\leq (1 + \gamma L + \frac{R_{\max}L}{1-\gamma}) n\epsilon"),
    Claim::ours(
        "D14",
        "‖b − d‖∞ ≤ n(ε_r + γL‖w‖₁ε_s + VLε_s)",
        &["f = wᵀφ, |f| ≤ V", "asm:lipschitz"],
        Expected::NotRefuted,
        |budget| moments(budget, Moment::corrected),
        |budget| moments(budget, |m| 0.5 * m.corrected()),
    )
    .at(772, r"\leq (1 + \gamma L + \frac{R_{\max}L}{1-\gamma}) n\epsilon"),
    Claim::printed(
        "D16",
        "the products of D8 … D15 add up to 2εX/(λ₀−4dLε) + 8dLεV/(λ₀(λ₀−4dLε))",
        &["X = 1 + γL + LV"],
        Expected::Exact,
        |_| algebra(8.0),
        |_| algebra(4.0),
    )
    .at(787, r"\frac{2\epsilon}{\lambda_0 - 4dL\epsilon} \left(1 + \gamma L + \frac{R_{\max}L}{1-\gamma}\right)"),
    Claim::printed(
        "D16",
        "‖ŵ − w‖∞ ≤ C₁dLRε/(λ₀(λ₀−4dLε)(1−γ)) for a constant C₁ (here 10⁶)",
        &["‖φ‖∞ ≤ 1"],
        Expected::Refuted,
        |_| one_state(|d, l, r, ε, λ0, γ| 1e6 * d * l * r * ε / (λ0 * (λ0 - 4.0 * d * l * ε) * (1.0 - γ))),
        |_| one_state(|d, l, r, ε, λ0, γ| (2.0 * ε + 10.83 * d * l * r * ε / (1.0 - γ)) / λ0),
    )
    .at(788, r"\leq C_1 \frac{dLR_{\max}\epsilon}{\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)}")
    .runs("kernel::learn::fitted_q_iteration")
    .under("X1"),
];

/// Two coordinates of n features and of their estimates, each on [−1, 1], differences at most ε = 0.1 (L = 1).
fn entry(budget: Budget, right: fn(f64, f64) -> f64) -> Verdict {
    let ε: f64 = 0.1;
    let mut search = Search::new();
    let mut case = |x: &[f64]| {
        let n = x.len() / 4;
        let at = |block: usize, i: usize| x[block * n + i].clamp(-1.0, 1.0);
        let hat = |block: usize, i: usize| (at(block, i) + ε * at(block + 2, i)).clamp(-1.0, 1.0);
        let (mut left, mut differences) = (0.0, 0.0);
        for i in 0..n {
            let (j, k) = (at(0, i), at(1, i));
            left += j * (k - hat(1, i)) + (j - hat(0, i)) * hat(1, i);
            differences += (k - hat(1, i)) + (j - hat(0, i));
        }
        search.case(f64::abs(left), right(differences, n as f64 * ε), || {
            let row = |block: usize, hat_too: bool| -> Vec<f64> {
                (0..n).map(|i| if hat_too { hat(block, i) } else { at(block, i) }).collect()
            };
            format!(
                "n = {n}: φⱼ = {:?}, φ̂ⱼ = {:?}, φₖ = {:?}, φ̂ₖ = {:?}",
                row(0, false),
                row(0, true),
                row(1, false),
                row(1, true)
            )
        })
    };
    // n = 2: φⱼ = (1, −1) exactly known; φₖ off by (0.1, −0.1).
    case(&[1.0, -1.0, 0.5, 0.5, 0.0, 0.0, -1.0, 1.0]);
    climb(4, budget.pick(200, 10_000), Stream::new(9), &mut case);
    search.verdict()
}

/// n features in [−1, 1]ᵈ and estimates at most ε away: (A, C) as d × d matrices.
pub(super) fn gram_pair(x: &[f64], d: usize, ε: f64) -> (Vec<f64>, Vec<f64>) {
    let (truth, error) = x.split_at(x.len() / 2);
    let φ: Vec<f64> = truth.iter().map(|x| x.clamp(-1.0, 1.0)).collect();
    let hat: Vec<f64> = φ.iter().zip(error).map(|(φ, e)| (φ + ε * e.clamp(-1.0, 1.0)).clamp(-1.0, 1.0)).collect();
    (second_moment(&φ, d), second_moment(&hat, d))
}

/// Σ φφᵀ over the rows.
pub(in crate::theory::claims) fn second_moment(rows: &[f64], d: usize) -> Vec<f64> {
    (0..d * d).map(|k| rows.chunks_exact(d).map(|φ| φ[k / d] * φ[k % d]).sum()).collect()
}

fn difference(a: &[f64], c: &[f64]) -> Vec<f64> {
    a.iter().zip(c).map(|(a, c)| a - c).collect()
}

/// ‖A − C‖₂ against constant(d)·nε, L = 1.
fn gram(budget: Budget, constant: fn(f64) -> f64) -> Verdict {
    let ε: f64 = 0.01;
    let mut search = Search::new();
    let mut case = |x: &[f64], d: usize| {
        let (a, c) = gram_pair(x, d, ε);
        let n = (x.len() / 2 / d) as f64;
        search.case(small::spectral_norm(&difference(&a, &c), d), constant(d as f64) * n * ε, || {
            format!("d = {d}, L = 1, ε = {ε}: features {:.2?}, errors {:.2?}·ε", &x[..x.len() / 2], &x[x.len() / 2..])
        })
    };
    for d in [1usize, 2, 4] {
        // All features at the corner, all moved inwards: the bound is attained as ε → 0.
        case(&[vec![1.0; 2 * d], vec![-1.0; 2 * d]].concat(), d);
        climb(4 * d, budget.pick(100, 5000), Stream::new(10).index(d as u64), &mut |x| case(x, d));
    }
    search.verdict()
}

fn weyl(budget: Budget, factor: f64) -> Verdict {
    let mut search = Search::new();
    for d in [1usize, 2, 3] {
        climb(6 * d, budget.pick(200, 5000), Stream::new(11).index(d as u64), &mut |x| {
            let (a, c) = gram_pair(x, d, 0.3);
            let least = |m: &[f64]| small::symmetric_eigenvalues(m, d)[0];
            search.case((least(&a) - least(&c)).abs(), factor * small::spectral_norm(&difference(&a, &c), d), || {
                format!("A = {a:.4?}, C = {c:.4?} by rows")
            })
        });
    }
    search.verdict()
}

/// ‖C⁻¹‖₂ against constant/(nλ₀ − 4ndLε) with the largest λ₀ ≤ 1 that λ_min(A) ≥ nλ₀/2 allows, where 4dLε < λ₀ or, if not
/// `guarded`, anywhere.
fn inverse_gram(budget: Budget, guarded: bool, constant: f64) -> Verdict {
    let mut search = Search::new();
    let mut case = |x: &[f64], d: usize, ε: f64| {
        let (a, c) = gram_pair(x, d, ε);
        let n = (x.len() / 2 / d) as f64;
        let least = |m: &[f64]| small::symmetric_eigenvalues(m, d)[0];
        let λ0 = f64::min(2.0 * least(&a) / n, 1.0);
        let room = n * λ0 - 4.0 * n * d as f64 * ε;
        if least(&c) < SINGULAR * n || guarded && room < SINGULAR * n {
            return 0.0;
        }
        search.case(1.0 / least(&c), constant / room, || {
            format!(
                "d = {d}, n = {n}, L = 1, ε = {ε}, λ₀ = {λ0:.4}: A = {a:.4?}, C = {c:.4?} by rows, λ_min(C) = {:.4}, nλ₀ − 4ndLε = {room:.4}",
                least(&c)
            )
        })
    };
    // d = 1, one tuple: φ = 0.7 and φ̂ = 0.7 − ε: A = 0.49, λ₀ = 0.98.
    for ε in [0.001, 0.1, 0.3] {
        case(&[0.7, -1.0], 1, ε);
    }
    for d in [1usize, 2] {
        for (k, ε) in [0.01, 0.1, 0.3].into_iter().enumerate() {
            let stream = Stream::new(13).index(d as u64).index(k as u64);
            climb(8 * d, budget.pick(100, 4000), stream, &mut |x| case(x, d, ε));
        }
    }
    search.verdict()
}

/// Matrices closer to singular than this, by tuple, have no inverse worth comparing.
const SINGULAR: f64 = 1e-6;

/// One tuple of d = 1 or 2 features linear in the state, and its estimate.
struct Moment {
    γ: f64,
    lipschitz: f64,
    limit: f64,
    weight_sum: f64,
    ε_s: f64,
    ε_r: f64,
}

impl Moment {
    fn corrected(&self) -> f64 {
        self.ε_r + self.γ * self.lipschitz * self.weight_sum * self.ε_s + self.limit * self.lipschitz * self.ε_s
    }
}

/// ‖b − d‖∞/n for φ(s) = L·s (by coordinate), f = wᵀφ, one action, |f| ≤ V, R = (1−γ)V.
fn moments(budget: Budget, right: fn(&Moment) -> f64) -> Verdict {
    let mut search = Search::new();
    let mut case = |s: &[f64], next: &[f64], s_hat: &[f64], next_hat: &[f64], w: &[f64], r: f64, r_hat: f64, γ: f64| {
        let less = |x: &[f64], y: &[f64]| -> Vec<f64> { x.iter().zip(y).map(|(x, y)| x - y).collect() };
        let gap = |x: &[f64], y: &[f64]| sup(&less(x, y));
        // sy − ŝŷ = (s − ŝ)y + ŝ(y − ŷ): differences are taken where they are small, so that no digits cancel when they are tiny.
        let y = r + γ * dot(w, next);
        let off = (r - r_hat) + γ * dot(w, &less(next, next_hat));
        let left = sup(&less(s, s_hat).iter().zip(s_hat).map(|(by, t)| by * y + t * off).collect::<Vec<_>>());
        let weight_sum: f64 = w.iter().map(|x| x.abs()).sum();
        let moment = Moment {
            γ,
            lipschitz: 1.0,
            // |wᵀs| ≤ ‖w‖₁ on the box, and the reward is at most (1−γ)‖w‖₁.
            limit: weight_sum,
            weight_sum,
            ε_s: gap(s, s_hat).max(gap(next, next_hat)),
            ε_r: (r - r_hat).abs(),
        };
        search.case(left, right(&moment), || {
            format!("n = 1, φ(s) = s, γ = {γ:.2}: s = {s:.3?}, s′ = {next:.3?}, ŝ = {s_hat:.3?}, ŝ′ = {next_hat:.3?}, w = {w:.3?}, r = {r:.3}, r̂ = {r_hat:.3}")
        })
    };
    case(&[1.0], &[1.0], &[0.99], &[0.99], &[10.0], 1.0, 1.0, 0.9);
    for (k, d) in [1usize, 2].into_iter().enumerate() {
        climb(5 * d + 3, budget.pick(400, 20_000), Stream::new(14).index(k as u64), &mut |x| {
            let (ε, γ) = (0.01, 0.5 + 0.45 * x[5 * d].clamp(-1.0, 1.0));
            let box_of = |block: usize| -> Vec<f64> { (0..d).map(|j| x[block * d + j].clamp(-1.0, 1.0)).collect() };
            let moved = |from: &[f64], by: Vec<f64>| -> Vec<f64> {
                from.iter().zip(by).map(|(s, e)| (s + ε * e).clamp(-1.0, 1.0)).collect()
            };
            let (s, next) = (box_of(0), box_of(1));
            let (s_hat, next_hat) = (moved(&s, box_of(2)), moved(&next, box_of(3)));
            let w: Vec<f64> = box_of(4).iter().map(|x| 10.0 * x).collect();
            let bound = (1.0 - γ) * w.iter().map(|x| x.abs()).sum::<f64>();
            let r = bound * x[5 * d + 1].clamp(-1.0, 1.0);
            let r_hat = (r + ε * x[5 * d + 2].clamp(-1.0, 1.0)).clamp(-bound, bound);
            case(&s, &next, &s_hat, &next_hat, &w, r, r_hat, γ)
        });
    }
    search.verdict()
}

/// The two sides of the equality in the middle of D16, with `eight` for its second constant.
fn algebra(eight: f64) -> Verdict {
    let mut equal = Equalities::new();
    let mut rng = Stream::new(16).rng();
    for _ in 0..200 {
        let (d, l, λ0, v) = (
            between(&mut rng, 1.0, 9.0),
            between(&mut rng, 0.1, 2.0),
            between(&mut rng, 0.2, 1.0),
            between(&mut rng, 0.5, 5.0),
        );
        let ε = between(&mut rng, 0.0, 0.9) * λ0 / (4.0 * d * l);
        let (x, n) = (1.0 + 0.7 * l + l * v, 10.0);
        let a_inv = 2.0 / (n * λ0);
        let c_inv = 2.0 / (n * λ0 - 4.0 * n * d * l * ε);
        let left = a_inv * x * n * ε + a_inv * 2.0 * n * d * l * ε * c_inv * (x * n * ε + n * v);
        let right = 2.0 * ε * x / (λ0 - 4.0 * d * l * ε) + eight * d * l * ε * v / (λ0 * (λ0 - 4.0 * d * l * ε));
        // Cancellation in λ₀ − 4dLε costs at most one digit, as ε stays below 0.9 of its limit.
        equal.case(left / right, 1.0, 100.0 * EQUAL, || {
            format!("d = {d:.3}, L = {l:.3}, λ₀ = {λ0:.3}, V = {v:.3}, ε = {ε:.4}, γ = 0.7")
        });
    }
    equal.verdict()
}

/// One state, one feature φ ≡ 1 (so L may be taken as small as one likes), rewards off by ε: |ŵ − w| = ε.
fn one_state(bound: fn(f64, f64, f64, f64, f64, f64) -> f64) -> Verdict {
    let mut search = Search::new();
    for (l, r) in [(1e-8, 1.0), (1e-12, 1.0), (1.0, 1e-8)] {
        let ε = 0.01 * r;
        let learned = |r: f64| fitted_q(1, &[(0, 0, r, 0), (0, 1, r, 0)], 0.9, 1)[0];
        search.case((learned(r + ε) - learned(r)).abs(), bound(1.0, l, r, ε, 1.0, 0.9), || {
            format!("one state, φ ≡ 1, d = 1, λ₀ = 1, γ = 0.9, r ≡ {r:e}, r̂ = r + ε, ε = {ε:e}, any L ≥ 0, L = {l:e} say: |ŵ − w| = ε")
        });
    }
    search.verdict()
}
