//! A memory for another policy: what was observed is replayed through the other mechanism.

use super::{MemoryError, MemoryStore, Remembered, advanced};
use crate::fair::Policy;
use crate::kernel::data::Labels;
use crate::kernel::learn::Agent;
use std::collections::HashMap;

/// People written to the new memory at once.
const BLOCK: usize = 4096;

/// Replays everybody in `from` through `policy` into `to`, which should be empty; how many there were. Levels and actions are matched by
/// name. The last decision of each person stands as it was given, so that a request sent again is answered as before.
///
/// # Errors
/// [`MemoryError::Unreplayable`] when somebody's history is not complete, or names a level or action that the policy does not know. With
/// `leave_behind` such people are left out instead, and `to` holds the others.
pub fn migrate(
    from: &dyn MemoryStore,
    codes: Codes<'_>,
    policy: &Policy,
    to: &mut dyn MemoryStore,
    leave_behind: bool,
) -> Result<Migrated, MemoryError> {
    let agent = policy.agent();
    let mut block = HashMap::new();
    let mut done = Migrated { people: 0, left_behind: Vec::new() };
    let mut unreplayable: Option<(String, String)> = None;
    from.visit(&mut |id, person| {
        match replay(&*agent, policy, codes, &person) {
            Ok(replayed) => {
                done.people += 1;
                block.insert(id.to_string(), Some(replayed));
            }
            Err(problem) => {
                unreplayable.get_or_insert((id.into(), problem));
                done.left_behind.push(id.into());
            }
        }
        if block.len() >= BLOCK && (leave_behind || unreplayable.is_none()) {
            to.put(&block)?;
            block.clear();
        }
        Ok(())
    })?;
    match unreplayable {
        Some((id, problem)) if !leave_behind => {
            Err(MemoryError::Unreplayable { id, problem, others: done.left_behind.len() - 1 })
        }
        _ => {
            to.put(&block)?;
            Ok(done)
        }
    }
}

/// What the codes in a memory stand for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Codes<'a> {
    /// The names of the levels.
    pub levels: &'a Labels,
    /// The names of the actions.
    pub actions: &'a Labels,
    /// p.
    pub state_dim: usize,
}

/// What a migration did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migrated {
    /// People replayed.
    pub people: u64,
    /// Ids of those who were not.
    pub left_behind: Vec<String>,
}

/// One person's history through another policy's mechanism.
///
/// # Errors
/// What is missing, in words.
pub(super) fn replay(
    agent: &dyn Agent,
    policy: &Policy,
    codes: Codes<'_>,
    person: &Remembered,
) -> Result<Remembered, String> {
    let p = policy.state_dim;
    if codes.state_dim != p {
        return Err(format!("states of {} numbers were kept, the policy reads {p}", codes.state_dim));
    }
    if !person.is_complete(p) {
        let kept = person.states.len() / p;
        return Err(format!("{kept} of {} observed states were kept", person.decisions));
    }
    let translate = |from: &Labels, to: &Labels, code: u32, what: &str| {
        let name = from.names().get(code as usize).ok_or_else(|| format!("{what} code {code} has no name"))?;
        to.code(name).map(|code| code as u32).ok_or_else(|| format!("the policy knows no {what} {name:?}"))
    };
    let level = translate(codes.levels, &policy.levels, person.level, "level")?;
    let action = |code: u32| translate(codes.actions, &policy.actions, code, "action");
    let mut states = person.states.chunks_exact(p);
    let first = states.next().ok_or("no state was kept")?;
    let mut memory = agent.begin(&[level], first, &[0.5]);
    let view = memory.parts.pop().map_or_else(Vec::new, |part| part.view);
    let decided = action(person.decided)?;
    let mut replayed = Remembered { level, decisions: 1, decided, view, states: first.to_vec(), actions: vec![] };
    for (state, &code) in states.zip(&person.actions) {
        let taken = action(code)?;
        replayed.view = advanced(agent, &replayed, p, taken, state);
        replayed.states.extend(state);
        replayed.actions.push(taken);
        replayed.decisions += 1;
    }
    match replayed.view.iter().find(|x| !x.is_finite()) {
        None => Ok(replayed),
        Some(x) => Err(format!("a counterfactual state is {x}")),
    }
}
