//! What cells refer to by name: the studies.

use super::journal::Header;
use super::policies::Stages;
use super::{Cell, MethodResult, Record, Study};

/// The studies that cells may name.
#[derive(Debug, Clone, Default)]
pub struct Context {
    studies: Vec<Study>,
}

/// A cell names what is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownName {
    /// No such study.
    #[error("there is no study `{0}`")]
    Study(String),
    /// No such attribute.
    #[error("study `{study}` has no attribute `{attribute}`")]
    Attribute {
        /// The study.
        study: String,
        /// The attribute asked for.
        attribute: String,
    },
}

impl Context {
    /// These studies.
    pub fn new(studies: Vec<Study>) -> Self {
        Self { studies }
    }

    /// All studies.
    pub fn studies(&self) -> &[Study] {
        &self.studies
    }

    /// A study by its name.
    ///
    /// # Errors
    /// [`UnknownName::Study`].
    pub fn study(&self, name: &str) -> Result<&Study, UnknownName> {
        self.studies.iter().find(|s| s.name() == name).ok_or_else(|| UnknownName::Study(name.into()))
    }

    /// The header of files of results made with these studies.
    pub fn header(&self) -> Header {
        Header::new(self.studies.iter().map(|s| (s.name().into(), s.fingerprint())).collect())
    }

    /// Does a cell.
    ///
    /// # Errors
    /// [`UnknownName`].
    pub fn run(&self, cell: &Cell) -> Result<(Record, Stages), UnknownName> {
        let (results, stages): (Vec<MethodResult>, Stages) = match cell {
            Cell::Synthetic(synthetic) => synthetic.run(),
            Cell::SemiSynthetic(_) | Cell::Split(_) => unimplemented!(),
        };
        Ok((Record { cell: cell.clone(), results }, stages))
    }
}
