//! How a file is to be read, and what came of it.

use super::times::StepLength;
use super::{Columns, Encoding, Layout};
use crate::kernel::people::{Labels, Panel};
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

/// What stands between the whole part of a number and its fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decimal {
    /// `1.5`
    Point,
    /// `1,5`
    Comma,
}

/// How a text file is written; what is not said is found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextFormat {
    /// What separates cells. Found out: the first of comma, semicolon and tab with which the header has the columns asked for.
    pub separator: Option<u8>,
    /// Found out: a comma where cells are not separated by commas and no cell has a point; both in one file are an error.
    pub decimal: Option<Decimal>,
    /// Found out: UTF-16 by its byte-order mark or its zeros, otherwise UTF-8.
    pub encoding: Option<Encoding>,
}

/// How to read a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadOptions {
    /// Which column means what.
    pub columns: Columns,
    /// Where a decision stands.
    pub rows: RowConvention,
    /// Whether that is to be found out from the file instead: it is outgoing if every person's first row has an action or a reward, incoming if
    /// none has, and anything else is an error.
    pub find_rows: bool,
    /// What to do about a missing cell.
    pub missing: MissingRepair,
    /// The levels a stored policy knows; any other is an error. `None`: those of the file.
    pub levels: Option<Labels>,
    /// The actions a stored policy knows; any other is an error. `None`: those of the file.
    pub actions: Option<Labels>,
    /// How the text is written.
    pub format: TextFormat,
    /// The time from one decision to the next: each row belongs to the nearest whole number of steps after the person's first. `None`: the
    /// smallest step that anybody takes, and every other step is a gap.
    pub step: Option<StepLength>,
}

impl ReadOptions {
    /// Of a file with these columns, whose row convention is found out from it.
    pub fn of(columns: Columns) -> Self {
        Self { columns, find_rows: true, ..Self::default() }
    }
}

/// Where and why [`MissingRepair::DropTail`] ended a person's trajectory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cut {
    /// The person.
    pub id: String,
    /// States that are left.
    pub rows_kept: usize,
    /// Rows that are gone.
    pub rows_dropped: usize,
    /// The first row that is not whole, or the one after the gap.
    pub place: String,
    /// Why.
    pub reason: CutReason,
}

/// Why a trajectory was ended: somebody who was not seen is not the same as a cell that was not filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutReason {
    /// A time is not there at all.
    Gap {
        /// The last time before it.
        from: String,
        /// The first time after it.
        to: String,
    },
    /// The row is there, and a cell of it is missing.
    MissingCell {
        /// The column.
        column: String,
    },
}

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { id, rows_kept, rows_dropped, place, reason } = self;
        write!(f, "person {id}: {rows_dropped} of {} rows dropped, ", rows_kept + rows_dropped)?;
        match reason {
            CutReason::Gap { from, to } => write!(f, "no row between times {from} and {to} ({place})"),
            CutReason::MissingCell { column } => write!(f, "column {column} is missing on {place}"),
        }
    }
}

/// What [`MissingRepair::DropTail`] did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Repairs {
    /// People of whom nothing was left.
    pub people_dropped: usize,
    /// People whose trajectory became shorter and who stayed.
    pub people_cut: usize,
    /// Rows that are gone, those of dropped people included.
    pub rows_dropped: usize,
    /// Each cut, in the order of ids; empty where people may not be named.
    #[doc(hidden)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<Cut>,
}

impl Repairs {
    /// People whose trajectory was ended by a time that is not there.
    pub fn gaps(&self) -> usize {
        self.cuts.iter().filter(|cut| matches!(cut.reason, CutReason::Gap { .. })).count()
    }

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
    /// The time of each state row of the panel: the number in the file, or months or seconds since 1970 where it has dates.
    pub times: Vec<f64>,
    /// What was found out about the file that nobody said: its separator, its encoding, its calendar.
    pub notes: Vec<String>,
    /// The rest of the file, to write it back with the same rows and columns.
    #[doc(hidden)]
    pub layout: Layout,
}
