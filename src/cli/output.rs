//! Tables, progress and the shared summary of a fitted mechanism.

use counterfair::fair::People;
use counterfair::kernel::model::fitted::{Fitted, FittedNoise, NoiseReport};
use counterfair::report::Table;
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Display;
use std::io::{self, Write};
use std::time::Duration;

/// Prints a result: the one way to standard output. A reader that went away or a full disk is an error that the caller passes on, never a
/// panic; so save first, then print.
///
/// # Errors
/// What the system said.
pub fn say(text: impl Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")
        .and_then(|()| out.flush())
        .map_err(|error| io::Error::new(error.kind(), format!("standard output: {error}")))
}

/// Prints a remark to standard error; where nobody listens, nobody is told.
pub fn note(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// The command as it was given; what is not Unicode is shown as �.
pub fn command_line() -> String {
    let given = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    std::iter::once("counterfair".to_string()).chain(given).collect::<Vec<_>>().join(" ")
}

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
        note(format_args!("warning: {line}"));
    }
}

/// A table with a header; every column but the first is right-aligned.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Table {
    let mut table = Table::new("", 1, header.iter().copied());
    rows.into_iter().for_each(|row| table.push(row));
    table
}

/// Which noise model each output has and why, where it was looked at.
pub fn noise_report(fitted: &Fitted) -> Option<&NoiseReport> {
    fitted.fitted_noise().map(FittedNoise::report)
}

/// The same, one line per output.
pub fn say_noise(fitted: &Fitted) -> io::Result<()> {
    noise_report(fitted).map_or(Ok(()), say)
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
