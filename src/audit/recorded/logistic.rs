//! Multinomial logistic regression with weights and a faint prior: who acts how, who stays.

use crate::kernel::numeric::{RidgeFactor, tolerance};

/// P(y | x) ∝ exp(β_yᵀx) with β₀ = 0.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Logistic {
    outcomes: usize,
    width: usize,
    /// `width` numbers for each outcome but the first.
    pub weights: Vec<f64>,
}

/// Rows with outcomes and weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choices<'a> {
    /// Row-major, the first column 1.
    pub design: &'a [f64],
    /// Numbers per row.
    pub width: usize,
    /// The outcome of each row.
    pub taken: &'a [u32],
    /// Number of outcomes.
    pub outcomes: usize,
}

/// Newton steps at most; regular fits take under ten.
const STEPS: usize = 40;

/// Precision of the normal prior on slopes of standardised columns: a slope of 3 costs half a unit of log-likelihood. It moves no
/// estimate that data determine, and keeps log-odds finite where actions are told apart without error.
const PRIOR: f64 = 0.1;

impl Logistic {
    /// The maximum of Σ v log P(y | x) − PRIOR/2 Σ slopes².
    pub fn fit(choices: Choices<'_>, weights: &[f64]) -> Self {
        let side = (choices.outcomes - 1) * choices.width;
        let mut model = Self { outcomes: choices.outcomes, width: choices.width, weights: vec![0.0; side] };
        let mut now = model.curvature(choices, weights);
        for _ in 0..STEPS {
            let Some((step, gain)) = newton_step(&now, side) else { break };
            if gain <= tolerance::LIKELIHOOD_GAIN {
                break;
            }
            let start = model.weights.clone();
            let mut length = 1.0f64;
            loop {
                for ((w, from), s) in model.weights.iter_mut().zip(&start).zip(&step) {
                    *w = length.mul_add(*s, *from);
                }
                let next = model.curvature(choices, weights);
                if next.objective >= now.objective || length < tolerance::NEWTON_STEP {
                    now = next;
                    break;
                }
                length /= 2.0;
            }
        }
        model
    }

    /// One Newton step from here under other weights: what a refit on resampled people would give, to first order.
    pub fn refitted(&self, choices: Choices<'_>, weights: &[f64]) -> Self {
        let mut model = self.clone();
        if let Some((step, _)) = newton_step(&self.curvature(choices, weights), self.weights.len()) {
            model.weights.iter_mut().zip(&step).for_each(|(w, s)| *w += s);
        }
        model
    }

    /// P(· | x), written over `out`.
    pub fn probabilities(&self, x: &[f64], out: &mut [f64]) {
        out[0] = 0.0;
        for (score, β) in out[1..].iter_mut().zip(self.weights.chunks_exact(self.width)) {
            *score = β.iter().zip(x).map(|(β, x)| β * x).sum();
        }
        let largest = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        out.iter_mut().for_each(|p| *p = (*p - largest).exp());
        let sum: f64 = out.iter().sum();
        out.iter_mut().for_each(|p| *p /= sum);
    }

    /// Σ v log P(y | x).
    pub fn log_likelihood(&self, choices: Choices<'_>, weights: &[f64]) -> f64 {
        let mut p = vec![0.0; self.outcomes];
        let rows = choices.design.chunks_exact(self.width).zip(choices.taken).zip(weights);
        rows.map(|((x, &y), v)| {
            self.probabilities(x, &mut p);
            if *v > 0.0 { v * p[y as usize].max(f64::MIN_POSITIVE).ln() } else { 0.0 }
        })
        .sum()
    }

    fn curvature(&self, choices: Choices<'_>, weights: &[f64]) -> Curvature {
        let (d, side) = (self.width, self.weights.len());
        let mut sums = Curvature { objective: 0.0, gradient: vec![0.0; side], hessian: vec![0.0; side * side] };
        let mut p = vec![0.0; self.outcomes];
        for ((x, &y), &v) in choices.design.chunks_exact(d).zip(choices.taken).zip(weights) {
            if v == 0.0 {
                continue;
            }
            self.probabilities(x, &mut p);
            sums.objective += v * p[y as usize].max(f64::MIN_POSITIVE).ln();
            for a in 1..self.outcomes {
                let surprise = v * (f64::from(u8::from(y as usize == a)) - p[a]);
                sums.gradient[(a - 1) * d..a * d].iter_mut().zip(x).for_each(|(g, x)| *g += surprise * x);
                for b in 1..=a {
                    let weight = v * p[a] * (f64::from(u8::from(a == b)) - p[b]);
                    for (i, xi) in x.iter().enumerate() {
                        let at = ((a - 1) * d + i) * side + (b - 1) * d;
                        let last = if a == b { i + 1 } else { d };
                        let scaled = weight * xi;
                        sums.hessian[at..at + last].iter_mut().zip(x).for_each(|(h, x)| *h += scaled * x);
                    }
                }
            }
        }
        for (j, β) in self.weights.iter().enumerate() {
            // Intercepts are all but free: frequencies are never far from what was seen.
            let prior = if j % d == 0 { PRIOR / 100.0 } else { PRIOR };
            sums.objective -= 0.5 * prior * β * β;
            sums.gradient[j] -= prior * β;
            sums.hessian[j * side + j] += prior;
        }
        sums
    }
}

/// The penalised log-likelihood with its first and (negative) second derivatives.
struct Curvature {
    objective: f64,
    gradient: Vec<f64>,
    hessian: Vec<f64>,
}

/// H⁻¹g and what it promises to gain.
fn newton_step(at: &Curvature, side: usize) -> Option<(Vec<f64>, f64)> {
    let mut step = at.gradient.clone();
    RidgeFactor::new(&at.hessian, &vec![0.0; side])?.solve_in_place(&mut step);
    let gain = step.iter().zip(&at.gradient).map(|(s, g)| s * g).sum();
    Some((step, gain))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAKEN: [u32; 10] = [1, 0, 1, 2, 1, 0, 1, 2, 1, 0];

    #[test]
    fn without_covariates_probabilities_are_weighted_frequencies() {
        let choices = Choices { design: &[1.0; 10], width: 1, taken: &TAKEN, outcomes: 3 };
        let mut weights = [100.0; 10];
        weights[3] = 300.0;
        let mut p = [0.0; 3];
        Logistic::fit(choices, &weights).probabilities(&[1.0], &mut p);
        // The prior of 0.001 against 1200 rows moves a frequency by less than 1e-5.
        for (p, count) in p.into_iter().zip([3.0, 5.0, 4.0]) {
            assert!((p - count / 12.0).abs() < 1e-5, "{p} and {count}/12");
        }
    }

    #[test]
    fn at_the_maximum_any_step_of_any_weight_lowers_the_objective() {
        let design: Vec<f64> = (0..10).flat_map(|i| [1.0, (1.7 * i as f64).sin()]).collect();
        let choices = Choices { design: &design, width: 2, taken: &TAKEN, outcomes: 3 };
        let weights: Vec<f64> = (0..10).map(|i| 1.0 + f64::from(i % 3)).collect();
        let model = Logistic::fit(choices, &weights);
        let best = model.curvature(choices, &weights).objective;
        for j in 0..4 {
            for step in [-0.01, 0.01] {
                let mut other = model.clone();
                other.weights[j] += step;
                assert!(other.curvature(choices, &weights).objective < best, "weight {j}");
            }
        }
        // One step from the fit under the same weights stays there; under others it comes near their own fit.
        let others: Vec<f64> = (0..10).map(|i| 1.0 + f64::from((i + 1) % 2) / 2.0).collect();
        let (near, exact) = (model.refitted(choices, &others), Logistic::fit(choices, &others));
        let apart = |a: &Logistic, b: &Logistic| {
            a.weights.iter().zip(&b.weights).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        assert!(apart(&model.refitted(choices, &weights), &model) < 1e-4);
        assert!(apart(&near, &exact) < 0.3 * apart(&model, &exact), "{near:?} and {exact:?}");
    }

    #[test]
    fn actions_told_apart_without_error_leave_the_weights_finite() {
        let design: Vec<f64> = (0..10).flat_map(|i| [1.0, if i < 5 { -1.0 } else { 1.0 }]).collect();
        let taken = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1];
        let model = Logistic::fit(Choices { design: &design, width: 2, taken: &taken, outcomes: 2 }, &[1.0; 10]);
        assert!(model.weights[1] > 2.0 && model.weights[1] < 10.0, "{model:?}");
    }
}
