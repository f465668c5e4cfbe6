//! Files that do not fit in memory.
//!
//! A file is read once, a few megabytes at a time, and its rows are dealt into parts by the hash of the id, in whatever order they come. Part after
//! part is then validated by the rules that hold for any file and laid down in a scratch folder in the order of people: a [`StoredPanel`],
//! over which whoever fits something passes in blocks of people.

mod feed;
mod parts;
mod sample;
mod scratch;
mod stored;

pub use sample::{SampledRead, read_sample};
pub use scratch::Scratch;
pub use stored::StoredPanel;

use super::assemble::{Survey, assemble_part};
use super::error::DataError;
use super::row_convention::in_words as rows_in_words;
use super::times::Pace;
use super::{CutReason, Layout, Read, ReadOptions, Repairs};
use feed::Feed;
use parts::{Dealing, Parts};
use std::path::Path;
use std::sync::Arc;
use stored::Storing;

/// The share of the memory allowed that a block of text takes; tables, panels and sums stand beside it.
const SHARE: usize = 64;

/// The share of the memory allowed that numbers held at once may take, in numbers of eight bytes.
const ROOM: usize = 4 * 8;

/// Bytes of text taken at a time, at least and at most.
const CHUNK: (usize, usize) = (1 << 12, 1 << 24);

/// Cuts that are listed; the others are counted.
const LISTED: usize = 1000;

/// The share of the memory allowed that the rows of a part may take, and how small that is at least.
const PART_SHARE: usize = 32;
const LEAST_PART: usize = 1 << 12;

/// A file that was read into a scratch folder.
#[derive(Debug)]
pub struct LargeRead {
    /// The people, on disk.
    pub panel: StoredPanel,
    /// What was repaired on request; at most the first thousand cuts are listed.
    pub repairs: Repairs,
    /// How many people were cut, and how many of them at a time that is not there.
    pub cuts: (usize, usize),
    /// What was found out about the file that nobody said.
    pub notes: Vec<String>,
    /// The columns of the file.
    pub layout: Layout,
    /// The rows of the file, where all of their cells were kept.
    rows: Option<Parts>,
    options: ReadOptions,
    pace: Pace,
}

/// Reads a file onto disk, holding about `memory` bytes at a time. `keep` carries the columns along that are not read, for
/// [`LargeRead::for_each_block`].
///
/// # Errors
/// [`DataError`], as for a file in memory: of several things that are wrong with one file another may be named.
pub fn read_large(
    path: &Path,
    options: &ReadOptions,
    memory: usize,
    scratch: &Arc<Scratch>,
    keep: bool,
) -> Result<LargeRead, DataError> {
    let (rows, mut notes) = dealt(path, options, memory, scratch, keep)?;
    let (mut options, source) = (options.clone(), &rows.file().source);
    let mut survey = Survey::default();
    for table in rows.tables() {
        survey.meet(&table?, &options);
    }
    let Some(pace) = survey.pace else { return Err(DataError::NoRows { file: source.file.clone() }) };
    let mut said = None;
    if options.find_rows {
        options.rows = survey.firsts.convention(&source.file, source.line)?;
        said = rows_in_words(options.rows);
    }
    let mut storing = Storing::new(scratch)?;
    let (mut repairs, mut cuts, mut people, mut last) = (Repairs::default(), (0, 0), 0, None);
    for table in rows.tables() {
        let table = table?;
        people += table.ids.len();
        let read = assemble_part(table, &options, Some(pace))?;
        storing.add(&read.panel)?;
        let own = read.repairs;
        repairs.people_dropped += own.people_dropped;
        repairs.people_cut += own.people_cut;
        repairs.rows_dropped += own.rows_dropped;
        cuts.0 += own.cuts.len();
        cuts.1 += own.cuts.iter().filter(|cut| matches!(cut.reason, CutReason::Gap { .. })).count();
        let room = LISTED.saturating_sub(repairs.cuts.len());
        repairs.cuts.extend(own.cuts.into_iter().take(room));
        last = Some((read.notes, read.layout));
    }
    let Some((clock_notes, layout)) = last.filter(|_| storing.people() > 0) else {
        return Err(DataError::NothingLeft { file: source.file.clone(), people });
    };
    let panel = storing.finish((options.levels.is_some(), options.actions.is_some()), memory / ROOM)?;
    if panel.action_names().is_empty() {
        let column = source.header[source.roles.action].clone();
        return Err(DataError::NoDecisions { file: source.file.clone(), column });
    }
    notes.extend(clock_notes.into_iter().chain(said.map(String::from)));
    let rows = if keep { Some(rows) } else { rows.discard().map(|()| None)? };
    Ok(LargeRead { panel, repairs, cuts, notes, layout, rows, options, pace })
}

/// The rows of a file in parts, and what was found out about it.
fn dealt(
    path: &Path,
    options: &ReadOptions,
    memory: usize,
    scratch: &Scratch,
    keep: bool,
) -> Result<(Parts, Vec<String>), DataError> {
    let mut feed = Feed::open(path, options, (memory / SHARE).clamp(CHUNK.0, CHUNK.1), keep)?;
    let mut dealing = Dealing::new(scratch, memory)?;
    let mut table = None;
    loop {
        let more = feed.fill(&mut table)?;
        let Some(rows) = &mut table else { return Err(DataError::Empty { file: path.display().to_string() }) };
        dealing.add(rows)?;
        *rows = rows.successor();
        if !more {
            break;
        }
    }
    let Some(empty) = table else { return Err(DataError::Empty { file: path.display().to_string() }) };
    Ok((dealing.finish(empty, (memory / PART_SHARE).max(LEAST_PART), memory)?, feed.notes))
}

impl LargeRead {
    /// Passes over the rows once more, block by block with all of their columns, where these were kept; the codes of the panels are those of the
    /// stored panel.
    ///
    /// # Errors
    /// [`DataError`].
    pub fn for_each_block(&self, mut visit: impl FnMut(Read) -> Result<(), DataError>) -> Result<(), DataError> {
        let options = ReadOptions {
            levels: Some(self.panel.levels().clone()),
            actions: Some(self.panel.action_names().clone()),
            ..self.options.clone()
        };
        for table in self.rows.iter().flat_map(Parts::tables) {
            visit(assemble_part(table?, &options, Some(self.pace))?)?;
        }
        Ok(())
    }
}
