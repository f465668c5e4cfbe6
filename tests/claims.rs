//! All claims at the quick budget, and the harness that judges them.

use counterfair::theory::{
    ARITHMETIC, Budget, Expected, Kind, Row, UNCHECKED, Verdict, claims, examine, read_rows, run, surprises,
};
use std::sync::OnceLock;

/// The rows of the quick budget, examined once.
fn rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(|| run(Budget::Quick, |row| println!("{:6.1} s  {:?}", row.seconds, row.claim)))
}

#[test]
fn every_claim_and_every_control_comes_back_as_expected() {
    let surprises: Vec<_> = rows().iter().filter(|row| !row.as_expected).collect();
    assert!(surprises.is_empty(), "{surprises:#?}");
}

#[test]
fn the_table_of_verdicts_is_the_one_we_know() {
    let lines: Vec<String> = rows()
        .iter()
        .map(|row| {
            // Errors at rounding level differ in their last bits between machines; that they are at rounding level does not.
            let detail = match &row.verdict {
                Verdict::Exact { .. } => String::new(),
                verdict => format!(": {}", verdict.detail()),
            };
            let (claim, word) = (&row.claim, row.verdict.word());
            let control = row.control.word();
            let root = if claim.root == claim.label { String::new() } else { format!(", follows from {}", claim.root) };
            let line = claim.source.map_or(String::new(), |source| format!(", line {}", source.line));
            let head = format!("{} ({}{line}{root}) {}", claim.label, claim.kind.word(), claim.statement);
            format!("{head}\n    {word}{detail}\n    control {control}, runs {}", claim.runs)
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// The rows once more, each changed by `change` on the way through their JSON, and judged anew.
fn judged_anew(change: impl Fn(&mut serde_json::Value)) -> Vec<Row> {
    let mut json = serde_json::to_value(rows()).unwrap();
    json.as_array_mut().unwrap().iter_mut().for_each(change);
    read_rows(&json.to_string()).unwrap()
}

// The next three are about the harness, not about any claim: they go through all rows because each has its own expectation.

#[test]
fn the_harness_refuses_a_control_that_says_what_the_check_says() {
    for row in judged_anew(|row| row["control"] = row["verdict"].clone()) {
        assert!(!row.as_expected, "{:?} has a control that need not turn", row.claim);
    }
}

#[test]
fn the_harness_refuses_a_check_that_says_what_the_control_says() {
    for row in judged_anew(|row| row["verdict"] = row["control"].clone()) {
        assert!(!row.as_expected, "{:?} passes with the mistake put in", row.claim);
    }
}

#[test]
fn the_harness_refuses_an_inconclusive_check_or_control() {
    for part in ["verdict", "control"] {
        let mute = serde_json::json!({ "kind": "inconclusive", "reason": "no data" });
        for row in judged_anew(|row| row[part] = mute.clone()) {
            assert!(!row.as_expected, "{:?} is content with an inconclusive {part}", row.claim);
        }
    }
    assert_eq!(surprises(&judged_anew(|_| {})), 0, "nothing was changed");
}

#[test]
fn every_witness_is_in_words() {
    for row in rows() {
        for verdict in [&row.verdict, &row.control] {
            let Verdict::Refuted { witness } = verdict else { continue };
            assert!(witness.text.len() > 20, "{:?} has the witness {:?}", row.claim, witness.text);
        }
    }
}

#[test]
fn rates_are_measured_with_the_discipline_they_promise() {
    let laws: Vec<_> = rows().iter().filter_map(|row| Some((row, row.verdict.law()?))).collect();
    assert!(laws.len() >= 9, "only {} rates", laws.len());
    for (row, law) in laws {
        let range = law.sizes.last().unwrap() / law.sizes[0];
        assert!(law.sizes.len() >= 6 && range >= 63.999, "{:?}: {:?}", row.claim, law.sizes);
        // A replicate without enough data is left out; that must stay rare.
        assert!(law.runs as f64 >= 0.99 * 60.0 * law.sizes.len() as f64, "{:?}: {} runs", row.claim, law.runs);
        assert_eq!(law.confidence, 0.99);
        let control = row.control.law().unwrap_or_else(|| panic!("{:?} has a control without a slope", row.claim));
        assert!(control.target < control.interval.0 || control.interval.1 < control.target);
    }
}

/// Every quoted fragment stands at its line of the source document, where that document is at hand.
#[test]
fn quotations_are_verbatim() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/seed/000_16d84e63e8c4260c.txt");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: the source document is not at {}", path.display());
        return;
    };
    let lines: Vec<&str> = text.split('\n').collect();
    let claims = claims();
    let quoted = claims.iter().filter_map(|claim| Some((claim, claim.source?)));
    assert!(quoted.clone().count() > 100);
    for (claim, source) in quoted {
        let line = lines.get(source.line - 1).unwrap_or_else(|| panic!("{claim:?}: no line {}", source.line));
        assert!(line.contains(source.words), "{claim:?}: line {} does not say {:?}", source.line, source.words);
    }
}

#[test]
fn what_is_not_ours_is_quoted_and_roots_are_labels() {
    let claims = claims();
    for claim in &claims {
        assert!(claim.kind == Kind::Ours || claim.source.is_some(), "{claim:?} has no quotation");
        if let Some(source) = claim.source {
            assert!((4..=130).contains(&source.words.chars().count()), "{claim:?} quotes {:?}", source.words);
        }
        assert!(claims.iter().any(|other| other.label == claim.root), "{claim:?}: no claim is called {}", claim.root);
        // A consequence of a consequence would hide its root.
        let root = claims.iter().find(|other| other.label == claim.root && other.is_erratum());
        assert!(!claim.is_erratum() || root.is_some_and(|root| root.root == root.label), "{claim:?}");
        assert!(claim.kind != Kind::Ours || claim.expected != Expected::Refuted, "{claim:?}");
        assert!(claim.runs == ARITHMETIC || claim.runs.contains(char::is_uppercase) || claim.runs.contains("::"));
    }
}

/// The errors that are counted under another: one root, one error.
#[test]
fn consequences_are_counted_under_their_root() {
    let under = |root: &str| -> Vec<&str> {
        let claims = claims();
        claims.iter().filter(|c| c.is_erratum() && c.root == root && c.label != root).map(|c| c.label).collect()
    };
    assert_eq!(under("X1"), ["D18", "D16", "E4"]);
    assert_eq!(under("X2"), ["D13"]);
    assert_eq!(under("X4"), ["E3"]);
    assert_eq!(under("E8"), ["E11"]);
    assert_eq!(under("E7"), ["thm:cf_metric"]);
}

#[test]
fn every_display_has_a_claim_or_a_reason() {
    let labels: std::collections::BTreeSet<&str> = claims().iter().map(|claim| claim.label).collect();
    let numbered = |letter: char, last: usize| (1..=last).map(move |k| format!("{letter}{k}"));
    for label in numbered('C', 13).chain(numbered('D', 22)).chain(numbered('E', 12)).chain(numbered('X', 15)) {
        let excused = UNCHECKED.iter().any(|(known, _)| *known == label);
        assert!(labels.contains(label.as_str()) != excused, "{label}: a claim or a reason, not both and not neither");
    }
    for (label, reason) in UNCHECKED {
        assert!(!labels.contains(label), "{label} is excused and has a claim");
        // "is D20" must lead somewhere.
        if let Some(named) = reason.strip_prefix("is ") {
            let named = named.split([' ', ',']).next().unwrap();
            assert!(labels.contains(named), "{label} points to {named}, which is no claim");
        }
    }
}

/// Claims that take no time.
fn cheap() -> Vec<counterfair::theory::Claim> {
    claims().into_iter().filter(|claim| ["D3", "D4", "D13", "D14", "E8", "E12", "X5"].contains(&claim.label)).collect()
}

#[test]
fn rows_come_in_the_order_asked_for_and_the_same_every_time() {
    let cheap = cheap();
    let (a, b) = (examine(&cheap, Budget::Quick, |_| {}), examine(&cheap, Budget::Quick, |_| {}));
    for ((claim, a), b) in cheap.iter().zip(&a).zip(&b) {
        assert_eq!((claim.label, claim.statement), (a.claim.label, a.claim.statement));
        assert_eq!(a.verdict, b.verdict, "{claim:?}");
        assert_eq!(a.control, b.control, "{claim:?}");
    }
}
