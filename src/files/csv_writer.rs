//! Long CSV files out. Each number is written with the fewest digits that read back as the same number.

use super::sheet::{Cell, Sheet};
use super::{Columns, DataError, LargeRead, Panel, Read, Readers, RowConvention, written};
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// Writes a panel, person after person with times 1, 2, …: whole or not at all.
///
/// The columns are those named, in the order id, time, level, action, reward, states; no state names stand for `state1`, ….
///
/// # Errors
/// [`DataError`] when the system refuses, when incoming rows are asked for and a final state is unknown, or when a name would
/// not read back.
pub fn write_csv(path: &Path, panel: &Panel, columns: &Columns, rows: RowConvention) -> Result<(), DataError> {
    let sheet = Sheet::of_panel(&path.display().to_string(), panel, columns, rows)?;
    write_file(path, Readers::AsUsual, &sheet)
}

/// [`write_csv`] to anything that can be written to; `name` is what errors call it.
///
/// # Errors
/// As for a file.
pub fn write_csv_to(
    out: &mut dyn io::Write,
    name: &str,
    panel: &Panel,
    columns: &Columns,
    rows: RowConvention,
) -> Result<(), DataError> {
    let sheet = Sheet::of_panel(name, panel, columns, rows)?;
    write_sheet(out, &sheet).map_err(|source| super::WriteError { path: name.into(), source }.into())
}

/// Writes a file back with preprocessed rewards and states: the rows, their order, the row convention and all other columns
/// are those of the input.
///
/// `states` holds, for each state row of the panel, the new state (for `alg:cf:1` the K·p counterfactual coordinates, level by
/// level); they become `state1`, `state2`, … in place of the input's first state column. `rewards` holds one number per
/// decision. Rows that a repair dropped are not written. A column that the panel did not use gives way if it has the name of
/// a new state. A new file is its owner's alone.
///
/// # Errors
/// [`DataError`] when the arrays do not fit the panel, when a number is not finite, or when the system refuses.
pub fn write_preprocessed_csv(path: &Path, read: &Read, states: &[f64], rewards: &[f64]) -> Result<(), DataError> {
    let sheet = Sheet::of_read(&path.display().to_string(), read, states, rewards)?;
    write_file(path, Readers::OwnerAlone, &sheet)
}

/// [`write_preprocessed_csv`] for a file on disk, block by block: `states_and_rewards` gives them for the people of a block, or `None` to
/// end without a file.
///
/// # Errors
/// As [`write_preprocessed_csv`]; and [`DataError::OtherFormat`] for a name that ends in `.parquet`, whose types are those of whole columns.
pub fn write_preprocessed_blocks(
    path: &Path,
    large: &LargeRead,
    mut states_and_rewards: impl FnMut(&Panel) -> Option<(Vec<f64>, Vec<f64>)>,
) -> Result<(), DataError> {
    let file = path.display().to_string();
    if super::is_parquet(path) {
        let (what, advice) =
            ("to be Parquet, of people who do not fit in memory", "choose a name that ends in .csv or .csv.gz");
        return Err(DataError::OtherFormat { file, what, advice });
    }
    let mut failure = None;
    let written = write_text(path, Readers::OwnerAlone, |out| {
        let mut is_first = true;
        let done = large.for_each_block(|read| {
            if read.panel.people() == 0 {
                return Ok(());
            }
            let stopped = || super::WriteError { path: path.into(), source: io::Error::other("stopped") };
            let (states, rewards) = states_and_rewards(&read.panel).ok_or_else(stopped)?;
            let sheet = Sheet::of_read(&file, &read, &states, &rewards)?;
            let rows = write_rows(out, &sheet, std::mem::take(&mut is_first));
            Ok(rows.map_err(|source| super::WriteError { path: path.into(), source })?)
        });
        done.map_err(|error| {
            failure = Some(error);
            io::Error::other("stopped")
        })
    });
    failure.map_or(written, Err)
}

fn write_file(path: &Path, readers: Readers, sheet: &Sheet<'_>) -> Result<(), DataError> {
    write_text(path, readers, |out| write_sheet(out, sheet))
}

/// Compressed where the name ends in `.gz`.
fn write_text(
    path: &Path,
    readers: Readers,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> Result<(), DataError> {
    let compressed = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    if !compressed {
        return Ok(written(path, readers, write)?);
    }
    #[cfg(feature = "gzip")]
    return Ok(written(path, readers, |out| {
        let mut packed = flate2::write::GzEncoder::new(out, flate2::Compression::default());
        write(&mut packed)?;
        packed.finish().map(drop)
    })?);
    #[cfg(not(feature = "gzip"))]
    Err(DataError::OtherFormat {
        file: path.display().to_string(),
        what: "to be compressed",
        advice: "this build cannot: choose a name without .gz, or build with --features gzip",
    })
}

fn write_sheet(out: &mut dyn io::Write, sheet: &Sheet<'_>) -> io::Result<()> {
    write_rows(out, sheet, true)
}

/// The rows, after a header if it is asked for.
fn write_rows(out: &mut dyn io::Write, sheet: &Sheet<'_>, header: bool) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    if header {
        csv.write_record(&sheet.names)?;
    }
    let mut number = String::new();
    for row in 0..sheet.rows {
        for column in 0..sheet.names.len() {
            number.clear();
            let written = match (sheet.cell)(row, column) {
                Cell::Blank => Ok(()),
                Cell::Text(text) => {
                    csv.write_field(text)?;
                    continue;
                }
                Cell::Whole(n) => write!(number, "{n}"),
                // `Debug` rather than `Display`: 1e300 in five letters instead of three hundred.
                Cell::Number(x) => write!(number, "{x:?}"),
            };
            written.map_err(io::Error::other)?;
            csv.write_field(&number)?;
        }
        csv.write_record(None::<&[u8]>)?;
    }
    csv.flush()
}
