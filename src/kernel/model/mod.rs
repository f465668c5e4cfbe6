//! Structural models: the means of a decision process and the noise around them, exact counterfactuals, worlds whose mechanism is known.

mod abduction;
mod blend;
mod counterfactual;
mod exogenous;
mod mechanism;
pub mod noise;
mod simulate;
pub mod worlds;

pub use counterfactual::{Noise, Trajectory, abduct, predict};
pub use exogenous::Exogenous;
pub use mechanism::Mechanism;
pub use simulate::{simulate, try_simulate};
pub use worlds::World;

pub use abduction::{Means, PanelNoise, abduct_panel};
pub use blend::Blend;

pub use noise::{NoiseLaw, Output, Rung, Step};
