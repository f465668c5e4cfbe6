//! Worlds whose mechanism is known: the paper's two, a contextual bandit, one with three levels and two state coordinates, and four whose
//! noise depends on the level.

mod bandit;
mod linear;
mod nonlinear;
mod skew;
mod three_levels;
mod uneven;

pub use bandit::Bandit;
pub use linear::Linear;
pub use nonlinear::Nonlinear;
pub use three_levels::ThreeLevels;
pub use uneven::{Uneven, skewed, spread_by_level, spread_by_state, three_levels_mixed};

use super::Mechanism;
use crate::numeric::fill_standard_normal;
use rand::Rng;
use rand_pcg::Pcg64Mcg;

/// A decision process that can be simulated: its means, its noise, who lives in it and how it has been acted upon.
pub trait World: Mechanism {
    /// The name by which the command line knows this world.
    fn name(&self) -> &'static str;

    /// P(Z = z⁽ᵏ⁾).
    fn level_probabilities(&self) -> &[f64];

    /// The behaviour policy P(Aₜ = a | Z = z, Sₜ = s), written over `probabilities`, one entry an action.
    fn behaviour(&self, level: usize, state: &[f64], probabilities: &mut [f64]);

    /// Standard deviation of each coordinate of the state noise, which is normal with mean zero unless
    /// [`draw_state_noise`](Self::draw_state_noise) says otherwise.
    fn state_noise_sd(&self) -> &[f64];

    /// Standard deviation of the reward noise, normal with mean zero unless [`draw_reward_noise`](Self::draw_reward_noise) says
    /// otherwise.
    fn reward_noise_sd(&self) -> f64;

    /// Fills `out` with independent rows of state noise. A world whose noise is not normal overrides this.
    fn draw_state_noise(&self, rng: &mut Pcg64Mcg, out: &mut [f64]) {
        fill_standard_normal(rng, out);
        for row in out.chunks_exact_mut(self.state_dim()) {
            for (u, sd) in row.iter_mut().zip(self.state_noise_sd()) {
                *u *= sd;
            }
        }
    }

    /// Fills `out` with independent reward noise. A world whose noise is not normal overrides this.
    fn draw_reward_noise(&self, rng: &mut Pcg64Mcg, out: &mut [f64]) {
        if self.reward_noise_sd() > 0.0 {
            fill_standard_normal(rng, out);
            out.iter_mut().for_each(|u| *u *= self.reward_noise_sd());
        }
    }
}

/// A uniform draw turned into an action by the inverse of the cumulative distribution.
pub fn draw_action(probabilities: &[f64], uniform: f64) -> u32 {
    let mut cumulative = 0.0;
    for (action, probability) in probabilities.iter().enumerate() {
        cumulative += probability;
        if uniform < cumulative {
            return action as u32;
        }
    }
    // Rounding may leave the sum just below the draw: the last action that has any probability takes it.
    probabilities.iter().rposition(|&p| p > 0.0).unwrap_or(0) as u32
}

/// Draws a level for each of `people` persons.
pub fn draw_levels(world: &(impl World + ?Sized), people: usize, rng: &mut impl Rng) -> Vec<u32> {
    use rand::RngExt;
    (0..people).map(|_| draw_action(world.level_probabilities(), rng.random())).collect()
}

/// Builds a shipped world by its name; `None` when there is no such world.
pub fn by_name(name: &str, strength: f64) -> Option<Box<dyn World>> {
    match name {
        "linear" => Some(Box::new(Linear::new(strength))),
        "nonlinear" => Some(Box::new(Nonlinear::new(strength))),
        "bandit" => Some(Box::new(Bandit::new(strength))),
        "three-levels" => Some(Box::new(ThreeLevels::new(strength))),
        "spread-by-level" => Some(Box::new(spread_by_level(strength))),
        "spread-by-state" => Some(Box::new(spread_by_state(strength))),
        "skewed" => Some(Box::new(skewed(strength))),
        "three-levels-mixed" => Some(Box::new(three_levels_mixed(strength))),
        _ => None,
    }
}

/// The names that [`by_name`] knows.
pub const NAMES: [&str; 8] = [
    "linear",
    "nonlinear",
    "bandit",
    "three-levels",
    "spread-by-level",
    "spread-by-state",
    "skewed",
    "three-levels-mixed",
];

/// 1 / (1 + e⁻ˣ).
fn expit(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The behaviour policy of supplement F.2: P(A = 1 | Z) = expit(−1.39 + 2.77 Z).
fn paper_behaviour(z: f64, probabilities: &mut [f64]) {
    let treated = expit(-1.39 + 2.77 * z);
    probabilities[0] = 1.0 - treated;
    probabilities[1] = treated;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Stream;
    use crate::numeric::tolerance::{ROUNDING, close};

    #[test]
    fn every_world_answers_to_its_name_with_the_noise_of_its_equation() {
        let own: [(&[f64], f64); 4] = [(&[1.0], 0.0), (&[1.0], 0.0), (&[1.0], 0.5), (&[1.0, 0.7], 0.3)];
        let noise = own.into_iter().chain([(&[1.0][..], 0.0), (&[1.0], 0.0), (&[1.0], 0.0), (&[1.0, 1.0], 0.3)]);
        for (name, (state, reward)) in NAMES.into_iter().zip(noise) {
            let world = by_name(name, 0.5).expect("a shipped world");
            assert_eq!((world.name(), world.state_noise_sd(), world.reward_noise_sd()), (name, state, reward));
        }
        assert!(by_name("no such world", 0.5).is_none());
    }

    #[test]
    fn noise_is_standard_normal_times_the_deviation_of_its_coordinate() {
        let (world, stream) = (ThreeLevels::new(0.5), Stream::new(41));
        let mut standard = [0.0; 12];
        fill_standard_normal(&mut stream.rng(), &mut standard);
        let (mut states, mut rewards) = ([0.0; 12], [0.0; 12]);
        world.draw_state_noise(&mut stream.rng(), &mut states);
        world.draw_reward_noise(&mut stream.rng(), &mut rewards);
        for (i, x) in standard.iter().enumerate() {
            assert!(close(states[i], if i % 2 == 0 { *x } else { 0.7 * x }, ROUNDING), "{states:?}");
            assert!(close(rewards[i], 0.3 * x, ROUNDING), "{rewards:?}");
        }
    }

    #[test]
    fn a_world_without_reward_noise_draws_none() {
        let (mut rng, mut rewards) = (Stream::new(42).rng(), [0.0; 5]);
        Linear::new(0.5).draw_reward_noise(&mut rng, &mut rewards);
        assert_eq!((rewards, rng), ([0.0; 5], Stream::new(42).rng()));
    }

    #[test]
    fn the_papers_behaviour_has_the_log_odds_of_the_supplement() {
        for world in [by_name("linear", 0.5), by_name("nonlinear", 0.5)].into_iter().flatten() {
            for (level, log_odds) in [(0, -1.39), (1, 1.38)] {
                let mut probabilities = [0.0; 2];
                world.behaviour(level, &[0.3], &mut probabilities);
                let odds = f64::exp(log_odds);
                let expected = [1.0 / (1.0 + odds), odds / (1.0 + odds)];
                assert!((0..2).all(|a| close(probabilities[a], expected[a], ROUNDING)), "{probabilities:?}");
            }
        }
    }
}
