//! The rows of a file in parts by the hash of the id: each part fits in memory, and one after another they are in the order of people.

use super::scratch::Scratch;
use crate::files::csv_reader::unreadable;
use crate::files::table::{Row, Table};
use crate::files::{DataError, WriteError};
use crate::kernel::people::hash_of;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Parts that rows are dealt into at a time.
const PARTS: usize = 64;

/// Bytes that wait to be written for each part, at least and at most, and the share of the memory allowed that they may take.
const WAITING: (usize, usize) = (1 << 10, 1 << 17);
const WAITING_SHARE: usize = 1024;

/// All rows of a file on disk.
#[derive(Debug)]
pub(super) struct Parts {
    /// In the order of hashes.
    parts: Vec<Part>,
    /// The columns of the file and all names in it, without rows.
    empty: Table,
}

/// The rows of people whose hashes lie in one range.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    bytes: usize,
    /// The least and the greatest hash.
    least: u64,
    greatest: u64,
}

impl Parts {
    /// Each part with its own people, in the order of hashes.
    pub fn tables(&self) -> impl Iterator<Item = Result<Table, DataError>> {
        self.parts.iter().map(|part| part.table(&self.empty))
    }

    /// Removes them.
    pub fn discard(self) -> Result<(), DataError> {
        self.parts.iter().try_for_each(|part| removed(&part.path))
    }

    /// An empty table with what is known of the file.
    pub fn file(&self) -> &Table {
        &self.empty
    }
}

impl Part {
    fn table(&self, empty: &Table) -> Result<Table, DataError> {
        let bytes = std::fs::read(&self.path).map_err(|source| unreadable(self.path.display().to_string(), source))?;
        let (mut table, mut rest) = (empty.successor(), bytes.as_slice());
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let (record, others) = after.split_at(u32::from_le_bytes(*length) as usize);
            push(record, &mut table);
            rest = others;
        }
        Ok(table)
    }
}

/// Rows that are being dealt into parts, each at the end of its part, so that they stay in the order of the file.
pub(super) struct Dealing<'s> {
    scratch: &'s Scratch,
    /// Hashes that may be met.
    hashes: RangeInclusive<u64>,
    open: Vec<(Part, BufWriter<File>)>,
    record: Vec<u8>,
}

impl<'s> Dealing<'s> {
    /// Of all people of a file, with about `memory` bytes.
    pub fn new(scratch: &'s Scratch, memory: usize) -> Result<Self, DataError> {
        Self::over(0..=u64::MAX, scratch, memory)
    }

    fn over(hashes: RangeInclusive<u64>, scratch: &'s Scratch, memory: usize) -> Result<Self, DataError> {
        let waiting = (memory / WAITING_SHARE).clamp(WAITING.0, WAITING.1);
        let open = |_| {
            let (path, file) = scratch.create()?;
            let part = Part { path, bytes: 0, least: u64::MAX, greatest: 0 };
            Ok::<_, DataError>((part, BufWriter::with_capacity(waiting, file)))
        };
        let open = (0..PARTS).map(open).collect::<Result<_, _>>()?;
        Ok(Self { scratch, hashes, open, record: vec![] })
    }

    /// Adds all rows of a table.
    pub fn add(&mut self, table: &Table) -> Result<(), DataError> {
        let hashes: Vec<u64> = table.ids.iter().map(|id| hash_of(id)).collect();
        for r in 0..table.rows.len() {
            let mut record = std::mem::take(&mut self.record);
            fill(&mut record, table, r);
            self.put(hashes[table.rows[r].person], &record)?;
            self.record = record;
        }
        Ok(())
    }

    fn put(&mut self, hash: u64, record: &[u8]) -> Result<(), DataError> {
        let (first, last) = (*self.hashes.start(), *self.hashes.end());
        let width = u128::from(last - first) + 1;
        let (part, out) = &mut self.open[(u128::from(hash - first) * PARTS as u128 / width) as usize];
        (part.least, part.greatest) = (part.least.min(hash), part.greatest.max(hash));
        part.bytes += 4 + record.len();
        let length = (record.len() as u32).to_le_bytes();
        out.write_all(&length).and_then(|()| out.write_all(record)).map_err(|source| failed(&part.path, source))
    }

    /// The parts; `empty` knows the columns of the file. Parts of several people with more than `most` bytes are dealt out again.
    pub fn finish(self, empty: Table, most: usize, memory: usize) -> Result<Parts, DataError> {
        let mut parts = Vec::new();
        let scratch = self.scratch;
        for part in self.closed()? {
            part.add_to(&mut parts, scratch, most, memory)?;
        }
        Ok(Parts { parts, empty })
    }

    fn closed(self) -> Result<Vec<Part>, DataError> {
        let mut parts = Vec::new();
        for (part, mut out) in self.open {
            out.flush().map_err(|source| failed(&part.path, source))?;
            if part.bytes > 0 {
                parts.push(part);
            } else {
                removed(&part.path)?;
            }
        }
        Ok(parts)
    }
}

impl Part {
    /// Adds it, or where it is too large the parts that it is dealt into: its least and its greatest hash come into different ones.
    fn add_to(self, parts: &mut Vec<Part>, scratch: &Scratch, most: usize, memory: usize) -> Result<(), DataError> {
        if self.bytes <= most || self.least == self.greatest {
            parts.push(self);
            return Ok(());
        }
        let mut dealing = Dealing::over(self.least..=self.greatest, scratch, memory)?;
        let unreadable = |source| unreadable(self.path.display().to_string(), source);
        let mut input = BufReader::with_capacity(1 << 16, File::open(&self.path).map_err(unreadable)?);
        let (mut left, mut record) = (self.bytes, vec![]);
        while left > 0 {
            let mut length = [0; 4];
            input.read_exact(&mut length).map_err(unreadable)?;
            record.resize(u32::from_le_bytes(length) as usize, 0);
            input.read_exact(&mut record).map_err(unreadable)?;
            left -= 4 + record.len();
            dealing.put(hash_of(id(&record)), &record)?;
        }
        removed(&self.path)?;
        for part in dealing.closed()? {
            part.add_to(parts, scratch, most, memory)?;
        }
        Ok(())
    }
}

/// Bytes of a row before its id: line, time, level, missing, action, reward, and the length of the id.
const FIXED: usize = 8 + 8 + 4 + 4 + 4 + 8 + 4;

/// A row as it lies on disk: numbers, id, states and the cells that are carried along.
fn fill(record: &mut Vec<u8>, table: &Table, r: usize) {
    let (row, id) = (&table.rows[r], &table.ids[table.rows[r].person]);
    record.clear();
    record.extend(row.line.to_le_bytes());
    record.extend(row.time.to_le_bytes());
    [row.level, row.missing, row.action].iter().for_each(|code| record.extend(code.to_le_bytes()));
    record.extend(row.reward.to_le_bytes());
    record.extend((id.len() as u32).to_le_bytes());
    record.extend(id.as_bytes());
    table.states_of(r).iter().for_each(|s| record.extend(s.to_le_bytes()));
    for cell in table.kept_of(r) {
        record.extend((cell.len() as u32).to_le_bytes());
        record.extend(cell.as_bytes());
    }
}

fn number<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&record[at..at + N]);
    out
}

fn code(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(number(record, at))
}

fn id(record: &[u8]) -> &str {
    let length = code(record, FIXED - 4) as usize;
    str::from_utf8(&record[FIXED..FIXED + length]).unwrap_or_default()
}

/// Adds a row to a table of the same columns.
fn push(record: &[u8], table: &mut Table) {
    let row = Row {
        line: u64::from_le_bytes(number(record, 0)),
        time: f64::from_le_bytes(number(record, 8)),
        person: 0,
        level: code(record, 16),
        missing: code(record, 20),
        action: code(record, 24),
        reward: f64::from_le_bytes(number(record, 28)),
    };
    let id = id(record);
    let (states, mut kept) = record[FIXED + id.len()..].split_at(8 * table.source.roles.states.len());
    let states = states.as_chunks::<8>().0.iter().map(|s| f64::from_le_bytes(*s));
    let cells = std::iter::from_fn(|| {
        let (length, rest) = kept.split_first_chunk::<4>()?;
        let (cell, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        kept = rest;
        Some(str::from_utf8(cell).unwrap_or_default())
    });
    table.push_row(id, row, states, cells);
}

fn removed(path: &Path) -> Result<(), DataError> {
    std::fs::remove_file(path).map_err(|source| failed(path, source))
}

fn failed(path: &Path, source: io::Error) -> DataError {
    WriteError { path: path.to_path_buf(), source }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::ReadOptions;
    use crate::files::csv_reader::Records;
    use crate::kernel::people::in_order;

    /// 41 people with five rows each, one row of everybody after another; a column is carried along.
    fn table() -> Table {
        let rows = (0..205).map(|i| format!("p{},{},f,a,0.5,{i},\"note, {i}\"\n", i % 41, i / 41));
        let text = format!("ID,timestamp,z1,action,reward,state1,note\n{}", rows.collect::<String>());
        let mut records = Records::new(text.as_bytes(), 1, b',', "f.csv");
        let mut table = records.header(&ReadOptions::default()).unwrap();
        records.rows(&mut table).unwrap();
        table
    }

    #[test]
    fn parts_of_any_size_hold_whole_people_in_order_and_every_row_once() {
        let table = table();
        let scratch = Scratch::new(&std::env::temp_dir()).unwrap();
        let (all, one_person) = (1 << 20, 5 * (4 + FIXED + 3 + 8 + 200));
        for most in [all, one_person, 0] {
            let mut dealing = Dealing::new(&scratch, 0).unwrap();
            dealing.add(&table).unwrap();
            let parts = dealing.finish(table.successor(), most, 0).unwrap();
            let (mut ids, mut lines) = (Vec::new(), Vec::new());
            for part in parts.tables() {
                let part = part.unwrap();
                assert!(most > 0 || part.ids.len() == 1, "{} people", part.ids.len());
                assert!(part.rows.is_sorted_by_key(|row| row.line), "rows of a part are in the order of the file");
                ids.extend(in_order(&part.ids).into_iter().map(|i| part.ids[i].clone()));
                for (r, row) in part.rows.iter().enumerate() {
                    let from = row.line as usize - 2;
                    let original = &table.rows[from];
                    assert_eq!(part.ids[row.person], table.ids[original.person]);
                    assert_eq!((row.time, row.level, row.action, row.reward), (original.time, 0, 0, 0.5));
                    assert_eq!(part.states_of(r), table.states_of(from));
                    assert!(part.kept_of(r).eq(table.kept_of(from)));
                    lines.push(row.line);
                }
            }
            let expected: Vec<String> = in_order(&table.ids).into_iter().map(|i| table.ids[i].clone()).collect();
            assert_eq!(ids, expected);
            lines.sort_unstable();
            assert_eq!(lines, (2..207).collect::<Vec<u64>>());
            parts.discard().unwrap();
        }
    }
}
