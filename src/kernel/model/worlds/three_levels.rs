//! A world of our own that stands off every special point: three unequal levels, two coordinates, three actions.

use super::World;
use crate::model::Mechanism;

/// Three levels, a two-dimensional state and three actions.
///
/// # Equation
/// ```text
/// S₁ = (0.3, −0.2) + δ mᶻ + U₁
/// S′ = 0.2 + B S + 0.3 cₐ + δ cᶻ + 0.15 δ e_z S₂ (1, 0)ᵀ + (0, 0.1 a S₁)ᵀ + U
/// R  = 0.5 S₁ − 0.4 S₂ + ρₐ + δ (ρᶻ a + 0.2 e_z S₁) + Uᴿ
/// ```
/// where B = [[0.5, −0.2], [0.1, 0.4]], cₐ = (−1, 0.5), (0, −0.5), (1, 0.25) and e_z = −1, 0.5, 1 for the three actions and levels,
/// U has standard deviations (1, 0.7), Uᴿ 0.3, and P(Z) = (0.5, 0.3, 0.2). All three levels see every action.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreeLevels {
    strength: f64,
    initial: [[f64; 2]; 3],
}

const LEVEL_SIGN: [f64; 3] = [-1.0, 0.5, 1.0];
const LEVEL_START: [[f64; 2]; 3] = [[-0.5, 0.2], [0.3, -0.4], [0.8, 0.6]];
const LEVEL_DRIFT: [[f64; 2]; 3] = [[-0.3, 0.1], [0.2, -0.2], [0.4, 0.3]];
const LEVEL_REWARD: [f64; 3] = [0.3, -0.1, -0.4];
const ACTION_DRIFT: [[f64; 2]; 3] = [[-1.0, 0.5], [0.0, -0.5], [1.0, 0.25]];
const ACTION_REWARD: [f64; 3] = [0.0, 0.2, 0.1];
const BEHAVIOUR: [[f64; 3]; 3] = [[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.2, 0.2, 0.6]];

impl ThreeLevels {
    /// The world at strength δ.
    pub fn new(strength: f64) -> Self {
        Self { strength, initial: LEVEL_START.map(|m| [0.3 + strength * m[0], -0.2 + strength * m[1]]) }
    }
}

impl Mechanism for ThreeLevels {
    fn state_dim(&self) -> usize {
        2
    }

    fn levels(&self) -> usize {
        3
    }

    fn actions(&self) -> usize {
        3
    }

    fn initial_mean(&self, level: usize) -> &[f64] {
        &self.initial[level]
    }

    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        let (δ, sign, drift) = (self.strength, LEVEL_SIGN[level], LEVEL_DRIFT[level]);
        let rows = states.chunks_exact(2).zip(actions).zip(next.chunks_exact_mut(2)).zip(rewards);
        for (((s, &action), s_next), r) in rows {
            let (a, push) = (f64::from(action), ACTION_DRIFT[action as usize]);
            s_next[0] = 0.2 + 0.5 * s[0] - 0.2 * s[1] + 0.3 * push[0] + δ * drift[0] + 0.15 * δ * sign * s[1];
            s_next[1] = 0.2 + 0.1 * s[0] + 0.4 * s[1] + 0.3 * push[1] + δ * drift[1] + 0.1 * a * s[0];
            *r = 0.5 * s[0] - 0.4 * s[1]
                + ACTION_REWARD[action as usize]
                + δ * (LEVEL_REWARD[level] * a + 0.2 * sign * s[0]);
        }
    }
}

impl World for ThreeLevels {
    fn name(&self) -> &'static str {
        "three-levels"
    }

    fn level_probabilities(&self) -> &[f64] {
        &[0.5, 0.3, 0.2]
    }

    fn behaviour(&self, level: usize, _state: &[f64], probabilities: &mut [f64]) {
        probabilities.copy_from_slice(&BEHAVIOUR[level]);
    }

    fn state_noise_sd(&self) -> &[f64] {
        &[1.0, 0.7]
    }

    fn reward_noise_sd(&self) -> f64 {
        0.3
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::tolerance::{ROUNDING, close};

    #[test]
    fn means_are_those_of_the_equation() {
        let world = ThreeLevels::new(0.5);
        for (level, action, expected) in
            [(2, 2, [1.70, 0.075, 1.40]), (1, 1, [1.375, -0.55, 1.775]), (0, 0, [1.05, -0.25, 1.4])]
        {
            let (mut next, mut reward) = ([0.0; 2], [0.0]);
            world.mean(level, &[1.5, -2.0], &[action], &mut next, &mut reward);
            for (made, expected) in next.iter().chain(&reward).zip(expected) {
                assert!(close(*made, expected, ROUNDING), "level {level}, action {action}: {next:?}, {reward:?}");
            }
        }
        for (level, expected) in [(1, [0.45, -0.4]), (2, [0.7, 0.1])] {
            assert!(world.initial_mean(level).iter().zip(expected).all(|(m, e)| close(*m, e, ROUNDING)));
        }
    }
}
