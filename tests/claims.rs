//! All claims at the quick budget, and the harness that judges them.

use counterfair::verify::{Budget, Expected, Row, Verdict, claims, examine, run};
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

/// Claims that take no time.
fn cheap() -> Vec<counterfair::verify::Claim> {
    claims().into_iter().filter(|claim| ["D3", "D4", "D13", "D14", "E8", "E12", "X5"].contains(&claim.label)).collect()
}

#[test]
fn a_control_that_is_the_claims_own_check_is_noticed() {
    for claim in cheap() {
        let blind = counterfair::verify::Claim { control: claim.check, ..claim };
        assert!(!blind.examine(Budget::Quick).as_expected, "{claim:?} has a control that cannot turn");
    }
}

#[test]
fn a_check_that_is_the_claims_control_is_noticed() {
    for claim in cheap() {
        let turned = counterfair::verify::Claim { check: claim.control, ..claim };
        assert!(!turned.examine(Budget::Quick).as_expected, "{claim:?} passes with the mistake put in");
    }
}

#[test]
fn an_inconclusive_check_is_never_as_expected() {
    for claim in cheap() {
        let mute =
            counterfair::verify::Claim { check: |_| Verdict::Inconclusive { reason: "no data".into() }, ..claim };
        assert!(!mute.examine(Budget::Quick).as_expected);
    }
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
