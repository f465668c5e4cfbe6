//! What a policy at work answers, and how sure it is.

use serde::Serialize;
use std::collections::BTreeMap;

/// What to do for a person, and the states that it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decision {
    /// The name of the action.
    pub action: String,
    /// The state in the world of each level, by the level's name; only Ours has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterfactual_states: Option<BTreeMap<String, Vec<f64>>>,
    /// Whether a number that the policy read lies outside all that it learned from; `None` when the policy file does not say what that
    /// was. Written only when true.
    #[serde(skip_serializing_if = "is_not_true")]
    pub outside: Option<bool>,
    /// How sure the decision is, when [asked for](super::Deployment::explaining).
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// t: which decision about the person this is.
    #[serde(skip)]
    pub time: u64,
    /// Whether it had been given before, to the same request.
    #[serde(skip)]
    pub repeated: bool,
}

/// Where decisions say how sure they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Explain {
    /// Nowhere.
    Never,
    /// In the [`Decision`], but not in a line's answer: for a log.
    InDecision,
    /// In both.
    InAnswer,
}

/// How sure a decision is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// Q(s̃, a) of every action, by the action's name.
    pub values: BTreeMap<String, f64>,
    /// The action with the second largest value.
    pub runner_up: Option<String>,
    /// Q of the action decided on minus Q of the runner-up.
    pub margin: Option<f64>,
    /// How far the state lies from what was seen: see `Seen::distance`.
    pub distance: Option<f64>,
}

fn is_not_true(outside: &Option<bool>) -> bool {
    *outside != Some(true)
}
