//! All claims at the quick budget, and the harness that judges them.

use counterfair::theory::{Budget, Expected, Row, UNCHECKED, Verdict, claims, examine, read_rows, run, surprises};
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
            let form = format!("{:?}", row.claim.form).to_lowercase();
            // Errors at rounding level differ in their last bits between machines; that they are at rounding level does not.
            let detail = match &row.verdict {
                Verdict::Exact { .. } => String::new(),
                verdict => format!(": {}", verdict.detail()),
            };
            let (claim, word) = (&row.claim, row.verdict.word());
            let control = row.control.word();
            format!("{} ({form}) {}\n    {word}{detail}\n    control {control}", claim.label, claim.statement)
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
fn a_claim_that_should_hold_has_a_refuted_control_with_a_witness_in_words() {
    for row in rows().iter().filter(|row| row.claim.expected != Expected::Refuted) {
        let Verdict::Refuted { witness } = &row.control else { panic!("{:?}: {:?}", row.claim, row.control) };
        assert!(witness.text.len() > 20, "{:?} has the witness {:?}", row.claim, witness.text);
    }
}

#[test]
fn rates_are_measured_with_the_discipline_they_promise() {
    let laws: Vec<_> = rows().iter().filter_map(|row| Some((row, row.verdict.law()?))).collect();
    assert!(laws.len() >= 10, "only {} rates", laws.len());
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

#[test]
fn printed_claims_that_are_refuted_have_a_witness_in_words() {
    for row in rows().iter().filter(|row| row.claim.expected == Expected::Refuted) {
        let Verdict::Refuted { witness } = &row.verdict else { continue };
        assert!(witness.text.len() > 20, "{:?} has the witness {:?}", row.claim, witness.text);
    }
}
