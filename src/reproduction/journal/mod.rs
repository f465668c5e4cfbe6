//! The file of results: a header, the grids that were asked for, and one line per finished cell, each with a checksum.
//!
//! While cells are being done, lines are appended in the order in which they finish. A file that is finished is written anew in canonical
//! order, so that it does not show how many threads, shards or interruptions it took.
//!
//! What is promised after a crash: every line that [`Journal::append`] returned from is read back, unless the system itself lost it; a line
//! that is torn or damaged is dropped, [told](Contents::damaged), and its cell done again.

mod header;
mod line;
mod lock;

pub use header::{Header, Misfit};
pub use lock::Lock;

use super::{Grid, Record};
use crate::files::{WriteError, atomically};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why a file of results cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The operating system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The first line is not a header.
    #[error("{path} cannot be used: {reason} in its first line, which says what its numbers depend on")]
    NoHeader {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file was made by another program, with other numbers or from other data.
    #[error("{path} does not fit: {misfit}; its cells cannot be mixed with others")]
    Misfit {
        /// The file.
        path: PathBuf,
        /// What is different.
        misfit: Misfit,
    },
    /// Somebody else is writing the file.
    #[error("{path} is being written by another run; wait for it, or name another folder with --out")]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// An earlier line could not be written.
    #[error("{path}: no more is written, because an earlier line could not be")]
    Broken {
        /// The file.
        path: PathBuf,
    },
    /// One cell with two different results.
    #[error("{path}: cell {key} has two different results")]
    Contradiction {
        /// The file in which the second was found.
        path: PathBuf,
        /// The cell.
        key: String,
    },
}

/// A line that was dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// What is in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Contents {
    /// What its numbers depend on.
    pub header: Header,
    /// What was asked for.
    pub grids: Vec<Grid>,
    /// What is finished, in the order of the file; of a cell that was done twice, the later.
    pub records: Vec<Record>,
    /// Lines that were dropped.
    pub damaged: Vec<Damage>,
}

/// A line after the first.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
enum Entry {
    Grid { grid: Box<Grid> },
    Record(Record),
}

/// Reads a file of results; lines that are torn or damaged are left out and told.
///
/// # Errors
/// [`JournalError::Io`] and [`JournalError::NoHeader`].
pub fn read(path: &Path) -> Result<Contents, JournalError> {
    let text = fs::read(path).map_err(|source| JournalError::Io { path: path.into(), source })?;
    let mut lines = text.split(|&b| b == b'\n').zip(1..).filter(|(line, _)| !line.is_empty());
    let no_header = |reason: String| JournalError::NoHeader { path: path.into(), reason };
    let (first, _) = lines.next().ok_or_else(|| no_header("nothing is".into()))?;
    let header = line::open::<Header>(first).map_err(|reason| no_header(format!("something is wrong ({reason})")))?;
    let mut contents = Contents { header, grids: vec![], records: vec![], damaged: vec![] };
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for (text, line) in lines {
        let entry = line::open::<Entry>(text).and_then(|entry| match entry {
            Entry::Record(record) => record.check().map(|()| Entry::Record(record)),
            grid => Ok(grid),
        });
        match entry {
            Ok(Entry::Grid { grid }) if contents.grids.contains(&*grid) => {}
            Ok(Entry::Grid { grid }) => contents.grids.push(*grid),
            Ok(Entry::Record(record)) => match places.get(&record.cell.key()) {
                Some(&at) => contents.records[at] = record,
                None => {
                    places.insert(record.cell.key(), contents.records.len());
                    contents.records.push(record);
                }
            },
            Err(reason) => contents.damaged.push(Damage { line, reason }),
        }
    }
    Ok(contents)
}

/// Writes a whole file: header, grids and records in canonical order. A reader sees the old file or the new one, never half of it.
///
/// # Errors
/// [`JournalError::Io`] and [`JournalError::Write`].
pub fn write<'a>(
    path: &Path,
    header: &Header,
    grids: &[Grid],
    records: impl IntoIterator<Item = &'a Record>,
) -> Result<(), JournalError> {
    let mut records: Vec<&Record> = records.into_iter().collect();
    records.sort_by_cached_key(|record| record.cell.key());
    let mut grids: Vec<Vec<u8>> =
        grids.iter().map(|grid| line::seal(&Entry::Grid { grid: Box::new(grid.clone()) })).collect();
    grids.sort();
    grids.dedup();
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|source| JournalError::Io { path: folder.into(), source })?;
    }
    atomically(path, |out| {
        out.write_all(&line::seal(header))?;
        grids.iter().try_for_each(|grid| out.write_all(grid))?;
        records.iter().try_for_each(|record| out.write_all(&line::seal(record)))
    })?;
    Ok(())
}

/// Adds records to others; the same cell twice is one cell, provided that it says the same.
///
/// # Errors
/// [`JournalError::Contradiction`], which names `path` as the origin of the new records.
pub fn join(path: &Path, records: &mut Vec<Record>, more: Vec<Record>) -> Result<(), JournalError> {
    let mut known: BTreeMap<String, usize> = records.iter().enumerate().map(|(i, r)| (r.cell.key(), i)).collect();
    for record in more {
        let key = record.cell.key();
        match known.get(&key) {
            Some(&i) if records[i] != record => return Err(JournalError::Contradiction { path: path.into(), key }),
            Some(_) => {}
            None => {
                known.insert(key, records.len());
                records.push(record);
            }
        }
    }
    Ok(())
}

/// A file of results that is open for more.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    broken: bool,
}

impl Journal {
    /// Opens a file that [`write()`] has made.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let file = OpenOptions::new().append(true).open(path);
        let file = file.map_err(|source| JournalError::Io { path: path.into(), source })?;
        Ok(Self { path: path.into(), file, broken: false })
    }

    /// Adds a finished cell: one write of one whole line, handed to the operating system before this returns.
    ///
    /// # Errors
    /// [`JournalError::Io`], and ever after [`JournalError::Broken`]: nothing may follow a line that is torn.
    pub fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        if self.broken {
            return Err(JournalError::Broken { path: self.path.clone() });
        }
        self.file.write_all(&line::seal(record)).map_err(|source| {
            self.broken = true;
            JournalError::Io { path: self.path.clone(), source }
        })
    }
}
