//! Files that do not fit in memory.
//!
//! A file is read a few megabytes at a time, its people are validated by the rules that hold for any file, and they are laid down in a
//! scratch folder in the order of their ids: a [`StoredPanel`], over which whoever fits something passes in blocks of people. Where the rows of
//! a file are not in the order of ids they are sorted on disk first.

mod feed;
mod sample;
mod scratch;
mod sort;
mod stored;

pub use sample::{SampledRead, read_sample};
pub use scratch::Scratch;
pub use stored::StoredPanel;

use super::assemble::{assemble_part, id_number, pace_of};
use super::error::{DataError, Line};
use super::row_convention::{in_words as rows_in_words, of_first_rows};
use super::table::Table;
use super::times::Pace;
use super::{CutReason, Layout, Read, ReadOptions, Repairs, RowConvention};
use crate::kernel::people::Labels;
use feed::Feed;
use sort::Unsorted;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
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
    file: LargeFile,
    pace: Pace,
}

/// Where rows come from: the file itself, or its rows sorted on disk.
#[derive(Debug)]
struct LargeFile {
    path: PathBuf,
    options: ReadOptions,
    chunk: usize,
    /// How many numbers may be held at once beside a block of people.
    room: usize,
    sorted: Option<SortedRows>,
}

/// A file of sorted rows, and an empty table with their columns.
type SortedRows = (PathBuf, Box<Table>);

/// Reads a file in blocks of people, holding about `memory` bytes at a time. `keep` carries the columns along that are not read, for
/// [`LargeRead::for_each_block`]; only rows that have to be sorted need it.
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
    let chunk = (memory / SHARE).clamp(CHUNK.0, CHUNK.1);
    let mut options = options.clone();
    if options.find_rows {
        options.rows = rows_of(path, &options, chunk)?;
    }
    let mut file = LargeFile { path: path.to_path_buf(), options, chunk, room: memory / ROOM, sorted: None };
    let (found, notes) = match store(&file, scratch)? {
        (Some(found), notes) => (found, notes),
        (None, _) => {
            let (rows, mut notes) = sorted(&file, scratch, memory / 4, keep)?;
            file.sorted = Some(rows);
            notes.push("its rows are not in the order of ids and times: they were sorted on disk".into());
            let (found, _) = store(&file, scratch)?;
            let Some(found) = found else { return Err(DataError::NoRows { file: path.display().to_string() }) };
            (found, notes)
        }
    };
    let Found { panel, repairs, cuts, pace, clock_notes, layout } = found;
    let said = file.options.find_rows.then(|| rows_in_words(file.options.rows)).flatten();
    let notes = notes.into_iter().chain(clock_notes).chain(said.map(String::from)).collect();
    Ok(LargeRead { panel, repairs, cuts, notes, layout, file, pace })
}

/// People whose first rows are looked at to find out where decisions stand.
const LOOKED_AT: usize = 10_000;

/// Where decisions stand, by the first rows of the first people of a file, found in one pass.
fn rows_of(path: &Path, options: &ReadOptions, chunk: usize) -> Result<RowConvention, DataError> {
    let mut feed = Feed::open(path, options, chunk, false)?;
    let mut table = None;
    let mut firsts: HashMap<String, (f64, u64, bool)> = HashMap::new();
    let mut line: fn(u64) -> Line = Line::Text;
    loop {
        let more = feed.fill(&mut table)?;
        let Some(read) = &mut table else { break };
        for row in &read.rows {
            let filled = row.action().is_some() || row.reward().is_some();
            let id = &read.ids[row.person];
            if let Some(first) = firsts.get_mut(id) {
                if row.time < first.0 {
                    *first = (row.time, row.line, filled);
                }
            } else if firsts.len() < LOOKED_AT {
                firsts.insert(id.clone(), (row.time, row.line, filled));
            }
        }
        line = read.source.line;
        *read = read.successor();
        if !more {
            break;
        }
    }
    let mut firsts: Vec<(u64, bool)> = firsts.into_values().map(|(_, line, filled)| (line, filled)).collect();
    firsts.sort_unstable();
    of_first_rows(firsts.into_iter().map(|(at, filled)| (line(at), filled)), &path.display().to_string())
}

impl LargeRead {
    /// Whether the rows were sorted on disk, so that blocks come in the order of people and times and not in that of the file.
    pub fn was_sorted(&self) -> bool {
        self.file.sorted.is_some()
    }

    /// Passes over the file once more, block by block with all of its columns; the codes of the panels are those of the stored panel.
    ///
    /// # Errors
    /// [`DataError`].
    pub fn for_each_block(&self, mut visit: impl FnMut(Read) -> Result<(), DataError>) -> Result<(), DataError> {
        let labels = |labels: &Labels| Some(labels.clone());
        let options = ReadOptions {
            levels: labels(self.panel.levels()),
            actions: labels(self.panel.action_names()),
            ..self.file.options.clone()
        };
        self.file.for_each_table(true, &mut Vec::new(), |table| {
            visit(assemble_part(table, &options, Some(self.pace))?)?;
            Ok(true)
        })?;
        Ok(())
    }
}

impl LargeFile {
    /// Visits tables of whole people until one is refused; whether none was.
    fn for_each_table(
        &self,
        keep: bool,
        notes: &mut Vec<String>,
        mut visit: impl FnMut(Table) -> Result<bool, DataError>,
    ) -> Result<bool, DataError> {
        if let Some((path, empty)) = &self.sorted {
            sort::for_each_table(path, empty, 2 * self.chunk, |table| visit(table).map(drop))?;
            return Ok(true);
        }
        let mut feed = Feed::open(&self.path, &self.options, self.chunk, keep)?;
        let (mut table, mut order) = (None, Order::default());
        loop {
            let known = table.as_ref().map_or(0, |table: &Table| table.rows.len());
            let more = feed.fill(&mut table)?;
            let Some(rows) = &mut table else { return Ok(true) };
            if !order.holds(rows, known) {
                notes.append(&mut feed.notes);
                return Ok(false);
            }
            if let Some(people) = rows.take_whole_people(!more)
                && !visit(people)?
            {
                return Ok(false);
            }
            if !more {
                notes.append(&mut feed.notes);
                return Ok(order.held());
            }
        }
    }
}

/// Whether people come in the order of their ids, each in one piece.
#[derive(Default)]
struct Order {
    last: Option<String>,
    not_by_number: bool,
    not_as_text: bool,
    some_text: bool,
}

impl Order {
    /// Looks at the rows from `known` on; whether the order may still hold.
    fn holds(&mut self, table: &Table, known: usize) -> bool {
        let mut before = known.checked_sub(1).map(|r| table.rows[r].person);
        for row in &table.rows[known..] {
            if before.replace(row.person) == Some(row.person) {
                continue;
            }
            let id = &table.ids[row.person];
            self.some_text |= id_number(id).is_none();
            if let Some(last) = &self.last {
                self.not_as_text |= last >= id;
                let by_number = id_number(last).zip(id_number(id)).map(|(a, b)| a.total_cmp(&b));
                self.not_by_number |= by_number.is_none_or(|order| order.then_with(|| last.cmp(id)).is_ge());
            }
            self.last = Some(id.clone());
        }
        !(self.not_as_text && (self.not_by_number || self.some_text))
    }

    /// Whether it held to the end.
    fn held(&self) -> bool {
        if self.some_text { !self.not_as_text } else { !self.not_by_number }
    }
}

/// The rows of a file sorted by person and time.
fn sorted(
    file: &LargeFile,
    scratch: &Arc<Scratch>,
    memory: usize,
    keep: bool,
) -> Result<(SortedRows, Vec<String>), DataError> {
    let mut feed = Feed::open(&file.path, &file.options, file.chunk, keep)?;
    let mut unsorted = Unsorted::new(scratch)?;
    let mut table = None;
    loop {
        let more = feed.fill(&mut table)?;
        let Some(rows) = &mut table else { break };
        unsorted.add(rows)?;
        *rows = rows.successor();
        if !more {
            break;
        }
    }
    let Some(empty) = table else { return Err(DataError::Empty { file: file.path.display().to_string() }) };
    Ok(((unsorted.sort(memory.max(1 << 16))?, Box::new(empty)), feed.notes))
}

/// What a pass over a file found.
struct Found {
    panel: StoredPanel,
    repairs: Repairs,
    cuts: (usize, usize),
    pace: Pace,
    clock_notes: Vec<String>,
    layout: Layout,
}

/// Lays the people of a file down; `None` when its rows have to be sorted first.
///
/// Gaps are judged by the smallest step that anybody takes, which is known at the end. The steps of the first people are taken for those of
/// all, and where they are not the file is read a second time.
fn store(file: &LargeFile, scratch: &Arc<Scratch>) -> Result<(Option<Found>, Vec<String>), DataError> {
    let mut given: Option<Pace> = None;
    loop {
        let mut pass = Pass::new(file, scratch, given)?;
        let mut notes = Vec::new();
        if !file.for_each_table(false, &mut notes, |table| pass.take(table).map(|()| true))? {
            pass.storing.discard();
            return Ok((None, notes));
        }
        if !pass.is_wrong {
            return Ok((Some(pass.finish()?), notes));
        }
        given = pass.pace;
        pass.storing.discard();
    }
}

/// One pass over the tables of a file.
struct Pass<'f> {
    file: &'f LargeFile,
    given: Option<Pace>,
    /// Of everybody so far.
    pace: Option<Pace>,
    /// Whether the steps of the first people are not those of all, or something is wrong that all steps may show in another light.
    is_wrong: bool,
    storing: Storing,
    repairs: Repairs,
    cuts: (usize, usize),
    /// The names met so far in the order of the file: a code is stored as its place here.
    names: (Vec<String>, Vec<String>),
    clock_notes: Vec<String>,
    layout: Option<Layout>,
    /// People met.
    people: usize,
}

impl<'f> Pass<'f> {
    fn new(file: &'f LargeFile, scratch: &Arc<Scratch>, given: Option<Pace>) -> Result<Self, DataError> {
        Ok(Self {
            file,
            given,
            pace: None,
            is_wrong: false,
            storing: Storing::new(scratch)?,
            repairs: Repairs::default(),
            cuts: (0, 0),
            names: (vec![], vec![]),
            clock_notes: vec![],
            layout: None,
            people: 0,
        })
    }

    /// Meets the next people.
    fn take(&mut self, table: Table) -> Result<(), DataError> {
        self.people += table.ids.len();
        let assumed = self.given.or(self.pace);
        let own = pace_of(&table, &self.file.options);
        let pace = self.pace.map_or(own, |pace| pace.and(own));
        self.pace = Some(pace);
        self.is_wrong |= self.given.is_none()
            && assumed.is_some_and(|assumed| (assumed.step, assumed.months) != (pace.step, pace.months));
        if self.is_wrong {
            return Ok(());
        }
        let names = (table.levels.names.clone(), table.actions.names.clone());
        let Read { panel, repairs, notes, layout, .. } =
            match assemble_part(table, &self.file.options, Some(self.given.unwrap_or(pace))) {
                Ok(read) => read,
                Err(_) if self.given.is_none() => {
                    self.is_wrong = true;
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
        let stored = |labels: &Labels, names: &[String], asked: bool| -> Vec<u32> {
            let place = |name: &String| names.iter().position(|known| known == name).unwrap_or(0) as u32;
            if asked { (0..labels.len() as u32).collect() } else { labels.names().iter().map(place).collect() }
        };
        let options = &self.file.options;
        let level = stored(panel.levels(), &names.0, options.levels.is_some());
        let action = stored(panel.action_names(), &names.1, options.actions.is_some());
        self.storing.add(&panel, &level, &action)?;
        self.names = names;
        self.repairs.people_dropped += repairs.people_dropped;
        self.repairs.people_cut += repairs.people_cut;
        self.repairs.rows_dropped += repairs.rows_dropped;
        self.cuts.0 += repairs.cuts.len();
        self.cuts.1 += repairs.cuts.iter().filter(|cut| matches!(cut.reason, CutReason::Gap { .. })).count();
        let room = LISTED.saturating_sub(self.repairs.cuts.len());
        self.repairs.cuts.extend(repairs.cuts.into_iter().take(room));
        self.clock_notes = notes;
        self.layout = Some(layout);
        Ok(())
    }

    fn finish(self) -> Result<Found, DataError> {
        let file = self.file.path.display().to_string();
        let (Some(layout), Some(pace)) = (self.layout, self.pace) else { return Err(DataError::NoRows { file }) };
        if self.storing.people() == 0 {
            return Err(DataError::NothingLeft { file, people: self.people });
        }
        let (levels_used, actions_used) = self.storing.used();
        let labels = |asked: &Option<Labels>, names: &[String], used: &[bool]| {
            if let Some(labels) = asked {
                return (labels.clone(), (0..labels.len() as u32).collect());
            }
            let own = names.iter().zip(used).filter(|(_, used)| **used).map(|(name, _)| name.as_str());
            let labels = Labels::new(own);
            let codes = names.iter().map(|name| labels.code(name).unwrap_or(0) as u32).collect();
            (labels, codes)
        };
        let options = &self.file.options;
        let levels = labels(&options.levels, &self.names.0, &levels_used);
        let actions = labels(&options.actions, &self.names.1, &actions_used);
        if actions.0.is_empty() {
            return Err(DataError::NoDecisions { file, column: options.columns.action.clone() });
        }
        let state_dim = layout.state_names().len();
        let panel = self.storing.finish(levels, actions, state_dim, self.file.room)?;
        let (repairs, cuts, clock_notes) = (self.repairs, self.cuts, self.clock_notes);
        Ok(Found { panel, repairs, cuts, pace, clock_notes, layout })
    }
}
