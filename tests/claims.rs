//! All claims at the quick budget.

use counterfair::verify::{Budget, run};

#[test]
fn every_claim_and_every_control_comes_back_as_expected() {
    let rows = run(Budget::Quick, |_| {});
    for row in &rows {
        println!("{:>5.1}s {} {:?} {} | {} | {} || {} {}", row.seconds, row.as_expected, row.claim, row.claim.statement, row.verdict.word(), row.verdict.detail(), row.control.word(), row.control.detail());
    }
    let surprises: Vec<_> = rows.iter().filter(|row| !row.as_expected).collect();
    assert!(surprises.is_empty(), "{surprises:#?}");
}
