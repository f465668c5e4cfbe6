//! Rows sorted on disk by person and time: sorted runs, merged a few dozen at a time.

use super::scratch::Scratch;
use crate::files::assemble::id_number;
use crate::files::csv_reader::unreadable;
use crate::files::table::{Row, Table};
use crate::files::{DataError, WriteError};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Runs merged at a time.
const FAN: usize = 64;

/// A row as it lies on disk: id, numbers, states and the cells that are carried along.
///
/// Fields before the id have a fixed width, so that rows are compared without being unpacked: line, time, level, missing, action, reward, and
/// the length of the id.
struct Record(Vec<u8>);

const FIXED: usize = 8 + 8 + 4 + 4 + 4 + 8 + 4;

impl Record {
    fn of(table: &Table, r: usize) -> Self {
        let (row, id) = (&table.rows[r], &table.ids[table.rows[r].person]);
        let mut bytes = Vec::with_capacity(FIXED + id.len() + 8 * table.states_of(r).len());
        bytes.extend(row.line.to_le_bytes());
        bytes.extend(row.time.to_le_bytes());
        [row.level, row.missing, row.action].iter().for_each(|code| bytes.extend(code.to_le_bytes()));
        bytes.extend(row.reward.to_le_bytes());
        bytes.extend((id.len() as u32).to_le_bytes());
        bytes.extend(id.as_bytes());
        table.states_of(r).iter().for_each(|s| bytes.extend(s.to_le_bytes()));
        for cell in table.kept_of(r) {
            bytes.extend((cell.len() as u32).to_le_bytes());
            bytes.extend(cell.as_bytes());
        }
        Self(bytes)
    }

    fn number<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut out = [0; N];
        out.copy_from_slice(&self.0[at..at + N]);
        out
    }

    fn id(&self) -> &str {
        let length = u32::from_le_bytes(self.number(FIXED - 4)) as usize;
        str::from_utf8(&self.0[FIXED..FIXED + length]).unwrap_or_default()
    }

    /// Adds the row to a table of the same columns.
    fn push(&self, table: &mut Table) {
        let code = |at: usize| u32::from_le_bytes(self.number(at));
        let row = Row {
            line: u64::from_le_bytes(self.number(0)),
            time: f64::from_le_bytes(self.number(8)),
            person: 0,
            level: code(16),
            missing: code(20),
            action: code(24),
            reward: f64::from_le_bytes(self.number(28)),
        };
        let id = self.id();
        let mut at = FIXED + id.len();
        let p = table.source.roles.states.len();
        let states: Vec<f64> = (0..p).map(|j| f64::from_le_bytes(self.number(at + 8 * j))).collect();
        at += 8 * p;
        let mut cells = Vec::new();
        while at < self.0.len() {
            let length = code(at) as usize;
            cells.push(str::from_utf8(&self.0[at + 4..at + 4 + length]).unwrap_or_default());
            at += 4 + length;
        }
        table.push_row(id, row, &states, cells.into_iter());
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&(self.0.len() as u32).to_le_bytes())?;
        out.write_all(&self.0)
    }

    fn read(input: &mut impl Read) -> io::Result<Option<Self>> {
        let mut length = [0; 4];
        match input.read_exact(&mut length) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
        let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
        input.read_exact(&mut bytes)?;
        Ok(Some(Self(bytes)))
    }
}

/// The order of people is that of a file in memory: by number where all ids are numbers, otherwise as text. Then time, then line.
#[derive(PartialEq)]
struct Key {
    number: f64,
    time: f64,
    line: u64,
    record: Vec<u8>,
}

impl Key {
    fn new(record: Record, by_number: bool) -> Self {
        let number = if by_number { id_number(record.id()).unwrap_or(0.0) } else { 0.0 };
        let (time, line) = (f64::from_le_bytes(record.number(8)), u64::from_le_bytes(record.number(0)));
        Self { number, time, line, record: record.0 }
    }

    fn id(&self) -> &[u8] {
        let length = u32::from_le_bytes([36, 37, 38, 39].map(|at| self.record[at])) as usize;
        &self.record[FIXED..FIXED + length]
    }
}

impl Eq for Key {}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_id = self.number.total_cmp(&other.number).then_with(|| self.id().cmp(other.id()));
        by_id.then_with(|| self.time.total_cmp(&other.time)).then(self.line.cmp(&other.line))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Rows on their way to be sorted, in the order of the file.
pub(super) struct Unsorted<'s> {
    scratch: &'s Scratch,
    path: PathBuf,
    out: BufWriter<File>,
    is_numeric: bool,
}

impl<'s> Unsorted<'s> {
    pub fn new(scratch: &'s Scratch) -> Result<Self, DataError> {
        let (path, file) = scratch.create()?;
        Ok(Self { scratch, path, out: BufWriter::new(file), is_numeric: true })
    }

    /// Adds all rows of a table.
    pub fn add(&mut self, table: &Table) -> Result<(), DataError> {
        self.is_numeric &= table.ids.iter().all(|id| id_number(id).is_some());
        let written = (0..table.rows.len()).try_for_each(|r| Record::of(table, r).write(&mut self.out));
        written.map_err(|source| failed(&self.path, source))
    }

    /// Sorts them, holding about `memory` bytes, into a file.
    pub fn sort(mut self, memory: usize) -> Result<PathBuf, DataError> {
        self.out.flush().map_err(|source| failed(&self.path, source))?;
        let mut runs = Vec::new();
        let mut input = opened(&self.path)?;
        loop {
            let (mut keys, mut bytes) = (Vec::new(), 0);
            while bytes < memory
                && let Some(record) = Record::read(&mut input).map_err(|source| failed(&self.path, source))?
            {
                bytes += record.0.len() + size_of::<Key>() + 16;
                keys.push(Key::new(record, self.is_numeric));
            }
            if keys.is_empty() {
                break;
            }
            keys.sort_unstable();
            runs.push(written(self.scratch, keys.into_iter().map(Ok))?);
        }
        removed(&self.path)?;
        while runs.len() > 1 {
            let group: Vec<PathBuf> = runs.drain(..runs.len().min(FAN)).collect();
            runs.push(merged(self.scratch, &group, self.is_numeric)?);
        }
        runs.pop().map_or_else(|| self.scratch.create().map(|(path, _)| path), Ok)
    }
}

/// One sorted file of several.
fn merged(scratch: &Scratch, runs: &[PathBuf], by_number: bool) -> Result<PathBuf, DataError> {
    let mut inputs = runs.iter().map(|run| opened(run)).collect::<Result<Vec<_>, _>>()?;
    let mut next = |run: usize| -> Result<Option<Reverse<(Key, usize)>>, DataError> {
        let record = Record::read(&mut inputs[run]).map_err(|source| failed(&runs[run], source))?;
        Ok(record.map(|record| Reverse((Key::new(record, by_number), run))))
    };
    let mut heap = BinaryHeap::new();
    for run in 0..runs.len() {
        heap.extend(next(run)?);
    }
    let sorted = std::iter::from_fn(|| {
        let Reverse((key, run)) = heap.pop()?;
        Some(next(run).map(|following| {
            heap.extend(following);
            key
        }))
    });
    let path = written(scratch, sorted)?;
    runs.iter().try_for_each(|run| removed(run))?;
    Ok(path)
}

fn written(scratch: &Scratch, keys: impl Iterator<Item = Result<Key, DataError>>) -> Result<PathBuf, DataError> {
    let (path, file) = scratch.create()?;
    let mut out = BufWriter::new(file);
    for key in keys {
        Record(key?.record).write(&mut out).map_err(|source| failed(&path, source))?;
    }
    out.flush().map_err(|source| failed(&path, source))?;
    Ok(path)
}

/// Visits tables of whole people from a sorted file; `empty` has its columns, and a table holds about `bytes`.
pub(super) fn for_each_table(
    path: &Path,
    empty: &Table,
    bytes: usize,
    mut visit: impl FnMut(Table) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let mut input = opened(path)?;
    let (mut table, mut looked_at) = (empty.successor(), 0);
    while let Some(record) = Record::read(&mut input).map_err(|source| failed(path, source))? {
        record.push(&mut table);
        looked_at += 1;
        // Whether a table is large enough is asked now and then: a person with many rows would be looked through again and again.
        if looked_at % 64 == 0
            && table.bytes() >= bytes
            && let Some(people) = table.take_whole_people(false)
        {
            visit(people)?;
        }
    }
    table.take_whole_people(true).map_or(Ok(()), visit)
}

fn opened(path: &Path) -> Result<BufReader<File>, DataError> {
    let file = File::open(path).map_err(|source| unreadable(path.display().to_string(), source))?;
    Ok(BufReader::with_capacity(1 << 16, file))
}

fn removed(path: &Path) -> Result<(), DataError> {
    std::fs::remove_file(path).map_err(|source| failed(path, source))
}

fn failed(path: &Path, source: io::Error) -> DataError {
    WriteError { path: path.to_path_buf(), source }.into()
}
