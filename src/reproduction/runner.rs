//! Does cells: in parallel, resumably, a shard at a time.

use super::journal::{Header, Journal, JournalError, finish, join, read, read_header};
use super::policies::Stages;
use super::{Cell, CellError, Context, Record, Shard};
use rayon::prelude::*;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// How cells are done; nothing here changes a digit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The folder of results.
    pub folder: PathBuf,
    /// Which share of the cells.
    pub shard: Shard,
    /// Whether to keep what an earlier run has done.
    pub resume: bool,
    /// Threads; `None` for as many as there are cores.
    pub threads: Option<usize>,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Cells done, with those of earlier runs.
    pub done: usize,
    /// Of these, done by earlier runs.
    pub resumed: usize,
    /// Cells in all.
    pub total: usize,
}

/// What a run leaves.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// The results, in canonical order.
    pub records: Vec<Record>,
    /// The file they are in.
    pub file: PathBuf,
    /// Where the time of all threads went, in the cells of this run.
    pub stages: Stages,
    /// Cells that an earlier run had done.
    pub resumed: usize,
}

/// Why cells could not be done.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The file of results.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A cell that cannot be done.
    #[error(transparent)]
    Cell(#[from] CellError),
    /// Threads could not be started.
    #[error("{threads} threads could not be started: {reason}")]
    Threads {
        /// Threads asked for.
        threads: usize,
        /// What the system said.
        reason: String,
    },
    /// Folders without results.
    #[error("no file of results (cells*.jsonl) in {}", folders.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(", "))]
    NothingToMerge {
        /// The folders.
        folders: Vec<PathBuf>,
    },
}

/// Does the plan's share of `cells`, which are in canonical order, and leaves a finished file.
///
/// # Errors
/// Any [`RunError`]. Cells that were done stay in the file, for a run that resumes.
pub fn run(
    cells: &[Cell],
    context: &Context,
    plan: &Plan,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Finished, RunError> {
    let file = plan.folder.join(plan.shard.file_name());
    let header = context.header();
    let share = || cells.iter().enumerate().filter(|(i, _)| plan.shard.holds(*i)).map(|(_, cell)| cell);
    let (journal, earlier) =
        if plan.resume { Journal::resume(&file, &header)? } else { (Journal::create(&file, &header)?, Vec::new()) };
    // Cells of another grid may be there too; this run neither needs nor repeats them, and the file keeps them.
    let wanted: HashSet<String> = share().map(Cell::key).collect();
    let (mut records, others): (Vec<Record>, Vec<Record>) =
        earlier.into_iter().partition(|record| wanted.contains(&record.cell.key()));
    let known: HashSet<String> = records.iter().map(|record| record.cell.key()).collect();
    let left: Vec<&Cell> = share().filter(|cell| !known.contains(&cell.key())).collect();
    let (resumed, total) = (records.len(), records.len() + left.len());
    progress(Progress { done: resumed, resumed, total });

    let shared = Mutex::new((journal, Vec::with_capacity(left.len()), Stages::default()));
    let work = || {
        context.prepare(&left)?;
        // One cell at a time: a chunk of cells is as good as lost when the run is killed.
        left.par_iter().with_max_len(1).try_for_each(|cell| -> Result<(), RunError> {
            let (record, stages) = context.run(cell)?;
            let mut shared = shared.lock().expect("no thread panics while it holds the journal");
            let (journal, done, spent) = &mut *shared;
            journal.append(&record)?;
            done.push(record);
            *spent += stages;
            progress(Progress { done: resumed + done.len(), resumed, total });
            Ok(())
        })
    };
    match plan.threads {
        None => work()?,
        Some(threads) => rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|e| RunError::Threads { threads, reason: e.to_string() })?
            .install(work)?,
    }
    let (journal, done, stages) = shared.into_inner().expect("all threads have returned");
    drop(journal);
    records.extend(done);
    records.sort_by_cached_key(|record| record.cell.key());
    finish(&file, &header, records.iter().chain(&others))?;
    Ok(Finished { records, file, stages, resumed })
}

/// Joins the files of results in some folders into `into`, in canonical order.
///
/// # Errors
/// [`RunError::NothingToMerge`], and [`RunError::Journal`] when files contradict each other or were made by different programs.
pub fn merge(folders: &[PathBuf], into: &Path) -> Result<(Header, Vec<Record>), RunError> {
    let mut files = Vec::new();
    for folder in folders {
        let io = |source| JournalError::Io { path: folder.clone(), source };
        for entry in std::fs::read_dir(folder).map_err(io)? {
            let path = entry.map_err(io)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // A merged file among the shards may be older than they are; it joins like any other, and must say the same.
            if name.starts_with("cells") && name.ends_with(".jsonl") {
                files.push(path);
            }
        }
    }
    files.sort();
    let Some(first) = files.first() else {
        return Err(RunError::NothingToMerge { folders: folders.to_vec() });
    };
    let header = read_header(first)?;
    let mut records = Vec::new();
    for file in &files {
        join(file, &mut records, read(file, &header)?)?;
    }
    records.sort_by_cached_key(|record| record.cell.key());
    finish(&into.join(Shard::WHOLE.file_name()), &header, &records)?;
    Ok((header, records))
}
