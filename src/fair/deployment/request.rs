//! What a policy at work is asked, and why it may decline to answer.

use super::memory::MemoryError;
use serde::Serialize;

/// Who, their level, their state now, the action taken since the last request about them and, if wanted, which decision this is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Request {
    /// The person.
    pub id: String,
    /// The name of their level.
    #[serde(rename = "z")]
    pub level: String,
    /// Their state now.
    pub state: Vec<f64>,
    /// The name of the action that was taken since the last request, which need not be the one decided on; `None` the first time.
    pub action: Option<String>,
    /// t = 1, 2, …: which decision about this person is asked for. With it a request can be sent again: the same request gives the
    /// same answer and moves nothing. Without it every request is a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<u64>,
}

impl Request {
    /// The first request about a person.
    pub fn first(id: impl Into<String>, level: impl Into<String>, state: impl Into<Vec<f64>>) -> Self {
        Self { id: id.into(), level: level.into(), state: state.into(), action: None, time: None }
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

    /// The same, as the t-th decision about the person: safe to send again.
    pub fn at(self, time: u64) -> Self {
        Self { time: Some(time), ..self }
    }
}

/// Why a request cannot be answered; nothing is remembered of it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RequestError {
    /// Not an object with `id`, `z`, `state` and, if wanted, `action` and `time`; nor one with `id` and `forget`.
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
    #[error("the first line about a person has a previous action, but nothing is remembered of them")]
    NothingRemembered {
        /// The person.
        id: String,
    },
    /// A further request without the action taken in between.
    #[error("a further line about a person needs the action taken since the last one")]
    MissingAction {
        /// The person.
        id: String,
    },
    /// A level that differs from the one remembered.
    #[error("z of this person was {was:?}, now {now:?}")]
    LevelChanged {
        /// The person.
        id: String,
        /// The level remembered.
        was: String,
        /// The level given.
        now: String,
    },
    /// t ≤ the number of decisions already taken, and not the same request as then.
    #[error("time {time} of this person is past: {decisions} decisions are remembered, the last was {action:?}")]
    Past {
        /// The person.
        id: String,
        /// The time given.
        time: u64,
        /// Decisions remembered.
        decisions: u64,
        /// The last of them.
        action: String,
    },
    /// t is the last decision's time, but the request differs from the one that was answered then.
    #[error("time {time} of this person was answered with {action:?} to another request: {differs} differs")]
    Conflict {
        /// The person.
        id: String,
        /// The time given.
        time: u64,
        /// The answer that was given.
        action: String,
        /// `state` or `action`.
        differs: &'static str,
    },
    /// t > one more than the number of decisions taken.
    #[error("time {time} of this person leaves a gap: {decisions} decisions are remembered, the next is time {}", decisions + 1)]
    Gap {
        /// The person.
        id: String,
        /// The time given.
        time: u64,
        /// Decisions remembered.
        decisions: u64,
    },
    /// A counterfactual state that is not a finite number.
    #[error("a counterfactual state of this person is {value}: the mechanism was led beyond its range")]
    Overflow {
        /// The person.
        id: String,
        /// The value.
        value: f64,
    },
    /// An action value that is not a finite number, so that actions cannot be compared.
    #[error("the value of action {action} for this person is {value}: the state lies beyond what the policy can value")]
    Value {
        /// The person.
        id: String,
        /// The action.
        action: String,
        /// Its value.
        value: f64,
    },
    /// A program decides, not a policy that was learned here.
    #[error(
        "a program decides for this policy, and is not served: give it the counterfactual states that a learned policy's answers hold"
    )]
    Program,
    /// What is remembered cannot be read or written; no answer was given.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}
