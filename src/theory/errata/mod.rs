//! What does not hold as the source document has it: one table of data, whose witnesses one function recomputes.
//!
//! Slips of index or sign are in a list of their own ([`SLIPS`]) and count towards nothing.

mod erratum;
mod process;
mod regret;
mod unfairness;
mod worlds;

pub use erratum::{Erratum, ErratumRow, Relation, Sides, Stands, Witness};

use super::theorems::Quotation;

/// All errata, in the order of the source document.
pub fn errata() -> Vec<Erratum> {
    let rooms: &[&[Erratum]] = &[process::ERRATA, regret::ERRATA, unfairness::ERRATA, worlds::ERRATA];
    rooms.concat()
}

/// Every witness recomputed, in the order given.
pub fn recompute(errata: &[Erratum]) -> Vec<ErratumRow> {
    errata.iter().map(Erratum::recompute).collect()
}

/// A slip of index, sign or letter: what stands there and what is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slip {
    /// The label of the display.
    pub label: &'static str,
    /// Its words, and their line.
    pub source: Quotation,
    /// What is meant.
    pub meant: &'static str,
}

/// Slips of index, sign or letter.
pub const SLIPS: &[Slip] = &[];
