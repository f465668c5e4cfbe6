//! What a person must know before relying on a number, and whether it could change what is recommended.

use serde::Serialize;

/// A caution: what it is about, how large it is where that is known, and whether a recommendation is withdrawn for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Caution {
    /// What it is about.
    pub about: Subject,
    /// The caution as a sentence, without capital and full stop.
    pub says: String,
    /// How much it could change, where that is known.
    pub size: Option<Size>,
    /// Whether it could reverse what would be recommended otherwise.
    pub withdraws: bool,
}

/// What a caution is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// What a policy is worth.
    Value,
    /// What people would have been in other worlds: it does not touch one action for everybody.
    Counterfactuals,
    /// How much of the policy would be another one had other people been recorded.
    Stability,
    /// Who is in the data.
    People,
}

/// How much a caution could change, in units of what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "unit", content = "amount", rename_all = "snake_case")]
pub enum Size {
    /// In units of value.
    Value(f64),
    /// As a share of decisions.
    Unfairness(f64),
}

impl Caution {
    /// Something to know that withdraws nothing.
    pub fn new(about: Subject, says: impl Into<String>) -> Self {
        Self { about, says: says.into(), size: None, withdraws: false }
    }

    /// The same with a size, withdrawing what it could reverse.
    pub fn sized(self, size: Size, withdraws: bool) -> Self {
        Self { size: Some(size), withdraws, ..self }
    }

    /// The same, of a size that is not known: nothing is recommended against it.
    pub fn of_unknown_size(self) -> Self {
        Self { withdraws: true, ..self }
    }
}
