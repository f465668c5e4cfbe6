//! `counterfair verify`: the table of claims and verdicts.

use super::error::CliError;
use super::files::Files;
use super::output::{command_line, note, say};
use clap::{Args, ValueEnum};
use counterfair::report::{Manifest, Report, claims as section, claims_listing};
use counterfair::theory::{Budget, Row, claims, examine, read_rows, surprises};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// What the user asks for.
#[derive(Debug, Clone, Args)]
pub struct VerifyArgs {
    /// How long to search
    #[arg(long, value_enum, default_value_t = BudgetName::Quick)]
    pub budget: BudgetName,
    /// Print JSON instead of a table: every field of every claim, the document's words and the control's witness among them
    #[arg(long)]
    pub json: bool,
    /// Folder for a report with every verdict and a chart of every rate
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Examine nothing: judge and show what an earlier run printed with --json
    #[arg(long, value_name = "FILE", conflicts_with = "budget")]
    pub from: Option<PathBuf>,
}

/// The budgets by the names the command line has for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BudgetName {
    /// A minute or two
    Quick,
    /// An evening
    Full,
}

impl From<BudgetName> for Budget {
    fn from(name: BudgetName) -> Self {
        match name {
            BudgetName::Quick => Self::Quick,
            BudgetName::Full => Self::Full,
        }
    }
}

/// Examines all claims, or reads an earlier run's, and shows them; the code is 1 when a verdict is not the expected one.
///
/// # Errors
/// A file that cannot be read or written.
pub fn run(args: &VerifyArgs) -> Result<ExitCode, CliError> {
    let start = Instant::now();
    let files = Files::default().reading("--from", &args.from);
    args.out.iter().fold(files, |files, folder| files.filling("--out", folder, |_| true)).check_writable()?;
    let budget = Budget::from(args.budget);
    let rows = match &args.from {
        None => examined(budget),
        Some(path) => {
            let file = path.display().to_string();
            let text = std::fs::read_to_string(path).map_err(|source| CliError::Read { file: file.clone(), source })?;
            read_rows(&text).map_err(|source| CliError::Rows { file, source })?
        }
    };
    let shown = if args.json {
        serde_json::to_string_pretty(&rows).expect("rows hold numbers and text only")
    } else {
        claims_listing(&rows)
    };
    if let Some(folder) = &args.out {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let manifest = Manifest::of_command(env!("CARGO_PKG_VERSION"), command_line(), threads);
        let left_out = claims().len() - rows.len().min(claims().len());
        let report = Report {
            manifest: manifest.measured(start.elapsed(), Default::default()),
            sections: vec![section(&rows, budget, left_out)],
        };
        note(format!("report: {}", report.write(folder)?.display()));
    }
    say(shown)?;
    let unexpected = surprises(&rows);
    if unexpected > 0 {
        note(format!("{unexpected} of {} claims did not come back as expected", rows.len()));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// All claims, with a bar.
fn examined(budget: Budget) -> Vec<Row> {
    let all = claims();
    let progress = indicatif::ProgressBar::new(all.len() as u64);
    let rows = examine(&all, budget, |row| {
        progress.set_message(row.claim.label);
        progress.inc(1);
    });
    progress.finish_and_clear();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_called_what_they_are() {
        assert_eq!(BudgetName::from_str("full", false).map(Budget::from), Ok(Budget::Full));
        assert_eq!(BudgetName::from_str("quick", false).map(Budget::from), Ok(Budget::Quick));
    }
}
