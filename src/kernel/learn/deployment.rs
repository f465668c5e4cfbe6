//! A stored policy at work: one line about a person in, one decision out, one memory a person.

use super::stored::{Method, StoredPolicy};
use super::{Agent, AgentMemory};
use crate::kernel::data::Labels;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::learn::stored::tests::policy;

    fn deployed(method: Method) -> Deployment {
        Deployment::new(policy(method))
    }

    fn ask(deployment: &mut Deployment, line: &str) -> Value {
        deployment.answer(line.as_bytes()).unwrap()
    }

    /// An answer of Ours: whom, what, and the two counterfactual states, to the rounding of a least-squares fit.
    fn assert_answer(answer: &Value, id: Value, action: &str, f: [f64; 2], m: [f64; 2]) {
        assert_eq!((&answer["id"], answer["action"].as_str()), (&id, Some(action)));
        assert_eq!(answer["counterfactual_states"].as_object().unwrap().len(), 2);
        for (level, expected) in [("f", f), ("m", m)] {
            let state = answer["counterfactual_states"][level].as_array().unwrap();
            assert_eq!(state.len(), 2);
            for (x, y) in state.iter().zip(expected) {
                assert!((x.as_f64().unwrap() - y).abs() < 1e-9, "{answer}");
            }
        }
    }

    #[test]
    fn a_person_is_followed_through_the_worlds_of_all_levels() {
        let mut ours = deployed(Method::Ours);
        let first = ask(&mut ours, r#"{"id": "ann", "z": "m", "state": [2.5, 1.0]}"#);
        // The noise is (−0.5, 0.75); values 0.5, 1 and 0.75.
        assert_answer(&first, json!("ann"), "low", [0.5, 0.25], [2.5, 1.0]);
        // Somebody else in between, of the other level.
        let other = ask(&mut ours, r#"{"id": "bob", "z": "f", "state": [0.5, 0.25], "action": null}"#);
        assert_answer(&other, json!("bob"), "low", [0.5, 0.25], [2.5, 1.0]);
        // Means (0.5, −1.375) at m and (−1.6875, 0.875) at f; the action taken is not the one recommended.
        let second = ask(&mut ours, r#"{"id": "ann", "z": "m", "state": [1.0, -1.0], "action": "none"}"#);
        assert_answer(&second, json!("ann"), "none", [-1.1875, 1.25], [1.0, -1.0]);
        // Means (1.25, 0.25) at m and (−0.28125, −0.125) at f.
        let third = ask(&mut ours, r#"{"id": "ann", "z": "m", "state": [0.0, 0.0], "action": "high"}"#);
        assert_answer(&third, json!("ann"), "none", [-1.53125, -0.375], [0.0, 0.0]);
    }

    #[test]
    fn a_policy_without_counterfactual_states_shows_none() {
        let line = |z: &str| format!(r#"{{"id": 1, "z": "{z}", "state": [2.5, 1.0]}}"#);
        assert_eq!(ask(&mut deployed(Method::Full), &line("f")), json!({ "id": 1, "action": "high" }));
        assert_eq!(ask(&mut deployed(Method::Full), &line("m")), json!({ "id": 1, "action": "low" }));
        assert_eq!(ask(&mut deployed(Method::Unaware), &line("m")), json!({ "id": 1, "action": "high" }));
    }

    #[test]
    fn a_line_that_cannot_be_used_is_named_and_forgotten() {
        let mut ours = deployed(Method::Ours);
        ask(&mut ours, r#"{"id": 7, "z": "m", "state": [2.5, 1.0]}"#);
        let mut refused = |line: &str| ours.answer(line.as_bytes()).unwrap_err();
        assert!(matches!(refused(r#"{"id": 8, "z": "m"}"#), LineError::Malformed(why) if why.contains("state")));
        let extra = refused(r#"{"id": 8, "z": "m", "state": [1.0, 1.0], "age": 3}"#);
        assert!(matches!(extra, LineError::Malformed(why) if why.contains("age")));
        assert_eq!(refused(r#"{"id": [8], "z": "m", "state": [1.0, 1.0]}"#), LineError::Id("[8]".into()));
        let known = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        assert_eq!(
            refused(r#"{"id": 8, "z": 3, "state": [1.0, 1.0]}"#),
            LineError::Unknown { what: "z", value: "3".into(), known: known(&["f", "m"]) }
        );
        assert_eq!(
            refused(r#"{"id": 7, "z": "m", "state": [1.0, 1.0], "action": "all"}"#),
            LineError::Unknown { what: "action", value: "\"all\"".into(), known: known(&["high", "low", "none"]) }
        );
        assert_eq!(refused(r#"{"id": 8, "z": "m", "state": [1.0]}"#), LineError::Width { found: 1, needed: 2 });
        assert_eq!(
            refused(r#"{"id": 8, "z": "m", "state": [1.0, 1.0], "action": "low"}"#),
            LineError::NothingRemembered { id: "8".into() }
        );
        // The number 7 and the text 7 are one person.
        let silent = refused(r#"{"id": "7", "z": "m", "state": [1.0, 1.0]}"#);
        assert_eq!(silent, LineError::MissingAction { id: "7".into() });
        assert_eq!(
            refused(r#"{"id": 7, "z": "f", "state": [1.0, 1.0], "action": "low"}"#),
            LineError::LevelChanged { id: "7".into(), was: "m".into(), now: "\"f\"".into() }
        );
        // As if none of these had been said.
        let next = ask(&mut ours, r#"{"id": 7, "z": "m", "state": [1.0, -1.0], "action": "none"}"#);
        assert_answer(&next, json!(7), "none", [-1.1875, 1.25], [1.0, -1.0]);
    }

    #[test]
    fn a_counterfactual_state_beyond_the_numbers_is_not_acted_on() {
        let mut ours = deployed(Method::Ours);
        ask(&mut ours, r#"{"id": 1, "z": "m", "state": [-1.7e308, 0.0]}"#);
        // The state minus half the one before is 2.55e308.
        let line = r#"{"id": 1, "z": "m", "state": [1.7e308, 0.0], "action": "low"}"#;
        let overflow = LineError::Overflow { id: "1".into(), value: f64::INFINITY };
        assert_eq!(ours.answer(line.as_bytes()), Err(overflow));
    }

    #[test]
    fn levels_that_are_numbers_may_be_written_either_way() {
        let mut numbered = policy(Method::Full);
        numbered.levels = Labels::numbered(2);
        let mut full = Deployment::new(numbered);
        assert_eq!(ask(&mut full, r#"{"id": "a", "z": 1, "state": [2.5, 1.0]}"#)["action"], "low");
        assert_eq!(ask(&mut full, r#"{"id": "b", "z": "1.0", "state": [2.5, 1.0]}"#)["action"], "low");
        assert_eq!(ask(&mut full, r#"{"id": "c", "z": 0, "state": [2.5, 1.0]}"#)["action"], "high");
    }
}
