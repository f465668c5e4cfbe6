//! What is to be written, as a grid of cells, before it is CSV or Parquet.

use super::cell::is_blank;
use super::columns::{Columns, state_number};
use super::error::{DataError, excerpt};
use super::table::{Kept, Source};
use super::{Panel, Read, RowConvention};
use crate::kernel::people::PRODUCT;

/// The rows and columns of a file beyond its panel: what it takes to write it back in the same order.
#[derive(Debug, Clone)]
pub struct Layout {
    pub(super) source: Source,
    pub(super) columns: Columns,
    pub(super) rows: RowConvention,
    pub(super) kept: Kept,
    /// The state row of the panel that each row of the file became, or [`Layout::DROPPED`].
    pub(super) places: Vec<usize>,
}

impl Layout {
    pub(super) const DROPPED: usize = usize::MAX;

    /// The names of the file's columns in order.
    pub fn header(&self) -> &[String] {
        &self.source.header
    }

    /// The names of the state columns in order, whether they were named or found.
    pub fn state_names(&self) -> Vec<String> {
        self.source.roles.states.iter().map(|&j| self.source.header[j].clone()).collect()
    }

    /// The columns as they were named.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Where a decision stands.
    pub fn rows(&self) -> RowConvention {
        self.rows
    }
}

/// One cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell<'a> {
    Blank,
    Text(&'a str),
    Whole(usize),
    Number(f64),
}

/// A grid of cells computed on demand, so that writing needs no second copy of the panel.
pub(super) struct Sheet<'a> {
    pub names: Vec<String>,
    pub rows: usize,
    pub cell: Box<dyn Fn(usize, usize) -> Cell<'a> + 'a>,
}

/// A state row of the panel, who owns it, and the decision written beside it.
struct Entry {
    person: usize,
    state_row: usize,
    decision: Option<usize>,
}

impl Entry {
    fn new(panel: &Panel, rows: RowConvention, person: usize, state_row: usize) -> Self {
        let (t, decisions) = (state_row - panel.states_of(person).start, panel.decisions_of(person));
        let decision = match rows {
            RowConvention::Incoming => t.checked_sub(1),
            RowConvention::Outgoing => Some(t).filter(|&t| t < decisions.len()),
        };
        Self { person, state_row, decision: decision.map(|t| decisions.start + t) }
    }
}

impl<'a> Sheet<'a> {
    /// A panel, person after person, with times 1, 2, ….
    pub fn of_panel(file: &str, panel: &'a Panel, columns: &Columns, rows: RowConvention) -> Result<Self, DataError> {
        let names = panel_header(file, panel, columns)?;
        if rows == RowConvention::Incoming
            && let Some(person) = panel.iter().find(|person| !person.has_final_state(panel.state_dim()))
        {
            return Err(DataError::NoFinalState { file: file.into(), id: excerpt(person.id) });
        }
        readable(file, &columns.id, panel.ids())?;
        readable(file, &columns.action, panel.action_names().names())?;
        let attributes = attributes(file, panel, columns)?;
        let entries: Vec<Entry> = (0..panel.people())
            .flat_map(|i| panel.states_of(i).map(move |row| Entry::new(panel, rows, i, row)))
            .collect();
        let (k, p) = (columns.level.len(), panel.state_dim());
        let cell = move |r: usize, column: usize| {
            let &Entry { person, state_row, decision } = &entries[r];
            match column {
                0 => Cell::Text(&panel.ids()[person]),
                1 => Cell::Whole(state_row - panel.states_of(person).start + 1),
                j if j < 2 + k => Cell::Text(attributes[panel.level_codes()[person] as usize][j - 2]),
                j if j == 2 + k => {
                    decision.map_or(Cell::Blank, |d| Cell::Text(panel.action_names().name(panel.actions()[d] as usize)))
                }
                j if j == 3 + k => decision.map_or(Cell::Blank, |d| Cell::Number(panel.rewards()[d])),
                j => Cell::Number(panel.states()[state_row * p + j - 4 - k]),
            }
        };
        Ok(Self { names, rows: panel.state_rows(), cell: Box::new(cell) })
    }

    /// A file that was read, with other rewards and, in place of its states, `state1`, `state2`, … from a row-major array.
    pub fn of_read(file: &str, read: &'a Read, states: &'a [f64], rewards: &'a [f64]) -> Result<Self, DataError> {
        let (panel, layout) = (&read.panel, &read.layout);
        let width = output_width(file, panel, states, rewards)?;
        let (names, sources) = output_columns(file, &layout.source, width)?;
        let placed = layout.places.iter().enumerate().filter(|(_, place)| **place != Layout::DROPPED);
        let entries: Vec<(usize, Entry)> =
            placed.map(|(r, &row)| (r, Entry::new(panel, layout.rows, panel.owner_of(row), row))).collect();
        let rows = entries.len();
        let cell = move |r: usize, column: usize| {
            let (file_row, Entry { state_row, decision, .. }) = &entries[r];
            match sources[column] {
                From::State(j) => Cell::Number(states[state_row * width + j]),
                From::Reward => decision.map_or(Cell::Blank, |d| Cell::Number(rewards[d])),
                From::Action(_) if decision.is_none() => Cell::Blank,
                From::Action(k) | From::Kept(k) => Cell::Text(layout.kept.cell(*file_row, k)),
            }
        };
        Ok(Self { names, rows, cell: Box::new(cell) })
    }
}

/// Where a column of the output comes from.
#[derive(Clone, Copy)]
enum From {
    State(usize),
    Reward,
    Action(usize),
    Kept(usize),
}

/// The input's columns, its first state column replaced by all new states, its other ones gone. An unused column that has
/// the name of a new state gives way to it.
fn output_columns(file: &str, source: &Source, width: usize) -> Result<(Vec<String>, Vec<From>), DataError> {
    let (roles, mut columns) = (&source.roles, Vec::new());
    let taken = |name: &str| state_number(name).is_some_and(|n| n <= width as u64);
    let (mut kept, first_state) = (0, roles.states.iter().min());
    for (j, name) in source.header.iter().enumerate() {
        let used = roles.names_or_times(j) || j == roles.reward;
        if used && taken(name) {
            return Err(DataError::ColumnTaken { file: file.into(), column: name.clone() });
        }
        if source.keeps[j] {
            let from = if j == roles.action { From::Action(kept) } else { From::Kept(kept) };
            kept += 1;
            if !taken(name) {
                columns.push((name.clone(), from));
            }
        }
        if j == roles.reward {
            columns.push((name.clone(), From::Reward));
        }
        if Some(&j) == first_state {
            columns.extend((0..width).map(|k| (format!("state{}", k + 1), From::State(k))));
        }
    }
    Ok(columns.into_iter().unzip())
}

/// The number of new states per row, once the arrays fit the panel and are finite.
fn output_width(file: &str, panel: &Panel, states: &[f64], rewards: &[f64]) -> Result<usize, DataError> {
    let shape = |what, found, expected| DataError::OutputShape { file: file.into(), what, found, expected };
    let width = states.len() / panel.state_rows();
    if width == 0 || !states.len().is_multiple_of(panel.state_rows()) {
        return Err(shape("state numbers", states.len(), panel.state_rows() * width.max(1)));
    }
    if rewards.len() != panel.decisions() {
        return Err(shape("rewards", rewards.len(), panel.decisions()));
    }
    let bad = |column: String, id: &str, value| DataError::NotFiniteOutput {
        file: file.into(),
        column,
        id: excerpt(id),
        value,
    };
    if let Some(j) = states.iter().position(|x| !x.is_finite()) {
        let id = &panel.ids()[panel.owner_of(j / width)];
        return Err(bad(format!("state{}", j % width + 1), id, states[j]));
    }
    if let Some(d) = rewards.iter().position(|x| !x.is_finite()) {
        let owner = (0..panel.people()).find(|&i| panel.decisions_of(i).contains(&d));
        return Err(bad("reward".into(), owner.map_or("", |i| &panel.ids()[i]), rewards[d]));
    }
    Ok(width)
}

/// The header of a panel: no name twice, and one per state coordinate.
fn panel_header(file: &str, panel: &Panel, columns: &Columns) -> Result<Vec<String>, DataError> {
    let p = panel.state_dim();
    let numbered = || (1..=p).map(|j| format!("state{j}")).collect();
    let states = if columns.states.is_empty() { numbered() } else { columns.states.clone() };
    if states.len() != p {
        return Err(DataError::OutputShape {
            file: file.into(),
            what: "state columns",
            found: states.len(),
            expected: p,
        });
    }
    let mut names = vec![columns.id.clone(), columns.time.clone()];
    names.extend(columns.level.iter().cloned());
    names.extend([columns.action.clone(), columns.reward.clone()]);
    names.extend(states);
    let mut seen = std::collections::HashSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(name.trim())) {
        return Err(DataError::RepeatedColumn { file: file.into(), column: twice.clone() });
    }
    Ok(names)
}

/// The parts of each level's name, one per attribute column.
fn attributes<'p>(file: &str, panel: &'p Panel, columns: &Columns) -> Result<Vec<Vec<&'p str>>, DataError> {
    let split = |name: &'p String| {
        let parts: Vec<&str> = if columns.level.len() == 1 { vec![name] } else { name.split(PRODUCT).collect() };
        if parts.len() == columns.level.len() && readable(file, &columns.level_name(), &parts).is_ok() {
            return Ok(parts);
        }
        Err(DataError::Unwritable { file: file.into(), column: columns.level_name(), value: excerpt(name) })
    };
    panel.levels().names().iter().map(split).collect()
}

/// Refuses names that are blank or padded: they would read back as missing, or as others.
fn readable<S: AsRef<str>>(file: &str, column: &str, names: &[S]) -> Result<(), DataError> {
    match names.iter().map(AsRef::as_ref).find(|name| is_blank(name) || name.trim() != *name) {
        None => Ok(()),
        Some(name) => Err(DataError::Unwritable { file: file.into(), column: column.into(), value: excerpt(name) }),
    }
}
