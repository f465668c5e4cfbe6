//! `paper/` says what the program says: a text that types no result, a `generated/` made from `results/`, and results that the code still produces.

use counterfair::report::paper::{Results, generate, write};
use counterfair::reproduction::{Cell, Context, DISCOUNT, Learner, Measured, MethodOutcome, PaperWorld, Record, Study};
use counterfair::theory::errata::{errata, recompute};
use counterfair::theory::optimum::optimum;
use counterfair::theory::theorems::{proofs, swift, theorems};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The studies that come with the program.
fn studies() -> Vec<Study> {
    let star = fs::read(root().join("tests/fixtures/star/star_long.csv")).expect("the STAR extract");
    vec![Study::stand_in(), Study::star(&star).expect("the STAR extract")]
}

fn results() -> &'static Results {
    static RESULTS: OnceLock<Results> = OnceLock::new();
    RESULTS.get_or_init(|| {
        let (kept, peers) = (root().join("paper/results"), root().join("benches/peers/results.json"));
        Results::read(&kept, &peers).expect("results that can be read")
    })
}

/// What to do about a failure here.
const STALE: &str = "paper/ is stale: see paper/README.md for the command that brings it up to date";

#[test]
fn what_the_text_includes_is_what_the_program_makes_of_the_results() {
    let known = proofs(&root().join("proofs")).expect("the proofs");
    let files = generate(results(), &studies(), &known);
    let folder = root().join("paper/generated");
    let names: BTreeSet<String> = fs::read_dir(&folder)
        .expect("paper/generated")
        .map(|entry| entry.expect("a readable folder").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, files.keys().cloned().collect(), "{STALE}");
    for (name, text) in &files {
        let kept = fs::read_to_string(folder.join(name)).expect("a readable file");
        assert!(kept == *text, "{name} is not what the program makes; {STALE}");
    }
}

#[test]
fn writing_leaves_nothing_of_an_earlier_time() {
    let folder = std::env::temp_dir().join(format!("counterfair-paper-{}", std::process::id()));
    let files = [("a.svg", "new"), ("b.json", "{}")].map(|(name, text)| (name.to_string(), text.to_string()));
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("a.svg"), "old").expect("a file");
    fs::write(folder.join("gone.svg"), "old").expect("a file");
    write(&folder, &files.into()).expect("a folder that can be written");
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let found = (read("a.svg"), read("b.json"), read("gone.svg"));
    fs::remove_dir_all(&folder).expect("our own folder");
    assert_eq!(found, (Some("new".into()), Some("{}".into()), None));
}

/// Nine digits are kept, so a number that has not changed is this close.
const KEPT: f64 = 1e-8;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= KEPT * a.abs().max(b.abs()).max(KEPT)
}

#[track_caller]
fn agree(cell: &Cell, kept: &Record, made: &Record, value_only: bool) {
    assert_eq!(kept.results.len(), made.results.len(), "{}: {STALE}", cell.key());
    for (old, new) in kept.results.iter().zip(&made.results) {
        let where_ = format!("{}, {}", cell.key(), old.method);
        match (&old.outcome, &new.outcome) {
            (MethodOutcome::NotLearned(_), MethodOutcome::NotLearned(_)) => {}
            (MethodOutcome::Evaluated(a), MethodOutcome::Evaluated(b)) => {
                assert!(
                    close(a.value.mean, b.value.mean),
                    "{where_}: value {:?} is now {:?}; {STALE}",
                    a.value,
                    b.value
                );
                if value_only {
                    continue;
                }
                let (x, y) = (a.unfairness.mean, b.unfairness.mean);
                assert!(close(x, y), "{where_}: CF metric {x} is now {y}; {STALE}");
                let long = |m: &counterfair::reproduction::Measured| m.long_value.map_or(0.0, |v| v.mean);
                assert!(close(long(a), long(b)), "{where_}: {} is now {}; {STALE}", long(a), long(b));
            }
            (a, b) => panic!("{where_}: {a:?} is now {b:?}; {STALE}"),
        }
    }
}

#[test]
fn cells_of_the_simulations_are_still_what_the_code_gives() {
    let wanted = |record: &&Record| match &record.cell {
        Cell::Synthetic(c) => c.people == 100 && c.seed <= 2,
        _ => false,
    };
    let records: Vec<&Record> = results().sim_all.iter().filter(wanted).collect();
    assert_eq!(records.len(), 4, "two seeds in each world; {STALE}");
    for record in records {
        let (made, _) = Context::default().run(&record.cell).expect("a cell that can be done");
        agree(&record.cell, record, &made, false);
    }
}

#[test]
fn cells_of_regret_are_still_what_the_code_gives() {
    let wanted = |record: &&Record| match &record.cell {
        Cell::Regret(c) => {
            c.seed == 1 && c.learner == Learner::LeastSquares && (c.people == 100 || c.error == Some(0.1))
        }
        _ => false,
    };
    let records: Vec<&Record> = results().regret.iter().filter(wanted).collect();
    assert_eq!(records.len(), 4, "fitted means and wrong ones in each world; {STALE}");
    let context = Context::default();
    for record in records {
        let (made, _) = context.run(&record.cell).expect("a cell that can be done");
        agree(&record.cell, record, &made, false);
        for result in &record.results {
            let (kept, now) = (record.measured(result.method), made.measured(result.method));
            let parts = |m: Option<&Measured>| m.map(|m| [m.regret, m.gained].map(|e| e.map_or(f64::NAN, |e| e.mean)));
            let (Some([a, b]), Some([c, d])) = (parts(kept), parts(now)) else { panic!("{}: {STALE}", result.method) };
            // What an exactly fair policy gains is rounding.
            assert!(close(a, c) && (b - d).abs() < 1e-8, "{}: {a}, {b} are now {c}, {d}; {STALE}", result.method);
        }
    }
}

#[test]
fn splits_of_the_stand_in_are_still_what_the_code_gives() {
    let wanted = |record: &&Record| match &record.cell {
        Cell::Split(c) => c.study == "stand-in" && c.attribute == "sex" && c.seed <= 2,
        _ => false,
    };
    let records: Vec<&Record> = results().splits.iter().filter(wanted).collect();
    assert_eq!(records.len(), 2, "two splits; {STALE}");
    let context = Context::new(vec![Study::stand_in()]);
    for record in records {
        let (made, _) = context.run(&record.cell).expect("a cell that can be done");
        // Unfairness goes through a net whose training another machine rounds otherwise; values do not.
        agree(&record.cell, record, &made, true);
    }
}

#[test]
fn an_optimum_is_still_what_the_code_gives() {
    let rows = &results().measured.optima;
    let row = rows.iter().find(|r| r.world == PaperWorld::Nonlinear && r.strength == 1.0).expect(STALE);
    let found = optimum(row.world, row.strength, DISCOUNT).expect("a solvable world");
    assert!(close(row.fair.0, found.fair.value), "{} is now {}; {STALE}", row.fair.0, found.fair.value);
    assert!(close(row.full.0, found.full.value), "{} is now {}; {STALE}", row.full.0, found.full.value);
}

#[test]
fn the_paper_knows_every_claim_and_every_erratum() {
    let examined = &results().examined;
    let claims = |rows: &[counterfair::theory::theorems::Claim]| -> Vec<(&str, &str)> {
        rows.iter().map(|claim| (claim.label, claim.says)).collect()
    };
    let kept: Vec<_> = examined.theorems.iter().map(|row| row.claim).collect();
    assert_eq!(claims(&kept), claims(&theorems()), "{STALE}");
    let named: Vec<_> = examined.errata.iter().map(|row| (row.erratum.label, row.erratum.says)).collect();
    let now: Vec<_> = errata().iter().map(|erratum| (erratum.label, erratum.says)).collect();
    assert_eq!(named, now, "{STALE}");
}

#[test]
fn witnesses_are_still_what_the_code_gives() {
    for (old, new) in results().examined.errata.iter().zip(recompute(&errata())) {
        let label = old.erratum.label;
        assert_eq!(old.witness.text, new.witness.text, "{label}; {STALE}");
        for (a, b) in [(old.witness.printed, new.witness.printed), (old.witness.corrected, new.witness.corrected)] {
            assert!(close(a.is, b.is) && close(a.said, b.said), "{label}: {a:?} is now {b:?}; {STALE}");
        }
    }
}

/// Slopes take minutes, and `tests/theorems.rs` measures them; of the others the quickest third is enough to see that the file is not an old one.
#[test]
fn claims_are_still_what_the_code_gives() {
    let mut kept: Vec<_> = results().examined.theorems.iter().filter(|row| row.slope().is_none()).collect();
    assert_eq!(kept.len(), swift().len(), "{STALE}");
    kept.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    for old in &kept[..kept.len().div_ceil(3)] {
        let new = old.claim.examine();
        assert_eq!(
            (old.verdict(), old.control_verdict()),
            (new.verdict(), new.control_verdict()),
            "{:?}; {STALE}",
            old.claim
        );
    }
}

/// Decimal numbers that the text may type: settings and bounds of the source, never results.
const TYPED: &[(&str, &str)] = &[("0.9", "γ of the source's experiments"), ("0.4", "a state in the example")];

/// Numbers with a decimal point in a Typst text, but for lengths and comments.
fn decimals(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
        let letters: Vec<char> = line.chars().collect();
        let mut i = 0;
        while i < letters.len() {
            let begin = i;
            while i < letters.len() && (letters[i].is_ascii_digit() || letters[i] == '.') {
                i += 1;
            }
            let word: String = letters[begin..i].iter().collect();
            let unit: String = letters[i..].iter().take(2).collect();
            let length = ["em", "pt", "cm", "fr"].contains(&unit.as_str());
            let inside = word.trim_matches('.');
            if inside.contains('.') && !length {
                found.push(inside.to_string());
            }
            i = i.max(begin + 1);
        }
    }
    found
}

#[test]
fn the_text_types_no_result() {
    assert_eq!(decimals("a 0.38 b\n#v(0.5em) x 12. y ..\n// 3.14\n−1.5, 2.35cm"), ["0.38", "1.5"]);
    let text = fs::read_to_string(root().join("paper/counterfair.typ")).expect("the text");
    let typed: Vec<String> =
        decimals(&text).into_iter().filter(|word| TYPED.iter().all(|(allowed, _)| allowed != word)).collect();
    assert!(typed.is_empty(), "typed instead of generated: {typed:?}");
}

#[test]
fn results_that_are_damaged_are_named() {
    let folder: PathBuf = std::env::temp_dir().join(format!("counterfair-damaged-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("splits.jsonl"), "{}\n").expect("a file");
    let error = Results::read(&folder, &folder.join("none.json")).map(|_| ()).map_err(|e| e.to_string());
    fs::remove_dir_all(&folder).expect("our own folder");
    assert!(error.as_ref().is_err_and(|e| e.contains("splits.jsonl, line 1")), "{error:?}");
}
