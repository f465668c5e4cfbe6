//! Lemma P, the perturbation of least squares that replaces D6 … D16.
//!
//! # Equation
//! ```text
//! A = Σφφᵀ, Aw = Σφy;  C = Σφ̂φ̂ᵀ ⪰ nc, Cŵ = Σφ̂ŷ;  x = (ŷ − y) + (φ − φ̂)ᵀw,  ρ = y − φᵀw:
//! ‖ŵ − w‖₂ ≤ ‖x‖₂/√(nc) + ‖Σ(φ̂ − φ)ρ‖₂/(nc) ≤ (δ_y + δ_φ‖w‖₂)/√c + δ_φ RMS(ρ)/c
//! ```
//! where δ_y = max|ŷ − y| and δ_φ = max‖φ̂ − φ‖₂.

use super::regret::second_moment;
use super::search::{Search, climb, each_halved};
use super::{Budget, Claim, Expected, Verdict};
use crate::kernel::numeric::Stream;
use crate::kernel::numeric::small;
use crate::kernel::numeric::small::{dot, norm};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::ours(
        "lemma:P",
        "‖ŵ − w‖₂ ≤ ‖x‖₂/√(nc) + ‖Σ(φ̂−φ)ρ‖₂/(nc), both terms attained",
        &["C = Σφ̂φ̂ᵀ ⪰ nc", "A ≻ 0"],
        Expected::NotRefuted,
        |budget| fuzz(budget, |case| case.fine([1.0; 2])),
        |budget| each_halved(|constants| fuzz(budget, |case| case.fine(constants))),
    ),
    Claim::ours(
        "lemma:P",
        "‖ŵ − w‖₂ ≤ (δ_y + δ_φ‖w‖₂)/√c + δ_φ RMS(ρ)/c, all three terms attained",
        &["C = Σφ̂φ̂ᵀ ⪰ nc", "A ≻ 0", "|ŷ − y| ≤ δ_y", "‖φ̂ − φ‖₂ ≤ δ_φ"],
        Expected::NotRefuted,
        |budget| fuzz(budget, |case| case.coarse([1.0; 3])),
        |budget| each_halved(|constants| fuzz(budget, |case| case.coarse(constants))),
    ),
];

/// Gram matrices with a smaller least eigenvalue, by row, lose more digits in a solve than the comparison allows.
const SINGULAR: f64 = 1e-4;

/// Two regressions on n rows of d features.
struct Pair {
    n: f64,
    c: f64,
    apart: f64,
    x: Vec<f64>,
    spread: Vec<f64>,
    residual: Vec<f64>,
    weight: f64,
    target_error: f64,
    feature_error: f64,
}

impl Pair {
    /// `None` when a Gram matrix is too close to singular for its solution to be worth anything.
    fn new(φ: &[f64], φ_hat: &[f64], y: &[f64], y_hat: &[f64], d: usize) -> Option<Self> {
        let n = y.len() as f64;
        let (a, c) = (second_moment(φ, d), second_moment(φ_hat, d));
        let least = |m: &[f64]| small::symmetric_eigenvalues(m, d)[0] / n;
        if least(&a) < SINGULAR || least(&c) < SINGULAR {
            return None;
        }
        let moment = |φ: &[f64], y: &[f64]| -> Vec<f64> {
            (0..d).map(|j| φ.chunks_exact(d).zip(y).map(|(φ, y)| φ[j] * y).sum()).collect()
        };
        let w = small::solve(&a, &moment(φ, y))?;
        let w_hat = small::solve(&c, &moment(φ_hat, y_hat))?;
        let residual: Vec<f64> = φ.chunks_exact(d).zip(y).map(|(φ, y)| y - dot(φ, &w)).collect();
        let moved: Vec<f64> = φ_hat.iter().zip(φ).map(|(h, φ)| h - φ).collect();
        let x = moved.chunks_exact(d).zip(y_hat.iter().zip(y)).map(|(m, (h, y))| h - y - dot(m, &w)).collect();
        Some(Self {
            n,
            c: least(&c),
            apart: norm(&w_hat.iter().zip(&w).map(|(a, b)| a - b).collect::<Vec<_>>()),
            x,
            spread: moment(&moved, &residual),
            residual,
            weight: norm(&w),
            target_error: y_hat.iter().zip(y).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max),
            feature_error: moved.chunks_exact(d).map(norm).fold(0.0, f64::max),
        })
    }

    /// The finer right side, with constants before its two terms.
    fn fine(&self, [a, b]: [f64; 2]) -> f64 {
        a * norm(&self.x) / (self.n * self.c).sqrt() + b * norm(&self.spread) / (self.n * self.c)
    }

    /// The coarser right side, with constants before its three terms.
    fn coarse(&self, [a, b, c]: [f64; 3]) -> f64 {
        let mean_square = dot(&self.residual, &self.residual) / self.n;
        let first = (a * self.target_error + b * self.feature_error * self.weight) / self.c.sqrt();
        first + c * self.feature_error * mean_square.sqrt() / self.c
    }
}

fn fuzz(budget: Budget, bound: impl Fn(&Pair) -> f64) -> Verdict {
    let mut search = Search::new();
    let mut case = |φ: &[f64], φ_hat: &[f64], y: &[f64], y_hat: &[f64], d: usize| {
        Pair::new(φ, φ_hat, y, y_hat, d).map_or(0.0, |pair| {
            search.case(pair.apart, bound(&pair), || {
                format!(
                    "d = {d}: φ = {φ:.3?}, φ̂ = {φ_hat:.3?} by rows, y = {y:.3?}, ŷ = {y_hat:.3?}; c = {:.4}",
                    pair.c
                )
            })
        })
    };
    // Hadamard rows, exact features, targets off by a sign pattern in the span: equality.
    let hadamard: Vec<f64> =
        (0..16u32).map(|k| if ((k / 4) & (k % 4)).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 }).collect();
    case(&hadamard, &hadamard, &[0.0; 4], &[0.01, 0.01, -0.01, -0.01], 4);
    // One row, φ = 1 read as 0.9, y = 1: w = 1, ŵ = 1/0.9.
    case(&[1.0], &[0.9], &[1.0], &[1.0], 1);
    // Two rows φ = 1 read as 1.1 and 0.9, y = ±1: w = 0 and the residuals are all there is.
    case(&[1.0, 1.0], &[1.1, 0.9], &[1.0, -1.0], &[1.0, -1.0], 1);
    // Near-collinear features.
    let collinear = [1.0, 1.0, 1.0, 0.9, 1.0, 0.95];
    case(&collinear, &collinear.map(|x| x * 0.99), &[1.0, -1.0, 0.3], &[1.0, -1.0, 0.31], 2);
    for (k, (d, n)) in [(1usize, 2usize), (2, 3), (2, 5), (3, 6)].into_iter().enumerate() {
        for start in 0..budget.pick(2, 20) {
            let stream = Stream::new(31).index(k as u64).index(start);
            let size = [0.3, 0.05][(start % 2) as usize];
            climb(2 * n * (d + 1), budget.pick(600, 20_000), stream, &mut |x| {
                let (φ, rest) = x.split_at(n * d);
                let (moves, rest) = rest.split_at(n * d);
                let (y, errors) = rest.split_at(n);
                let near =
                    |at: &[f64], by: &[f64]| -> Vec<f64> { at.iter().zip(by).map(|(a, b)| a + size * b).collect() };
                case(φ, &near(φ, moves), y, &near(y, errors), d)
            });
        }
    }
    search.verdict()
}
