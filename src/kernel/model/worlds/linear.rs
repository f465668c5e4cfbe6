//! The linear world of supplement F.2.

use super::{World, paper_behaviour};
use crate::model::Mechanism;

/// The paper's linear setting with strength δ of the sensitive attribute.
///
/// # Equation
/// ```text
/// S₁ = −0.3 + δ Z + U₁
/// Sₜ = −0.3 + δ (Z−½) + 0.5 Sₜ₋₁ + 0.4 (Aₜ₋₁−½) + 0.3 Sₜ₋₁(Aₜ₋₁−½) + 0.3 δ Sₜ₋₁(Z−½) + 0.4 δ (Z−½)(Aₜ₋₁−½) + Uₜ
/// Rₜ = −0.3 + 0.3 Sₜ + 0.5 δ Z + 0.5 Aₜ + 0.2 δ Sₜ Z + 0.7 Sₜ Aₜ − δ Z Aₜ
/// ```
/// where Uₜ ~ N(0, 1), P(Z = 1) = ½ and P(A = 1 | Z) = expit(−1.39 + 2.77 Z). The reward has no noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    strength: f64,
    initial: [[f64; 1]; 2],
}

impl Linear {
    /// The world at strength δ.
    pub fn new(strength: f64) -> Self {
        Self { strength, initial: [[-0.3], [-0.3 + strength]] }
    }
}

impl Mechanism for Linear {
    fn state_dim(&self) -> usize {
        1
    }

    fn levels(&self) -> usize {
        2
    }

    fn actions(&self) -> usize {
        2
    }

    fn initial_mean(&self, level: usize) -> &[f64] {
        &self.initial[level]
    }

    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        let (δ, z) = (self.strength, level as f64);
        let z_mid = z - 0.5;
        for (((&s, &a), s_next), r) in states.iter().zip(actions).zip(next).zip(rewards) {
            let a = f64::from(a);
            let a_mid = a - 0.5;
            *s_next = -0.3
                + δ * z_mid
                + 0.5 * s
                + 0.4 * a_mid
                + 0.3 * s * a_mid
                + 0.3 * δ * s * z_mid
                + 0.4 * δ * z_mid * a_mid;
            *r = -0.3 + 0.3 * s + 0.5 * δ * z + 0.5 * a + 0.2 * δ * s * z + 0.7 * s * a - δ * z * a;
        }
    }
}

impl World for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn level_probabilities(&self) -> &[f64] {
        &[0.5, 0.5]
    }

    fn behaviour(&self, level: usize, _state: &[f64], probabilities: &mut [f64]) {
        paper_behaviour(level as f64, probabilities);
    }

    fn state_noise_sd(&self) -> &[f64] {
        &[1.0]
    }

    fn reward_noise_sd(&self) -> f64 {
        0.0
    }
}
