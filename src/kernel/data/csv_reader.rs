//! Long CSV files in.

use super::assemble::assemble;
use super::error::{DataError, Line, excerpt};
use super::table::{Source, Table};
use super::{Read, ReadOptions};
use std::io;
use std::path::Path;

/// Reads a long CSV file: one row per person and time, comma-separated, with a header.
///
/// Rows come in any order. A cell is blank when it is empty, `NA` or `NaN`, in any case; white space around a cell and a
/// byte-order mark are ignored. When every time is a whole number, a person's times go up by 1; otherwise by the smallest
/// step that anybody takes.
///
/// # Errors
/// [`DataError`], which names file, line, column and value.
pub fn read_csv(path: &Path, options: &ReadOptions) -> Result<Read, DataError> {
    let file = path.display().to_string();
    match std::fs::read(path) {
        Ok(bytes) => assemble(parse(bytes, &file, options)?, options),
        Err(source) => Err(unreadable(file, source)),
    }
}

/// [`read_csv`] from anything that can be read; `name` is what errors call it.
///
/// # Errors
/// [`DataError`], as for a file.
///
/// # Example
/// ```
/// use counterfair::kernel::data::{ReadOptions, read_csv_from};
/// let csv = "ID,timestamp,z1,action,reward,state1\n\
///            ann,2,f,treat,0.5,1.25\n\
///            ann,1,f,,,1\n";
/// let read = read_csv_from(csv.as_bytes(), "example", &ReadOptions::default())?;
/// assert_eq!(read.panel.person(0).states, [1.0, 1.25]);
/// assert_eq!(read.panel.action_names().name(0), "treat");
/// # Ok::<(), counterfair::kernel::data::DataError>(())
/// ```
pub fn read_csv_from(mut reader: impl io::Read, name: &str, options: &ReadOptions) -> Result<Read, DataError> {
    let mut bytes = Vec::new();
    match reader.read_to_end(&mut bytes) {
        Ok(_) => assemble(parse(bytes, name, options)?, options),
        Err(source) => Err(unreadable(name.into(), source)),
    }
}

pub(super) fn unreadable(file: String, source: io::Error) -> DataError {
    match source.kind() {
        io::ErrorKind::NotFound => DataError::NoSuchFile { file },
        _ => DataError::Unreadable { file, source },
    }
}

/// Takes the bytes along with it, so that they are gone before the table becomes a panel.
fn parse(bytes: Vec<u8>, file: &str, options: &ReadOptions) -> Result<Table, DataError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
    let mut lines = Lines { bytes, at: 0, line: 1 };
    let mut record = csv::StringRecord::new();
    let mut next = |record: &mut csv::StringRecord, header: &[String]| {
        let start = reader.position().byte() as usize;
        let found = reader.read_record(record);
        let line = lines.of_record(start);
        found.map(|found| found.then_some(line)).map_err(|error| not_text(&error, bytes, start, file, line, header))
    };
    if next(&mut record, &[])?.is_none() {
        return Err(DataError::Empty { file: file.into() });
    }
    let source = Source::new(file, record.iter().map(String::from), options, Line::Text)?;
    let columns = source.header.len();
    let mut table = Table::new(source, options.missing);
    while let Some(line) = next(&mut record, &table.source.header)? {
        if record.len() != columns {
            let value = excerpt(record.get(0).unwrap_or(""));
            return Err(DataError::Ragged {
                file: file.into(),
                line: Line::Text(line),
                cells: record.len(),
                columns,
                value,
            });
        }
        table.push(line, |j| &record[j])?;
    }
    Ok(table)
}

/// The only error a reader of flexible records from memory has: a cell that is not UTF-8.
fn not_text(error: &csv::Error, bytes: &[u8], start: usize, file: &str, line: u64, header: &[String]) -> DataError {
    let csv::ErrorKind::Utf8 { err, .. } = error.kind() else {
        return DataError::Unreadable { file: file.into(), source: io::Error::other(error.to_string()) };
    };
    let mut again = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(&bytes[start..]);
    let mut record = csv::ByteRecord::new();
    let cell = match again.read_byte_record(&mut record) {
        Ok(_) => String::from_utf8_lossy(record.get(err.field()).unwrap_or_default()).into_owned(),
        Err(_) => String::new(),
    };
    let number = (err.field() + 1).to_string();
    let column = excerpt(header.get(err.field()).unwrap_or(&number));
    let at = Box::new(super::error::Place { file: file.into(), line: Line::Text(line), column });
    DataError::NotText { at, value: excerpt(&cell) }
}

/// Counts physical lines.
///
/// The line that `csv` gives for a record is where it began to look for one: too small after `\r\n` or an empty line.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
}

impl Lines<'_> {
    /// The line of the record found by a search from byte `start` on; starts must not decrease.
    fn of_record(&mut self, start: usize) -> u64 {
        let skipped = self.bytes[start..].iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
        let begin = start + skipped;
        self.line += self.bytes[self.at..begin].iter().filter(|&&b| b == b'\n').count() as u64;
        self.at = begin;
        self.line
    }
}
