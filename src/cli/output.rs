//! Tables, progress and the shared summary of a fitted mechanism.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Table};
use counterfair::fair::People;
use counterfair::kernel::model::fitted::{Fitted, FittedNoise, NoiseReport};
use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// Runs work in stages, with a spinner beside the name of the present one; nothing is drawn where standard error is not a terminal.
pub fn stages<R>(work: impl FnOnce(&mut dyn FnMut(&str)) -> R) -> R {
    let style =
        ProgressStyle::with_template("{spinner} {msg} {elapsed}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    let spinner = ProgressBar::new_spinner().with_style(style);
    spinner.enable_steady_tick(Duration::from_millis(120));
    let result = work(&mut |name| {
        spinner.reset_elapsed();
        spinner.set_message(name.to_string());
    });
    spinner.finish_and_clear();
    result
}

/// One stage.
pub fn stage<R>(name: &str, work: impl FnOnce() -> R) -> R {
    stages(|watch| {
        watch(name);
        work()
    })
}

/// Warnings, one line each, where they do not mix with results.
pub fn warn(lines: &[String]) {
    for line in lines {
        eprintln!("warning: {line}");
    }
}

/// A table with a header; every column but the first is right-aligned.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(header.to_vec());
    for row in rows {
        table.add_row(row);
    }
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_cell_alignment(if i == 0 { CellAlignment::Left } else { CellAlignment::Right });
    }
    table
}

/// Which noise model each output has and why, where it was looked at.
pub fn noise_report(fitted: &Fitted) -> Option<&NoiseReport> {
    fitted.fitted_noise().map(FittedNoise::report)
}

/// The same, one line per output.
pub fn say_noise(fitted: &Fitted) {
    if let Some(report) = noise_report(fitted) {
        println!("{report}");
    }
}

/// Size of a panel and of the mechanism fitted to it.
pub fn mechanism_table(fitted: &Fitted, people: &People) -> Table {
    let panel = people.panel();
    let mut header = vec!["level".to_string(), "rows".into(), "columns".into(), "rank".into(), "free".into()];
    header.extend(people.state_names().iter().map(|name| format!("residual sd {name}")));
    header.push("residual sd reward".into());
    let rows = fitted.reports().iter().map(|report| {
        let name = report.level.map_or_else(|| "(all)".to_string(), |k| panel.levels().name(k).to_string());
        let mut row = vec![name, report.rows.to_string(), report.columns.to_string(), report.rank.to_string()];
        row.push(report.degrees.iter().map(|d| format!("{d:.1}")).collect::<Vec<_>>().join(" "));
        row.extend(report.residual_sd.iter().map(|sd| format!("{sd:.4}")));
        row
    });
    table(&header.iter().map(String::as_str).collect::<Vec<_>>(), rows)
}
