//! A stored policy at work: one line about a person in, one decision out, one memory a person.

use super::stored::{Method, StoredPolicy};
use super::{Agent, AgentMemory};
use crate::data::Labels;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;

/// A policy, and what it remembers of everybody it has met.
pub struct Deployment {
    policy: StoredPolicy,
    agent: Box<dyn Agent>,
    people: HashMap<String, Known>,
}

struct Known {
    level: u32,
    memory: AgentMemory,
}

/// One line of input: who, their level, their state now, and the action taken since the last line about them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    id: Value,
    z: Value,
    state: Vec<f64>,
    #[serde(default)]
    action: Option<Value>,
}

/// Why a line cannot be answered; nothing is remembered of it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LineError {
    /// Not an object with `id`, `z`, `state` and, if wanted, `action`.
    #[error("{0}")]
    Malformed(String),
    /// An id that is neither a string nor a number.
    #[error("id is {0}, neither a string nor a number")]
    Id(String),
    /// A level or an action that the policy has never seen.
    #[error("{what} is {value}; the policy knows {known:?}")]
    Unknown {
        /// `z` or `action`.
        what: &'static str,
        /// The value given.
        value: String,
        /// What is known.
        known: Vec<String>,
    },
    /// Another number of state coordinates than the policy reads.
    #[error("state has {found} numbers, the policy reads {needed}")]
    Width {
        /// Numbers given.
        found: usize,
        /// Numbers needed.
        needed: usize,
    },
    /// A first line with a previous action.
    #[error("the first line about {id} has a previous action, but nothing is remembered of them")]
    NothingRemembered {
        /// The person.
        id: String,
    },
    /// A further line without the action taken in between.
    #[error("a further line about {id} needs the action taken since the last one")]
    MissingAction {
        /// The person.
        id: String,
    },
    /// A level that differs from the one remembered.
    #[error("z of {id} was {was:?}, now {now}")]
    LevelChanged {
        /// The person.
        id: String,
        /// The level remembered.
        was: String,
        /// The level given.
        now: String,
    },
    /// A counterfactual state that is not a finite number.
    #[error("a counterfactual state of {id} is {value}: the mechanism was led beyond its range")]
    Overflow {
        /// The person.
        id: String,
        /// The value.
        value: f64,
    },
}

impl Deployment {
    /// A policy that has met nobody yet.
    pub fn new(policy: StoredPolicy) -> Self {
        Self { agent: policy.agent(), policy, people: HashMap::new() }
    }

    /// Decides for one person; a line that cannot be used changes no memory.
    ///
    /// # Errors
    /// [`LineError`].
    pub fn answer(&mut self, line: &[u8]) -> Result<Value, LineError> {
        let request: Request = serde_json::from_slice(line).map_err(|error| LineError::Malformed(error.to_string()))?;
        let policy = &self.policy;
        let id = name(&request.id).ok_or_else(|| LineError::Id(request.id.to_string()))?;
        let level = code(&policy.levels, &request.z, "z")?;
        if request.state.len() != policy.state_dim {
            return Err(LineError::Width { found: request.state.len(), needed: policy.state_dim });
        }
        let taken = match &request.action {
            None | Some(Value::Null) => None,
            Some(value) => Some(code(&policy.actions, value, "action")?),
        };
        let mut memory = match (self.people.get(&id), taken) {
            (None, None) => self.agent.begin(&[level], &request.state, &[0.5]),
            (None, Some(_)) => return Err(LineError::NothingRemembered { id }),
            (Some(person), _) if person.level != level => {
                let was = policy.levels.name(person.level as usize).to_string();
                return Err(LineError::LevelChanged { id, was, now: request.z.to_string() });
            }
            (Some(_), None) => return Err(LineError::MissingAction { id }),
            (Some(person), Some(action)) => {
                let mut memory = person.memory.clone();
                self.agent.advance(&mut memory, &[action], &request.state);
                memory
            }
        };
        let view = memory.parts.first().map_or(&[][..], |part| &part.view);
        if let Some(&value) = view.iter().find(|x| !x.is_finite()) {
            return Err(LineError::Overflow { id, value });
        }
        let worlds = (policy.method == Method::Ours).then(|| {
            let by_level = view.chunks_exact(policy.state_dim).enumerate();
            by_level
                .map(|(k, state)| (policy.levels.name(k).to_string(), json!(state)))
                .collect::<serde_json::Map<_, _>>()
        });
        let mut action = [0];
        self.agent.act(&mut memory, &[0.5], &mut action);
        let mut answer = json!({ "id": request.id, "action": policy.actions.name(action[0] as usize) });
        if let Some(worlds) = worlds {
            answer["counterfactual_states"] = worlds.into();
        }
        self.people.insert(id, Known { level, memory });
        Ok(answer)
    }
}

/// A string, or a number as it is written.
fn name(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn code(labels: &Labels, value: &Value, what: &'static str) -> Result<u32, LineError> {
    let code = name(value).and_then(|name| labels.code(&name));
    code.map(|code| code as u32).ok_or_else(|| LineError::Unknown {
        what,
        value: value.to_string(),
        known: labels.names().to_vec(),
    })
}
