//! What is remembered of each person between two decisions, and where.

use super::record;
use std::collections::HashMap;

/// All that is remembered of a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Remembered {
    /// The code of their level.
    pub level: u32,
    /// How many decisions were taken about them.
    pub decisions: u64,
    /// The code of the last decision.
    pub decided: u32,
    /// What the policy read last: [ŝ¹, …, ŝᴷ] for Ours.
    pub view: Vec<f64>,
    /// Observed states, p numbers each, the last one last: s₁ … sₜ, or only sₜ once t exceeds what the store keeps.
    pub states: Vec<f64>,
    /// Codes of the actions taken between those states: a₁ … aₜ₋₁, or only aₜ₋₁.
    pub actions: Vec<u32>,
}

impl Remembered {
    /// sₜ.
    pub fn state(&self, state_dim: usize) -> &[f64] {
        &self.states[self.states.len() - state_dim..]
    }

    /// Whether all of the history is here, so that another mechanism can replay it.
    pub fn is_complete(&self, state_dim: usize) -> bool {
        let states = (self.states.len() / state_dim) as u64;
        states == self.decisions && self.actions.len() as u64 + 1 == self.decisions
    }
}

/// A place for what is remembered. [`InProcess`] forgets all when the process ends; a
/// [`MemoryFile`](super::MemoryFile) (feature `durable`) survives a crash.
pub trait MemoryStore: Send {
    /// What is remembered of a person.
    ///
    /// # Errors
    /// [`MemoryError`].
    fn get(&self, id: &str) -> Result<Option<Remembered>, MemoryError>;

    /// Remembers people, or forgets them (`None`): all or nothing. A durable store has it on disk when this returns.
    ///
    /// # Errors
    /// [`MemoryError`]; then nothing was changed.
    fn put(&mut self, people: &HashMap<String, Option<Remembered>>) -> Result<(), MemoryError>;

    /// Shows everybody to `visit`, in the order of ids.
    ///
    /// # Errors
    /// [`MemoryError`], its own or the visitor's.
    fn visit(&self, visit: &mut dyn FnMut(&str, Remembered) -> Result<(), MemoryError>) -> Result<(), MemoryError>;

    /// How many people are remembered.
    ///
    /// # Errors
    /// [`MemoryError`].
    fn people(&self) -> Result<u64, MemoryError>;

    /// H: up to this many decisions a person's whole history is kept.
    fn history(&self) -> u64;
}

/// Why a memory cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// The file cannot be opened, read or written.
    #[error("{file}: {problem}")]
    Io {
        /// The file.
        file: String,
        /// What the system or the store says.
        problem: String,
    },
    /// Another process has it open.
    #[error("{file} is in use by another process; one process at a time may open a memory")]
    InUse {
        /// The file.
        file: String,
    },
    /// Not a memory, or one of another version.
    #[error("{file} is not a counterfair memory: {problem}")]
    NotAMemory {
        /// The file.
        file: String,
        /// What is wrong.
        problem: String,
    },
    /// It belongs to another policy.
    #[error(
        "{file} belongs to policy {belongs_to:.16}…, not to {given:.16}…; `counterfair migrate` moves a memory to another policy"
    )]
    OtherPolicy {
        /// The file.
        file: String,
        /// The fingerprint in the file.
        belongs_to: String,
        /// The fingerprint of the policy given.
        given: String,
    },
    /// Bytes that were not written by this program.
    #[error("{file} is damaged at {what}: {problem}")]
    Damaged {
        /// The file.
        file: String,
        /// Whose record, or which part.
        what: String,
        /// What is wrong.
        problem: String,
    },
    /// People whom another policy cannot take over.
    #[error("{} people cannot be replayed, the first because {problem}", others + 1)]
    Unreplayable {
        /// The first of them.
        id: String,
        /// Why.
        problem: String,
        /// How many more there are.
        others: usize,
    },
}

/// Memory of the process: nothing of it is written anywhere.
///
/// A person costs 41 bytes, the id, 8 bytes per number that the policy reads and per state coordinate, and the map's share.
#[derive(Debug, Default)]
pub struct InProcess {
    people: HashMap<Box<str>, Box<[u8]>>,
}

impl InProcess {
    const NAME: &str = "the memory of this process";
}

impl MemoryStore for InProcess {
    fn get(&self, id: &str) -> Result<Option<Remembered>, MemoryError> {
        self.people.get(id).map(|bytes| record::decode(id, bytes, Self::NAME)).transpose()
    }

    fn put(&mut self, people: &HashMap<String, Option<Remembered>>) -> Result<(), MemoryError> {
        for (id, person) in people {
            match person {
                Some(person) => {
                    let mut bytes = Vec::new();
                    record::encode(id, person, &mut bytes);
                    self.people.insert(id.as_str().into(), bytes.into());
                }
                None => {
                    self.people.remove(id.as_str());
                }
            }
        }
        Ok(())
    }

    fn visit(&self, visit: &mut dyn FnMut(&str, Remembered) -> Result<(), MemoryError>) -> Result<(), MemoryError> {
        let mut ids: Vec<&str> = self.people.keys().map(AsRef::as_ref).collect();
        ids.sort_unstable();
        ids.into_iter().try_for_each(|id| visit(id, record::decode(id, &self.people[id], Self::NAME)?))
    }

    fn people(&self) -> Result<u64, MemoryError> {
        Ok(self.people.len() as u64)
    }

    /// Only the last state: a process that ends cannot be migrated.
    fn history(&self) -> u64 {
        1
    }
}
