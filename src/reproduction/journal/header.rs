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
    /// Its format, version, numbers, or the data of one of its studies.
    #[error("its {what} is {found}, here {expected}")]
    Other {
        /// What differs.
        what: String,
        /// The file's.
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
            numbers: NUMBERS.into(),
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
        let parts = [
            ("format", &self.format, &expected.format),
            ("version", &self.version, &expected.version),
            ("numerical version", &self.numbers, &expected.numbers),
        ];
        let whole = parts.map(|(what, found, expected)| (what.to_string(), found, expected));
        let data = self.studies.iter().filter_map(|(study, found)| {
            Some((format!("data of the study `{study}`"), found, expected.studies.get(study)?))
        });
        if let Some((what, found, expected)) = whole.into_iter().chain(data).find(|(_, found, here)| found != here) {
            return Err(Misfit::Other { what, found: found.clone(), expected: expected.clone() });
        }
        let known = |name: &str| expected.studies.contains_key(name) && self.studies.contains_key(name);
        match named.into_iter().find(|name| !known(name)) {
            Some(study) => Err(Misfit::UnknownStudy(study.into())),
            None => Ok(()),
        }
    }
}
