//! The file of results: a header, then one JSON line a finished cell.
//!
//! While cells are being done, lines are appended in the order in which they finish. A file that is finished is written anew in canonical
//! order, so that it does not show how many threads, shards or interruptions it took.

use super::Record;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What every line of a file depends on and no cell says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// What kind of file this is.
    pub format: String,
    /// The version of the program whose numbers these are.
    pub version: String,
    /// The studies involved and a fingerprint of their data.
    pub studies: Vec<(String, String)>,
}

impl Header {
    /// The header of files that this program writes.
    pub fn new(studies: Vec<(String, String)>) -> Self {
        Self { format: "counterfair cells".into(), version: env!("CARGO_PKG_VERSION").into(), studies }
    }
}

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
    /// A line, not the last, that is no result.
    #[error("{path}, line {line}: not a result of this program: {reason}")]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What the parser said.
        reason: String,
    },
    /// The file was made by another version or from other data.
    #[error(
        "{path} was made by version {} from {:?}; this is version {} with {:?}: its cells cannot be mixed with new ones",
        found.version, found.studies, expected.version, expected.studies
    )]
    Header {
        /// The file.
        path: PathBuf,
        /// Its header.
        found: Box<Header>,
        /// The header it would need.
        expected: Box<Header>,
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

/// A file of results that is open for more.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// An empty file with its header; what was there before is gone.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn create(path: &Path, header: &Header) -> Result<Self, JournalError> {
        let io = |source| JournalError::Io { path: path.into(), source };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(io)?;
        }
        let mut file = File::create(path).map_err(io)?;
        file.write_all(&line(header)).map_err(io)?;
        Ok(Self { path: path.into(), file })
    }

    /// Goes on with a file, or begins one when there is none. A last line that was cut off in the middle is dropped.
    ///
    /// # Errors
    /// Any [`JournalError`]; the file is then as it was.
    pub fn resume(path: &Path, header: &Header) -> Result<(Self, Vec<Record>), JournalError> {
        let io = |source| JournalError::Io { path: path.into(), source };
        if !path.exists() {
            return Ok((Self::create(path, header)?, Vec::new()));
        }
        let text = fs::read(path).map_err(io)?;
        let complete = text.iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1);
        if complete == 0 {
            // Killed while the header was written: nothing is lost.
            return Ok((Self::create(path, header)?, Vec::new()));
        }
        let records = parse(path, &text[..complete], header)?;
        let file = OpenOptions::new().append(true).open(path).map_err(io)?;
        file.set_len(complete as u64).map_err(io)?;
        Ok((Self { path: path.into(), file }, records))
    }

    /// Adds a finished cell: one write of one whole line, handed to the operating system before this returns.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        self.file.write_all(&line(record)).map_err(|source| JournalError::Io { path: self.path.clone(), source })
    }
}

/// Writes the finished file: the header and every record in canonical order. A reader sees the old file or the new one, never half of it.
///
/// # Errors
/// [`JournalError::Io`].
pub fn finish<'a>(
    path: &Path,
    header: &Header,
    records: impl IntoIterator<Item = &'a Record>,
) -> Result<(), JournalError> {
    let io = |source| JournalError::Io { path: path.into(), source };
    let mut sorted: Vec<&Record> = records.into_iter().collect();
    sorted.sort_by_cached_key(|record| record.cell.key());
    let mut text = line(header);
    for record in sorted {
        text.extend(line(record));
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(io)?;
    }
    let draft = path.with_extension("jsonl.new");
    fs::write(&draft, text).map_err(io)?;
    fs::rename(&draft, path).map_err(io)
}

/// Reads a file of results; a last line that was cut off is left out.
///
/// # Errors
/// Any [`JournalError`].
pub fn read(path: &Path, header: &Header) -> Result<Vec<Record>, JournalError> {
    let text = fs::read(path).map_err(|source| JournalError::Io { path: path.into(), source })?;
    let complete = text.iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1);
    parse(path, &text[..complete], header)
}

/// Reads the header alone.
///
/// # Errors
/// [`JournalError::Io`] and [`JournalError::Line`].
pub fn read_header(path: &Path) -> Result<Header, JournalError> {
    let text = fs::read(path).map_err(|source| JournalError::Io { path: path.into(), source })?;
    parse_line(path, 1, text.split(|&b| b == b'\n').next().unwrap_or_default())
}

/// Adds records to others; the same cell twice is one cell, provided that it says the same.
///
/// # Errors
/// [`JournalError::Contradiction`], which names `path` as the origin of the new records.
pub fn join(path: &Path, records: &mut Vec<Record>, more: Vec<Record>) -> Result<(), JournalError> {
    let mut known: std::collections::HashMap<String, usize> =
        records.iter().enumerate().map(|(i, r)| (r.cell.key(), i)).collect();
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

fn parse(path: &Path, text: &[u8], expected: &Header) -> Result<Vec<Record>, JournalError> {
    let mut lines = text.split(|&b| b == b'\n').filter(|line| !line.is_empty()).enumerate();
    let (_, first) = lines.next().unwrap_or((0, &[]));
    let found: Header = parse_line(path, 1, first)?;
    if found != *expected {
        return Err(JournalError::Header { path: path.into(), found: found.into(), expected: expected.clone().into() });
    }
    let parsed: Result<Vec<Record>, _> = lines.map(|(i, line)| parse_line(path, i + 1, line)).collect();
    let mut records = Vec::new();
    join(path, &mut records, parsed?)?;
    Ok(records)
}

fn parse_line<T: serde::de::DeserializeOwned>(path: &Path, line: usize, text: &[u8]) -> Result<T, JournalError> {
    serde_json::from_slice(text).map_err(|e| JournalError::Line { path: path.into(), line, reason: e.to_string() })
}

fn line(value: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("records and headers have no map keys that are not text");
    line.push(b'\n');
    line
}
