//! Does cells: in parallel, resumably, a shard at a time; and joins what was done apart.

use super::journal::{self, Contents, Damage, Journal, JournalError, Lock};
use super::policies::Stages;
use super::selection::missing;
use super::{Cell, CellError, Context, Grid, Record, Shard};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// How cells are done; results are bit-identical whatever is said here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The folder of results.
    pub folder: PathBuf,
    /// Which share of the cells.
    pub shard: Shard,
    /// Whether to do only what an earlier run has not done. Without it the grid's cells are done again; results of other grids stay in the
    /// file, and a file that does not fit is set aside.
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
    /// Lines of the earlier file that were damaged: their cells were done again.
    pub damaged: Vec<Damage>,
    /// Where an earlier file is now that did not fit, and why.
    pub set_aside: Option<(PathBuf, String)>,
}

/// What a merge leaves.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// Everything that was joined.
    pub contents: Contents,
    /// Cells that are missing, when that was allowed.
    pub missing: usize,
    /// Damaged lines, by file.
    pub damaged: Vec<(PathBuf, Damage)>,
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
    /// Files of results that say neither what was asked for nor what came out.
    #[error(
        "{} has a first line and nothing after it: the run was stopped before it began, or its results are lost; run it again",
        file.display()
    )]
    NoResults {
        /// The first such file.
        file: PathBuf,
    },
    /// Shards or cells that are not there.
    #[error(
        "{missing} of {total} cells are missing ({what}; the first is {first}): run their shards again with --resume, or merge what there is \
         with --partial"
    )]
    Incomplete {
        /// Cells that are missing.
        missing: usize,
        /// Cells in all.
        total: usize,
        /// Whose they are.
        what: String,
        /// The first of them.
        first: String,
    },
}

/// Does the plan's share of a grid's cells and leaves a finished file.
///
/// # Errors
/// Any [`RunError`]. Cells that were done stay in the file, for a run that resumes.
pub fn run(
    grid: &Grid,
    context: &Context,
    plan: &Plan,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Finished, RunError> {
    let file = plan.folder.join(plan.shard.file_name());
    let _lock = Lock::take(&file)?;
    let cells = grid.cells(context.studies());
    let share = || cells.iter().enumerate().filter(|(i, _)| plan.shard.holds(*i)).map(|(_, cell)| cell);
    let (mut contents, set_aside) = earlier(&file, context, plan)?;
    if !contents.grids.contains(grid) {
        contents.grids.push(grid.clone());
    }
    let damaged = std::mem::take(&mut contents.damaged);
    journal::write(&file, &contents.header, &contents.grids, &contents.records)?;
    let journal = Journal::open(&file)?;

    // Cells of other grids may be there too; this run neither needs nor repeats them, and the file keeps them.
    let wanted: HashSet<String> = share().map(Cell::key).collect();
    let (own, others): (Vec<Record>, Vec<Record>) =
        contents.records.into_iter().partition(|record| wanted.contains(&record.cell.key()));
    let mut records = if plan.resume { own } else { Vec::new() };
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
    journal::write(&file, &contents.header, &contents.grids, records.iter().chain(&others))?;
    Ok(Finished { records, file, stages, resumed, damaged, set_aside })
}

/// What is in the file already, under a header of ours. A file that does not fit is an error for a run that resumes; otherwise it is renamed,
/// so that nothing is lost without being asked.
fn earlier(file: &Path, context: &Context, plan: &Plan) -> Result<(Contents, Option<(PathBuf, String)>), RunError> {
    let header = context.header(plan.shard);
    let fresh = Contents { header: header.clone(), grids: vec![], records: vec![], damaged: vec![] };
    if !begun(file)? {
        return Ok((fresh, None));
    }
    match read_results(file, context) {
        Ok(mut contents) => {
            contents.header.studies.extend(header.studies);
            Ok((contents, None))
        }
        Err(error) if plan.resume => Err(error.into()),
        Err(error @ (JournalError::NoHeader { .. } | JournalError::Misfit { .. })) => {
            let aside = (1..).map(|i| file.with_extension(format!("jsonl.old-{i}"))).find(|path| !path.exists());
            let aside = aside.expect("a number that is free");
            std::fs::rename(file, &aside).map_err(|source| JournalError::Io { path: file.into(), source })?;
            Ok((fresh, Some((aside, error.to_string()))))
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether there is more than the torn first line of a run that was killed at once.
fn begun(file: &Path) -> Result<bool, JournalError> {
    match std::fs::read(file) {
        Ok(text) => Ok(text.contains(&b'\n')),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(JournalError::Io { path: file.into(), source }),
    }
}

/// Reads a file whose numbers may stand beside those of this program on these studies.
///
/// # Errors
/// [`JournalError`], a misfit by what is different.
pub fn read_results(file: &Path, context: &Context) -> Result<Contents, JournalError> {
    let contents = journal::read(file)?;
    let studies = contents.records.iter().filter_map(|record| record.cell.study());
    let named = studies.chain(contents.grids.iter().flat_map(Grid::studies));
    match contents.header.fits(&context.header(Shard::WHOLE), named) {
        Ok(()) => Ok(contents),
        Err(misfit) => Err(JournalError::Misfit { path: file.into(), misfit }),
    }
}

/// Joins the files of results in some folders into `into`, in canonical order.
///
/// # Errors
/// [`RunError::NothingToMerge`]; [`RunError::NoResults`]; [`RunError::Journal`] when files contradict each other, or were made by another program or from other data;
/// [`RunError::Incomplete`] when cells that were asked for are not there, unless `partial`. Nothing is written then.
pub fn merge(folders: &[PathBuf], into: &Path, context: &Context, partial: bool) -> Result<Merged, RunError> {
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
    if files.is_empty() {
        return Err(RunError::NothingToMerge { folders: folders.to_vec() });
    }
    let header = context.header(Shard::WHOLE);
    let mut contents = Contents { header, grids: vec![], records: vec![], damaged: vec![] };
    let (mut damaged, mut shards) = (Vec::new(), Vec::new());
    for file in &files {
        let found = read_results(file, context)?;
        if found.grids.is_empty() && found.records.is_empty() {
            return Err(RunError::NoResults { file: file.clone() });
        }
        shards.push(found.header.shard);
        damaged.extend(found.damaged.into_iter().map(|damage| (file.clone(), damage)));
        for grid in found.grids {
            if !contents.grids.contains(&grid) {
                contents.grids.push(grid);
            }
        }
        journal::join(file, &mut contents.records, found.records)?;
    }
    let absent = missing(&contents.grids, &contents.records, context.studies());
    if let (Some((_, first)), false) = (absent.first(), partial) {
        return Err(RunError::Incomplete {
            missing: absent.len(),
            total: absent.len() + contents.records.len(),
            what: whose(&absent, &shards),
            first: first.key(),
        });
    }
    contents.records.sort_by_cached_key(|record| record.cell.key());
    let file = into.join(Shard::WHOLE.file_name());
    let _lock = Lock::take(&file)?;
    journal::write(&file, &contents.header, &contents.grids, &contents.records)?;
    Ok(Merged { contents, missing: absent.len(), damaged })
}

/// Missing cells by shard, where all files are shards of one n: `shard 3/3: 16`.
fn whose(absent: &[(usize, Cell)], shards: &[Shard]) -> String {
    let mut sizes: Vec<usize> = shards.iter().map(|shard| shard.of()).filter(|&of| of > 1).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let [of] = sizes[..] else { return "in files that are not shards of one run".into() };
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for (position, _) in absent {
        *counts.entry(position % of).or_default() += 1;
    }
    let each = counts.into_iter().map(|(position, count)| {
        let shard = Shard::holding(position, of);
        let known = if shards.contains(&shard) { "cut off" } else { "not there" };
        format!("shard {shard}: {count}, {known}")
    });
    each.collect::<Vec<_>>().join("; ")
}
