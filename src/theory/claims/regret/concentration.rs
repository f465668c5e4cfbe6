//! D7, D20 and the count of tuples: what is random about the design and the noise, with probabilities in closed form.

use crate::theory::claims::search::Search;
use crate::theory::claims::{Budget, Claim, Expected, Verdict};
use statrs::function::gamma::ln_gamma;

pub(super) const CLAIMS: &[Claim] = &[
    Claim::printed(
        "D7",
        "P(λ_min(A) ≥ nλ₀/2) ≤ d·exp(−nλ₀/8)",
        &["asm:coverage", "i.i.d. tuples"],
        Expected::Refuted,
        |_| constant_feature(|success, bound| (success, bound)),
        |_| repaired_event(),
    )
    .at(729, r"P(\lambda_{\min}(A) \geq n\lambda_0/2) \leq d \exp(-n\lambda_0/8)"),
    Claim::implied(
        "X3",
        "P(λ_min(A) < nλ₀/2) ≤ d·exp(−nλ₀/8) under ‖φ‖∞ ≤ 1",
        &["asm:coverage", "i.i.d. tuples", "the sign of D7 repaired"],
        Expected::Refuted,
        |budget| hadamard_design(budget, |_, n, d| d * f64::exp(-n / 8.0)),
        |budget| hadamard_design(budget, |r2_squared, n, d| d * f64::exp(-CHERNOFF * n / r2_squared)),
    )
    .at(729, r"d \exp(-n\lambda_0/8)"),
    Claim::ours(
        "X3",
        "P(λ_min(A) < nλ₀/2) ≤ d·exp(−((1−ln 2)/2) nλ₀/R₂²)",
        &["asm:coverage", "i.i.d. tuples", "R₂ = sup‖φ‖₂"],
        Expected::NotRefuted,
        |budget| hadamard_design(budget, |r2_squared, n, d| d * f64::exp(-CHERNOFF * n / r2_squared)),
        |budget| hadamard_design(budget, |r2_squared, n, d| d * f64::exp(-CHERNOFF * n / r2_squared.sqrt())),
    )
    .at(729, r"d \exp(-n\lambda_0/8)"),
    Claim::implied(
        "X4",
        "the bound holds with n = NT tuples of N trajectories",
        &["asm:coverage"],
        Expected::Refuted,
        |_| frozen_chains(|_, tuples| tuples),
        |_| frozen_chains(|people, _| people),
    )
    .at(375, r"the number of experience tuples in the dataset, i.e., $n = NT$"),
    Claim::ours(
        "X4",
        "the bound holds for trajectories with N, not NT, in the exponent",
        &["asm:coverage of the time-averaged law", "N independent people"],
        Expected::NotRefuted,
        |_| frozen_chains(|people, _| people),
        |_| frozen_chains(|people, _| 10.0 * people),
    )
    .at(375, r"the number of experience tuples in the dataset, i.e., $n = NT$"),
    Claim::printed(
        "D17",
        "P(‖w_fᵀφ − T f‖∞ ≥ δ) ≤ 6d·exp(−λ₀²nδ²/(5184d²(R+𝓑)²)): true where it can be evaluated, and far from tight",
        &["d = 1", "γ = 0", "φ ≡ 1", "rewards ±1", "quoted from Hu et al. (2024), Lemma 7"],
        Expected::NotRefuted,
        |_| quoted_tail(5184.0),
        |_| quoted_tail(0.5),
    )
    .at(794, r"6d\exp\left(-\frac{\lambda_0^2}{5184d^2(R_{\max}+\mathcal{B})^2}n\delta^2\right)"),
    Claim::implied(
        "D20",
        "P(error > C R κ log n/√n) ≤ n^{−κ} for any κ > 0 with one C for all κ (here C up to 1000)",
        &["d = 1", "γ = 0", "φ = 1", "rewards ±1"],
        Expected::Refuted,
        |_| any_exponent(false),
        |_| any_exponent(true),
    )
    .at(384, r"for any $\kappa > 0$, some positive constant $C>0$"),
    Claim::ours(
        "D20",
        "P(error > R(√d + √(2x))/√(n λ_min(A)/n)) ≤ e^{−x} for every x > 0",
        &["fixed f", "bounded independent noise"],
        Expected::NotRefuted,
        |budget| sign_sums(budget, 1.0),
        |budget| sign_sums(budget, 0.4),
    )
    .at(384, r"for any $\kappa > 0$, some positive constant $C>0$"),
];

/// (1 − ln 2)/2, the exponent of the matrix Chernoff bound at half the mean (Tropp 2012).
pub(in crate::theory::claims) const CHERNOFF: f64 = (1.0 - std::f64::consts::LN_2) / 2.0;

/// d = 1 and φ ≡ 1: λ_min(A) = n for sure.
fn constant_feature(sides: fn(f64, f64) -> (f64, f64)) -> Verdict {
    let mut search = Search::new();
    for n in [10.0, 100.0, 1000.0] {
        let (left, right) = sides(1.0, f64::exp(-n / 8.0));
        search.case(left, right, || {
            format!("d = 1, φ ≡ 1, λ₀ = 1, n = {n}: λ_min(A) = n with probability 1, exp(−n/8) = {right:.2e}")
        });
    }
    search.verdict()
}

/// φ one-hot on two equally likely points, R₂ = 1: the complement of the event, whose probability is positive and known.
fn repaired_event() -> Verdict {
    let mut search = Search::new();
    for n in [16usize, 32, 64, 128] {
        // λ₀ = ½; λ_min(A) < n/4 ⇔ some point is drawn fewer than n/4 times.
        let failure = thin_cell(2, n, n.div_ceil(4));
        search.case(failure, 2.0 * f64::exp(-(n as f64) / 16.0), || {
            format!("φ one-hot on two points, λ₀ = ½, n = {n}: P(λ_min(A) < nλ₀/2) = {failure:.3e}")
        });
    }
    search.verdict()
}

/// P(some of d equally likely cells is hit fewer than `least` times in n draws).
///
/// # Equation
/// ```text
/// P(all ≥ least) = P(Σ Nᵢ = n, all Nᵢ ≥ least) / P(Σ Nᵢ = n),   Nᵢ independent Poisson(n/d)
/// ```
pub(in crate::theory::claims) fn thin_cell(d: usize, n: usize, least: usize) -> f64 {
    let mean = n as f64 / d as f64;
    let poisson = |mean: f64, k: usize| (k as f64 * mean.ln() - mean - ln_gamma(k as f64 + 1.0)).exp();
    let mut total = vec![0.0; n + 1];
    total[0] = 1.0;
    for _ in 0..d {
        let mut next = vec![0.0; n + 1];
        for (have, p) in total.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            for k in least..=n - have.min(n) {
                let q = poisson(mean, k);
                next[have + k] += p * q;
                // Beyond the mode terms only fall; what is left is below rounding.
                if k as f64 > mean && q < f64::EPSILON * 1e-4 {
                    break;
                }
            }
        }
        total = next;
    }
    1.0 - total[n] / poisson(n as f64, n)
}

/// Rows of a Hadamard matrix drawn uniformly: λ₀ = 1, R₂² = d, and λ_min(A) = d · (least count).
fn hadamard_design(budget: Budget, bound: fn(f64, f64, f64) -> f64) -> Verdict {
    let mut search = Search::new();
    let sizes: &[usize] = budget.pick(&[2, 4, 8, 16, 32], &[2, 4, 8, 16, 32, 64, 128]);
    for &d in sizes {
        for multiple in [2, 4, 8, 16, 32] {
            let n = d * multiple;
            // λ_min < n/2 ⇔ some count < n/(2d).
            let failure = thin_cell(d, n, n.div_ceil(2 * d));
            let bound = bound(d as f64, n as f64, d as f64);
            // A probability is below 1 without our help.
            if bound >= 1.0 {
                continue;
            }
            search.case(failure, bound, || {
                format!("{n} rows drawn uniformly from the {d} rows of a Hadamard matrix, λ₀ = 1: some row is drawn fewer than {} times", n.div_ceil(2 * d))
            });
        }
    }
    search.verdict()
}

/// Chains that never move: φ = e_X with X uniform on d points, constant along each of N trajectories of length T.
fn frozen_chains(effective: fn(f64, f64) -> f64) -> Verdict {
    let mut search = Search::new();
    for (d, people, horizon) in [(2usize, 1usize, 1000usize), (2, 20, 50), (2, 100, 20), (4, 200, 10), (8, 400, 5)] {
        // λ₀ = 1/d, R₂ = 1; T·(count of chains at a point) < NT/(2d) ⇔ count < N/(2d).
        let failure = thin_cell(d, people, people.div_ceil(2 * d));
        let size = effective(people as f64, (people * horizon) as f64);
        let bound = d as f64 * (-CHERNOFF * size / d as f64).exp();
        if bound >= 1.0 {
            continue;
        }
        search.case(failure, bound, || {
            format!("d = {d}, N = {people} frozen chains of length T = {horizon}, λ₀ = 1/{d}: P(fewer than N/(2d) chains at a point)")
        });
    }
    search.verdict()
}

/// n odd: the mean of n signs is never within 1/n of zero. `κ` is chosen below, or well above, what C allows.
fn any_exponent(large: bool) -> Verdict {
    let mut search = Search::new();
    let n = 10_001.0f64;
    for constant in [10.0f64, 100.0, 1000.0] {
        let κ = if large { 2.0 } else { 0.9 / (constant * n.sqrt() * n.ln()) };
        let radius = constant * κ * n.ln() / n.sqrt();
        // P(|mean| ≤ radius) is 0 below 1/n; from Hoeffding it is at least 1 − 2exp(−n radius²/2).
        let inside = if radius < 1.0 / n { 0.0 } else { (1.0 - 2.0 * (-n * radius * radius / 2.0).exp()).max(0.0) };
        let claimed = 1.0 - n.powf(-κ);
        search.case(claimed, inside, || {
            format!("n = 10001 rewards ±1, C = {constant}, κ = {κ:.2e}: |mean| ≥ 1/n > radius {radius:.2e}, so the probability claimed to be at least {claimed:.2e} is 0")
        });
    }
    search.verdict()
}

/// P(a sum of n signs is n − 2k), for k = 0 … n.
fn sign_law(n: usize) -> Vec<f64> {
    let log_choose = |k: usize| ln_gamma(n as f64 + 1.0) - ln_gamma(k as f64 + 1.0) - ln_gamma((n - k) as f64 + 1.0);
    (0..=n).map(|k| (log_choose(k) - n as f64 * std::f64::consts::LN_2).exp()).collect()
}

/// P(|mean of n signs| ≥ δ) against 6·exp(−nδ²/constant): d = λ₀ = R = 1, 𝓑 = 0.
fn quoted_tail(constant: f64) -> Verdict {
    let mut search = Search::new();
    for n in [4usize, 25, 100, 400] {
        let law = sign_law(n);
        for step in 1..=10 {
            let δ = f64::from(step) / 10.0;
            // A sum that should equal nδ may fall short of it by rounding.
            let reached = |k: &usize| (n as f64 - 2.0 * *k as f64).abs() >= n as f64 * δ * (1.0 - f64::EPSILON * 4.0);
            let tail: f64 = (0..=n).filter(reached).map(|k| law[k]).sum();
            search.case(tail, 6.0 * (-(n as f64) * δ * δ / constant).exp(), || {
                format!("{n} rewards ±1, γ = 0, φ ≡ 1, R = 1, 𝓑 = 0, δ = {δ}: P(|mean| ≥ δ) by the binomial law, {constant} in the exponent")
            });
        }
    }
    search.verdict()
}

/// P(|Σ ε|/√n > shrink·(1 + √(2x))) against e^{−x}, exactly, for n signs.
fn sign_sums(budget: Budget, shrink: f64) -> Verdict {
    let mut search = Search::new();
    for n in [1usize, 2, 5, 11, 40, 101, 400] {
        let weights = sign_law(n);
        for step in 1..=budget.pick(40, 400) {
            let x = step as f64 * budget.pick(0.1, 0.02);
            let radius = shrink * (1.0 + (2.0 * x).sqrt());
            let beyond = |k: &usize| (n as f64 - 2.0 * *k as f64).abs() / (n as f64).sqrt() > radius;
            let tail: f64 = (0..=n).filter(beyond).map(|k| weights[k]).sum();
            search.case(tail, (-x).exp(), || {
                format!("{n} signs, x = {x:.2}: P(|Σε|/√n > {radius:.3}) by the binomial law")
            });
        }
    }
    search.verdict()
}
