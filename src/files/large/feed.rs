//! Rows of a file, some at a time.

use crate::files::csv_reader::{Records, found_separator, note_end, open_quote, unreadable};
use crate::files::error::{DataError, Line};
use crate::files::table::Table;
use crate::files::text_file::{looks_like_utf16, refuse_others, strip_mark, windows_1252};
use crate::files::{Encoding, ReadOptions, is_parquet};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// A file that is read from its beginning to its end, a bounded number of bytes at a time.
pub(super) struct Feed<'o> {
    kind: Kind,
    options: &'o ReadOptions,
    /// Whether columns that are not read are carried along.
    keep: bool,
    /// What was found out about the file.
    pub notes: Vec<String>,
}

enum Kind {
    Text(Text),
    #[cfg(feature = "parquet")]
    Parquet(Box<crate::files::parquet::Rows>),
}

impl<'o> Feed<'o> {
    /// Opens a file; `chunk` is how many bytes of text are taken at a time.
    pub fn open(path: &Path, options: &'o ReadOptions, chunk: usize, keep: bool) -> Result<Self, DataError> {
        let mut notes = Vec::new();
        let kind = if is_parquet(path) {
            #[cfg(feature = "parquet")]
            {
                Kind::Parquet(Box::new(crate::files::parquet::Rows::open(path, options, chunk)?))
            }
            #[cfg(not(feature = "parquet"))]
            return Err(crate::files::csv_only(path));
        } else {
            Kind::Text(Text::open(path, options, chunk, &mut notes)?)
        };
        Ok(Self { kind, options, keep, notes })
    }

    /// The next rows: into the table, or where there is none yet into a new one. Whether there are more.
    pub fn fill(&mut self, table: &mut Option<Table>) -> Result<bool, DataError> {
        match &mut self.kind {
            Kind::Text(text) => text.fill(table, self.options, self.keep, &mut self.notes),
            #[cfg(feature = "parquet")]
            Kind::Parquet(rows) => rows.fill(table, self.keep),
        }
    }
}

/// Bytes of one row that are held to find its end: a file without line ends, or with a quote that never closes, does not fit in memory either.
const LONGEST_RECORD: usize = 1 << 26;

/// Text, cut between records.
struct Text {
    file: String,
    input: Box<dyn Read>,
    encoding: Encoding,
    chunk: usize,
    pending: Vec<u8>,
    line: u64,
    separator: u8,
}

/// Bytes that show what kind of file it is.
const HEAD: usize = 4096;

impl Text {
    fn open(path: &Path, options: &ReadOptions, chunk: usize, notes: &mut Vec<String>) -> Result<Self, DataError> {
        let file = path.display().to_string();
        let failed = |source| unreadable(file.clone(), source);
        let opened = File::open(path).map_err(failed)?;
        let mut input: Box<dyn Read> = Box::new(BufReader::new(opened));
        let mut pending = Vec::new();
        input.by_ref().take(HEAD as u64).read_to_end(&mut pending).map_err(failed)?;
        if pending.starts_with(b"\x1f\x8b") {
            notes.push("it is compressed with gzip".into());
            input = decompressed(Box::new(io::Cursor::new(std::mem::take(&mut pending)).chain(input)), &file)?;
            input.by_ref().take(HEAD as u64).read_to_end(&mut pending).map_err(failed)?;
        }
        refuse_others(&pending, &file)?;
        let (what, advice) = ("UTF-16 or UTF-32 text that does not fit in memory", "save it as UTF-8");
        let asked = options.format.encoding;
        if asked == Some(Encoding::Utf16) || asked.is_none() && looks_like_utf16(&pending) {
            return Err(DataError::OtherFormat { file, what, advice });
        }
        let encoding = asked.unwrap_or(Encoding::Utf8);
        if encoding == Encoding::Utf8 {
            pending = strip_mark(pending);
        }
        let separator = found_separator(&pending, options, notes);
        Ok(Self { file, input, encoding, chunk, pending, line: 1, separator })
    }

    fn fill(
        &mut self,
        table: &mut Option<Table>,
        options: &ReadOptions,
        keep: bool,
        notes: &mut Vec<String>,
    ) -> Result<bool, DataError> {
        let (bytes, is_end) = self.next_records()?;
        let text = match self.encoding {
            Encoding::Windows1252 => bytes.iter().map(|&b| windows_1252(b)).collect::<String>().into_bytes(),
            Encoding::Utf8 | Encoding::Utf16 => bytes,
        };
        let mut records = Records::new(&text, self.line, self.separator, &self.file);
        let table = match table {
            Some(table) => table,
            None => {
                let empty = records.header(options)?;
                table.insert(if keep { empty } else { empty.without_kept() })
            }
        };
        let unfinished = records.rows(table)?;
        self.line += text.iter().filter(|&&b| b == b'\n').count() as u64;
        if is_end {
            note_end(table, unfinished, notes);
        }
        Ok(!is_end)
    }

    /// Whole records of at least `chunk` bytes, and whether they are the last.
    fn next_records(&mut self) -> Result<(Vec<u8>, bool), DataError> {
        let mut wanted = self.chunk;
        loop {
            let missing = wanted.saturating_sub(self.pending.len());
            let got = self.input.by_ref().take(missing as u64).read_to_end(&mut self.pending);
            let got = got.map_err(|source| match source.kind() {
                io::ErrorKind::UnexpectedEof => DataError::OtherFormat {
                    file: self.file.clone(),
                    what: "compressed with gzip and ends in the middle",
                    advice: "copy it again",
                },
                _ => unreadable(self.file.clone(), source),
            })?;
            if got < missing {
                return Ok((std::mem::take(&mut self.pending), true));
            }
            if let Some(end) = last_record_end(&self.pending, self.separator) {
                let rest = self.pending.split_off(end);
                return Ok((std::mem::replace(&mut self.pending, rest), false));
            }
            if self.pending.len() >= LONGEST_RECORD {
                return Err(DataError::EndlessRow {
                    file: self.file.clone(),
                    line: Line::Text(self.line),
                    bytes: LONGEST_RECORD,
                });
            }
            // A record that is longer than all this.
            wanted = (2 * wanted).min(LONGEST_RECORD);
        }
    }
}

/// Just after the last line end that is not within quotes.
fn last_record_end(bytes: &[u8], separator: u8) -> Option<usize> {
    let ends = || bytes.iter().enumerate().rev().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1);
    if !bytes.contains(&b'"') {
        return ends().next();
    }
    // The bytes begin with a record, so that a line end ends one if and only if no quote is open there.
    ends().find(|&end| !open_quote(&bytes[..end], separator))
}

#[cfg(feature = "gzip")]
fn decompressed(input: Box<dyn Read>, _: &str) -> Result<Box<dyn Read>, DataError> {
    Ok(Box::new(BufReader::new(flate2::read::MultiGzDecoder::new(input))))
}

#[cfg(not(feature = "gzip"))]
fn decompressed(_: Box<dyn Read>, file: &str) -> Result<Box<dyn Read>, DataError> {
    let (what, advice) =
        ("compressed with gzip", "this build cannot read it: gunzip it, or build with --features gzip");
    Err(DataError::OtherFormat { file: file.into(), what, advice })
}
