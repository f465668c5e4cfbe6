//! Structural models: the means of a decision process and the noise around them, exact counterfactuals, the paper's worlds and
//! fitted mechanisms.

mod blend;
mod counterfactual;
mod exogenous;
pub mod fitted;
mod mechanism;
pub mod noise;
mod simulate;
pub mod worlds;

pub use blend::Blend;
pub use counterfactual::{Noise, Trajectory, abduct, predict};
pub use exogenous::Exogenous;
pub use mechanism::Mechanism;
pub use noise::{NoiseLaw, Output, Rung};
pub use simulate::{simulate, try_simulate};
pub use worlds::World;
