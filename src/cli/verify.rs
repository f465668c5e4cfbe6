//! `counterfair verify`: the table of theorems, and the errata with their witnesses.

use super::error::CliError;
use super::files::Files;
use super::output::{command_line, note, say};
use clap::Args;
use counterfair::report::{Manifest, Report, theorems as section};
use counterfair::theory::errata::{ErratumRow, errata, recompute};
use counterfair::theory::theorems::{Beside, Examined, examine, proved, read, surprises, table, theorems};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// What the user asks for.
#[derive(Debug, Clone, Args)]
pub struct VerifyArgs {
    /// Print every row: the lemmas too, and each erratum with its witness
    #[arg(long)]
    pub all: bool,
    /// Print JSON instead of a table: every field of every claim and erratum, the document's words among them
    #[arg(long, conflicts_with = "all")]
    pub json: bool,
    /// Folder for a report with every row and a chart of every slope
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Examine nothing: judge and show what an earlier run printed with --json
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
}

/// Examines all claims and errata, or reads an earlier run's, and shows them; the code is 1 when one of them is not as expected.
///
/// # Errors
/// A file that cannot be read or written.
pub fn run(args: &VerifyArgs) -> Result<ExitCode, CliError> {
    let start = Instant::now();
    let files = Files::default().reading("--from", &args.from);
    args.out.iter().fold(files, |files, folder| files.filling("--out", folder, |_| true)).check_writable()?;
    let examined = match &args.from {
        None => everything(),
        Some(path) => {
            let file = path.display().to_string();
            let text = std::fs::read_to_string(path).map_err(|source| CliError::Read { file: file.clone(), source })?;
            read(&text).map_err(|source| CliError::Rows { file, source })?
        }
    };
    let shown = if args.json {
        serde_json::to_string_pretty(&examined).expect("rows hold numbers and text only")
    } else {
        let beside = Beside { errata: &examined.errata, proved: proved(Path::new(PROOFS)) };
        table(&examined.theorems, beside, args.all)
    };
    if let Some(folder) = &args.out {
        let threads = rayon::current_num_threads();
        let manifest = Manifest::of_command(env!("CARGO_PKG_VERSION"), command_line(), threads);
        let report = Report {
            manifest: manifest.measured(start.elapsed(), Default::default()),
            sections: vec![section(&examined)],
        };
        note(format!("report: {}", report.write(folder)?.display()));
    }
    say(shown)?;
    let claims = surprises(&examined.theorems);
    let witnesses = examined.errata.iter().filter(|row| !row.as_expected()).count();
    if claims + witnesses > 0 {
        let (rows, errata) = (examined.theorems.len(), examined.errata.len());
        note(format!("{claims} of {rows} claims and {witnesses} of {errata} errata are not as expected"));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Where a checkout has its proofs; where there are none, the table does not count them.
const PROOFS: &str = "proofs";

/// All claims and errata, with a bar.
fn everything() -> Examined {
    let claims = theorems();
    let progress = indicatif::ProgressBar::new(claims.len() as u64);
    let rows = examine(&claims, |row| {
        progress.set_message(row.claim.label);
        progress.inc(1);
    });
    progress.finish_and_clear();
    let errata: Vec<ErratumRow> = recompute(&errata());
    Examined { theorems: rows, errata }
}
