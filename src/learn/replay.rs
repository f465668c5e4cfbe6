//! The replay policy: strictly fair, and worth exactly as much as the policy it replays.

use super::{Agent, AgentMemory, Policy};
use crate::model::Mechanism;
use crate::preprocess::{Augmented, Memory};

/// Plays the actions a policy would have taken had it been followed from the start, by running its augmented chain on the noise alone.
///
/// # Equation
/// ```text
/// Ûₜ = sₜ − μ(sₜ₋₁, aₜ₋₁, z),   cᵏₜ = μ(cᵏₜ₋₁, π(cₜ₋₁), k) + Ûₜ,   Aₜ = π(cₜ)
/// ```
/// The rule is a function of the noise only, so neither the level nor the past actions change it: it is strictly fair
/// (`def:cf_policy_strict`). Deployed from the first step it takes the same actions as π, hence has the same value; the claim that
/// strict fairness costs value is false.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay<M, Rule> {
    mechanism: M,
    policy: Rule,
}

impl<M: Mechanism, Rule: Policy<Augmented>> Replay<M, Rule> {
    /// Replays a deterministic policy on augmented states.
    ///
    /// # Panics
    /// If the policy is not deterministic: there would be no canonical action to replay.
    pub fn new(mechanism: M, policy: Rule) -> Self {
        assert!(policy.is_deterministic(), "only a deterministic policy can be replayed");
        Self { mechanism, policy }
    }

    fn width(&self) -> usize {
        self.mechanism.state_dim() * self.mechanism.levels()
    }

    fn decide(&self, memory: &mut AgentMemory) {
        let people = memory.parts[0].people();
        memory.canonical.resize(people, 0);
        self.policy.act(&memory.parts[0].view, self.width(), &[], &mut memory.canonical);
    }
}

impl<M: Mechanism, Rule: Policy<Augmented>> Agent for Replay<M, Rule> {
    fn actions(&self) -> usize {
        self.policy.actions()
    }

    fn begin(&self, levels: &[u32], states: &[f64], coins: &[f64]) -> AgentMemory {
        let p = self.mechanism.state_dim();
        let mut view = Vec::with_capacity(levels.len() * self.width());
        for (state, &z) in states.chunks_exact(p).zip(levels) {
            for k in 0..self.mechanism.levels() {
                let (own, other) = (self.mechanism.initial_mean(z as usize), self.mechanism.initial_mean(k));
                view.extend((0..p).map(|j| other[j] + (state[j] - own[j])));
            }
        }
        let chain = Memory::new(levels, states, view);
        let mut memory = AgentMemory { parts: vec![chain], coins: coins.to_vec(), ..AgentMemory::default() };
        self.decide(&mut memory);
        memory
    }

    fn advance(&self, memory: &mut AgentMemory, actions: &[u32], states: &[f64]) {
        let (p, width) = (self.mechanism.state_dim(), self.width());
        let (mut next, mut reward, mut noise) = (vec![0.0; p], [0.0], vec![0.0; p]);
        let chain = &mut memory.parts[0];
        for i in 0..chain.people() {
            let z = chain.levels[i] as usize;
            let (before, after) = (&chain.states[i * p..(i + 1) * p], &states[i * p..(i + 1) * p]);
            self.mechanism.mean(z, before, &actions[i..=i], &mut next, &mut reward);
            for j in 0..p {
                noise[j] = after[j] - next[j];
            }
            for k in 0..self.mechanism.levels() {
                let world = &mut chain.view[i * width + k * p..i * width + (k + 1) * p];
                self.mechanism.mean(k, world, &memory.canonical[i..=i], &mut next, &mut reward);
                for j in 0..p {
                    world[j] = next[j] + noise[j];
                }
            }
        }
        chain.states.copy_from_slice(states);
        self.decide(memory);
    }

    fn probabilities(&self, memory: &mut AgentMemory, out: &mut [f64]) {
        out.fill(0.0);
        for (row, &action) in out.chunks_exact_mut(self.actions()).zip(&memory.canonical) {
            row[action as usize] = 1.0;
        }
    }

    fn act(&self, memory: &mut AgentMemory, _uniforms: &[f64], out: &mut [u32]) {
        out.copy_from_slice(&memory.canonical);
    }

    fn is_deterministic(&self) -> bool {
        true
    }
}
