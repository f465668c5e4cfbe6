//! Everything random about a simulated population, drawn before anybody acts.

use super::worlds::{World, draw_levels};
use crate::numeric::{Stream, fill_uniform};

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
        world.draw_state_noise(&mut stream.named("state").rng(), &mut states);
        let mut rewards = vec![0.0; horizon * people];
        world.draw_reward_noise(&mut stream.named("reward").rng(), &mut rewards);
        let mut uniforms = vec![0.0; horizon * people];
        fill_uniform(&mut stream.named("action").rng(), &mut uniforms);
        let levels = draw_levels(world, people, &mut stream.named("level").rng());
        Self { people, horizon, state_dim: p, levels, coins, states, rewards, uniforms }
    }

    /// Exogenous variables chosen by the caller, time-major: levels and coins one a person, states T + 1 times, the rest T times.
    ///
    /// # Panics
    /// If the lengths do not fit together, or there is nobody.
    pub fn given(
        levels: Vec<u32>,
        coins: Vec<f64>,
        states: Vec<f64>,
        rewards: Vec<f64>,
        uniforms: Vec<f64>,
        state_dim: usize,
    ) -> Self {
        let (people, horizon) = (levels.len(), uniforms.len() / levels.len());
        assert_eq!(coins.len(), people, "one coin a person");
        assert_eq!(uniforms.len(), horizon * people, "one uniform a person and decision");
        assert_eq!(rewards.len(), horizon * people, "one reward noise a person and decision");
        assert_eq!(states.len(), (horizon + 1) * people * state_dim, "state noise before and after every decision");
        Self { people, horizon, state_dim, levels, coins, states, rewards, uniforms }
    }

    /// The exogenous variables of the first `people` persons.
    pub fn first(&self, people: usize) -> Self {
        let n = people.min(self.people);
        let each = |all: &[f64], width: usize| -> Vec<f64> {
            all.chunks_exact((self.people * width).max(1)).flat_map(|now| &now[..n * width]).copied().collect()
        };
        Self {
            people: n,
            horizon: self.horizon,
            state_dim: self.state_dim,
            levels: self.levels[..n].to_vec(),
            coins: self.coins[..n].to_vec(),
            states: each(&self.states, self.state_dim),
            rewards: each(&self.rewards, 1),
            uniforms: each(&self.uniforms, 1),
        }
    }

    /// The exogenous variables of these persons, by position and in this order.
    ///
    /// # Panics
    /// If a position is N or above.
    pub fn of_people(&self, who: &[usize]) -> Self {
        let each = |all: &[f64], width: usize| {
            let mut of_who = Vec::with_capacity(all.len() / self.people.max(1) * who.len());
            for now in all.chunks_exact((self.people * width).max(1)) {
                match width {
                    1 => of_who.extend(who.iter().map(|&i| now[i])),
                    _ => who.iter().for_each(|i| of_who.extend_from_slice(&now[i * width..(i + 1) * width])),
                }
            }
            of_who
        };
        Self {
            people: who.len(),
            horizon: self.horizon,
            state_dim: self.state_dim,
            levels: who.iter().map(|&i| self.levels[i]).collect(),
            coins: each(&self.coins, 1),
            states: each(&self.states, self.state_dim),
            rewards: each(&self.rewards, 1),
            uniforms: each(&self.uniforms, 1),
        }
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
