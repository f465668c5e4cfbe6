//! Tables, progress and the shared summary of a fitted mechanism.

use counterfair::kernel::data::Panel;
use counterfair::kernel::model::Mechanism;
use counterfair::kernel::model::fitted::Fitted;
use counterfair::kernel::preprocess::diagnostics::Diagnostics;
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

/// Runs a stage of work with a spinner beside its name; nothing is drawn where standard error is not a terminal.
pub fn stage<R>(name: &str, work: impl FnOnce() -> R) -> R {
    let style =
        ProgressStyle::with_template("{spinner} {msg} {elapsed}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    let spinner = ProgressBar::new_spinner().with_style(style).with_message(name.to_string());
    spinner.enable_steady_tick(Duration::from_millis(120));
    let result = work();
    spinner.finish_and_clear();
    result
}

/// A table with a header; every column but the first is right-aligned.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Table {
    let mut table = Table::new("", 1, header.iter().copied());
    rows.into_iter().for_each(|row| table.push(row));
    table
}

/// The name of an output of a mechanism.
fn output_name(panel: &Panel, output: usize) -> String {
    if output < panel.state_dim() { format!("state{}", output + 1) } else { "reward".into() }
}

/// Counterfactual states beyond the data that make a warning: a few extreme people always leave the range of another group.
const OUTSIDE: f64 = 0.05;

/// Significance below which a dependence of noise on the level is pointed out.
const DEPENDENCE: f64 = 0.01;

/// What a person should know before trusting counterfactual states, one line each.
pub fn warnings(fitted: &Fitted, panel: &Panel, diagnostics: &Diagnostics) -> Vec<String> {
    let mut lines = Vec::new();
    let level = |k: usize| panel.levels().name(k);
    if fitted.gain() > 1.0 {
        lines.push(format!(
            "one-step gain ℓ = {:.3} > 1: errors of counterfactual states may grow from step to step",
            fitted.gain()
        ));
    }
    for report in fitted.reports().iter().filter(|report| report.rank < report.columns) {
        let which = report.level.map_or_else(|| "all levels".into(), |k| format!("level {}", level(k)));
        lines.push(format!(
            "mechanism of {which}: the data determine {} of {} coefficients; the smallest solution was taken",
            report.rank, report.columns
        ));
    }
    for &(k, a) in &diagnostics.unseen {
        lines.push(format!(
            "nobody of level {} ever received action {}: its effect there is extrapolated",
            level(k),
            panel.action_names().name(a)
        ));
    }
    for s in diagnostics.support.iter().filter(|s| s.outside as f64 > OUTSIDE * s.states as f64) {
        lines.push(format!(
            "{} of {} counterfactual states for level {} ({:.1} %) lie outside that level's data",
            s.outside,
            s.states,
            level(s.level),
            100.0 * s.outside as f64 / s.states as f64
        ));
    }
    for d in diagnostics.dependence.iter().filter(|d| d.p_value < DEPENDENCE) {
        lines.push(format!(
            "noise of {} depends on the level (χ² = {:.1}, p = {:.1e}): additivity is doubtful there",
            output_name(panel, d.output),
            d.statistic,
            d.p_value
        ));
    }
    lines
}

/// Size of a panel and of the mechanism fitted to it.
pub fn mechanism_table(fitted: &Fitted, panel: &Panel) -> Table {
    let p = panel.state_dim();
    let mut header = vec!["level".to_string(), "rows".into(), "columns".into(), "rank".into(), "free".into()];
    header.extend((0..=p).map(|j| format!("residual sd {}", output_name(panel, j))));
    let rows = fitted.reports().iter().map(|report| {
        let name = report.level.map_or_else(|| "(all)".to_string(), |k| panel.levels().name(k).to_string());
        let mut row = vec![name, report.rows.to_string(), report.columns.to_string(), report.rank.to_string()];
        row.push(report.degrees.iter().map(|d| format!("{d:.1}")).collect::<Vec<_>>().join(" "));
        row.extend(report.residual_sd.iter().map(|sd| format!("{sd:.4}")));
        row
    });
    debug_assert_eq!(fitted.state_dim(), p);
    table(&header.iter().map(String::as_str).collect::<Vec<_>>(), rows)
}
