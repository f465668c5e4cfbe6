//! The displays of the proof of `thm:regret`, in order, and the theorem itself.

mod concentration;
mod features;
mod iteration;
mod perturbation;
mod regression;
mod statement;
mod theorem;

pub(super) use concentration::CHERNOFF;
pub(super) use perturbation::second_moment;

use super::Claim;

/// D1 … D22 and `thm:regret`, in print and corrected.
pub(super) fn claims() -> Vec<Claim> {
    [
        iteration::CLAIMS,
        regression::CLAIMS,
        features::CLAIMS,
        concentration::CLAIMS,
        perturbation::CLAIMS,
        statement::CLAIMS,
        theorem::CLAIMS,
    ]
    .concat()
}
