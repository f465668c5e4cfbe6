//! One error for the whole way from a file to a decision.

use super::{FileError, MemoryError, ProgramError, RequestError};
use crate::audit::recorded::RecordedError;
use crate::audit::{AuditError, UnfairnessError};
use crate::estimate::FitError;
use crate::estimate::{CrossFitError, StoringError};
use crate::files::{DataError, WriteError};
use crate::kernel::learn::FittedQError;
use crate::kernel::learn::features::PolynomialError;
use crate::kernel::people::{BlocksError, PanelError};
use crate::kernel::preprocess::StateOverflow;
use crate::nets::NeuralQError;

/// What went wrong, with the place and the value that the part concerned gave it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of people cannot be read or written: file, line, column and value are in it.
    #[error(transparent)]
    Data(Box<DataError>),
    /// The system refused to write a file.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A person who does not fit into a panel.
    #[error(transparent)]
    Panel(#[from] PanelError),
    /// The mechanism cannot be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// People on disk cannot be read back.
    #[error("people on disk cannot be read: {0}")]
    Blocks(#[from] BlocksError),
    /// A counterfactual state overflowed.
    #[error(transparent)]
    Overflow(#[from] StateOverflow),
    /// Fitted Q iteration was called in a way that makes no sense.
    #[error(transparent)]
    FittedQ(#[from] FittedQError),
    /// The features cannot be made.
    #[error(transparent)]
    Features(#[from] PolynomialError),
    /// A policy file, or a file with fitted preprocessing, cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// Counterfactual states are asked for, and there is nothing to make them with.
    #[error("this preprocessing has no mechanism, so there are no counterfactual states to read; take that of `ours`")]
    NoMechanism,
    /// A program that decides went wrong.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A request that cannot be answered.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A memory that cannot be used.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A step of the kernel cannot take what it was given (cross-fitting, a net, following a policy along histories, its value): the words
    /// name the place and the value.
    #[error(transparent)]
    Kernel(Box<dyn std::error::Error + Send + Sync>),
    /// The weights of the levels are not one number ≥ 0 for each level with a positive sum.
    #[error("level weights {weights:?} for the levels {levels:?}: {problem}")]
    LevelWeights {
        /// The weights given.
        weights: Vec<f64>,
        /// The levels there are.
        levels: Vec<String>,
        /// What is wrong.
        problem: String,
    },
    /// A policy to compare with that is about other people.
    #[error("policy {name} knows other levels, actions or states than the people it is to be compared on")]
    OtherPeople {
        /// The policy.
        name: String,
    },
    /// People with another number of state coordinates than the policy reads.
    #[error("{file} has {found} state columns, the policy reads {needed}")]
    StateColumns {
        /// The file, or what stands for it.
        file: String,
        /// Columns found.
        found: usize,
        /// Columns needed.
        needed: usize,
    },
}

// Boxed: it carries file, line, column and value, and would make every result of the front door as large.
impl From<StoringError> for Error {
    fn from(error: StoringError) -> Self {
        match error {
            StoringError::Data(error) => error.into(),
            StoringError::Overflow(error) => error.into(),
        }
    }
}

impl From<DataError> for Error {
    fn from(error: DataError) -> Self {
        Self::Data(Box::new(error))
    }
}

macro_rules! of_the_kernel {
    ($($below:ty),*) => {$(
        impl From<$below> for Error {
            fn from(error: $below) -> Self {
                Self::Kernel(Box::new(error))
            }
        }
    )*};
}

of_the_kernel!(CrossFitError, NeuralQError, AuditError, RecordedError, UnfairnessError);
