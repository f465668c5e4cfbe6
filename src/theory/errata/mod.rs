//! What does not hold as the source document has it: one table of data, whose witnesses one function recomputes.
//!
//! Slips of index, sign or letter are in a list of their own ([`SLIPS`]) and count towards nothing. What the document says and no claim or erratum
//! bears the label of is in [`ELSEWHERE`], with the reason.

mod elsewhere;
mod erratum;
mod process;
mod regret;
mod slips;
mod unfairness;
mod worlds;

pub use elsewhere::ELSEWHERE;
pub use erratum::{Erratum, ErratumRow, Relation, Sides, Stands, Witness};
pub use slips::{SLIPS, Slip};

use super::theorems::Quotation;
use std::collections::BTreeSet;

/// All errata, in the order of the source document.
pub fn errata() -> Vec<Erratum> {
    let rooms: &[&[Erratum]] = &[process::ERRATA, worlds::ERRATA, regret::ERRATA, unfairness::ERRATA];
    let mut all = rooms.concat();
    // The statement before its steps where both stand in one line.
    all.sort_by_key(|erratum| erratum.source.line);
    all
}

/// Every witness recomputed, in the order given.
pub fn recompute(errata: &[Erratum]) -> Vec<ErratumRow> {
    errata.iter().map(Erratum::recompute).collect()
}

/// The errata of one kind, consequences after their root.
pub fn of_kind(rows: &[ErratumRow], stands: Stands) -> Vec<&ErratumRow> {
    let kind = |row: &&ErratumRow| row.erratum.stands == stands;
    let mut order: Vec<&str> = vec![];
    for row in rows.iter().filter(kind) {
        if !order.contains(&row.erratum.root) {
            order.push(row.erratum.root);
        }
    }
    let under = |root: &'static str| rows.iter().filter(kind).filter(move |row| row.erratum.root == root);
    order
        .into_iter()
        .flat_map(|root| under(root).filter(|r| r.is_root()).chain(under(root).filter(|r| !r.is_root())))
        .collect()
}

/// The labels of the errors behind the errata of one kind.
pub fn roots(rows: &[ErratumRow], stands: Stands) -> BTreeSet<&'static str> {
    rows.iter().filter(|row| row.erratum.stands == stands).map(|row| row.erratum.root).collect()
}

/// Words of the source document, and their line.
const fn at(line: usize, words: &'static str) -> Quotation {
    Quotation { line, words }
}

/// A statement that "some constant C" will do is false only if none will: its witness says how to answer each C, and is recomputed for these.
const CONSTANTS: [f64; 5] = [1.0, 1e3, 1e6, 1e9, 1e12];

/// The sides at the first constant that would do; where none does, those at the last one tried.
fn against_every_constant(sides: impl Fn(f64) -> Sides) -> Sides {
    let tried = CONSTANTS.map(&sides);
    *tried.iter().find(|sides| sides.hold()).unwrap_or(&tried[CONSTANTS.len() - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_witness_fails_the_form_of_the_document_and_keeps_the_corrected_one() {
        for row in recompute(&errata()) {
            assert!(row.as_expected(), "{:?}: {:?}", row.erratum, row.witness);
            assert!(row.witness.text.len() > 20, "{:?}: a witness in words", row.erratum);
        }
    }

    #[test]
    fn one_constant_that_will_do_is_enough() {
        assert!(against_every_constant(|c| Sides::at_most(1e5, c)).hold());
        assert!(!against_every_constant(|c| Sides::at_most(2.0 * c, c)).hold());
    }

    #[test]
    fn consequences_stand_under_a_root_that_is_none_itself() {
        let all = errata();
        for erratum in &all {
            let root = all.iter().find(|other| other.label == erratum.root);
            assert!(root.is_some_and(|root| root.root == root.label), "{erratum:?}: {}", erratum.root);
        }
        let under = |root: &str| -> BTreeSet<&str> {
            all.iter().filter(|e| e.root == root && e.label != root).map(|e| e.label).collect()
        };
        assert_eq!(under("X1"), ["D16", "D18", "E4"].into());
        assert_eq!(under("X2"), ["D13"].into());
        assert_eq!(under("X4"), ["E3"].into());
        assert_eq!(under("X5"), ["D22"].into());
        assert_eq!(under("E8"), ["E11"].into());
        assert_eq!(under("E7"), ["thm:cf_metric"].into());
    }

    #[test]
    fn a_label_says_one_thing_once() {
        let all = errata();
        let named: BTreeSet<(&str, &str)> = all.iter().map(|erratum| (erratum.label, erratum.says)).collect();
        assert_eq!(named.len(), all.len());
    }
}
