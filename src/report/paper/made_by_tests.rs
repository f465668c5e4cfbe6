//! The tables that tests make and keep, as the paper reads them.

use super::ResultsError;
use super::results::{content, text};
use std::collections::HashMap;
use std::path::Path;

/// A line by column.
pub(super) type Line = HashMap<String, String>;

/// Where each table is kept, below the folder of the tests; a table that is not there has no lines.
#[derive(Debug, Clone, Default)]
pub(super) struct MadeByTests {
    /// `coverage/front_door.csv`.
    pub front_door: Vec<Line>,
    /// `coverage/unfairness.csv`.
    pub unfairness: Vec<Line>,
    /// `estimate/stable_learner.csv`.
    pub stable: Vec<Line>,
    /// `estimate/noise/real_studies_noise.csv`.
    pub noise: Vec<Line>,
    /// `estimate/noise/real_studies_policies.csv`.
    pub policies: Vec<Line>,
}

impl MadeByTests {
    /// Reads them from the folder of the tests.
    pub fn read(folder: &Path) -> Result<Self, ResultsError> {
        let lines = |name: &str| -> Result<Vec<Line>, ResultsError> {
            let path = folder.join(name);
            let Some(text) = text(&path)? else { return Ok(Vec::new()) };
            let mut reader = csv::Reader::from_reader(&text[..]);
            let rows: Result<Vec<Line>, csv::Error> = reader.deserialize().collect();
            rows.map_err(|e| content(&path, e.position().map_or(1, csv::Position::line), e.to_string()))
        };
        Ok(Self {
            front_door: lines("coverage/front_door.csv")?,
            unfairness: lines("coverage/unfairness.csv")?,
            stable: lines("estimate/stable_learner.csv")?,
            noise: lines("estimate/noise/real_studies_noise.csv")?,
            policies: lines("estimate/noise/real_studies_policies.csv")?,
        })
    }
}

/// What a line has in a column; nothing where there is no such column.
pub(super) fn field<'a>(line: &'a Line, name: &str) -> &'a str {
    line.get(name).map_or("", String::as_str)
}

#[cfg(test)]
pub(super) fn committed() -> MadeByTests {
    MadeByTests::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")).expect("the tables of this checkout")
}
