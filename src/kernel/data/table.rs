//! The rows of a file, parsed cell by cell and still in file order.

use super::cell::{NoNumber, is_blank, number};
use super::columns::Roles;
use super::error::{DataError, Line, Place, excerpt};
use super::labels::{PRODUCT, Part, key};
use super::{MissingRepair, ReadOptions};
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
    /// Whether level and states are all there.
    pub complete: bool,
    action: u32,
    reward: f64,
}

const NO_ACTION: u32 = u32::MAX;

impl Row {
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
    repair: MissingRepair,
    id_codes: HashMap<String, usize>,
    kept_columns: Vec<usize>,
    level: String,
}

impl Table {
    pub fn new(source: Source, repair: MissingRepair) -> Self {
        let kept_columns: Vec<usize> = (0..source.header.len()).filter(|&j| source.keeps[j]).collect();
        let kept = Kept { width: kept_columns.len(), text: String::new(), ends: Vec::new() };
        let (levels, actions) = (Names::default(), Names::default());
        let (ids, rows, states, id_codes) = (Vec::new(), Vec::new(), Vec::new(), HashMap::new());
        Self { source, ids, levels, actions, rows, states, kept, repair, id_codes, kept_columns, level: String::new() }
    }

    /// Adds a row, given by its cells; the caller has made sure that it has as many as the header.
    pub fn push<'r>(&mut self, line: u64, cell: impl Fn(usize) -> &'r str) -> Result<(), DataError> {
        let (id_column, time_column) = (self.source.roles.id, self.source.roles.time);
        let id = cell(id_column).trim();
        if is_blank(id) {
            return Err(self.missing(line, id_column, id));
        }
        let person = self.person(id);
        let Some(time) = self.number(line, time_column, cell(time_column))? else {
            return Err(self.missing(line, time_column, cell(time_column)));
        };
        let level = self.level(line, &cell)?;
        let states = self.push_states(line, &cell)?;
        let reward = self.number(line, self.source.roles.reward, cell(self.source.roles.reward))?.unwrap_or(f64::NAN);
        let action = self.action(line, cell(self.source.roles.action).trim())?;
        let complete = level.is_some() && states;
        self.rows.push(Row { line, time, person, level: level.unwrap_or(0), complete, action, reward });
        for &j in &self.kept_columns {
            self.kept.push(cell(j));
        }
        Ok(())
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

    /// The code of the level, the attributes joined by [`PRODUCT`]; `None` if one is missing and may be.
    fn level<'r>(&mut self, line: u64, cell: &impl Fn(usize) -> &'r str) -> Result<Option<u32>, DataError> {
        let columns = &self.source.roles.level;
        self.level.clear();
        for (k, &j) in columns.iter().enumerate() {
            let attribute = cell(j).trim();
            if is_blank(attribute) {
                return if self.repair == MissingRepair::Refuse {
                    Err(self.missing(line, j, attribute))
                } else {
                    Ok(None)
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
        Ok(Some(code))
    }

    fn action(&mut self, line: u64, name: &str) -> Result<u32, DataError> {
        if is_blank(name) {
            return Ok(NO_ACTION);
        }
        self.actions.code(name).ok_or_else(|| self.too_many(line, self.source.roles.action, name))
    }

    /// Appends the states of a row and says whether they are all there.
    fn push_states<'r>(&mut self, line: u64, cell: &impl Fn(usize) -> &'r str) -> Result<bool, DataError> {
        let mut complete = true;
        for k in 0..self.source.roles.states.len() {
            let j = self.source.roles.states[k];
            let state = self.number(line, j, cell(j))?;
            if state.is_none() && self.repair == MissingRepair::Refuse {
                return Err(self.missing(line, j, cell(j)));
            }
            complete &= state.is_some();
            self.states.push(state.unwrap_or(0.0));
        }
        Ok(complete)
    }

    /// The number in a cell, `None` if it is blank.
    fn number(&self, line: u64, column: usize, cell: &str) -> Result<Option<f64>, DataError> {
        let wrong = |cell: &str| (self.source.place(line, column), excerpt(cell.trim()));
        match number(cell) {
            Ok(x) => Ok(Some(x)),
            Err(NoNumber::Blank) => Ok(None),
            Err(NoNumber::Infinite) => {
                let (at, value) = wrong(cell);
                Err(DataError::NotFinite { at, value })
            }
            Err(NoNumber::Text) => {
                let (at, value) = wrong(cell);
                Err(DataError::NotANumber { at, value })
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

/// Codes for the names of a column in order of first appearance.
#[derive(Debug, Default)]
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

    /// The cell of a row in the `column`-th of the kept columns.
    pub fn cell(&self, row: usize, column: usize) -> &str {
        let cell = row * self.width + column;
        let start = if cell == 0 { 0 } else { self.ends[cell - 1] };
        &self.text[start..self.ends[cell]]
    }
}
