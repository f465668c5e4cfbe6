//! The non-linear world of supplement F.2.

use super::{World, paper_behaviour};
use crate::model::Mechanism;

/// The paper's non-linear setting with strength δ of the sensitive attribute.
///
/// # Equation
/// ```text
/// S₁ = −0.7 + 0.8 Z + U₁
/// Sₜ = −1 + 0.8 δ Z + 0.4 (Aₜ₋₁−½) + 0.4 δ Z(Aₜ₋₁−½) + g(Sₜ₋₁) (0.25 + 0.15 (Aₜ₋₁−½) + 0.15 δ Z) + Uₜ
/// Rₜ = −0.2 + 0.3 Sₜ + 0.8 δ Z + 0.8 Aₜ − 0.6 δ Sₜ Z − 0.7 Sₜ Aₜ − 1.6 δ Z Aₜ
/// ```
/// where g(s) = sin s + cos s, Uₜ ~ N(0, 1), P(Z = 1) = ½ and P(A = 1 | Z) = expit(−1.39 + 2.77 Z). The first state does not
/// depend on δ, so the two worlds start 0.8 apart even at δ = 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Nonlinear {
    strength: f64,
}

impl Nonlinear {
    /// The world at strength δ.
    pub fn new(strength: f64) -> Self {
        Self { strength }
    }
}

impl Mechanism for Nonlinear {
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
        const INITIAL: [[f64; 1]; 2] = [[-0.7], [-0.7 + 0.8]];
        &INITIAL[level]
    }

    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        let (δ, z) = (self.strength, level as f64);
        for (((&s, &a), s_next), r) in states.iter().zip(actions).zip(next).zip(rewards) {
            let a = f64::from(a);
            let a_mid = a - 0.5;
            let (sin, cos) = s.sin_cos();
            let wave = sin + cos;
            *s_next =
                -1.0 + 0.8 * δ * z + 0.4 * a_mid + 0.4 * δ * z * a_mid + wave * (0.25 + 0.15 * a_mid + 0.15 * δ * z);
            *r = -0.2 + 0.3 * s + 0.8 * δ * z + 0.8 * a - 0.6 * δ * s * z - 0.7 * s * a - 1.6 * δ * z * a;
        }
    }
}

impl World for Nonlinear {
    fn name(&self) -> &'static str {
        "nonlinear"
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::tolerance::{ROUNDING, close};
    use std::f64::consts::FRAC_PI_6;

    #[test]
    fn means_are_those_of_the_equation() {
        // At δ = 0.75, written out for each level and action: next states as (constant, factor of g), rewards as (constant, factor of s).
        let world = Nonlinear::new(0.75);
        let root = 3f64.sqrt();
        for (level, action, [constant, wave], [reward, slope]) in [
            (0, 0, [-1.2, 0.175], [-0.2, 0.3]),
            (0, 1, [-0.8, 0.325], [0.6, -0.4]),
            (1, 0, [-0.75, 0.2875], [0.4, -0.15]),
            (1, 1, [-0.05, 0.4375], [0.0, -0.85]),
        ] {
            // sin + cos at π/6 and at 2π/3.
            let (states, g) = ([FRAC_PI_6, 4.0 * FRAC_PI_6], [(1.0 + root) / 2.0, (root - 1.0) / 2.0]);
            let (mut next, mut rewards) = ([0.0; 2], [0.0; 2]);
            world.mean(level, &states, &[action; 2], &mut next, &mut rewards);
            for i in 0..2 {
                assert!(close(next[i], constant + wave * g[i], ROUNDING), "level {level}, action {action}: {next:?}");
                assert!(
                    close(rewards[i], reward + slope * states[i], ROUNDING),
                    "level {level}, action {action}: {rewards:?}"
                );
            }
        }
    }
}
