//! Panels of people followed over time: validated once, then facts.
//!
//! A [`Panel`] comes from a [`PanelBuilder`](crate::kernel::people::PanelBuilder), or from a long file by [`read()`]: one row per person and time, in one of two
//! [`RowConvention`]s. Whatever is wrong with a file is a [`DataError`] that names file, line, column and value; the one
//! repair there is, [`MissingRepair::DropTail`], has to be asked for and is counted.

mod assemble;
mod atomic;
mod calendar;
mod cell;
mod columns;
mod csv_reader;
mod csv_writer;
mod distinct;
mod error;
mod large;
mod near;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(any(feature = "parquet", feature = "durable"))]
mod quiet;
mod row_convention;
mod sheet;
mod table;
mod text_file;
mod times;
mod wide;

pub use atomic::WriteError;
pub use columns::{ColumnProblem, ColumnProblems, Columns};
pub use csv_reader::{read_csv, read_csv_from};
pub use csv_writer::{write_csv, write_csv_to};
pub use error::{DataError, Line, Place};
pub use options::{Decimal, MissingRepair, Read, ReadOptions, Repairs, RowConvention, TextFormat};
pub use text_file::Encoding;
pub use times::StepLength;

pub(crate) use atomic::{Readers, privately, written};
#[cfg(feature = "report")]
pub(crate) use atomic::{atomically, create_private_folder};
#[cfg(feature = "durable")]
pub(crate) use atomic::{end_of_links, private};
pub(crate) use csv_writer::write_preprocessed_blocks;
pub(crate) use error::visible;
pub(crate) use large::{LargeRead, SampledRead, read_large, read_sample};
#[cfg(feature = "parquet")]
pub(crate) use parquet::{write_parquet, write_preprocessed_parquet};
#[cfg(any(feature = "parquet", feature = "durable"))]
pub(crate) use quiet::quietly;

pub use atomic::private as private_file;
pub use atomic::{can_be_written, name_aside};
pub use cell::LARGEST;
pub use csv_writer::write_preprocessed_csv;
pub use distinct::{SameFile, distinct_files};
pub use error::is_treacherous;
pub use large::{Scratch, StoredPanel};
pub use options::{Cut, CutReason};
#[cfg(feature = "parquet")]
pub use parquet::read_parquet;
pub use sheet::Layout;
pub use table::MAX_LABELS;
#[cfg(feature = "gzip")]
pub use text_file::unpacked_bytes;
pub use times::StepError;

use crate::kernel::people::Panel;
use std::path::Path;

/// Whether a file is Parquet, by its name: it ends in `.parquet`, in any case.
fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

/// Reads a panel: Parquet if the name ends in `.parquet`, otherwise CSV (see [`read_csv`]).
///
/// # Errors
/// [`DataError`], which names file, line, column and value; [`DataError::CsvOnly`] for Parquet in a build without it.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Read, DataError> {
    if !is_parquet(path) {
        return read_csv(path, options);
    }
    #[cfg(feature = "parquet")]
    return read_parquet(path, options);
    #[cfg(not(feature = "parquet"))]
    Err(csv_only(path))
}

/// Writes a panel: Parquet if the name ends in `.parquet`, otherwise CSV (see [`write_csv`]).
///
/// # Errors
/// As [`write_csv`]; [`DataError::CsvOnly`] for Parquet in a build without it.
pub fn write(path: &Path, panel: &Panel, columns: &Columns, rows: RowConvention) -> Result<(), DataError> {
    if !is_parquet(path) {
        return write_csv(path, panel, columns, rows);
    }
    #[cfg(feature = "parquet")]
    return write_parquet(path, panel, columns, rows);
    #[cfg(not(feature = "parquet"))]
    Err(csv_only(path))
}

/// Writes a file back with preprocessed states and rewards: Parquet if the name ends in `.parquet`, otherwise CSV (see
/// [`write_preprocessed_csv`]).
///
/// # Errors
/// As [`write_preprocessed_csv`]; [`DataError::CsvOnly`] for Parquet in a build without it.
pub fn write_preprocessed(path: &Path, read: &Read, states: &[f64], rewards: &[f64]) -> Result<(), DataError> {
    if !is_parquet(path) {
        return write_preprocessed_csv(path, read, states, rewards);
    }
    #[cfg(feature = "parquet")]
    return write_preprocessed_parquet(path, read, states, rewards);
    #[cfg(not(feature = "parquet"))]
    Err(csv_only(path))
}

#[cfg(not(feature = "parquet"))]
fn csv_only(path: &Path) -> DataError {
    DataError::CsvOnly { file: path.display().to_string() }
}
