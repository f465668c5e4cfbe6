//! A contextual bandit: one decision, one context, one reward.

use super::{World, expit};
use crate::model::Mechanism;

/// A single-stage world (T = 1) in which FLAP is enough.
///
/// # Equation
/// ```text
/// X = 0.2 + δ Z + U,   R = 0.1 + 0.4 X + 0.6 A − 0.5 δ Z A + 0.8 X A + Uᴿ,   P(A = 1 | Z, X) = expit(0.3 X + Z − 0.5)
/// ```
/// where U ~ N(0, 1), Uᴿ ~ N(0, 0.5²) and P(Z = 1) = 0.4. A second decision, if one is asked for, meets a fresh context.
#[derive(Debug, Clone, PartialEq)]
pub struct Bandit {
    strength: f64,
    context: [[f64; 1]; 2],
}

impl Bandit {
    /// The world at strength δ.
    pub fn new(strength: f64) -> Self {
        Self { strength, context: [[0.2], [0.2 + strength]] }
    }
}

impl Mechanism for Bandit {
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
        &self.context[level]
    }

    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        let (δ, z) = (self.strength, level as f64);
        for (((&x, &a), x_next), r) in states.iter().zip(actions).zip(next).zip(rewards) {
            let a = f64::from(a);
            *x_next = self.context[level][0];
            *r = 0.1 + 0.4 * x + 0.6 * a - 0.5 * δ * z * a + 0.8 * x * a;
        }
    }
}

impl World for Bandit {
    fn name(&self) -> &'static str {
        "bandit"
    }

    fn level_probabilities(&self) -> &[f64] {
        &[0.6, 0.4]
    }

    fn behaviour(&self, level: usize, state: &[f64], probabilities: &mut [f64]) {
        let treated = expit(0.3 * state[0] + level as f64 - 0.5);
        probabilities[0] = 1.0 - treated;
        probabilities[1] = treated;
    }

    fn state_noise_sd(&self) -> &[f64] {
        &[1.0]
    }

    fn reward_noise_sd(&self) -> f64 {
        0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::tolerance::{ROUNDING, close};

    #[test]
    fn means_and_odds_are_those_of_the_equation() {
        let world = Bandit::new(0.5);
        let (mut next, mut reward) = ([0.0; 2], [0.0; 2]);
        world.mean(1, &[1.5, -0.5], &[1, 0], &mut next, &mut reward);
        assert_eq!(next, [0.7, 0.7]);
        // 0.1 + 0.6 + 0.6 − 0.25 + 1.2, and 0.1 − 0.2.
        assert!(close(reward[0], 2.25, ROUNDING) && close(reward[1], -0.1, ROUNDING), "{reward:?}");
        for (level, logit) in [(0, -0.05), (1, 0.95)] {
            let mut odds = [0.0; 2];
            world.behaviour(level, &[1.5], &mut odds);
            assert!(close((odds[1] / odds[0]).ln(), logit, ROUNDING) && close(odds[0] + odds[1], 1.0, ROUNDING));
        }
    }
}
