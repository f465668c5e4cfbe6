//! The theory as executable claims: every numbered statement of the source document, as it stands and corrected, with a check
//! that can fail and a control where it does.
//!
//! A verdict is never "true". It is [`Verdict::Exact`] (enumerated or in closed form, with the largest deviation),
//! [`Verdict::NotRefuted`] (searched: cases, worst ratio of left to right side), [`Verdict::Refuted`] (with a witness that can
//! be recomputed from its text) or [`Verdict::Inconclusive`]. Each claim says whose it is ([`Kind`]: printed, implied, assumed, or ours), quotes the
//! document's words with their line, names the library's code that it runs, and the error that it follows from. Labels are those of the source document where it has them
//! (`thm:cf`, `alg:cf:1`); D1 … D22 and E1 … E12 count the displays of the supplement's proofs of `thm:regret` and
//! `thm:cf_metric`, C1 … C13 those of `thm:sr_policy`.
//!
//! Everything is a function of fixed seeds; claims run in parallel and give the same digits on any number of threads.
//!
//! # Example
//! ```
//! use counterfair::theory::{Budget, claims};
//! let fair = claims().into_iter().find(|claim| claim.label == "thm:cf").unwrap();
//! let row = fair.examine(Budget::Quick);
//! assert!(row.as_expected);
//! println!("{}: {}", row.verdict.word(), row.verdict.detail());
//! ```

mod assumptions;
mod claim;
mod deployed;
mod fairness;
mod finite;
mod from_data;
mod paper_worlds;
mod preprocessing;
mod process;
mod search;
mod shipped;
mod stationary;
mod stored;
mod strict;
mod tabular;
mod unbounded;
mod unchecked;
mod unequal_spread;

pub use claim::{ARITHMETIC, Budget, Claim, Expected, Kind, Law, Quotation, Row, Verdict, Witness};
pub use stored::{RowsError, read_rows};
pub use unchecked::UNCHECKED;

use rayon::prelude::*;

/// All claims, in the order of the source document.
pub fn claims() -> Vec<Claim> {
    [
        fairness::CLAIMS,
        strict::CLAIMS,
        process::CLAIMS,
        stationary::CLAIMS,
        assumptions::CLAIMS,
        preprocessing::CLAIMS,
        deployed::CLAIMS,
        from_data::CLAIMS,
        unequal_spread::CLAIMS,
        paper_worlds::CLAIMS,
        unbounded::CLAIMS,
    ]
    .concat()
}

/// The claims that take little time: all but the rates and coverages, which need dozens of data sets each.
pub fn swift_claims() -> Vec<Claim> {
    let long = |claim: &Claim| claim.label.starts_with("rate:") || claim.runs.contains("evaluate::unfairness");
    claims().into_iter().filter(|claim| !long(claim)).collect()
}

/// Examines all claims in parallel; `progress` is called after each, in order of completion.
pub fn run(budget: Budget, progress: impl Fn(&Row) + Sync) -> Vec<Row> {
    examine(&claims(), budget, progress)
}

/// How many rows did not come back as expected.
pub fn surprises(rows: &[Row]) -> usize {
    rows.iter().filter(|row| !row.as_expected).count()
}

/// Examines some claims in parallel and returns their rows in the order given.
pub fn examine(claims: &[Claim], budget: Budget, progress: impl Fn(&Row) + Sync) -> Vec<Row> {
    let one = |claim: &Claim| {
        let row = claim.examine(budget);
        progress(&row);
        row
    };
    // One claim a task: the longest take seconds, and halving the list would leave one thread idle at the end.
    claims.par_iter().with_max_len(1).map(one).collect()
}
