//! A memory that survives a crash: one file, written by an embedded store (redb).
//!
//! # What is promised
//! When [`put`](MemoryStore::put) returns, what it was given is on disk: a process killed at any moment finds it again, all of it or none.
//! Whoever is forgotten leaves no trace in the file. One process at a time has it open. The file names the policy it belongs to. Opening it verifies the checksum of every page,
//! about a second per gigabyte, so that a damaged file is an error and not somebody's memory.
//!
//! redb was chosen because it is Rust alone; the version is the last that asks for no newer compiler than this crate does.

use super::memory::{MemoryError, MemoryStore, Remembered};
use super::{Request, record};
use crate::fair::Policy;
use crate::files::{end_of_links, name_aside, private, quietly};
use crate::kernel::people::Labels;
use redb::{
    Builder, Database, DatabaseError, ReadableDatabase, ReadableTable, ReadableTableMetadata, Table, TableDefinition,
    WriteTransaction,
};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};

/// id → [`record`].
const PEOPLE: TableDefinition<&str, &[u8]> = TableDefinition::new("people");

/// `about` → [`MemoryBasis`] as JSON.
const ABOUT: TableDefinition<&str, &str> = TableDefinition::new("about");

/// What the file says it is.
const FORMAT: &str = "counterfair memory";

/// The version of the format.
const VERSION: u32 = 1;

/// Decisions up to which a person's whole history is kept unless told otherwise. With p coordinates and K levels a person takes at most
/// 37 + 8p(K + H) + 4(H − 1) bytes and the id, and the store's share.
pub const HISTORY: u64 = 256;

/// Memory for pages of the file, whatever its size.
const CACHE_BYTES: usize = 128 << 20;

/// What a memory belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryBasis {
    format: String,
    version: u32,
    /// [`Policy::fingerprint`] of the policy it belongs to.
    pub policy: String,
    /// The names of the levels, in the order of the codes.
    pub levels: Labels,
    /// The names of the actions, in the order of the codes.
    pub actions: Labels,
    /// p.
    pub state_dim: usize,
    /// How many numbers the policy reads.
    pub width: usize,
    /// H: up to this many decisions a person's whole history is kept.
    pub history: u64,
}

/// A memory in a file.
///
/// # Example
/// ```
/// # use counterfair::prelude::*;
/// # use counterfair::kernel::{model::{Exogenous, simulate, worlds::Linear}, numeric::Stream};
/// # use counterfair::fair::{Deployment, HISTORY, MemoryFile};
/// # let world = Linear::new(1.0);
/// # let people = People::from(simulate(&world, &Exogenous::draw(&world, 100, 5, Stream::new(1))));
/// # let path = std::env::temp_dir().join(format!("counterfair-doc-{}.memory", std::process::id()));
/// let policy = Learner::new(Method::Ours).learn(&people)?;
/// let memory = MemoryFile::open(&path, &policy, HISTORY)?;
/// let mut desk = Deployment::with_memory(policy, memory);
/// desk.decide(&Request::first("ann", "1", [0.4]).at(1))?;
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), counterfair::fair::Error>(())
/// ```
pub struct MemoryFile {
    database: Database,
    /// The file itself, at the end of symbolic links.
    path: PathBuf,
    file: String,
    about: MemoryBasis,
}

impl MemoryFile {
    /// Opens the memory of a policy, or starts one that keeps whole histories of up to `history` decisions; an existing file keeps what
    /// it was started with.
    ///
    /// # Errors
    /// [`MemoryError`]: [`InUse`](MemoryError::InUse) when another process has it, [`OtherPolicy`](MemoryError::OtherPolicy) when it
    /// belongs to another.
    pub fn open(path: impl AsRef<Path>, policy: &Policy, history: u64) -> Result<Self, MemoryError> {
        let path = followed(path.as_ref())?;
        let about = MemoryBasis::of(policy, history);
        if !path.exists() {
            start(&path, &about)?;
        }
        let memory = Self::inspect(path)?;
        if memory.about.policy != about.policy {
            let (belongs_to, given) = (memory.about.policy, about.policy);
            return Err(MemoryError::OtherPolicy { file: memory.file, belongs_to, given });
        }
        Ok(memory)
    }

    /// Opens an existing memory, whatever policy it belongs to.
    ///
    /// # Errors
    /// [`MemoryError`].
    pub fn inspect(path: impl AsRef<Path>) -> Result<Self, MemoryError> {
        let path = path.as_ref();
        let file = path.display().to_string();
        // The store takes a page that contradicts itself for a fault of its own and panics; to us it is a damaged file.
        let opened = quietly(AssertUnwindSafe(|| -> Result<_, MemoryError> {
            let mut database = Builder::new().set_cache_size(CACHE_BYTES).open(path).map_err(|e| failed(&file, e))?;
            // `false` tells that the list of free pages was made anew. After a commit in two phases nothing is ever rolled back: pages
            // whose checksums do not fit are an error.
            database.check_integrity().map_err(|e| failed(&file, e))?;
            let about = read_about(&database, &file)?;
            Ok((database, about))
        }));
        let (database, about) =
            opened.unwrap_or_else(|_| Err(damaged(&file, "its pages", "they contradict each other")))?;
        Ok(Self { database, path: followed(path)?, file, about })
    }

    /// What it belongs to.
    pub fn about(&self) -> &MemoryBasis {
        &self.about
    }

    /// What was asked about a person, the first request first; `None` when their history is longer than what is kept.
    pub fn requests(&self, id: &str, person: &Remembered) -> Option<Vec<Request>> {
        let MemoryBasis { levels, actions, state_dim, .. } = &self.about;
        let taken = std::iter::once(None).chain(person.actions.iter().map(|&a| Some(actions.name(a as usize).into())));
        let asked = person.states.chunks_exact(*state_dim).zip(taken).zip(1..).map(|((state, action), time)| Request {
            action,
            ..Request::first(id, levels.name(person.level as usize), state).at(time)
        });
        person.is_complete(*state_dim).then(|| asked.collect())
    }

    /// Writes the memory anew without some people, so that the file holds no trace of them, and puts it in the old one's place with the old
    /// one's mode. Rewriting takes as long as copying the file; forgetting is rare.
    fn rewrite(&self, people: &HashMap<String, Option<Remembered>>) -> Result<Database, MemoryError> {
        let fresh = beside(&self.path)?;
        let file = fresh.display().to_string();
        let rewritten = (|| {
            let mut database = create(&fresh, &self.about)?;
            // Before anybody is in it.
            let old = std::fs::metadata(&self.path).map_err(|e| io(&file, e))?;
            std::fs::set_permissions(&fresh, old.permissions()).map_err(|e| io(&file, e))?;
            let write = begin(&database, &file)?;
            {
                let mut table = write.open_table(PEOPLE).map_err(|e| io(&file, e))?;
                self.visit(&mut |id, person| match people.contains_key(id) {
                    true => Ok(()),
                    false => insert(&mut table, id, &person, &file),
                })?;
                change(&mut table, people, &file)?;
            }
            write.commit().map_err(|e| io(&file, e))?;
            database.compact().map_err(|e| io(&file, e))?;
            std::fs::rename(&fresh, &self.path).map_err(|e| io(&file, e))?;
            sync_folder(&self.path)?;
            Ok(database)
        })();
        if rewritten.is_err() {
            let _ = std::fs::remove_file(&fresh);
        }
        rewritten
    }
}

/// Remembers and forgets people.
fn change(
    table: &mut Table<'_, &str, &[u8]>,
    people: &HashMap<String, Option<Remembered>>,
    file: &str,
) -> Result<(), MemoryError> {
    // In the order of ids, so that what a commit does to the file does not depend on the order within a map.
    let mut ordered: Vec<_> = people.iter().collect();
    ordered.sort_unstable_by_key(|(id, _)| *id);
    ordered.into_iter().try_for_each(|(id, person)| match person {
        Some(person) => insert(table, id, person, file),
        None => table.remove(id.as_str()).map(drop).map_err(|e| io(file, e)),
    })
}

fn insert(table: &mut Table<'_, &str, &[u8]>, id: &str, person: &Remembered, file: &str) -> Result<(), MemoryError> {
    let mut bytes = Vec::new();
    record::encode(id, person, &mut bytes);
    table.insert(id, bytes.as_slice()).map(drop).map_err(|e| io(file, e))
}

impl MemoryBasis {
    fn of(policy: &Policy, history: u64) -> Self {
        Self {
            format: FORMAT.into(),
            version: VERSION,
            policy: policy.fingerprint(),
            levels: policy.levels.clone(),
            actions: policy.actions.clone(),
            state_dim: policy.state_dim,
            width: policy.q.inputs(),
            history,
        }
    }
}

impl MemoryStore for MemoryFile {
    fn get(&self, id: &str) -> Result<Option<Remembered>, MemoryError> {
        let read = self.database.begin_read().map_err(|e| io(&self.file, e))?;
        let table = read.open_table(PEOPLE).map_err(|e| io(&self.file, e))?;
        let found = table.get(id).map_err(|e| io(&self.file, e))?;
        found.map(|bytes| self.decode(id, bytes.value())).transpose()
    }

    fn put(&mut self, people: &HashMap<String, Option<Remembered>>) -> Result<(), MemoryError> {
        if people.values().any(Option::is_none) {
            self.database = self.rewrite(people)?;
            return Ok(());
        }
        let write = begin(&self.database, &self.file)?;
        change(&mut write.open_table(PEOPLE).map_err(|e| io(&self.file, e))?, people, &self.file)?;
        write.commit().map_err(|e| io(&self.file, e))
    }

    fn visit(&self, visit: &mut dyn FnMut(&str, Remembered) -> Result<(), MemoryError>) -> Result<(), MemoryError> {
        let read = self.database.begin_read().map_err(|e| io(&self.file, e))?;
        let table = read.open_table(PEOPLE).map_err(|e| io(&self.file, e))?;
        for entry in table.iter().map_err(|e| io(&self.file, e))? {
            let (id, bytes) = entry.map_err(|e| io(&self.file, e))?;
            visit(id.value(), self.decode(id.value(), bytes.value())?)?;
        }
        Ok(())
    }

    fn people(&self) -> Result<u64, MemoryError> {
        let read = self.database.begin_read().map_err(|e| io(&self.file, e))?;
        read.open_table(PEOPLE).map_err(|e| io(&self.file, e))?.len().map_err(|e| io(&self.file, e))
    }

    fn history(&self) -> u64 {
        self.about.history
    }
}

impl MemoryFile {
    /// A record whose parts fit the policy that the file belongs to.
    fn decode(&self, id: &str, bytes: &[u8]) -> Result<Remembered, MemoryError> {
        let person = record::decode(id, bytes, &self.file)?;
        let MemoryBasis { levels, actions, state_dim, width, .. } = &self.about;
        let fits = (person.level as usize) < levels.len()
            && person.actions.iter().chain([&person.decided]).all(|&a| (a as usize) < actions.len())
            && person.view.len() == *width
            && !person.states.is_empty()
            && person.states.len().is_multiple_of(*state_dim);
        if fits { Ok(person) } else { Err(damaged(&self.file, "the record of a person", "its parts do not fit")) }
    }
}

/// Starts a memory, whole or not at all: it is made beside, and linked to its name once it is complete.
fn start(path: &Path, about: &MemoryBasis) -> Result<(), MemoryError> {
    let fresh = beside(path)?;
    let file = path.display().to_string();
    let linked = create(&fresh, about).and_then(|database| {
        drop(database);
        match std::fs::hard_link(&fresh, path) {
            Ok(()) => sync_folder(path),
            // Another process was faster: theirs is opened, if they let us.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(io(&file, error)),
        }
    });
    let _ = std::fs::remove_file(&fresh);
    linked
}

/// An empty memory.
fn create(path: &Path, about: &MemoryBasis) -> Result<Database, MemoryError> {
    let file = path.display().to_string();
    let _ = std::fs::remove_file(path);
    // The store fills an empty file, and keeps the mode that it has: nobody but its owner reads what is remembered of people.
    private().write(true).create_new(true).open(path).map_err(|e| io(&file, e))?;
    let database = Builder::new().set_cache_size(CACHE_BYTES).create(path).map_err(|e| failed(&file, e))?;
    let write = begin(&database, &file)?;
    {
        let text = serde_json::to_string(about).expect("names and numbers");
        write.open_table(PEOPLE).map_err(|e| io(&file, e))?;
        let mut table = write.open_table(ABOUT).map_err(|e| io(&file, e))?;
        table.insert("about", text.as_str()).map_err(|e| io(&file, e))?;
    }
    write.commit().map_err(|e| io(&file, e))?;
    Ok(database)
}

/// A commit in two phases: the new pages are on disk before the file's head points to them, so that whatever the head points to and does
/// not fit its checksum is damage, and not a commit that a crash cut short.
fn begin(database: &Database, file: &str) -> Result<WriteTransaction, MemoryError> {
    let mut write = database.begin_write().map_err(|e| io(file, e))?;
    write.set_two_phase_commit(true);
    Ok(write)
}

fn read_about(database: &Database, file: &str) -> Result<MemoryBasis, MemoryError> {
    let not = |problem: String| MemoryError::NotAMemory { file: file.into(), problem };
    let read = database.begin_read().map_err(|e| io(file, e))?;
    let table = read.open_table(ABOUT).map_err(|e| not(e.to_string()))?;
    let text = table.get("about").map_err(|e| io(file, e))?.ok_or_else(|| not("it does not say what it is".into()))?;
    let about: MemoryBasis = serde_json::from_str(text.value()).map_err(|e| not(e.to_string()))?;
    if (about.format.as_str(), about.version) != (FORMAT, VERSION) {
        return Err(not(format!(
            "format {:?}, version {}; this build reads version {VERSION}",
            about.format, about.version
        )));
    }
    if about.state_dim == 0 {
        return Err(not("it is about states of 0 numbers".into()));
    }
    read.open_table(PEOPLE).map_err(|e| not(e.to_string()))?;
    Ok(about)
}

/// A name beside a file that no other process uses; what a killed process has left there is removed.
fn beside(path: &Path) -> Result<PathBuf, MemoryError> {
    name_aside(path).map_err(|error| io(&path.display().to_string(), error))
}

/// The file that a path means, at the end of symbolic links: what is put in a link's place would leave the file itself as it was.
fn followed(path: &Path) -> Result<PathBuf, MemoryError> {
    end_of_links(path).map_err(|error| io(&path.display().to_string(), error))
}

/// Makes a new name in a folder survive a loss of power.
fn sync_folder(path: &Path) -> Result<(), MemoryError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Some systems cannot open a folder; there the name is the system's care.
    std::fs::File::open(folder).and_then(|folder| folder.sync_all()).or(Ok(()))
}

fn io(file: &str, error: impl std::fmt::Display) -> MemoryError {
    MemoryError::Io { file: file.into(), problem: error.to_string() }
}

fn damaged(file: &str, what: &str, problem: &str) -> MemoryError {
    MemoryError::Damaged { file: file.into(), what: what.into(), problem: problem.into() }
}

fn failed(file: &str, error: DatabaseError) -> MemoryError {
    match error {
        DatabaseError::DatabaseAlreadyOpen => MemoryError::InUse { file: file.into() },
        DatabaseError::Storage(redb::StorageError::Corrupted(problem)) => damaged(file, "its pages", &problem),
        other => io(file, other),
    }
}

#[cfg(test)]
mod tests;
