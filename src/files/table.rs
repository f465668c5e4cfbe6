//! The rows of a file, parsed cell by cell and still in file order.

use super::calendar::moment;
use super::cell::{LARGEST, NoNumber, is_blank, number};
use super::columns::Roles;
use super::error::{DataError, Line, Place, excerpt};
use super::times::Times;
use super::{Decimal, MissingRepair, ReadOptions};
use crate::kernel::people::{PRODUCT, Part, key};
use std::collections::HashMap;

/// The most distinct levels, or actions, that a file may have.
///
/// A continuous column taken for a level by mistake has as many values as rows; preprocessing holds one state per row *and
/// level*, so that without a bound memory would grow with the square of the file.
pub const MAX_LABELS: usize = 256;

/// A file's name and header, and what its columns mean: what an error needs to say where.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub file: String,
    pub header: Vec<String>,
    pub roles: Roles,
    /// Whether the text of each column is carried from input to output: all but rewards and states, which are replaced.
    pub keeps: Vec<bool>,
    /// [`Line::Text`] or [`Line::Row`].
    pub line: fn(u64) -> Line,
}

impl Source {
    /// The header's names without surrounding white space, and the roles of `options` among them.
    pub fn new(
        file: &str,
        header: impl Iterator<Item = String>,
        options: &ReadOptions,
        line: fn(u64) -> Line,
    ) -> Result<Self, DataError> {
        let header: Vec<String> = header.map(|name| name.trim().to_string()).collect();
        let roles = Roles::find(&options.columns, &header, file)?;
        let mut keeps = vec![true; header.len()];
        for &j in roles.states.iter().chain([&roles.reward]) {
            keeps[j] = roles.names_or_times(j);
        }
        Ok(Self { file: file.into(), header, roles, keeps, line })
    }

    pub fn place(&self, line: u64, column: usize) -> Box<Place> {
        self.place_named(line, &self.header[column])
    }

    pub fn place_named(&self, line: u64, column: &str) -> Box<Place> {
        Box::new(Place { file: self.file.clone(), line: (self.line)(line), column: excerpt(column) })
    }
}

/// One row. Blanks are sentinels rather than `Option`s, which would double the size of a table of millions of rows; the
/// accessors give the `Option`s.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub line: u64,
    pub time: f64,
    pub person: usize,
    /// The code of the level in file order; not to be used on an incomplete row.
    pub level: u32,
    pub missing: u32,
    pub action: u32,
    pub reward: f64,
}

const NO_ACTION: u32 = u32::MAX;
const NOTHING_MISSING: u32 = u32::MAX;

impl Row {
    /// The column of the first attribute or state that is not there.
    pub fn missing(&self) -> Option<usize> {
        (self.missing != NOTHING_MISSING).then_some(self.missing as usize)
    }

    pub fn action(&self) -> Option<u32> {
        (self.action != NO_ACTION).then_some(self.action)
    }

    pub fn reward(&self) -> Option<f64> {
        (!self.reward.is_nan()).then_some(self.reward)
    }
}

/// All rows of a file.
#[derive(Debug)]
pub(super) struct Table {
    pub source: Source,
    pub ids: Vec<String>,
    pub levels: Names,
    pub actions: Names,
    pub rows: Vec<Row>,
    /// Row-major, as many numbers per row as there are state columns; a missing one is 0 on a row that is not complete.
    pub states: Vec<f64>,
    pub kept: Kept,
    /// What the times are, once there is one.
    pub times: Option<Times>,
    pub decimals: Decimals,
    repair: MissingRepair,
    id_codes: HashMap<String, usize>,
    kept_columns: Vec<usize>,
    level: String,
}

impl Table {
    pub fn new(source: Source, repair: MissingRepair, decimals: Decimals) -> Self {
        let kept_columns: Vec<usize> = (0..source.header.len()).filter(|&j| source.keeps[j]).collect();
        let kept = Kept { width: kept_columns.len(), text: String::new(), ends: Vec::new() };
        let (levels, actions) = (Names::default(), Names::default());
        let (ids, rows, states, id_codes) = (Vec::new(), Vec::new(), Vec::new(), HashMap::new());
        let level = String::new();
        let times = None;
        Self {
            source,
            ids,
            levels,
            actions,
            rows,
            states,
            kept,
            times,
            decimals,
            repair,
            id_codes,
            kept_columns,
            level,
        }
    }

    /// Adds a row, given by its cells; the caller has made sure that it has as many as the header.
    pub fn push<'r>(&mut self, line: u64, cell: impl Fn(usize) -> &'r str) -> Result<(), DataError> {
        let (id_column, time_column) = (self.source.roles.id, self.source.roles.time);
        let id = cell(id_column).trim();
        if is_blank(id) {
            return Err(self.missing(line, id_column, id));
        }
        let person = self.person(id);
        let time = self.time(line, cell(time_column))?;
        let level = self.level(line, &cell)?;
        let states = self.push_states(line, &cell)?;
        let reward = self.number(line, self.source.roles.reward, cell(self.source.roles.reward))?.unwrap_or(f64::NAN);
        let action = self.action(line, cell(self.source.roles.action).trim())?;
        let missing = level.as_ref().err().copied().or(states).map_or(NOTHING_MISSING, |j| j as u32);
        self.rows.push(Row { line, time, person, level: level.unwrap_or(0), missing, action, reward });
        for &j in &self.kept_columns {
            // Times are read again from what is written, where a point is decimal.
            let comma = j == time_column && self.times == Some(Times::Numbers) && cell(j).contains(',');
            if comma { self.kept.push(&cell(j).replace(',', ".")) } else { self.kept.push(cell(j)) }
        }
        Ok(())
    }

    /// An empty table of the same file, which knows what this one has found out about it.
    pub fn successor(&self) -> Self {
        Self {
            levels: self.levels.clone(),
            actions: self.actions.clone(),
            times: self.times,
            ..Self::new(self.source.clone(), self.repair, self.decimals.clone())
        }
    }

    /// The same without text that is carried along.
    pub fn without_kept(self) -> Self {
        let mut source = self.source;
        source.keeps.fill(false);
        Self::new(source, self.repair, self.decimals)
    }

    /// Everything, or where more rows are to come everything but the last person; what is not taken stays.
    ///
    /// `None` when nothing can be taken yet.
    pub fn take_whole_people(&mut self, is_end: bool) -> Option<Self> {
        let last = self.rows.last()?.person;
        let first = if is_end { self.rows.len() } else { self.rows.iter().rposition(|row| row.person != last)? + 1 };
        let mut rest = self.successor();
        for r in first..self.rows.len() {
            rest.push_row(&self.ids[last], self.rows[r], self.states_of(r), self.kept_of(r));
        }
        let mut taken = std::mem::replace(self, rest);
        let p = taken.source.roles.states.len();
        taken.rows.truncate(first);
        taken.states.truncate(first * p);
        taken.kept.truncate(first);
        if !is_end {
            taken.ids.pop();
        }
        Some(taken)
    }

    /// Adds a row that was read before.
    pub fn push_row<'k>(&mut self, id: &str, row: Row, states: &[f64], kept: impl Iterator<Item = &'k str>) {
        let person = self.person(id);
        self.rows.push(Row { person, ..row });
        self.states.extend_from_slice(states);
        kept.for_each(|cell| self.kept.push(cell));
    }

    /// The states of a row.
    pub fn states_of(&self, row: usize) -> &[f64] {
        let p = self.source.roles.states.len();
        &self.states[row * p..(row + 1) * p]
    }

    /// The cells of a row that are carried along.
    pub fn kept_of(&self, row: usize) -> impl ExactSizeIterator<Item = &str> {
        (0..self.kept.width).map(move |column| self.kept.cell(row, column))
    }

    /// Bytes that the rows take, about.
    pub fn bytes(&self) -> usize {
        self.rows.len() * size_of::<Row>() + 8 * self.states.len() + self.kept.text.len() + 8 * self.kept.ends.len()
    }

    /// A number, or a date in seconds since 1970; one kind in a file.
    fn time(&mut self, line: u64, cell: &str) -> Result<f64, DataError> {
        let column = self.source.roles.time;
        let date = moment(cell);
        let time = match date {
            Some(time) => time,
            None => match self.number(line, column, cell) {
                Ok(Some(time)) => time,
                Ok(None) => return Err(self.missing(line, column, cell)),
                Err(DataError::NotANumber { at, value, .. }) => return Err(DataError::NotATime { at, value }),
                Err(error) => return Err(error),
            },
        };
        let found = if date.is_some() { Times::Dates } else { Times::Numbers };
        if *self.times.get_or_insert(found) != found {
            let kind = if date.is_some() { "date" } else { "number" };
            let at = self.source.place(line, column);
            return Err(DataError::MixedTimes { at, value: excerpt(cell.trim()), kind });
        }
        Ok(time)
    }

    /// The position of a person in order of first appearance; most rows follow one of the same person.
    fn person(&mut self, id: &str) -> usize {
        if let Some(last) = self.rows.last().filter(|last| self.ids[last.person] == id) {
            return last.person;
        }
        if let Some(&known) = self.id_codes.get(id) {
            return known;
        }
        self.ids.push(id.to_string());
        self.id_codes.insert(id.to_string(), self.ids.len() - 1);
        self.ids.len() - 1
    }

    /// The code of the level, the attributes joined by [`PRODUCT`]; the column of one that is missing and may be.
    fn level<'r>(&mut self, line: u64, cell: &impl Fn(usize) -> &'r str) -> Result<Result<u32, usize>, DataError> {
        let columns = &self.source.roles.level;
        self.level.clear();
        for (k, &j) in columns.iter().enumerate() {
            let attribute = cell(j).trim();
            if is_blank(attribute) {
                return if self.repair == MissingRepair::Refuse {
                    Err(self.missing(line, j, attribute))
                } else {
                    Ok(Err(j))
                };
            }
            if columns.len() > 1 && attribute.contains(PRODUCT) {
                let at = self.source.place(line, j);
                return Err(DataError::SeparatorInLevel { at, value: excerpt(attribute) });
            }
            if k > 0 {
                self.level.push(PRODUCT);
            }
            self.level.push_str(attribute);
        }
        let column = self.source.roles.level[0];
        let code = self.levels.code(&self.level).ok_or_else(|| self.too_many(line, column, &self.level))?;
        Ok(Ok(code))
    }

    fn action(&mut self, line: u64, name: &str) -> Result<u32, DataError> {
        if is_blank(name) {
            return Ok(NO_ACTION);
        }
        self.actions.code(name).ok_or_else(|| self.too_many(line, self.source.roles.action, name))
    }

    /// Appends the states of a row and gives the column of the first that is not there.
    fn push_states<'r>(&mut self, line: u64, cell: &impl Fn(usize) -> &'r str) -> Result<Option<usize>, DataError> {
        let mut missing = None;
        for k in 0..self.source.roles.states.len() {
            let j = self.source.roles.states[k];
            let state = self.number(line, j, cell(j))?;
            if state.is_none() && self.repair == MissingRepair::Refuse {
                return Err(self.missing(line, j, cell(j)));
            }
            missing = missing.or(state.is_none().then_some(j));
            self.states.push(state.unwrap_or(0.0));
        }
        Ok(missing)
    }

    /// The number in a cell, `None` if it is blank.
    fn number(&mut self, line: u64, column: usize, cell: &str) -> Result<Option<f64>, DataError> {
        let wrong = |cell: &str| (self.source.place(line, column), excerpt(cell.trim()));
        let read = match self.decimals.read(cell, line) {
            Ok(read) => read,
            Err((first, other)) => {
                let (at, value) = wrong(cell);
                return Err(DataError::MixedDecimals { at, value, first: (self.source.line)(first), other });
            }
        };
        match read {
            Ok(x) => Ok(Some(x)),
            Err(NoNumber::Blank) => Ok(None),
            Err(NoNumber::Infinite) => {
                let (at, value) = wrong(cell);
                Err(DataError::NotFinite { at, value })
            }
            Err(NoNumber::Large) => {
                let (at, value) = wrong(cell);
                Err(DataError::TooLarge { at, value, limit: LARGEST })
            }
            Err(NoNumber::Text) => {
                let (at, value) = wrong(cell);
                let comma = with_point(cell).is_some_and(|text| number(&text).is_ok());
                let advice = if comma { "; if its comma is decimal, say --decimal comma" } else { "" };
                Err(DataError::NotANumber { at, value, advice })
            }
        }
    }

    fn missing(&self, line: u64, column: usize, cell: &str) -> DataError {
        DataError::MissingCell { at: self.source.place(line, column), value: excerpt(cell.trim()) }
    }

    fn too_many(&self, line: u64, column: usize, name: &str) -> DataError {
        let at = self.source.place(line, column);
        DataError::TooManyLabels { at, value: excerpt(name), count: MAX_LABELS + 1, limit: MAX_LABELS }
    }
}

/// Whether numbers have a decimal point or a decimal comma, as was said or as the first that has either shows.
#[derive(Debug, Clone)]
pub(super) struct Decimals {
    said: Option<Decimal>,
    /// Whether a comma may be decimal though nobody said so: where it does not separate cells.
    may_be_comma: bool,
    /// The first number with a point, and the first with a comma: line and cell.
    point: Option<(u64, String)>,
    comma: Option<(u64, String)>,
}

impl Decimals {
    pub fn new(said: Option<Decimal>, may_be_comma: bool) -> Self {
        Self { said, may_be_comma, point: None, comma: None }
    }

    /// Whether nobody said so and there were decimal commas.
    pub fn found_commas(&self) -> bool {
        self.said.is_none() && self.comma.is_some()
    }

    /// The number in a cell, or an earlier cell that it contradicts.
    fn read(&mut self, cell: &str, line: u64) -> Result<Result<f64, NoNumber>, (u64, String)> {
        let plain = number(cell);
        if self.said == Some(Decimal::Point) || (self.said.is_none() && !self.may_be_comma) {
            return Ok(plain);
        }
        let (point, comma) = match (&plain, with_point(cell)) {
            (Ok(_), _) => (cell.contains('.'), None),
            (Err(NoNumber::Text), Some(text)) => (false, number(&text).ok()),
            _ => (false, None),
        };
        let first = |seen: &mut Option<(u64, String)>| {
            if seen.is_none() {
                *seen = Some((line, excerpt(cell.trim())));
            }
        };
        if point {
            first(&mut self.point);
        }
        if comma.is_some() {
            first(&mut self.comma);
        }
        let contradicted = if comma.is_some() { &self.point } else { &self.comma };
        match contradicted {
            Some(other) if point || comma.is_some() => Err(other.clone()),
            _ => Ok(comma.map_or(plain, Ok)),
        }
    }
}

/// A cell with its one comma written as a point.
fn with_point(cell: &str) -> Option<String> {
    (cell.matches(',').count() == 1 && !cell.contains('.')).then(|| cell.replace(',', "."))
}

/// Codes for the names of a column in order of first appearance.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    pub names: Vec<String>,
    by_spelling: HashMap<String, u32>,
    by_key: HashMap<Vec<Part>, u32>,
}

impl Names {
    /// The code of a name, a new one if need be; `None` beyond [`MAX_LABELS`].
    fn code(&mut self, name: &str) -> Option<u32> {
        if let Some(&code) = self.by_spelling.get(name) {
            return Some(code);
        }
        let code = match self.by_key.get(&key(name)) {
            Some(&code) => code,
            None if self.names.len() == MAX_LABELS => return None,
            None => {
                let code = self.names.len() as u32;
                self.names.push(name.to_string());
                self.by_key.insert(key(name), code);
                code
            }
        };
        self.by_spelling.insert(name.to_string(), code);
        Some(code)
    }
}

/// The text of the columns that are carried along, in one buffer.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    width: usize,
    text: String,
    ends: Vec<usize>,
}

impl Kept {
    /// No cell at all.
    pub fn empty() -> Self {
        Self { width: 0, text: String::new(), ends: Vec::new() }
    }

    fn push(&mut self, cell: &str) {
        self.text.push_str(cell);
        self.ends.push(self.text.len());
    }

    fn truncate(&mut self, rows: usize) {
        self.ends.truncate(rows * self.width);
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// The cell of a row in the `column`-th of the kept columns.
    pub fn cell(&self, row: usize, column: usize) -> &str {
        let cell = row * self.width + column;
        let start = if cell == 0 { 0 } else { self.ends[cell - 1] };
        &self.text[start..self.ends[cell]]
    }
}
