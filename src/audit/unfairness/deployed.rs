//! A policy followed through all worlds of recorded people, under its own decisions.

use super::super::own_noise::{Until, cohorts};
use crate::audit::PanelDraws;
use crate::kernel::evaluate::{BLOCK, Disagreement, Lengths, Moment, Taken, Walk, Watch};
use crate::kernel::learn::Agent;
use crate::kernel::model::{Mechanism, PanelNoise};
use crate::kernel::people::Panel;
use crate::kernel::preprocess::StateOverflow;

/// How often a policy decides differently in the worlds of people who are followed with this noise, person by person.
///
/// # Equation
/// ```text
/// S₁ᵏ = m(k) + U₁,   Aₜ = π(hₜᶻ),   Sₜ₊₁ᵏ = μ(Sₜᵏ, Aₜ, k) + Uₜ₊₁      for every level k, z the person's own; recorded as the mechanism says
/// ```
/// The agent has a memory in each world, of the states that are recorded there.
pub(super) fn disagreement(
    mechanism: &dyn Mechanism,
    agent: &dyn Agent,
    panel: &Panel,
    draws: &PanelDraws,
    noise: &PanelNoise,
) -> Result<Disagreement, StateOverflow> {
    let (levels, actions) = (mechanism.levels(), agent.actions());
    let mut watched =
        Watched { counted: Disagreement::new(panel.people(), levels, actions), before: 0, overflow: None };
    let mut order = Vec::with_capacity(panel.people());
    for cohort in cohorts(panel, draws, noise, Until::TheyLeft) {
        let walk = Walk { mechanism, agent, draws: &cohort.draws };
        let (people, horizon) = (cohort.draws.people(), cohort.draws.horizon());
        watched.before = order.len();
        for first in (0..people).step_by(BLOCK) {
            walk.follow(first..(first + BLOCK).min(people), Taken::Own, Lengths::all(horizon), &mut watched);
        }
        order.extend(cohort.people);
        if let Some((place, t, value)) = watched.overflow {
            return Err(StateOverflow { id: panel.ids()[order[place]].clone(), t: t + 1, value });
        }
    }
    // People about whom nothing was decided come last.
    order.extend((0..panel.people()).filter(|&i| panel.decisions_of(i).is_empty()));
    Ok(watched.counted.moved(&order))
}

struct Watched {
    counted: Disagreement,
    /// People of cohorts that were followed before.
    before: usize,
    /// The first state that left the finite numbers: whose, when, and what it was.
    overflow: Option<(usize, usize, f64)>,
}

impl Watch for Watched {
    fn decided(&mut self, moment: &Moment) {
        let first = self.before + moment.people.start;
        self.counted.count(first, moment.chosen, moment.probabilities);
        for world in moment.worlds {
            let states = world.states();
            let Some(at) = states.iter().position(|s| !s.is_finite()) else { continue };
            let place = first + at / (states.len() / moment.people.len());
            self.overflow.get_or_insert((place, moment.t, states[at]));
        }
    }
}
