//! Everything that can be wrong with what the user gave us.

use counterfair::kernel::data::{DataError, PanelError, WriteError};
use counterfair::kernel::evaluate::{AuditError, EvaluationError};
use counterfair::kernel::learn::features::PolynomialError;
use counterfair::kernel::learn::stored::PolicyFileError;
use counterfair::kernel::learn::{FittedQError, NeuralQError, PropensityError};
use counterfair::kernel::model::fitted::FitError;
use counterfair::kernel::preprocess::{CrossFitError, StateOverflow};
use counterfair::theory::optimum::OptimumError;

/// What the program says before it exits with 2.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(transparent)]
    Panel(#[from] PanelError),
    #[error(transparent)]
    Fit(#[from] FitError),
    #[error(transparent)]
    CrossFit(#[from] CrossFitError),
    #[error(transparent)]
    Overflow(#[from] StateOverflow),
    #[error(transparent)]
    FittedQ(#[from] FittedQError),
    #[error(transparent)]
    NeuralQ(#[from] NeuralQError),
    #[error(transparent)]
    Features(#[from] PolynomialError),
    #[error(transparent)]
    Optimum(#[from] OptimumError),
    #[error(transparent)]
    Audit(#[from] AuditError),
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    #[error(transparent)]
    Propensity(#[from] PropensityError),
    #[error(transparent)]
    Policy(#[from] PolicyFileError),
    #[error(transparent)]
    Reproduce(#[from] super::reproduce::ReproduceError),
    #[error(transparent)]
    Results(#[from] counterfair::report::paper::ResultsError),
    #[error(transparent)]
    Study(#[from] super::studies::StudyError),
    #[error("{file}: {source}")]
    Rows { file: String, source: counterfair::theory::RowsError },
    #[error("{file}: {source}")]
    Read { file: String, source: std::io::Error },
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Argument(String),
    #[error("standard input, line {line}: {problem}")]
    Line { line: usize, problem: String },
}

impl CliError {
    pub fn is_broken_pipe(&self) -> bool {
        use super::reproduce::ReproduceError;
        matches!(self, Self::Io(error) | Self::Reproduce(ReproduceError::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe)
    }
}
