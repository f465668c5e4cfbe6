//! A fitted Q iteration that is stable on real data: penalised, bounded, and sure to end.
//!
//! | step | file |
//! |---|---|
//! | where a person stands (M) and how the worlds deviate (D) | `coordinates` |
//! | Q = main part + contrasts between actions, and groups of weights | `design` |
//! | one penalty for each group, by restricted likelihood | `evidence` |
//! | the degree of the contrasts, and the iteration | `learning` |
//! | sums over rows, in memory or on disk | `passes` |
//! | a lower bound in place of the estimate, if asked for | `pessimism` |

mod coordinates;
mod design;
mod evidence;
mod learning;
mod passes;
mod pessimism;
#[cfg(test)]
mod tests;
mod winsorised;

pub use coordinates::Coordinates;
pub use design::Group;
pub use learning::{Contrast, Penalties, StableQ, StableSettings, stable_fitted_q};
pub use winsorised::{Winsorised, WinsorisedError, WinsorisedRecipe};
