//! A small multilayer perceptron, trained by Adam on mean squared error.
//!
//! | what | file |
//! |---|---|
//! | f(x; θ): affine maps with max(0, ·) between them | `mlp`: [`Network`] |
//! | rows to learn from, in blocks | `batch`: [`Batch`], `block` |
//! | the loss and its gradient on a batch; a step | `gradient`: [`Trainer`], `adam`: [`Adam`] |
//! | a mechanism by mini-batches with early stopping; a Q function by steps on all rows | `train`: [`train()`], [`gradient_steps`] |
//! | fitted Q iteration (supplement F.1); columns on one scale | `neural_q`, `standardize`: [`Standardizer`] |
//!
//! Everything runs on the calling thread, in an order of operations that depends on shapes alone: the same seed gives
//! the same digits on any number of threads.

mod adam;
mod batch;
mod block;
mod gradient;
mod mlp;
mod neural_q;
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
