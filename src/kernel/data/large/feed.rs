//! Rows of a file, some at a time.

use crate::kernel::data::csv_reader::{Records, found_separator, note_end, open_quote, unreadable};
use crate::kernel::data::error::DataError;
use crate::kernel::data::table::Table;
use crate::kernel::data::text_file::{looks_like_utf16, refuse_others, strip_mark, windows_1252};
use crate::kernel::data::{Encoding, ReadOptions, is_parquet};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
    Parquet(Box<crate::kernel::data::parquet::Rows>),
}

impl<'o> Feed<'o> {
    /// Opens a file; `chunk` is how many bytes of text are taken at a time.
    pub fn open(path: &Path, options: &'o ReadOptions, chunk: usize, keep: bool) -> Result<Self, DataError> {
        let mut notes = Vec::new();
        let kind = if is_parquet(path) {
            #[cfg(feature = "parquet")]
            {
                Kind::Parquet(Box::new(crate::kernel::data::parquet::Rows::open(path, options, chunk)?))
            }
            #[cfg(not(feature = "parquet"))]
            return Err(crate::kernel::data::csv_only(path));
        } else {
            Kind::Text(Text::open(path, options, chunk, &mut notes)?)
        };
        Ok(Self { kind, options, keep, notes })
    }

    /// How much of the file was read, and how much there is.
    pub fn place(&self) -> (u64, u64) {
        match &self.kind {
            Kind::Text(text) => (text.taken(), text.length),
            #[cfg(feature = "parquet")]
            Kind::Parquet(rows) => rows.place(),
        }
    }

    /// A hash of all text so far; 0 for Parquet.
    pub fn hash(&self) -> u64 {
        match &self.kind {
            Kind::Text(text) => text.hash,
            #[cfg(feature = "parquet")]
            Kind::Parquet(_) => 0,
        }
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

/// A file whose bytes are counted as they are taken.
struct Counted {
    file: File,
    taken: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(into)?;
        self.taken.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// Text, cut between records.
struct Text {
    file: String,
    input: Box<dyn Read>,
    encoding: Encoding,
    chunk: usize,
    pending: Vec<u8>,
    line: u64,
    separator: u8,
    /// Bytes of text handed on; where it is compressed, those that were taken from the file; and how many there are.
    handed_on: u64,
    compressed: Option<Arc<AtomicU64>>,
    length: u64,
    hash: u64,
}

/// Bytes that show what kind of file it is.
const HEAD: usize = 4096;

impl Text {
    fn open(path: &Path, options: &ReadOptions, chunk: usize, notes: &mut Vec<String>) -> Result<Self, DataError> {
        let file = path.display().to_string();
        let failed = |source| unreadable(file.clone(), source);
        let opened = File::open(path).map_err(failed)?;
        let length = opened.metadata().map_or(0, |found| found.len());
        let (taken, mut compressed) = (Arc::new(AtomicU64::new(0)), None);
        let mut input: Box<dyn Read> = Box::new(BufReader::new(Counted { file: opened, taken: taken.clone() }));
        let mut pending = Vec::new();
        input.by_ref().take(HEAD as u64).read_to_end(&mut pending).map_err(failed)?;
        if pending.starts_with(b"\x1f\x8b") {
            notes.push("it is compressed with gzip".into());
            compressed = Some(taken);
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
        Ok(Self {
            file,
            input,
            encoding,
            chunk,
            pending,
            line: 1,
            separator,
            handed_on: 0,
            compressed,
            length,
            hash: 0,
        })
    }

    fn taken(&self) -> u64 {
        self.compressed.as_ref().map_or(self.handed_on, |taken| taken.load(Ordering::Relaxed))
    }

    fn fill(
        &mut self,
        table: &mut Option<Table>,
        options: &ReadOptions,
        keep: bool,
        notes: &mut Vec<String>,
    ) -> Result<bool, DataError> {
        let (bytes, is_end) = self.next_records()?;
        self.handed_on += bytes.len() as u64;
        let (words, rest) = bytes.as_chunks::<8>();
        let words = words.iter().map(|word| u64::from_le_bytes(*word)).chain(rest.iter().map(|b| u64::from(*b)));
        self.hash = words.fold(self.hash, |hash, w| (hash ^ w).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
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
            // A record that is longer than all this: a quote that never closes is found at the end of the file.
            wanted *= 2;
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
