//! How a file is to be read, and what came of it.

use super::{Columns, Labels, Layout, Panel};
use serde::{Deserialize, Serialize};

/// Where a decision (aₜ, rₜ) stands in a long file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowConvention {
    /// Row t holds sₜ and the (aₜ₋₁, rₜ₋₁) that led to it; action and reward are blank on a person's first row. n rows are n
    /// states and n − 1 decisions.
    #[default]
    Incoming,
    /// Row t holds sₜ, aₜ and rₜ; a last row whose action and reward are blank holds the state after the last decision.
    Outgoing,
}

/// What to do about a missing cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingRepair {
    /// It is an error.
    #[default]
    Refuse,
    /// A person's trajectory ends before the first cell that is missing, or before the first time that is missing
    /// altogether. With outgoing rows a complete state beside a missing action or reward stays, as the final state. A person
    /// of whom nothing is left is dropped. A missing id or time is an error still: nobody knows what to cut.
    DropTail,
}

/// How to read a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadOptions {
    /// Which column means what.
    pub columns: Columns,
    /// Where a decision stands.
    pub rows: RowConvention,
    /// What to do about a missing cell.
    pub missing: MissingRepair,
    /// The levels a stored policy knows; any other is an error. `None`: those of the file.
    pub levels: Option<Labels>,
    /// The actions a stored policy knows; any other is an error. `None`: those of the file.
    pub actions: Option<Labels>,
}

/// What [`MissingRepair::DropTail`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Repairs {
    /// People of whom nothing was left.
    pub people_dropped: usize,
    /// People whose trajectory became shorter and who stayed.
    pub people_cut: usize,
    /// Rows that are gone, those of dropped people included.
    pub rows_dropped: usize,
}

impl Repairs {
    /// Whether the panel is the whole file.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// A file that was read.
#[derive(Debug, Clone)]
pub struct Read {
    /// The people in order of their ids, each sorted by time: the order of rows in the file has no effect.
    pub panel: Panel,
    /// What was repaired on request.
    pub repairs: Repairs,
    /// The time of each state row of the panel.
    pub times: Vec<f64>,
    /// The rest of the file, to write it back with the same rows and columns.
    pub layout: Layout,
}
