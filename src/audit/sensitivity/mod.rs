//! How much must be wrong? What is said of a policy, against how far an assumption behind it fails.
//!
//! | assumption | how it fails | what moves | tipping point |
//! |---|---|---|---|
//! | a person's noise is the same in every world | correlated ρ between worlds | CF metric, [`unfairness_against`] | Ours no fairer than Unaware, [`crossing`] |
//! | differences between levels are effects of the level | a share λ is, the rest is who they are | CF metric, [`unfairness_against`] | the same |
//! | actions were taken on what was recorded | odds off by a factor up to Γ | value, [`value_bounds`] | the sign is lost, [`tipping_gamma`] |

mod confounding;
mod curve;
mod worlds;

pub use confounding::{ConfoundingError, Shift, tipping_gamma, value_bounds};
pub use curve::{Curve, Violation, crossing, unfairness_against};
