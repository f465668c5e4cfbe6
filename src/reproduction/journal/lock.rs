//! One writer per file.

use super::JournalError;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::Path;

/// The right to write a file of results, until it is dropped or the process ends, however it ends.
///
/// The lock is on an empty file beside it, `.cells.jsonl.lock`, which stays: a lock on the results themselves would be lost when they are
/// replaced, and one that is removed can be held twice.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "held, not read")] Option<File>);

impl Lock {
    /// Takes it; makes the folder where there is none.
    ///
    /// # Errors
    /// [`JournalError::Locked`] when another run has it, [`JournalError::Io`] when it cannot be made.
    pub fn take(path: &Path) -> Result<Self, JournalError> {
        let io = |source| JournalError::Io { path: path.into(), source };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(io)?;
        }
        let name = format!(".{}.lock", path.file_name().unwrap_or_default().to_string_lossy());
        let file =
            OpenOptions::new().write(true).create(true).truncate(false).open(path.with_file_name(name)).map_err(io)?;
        match file.try_lock() {
            Ok(()) => Ok(Self(Some(file))),
            Err(TryLockError::WouldBlock) => Err(JournalError::Locked { path: path.into() }),
            // Some network file systems know no locks.
            Err(TryLockError::Error(e)) if e.kind() == std::io::ErrorKind::Unsupported => Ok(Self(None)),
            Err(TryLockError::Error(e)) => Err(io(e)),
        }
    }
}
