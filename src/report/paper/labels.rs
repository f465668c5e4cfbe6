//! What stands behind each label: theorems in Coq, claims, and errata.

use super::Sources;
use crate::report::number::minus_sign;
use crate::theory::errata::ErratumRow;
use crate::theory::theorems::{Found, Row};
use serde::Serialize;
use std::collections::BTreeMap;

/// A label as the text quotes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub(super) struct Entry {
    /// (Coq file, theorem).
    pub proofs: Vec<(String, String)>,
    /// Claims, in the order of the list.
    pub claims: Vec<Line>,
    /// Errata, likewise.
    pub errata: Vec<Witnessed>,
}

/// A claim as the text quotes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Line {
    pub says: &'static str,
    /// `exact`, `not refuted`, `refuted`, `inconclusive`.
    pub verdict: &'static str,
    pub as_expected: bool,
    /// What code the check runs.
    pub runs: &'static str,
    /// Cases searched; nothing for a slope.
    pub cases: String,
    /// The largest left side in units of the right, likewise.
    pub ratio: String,
}

/// An erratum as the text quotes it: what is so at its witness, and what the document's form says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Witnessed {
    /// `printed`, `step`, `implied`, `assumed`.
    pub stands: &'static str,
    pub line: usize,
    pub root: &'static str,
    pub left: String,
    pub sign: &'static str,
    pub right: String,
}

/// Every label that has a claim, an erratum or a theorem.
pub(super) fn labels(sources: &Sources) -> BTreeMap<String, Entry> {
    let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
    let examined = &sources.results.examined;
    for row in &examined.theorems {
        entries.entry(row.claim.label.to_string()).or_default().claims.push(line(row));
    }
    for row in &examined.errata {
        entries.entry(row.erratum.label.to_string()).or_default().errata.push(witnessed(row));
    }
    for theorem in sources.proofs {
        for label in &theorem.labels {
            let entry = entries.entry(label.clone()).or_default();
            entry.proofs.push((theorem.file.clone(), theorem.name.clone()));
        }
    }
    entries
}

fn line(row: &Row) -> Line {
    let (cases, ratio) = match &row.stated {
        Found::Sides(worst) => (worst.cases.to_string(), format!("{:.3}", worst.ratio())),
        Found::Slope(_) | Found::Nothing { .. } => Default::default(),
    };
    Line {
        says: row.claim.says,
        verdict: row.verdict().word(),
        as_expected: row.as_expected(),
        runs: row.claim.runs,
        cases,
        ratio,
    }
}

fn witnessed(row: &ErratumRow) -> Witnessed {
    let printed = row.witness.printed;
    Witnessed {
        stands: row.erratum.stands.word(),
        line: row.erratum.source.line,
        root: row.erratum.root,
        left: short(printed.is),
        sign: against(printed.relation),
        right: short(printed.said),
    }
}

/// How the two sides of a witness compare, which is not how the document's form says they do.
pub(super) fn against(relation: crate::theory::errata::Relation) -> &'static str {
    use crate::theory::errata::Relation;
    match relation {
        Relation::AtMost => ">",
        Relation::AtLeast => "<",
        Relation::Equals => "≠",
        Relation::Less => "≥",
    }
}

/// Three significant digits, as a power of ten where that is shorter.
pub(super) fn short(x: f64) -> String {
    if x == 0.0 {
        return "0".into();
    }
    let rounded: f64 = format!("{x:.2e}").parse().expect("a number that was just written");
    let size = rounded.abs();
    if (1e-3..1e5).contains(&size) {
        return minus_sign(&rounded.to_string());
    }
    let text = format!("{rounded:e}");
    let (digits, power) = text.split_once('e').expect("scientific notation");
    let raised = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        _ => c.to_digit(10).and_then(|d| char::from_u32(0x2070 + d)).unwrap_or(c),
    };
    let power: String = power.chars().map(raised).collect();
    if digits == "1" { format!("10{power}") } else { minus_sign(&format!("{digits}·10{power}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (x, text) in [
            (0.0, "0"),
            (2.0, "2"),
            (0.18912, "0.189"),
            (-1333.4, "−1330"),
            (1e-20, "10⁻²⁰"),
            (9.658e-34, "9.66·10⁻³⁴"),
            (0.04, "0.04"),
            (2828.4, "2830"),
        ] {
            assert_eq!(short(x), text);
        }
    }
}
