//! What every line of a file depends on and no cell says.

use crate::reproduction::fingerprint::NUMBERS;
use crate::reproduction::{Shard, Study};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const FORMAT: &str = "counterfair cells 2";

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// What kind of file this is.
    pub format: String,
    /// The version of the program whose numbers these are.
    pub version: String,
    /// Its numerical version, which changes when a published digit does.
    pub numbers: String,
    /// The share of the cells that the file is for.
    pub shard: Shard,
    /// The studies that cells may name, each with a fingerprint of its data.
    pub studies: BTreeMap<String, String>,
}

/// What is different about a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// Another kind of file.
    #[error("its format is \"{0}\", not \"{FORMAT}\"")]
    Format(String),
    /// Another version.
    #[error("it was made by version {found}, this is version {expected}")]
    Version {
        /// The file's.
        found: String,
        /// Ours.
        expected: String,
    },
    /// The same version, but a build with other numbers.
    #[error("it was made by a build with other numbers ({found}, this one has {expected})")]
    Numbers {
        /// The file's.
        found: String,
        /// Ours.
        expected: String,
    },
    /// Another study under the same name.
    #[error("its study `{study}` has other data (fingerprint {found}, here {expected})")]
    Data {
        /// The study.
        study: String,
        /// The file's fingerprint.
        found: String,
        /// Ours.
        expected: String,
    },
    /// A study that is not there.
    #[error("it speaks of the study `{0}`, which is not here: name its file (--data, --star)")]
    UnknownStudy(String),
}

impl Header {
    /// The header of files that this program writes about these studies.
    pub fn new(studies: &[Study], shard: Shard) -> Self {
        Self {
            format: FORMAT.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            numbers: NUMBERS.text(),
            shard,
            studies: studies.iter().map(|s| (s.name().to_string(), s.fingerprint())).collect(),
        }
    }

    /// Whether the numbers of a file with this header may stand beside those of `expected`; `named` are the studies that its cells and
    /// grids speak of.
    ///
    /// # Errors
    /// [`Misfit`].
    pub fn fits<'a>(&self, expected: &Self, named: impl IntoIterator<Item = &'a str>) -> Result<(), Misfit> {
        if self.format != expected.format {
            return Err(Misfit::Format(self.format.clone()));
        }
        let (found, here) = (self.version.clone(), expected.version.clone());
        if found != here {
            return Err(Misfit::Version { found, expected: here });
        }
        let (found, here) = (self.numbers.clone(), expected.numbers.clone());
        if found != here {
            return Err(Misfit::Numbers { found, expected: here });
        }
        for (study, found) in &self.studies {
            if let Some(here) = expected.studies.get(study).filter(|here| *here != found) {
                return Err(Misfit::Data { study: study.clone(), found: found.clone(), expected: here.clone() });
            }
        }
        let known = |name: &str| expected.studies.contains_key(name) && self.studies.contains_key(name);
        match named.into_iter().find(|name| !known(name)) {
            Some(study) => Err(Misfit::UnknownStudy(study.into())),
            None => Ok(()),
        }
    }
}
