//! Long CSV files in.

use super::assemble::assemble;
use super::columns::Roles;
use super::error::{DataError, Line, excerpt};
use super::table::{Decimals, Source, Table};
use super::text_file::{Decoded, decode};
use super::{Read, ReadOptions};
use std::io;
use std::path::Path;

/// Reads a long CSV file: one row per person and time, with a header.
///
/// Rows come in any order. Cells are separated by commas, semicolons or tabs; gzip and UTF-16 are read, other encodings when told (see
/// [`TextFormat`](super::TextFormat)). A cell is blank when it is empty, `NA` or `NaN`, in any case; white space around a cell and a
/// byte-order mark are ignored. Times are numbers or ISO 8601 dates and go up by the smallest step that anybody takes, or as
/// [`ReadOptions::step`] says; visits on one day of each month are a step of a month.
///
/// # Errors
/// [`DataError`], which names file, line, column and value.
pub fn read_csv(path: &Path, options: &ReadOptions) -> Result<Read, DataError> {
    let file = path.display().to_string();
    match std::fs::read(path) {
        Ok(bytes) => read_bytes(bytes, &file, options),
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
/// use counterfair::files::{ReadOptions, read_csv_from};
/// let csv = "ID,timestamp,z1,action,reward,state1\n\
///            ann,2,f,treat,0.5,1.25\n\
///            ann,1,f,,,1\n";
/// let read = read_csv_from(csv.as_bytes(), "example", &ReadOptions::default())?;
/// assert_eq!(read.panel.person(0).states, [1.0, 1.25]);
/// assert_eq!(read.panel.action_names().name(0), "treat");
/// # Ok::<(), counterfair::files::DataError>(())
/// ```
pub fn read_csv_from(mut reader: impl io::Read, name: &str, options: &ReadOptions) -> Result<Read, DataError> {
    let mut bytes = Vec::new();
    match reader.read_to_end(&mut bytes) {
        Ok(_) => read_bytes(bytes, name, options),
        Err(source) => Err(unreadable(name.into(), source)),
    }
}

fn read_bytes(bytes: Vec<u8>, name: &str, options: &ReadOptions) -> Result<Read, DataError> {
    let Decoded { bytes, mut notes } = decode(bytes, name, options.format.encoding)?;
    let table = parse(bytes, name, options, &mut notes)?;
    let mut read = assemble(table, options)?;
    notes.append(&mut read.notes);
    Ok(Read { notes, ..read })
}

pub(super) fn unreadable(file: String, source: io::Error) -> DataError {
    match source.kind() {
        io::ErrorKind::NotFound => DataError::NoSuchFile { file },
        _ => DataError::Unreadable { file, source },
    }
}

/// What cells may be separated by, and what it is called.
const SEPARATORS: [(u8, &str); 3] = [(b',', "commas"), (b';', "semicolons"), (b'\t', "tabs")];

fn reader(bytes: &[u8], separator: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(separator).from_reader(bytes)
}

/// The first separator with which the header has every column that was asked for; if none does, the one that makes the most cells.
fn separator(bytes: &[u8], options: &ReadOptions) -> u8 {
    let header = |separator: u8| {
        let mut record = csv::StringRecord::new();
        let found = reader(bytes, separator).read_record(&mut record).unwrap_or(false);
        if found { record.iter().map(|name| name.trim().to_string()).collect() } else { vec![] }
    };
    let fits = |names: &[String]| Roles::find(&options.columns, names, "").is_ok();
    let headers: Vec<(u8, Vec<String>)> =
        SEPARATORS.iter().map(|&(separator, _)| (separator, header(separator))).collect();
    let fitting = headers.iter().find(|(_, names)| fits(names));
    let longest = || headers.iter().rev().max_by_key(|(_, names)| names.len());
    fitting.or_else(longest).map_or(b',', |(separator, _)| *separator)
}

/// Takes the bytes along with it, so that they are gone before the table becomes a panel.
fn parse(bytes: Vec<u8>, file: &str, options: &ReadOptions, notes: &mut Vec<String>) -> Result<Table, DataError> {
    let separator = found_separator(&bytes, options, notes);
    let mut records = Records::new(&bytes, 1, separator, file);
    let mut table = records.header(options)?;
    let unfinished = records.rows(&mut table)?;
    note_end(&table, unfinished, notes);
    Ok(table)
}

/// The separator that was said, or the one that the header shows, which is noted.
pub(super) fn found_separator(bytes: &[u8], options: &ReadOptions, notes: &mut Vec<String>) -> u8 {
    let separator = options.format.separator.unwrap_or_else(|| separator(bytes, options));
    if options.format.separator.is_none() && separator != b',' {
        let name = SEPARATORS.iter().find(|(known, _)| *known == separator).map_or("", |(_, name)| name);
        notes.push(format!("its cells are separated by {name}"));
    }
    separator
}

/// What is to be said once all rows have been read.
pub(super) fn note_end(table: &Table, unfinished: Option<u64>, notes: &mut Vec<String>) {
    if let Some(line) = unfinished {
        notes.push(format!("its last row, on line {line}, has no line end: is it whole?"));
    }
    if table.decimals.found_commas() {
        notes.push("its numbers have decimal commas".into());
    }
}

/// The records of a text, or of a part of one that begins with a record and ends with one.
pub(super) struct Records<'a> {
    bytes: &'a [u8],
    separator: u8,
    file: &'a str,
    reader: csv::Reader<&'a [u8]>,
    lines: Lines<'a>,
    record: csv::StringRecord,
}

impl<'a> Records<'a> {
    /// `line` is the number of the first line.
    pub fn new(bytes: &'a [u8], line: u64, separator: u8, file: &'a str) -> Self {
        let lines = Lines { bytes, at: 0, line };
        Self { bytes, separator, file, reader: reader(bytes, separator), lines, record: csv::StringRecord::new() }
    }

    /// The next record: its line, and where it begins and ends.
    fn next(&mut self, header: &[String]) -> Result<Option<(u64, usize, usize)>, DataError> {
        let start = self.reader.position().byte() as usize;
        let found = self.reader.read_record(&mut self.record);
        let line = self.lines.of_record(start);
        let end = self.reader.position().byte() as usize;
        let found = found.map(|found| found.then_some((line, start, end)));
        found.map_err(|error| not_text(&error, self.file, line, header))
    }

    /// An empty table with the columns that the first record names.
    pub fn header(&mut self, options: &ReadOptions) -> Result<Table, DataError> {
        if self.next(&[])?.is_none() {
            return Err(DataError::Empty { file: self.file.into() });
        }
        let source = Source::new(self.file, self.record.iter().map(String::from), options, Line::Text)?;
        let decimals = Decimals::new(options.format.decimal, self.separator != b',');
        Ok(Table::new(source, options.missing, decimals))
    }

    /// Adds the remaining records to a table; the line of the last one if it has no line end.
    pub fn rows(&mut self, table: &mut Table) -> Result<Option<u64>, DataError> {
        let columns = table.source.header.len();
        let mut last = None;
        while let Some((line, start, end)) = self.next(&table.source.header)? {
            let row = &self.bytes[start..end];
            let open = end == self.bytes.len() && open_quote(row, self.separator);
            let unfinished = end == self.bytes.len() && (open || !row.ends_with(b"\n") && !row.ends_with(b"\r"));
            if self.record.len() != columns || open {
                let (file, line, cells) = (self.file.into(), Line::Text(line), self.record.len());
                return Err(if unfinished && (cells < columns || open) {
                    DataError::EndsEarly { file, line, cells, columns }
                } else {
                    DataError::Ragged { file, line, cells, columns }
                });
            }
            let record = &self.record;
            table.push(line, |j| &record[j])?;
            last = unfinished.then_some(line);
        }
        Ok(last)
    }
}

/// Whether a quoted cell of a row never ends. A quote opens at the beginning of a cell, and again after one that closed: `""` is a quote.
pub(super) fn open_quote(row: &[u8], separator: u8) -> bool {
    let (mut quoted, mut may_open) = (false, true);
    for &b in row {
        if quoted {
            (quoted, may_open) = (b != b'"', b == b'"');
        } else {
            quoted = b == b'"' && may_open;
            may_open = [separator, b'\n', b'\r'].contains(&b);
        }
    }
    quoted
}

/// The only error a reader of flexible records from memory has: a cell that is not UTF-8.
fn not_text(error: &csv::Error, file: &str, line: u64, header: &[String]) -> DataError {
    let csv::ErrorKind::Utf8 { err, .. } = error.kind() else {
        return DataError::Unreadable { file: file.into(), source: io::Error::other(error.to_string()) };
    };
    let number = (err.field() + 1).to_string();
    let column = excerpt(header.get(err.field()).unwrap_or(&number));
    let at = Box::new(super::error::Place { file: file.into(), line: Line::Text(line), column });
    DataError::NotText { at }
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
