//! A policy at work: a request about a person in, a decision out, one memory per person.

use super::{Method, Policy};
use crate::kernel::data::Labels;
use crate::kernel::learn::{Agent, AgentMemory};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// A policy, and what it remembers of everybody it has met.
///
/// # Example
/// ```
/// use counterfair::prelude::*;
/// # let world = Linear::new(1.0);
/// # let people = People::from(simulate(&world, &Exogenous::draw(&world, 100, 5, Stream::new(1))));
/// let mut desk = Learner::new(Method::Ours).learn(&people)?.deploy();
/// let first = desk.decide(&Request::first("ann", "1", [0.4]))?;
/// let second = desk.decide(&Request::after("ann", "1", &first.action, [-0.2]))?;
/// assert_eq!(second.counterfactual_states.unwrap()["1"], [-0.2]);
/// # Ok::<(), counterfair::fair::Error>(())
/// ```
pub struct Deployment {
    policy: Policy,
    agent: Box<dyn Agent>,
    people: HashMap<String, Known>,
}

struct Known {
    level: u32,
    memory: AgentMemory,
}

/// Who, their level, their state now, and the action taken since the last request about them.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The person.
    pub id: String,
    /// The name of their level.
    pub level: String,
    /// Their state now.
    pub state: Vec<f64>,
    /// The name of the action that was taken since the last request, which need not be the one decided on; `None` the first time.
    pub action: Option<String>,
}

impl Request {
    /// The first request about a person.
    pub fn first(id: impl Into<String>, level: impl Into<String>, state: impl Into<Vec<f64>>) -> Self {
        Self { id: id.into(), level: level.into(), state: state.into(), action: None }
    }

    /// A further request, after an action was taken.
    pub fn after(
        id: impl Into<String>,
        level: impl Into<String>,
        action: impl Into<String>,
        state: impl Into<Vec<f64>>,
    ) -> Self {
        Self { action: Some(action.into()), ..Self::first(id, level, state) }
    }
}

/// What to do for a person, and the states that it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decision {
    /// The name of the action.
    pub action: String,
    /// The state in the world of each level, by the level's name; only Ours has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterfactual_states: Option<BTreeMap<String, Vec<f64>>>,
}

/// Why a request cannot be answered; nothing is remembered of it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RequestError {
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
    /// A first request with a previous action.
    #[error("the first line about {id} has a previous action, but nothing is remembered of them")]
    NothingRemembered {
        /// The person.
        id: String,
    },
    /// A further request without the action taken in between.
    #[error("a further line about {id} needs the action taken since the last one")]
    MissingAction {
        /// The person.
        id: String,
    },
    /// A level that differs from the one remembered.
    #[error("z of {id} was {was:?}, now {now:?}")]
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
    pub fn new(policy: Policy) -> Self {
        Self { agent: policy.agent(), policy, people: HashMap::new() }
    }

    /// Decides for one person; a request that cannot be used changes no memory.
    ///
    /// # Errors
    /// [`RequestError`].
    pub fn decide(&mut self, request: &Request) -> Result<Decision, RequestError> {
        let policy = &self.policy;
        let id = || request.id.clone();
        let level = code(&policy.levels, &request.level, "z")?;
        if request.state.len() != policy.state_dim {
            return Err(RequestError::Width { found: request.state.len(), needed: policy.state_dim });
        }
        let taken = request.action.as_ref().map(|name| code(&policy.actions, name, "action")).transpose()?;
        let mut memory = match (self.people.get(&request.id), taken) {
            (None, None) => self.agent.begin(&[level], &request.state, &[0.5]),
            (None, Some(_)) => return Err(RequestError::NothingRemembered { id: id() }),
            (Some(person), _) if person.level != level => {
                let was = policy.levels.name(person.level as usize).to_string();
                return Err(RequestError::LevelChanged { id: id(), was, now: request.level.clone() });
            }
            (Some(_), None) => return Err(RequestError::MissingAction { id: id() }),
            (Some(person), Some(action)) => {
                let mut memory = person.memory.clone();
                self.agent.advance(&mut memory, &[action], &request.state);
                memory
            }
        };
        let view = memory.parts.first().map_or(&[][..], |part| &part.view);
        if let Some(&value) = view.iter().find(|x| !x.is_finite()) {
            return Err(RequestError::Overflow { id: id(), value });
        }
        let counterfactual_states = (policy.method == Method::Ours).then(|| {
            let by_level = view.chunks_exact(policy.state_dim).enumerate();
            by_level.map(|(k, state)| (policy.levels.name(k).to_string(), state.to_vec())).collect()
        });
        let mut action = [0];
        self.agent.act(&mut memory, &[0.5], &mut action);
        let action = policy.actions.name(action[0] as usize).to_string();
        self.people.insert(id(), Known { level, memory });
        Ok(Decision { action, counterfactual_states })
    }

    /// [`decide`](Self::decide) for one line of JSON, `{"id": …, "z": …, "state": […], "action": …}`, answered by another.
    ///
    /// # Errors
    /// [`RequestError`].
    pub fn answer(&mut self, line: &[u8]) -> Result<String, RequestError> {
        let line = Line::parse(line)?;
        Ok(line.answer(&self.decide(&line.request)?))
    }
}

fn code(labels: &Labels, name: &str, what: &'static str) -> Result<u32, RequestError> {
    labels.code(name).map(|code| code as u32).ok_or_else(|| RequestError::Unknown {
        what,
        value: format!("{name:?}"),
        known: labels.names().to_vec(),
    })
}

/// A request as one line of JSON; ids, levels and actions may be written as numbers.
struct Line {
    /// The id as it was written, for the answer.
    id: Value,
    /// The request.
    request: Request,
}

impl Line {
    fn parse(text: &[u8]) -> Result<Self, RequestError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written {
            id: Value,
            z: Value,
            state: Vec<f64>,
            #[serde(default)]
            action: Option<Value>,
        }
        let Written { id, z, state, action } =
            serde_json::from_slice(text).map_err(|error| RequestError::Malformed(error.to_string()))?;
        let request = Request {
            id: name(&id).ok_or_else(|| RequestError::Id(id.to_string()))?,
            level: name(&z).unwrap_or_else(|| z.to_string()),
            state,
            action: action.filter(|a| !a.is_null()).map(|a| name(&a).unwrap_or_else(|| a.to_string())),
        };
        Ok(Self { id, request })
    }

    /// The answer as one line of JSON, with the id as it was written.
    fn answer(&self, decision: &Decision) -> String {
        #[derive(Serialize)]
        struct Answer<'a> {
            id: &'a Value,
            #[serde(flatten)]
            decision: &'a Decision,
        }
        serde_json::to_string(&Answer { id: &self.id, decision }).expect("strings and finite numbers")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::policy::tests::policy;
    use serde_json::json;

    fn deployed(method: Method) -> Deployment {
        Deployment::new(policy(method))
    }

    fn answer(deployment: &mut Deployment, line: &str) -> Result<Value, RequestError> {
        deployment.answer(line.as_bytes()).map(|answer| serde_json::from_str(&answer).unwrap())
    }

    fn ask(deployment: &mut Deployment, line: &str) -> Value {
        answer(deployment, line).unwrap()
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
        let mut refused = |line: &str| answer(&mut ours, line).unwrap_err();
        assert!(matches!(refused(r#"{"id": 8, "z": "m"}"#), RequestError::Malformed(why) if why.contains("state")));
        let extra = refused(r#"{"id": 8, "z": "m", "state": [1.0, 1.0], "age": 3}"#);
        assert!(matches!(extra, RequestError::Malformed(why) if why.contains("age")));
        assert_eq!(refused(r#"{"id": [8], "z": "m", "state": [1.0, 1.0]}"#), RequestError::Id("[8]".into()));
        let known = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        assert_eq!(
            refused(r#"{"id": 8, "z": 3, "state": [1.0, 1.0]}"#),
            RequestError::Unknown { what: "z", value: "\"3\"".into(), known: known(&["f", "m"]) }
        );
        assert_eq!(
            refused(r#"{"id": 7, "z": "m", "state": [1.0, 1.0], "action": "all"}"#),
            RequestError::Unknown { what: "action", value: "\"all\"".into(), known: known(&["high", "low", "none"]) }
        );
        assert_eq!(refused(r#"{"id": 8, "z": "m", "state": [1.0]}"#), RequestError::Width { found: 1, needed: 2 });
        assert_eq!(
            refused(r#"{"id": 8, "z": "m", "state": [1.0, 1.0], "action": "low"}"#),
            RequestError::NothingRemembered { id: "8".into() }
        );
        // The number 7 and the text 7 are one person.
        let silent = refused(r#"{"id": "7", "z": "m", "state": [1.0, 1.0]}"#);
        assert_eq!(silent, RequestError::MissingAction { id: "7".into() });
        assert_eq!(
            refused(r#"{"id": 7, "z": "f", "state": [1.0, 1.0], "action": "low"}"#),
            RequestError::LevelChanged { id: "7".into(), was: "m".into(), now: "f".into() }
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
        let overflow = RequestError::Overflow { id: "1".into(), value: f64::INFINITY };
        assert_eq!(answer(&mut ours, line), Err(overflow));
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
