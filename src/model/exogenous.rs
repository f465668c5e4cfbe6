//! Everything random about a simulated population, drawn before anybody acts.

use super::worlds::{World, draw_levels};
use crate::numeric::{Stream, fill_standard_normal, fill_uniform};

/// The exogenous variables of `people` persons over `horizon` decisions, time-major: a cross-section is a slice.
///
/// Policies, levels and worlds are compared on one draw, so that what differs between them is what they do with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Exogenous {
    people: usize,
    horizon: usize,
    state_dim: usize,
    levels: Vec<u32>,
    coins: Vec<f64>,
    states: Vec<f64>,
    rewards: Vec<f64>,
    uniforms: Vec<f64>,
}

impl Exogenous {
    /// Draws levels, noise and the uniforms behind actions from the stream's children `level`, `coin`, `state`, `reward`, `action`.
    pub fn draw(world: &(impl World + ?Sized), people: usize, horizon: usize, stream: Stream) -> Self {
        let p = world.state_dim();
        let mut coins = vec![0.0; people];
        fill_uniform(&mut stream.named("coin").rng(), &mut coins);
        let mut states = vec![0.0; (horizon + 1) * people * p];
        fill_standard_normal(&mut stream.named("state").rng(), &mut states);
        for row in states.chunks_exact_mut(p) {
            for (u, sd) in row.iter_mut().zip(world.state_noise_sd()) {
                *u *= sd;
            }
        }
        let mut rewards = vec![0.0; horizon * people];
        if world.reward_noise_sd() > 0.0 {
            fill_standard_normal(&mut stream.named("reward").rng(), &mut rewards);
            for u in &mut rewards {
                *u *= world.reward_noise_sd();
            }
        }
        let mut uniforms = vec![0.0; horizon * people];
        fill_uniform(&mut stream.named("action").rng(), &mut uniforms);
        let levels = draw_levels(world, people, &mut stream.named("level").rng());
        Self { people, horizon, state_dim: p, levels, coins, states, rewards, uniforms }
    }

    /// N, the number of people.
    pub fn people(&self) -> usize {
        self.people
    }

    /// T, the number of decisions.
    pub fn horizon(&self) -> usize {
        self.horizon
    }

    /// The level of each person.
    pub fn levels(&self) -> &[u32] {
        &self.levels
    }

    /// One uniform draw a person, for what is decided once an episode.
    pub fn coins(&self) -> &[f64] {
        &self.coins
    }

    /// Uₜ for everybody; t counts from 0 here, so `states(0)` is U₁.
    pub fn states(&self, t: usize) -> &[f64] {
        let width = self.people * self.state_dim;
        &self.states[t * width..(t + 1) * width]
    }

    /// Uᴿₜ for everybody; t counts from 0.
    pub fn rewards(&self, t: usize) -> &[f64] {
        &self.rewards[t * self.people..(t + 1) * self.people]
    }

    /// The uniform draws behind the actions at t, shared by all worlds; t counts from 0.
    pub fn uniforms(&self, t: usize) -> &[f64] {
        &self.uniforms[t * self.people..(t + 1) * self.people]
    }
}
