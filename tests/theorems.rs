//! The numerical checker of the theorems: a test per claim, one for the errata, and afterwards the table.
//!
//! `cargo test --test theorems` prints the rows that carry the method; `-- --all` prints every row. Filters, `-q`, `--list` and `--format` work as in
//! any other test program; the table is left out where another program reads the output.

use counterfair::theory::errata::{ErratumRow, errata};
use counterfair::theory::theorems::{Beside, Row, table, theorems};
use libtest_mimic::{Arguments, Failed, Trial};
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
    if !quiet && !rows.is_empty() {
        rows.sort_by_key(|(place, _)| *place);
        let rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
        let recomputed = recomputed.lock().unwrap_or_else(PoisonError::into_inner);
        println!("{}", table(&rows, Beside { errata: &recomputed, proved: proved() }, all));
    }
    conclusion.exit_code()
}

/// How many theorems stand in `proofs/`, by their statements.
fn proved() -> Option<usize> {
    let files = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs")).ok()?;
    let texts = files.flatten().filter(|file| file.path().extension().is_some_and(|e| e == "v"));
    Some(texts.filter_map(|file| std::fs::read_to_string(file.path()).ok()).map(|text| labelled(&text)).sum())
}

/// Theorems that stand below a line `(* label: … *)`: those that carry a statement of the document or of ours.
fn labelled(text: &str) -> usize {
    let mut waiting = false;
    let mut count = 0;
    for line in text.lines().map(str::trim) {
        if line.starts_with("(* label:") {
            waiting = true;
        } else if ["Theorem ", "Lemma ", "Corollary "].iter().any(|word| line.starts_with(word)) {
            count += usize::from(std::mem::take(&mut waiting));
        }
    }
    count
}
