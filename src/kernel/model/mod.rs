//! Structural models: the means of a decision process and the noise around them, exact counterfactuals, the paper's worlds and
//! fitted mechanisms.

mod abduction;
mod blend;
mod counterfactual;
mod exogenous;
pub mod fitted;
mod mechanism;
pub(crate) mod noise;
mod simulate;
pub mod worlds;

pub use counterfactual::{Noise, Trajectory, abduct, predict};
pub use exogenous::Exogenous;
pub use mechanism::Mechanism;
pub use simulate::{simulate, try_simulate};
pub use worlds::World;

pub(crate) use abduction::{Means, PanelNoise, abduct_panel};
pub(crate) use blend::Blend;

/// What this package's own command, tests and benches reach beyond the promise above. No promise: it may change with any release.
#[doc(hidden)]
pub mod internals {
    pub use super::noise::{NoiseLaw, Output, Rung, Step};
}
pub(crate) use internals::*;
