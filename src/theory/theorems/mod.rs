//! The theorems, lemmas and rates as data: each with the limit it must keep, a check that runs the kernel, and a control that breaks it.
//!
//! Reading order: [`Claim`] (what a row is), [`Limit`] and its judge, [`Found`], then the rows by subject.
//! [`assert_counterfactually_fair`] and [`assert_counterfactual_states`] ask the same of a policy or a method of one's own.

mod circle;
mod claim;
mod deployed;
mod fair;
mod fairness;
mod found;
mod iteration;
mod judge;
mod laws;
mod listed;
mod preprocessing;
mod process;
mod proofs;
mod regret;
mod samples;
pub(crate) mod search;
mod stored;
mod strict;
mod table;
mod unfairness;

pub use claim::{Claim, Expected, Quotation, Rank, Row, Run};
pub use fair::{
    Fairness, assert_counterfactual_states, assert_counterfactually_fair, counterfactual_fairness,
    counterfactual_states,
};
pub use found::{Found, Slope, Worst};
pub use judge::{FAR, Limit, NEAR, ROUNDING, Verdict, judge};
pub use proofs::{Proved, proofs, proved};
pub use stored::{Examined, RowsError, read};
pub use table::{Beside, Cells, margin, sides, table};

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// All claims: the four checks first, then in the order of the source document.
pub fn theorems() -> Vec<Claim> {
    let rooms: &[&[Claim]] = &[
        fairness::CLAIMS,
        strict::CLAIMS,
        process::CLAIMS,
        preprocessing::CLAIMS,
        iteration::CLAIMS,
        regret::CLAIMS,
        unfairness::CLAIMS,
        deployed::CLAIMS,
    ];
    [&laws::ROOMS, rooms].concat().concat()
}

/// The claims that take little time: all but the slopes, which need dozens of data sets each.
pub fn swift() -> Vec<Claim> {
    theorems().into_iter().filter(|claim| claim.limit.slope().is_none()).collect()
}

/// Examines some claims and returns their rows in the order given; `progress` is called after each, in order of completion.
///
/// Claims run side by side on plain threads, because several of them spread a grid of runs over rayon's own: a worker that waited for its part of a grid
/// would take up another claim meanwhile, which may wait for the same grid.
pub fn examine(claims: &[Claim], progress: impl Fn(&Row) + Sync) -> Vec<Row> {
    let (next, rows) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(claims.len())));
    let work = || {
        while let Some((place, claim)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|k| Some((k, claims.get(k)?)))
        {
            let row = claim.examine();
            progress(&row);
            rows.lock().unwrap_or_else(PoisonError::into_inner).push((place, row));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..rayon::current_num_threads().min(claims.len()) {
            scope.spawn(work);
        }
    });
    let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
    rows.sort_by_key(|(place, _)| *place);
    rows.into_iter().map(|(_, row)| row).collect()
}

/// How many rows did not come back as expected.
pub fn surprises(rows: &[Row]) -> usize {
    rows.iter().filter(|row| !row.as_expected()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(left: f64) -> Found {
        let mut worst = Worst::default();
        worst.at_most(left, 1.0, || format!("{left} against 1"));
        worst.found()
    }

    const KEPT: Claim = Claim { label: "a", check: |run| bound(run.pick(0.5, 2.0)), ..Claim::LEMMA };

    #[test]
    fn rows_come_in_the_order_asked_for() {
        let claims: Vec<Claim> = ["a", "b", "c", "d"].map(|label| Claim { label, ..KEPT }).to_vec();
        let rows = examine(&claims, |_| {});
        assert_eq!(rows.iter().map(|row| row.claim.label).collect::<Vec<_>>(), ["a", "b", "c", "d"]);
        assert_eq!(surprises(&rows), 0);
    }

    #[test]
    fn a_control_that_need_not_turn_a_broken_limit_and_nothing_found_are_surprises() {
        for check in [|_: Run| bound(0.5), |_: Run| bound(2.0), |_: Run| Found::Nothing { reason: "no data".into() }] {
            assert_eq!(surprises(&examine(&[Claim { check, ..KEPT }], |_| {})), 1);
        }
    }
}
