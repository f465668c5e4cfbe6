//! Structural models: the means of a decision process, exact counterfactuals, the paper's worlds and fitted mechanisms.

pub mod beds;
mod counterfactual;
mod exogenous;
pub mod finite;
pub mod fitted;
mod mechanism;
mod simulate;
pub mod worlds;

pub use counterfactual::{Noise, Trajectory, abduct, predict};
pub use exogenous::Exogenous;
pub use finite::FiniteWorld;
pub use mechanism::Mechanism;
pub use simulate::{simulate, try_simulate};
pub use worlds::World;
