//! The numerical checker of the theorems: a test per claim, one for the errata, and afterwards the table.
//!
//! `cargo test --test theorems` prints the rows that carry the method; `-- --all` prints every row. Filters, `-q`, `--list` and `--format` work as in
//! any other test program; the table is left out where another program reads the output.

use counterfair::theory::errata::{ErratumRow, errata};
use counterfair::theory::theorems::{Beside, Cells, Expected, Found, Row, proved, table, theorems};
use libtest_mimic::{Arguments, Failed, Trial};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

fn main() -> ExitCode {
    let all = std::env::args().any(|word| word == "--all");
    let arguments = Arguments::from_iter(std::env::args().filter(|word| word != "--all"));
    // No table where another program reads the output.
    let quiet = arguments.list || arguments.format.is_some();

    let rows: Arc<Mutex<Vec<(usize, Row)>>> = Arc::default();
    let recomputed: Arc<Mutex<Vec<ErratumRow>>> = Arc::default();
    let mut trials: Vec<Trial> = theorems()
        .into_iter()
        .enumerate()
        .map(|(place, claim)| {
            let rows = Arc::clone(&rows);
            Trial::test(format!("{}: {}", claim.label, claim.says), move || {
                let row = claim.examine();
                let fallen = (!row.as_expected()).then(|| table(std::slice::from_ref(&row), Beside::default(), true));
                let fallen = fallen.or_else(|| undisciplined(&row));
                rows.lock().unwrap_or_else(PoisonError::into_inner).push((place, row));
                fallen.map_or(Ok(()), |text| Err(Failed::from(text)))
            })
        })
        .collect();
    for erratum in errata() {
        let recomputed = Arc::clone(&recomputed);
        trials.push(Trial::test(format!("erratum {}: {}", erratum.label, erratum.says), move || {
            let row = erratum.recompute();
            let fallen = (!row.as_expected()).then(|| format!("{:?}: {:?}", row.erratum, row.witness));
            recomputed.lock().unwrap_or_else(PoisonError::into_inner).push(row);
            fallen.map_or(Ok(()), |text| Err(Failed::from(text)))
        }));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);

    let mut rows = std::mem::take(&mut *rows.lock().unwrap_or_else(PoisonError::into_inner));
    let mut recomputed = std::mem::take(&mut *recomputed.lock().unwrap_or_else(PoisonError::into_inner));
    rows.sort_by_key(|(place, _)| *place);
    let rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
    let order: Vec<(&str, &str)> = errata().iter().map(|erratum| (erratum.label, erratum.says)).collect();
    recomputed.sort_by_key(|row| order.iter().position(|named| *named == (row.erratum.label, row.erratum.says)));
    if !quiet && !rows.is_empty() {
        let proved = proved(&Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs"));
        println!("{}", table(&rows, Beside { errata: &recomputed, proved }, all));
    }
    if rows.len() == theorems().len() && recomputed.len() == order.len() {
        insta::assert_snapshot!("verdicts", verdicts(&rows, &recomputed));
        assert_eq!(not_in_the_readme(&rows), Vec::<String>::new(), "rows of the README that are not what was found");
    }
    conclusion.exit_code()
}

/// Rows of the README's table that are no row of this one.
fn not_in_the_readme(rows: &[Row]) -> Vec<String> {
    let readme = include_str!("../README.md");
    let found: Vec<String> = rows
        .iter()
        .map(|row| {
            let Cells { found, limit, control, .. } = Cells::of(row);
            format!("| `{}` | {} | {found} | {limit} | {control} |", row.claim.label, row.claim.says)
        })
        .collect();
    let shown: Vec<&str> = readme.lines().filter(|line| line.starts_with('|') && line.contains("caught")).collect();
    assert!(!shown.is_empty(), "the README has rows of the table");
    shown.into_iter().filter(|line| !found.iter().any(|row| row == line)).map(String::from).collect()
}

/// Sizes and seeds that a slope must have been measured at.
const LEAST: (usize, usize) = (6, 20);

/// Sizes for a law that is known not to hold: such a finding may be about a narrow range.
const LEAST_OUTSIDE: usize = 4;

/// What a row lacks that every row must have, whatever it found.
fn undisciplined(row: &Row) -> Option<String> {
    if let Some(slope) = row.slope() {
        let sizes = if row.claim.expected == Expected::Outside { LEAST_OUTSIDE } else { LEAST.0 };
        if slope.sizes.len() < sizes || slope.seeds < LEAST.1 {
            return Some(format!("{} sizes and {} seeds are too few", slope.sizes.len(), slope.seeds));
        }
        let Some(control) = row.control.slope() else { return Some("the control has no slope".into()) };
        if control.sizes.len() < sizes || control.seeds < LEAST.1 {
            return Some(format!(
                "{} sizes and {} seeds of the control are too few",
                control.sizes.len(),
                control.seeds
            ));
        }
    }
    let wordless = |found: &Found| matches!(found, Found::Sides(worst) if worst.text.is_empty());
    [&row.stated, &row.control].into_iter().any(wordless).then(|| "the worst case is not in words".into())
}

/// What became of every claim, and how every erratum stands in the document: words, no digits.
fn verdicts(rows: &[Row], errata: &[ErratumRow]) -> String {
    let mut text = String::new();
    for row in rows {
        let claim = &row.claim;
        let (verdict, control) = (row.verdict().word(), row.control_verdict().word());
        let line = claim.source.map_or(String::new(), |source| format!(", line {}", source.line));
        writeln!(text, "{} ({:?}{line}) {}: {verdict}, control {control}", claim.label, claim.rank, claim.says)
            .expect("text");
    }
    for ErratumRow { erratum, .. } in errata {
        let root = if erratum.root == erratum.label { String::new() } else { format!(", from {}", erratum.root) };
        let (word, line) = (erratum.stands.word(), erratum.source.line);
        writeln!(text, "erratum {} ({word}, line {line}{root}) {}", erratum.label, erratum.says).expect("text");
    }
    text
}
