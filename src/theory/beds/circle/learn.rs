//! Fitted Q iteration on the circle, in the features that make it complete.

use super::{Circle, CircleFit, Weights};
use crate::kernel::learn::features::FeatureMap;
use crate::kernel::learn::{Clipping, FittedQError, Settings, fitted_q_iteration};
use crate::kernel::preprocess::{Experience, View};

/// (1 ± cos(s₁ − s₀))/2 ⊗ (1, cos s₀, sin s₀): six features per action.
#[derive(Debug, Clone, Copy)]
pub struct Harmonics;

impl Harmonics {
    /// sup‖φ‖₂.
    pub const SIZE: f64 = std::f64::consts::SQRT_2;
    /// ‖φ(s) − φ(s′)‖₂ ≤ 3 max|s − s′|: the blocks move by (ε, −ε)·(1, cos, sin) at most, and (1, cos, sin) by ε.
    pub const STEEPEST: f64 = 3.0;

    /// The features of the states s₀ and s₁ of one person's two worlds.
    pub fn at(s0: f64, s1: f64) -> [f64; 6] {
        let near = (1.0 + (s1 - s0).cos()) / 2.0;
        let v = [1.0, s0.cos(), s0.sin()];
        std::array::from_fn(|k| [near, 1.0 - near][k / 3] * v[k % 3])
    }
}

impl FeatureMap for Harmonics {
    fn inputs(&self) -> usize {
        2
    }

    fn count(&self) -> usize {
        6
    }

    fn fill(&self, rows: &[f64], out: &mut [f64]) {
        let n = rows.len() / 2;
        for (i, row) in rows.chunks_exact(2).enumerate() {
            Self::at(row[0], row[1]).iter().enumerate().for_each(|(k, φ)| out[k * n + i] = *φ);
        }
    }
}

impl Circle {
    /// The action value after B steps of `alg:cf:2` on pairs of states.
    ///
    /// # Errors
    /// A [`FittedQError`] when there is nothing to learn from.
    pub fn learn<V: View>(
        &self,
        experience: &Experience<V>,
        iterations: usize,
        clipping: Clipping,
    ) -> Result<Weights, FittedQError> {
        let settings = Settings { discount: self.discount, iterations, tolerance: 0.0, clipping };
        let learned = fitted_q_iteration(experience, &Harmonics, settings)?;
        let at = |k: usize| learned.q.weights()[k];
        Ok([0, 1].map(|a| [0, 1].map(|block| [0, 1, 2].map(|j| at(6 * a + 3 * block + j)))))
    }
}

impl CircleFit {
    /// The same means, off by `by` at level 1 however many people there are: in m̂₁ and in the increment of the second action.
    pub fn off_at_level_one(mut self, by: f64) -> Self {
        self.initial[1][0] += by;
        self.increments[1][1] += by;
        self
    }
}
