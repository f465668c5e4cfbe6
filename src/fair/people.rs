//! People followed over time, and the file they came from.

use super::{Error, Sample, remarks};
use crate::files::{Columns, LargeRead, Read, ReadOptions, Repairs, RowConvention, read, write_preprocessed};
use crate::kernel::people::{Panel, People as _, Stored};
use std::path::Path;

/// A panel, with what is needed to write it back or to read more of its kind.
#[derive(Debug, Clone)]
pub struct People {
    source: Source,
    /// Whether ids may be told. Everything that is said about these people asks here.
    names_people: bool,
}

#[derive(Debug, Clone)]
enum Source {
    File { name: String, read: Box<Read>, sample: Option<Sample> },
    Memory(Panel),
}

impl People {
    /// Reads a long file with the default column names `ID,timestamp,z1,action,reward,state1,…`.
    ///
    /// # Errors
    /// [`Error::Data`], which names file, line, column and value.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::read_with(path, &ReadOptions::default())
    }

    /// Reads a long file with other columns, rows or repairs.
    ///
    /// # Errors
    /// [`Error::Data`], which names file, line, column and value.
    pub fn read_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, Error> {
        let path = path.as_ref();
        Ok(Self::sampled(path, read(path, options)?, None))
    }

    /// What is known of a file on disk but for its people.
    pub(super) fn without_rows(path: &Path, large: &LargeRead) -> Self {
        let (repairs, notes, layout) = (large.repairs.clone(), large.notes.clone(), large.layout.clone());
        Self::sampled(
            path,
            Read {
                panel: Panel::restored(large.panel.shape().clone(), Stored::default()),
                repairs,
                times: vec![],
                notes,
                layout,
            },
            None,
        )
    }

    /// What was read of a file: everybody, or a sample.
    pub(super) fn sampled(path: &Path, read: Read, sample: Option<Sample>) -> Self {
        let source = Source::File { name: path.display().to_string(), read: Box::new(read), sample };
        Self { source, names_people: false }
    }

    /// The same people; whatever is said about them may name them, or not. By default nobody is named: not in [`repairs`](Self::repairs), not in
    /// [`remarks`](Self::remarks), and so on no page and in no summary.
    pub fn naming_people(self, names_people: bool) -> Self {
        Self { names_people, ..self }
    }

    /// Which share of the file these people are; `None` if they are everybody.
    pub fn sample(&self) -> Option<&Sample> {
        match &self.source {
            Source::File { sample, .. } => sample.as_ref(),
            Source::Memory(_) => None,
        }
    }

    /// The people themselves.
    pub fn panel(&self) -> &Panel {
        match &self.source {
            Source::File { read, .. } => &read.panel,
            Source::Memory(panel) => panel,
        }
    }

    /// The columns of the file, or the default ones.
    pub fn columns(&self) -> Columns {
        match &self.source {
            Source::File { read, .. } => read.layout.columns().clone(),
            Source::Memory(_) => Columns::default(),
        }
    }

    /// The names of the state columns, in order.
    pub fn state_names(&self) -> Vec<String> {
        match &self.source {
            Source::File { read, .. } => read.layout.state_names(),
            Source::Memory(panel) => (1..=panel.state_dim()).map(|j| format!("state{j}")).collect(),
        }
    }

    /// The names of the state columns and of the reward: what a fitted mechanism predicts, in its order.
    pub fn output_names(&self) -> Vec<String> {
        let reward = self.columns().reward;
        self.state_names().into_iter().chain([reward]).collect()
    }

    /// What was found out about the file that nobody said: its separator, its encoding, its calendar.
    pub fn notes(&self) -> &[String] {
        match &self.source {
            Source::File { read, .. } => &read.notes,
            Source::Memory(_) => &[],
        }
    }

    /// What should be known about these people before anything is fitted to them, one line each: levels that look like one, one action
    /// only, a state that is a class, a cell far from all others.
    pub fn remarks(&self) -> Vec<String> {
        remarks::about(self, self.names_people)
    }

    /// Where a decision stands in the file.
    pub fn rows(&self) -> RowConvention {
        match &self.source {
            Source::File { read, .. } => read.layout.rows(),
            Source::Memory(_) => RowConvention::default(),
        }
    }

    /// What was repaired on request. Who was cut, and where, is in it only where [people may be named](Self::naming_people).
    pub fn repairs(&self) -> Repairs {
        match &self.source {
            Source::File { read, .. } if self.names_people => read.repairs.clone(),
            Source::File { read, .. } => Repairs { cuts: vec![], ..read.repairs },
            Source::Memory(_) => Repairs::default(),
        }
    }

    /// How many people were cut on request, and how many of them at a time that is not there.
    pub fn cuts(&self) -> (usize, usize) {
        match &self.source {
            Source::File { read, .. } => (read.repairs.cuts.len(), read.repairs.gaps()),
            Source::Memory(_) => (0, 0),
        }
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        match &self.source {
            Source::File { name, .. } => name,
            Source::Memory(_) => "the panel",
        }
    }

    /// Writes the file back with other rewards and, in place of its states, `state1`, `state2`, … from a row-major array.
    ///
    /// # Errors
    /// [`Error::Data`].
    ///
    /// # Panics
    /// If the people did not come from a file: then there is nothing to write back.
    pub fn write_preprocessed(&self, path: &Path, states: &[f64], rewards: &[f64]) -> Result<(), Error> {
        let Source::File { read, .. } = &self.source else { panic!("people that came from a file") };
        Ok(write_preprocessed(path, read, states, rewards)?)
    }
}

impl From<Panel> for People {
    fn from(panel: Panel) -> Self {
        Self { source: Source::Memory(panel), names_people: false }
    }
}
