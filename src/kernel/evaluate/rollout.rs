//! A policy followed in a known world: its value, its CF metric and whom it treats, from one pass.

use super::walk::{Lengths, Moment, Taken, Walk, Watch};
use super::{ActionRates, Disagreement, Unfairness};
use crate::learn::Agent;
use crate::model::{Exogenous, Mechanism};
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

/// People per block: memories of all worlds stay in cache.
pub const BLOCK: usize = 1024;

/// Follows an agent through a world on given exogenous draws.
///
/// In each block of people every level's world is run side by side: the same noise and, in all of them, the actions taken in
/// the factual one. The agent keeps a memory in each world and is asked there for its action; person i's own world is the
/// one of level zᵢ, so the factual rollout is a selection, not a computation of its own.
pub fn evaluate(world: &dyn Mechanism, agent: &dyn Agent, exogenous: &Exogenous, discount: f64) -> Evaluation {
    let (n, horizon, levels, actions) = (exogenous.people(), exogenous.horizon(), world.levels(), agent.actions());
    let mut seen = Seen {
        levels: exogenous.levels(),
        discount,
        returns: vec![0.0; n],
        disagreement: Disagreement::new(n, levels, actions),
        rates: ActionRates::new(n, horizon, levels, actions),
    };
    let walk = Walk { mechanism: world, agent, draws: exogenous };
    for first in (0..n).step_by(BLOCK) {
        walk.follow(first..(first + BLOCK).min(n), Taken::Own, Lengths::all(horizon), &mut seen);
    }
    let Seen { returns, disagreement, rates, .. } = seen;
    Evaluation { value: Estimate::of(&returns), unfairness: disagreement.summary(agent.is_deterministic()), rates }
}

/// What is counted on the way.
struct Seen<'a> {
    levels: &'a [u32],
    discount: f64,
    /// Σ γ^{t−1} Rₜ of each person.
    returns: Vec<f64>,
    disagreement: Disagreement,
    rates: ActionRates,
}

impl Watch for Seen<'_> {
    fn decided(&mut self, moment: &Moment) {
        self.disagreement.decided(moment);
        self.rates.count(moment.t, moment.people.start, &self.levels[moment.people.clone()], moment.taken);
    }

    fn walked(&mut self, moment: &Moment) {
        let weight = self.discount.powi(moment.t as i32);
        for (place, i) in moment.people.clone().enumerate() {
            self.returns[i] += weight * moment.worlds[self.levels[i] as usize].rewards[place];
        }
    }
}
