//! What stands behind each label: theorems and verdicts.

use super::{Proofs, Sources};
use crate::report::number::minus_sign;
use crate::theory::{Kind, Row, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// A label as the text quotes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub(super) struct Entry {
    /// (Coq file, theorem).
    pub proofs: Vec<(String, String)>,
    /// Claims, in the order of the list.
    pub claims: Vec<Line>,
}

/// A claim as the text quotes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Line {
    /// `printed` for what is the document's in any way, `corrected` for what is ours.
    pub form: &'static str,
    /// `printed`, `implied`, `assumption`, `ours`.
    pub kind: &'static str,
    /// The line of the document, if it has one.
    pub line: Option<usize>,
    /// Its words there.
    pub words: &'static str,
    /// The label of the error that it follows from.
    pub root: &'static str,
    /// What code the check runs.
    pub runs: &'static str,
    pub statement: &'static str,
    /// `exact`, `not refuted`, `refuted`, `inconclusive`.
    pub verdict: &'static str,
    pub as_expected: bool,
    /// Both sides of a witness.
    pub left: String,
    pub right: String,
    /// The witness in words.
    pub witness: String,
    /// Cases searched.
    pub cases: String,
    /// The largest left side in units of the right.
    pub ratio: String,
}

/// Every label that has a claim or a theorem.
pub(super) fn labels(sources: &Sources) -> BTreeMap<String, Entry> {
    let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
    for row in &sources.results.verdicts {
        entries.entry(row.claim.label.to_string()).or_default().claims.push(line(row));
    }
    for (label, theorems) in sources.proofs {
        entries.entry(label.clone()).or_default().proofs.clone_from(theorems);
    }
    entries
}

fn line(row: &Row) -> Line {
    let mut line = Line {
        form: if row.claim.kind == Kind::Ours { "corrected" } else { "printed" },
        kind: row.claim.kind.word(),
        line: row.claim.source.map(|source| source.line),
        words: row.claim.source.map_or("", |source| source.words),
        root: row.claim.root,
        runs: row.claim.runs,
        statement: row.claim.statement,
        verdict: row.verdict.word(),
        as_expected: row.as_expected,
        left: String::new(),
        right: String::new(),
        witness: String::new(),
        cases: String::new(),
        ratio: String::new(),
    };
    match &row.verdict {
        Verdict::NotRefuted { trials, worst_ratio, .. } => {
            line.cases = trials.to_string();
            line.ratio = format!("{worst_ratio:.3}");
        }
        Verdict::Refuted { witness } => {
            line.left = short(witness.left);
            line.right = short(witness.right);
            line.witness.clone_from(&witness.text);
        }
        Verdict::Exact { .. } | Verdict::Inconclusive { .. } => {}
    }
    line
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

/// Every theorem of a folder of Coq files that stands below lines `(* label: … *)`.
///
/// # Errors
/// What the operating system says.
pub fn proofs(folder: &Path) -> io::Result<Proofs> {
    let mut files: Vec<_> = std::fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    files.sort_by_key(std::fs::DirEntry::file_name);
    let mut found = Proofs::new();
    for file in files {
        let name = file.file_name().to_string_lossy().into_owned();
        if !name.ends_with(".v") {
            continue;
        }
        for (label, theorem) in labelled(&std::fs::read_to_string(file.path())?) {
            found.entry(label).or_default().push((name.clone(), theorem));
        }
    }
    Ok(found)
}

fn labelled(text: &str) -> Vec<(String, String)> {
    let (mut waiting, mut found) = (Vec::new(), Vec::new());
    for line in text.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("(* label:") {
            waiting.extend(rest.split("*)").next().map(|label| label.trim().to_string()));
        } else if let Some(name) = ["Theorem ", "Lemma ", "Corollary "].iter().find_map(|word| line.strip_prefix(word))
        {
            let name: String = name.chars().take_while(|c| c.is_alphanumeric() || *c == '_' || *c == '\'').collect();
            found.extend(waiting.drain(..).map(|label| (label, name.clone())));
        }
    }
    found
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

    #[test]
    fn a_theorem_may_have_several_labels() {
        let text = "(* label: D3 *)\n  (* label: thm:cf *)\nTheorem one (x : nat) : x = x.\nLemma between : True.\n(* label: D3 *)\nTheorem two: True.";
        let expected = [("D3", "one"), ("thm:cf", "one"), ("D3", "two")].map(|(a, b)| (a.to_string(), b.to_string()));
        assert_eq!(labelled(text), expected);
    }
}
