//! What a finished cell leaves behind.

use super::{Cell, Method};
use crate::kernel::numeric::Estimate;
use serde::{Deserialize, Serialize};

/// A cell and what became of each of its methods.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The cell.
    pub cell: Cell,
    /// One entry a method, in the cell's order.
    pub results: Vec<MethodResult>,
}

/// One method of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MethodResult {
    /// The method.
    pub method: Method,
    /// What it gave.
    #[serde(flatten)]
    pub outcome: MethodOutcome,
}

/// A method either gave numbers or could not be learned from the cell's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodOutcome {
    /// It was followed.
    Evaluated(Measured),
    /// The mathematics said no: counterfactual states left the finite numbers, say.
    NotLearned(String),
}

/// What following a policy showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// `eq:cf_metric`, with its standard error over the people followed.
    pub unfairness: Estimate,
    /// The discounted reward, with its standard error over the people followed.
    pub value: Estimate,
    /// The discounted reward over the cell's long horizon, where it has one and the method learned something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_value: Option<Estimate>,
    /// The share of decisions that gave each action, by level; `shares[z][a]`.
    pub shares: Vec<Vec<f64>>,
    /// How fitted Q iteration ended, when something was learned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning: Option<Learning>,
}

/// How fitted Q iteration ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learning {
    /// The last change was within tolerance.
    Converged,
    /// All iterations were done.
    IterationLimit,
    /// The data do not determine every weight.
    RankDeficient,
    /// Values grew beyond any that are possible.
    Diverged,
}

impl Record {
    /// The numbers of one method; `None` when it was not part of the cell or not learned.
    pub fn measured(&self, method: Method) -> Option<&Measured> {
        self.results.iter().find(|r| r.method == method).and_then(|r| match &r.outcome {
            MethodOutcome::Evaluated(measured) => Some(measured),
            MethodOutcome::NotLearned(_) => None,
        })
    }
}
