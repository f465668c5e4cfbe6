//! A policy followed in a known world: its value, its CF metric and whom it treats, from one pass.

use super::{Disagreement, Unfairness};
use crate::learn::{Agent, AgentMemory};
use crate::model::{Exogenous, World};
use crate::numeric::Estimate;

/// What following a policy shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// E Σₜ γ^{t−1} Rₜ over the horizon, with observed rewards.
    pub value: Estimate,
    /// `eq:cf_metric`.
    pub unfairness: Unfairness,
    /// How often each group received each action.
    pub rates: ActionRates,
}

/// Shares of actions by level and time.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionRates {
    levels: usize,
    actions: usize,
    /// Counts by time, level and action.
    counts: Vec<f64>,
}

impl ActionRates {
    fn new(horizon: usize, levels: usize, actions: usize) -> Self {
        Self { levels, actions, counts: vec![0.0; horizon * levels * actions] }
    }

    fn count(&mut self, t: usize, levels: &[u32], actions: &[u32]) {
        for (&z, &a) in levels.iter().zip(actions) {
            self.counts[(t * self.levels + z as usize) * self.actions + a as usize] += 1.0;
        }
    }

    /// T.
    pub fn horizon(&self) -> usize {
        self.counts.len() / (self.levels * self.actions)
    }

    /// The share of level z's people who received action a at time t (from 0); `None` when the level has nobody.
    pub fn at(&self, t: usize, level: usize, action: usize) -> Option<f64> {
        share(&self.counts[(t * self.levels + level) * self.actions..][..self.actions], action)
    }

    /// The share over all times.
    pub fn overall(&self, level: usize, action: usize) -> Option<f64> {
        let mut counts = vec![0.0; self.actions];
        for t in 0..self.horizon() {
            for (total, c) in counts.iter_mut().zip(&self.counts[(t * self.levels + level) * self.actions..]) {
                *total += c;
            }
        }
        share(&counts, action)
    }
}

fn share(counts: &[f64], action: usize) -> Option<f64> {
    let total: f64 = counts.iter().sum();
    (total > 0.0).then(|| counts[action] / total)
}

/// People a block: memories of all worlds stay in cache.
const BLOCK: usize = 1024;

/// Follows an agent through a world on given exogenous draws.
///
/// In each block of people every level's world is run side by side: the same noise and, in all of them, the actions taken in
/// the factual one. The agent keeps a memory in each world and is asked there for its action; person i's own world is the
/// one of level zᵢ, so the factual rollout is a selection, not a computation of its own.
pub fn evaluate(world: &dyn World, agent: &dyn Agent, exogenous: &Exogenous, discount: f64) -> Evaluation {
    let (n, horizon) = (exogenous.people(), exogenous.horizon());
    let (p, levels, actions) = (world.state_dim(), world.levels(), agent.actions());
    let mut returns = vec![0.0; n];
    let mut disagreement = Disagreement::new(n, levels, actions);
    let mut rates = ActionRates::new(horizon, levels, actions);
    for first in (0..n).step_by(BLOCK) {
        let people = first..(first + BLOCK).min(n);
        let m = people.len();
        let own = &exogenous.levels()[people.clone()];
        let mut worlds: Vec<Side> = (0..levels)
            .map(|k| {
                let noise = &exogenous.states(0)[people.start * p..people.end * p];
                let states: Vec<f64> = noise.chunks_exact(p).flat_map(|u| plus(u, world.initial_mean(k))).collect();
                let memory = agent.begin(&vec![k as u32; m], &states, &exogenous.coins()[people.clone()]);
                Side { memory, states, next: vec![0.0; m * p], rewards: vec![0.0; m] }
            })
            .collect();
        let mut chosen = vec![vec![0u32; m]; levels];
        let mut probabilities = if agent.is_deterministic() { vec![] } else { vec![vec![0.0; m * actions]; levels] };
        let mut taken = vec![0u32; m];
        for t in 0..horizon {
            let uniforms = &exogenous.uniforms(t)[people.clone()];
            for (side, chosen) in worlds.iter_mut().zip(&mut chosen) {
                agent.act(&mut side.memory, uniforms, chosen);
            }
            for (side, probabilities) in worlds.iter_mut().zip(&mut probabilities) {
                agent.probabilities(&mut side.memory, probabilities);
            }
            disagreement.count(first, &chosen, &probabilities);
            for (i, &z) in own.iter().enumerate() {
                taken[i] = chosen[z as usize][i];
            }
            rates.count(t, own, &taken);
            let noise = &exogenous.states(t + 1)[people.start * p..people.end * p];
            let reward_noise = &exogenous.rewards(t)[people.clone()];
            for (k, side) in worlds.iter_mut().enumerate() {
                world.mean(k, &side.states, &taken, &mut side.next, &mut side.rewards);
                for ((s, mean), u) in side.states.iter_mut().zip(&side.next).zip(noise) {
                    *s = mean + u;
                }
                if t + 1 < horizon {
                    agent.advance(&mut side.memory, &taken, &side.states);
                }
            }
            let weight = discount.powi(t as i32);
            for (i, &z) in own.iter().enumerate() {
                returns[first + i] += weight * (worlds[z as usize].rewards[i] + reward_noise[i]);
            }
        }
    }
    Evaluation { value: Estimate::of(&returns), unfairness: disagreement.summary(agent.is_deterministic()), rates }
}

/// One level's world of a block of people.
struct Side {
    memory: AgentMemory,
    states: Vec<f64>,
    next: Vec<f64>,
    rewards: Vec<f64>,
}

fn plus<'a>(noise: &'a [f64], mean: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
    noise.iter().zip(mean).map(|(u, m)| m + u)
}
