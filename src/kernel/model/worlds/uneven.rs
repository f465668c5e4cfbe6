//! Worlds whose noise is not merely added: its spread or shape depends on level and state, and counterfactuals are known all the same.

use super::skew::{gamma_of, normal_of};
use super::{Linear, ThreeLevels, World, expit};
use crate::model::{Mechanism, NoiseLaw, Output};
use rand_pcg::Pcg64Mcg;

/// The means of a world of its own, and noise around them whose law depends on the level.
///
/// # Equation
/// ```text
/// Sⱼ = μⱼ(x, z) + σⱼ(s, z) e,   σⱼ(s, z) = aⱼ(z) + bⱼ expit(sⱼ),   e = U or (gamma(2) − 2)/√2 of the same rank as U,   U ~ N(0, 1)
/// ```
/// where the first state has σⱼ at s = 0 and the reward keeps the world's own noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Uneven<W> {
    means: W,
    name: &'static str,
    /// aⱼ(z), by level and coordinate.
    base: Vec<Vec<f64>>,
    /// bⱼ.
    by_state: Vec<f64>,
    /// σ of the first state, by level and coordinate.
    initial: Vec<Vec<f64>>,
    /// Levels and coordinates at which noise is skewed.
    skewed: Vec<(usize, usize)>,
    unit: Vec<f64>,
}

/// `spread-by-level`: the paper's linear means; noise has standard deviation 0.6 at level 0 and 1.2 at level 1.
pub fn spread_by_level(strength: f64) -> Uneven<Linear> {
    Uneven::new(Linear::new(strength), "spread-by-level", vec![vec![0.6], vec![1.2]], vec![0.0], vec![])
}

/// `spread-by-state`: the paper's linear means; σ = 0.5 + 0.5 expit(s) + 0.5 z.
pub fn spread_by_state(strength: f64) -> Uneven<Linear> {
    Uneven::new(Linear::new(strength), "spread-by-state", vec![vec![0.5], vec![1.0]], vec![0.5], vec![])
}

/// `skewed`: the paper's linear means; noise of variance 1, normal at level 0 and gamma of shape 2, centred, at level 1.
pub fn skewed(strength: f64) -> Uneven<Linear> {
    Uneven::new(Linear::new(strength), "skewed", vec![vec![1.0], vec![1.0]], vec![0.0], vec![(1, 0)])
}

/// `three-levels-mixed`: the means of [`ThreeLevels`]. The first coordinate spreads by level and is skewed at level 2, the second spreads
/// by state and level, the reward's noise is added.
pub fn three_levels_mixed(strength: f64) -> Uneven<ThreeLevels> {
    let base = vec![vec![0.7, 0.4], vec![1.0, 0.6], vec![1.3, 0.8]];
    Uneven::new(ThreeLevels::new(strength), "three-levels-mixed", base, vec![0.0, 0.4], vec![(2, 0)])
}

impl<W: World> Uneven<W> {
    fn new(means: W, name: &'static str, base: Vec<Vec<f64>>, by_state: Vec<f64>, skewed: Vec<(usize, usize)>) -> Self {
        let initial = base.iter().map(|a| a.iter().zip(&by_state).map(|(a, b)| a + b * expit(0.0)).collect()).collect();
        let unit = vec![1.0; means.state_dim()];
        Self { means, name, base, by_state, initial, skewed, unit }
    }

    fn is_skewed(&self, output: Output, level: usize) -> bool {
        match output {
            Output::First(j) | Output::Next(j) => self.skewed.contains(&(level, j)),
            Output::Reward => false,
        }
    }
}

impl<W: World> NoiseLaw for Uneven<W> {
    fn initial_spread(&self, level: usize) -> &[f64] {
        &self.initial[level]
    }

    fn spread(&self, level: usize, states: &[f64], _actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        let p = self.by_state.len();
        for (i, (σ, s)) in next.iter_mut().zip(states).enumerate() {
            *σ = self.base[level][i % p] + self.by_state[i % p] * expit(*s);
        }
        rewards.fill(1.0);
    }

    fn to_common(&self, output: Output, level: usize, noise: f64) -> f64 {
        if self.is_skewed(output, level) { normal_of(noise) } else { noise }
    }

    fn of_common(&self, output: Output, level: usize, common: f64) -> f64 {
        if self.is_skewed(output, level) { gamma_of(common) } else { common }
    }
}

impl<W: World> Mechanism for Uneven<W> {
    fn state_dim(&self) -> usize {
        self.means.state_dim()
    }

    fn levels(&self) -> usize {
        self.means.levels()
    }

    fn actions(&self) -> usize {
        self.means.actions()
    }

    fn initial_mean(&self, level: usize) -> &[f64] {
        self.means.initial_mean(level)
    }

    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        self.means.mean(level, states, actions, next, rewards);
    }

    fn noise(&self) -> Option<&dyn NoiseLaw> {
        Some(self)
    }
}

impl<W: World> World for Uneven<W> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn level_probabilities(&self) -> &[f64] {
        self.means.level_probabilities()
    }

    fn behaviour(&self, level: usize, state: &[f64], probabilities: &mut [f64]) {
        self.means.behaviour(level, state, probabilities);
    }

    fn state_noise_sd(&self) -> &[f64] {
        &self.unit
    }

    fn reward_noise_sd(&self) -> f64 {
        self.means.reward_noise_sd()
    }

    fn draw_reward_noise(&self, rng: &mut Pcg64Mcg, out: &mut [f64]) {
        self.means.draw_reward_noise(rng, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::tolerance::{ROUNDING, close};

    #[test]
    fn spreads_are_those_of_the_equation() {
        let at = |world: &dyn World, level: usize, state: &[f64]| {
            let (mut next, mut reward) = (vec![0.0; state.len()], [0.0]);
            world.noise().unwrap().spread(level, state, &[0], &mut next, &mut reward);
            assert_eq!(reward, [1.0]);
            (next, world.noise().unwrap().initial_spread(level).to_vec())
        };
        assert_eq!(at(&spread_by_level(1.0), 1, &[0.4]), (vec![1.2], vec![1.2]));
        let (next, first) = at(&spread_by_state(1.0), 1, &[3f64.ln()]);
        assert!(close(next[0], 1.0 + 0.5 * 0.75, ROUNDING) && close(first[0], 1.25, ROUNDING), "{next:?}, {first:?}");
        let (next, first) = at(&three_levels_mixed(1.0), 2, &[0.9, -(3f64.ln())]);
        assert!(close(next[0], 1.3, ROUNDING) && close(next[1], 0.9, ROUNDING), "{next:?}");
        assert!(close(first[0], 1.3, ROUNDING) && close(first[1], 1.0, ROUNDING), "{first:?}");
    }

    #[test]
    fn only_the_coordinates_and_levels_that_are_skewed_are() {
        let world = three_levels_mixed(0.5);
        let bent = |output, level| world.of_common(output, level, 0.7) != 0.7;
        assert!(bent(Output::First(0), 2) && bent(Output::Next(0), 2));
        assert!(!bent(Output::Next(1), 2) && !bent(Output::Next(0), 1) && !bent(Output::Reward, 2));
        assert!(skewed(1.0).of_common(Output::Next(0), 1, 0.0) < -0.2, "the median of a skewed law is below its mean");
    }
}
