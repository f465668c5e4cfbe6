//! A policy at work: a request about a person in, a decision out, one memory per person.
//!
//! | idea | file |
//! |---|---|
//! | what is asked, and why it may be declined | [`Request`], [`RequestError`] |
//! | what is answered, and how sure it is | [`Decision`], [`Explanation`] |
//! | what is remembered, and where | [`Remembered`], [`MemoryStore`], [`InProcess`] |
//! | a memory that survives a crash | [`MemoryFile`] (feature `durable`) |
//! | the same as lines of JSON | [`Deployment::answer_all`] |

mod decision;
#[cfg(feature = "durable")]
mod durable;
mod line;
mod memory;
mod record;
mod request;

pub use decision::{Decision, Explain, Explanation};
#[cfg(feature = "durable")]
pub use durable::{HISTORY, MemoryBasis, MemoryFile};
pub use line::{Answered, LineError, OnError};
pub use memory::{InProcess, MemoryError, MemoryStore, Remembered};
pub use request::{Request, RequestError};

use super::{Method, Policy};
use crate::kernel::learn::{ActionValue, Agent, AgentMemory};
use crate::kernel::people::Labels;
use crate::kernel::preprocess::{Memory, StateOnly};
use std::collections::{BTreeMap, HashMap};

/// A policy, and what it remembers of everybody it has met.
///
/// # Example
/// ```
/// use counterfair::prelude::*;
/// # use counterfair::kernel::{model::{Exogenous, simulate, worlds::Linear}, numeric::Stream};
/// # let world = Linear::new(1.0);
/// # let people = People::from(simulate(&world, &Exogenous::draw(&world, 100, 5, Stream::new(1))));
/// let mut desk = Learner::new(Method::Ours).learn(&people)?.deploy();
/// let first = desk.decide(&Request::first("ann", "1", [0.4]))?;
/// let second = desk.decide(&Request::after("ann", "1", &first.action, [-0.2]))?;
/// assert_eq!(second.counterfactual_states.unwrap()["1"], [-0.2]);
/// # Ok::<(), counterfair::fair::Error>(())
/// ```
/// A request that says which decision it asks for can be sent again:
/// ```
/// # use counterfair::prelude::*;
/// # use counterfair::kernel::{model::{Exogenous, simulate, worlds::Linear}, numeric::Stream};
/// # let world = Linear::new(1.0);
/// # let people = People::from(simulate(&world, &Exogenous::draw(&world, 100, 5, Stream::new(1))));
/// # let mut desk = Learner::new(Method::Ours).learn(&people)?.deploy();
/// let request = Request::first("bob", "0", [0.4]).at(1);
/// assert_eq!(desk.decide(&request)?.action, desk.decide(&request)?.action);
/// # Ok::<(), counterfair::fair::Error>(())
/// ```
pub struct Deployment {
    policy: Policy,
    fingerprint: String,
    agent: Box<dyn Agent>,
    /// The action value, whatever its view is called: widths were checked with the policy. A policy that is a program has none, and every
    /// request about it is declined.
    values: Option<Box<dyn ActionValue<StateOnly>>>,
    store: Box<dyn MemoryStore>,
    /// What the decisions since the last commit rest on; `None` forgets.
    staged: HashMap<String, Option<Remembered>>,
    explain: Explain,
}

impl Deployment {
    /// A policy that has met nobody yet, and remembers until the process ends.
    pub fn new(policy: Policy) -> Self {
        Self::with_memory(policy, InProcess::default())
    }

    /// A policy that remembers in `store`. A [`MemoryFile`] was opened for this very policy.
    pub fn with_memory(policy: Policy, store: impl MemoryStore + 'static) -> Self {
        Self {
            fingerprint: policy.fingerprint(),
            agent: policy.agent(),
            values: policy.action_value(),
            policy,
            store: Box::new(store),
            staged: HashMap::new(),
            explain: Explain::Never,
        }
    }

    /// The same, whose decisions say how sure they are, or not.
    pub fn explaining(self, explain: Explain) -> Self {
        Self { explain, ..self }
    }

    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// [`Policy::fingerprint`] of the policy.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// What is remembered.
    pub fn memory(&self) -> &dyn MemoryStore {
        &*self.store
    }

    /// Decides for one person; a request that cannot be used changes no memory. With a durable memory the decision is on disk when this
    /// returns; many at once are cheaper by [`decide_all`](Self::decide_all).
    ///
    /// # Errors
    /// [`RequestError`].
    pub fn decide(&mut self, request: &Request) -> Result<Decision, RequestError> {
        let decision = self.stage(request)?;
        self.commit()?;
        Ok(decision)
    }

    /// Decides for many, in their order, and remembers all of it at once: no decision is given out before what it rests on is kept. Of
    /// several about one person only the last can be sent again after a crash: ask for them in calls of their own.
    ///
    /// # Errors
    /// [`MemoryError`] when nothing could be kept; then no decision was taken. What is wrong with one request stands in its place.
    pub fn decide_all(&mut self, requests: &[Request]) -> Result<Vec<Result<Decision, RequestError>>, MemoryError> {
        let decisions = requests.iter().map(|request| self.stage(request)).collect();
        self.commit()?;
        Ok(decisions)
    }

    /// Forgets a person; whether anything had been remembered. A [`MemoryFile`] is written anew then, without a
    /// trace of them.
    ///
    /// # Errors
    /// [`MemoryError`].
    pub fn forget(&mut self, id: &str) -> Result<bool, MemoryError> {
        let known = self.stage_forget(id)?;
        self.commit()?;
        Ok(known)
    }

    fn stage_forget(&mut self, id: &str) -> Result<bool, MemoryError> {
        let known = self.remembered(id)?.is_some();
        if known {
            self.staged.insert(id.into(), None);
        }
        Ok(known)
    }

    /// What is known of a person, with what waits for the next commit.
    fn remembered(&self, id: &str) -> Result<Option<Remembered>, MemoryError> {
        match self.staged.get(id) {
            Some(person) => Ok(person.clone()),
            None => self.store.get(id),
        }
    }

    /// Keeps what was staged, or none of it.
    fn commit(&mut self) -> Result<(), MemoryError> {
        let kept = if self.staged.is_empty() { Ok(()) } else { self.store.put(&self.staged) };
        self.staged.clear();
        kept
    }

    /// Takes a decision that stands once it is committed.
    fn stage(&mut self, request: &Request) -> Result<Decision, RequestError> {
        let policy = &self.policy;
        let p = policy.state_dim;
        let level = code(&policy.levels, &request.level, "z")?;
        if request.state.len() != p {
            return Err(RequestError::Width { found: request.state.len(), needed: p });
        }
        let taken = request.action.as_ref().map(|name| code(&policy.actions, name, "action")).transpose()?;
        let known = self.remembered(&request.id)?;
        if let Some(person) = known.as_ref().filter(|person| person.level != level) {
            let was = policy.levels.name(person.level as usize).to_string();
            return Err(RequestError::LevelChanged { id: request.id.clone(), was, now: request.level.clone() });
        }
        if self.is_repeated(request, taken, known.as_ref())? {
            let person = known.expect("only an answered request is repeated");
            return Ok(Decision { repeated: true, ..self.decision(&request.id, &person)? });
        }
        let mut person = self.step(request, level, taken, known)?;
        person.decided = self.decide_for(&request.id, &person)?;
        let decision = self.decision(&request.id, &person)?;
        self.staged.insert(request.id.clone(), Some(person));
        Ok(decision)
    }

    /// Whether the request has been answered before; a time that is neither the last nor the next is an error.
    fn is_repeated(
        &self,
        request: &Request,
        taken: Option<u32>,
        known: Option<&Remembered>,
    ) -> Result<bool, RequestError> {
        let Some(time) = request.time else { return Ok(false) };
        let (id, decisions) = (request.id.clone(), known.map_or(0, |person| person.decisions));
        if time == decisions + 1 {
            return Ok(false);
        }
        let Some(person) = known.filter(|_| time <= decisions) else {
            return Err(RequestError::Gap { id, time, decisions });
        };
        let action = self.policy.actions.name(person.decided as usize).to_string();
        if time < decisions {
            return Err(RequestError::Past { id, time, decisions, action });
        }
        let same_state = person
            .state(self.policy.state_dim)
            .iter()
            .map(|x| x.to_bits())
            .eq(request.state.iter().map(|x| x.to_bits()));
        let same_action = person.actions.last().copied() == taken;
        match (same_state, same_action) {
            (true, true) => Ok(true),
            (false, _) => Err(RequestError::Conflict { id, time, action, differs: "state" }),
            (true, false) => Err(RequestError::Conflict { id, time, action, differs: "action" }),
        }
    }

    /// What is remembered after one more request, the decision not yet taken.
    fn step(
        &self,
        request: &Request,
        level: u32,
        taken: Option<u32>,
        known: Option<Remembered>,
    ) -> Result<Remembered, RequestError> {
        let id = || request.id.clone();
        let person = match (known, taken) {
            (None, None) => {
                let mut memory = self.agent.begin(&[level], &request.state, &[0.5]);
                let view = memory.parts.pop().map_or_else(Vec::new, |part| part.view);
                Remembered { level, decisions: 1, decided: 0, view, states: request.state.clone(), actions: vec![] }
            }
            (None, Some(_)) => return Err(RequestError::NothingRemembered { id: id() }),
            (Some(_), None) => return Err(RequestError::MissingAction { id: id() }),
            (Some(mut person), Some(action)) => {
                person.view = advanced(&*self.agent, &person, self.policy.state_dim, action, &request.state);
                if person.decisions >= self.store.history() {
                    person.states.clear();
                    person.actions.clear();
                }
                person.states.extend(&request.state);
                person.actions.push(action);
                person.decisions += 1;
                person
            }
        };
        if let Some(&value) = person.view.iter().find(|x| !x.is_finite()) {
            return Err(RequestError::Overflow { id: id(), value });
        }
        Ok(person)
    }

    /// The code of the action for a person as remembered.
    fn decide_for(&self, id: &str, person: &Remembered) -> Result<u32, RequestError> {
        Ok(best(&self.values_of(id, &person.view)?) as u32)
    }

    /// Q(s̃, a) of every action, all finite.
    fn values_of(&self, id: &str, view: &[f64]) -> Result<Vec<f64>, RequestError> {
        let q = self.values.as_ref().ok_or(RequestError::Program)?;
        let mut values = vec![0.0; self.policy.actions.len()];
        q.values(view, &mut values);
        match values.iter().position(|q| !q.is_finite()) {
            None => Ok(values),
            Some(a) => {
                let action = self.policy.actions.name(a).to_string();
                Err(RequestError::Value { id: id.into(), action, value: values[a] })
            }
        }
    }

    /// The last decision about a person, in words.
    fn decision(&self, id: &str, person: &Remembered) -> Result<Decision, RequestError> {
        let policy = &self.policy;
        let name = |a: usize| policy.actions.name(a).to_string();
        let counterfactual_states = (policy.method == Method::Ours).then(|| {
            let by_level = person.view.chunks_exact(policy.state_dim).enumerate();
            by_level.map(|(k, state)| (policy.levels.name(k).to_string(), state.to_vec())).collect()
        });
        let distance = policy.seen.as_ref().map(|seen| seen.distance(&person.view));
        let explanation = if self.explain != Explain::Never {
            let values = self.values_of(id, &person.view)?;
            let decided = person.decided as usize;
            let others = (0..values.len()).filter(|&a| a != decided);
            let runner_up = others.reduce(|a, b| if values[b] > values[a] { b } else { a });
            Some(Explanation {
                runner_up: runner_up.map(name),
                margin: runner_up.map(|a| (values[decided] - values[a]).clamp(-f64::MAX, f64::MAX)),
                distance,
                values: values.iter().enumerate().map(|(a, q)| (name(a), *q)).collect::<BTreeMap<_, _>>(),
            })
        } else {
            None
        };
        Ok(Decision {
            action: name(person.decided as usize),
            counterfactual_states,
            outside: distance.map(|d| d > 0.0),
            explanation,
            time: person.decisions,
            repeated: false,
        })
    }
}

/// What the policy reads after one more step of a person.
fn advanced(agent: &dyn Agent, person: &Remembered, state_dim: usize, action: u32, state: &[f64]) -> Vec<f64> {
    let mut memory = AgentMemory::default();
    memory.parts.push(Memory::new(&[person.level], person.state(state_dim), person.view.clone()));
    memory.coins.push(0.5);
    agent.advance(&mut memory, &[action], state);
    memory.parts.pop().map_or_else(Vec::new, |part| part.view)
}

/// The first of the largest values, as [`Greedy`](crate::kernel::learn::Greedy) chooses.
fn best(values: &[f64]) -> usize {
    (1..values.len()).fold(0, |best, a| if values[a] > values[best] { a } else { best })
}

fn code(labels: &Labels, name: &str, what: &'static str) -> Result<u32, RequestError> {
    labels.code(name).map(|code| code as u32).ok_or_else(|| RequestError::Unknown {
        what,
        value: format!("{name:?}"),
        known: labels.names().to_vec(),
    })
}

#[cfg(test)]
mod tests;
