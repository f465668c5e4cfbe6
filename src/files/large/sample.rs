//! Some people of a file that does not fit in memory, chosen by a hash of their ids.

use super::feed::Feed;
use crate::files::assemble::assemble;
use crate::files::error::{DataError, excerpt};
use crate::files::table::Table;
use crate::files::{Read, ReadOptions};
use crate::kernel::numeric::Stream;
use crate::kernel::people::Labels;
use rand::Rng;
use std::path::Path;

/// Bytes of text taken at a time.
const CHUNK: usize = 1 << 22;

/// People who were chosen by a hash of their ids, with all of their rows.
#[derive(Debug)]
pub struct SampledRead {
    /// What a file with these people alone would have given.
    pub read: Read,
    /// k: each person was taken with probability 1/k, a power of two; 1 if everybody is there.
    pub one_in: u64,
    /// Rows that were taken.
    pub rows: usize,
    /// Rows of the file.
    pub rows_in_file: usize,
    /// Levels and actions of the file that nobody among the chosen has.
    pub absent: Vec<String>,
}

/// Reads a file once, from its beginning to its end, and holds only the rows of people whose id has a small hash under `stream`: of all
/// shares 1, ½, ¼, … of the ids the first whose rows are at most `room(p)`, with p state columns.
///
/// While it reads, the share is halved whenever the rows held become too many. Rows held at a share only ever become more, so that it is halved
/// if and only if the whole file has too many at it: who is taken depends on ids, `stream` and the number of rows, and not on their order.
///
/// Every cell is read and checked. What is checked over a person's time (gaps, duplicate times, levels that change) is checked of those who are taken,
/// and the step from one decision to the next is the smallest that any of them takes.
///
/// # Errors
/// [`DataError`], as for a file in memory; [`DataError::NobodyFits`] when `room(p)` holds nobody at all.
pub fn read_sample(
    path: &Path,
    options: &ReadOptions,
    room: impl Fn(usize) -> usize,
    stream: Stream,
) -> Result<SampledRead, DataError> {
    let file = path.display().to_string();
    let mut feed = Feed::open(path, options, CHUNK, false)?;
    let mut sieve = Sieve { stream, halvings: 0 };
    let (mut incoming, mut held) = (None::<Table>, None::<Table>);
    let (mut rows_in_file, mut limit) = (0, 0);
    loop {
        let more = feed.fill(&mut incoming)?;
        let Some(table) = &mut incoming else { break };
        rows_in_file += table.rows.len();
        let held = held.get_or_insert_with(|| {
            limit = room(table.source.roles.states.len());
            table.successor()
        });
        sieve.pass(table, held);
        while held.rows.len() > limit && sieve.halvings < u64::BITS - 1 {
            sieve.halvings += 1;
            let mut fewer = held.successor();
            sieve.pass(held, &mut fewer);
            *held = fewer;
        }
        *table = table.successor();
        if !more {
            break;
        }
    }
    let (Some(known), Some(mut held)) = (incoming, held) else { return Err(DataError::Empty { file }) };
    if held.rows.is_empty() && rows_in_file > 0 {
        return Err(DataError::NobodyFits { file, rows: limit });
    }
    // Codes are places among the names met so far, and the file has been met to its end.
    (held.levels, held.actions, held.times) = (known.levels.clone(), known.actions.clone(), known.times);
    let rows = held.rows.len();
    let mut read = assemble(held, options)?;
    feed.notes.append(&mut read.notes);
    read.notes = feed.notes;
    let without = |names: &[String], found: &Labels| -> Vec<String> {
        names.iter().filter(|name| found.code(name).is_none()).map(|name| excerpt(name)).collect()
    };
    let absent =
        [without(&known.levels.names, read.panel.levels()), without(&known.actions.names, read.panel.action_names())];
    Ok(SampledRead { read, one_in: 1 << sieve.halvings, rows, rows_in_file, absent: absent.concat() })
}

/// Who is taken: those whose hash begins with so many zeros.
struct Sieve {
    stream: Stream,
    halvings: u32,
}

impl Sieve {
    fn takes(&self, id: &str) -> bool {
        self.stream.named(id).rng().next_u64().leading_zeros() >= self.halvings
    }

    /// Adds the rows of people who are taken to `to`.
    fn pass(&self, from: &Table, to: &mut Table) {
        let taken: Vec<bool> = from.ids.iter().map(|id| self.takes(id)).collect();
        for (r, row) in from.rows.iter().enumerate().filter(|(_, row)| taken[row.person]) {
            to.push_row(&from.ids[row.person], *row, from.states_of(r), from.kept_of(r));
        }
    }
}
