//! One level's world of a block of people, and an agent's memory of them there.

use crate::learn::{Agent, AgentMemory};
use crate::model::{Exogenous, World};
use std::ops::Range;

/// Where the people of a block are under `do(Z = level)`, and what the agent remembers of them in that world.
pub(super) struct Side {
    pub memory: AgentMemory,
    /// μᵣ of the last step, before noise.
    pub rewards: Vec<f64>,
    level: usize,
    people: Range<usize>,
    states: Vec<f64>,
    next: Vec<f64>,
}

impl Side {
    /// S₁ᶻ = m(z) + U₁ for the people of the block, all of whom are told to have this level.
    pub fn begin(
        world: &dyn World,
        agent: &dyn Agent,
        exogenous: &Exogenous,
        people: Range<usize>,
        level: usize,
    ) -> Self {
        let (p, m) = (world.state_dim(), people.len());
        let noise = &exogenous.states(0)[people.start * p..people.end * p];
        let mean = world.initial_mean(level);
        let states: Vec<f64> = noise.chunks_exact(p).flat_map(|u| u.iter().zip(mean).map(|(u, m)| m + u)).collect();
        let memory = agent.begin(&vec![level as u32; m], &states, &exogenous.coins()[people.clone()]);
        Self { memory, rewards: vec![0.0; m], level, people, next: vec![0.0; m * p], states }
    }

    /// Takes the actions of decision t (from 0): Sₜ₊₁ᶻ = μₛ(Sₜᶻ, aₜ, z) + Uₜ₊₁, which the agent sees unless t was the last decision.
    pub fn step(&mut self, world: &dyn World, agent: &dyn Agent, exogenous: &Exogenous, t: usize, actions: &[u32]) {
        let p = world.state_dim();
        world.mean(self.level, &self.states, actions, &mut self.next, &mut self.rewards);
        let noise = &exogenous.states(t + 1)[self.people.start * p..self.people.end * p];
        for ((s, mean), u) in self.states.iter_mut().zip(&self.next).zip(noise) {
            *s = mean + u;
        }
        if t + 1 < exogenous.horizon() {
            agent.advance(&mut self.memory, actions, &self.states);
        }
    }
}
