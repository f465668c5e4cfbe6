//! A policy followed in a known world: its value, its CF metric and whom it treats, from one pass.

use super::one_world::OneWorld;
use super::{ActionRates, Disagreement, Unfairness};
use crate::learn::Agent;
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

/// People a block: memories of all worlds stay in cache.
pub const BLOCK: usize = 1024;

/// Follows an agent through a world on given exogenous draws.
///
/// In each block of people every level's world is run side by side: the same noise and, in all of them, the actions taken in
/// the factual one. The agent keeps a memory in each world and is asked there for its action; person i's own world is the
/// one of level zᵢ, so the factual rollout is a selection, not a computation of its own.
pub fn evaluate(world: &dyn World, agent: &dyn Agent, exogenous: &Exogenous, discount: f64) -> Evaluation {
    let (n, horizon, levels, actions) = (exogenous.people(), exogenous.horizon(), world.levels(), agent.actions());
    let mut returns = vec![0.0; n];
    let mut disagreement = Disagreement::new(n, levels, actions);
    let mut rates = ActionRates::new(n, horizon, levels, actions);
    for first in (0..n).step_by(BLOCK) {
        let people = first..(first + BLOCK).min(n);
        let m = people.len();
        let own = &exogenous.levels()[people.clone()];
        let mut worlds: Vec<OneWorld> =
            (0..levels).map(|k| OneWorld::begin(world, agent, exogenous, people.clone(), k)).collect();
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
            rates.count(t, first, own, &taken);
            for side in &mut worlds {
                side.step(world, agent, exogenous, t, &taken);
            }
            let weight = discount.powi(t as i32);
            for (i, &z) in own.iter().enumerate() {
                returns[first + i] += weight * worlds[z as usize].rewards[i];
            }
        }
    }
    Evaluation { value: Estimate::of(&returns), unfairness: disagreement.summary(agent.is_deterministic()), rates }
}
