//! One level's world of a block of people, and an agent's memory of them there.

use crate::learn::{Agent, AgentMemory};
use crate::model::noise::{Step, first_state};
use crate::model::{Exogenous, World};
use std::ops::Range;

/// Where the people of a block are under `do(Z = level)`, and what the agent remembers of them in that world.
pub struct OneWorld {
    /// What the agent remembers.
    pub memory: AgentMemory,
    /// Rewards of the last step, with their noise.
    pub rewards: Vec<f64>,
    level: usize,
    people: Range<usize>,
    states: Vec<f64>,
    step: Step,
}

impl OneWorld {
    /// S₁ᶻ = m(z) + U₁ for the people of the block, all of whom are told to have this level.
    pub fn begin(
        world: &dyn World,
        agent: &dyn Agent,
        exogenous: &Exogenous,
        people: Range<usize>,
        level: usize,
    ) -> Self {
        let mut side = Self::unseen(world, exogenous, people.clone(), level);
        side.memory = agent.begin(&vec![level as u32; people.len()], &side.states, &exogenous.coins()[people]);
        side
    }

    /// The same for people whom no agent looks at in this world.
    pub fn unseen(world: &dyn World, exogenous: &Exogenous, people: Range<usize>, level: usize) -> Self {
        let (p, m) = (world.state_dim(), people.len());
        let mut states = exogenous.states(0)[people.start * p..people.end * p].to_vec();
        first_state(world, level, &mut states);
        let memory = AgentMemory::default();
        Self { memory, rewards: vec![0.0; m], level, people, step: Step::default(), states }
    }

    /// Takes the actions of decision t (from 0), and lets the agent see where they lead unless t was the last decision.
    pub fn step(&mut self, world: &dyn World, agent: &dyn Agent, exogenous: &Exogenous, t: usize, actions: &[u32]) {
        self.walk(world, exogenous, t, actions);
        if t + 1 < exogenous.horizon() {
            self.see(agent, actions);
        }
    }

    /// Takes the actions of decision t (from 0): Sₜ₊₁ᶻ = μₛ(Sₜᶻ, aₜ, z) + Uₜ₊₁.
    pub fn walk(&mut self, world: &dyn World, exogenous: &Exogenous, t: usize, actions: &[u32]) {
        let p = world.state_dim();
        self.step.prepare(world, self.level, &self.states, actions);
        self.rewards.copy_from_slice(&exogenous.rewards(t)[self.people.clone()]);
        self.step.rewards(world, self.level, &mut self.rewards);
        self.states.copy_from_slice(&exogenous.states(t + 1)[self.people.start * p..self.people.end * p]);
        self.step.states(world, self.level, &mut self.states);
    }

    /// The agent sees the state that these actions have led to.
    pub fn see(&mut self, agent: &dyn Agent, actions: &[u32]) {
        agent.advance(&mut self.memory, actions, &self.states);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::{Deployed, Policy};
    use crate::model::Mechanism;
    use crate::model::worlds::ThreeLevels;
    use crate::numeric::Stream;
    use crate::preprocess::{StateOnly, Unaware};

    /// 1 where s₀ − s₁/2 exceeds a half.
    struct Above;

    impl Policy<StateOnly> for Above {
        fn actions(&self) -> usize {
            2
        }
        fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]) {
            for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(2)) {
                out[1] = f64::from(u8::from(row[0] - 0.5 * row[1] > 0.5));
                out[0] = 1.0 - out[1];
            }
        }
        fn is_deterministic(&self) -> bool {
            true
        }
    }

    #[test]
    fn people_in_the_middle_walk_in_their_own_noise() {
        let world = ThreeLevels::new(0.8);
        let draws = Exogenous::draw(&world, 7, 3, Stream::new(12));
        let agent = Deployed::new(Unaware { state_dim: 2 }, Above);
        for level in 0..3 {
            let mut side = OneWorld::begin(&world, &agent, &draws, 2..6, level);
            // Each person alone.
            let mut alone: Vec<[f64; 2]> =
                (2..6).map(|i| [0, 1].map(|j| world.initial_mean(level)[j] + draws.states(0)[2 * i + j])).collect();
            for t in 0..3 {
                assert_eq!(side.states, alone.as_flattened(), "level {level} before decision {t}");
                let mut asked = [9; 4];
                agent.act(&mut side.memory, &[0.5; 4], &mut asked);
                for (a, s) in asked.iter().zip(&alone) {
                    assert_eq!(*a, u32::from(s[0] - 0.5 * s[1] > 0.5), "the agent is where the person is");
                }
                let actions = [1, 0, t as u32 % 2, 1];
                side.step(&world, &agent, &draws, t, &actions);
                for (k, s) in alone.iter_mut().enumerate() {
                    let (mut next, mut reward) = ([0.0; 2], [0.0]);
                    world.mean(level, s, &actions[k..=k], &mut next, &mut reward);
                    assert_eq!(side.rewards[k], reward[0] + draws.rewards(t)[2 + k]);
                    *s = [0, 1].map(|j| next[j] + draws.states(t + 1)[2 * (2 + k) + j]);
                }
            }
        }
    }
}
