//! Structural models: the means of a decision process and the noise around them, exact counterfactuals, worlds whose mechanism is known.

mod abduction;
mod categories;
mod counterfactual;
mod exogenous;
mod mechanism;
pub mod noise;
mod scale;
mod simulate;
pub mod worlds;

pub use counterfactual::{Noise, Trajectory, abduct, predict};
pub use exogenous::Exogenous;
pub use mechanism::Mechanism;
pub use simulate::{simulate, try_simulate};
pub use worlds::World;

pub use abduction::{Means, PanelNoise, abduct_panel};
pub use categories::{CategoryNoise, CategorySums, LatentSpread, abduct_categories};
pub use noise::{NoiseLaw, Output, Rung, Step};
pub use scale::{OnScales, Scale, ScaleError};
