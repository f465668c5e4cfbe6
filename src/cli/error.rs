//! Everything that can be wrong with what the user gave us.

use counterfair::theory::optimum::OptimumError;

/// What the program says before it exits with 2.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    #[error(transparent)]
    Fair(#[from] counterfair::fair::Error),
    #[error(transparent)]
    SameFile(#[from] counterfair::files::SameFile),
    #[error(transparent)]
    Optimum(#[from] OptimumError),
    #[error(transparent)]
    Reproduce(#[from] super::reproduce::ReproduceError),
    #[error(transparent)]
    Results(#[from] counterfair::report::paper::ResultsError),
    #[error(transparent)]
    Study(#[from] super::studies::StudyError),
    #[error(transparent)]
    Folder(#[from] counterfair::report::study::FolderError),
    #[error("{file}: {source}")]
    Rows { file: String, source: counterfair::theory::theorems::RowsError },
    #[error("{file}: {source}")]
    Read { file: String, source: std::io::Error },
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error("{file} was not saved: {why}; --save-anyway saves it all the same")]
    NotSaved { file: String, why: String },
    #[error("{file} is not served: {why}; --serve-anyway serves it all the same")]
    NotServed { file: String, why: counterfair::fair::Unfit },
    #[error("{0}")]
    Argument(String),
    #[error("{file} holds something that is not the log of decisions; choose another --log")]
    NotALog { file: String },
    #[error(
        "standard output: {source}. Requests up to line {last} were decided; the answers to lines {first} to {last} were not delivered"
    )]
    NotDelivered { first: usize, last: usize, source: std::io::Error },
    #[error("standard input, line {line}: {problem}")]
    Line { line: usize, problem: String },
}

/// Errors of the parts below the front door, which carries them all.
macro_rules! through_the_front_door {
    ($($below:ty),*) => {$(
        impl From<$below> for CliError {
            fn from(error: $below) -> Self {
                Self::Fair(error.into())
            }
        }
    )*};
}

through_the_front_door!(
    counterfair::files::DataError,
    counterfair::files::WriteError,
    counterfair::kernel::people::PanelError,
    counterfair::fair::MemoryError,
    counterfair::fair::FileError
);

impl CliError {
    pub fn is_broken_pipe(&self) -> bool {
        use super::reproduce::ReproduceError;
        matches!(self, Self::Io(error) | Self::Reproduce(ReproduceError::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe)
    }
}
