//! Outcomes in words.

use crate::kernel::learn::Outcome;

/// How fitted Q iteration or evaluation ended.
pub fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Converged { iterations } => format!("converged after {iterations} iterations"),
        Outcome::IterationLimit { iterations, change } => {
            format!("{iterations} iterations, the last of which moved values by {change:.1e} of the largest")
        }
        Outcome::RankDeficient { action, rank, features } => {
            format!("rank-deficient: the data determine {rank} of {features} weights of action code {action}")
        }
        Outcome::Diverged { iteration } => format!("diverged at iteration {iteration}"),
    }
}
