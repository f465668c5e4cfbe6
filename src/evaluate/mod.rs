//! How good and how fair a policy is; every number with its standard error.

mod disagreement;
mod rollout;

pub use disagreement::{Disagreement, Unfairness};
pub use rollout::{ActionRates, Evaluation, evaluate};
