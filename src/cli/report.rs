//! `counterfair report --paper`: the numbers, tables and figures of `paper/`.

use super::error::CliError;
use super::files::Files;
use super::output::say;
use super::studies::given;
use clap::Args;
use counterfair::report::paper::{Results, generate, read_run, refresh, write};
use counterfair::reproduction::{Context, Shard, read_results, select};
use counterfair::theory::errata::{errata, recompute};
use counterfair::theory::theorems::{Examined, examine, proofs, theorems};
use std::path::PathBuf;

/// What the user asks for.
#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// What the paper is built from: numbers, tables, figures
    #[arg(long, required = true)]
    paper: bool,
    /// Folder of the results that are kept
    #[arg(long, value_name = "DIR", default_value = "paper/results")]
    results: PathBuf,
    /// Folder for what the text includes
    #[arg(long, value_name = "DIR", default_value = "paper/generated")]
    out: PathBuf,
    /// Folder of the machine-checked proofs, for their labels
    #[arg(long, value_name = "DIR", default_value = "proofs")]
    proofs: PathBuf,
    /// File of the comparisons of speed
    #[arg(long, value_name = "FILE", default_value = "benches/peers/results.json")]
    peers: PathBuf,
    /// First take over the cells of a reproduction, from the folder it wrote; may be repeated
    #[arg(long, value_name = "DIR")]
    cells: Vec<PathBuf>,
    /// First compute verdicts, optima and tests of additivity anew (minutes)
    #[arg(long)]
    refresh: bool,
}

/// Writes the paper's inputs.
pub fn run(arguments: &Arguments) -> Result<(), CliError> {
    debug_assert!(arguments.paper, "the only report there is");
    let files = Files::default().reading("--peers", [&arguments.peers]).reading_in("--proofs", &arguments.proofs);
    let files = arguments.cells.iter().fold(files, |files, folder| files.reading_in("--cells", folder));
    files.reading_in("--results", &arguments.results).filling("--out", &arguments.out, |_| true).check_writable()?;
    let studies = given(None, None)?.studies;
    // Verdicts that are about to be made anew may be on claims that nobody makes any more.
    let read = if arguments.refresh { Results::read_all_but_verdicts } else { Results::read };
    let mut results = read(&arguments.results, &arguments.peers)?;
    let context = Context::new(studies);
    for folder in &arguments.cells {
        let contents = read_results(&folder.join(Shard::WHOLE.file_name()), &context)
            .map_err(|error| CliError::Argument(error.to_string()))?;
        let selections = select(&contents.grids, &contents.records, context.studies());
        results.take_cells(selections, read_run(&folder.join("report/manifest.json"))?.as_ref());
    }
    if arguments.refresh {
        results.examined = Examined { theorems: examine(&theorems(), |_| {}), errata: recompute(&errata()) };
        results.measured = refresh(context.studies())?;
    }
    if arguments.refresh || !arguments.cells.is_empty() {
        results.write(&arguments.results)?;
        // What was just written is what counts: digits beyond those that are kept must not reach the paper.
        results = Results::read(&arguments.results, &arguments.peers)?;
    }
    let known = proofs(&arguments.proofs)
        .map_err(|error| CliError::Argument(format!("{}: {error}", arguments.proofs.display())))?;
    let files = generate(&results, context.studies(), &known);
    write(&arguments.out, &files)?;
    Ok(say(format!("{} files in {}", files.len(), arguments.out.display()))?)
}
