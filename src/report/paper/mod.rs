//! What `paper/` is built from: every number, table and figure of its text, made from the results kept in `paper/results/`.
//!
//! | question | file |
//! |---|---|
//! | what is kept of a long run, and how is it read back? | [`Results`] |
//! | which claims, errata and proofs stand behind a label? | `labels` |
//! | which laws were measured? | `rates` |
//! | which numbers does the text name? | `numbers` |
//! | which tables and figures? | `tables`, `figures` |
//!
//! Everything here is a function of the results, so that a `paper/generated/` that is not what this module makes of `paper/results/` is stale,
//! and a test says so.

mod cells;
mod coverage;
mod figures;
mod labels;
mod noise_studies;
mod numbers;
mod rates;
mod results;
mod tables;

pub use results::{
    AdditivityRow, Measured, OptimumRow, Peer, Quartiles, Results, ResultsError, Run, read_run, refresh,
};

use crate::files::{WriteError, atomically};
use crate::reproduction::{Label, Scale, Study};
use crate::theory::theorems::Proved;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// File names and what is in them, in text order.
pub type Files = BTreeMap<String, String>;

/// What everything is made from.
struct Sources<'a> {
    results: &'a Results,
    studies: &'a [Study],
    proofs: &'a [Proved],
    /// The sizes at which `fig:sim_all` was asked for.
    scale: Scale,
}

/// Everything that the text includes: figures as SVG, tables, labels and numbers as JSON.
pub fn generate(results: &Results, studies: &[Study], proofs: &[Proved]) -> Files {
    let sources = Sources { results, studies, proofs, scale: results.scale(Label::SimAll) };
    let mut files = figures::figures(&sources);
    files.insert("tables.json".into(), pretty(&tables::tables(&sources)));
    files.insert("labels.json".into(), pretty(&labels::labels(&sources)));
    files.insert("numbers.json".into(), pretty(&numbers::numbers(&sources)));
    files
}

/// Writes the files, and removes those of an earlier time that are no longer made.
///
/// # Errors
/// [`WriteError`] with the file.
pub fn write(folder: &Path, files: &Files) -> Result<(), WriteError> {
    let told = |path: &Path| {
        let path = path.to_path_buf();
        move |source| WriteError { path, source }
    };
    fs::create_dir_all(folder).map_err(told(folder))?;
    for entry in fs::read_dir(folder).map_err(told(folder))? {
        let path = entry.map_err(told(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_file() && !files.contains_key(&name) {
            fs::remove_file(&path).map_err(told(&path))?;
        }
    }
    for (name, text) in files {
        atomically(&folder.join(name), |out| out.write_all(text.as_bytes()))?;
    }
    Ok(())
}

fn pretty(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).expect("text and lists of text") + "\n"
}
