//! JSON files of ours: a header first, then what it promises.

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Why a policy file, or a file of fitted preprocessing, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// Not JSON of the right shape; line and column are inside the message.
    #[error("{file}: {expected}: {source}")]
    Json {
        /// The file.
        file: String,
        /// What it is not.
        expected: &'static str,
        /// Where and why.
        source: serde_json::Error,
    },
    /// A version this build does not know.
    #[error("{file}: format {format:?}, version {version}; this build reads {reads}")]
    Version {
        /// The file.
        file: String,
        /// What it says it is.
        format: String,
        /// Its version.
        version: u32,
        /// What could be read.
        reads: String,
    },
    /// Parts that do not fit together.
    #[error("{file}: {problem}")]
    Inconsistent {
        /// The file.
        file: String,
        /// What does not fit.
        problem: String,
    },
}

/// What a file says about itself. Read first, so that a newer file is called newer and not malformed.
#[derive(Deserialize)]
pub(super) struct Header {
    pub format: String,
    pub version: u32,
}

/// The contents of a file as JSON of one shape; `expected` says what it is not otherwise.
pub(super) fn parse<T: DeserializeOwned>(text: &[u8], file: &str, expected: &'static str) -> Result<T, FileError> {
    serde_json::from_slice(text).map_err(|source| FileError::Json { file: file.into(), expected, source })
}

/// What was parsed, unless its parts do not fit together.
pub(super) fn fitting<T>(parsed: T, file: &str, problem: Option<String>) -> Result<T, FileError> {
    match problem {
        None => Ok(parsed),
        Some(problem) => Err(FileError::Inconsistent { file: file.into(), problem }),
    }
}

/// The bytes of a file, and its name for messages.
pub(super) fn bytes(path: &std::path::Path) -> Result<(Vec<u8>, String), FileError> {
    let file = path.display().to_string();
    match std::fs::read(path) {
        Ok(text) => Ok((text, file)),
        Err(source) => Err(FileError::Io { file, source }),
    }
}
