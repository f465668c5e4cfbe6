//! One step of a block of people who share a level: from outcomes to noise and back.

use super::{NoiseLaw, Output};
use crate::model::Mechanism;

/// Means and spreads of one step, with room that is kept between steps.
///
/// # Equation
/// ```text
/// noise:    U = G_z((s − μ_z)/σ_z)
/// outcome:  s = μ_z + σ_z G_z⁻¹(U)
/// ```
/// Of an additive mechanism these are one subtraction and one addition.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    next: Vec<f64>,
    rewards: Vec<f64>,
    next_spread: Vec<f64>,
    reward_spread: Vec<f64>,
}

impl Step {
    /// Computes the means, and the spreads if there are any, of a block of rows at one level.
    pub fn prepare(&mut self, mechanism: &(impl Mechanism + ?Sized), level: usize, states: &[f64], actions: &[u32]) {
        self.next.resize(states.len(), 0.0);
        self.rewards.resize(actions.len(), 0.0);
        mechanism.mean(level, states, actions, &mut self.next, &mut self.rewards);
        if let Some(law) = mechanism.noise() {
            self.next_spread.resize(states.len(), 0.0);
            self.reward_spread.resize(actions.len(), 0.0);
            law.spread(level, states, actions, &mut self.next_spread, &mut self.reward_spread);
        }
    }

    /// μₛ of the prepared rows.
    pub fn mean_states(&self) -> &[f64] {
        &self.next
    }

    /// μᵣ of the prepared rows.
    pub fn mean_rewards(&self) -> &[f64] {
        &self.rewards
    }

    /// Next states of the prepared rows, replaced by their noise.
    pub fn state_noise(&self, mechanism: &(impl Mechanism + ?Sized), level: usize, next: &mut [f64]) {
        match mechanism.noise() {
            None => subtract(next, &self.next),
            Some(law) => {
                let p = mechanism.state_dim();
                for (i, ((s, mean), spread)) in next.iter_mut().zip(&self.next).zip(&self.next_spread).enumerate() {
                    *s = to_noise(law, Output::Next(i % p), level, *s, *mean, *spread);
                }
            }
        }
    }

    /// Noise of the next states of the prepared rows, replaced by the states it makes.
    pub fn states(&self, mechanism: &(impl Mechanism + ?Sized), level: usize, noise: &mut [f64]) {
        match mechanism.noise() {
            None => add(noise, &self.next),
            Some(law) => {
                let p = mechanism.state_dim();
                for (i, ((u, mean), spread)) in noise.iter_mut().zip(&self.next).zip(&self.next_spread).enumerate() {
                    *u = to_value(law, Output::Next(i % p), level, *u, *mean, *spread);
                }
            }
        }
    }

    /// Rewards of the prepared rows, replaced by their noise.
    pub fn reward_noise(&self, mechanism: &(impl Mechanism + ?Sized), level: usize, rewards: &mut [f64]) {
        match mechanism.noise() {
            None => subtract(rewards, &self.rewards),
            Some(law) => {
                for ((r, mean), spread) in rewards.iter_mut().zip(&self.rewards).zip(&self.reward_spread) {
                    *r = to_noise(law, Output::Reward, level, *r, *mean, *spread);
                }
            }
        }
    }

    /// Noise of the rewards of the prepared rows, replaced by the rewards it makes.
    pub fn rewards(&self, mechanism: &(impl Mechanism + ?Sized), level: usize, noise: &mut [f64]) {
        match mechanism.noise() {
            None => add(noise, &self.rewards),
            Some(law) => {
                for ((u, mean), spread) in noise.iter_mut().zip(&self.rewards).zip(&self.reward_spread) {
                    *u = to_value(law, Output::Reward, level, *u, *mean, *spread);
                }
            }
        }
    }
}

/// First states of people at one level, replaced by their noise U₁.
pub fn first_noise(mechanism: &(impl Mechanism + ?Sized), level: usize, states: &mut [f64]) {
    let (p, mean) = (mechanism.state_dim(), mechanism.initial_mean(level));
    match mechanism.noise() {
        None => states.chunks_exact_mut(p).for_each(|state| subtract(state, mean)),
        Some(law) => {
            let spread = law.initial_spread(level);
            for (i, s) in states.iter_mut().enumerate() {
                *s = to_noise(law, Output::First(i % p), level, *s, mean[i % p], spread[i % p]);
            }
        }
    }
}

/// Noise U₁ of people, replaced by the first states it makes at one level.
pub fn first_state(mechanism: &(impl Mechanism + ?Sized), level: usize, noise: &mut [f64]) {
    let (p, mean) = (mechanism.state_dim(), mechanism.initial_mean(level));
    match mechanism.noise() {
        None => noise.chunks_exact_mut(p).for_each(|u| add(u, mean)),
        Some(law) => {
            let spread = law.initial_spread(level);
            for (i, u) in noise.iter_mut().enumerate() {
                *u = to_value(law, Output::First(i % p), level, *u, mean[i % p], spread[i % p]);
            }
        }
    }
}

fn to_noise(law: &dyn NoiseLaw, output: Output, level: usize, value: f64, mean: f64, spread: f64) -> f64 {
    if law.is_kept(output) { value } else { law.to_common(output, level, (value - mean) / spread) }
}

fn to_value(law: &dyn NoiseLaw, output: Output, level: usize, noise: f64, mean: f64, spread: f64) -> f64 {
    if law.is_kept(output) { noise } else { mean + spread * law.of_common(output, level, noise) }
}

fn subtract(from: &mut [f64], mean: &[f64]) {
    from.iter_mut().zip(mean).for_each(|(x, m)| *x -= m);
}

fn add(to: &mut [f64], mean: &[f64]) {
    to.iter_mut().zip(mean).for_each(|(x, m)| *x += m);
}
