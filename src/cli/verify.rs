//! `counterfair verify`: the table of claims and verdicts.

use clap::{Args, ValueEnum};
use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{ContentArrangement, Table};
use counterfair::verify::{Budget, Row, run as examine_all};
use std::process::ExitCode;

/// What the user asks for.
#[derive(Debug, Clone, Args)]
pub struct VerifyArgs {
    /// How long to search
    #[arg(long, value_enum, default_value_t = BudgetName::Quick)]
    pub budget: BudgetName,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
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

/// Examines all claims and prints them; fails when a verdict is not the expected one.
pub fn run(args: &VerifyArgs) -> ExitCode {
    let progress = indicatif::ProgressBar::new(counterfair::verify::claims().len() as u64);
    let rows = examine_all(args.budget.into(), |row| {
        progress.set_message(row.claim.label);
        progress.inc(1);
    });
    progress.finish_and_clear();
    if args.json {
        println!("{}", serde_json::to_string_pretty(&rows).expect("rows hold numbers and text only"));
    } else {
        println!("{}", table(&rows));
    }
    let surprises = rows.iter().filter(|row| !row.as_expected).count();
    if surprises > 0 {
        eprintln!("{surprises} of {} claims did not come back as expected", rows.len());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// The rows as a reader wants them: what is claimed, what was found, and whether the control turned.
fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(["label", "form", "claim", "assumes", "verdict", "found", "control", "seconds"]);
    for row in rows {
        let claim = &row.claim;
        let surprise = if row.as_expected { "" } else { " (!)" };
        table.add_row([
            claim.label.to_string(),
            format!("{:?}", claim.form).to_lowercase(),
            claim.statement.to_string(),
            claim.assumes.join("; "),
            format!("{}{surprise}", row.verdict.word()),
            row.verdict.detail(),
            row.control.word().to_string(),
            format!("{:.1}", row.seconds),
        ]);
    }
    table
}
