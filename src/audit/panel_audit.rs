//! A policy audited on recorded histories: its CF metric, whom it would treat, and what it would do.

use super::cross_section::CrossSections;
use crate::kernel::evaluate::BLOCK;
use crate::kernel::evaluate::{ActionRates, Disagreement, Unfairness};
use crate::kernel::learn::{Agent, AgentMemory};
use crate::kernel::model::Mechanism;
use crate::kernel::numeric::{Stream, fill_uniform};
use crate::kernel::people::Panel;
use crate::kernel::preprocess::{Preprocessor, Sequential, StateOverflow};

/// What an audit on data shows.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelAudit {
    /// `eq:cf_metric` along the observed histories.
    pub unfairness: Unfairness,
    /// How often each group would receive each action.
    pub rates: ActionRates,
    /// What the agent would do at each recorded decision, in the order of the panel.
    pub actions: Vec<u32>,
}

/// The uniform draws behind an agent's actions on a panel, the same in every world.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelDraws {
    /// One a person, for what is decided once an episode.
    pub coins: Vec<f64>,
    /// One a decision, in the order of the panel.
    pub uniforms: Vec<f64>,
}

impl PanelDraws {
    /// Draws from the stream's children `coin` and `action`.
    pub fn draw(panel: &Panel, stream: Stream) -> Self {
        let (mut coins, mut uniforms) = (vec![0.0; panel.people()], vec![0.0; panel.decisions()]);
        fill_uniform(&mut stream.named("coin").rng(), &mut coins);
        fill_uniform(&mut stream.named("action").rng(), &mut uniforms);
        Self { coins, uniforms }
    }
}

/// Why an agent cannot be audited on a panel.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AuditError {
    /// The panel, the evaluator's mechanism and the agent disagree on K, p or |A|.
    #[error("the panel has {panel} {what} and the {who} has {other}")]
    Shape {
        /// `levels`, `state coordinates` or `actions`.
        what: &'static str,
        /// `mechanism` or `agent`.
        who: &'static str,
        /// How many the panel has.
        panel: usize,
        /// How many the other has.
        other: usize,
    },
    /// Not one coin a person and one uniform a decision.
    #[error("{found} uniform draws were given where the panel has {needed} {of}")]
    Draws {
        /// `people` or `decisions`.
        of: &'static str,
        /// One draw for each of these.
        needed: usize,
        /// Draws given.
        found: usize,
    },
    /// A counterfactual state left the finite numbers.
    #[error(transparent)]
    Overflow(#[from] StateOverflow),
}

/// Asks an agent, along every recorded history and in the world of every level, what it would do.
///
/// The histories of the other worlds come from `mechanism`, which is the evaluator's: fit it apart from the policy's, or a policy
/// that is fair under its own mistaken means will pass. The actions along all of them are the recorded ones. In each
/// world the agent keeps a memory of its own and is told that world's level and states, as if it had always been there.
///
/// # Equation
/// ```text
/// max_{z, z′} Σᵢ Σₜ 1{ Aₜ^{Z←z′}(Ūₜ(hᵢₜ)) ≠ Aₜ^{Z←z}(Ūₜ(hᵢₜ)) } / Σᵢ Tᵢ                       (eq:cf_metric)
/// ```
///
/// # Errors
/// [`AuditError`] when shapes do not fit, or a counterfactual state is not a finite number.
pub fn audit(
    panel: &Panel,
    mechanism: &dyn Mechanism,
    agent: &dyn Agent,
    draws: &PanelDraws,
) -> Result<PanelAudit, AuditError> {
    check(panel, mechanism, agent, draws)?;
    let (p, levels, actions) = (panel.state_dim(), panel.levels().len(), panel.action_names().len());
    let people = CrossSections::new(panel, |i| panel.decisions_of(i).len());
    // The counterfactual states are lines 4 and 7 of alg:cf:1; its rewards, hence its weights, are not asked for.
    let histories = Sequential::new(mechanism, vec![1.0; levels]);
    let mut disagreement = Disagreement::new(panel.people(), levels, actions);
    let mut rates = ActionRates::new(panel.people(), panel.horizon(), levels, actions);
    let mut would = vec![0; panel.decisions()];

    for (block, members) in people.order().chunks(BLOCK).enumerate() {
        let first = block * BLOCK;
        let mut own = people.levels(members);
        let (mut states, mut logged, mut uniforms, mut taken) = (vec![], vec![], vec![], vec![]);
        let (mut chosen, mut probabilities) = (vec![vec![]; levels], vec![]);
        people.states(members, 0, &mut states);
        let mut worlds = histories.begin(&own, &states);
        let coins: Vec<f64> = members.iter().map(|&i| draws.coins[i]).collect();
        let mut memories: Vec<AgentMemory> = (0..levels)
            .map(|k| {
                level_states(&worlds.view, k, levels, p, &mut states);
                agent.begin(&vec![k as u32; members.len()], &states, &coins)
            })
            .collect();
        if !agent.is_deterministic() {
            probabilities = vec![vec![]; levels];
        }
        for t in 0.. {
            let n = members.partition_point(|&i| panel.decisions_of(i).len() > t);
            if n == 0 {
                break;
            }
            let members = &members[..n];
            own.truncate(n);
            worlds.truncate(n);
            memories.iter_mut().for_each(|memory| memory.truncate(n));
            if t > 0 {
                people.actions(members, t - 1, &mut logged);
                people.states(members, t, &mut states);
                histories.advance(&mut worlds, &logged, &states);
                for (k, memory) in memories.iter_mut().enumerate() {
                    level_states(&worlds.view, k, levels, p, &mut states);
                    agent.advance(memory, &logged, &states);
                }
            }
            check_finite(panel, members, t, &worlds.view)?;
            uniforms.clear();
            uniforms.extend(members.iter().map(|&i| draws.uniforms[panel.decisions_of(i).start + t]));
            for (memory, chosen) in memories.iter_mut().zip(&mut chosen) {
                chosen.resize(n, 0);
                agent.act(memory, &uniforms, chosen);
            }
            for (memory, probabilities) in memories.iter_mut().zip(&mut probabilities) {
                probabilities.resize(n * actions, 0.0);
                agent.probabilities(memory, probabilities);
            }
            disagreement.count(first, &chosen, &probabilities);
            taken.clear();
            taken.extend(own.iter().enumerate().map(|(i, &z)| chosen[z as usize][i]));
            rates.count(t, first, &own, &taken);
            for (&i, &action) in members.iter().zip(&taken) {
                would[panel.decisions_of(i).start + t] = action;
            }
        }
    }
    Ok(PanelAudit { unfairness: disagreement.summary(agent.is_deterministic()), rates, actions: would })
}

/// π(a | h) of an agent at every recorded state, along the histories as they were: |A| numbers a state row, in the order of the panel.
///
/// The state after the last decision is included where it was recorded, because fitted Q evaluation looks there. `coins` has one
/// draw a person. An [`EpisodeMixture`](crate::theory::rules::EpisodeMixture) answers for the agent its coin chose; its
/// value is the weighted mean of the values of the two, so evaluate those.
///
/// # Errors
/// [`AuditError`] when shapes do not fit.
pub fn probabilities_along(panel: &Panel, agent: &dyn Agent, coins: &[f64]) -> Result<Vec<f64>, AuditError> {
    let actions = panel.action_names().len();
    same("actions", "agent", actions, agent.actions())?;
    one_each("people", panel.people(), coins.len())?;
    let people = CrossSections::new(panel, |i| panel.states_of(i).len());
    let mut out = vec![0.0; panel.state_rows() * actions];
    for members in people.order().chunks(BLOCK) {
        let (mut states, mut logged, mut probabilities) = (vec![], vec![], vec![]);
        people.states(members, 0, &mut states);
        let coins: Vec<f64> = members.iter().map(|&i| coins[i]).collect();
        let mut memory = agent.begin(&people.levels(members), &states, &coins);
        for t in 0.. {
            let n = members.partition_point(|&i| panel.states_of(i).len() > t);
            if n == 0 {
                break;
            }
            let members = &members[..n];
            if t > 0 {
                memory.truncate(n);
                people.actions(members, t - 1, &mut logged);
                people.states(members, t, &mut states);
                agent.advance(&mut memory, &logged, &states);
            }
            probabilities.resize(n * actions, 0.0);
            agent.probabilities(&mut memory, &mut probabilities);
            for (&i, row) in members.iter().zip(probabilities.chunks_exact(actions)) {
                let at = panel.states_of(i).start + t;
                out[at * actions..(at + 1) * actions].copy_from_slice(row);
            }
        }
    }
    Ok(out)
}

/// The states of level k out of rows [s¹, …, sᴷ], written over `out`.
pub(super) fn level_states(view: &[f64], k: usize, levels: usize, p: usize, out: &mut Vec<f64>) {
    out.clear();
    for row in view.chunks_exact(levels * p) {
        out.extend_from_slice(&row[k * p..(k + 1) * p]);
    }
}

fn check_finite(panel: &Panel, members: &[usize], t: usize, view: &[f64]) -> Result<(), StateOverflow> {
    let width = view.len() / members.len();
    match view.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(at) => Err(StateOverflow { id: panel.ids()[members[at / width]].clone(), t: t + 1, value: view[at] }),
    }
}

pub(super) fn check(
    panel: &Panel,
    mechanism: &dyn Mechanism,
    agent: &dyn Agent,
    draws: &PanelDraws,
) -> Result<(), AuditError> {
    same("levels", "mechanism", panel.levels().len(), mechanism.levels())?;
    same("state coordinates", "mechanism", panel.state_dim(), mechanism.state_dim())?;
    same("actions", "mechanism", panel.action_names().len(), mechanism.actions())?;
    same("actions", "agent", panel.action_names().len(), agent.actions())?;
    one_each("people", panel.people(), draws.coins.len())?;
    one_each("decisions", panel.decisions(), draws.uniforms.len())
}

fn same(what: &'static str, who: &'static str, panel: usize, other: usize) -> Result<(), AuditError> {
    if panel == other { Ok(()) } else { Err(AuditError::Shape { what, who, panel, other }) }
}

fn one_each(of: &'static str, needed: usize, found: usize) -> Result<(), AuditError> {
    if needed == found { Ok(()) } else { Err(AuditError::Draws { of, needed, found }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::people::{Labels, PanelBuilder, Person};

    #[test]
    fn the_person_whose_state_left_the_numbers_is_named() {
        let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(1), 1).unwrap();
        for id in ["a", "b", "c"] {
            builder.push(Person { id, level: 0, states: &[0.5], actions: &[0], rewards: &[0.0] }).unwrap();
        }
        let panel = builder.finish();
        // Three numbers each of the third and of the first person.
        let view = |at: usize| (0..6).map(|i| if i == at { f64::INFINITY } else { 0.0 }).collect::<Vec<_>>();
        assert_eq!(check_finite(&panel, &[2, 0], 4, &view(6)), Ok(()));
        for (at, id) in [(0, "c"), (2, "c"), (3, "a"), (5, "a")] {
            let found = check_finite(&panel, &[2, 0], 4, &view(at)).unwrap_err();
            assert_eq!((found.id.as_str(), found.t, found.value), (id, 5, f64::INFINITY));
        }
    }
}
