//! A small multilayer perceptron, trained by Adam on mean squared error.
//!
//! [`Network`] is f(x; θ): affine maps with max(0, ·) between them. [`Batch`] packs rows to learn from, [`Trainer`] computes
//! the loss and its gradient on a batch, [`Adam`] takes a step. `train` fits a mechanism by mini-batches with early
//! stopping; [`gradient_steps`] fits a Q function by steps on all rows. [`Standardizer`] scales columns, where a caller wants
//! that.
//!
//! Everything runs on the calling thread, in an order of operations that depends on shapes alone: the same seed gives
//! the same digits on any number of threads.

mod adam;
mod batch;
mod block;
mod gradient;
mod mlp;
mod neural_q;
mod shallow;
mod standardize;
mod train;

#[cfg(test)]
mod tests;

pub use adam::Adam;
pub use batch::{Batch, Examples, Loss, Rows};
pub use gradient::Trainer;
pub use mlp::{Network, NetworkError, Workspace};
pub use neural_q::{NeuralQ, NeuralQError, NeuralSettings, QNet, neural_fitted_q_iteration};
pub use standardize::{Standardizer, StandardizerError};
pub use train::{
    StepsOutcome, Training, TrainingError, TrainingOutcome, TrainingReport, gradient_steps, train, train_split,
};
