//! Tables and the shared summary of a fitted mechanism.

use counterfair::estimate::Fitted;
use counterfair::estimate::FittedNoise;
use counterfair::estimate::NoiseReport;
use counterfair::fair::People;
use counterfair::files::is_treacherous;
use counterfair::report::{Table, wrapped};
use std::fmt::Display;
use std::io::{self, Write};

/// Prints a result: the one way to standard output. A reader that went away or a full disk is an error that the caller passes on, never a
/// panic; so save first, then print.
///
/// # Errors
/// What the system said.
pub fn say(text: impl Display) -> io::Result<()> {
    print(&harmless(&text.to_string(), |c, out| out.extend(c.escape_default())))
}

/// Prints JSON. Its writer has escaped most of what a terminal obeys; what is left is escaped as JSON has it, so that it reads the same.
///
/// # Errors
/// What the system said.
pub fn say_json(value: &serde_json::Value) -> io::Result<()> {
    print(&harmless_json(&format!("{value:#}")))
}

/// The same for JSON in one line.
pub fn harmless_json(text: &str) -> String {
    harmless(text, |c, out| {
        let mut units = [0; 2];
        c.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
    })
}

/// Text without letters that do something to a terminal; line ends stay.
fn harmless(text: &str, escape: impl Fn(char, &mut String)) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '\n' && is_treacherous(c) { escape(c, &mut out) } else { out.push(c) }
    }
    out
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")
        .and_then(|()| out.flush())
        .map_err(|error| io::Error::new(error.kind(), format!("standard output: {error}")))
}

/// Prints a remark to standard error; where nobody listens, nobody is told.
pub fn note(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{}", harmless(&text.to_string(), |c, out| out.extend(c.escape_default())));
}

/// The same, broken between words where a line would be wider than the terminal; lines that were made stay apart.
pub fn note_wrapped(text: impl Display) {
    note(fitted(&text.to_string(), on_stderr()));
}

/// A verdict or the like, in lines that fit on the terminal.
///
/// # Errors
/// What the system said.
pub fn say_wrapped(text: impl Display) -> io::Result<()> {
    say(fitted(&text.to_string(), on_stdout()))
}

/// Text whose lines have at most so many letters, where there is such a limit; what a line begins with is kept.
fn fitted(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.into() };
    let line = |line: &str| {
        let indent = &line[..line.len() - line.trim_start().len()];
        let lines = wrapped(line, width.saturating_sub(indent.chars().count()));
        lines.into_iter().map(|line| format!("{indent}{line}")).collect::<Vec<_>>().join("\n")
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Columns of the terminal that standard error goes to; `None` where it goes elsewhere: a line of a log stays whole.
fn on_stderr() -> Option<usize> {
    terminal_size_of(io::stderr())
}

fn on_stdout() -> Option<usize> {
    terminal_size_of(io::stdout())
}

#[cfg(unix)]
fn terminal_size_of(stream: impl std::os::fd::AsFd) -> Option<usize> {
    terminal_size::terminal_size_of(stream).map(|(terminal_size::Width(columns), _)| columns.into())
}

#[cfg(windows)]
fn terminal_size_of(stream: impl std::os::windows::io::AsHandle) -> Option<usize> {
    terminal_size::terminal_size_of(stream).map(|(terminal_size::Width(columns), _)| columns.into())
}

/// Columns for what is laid out: those of the terminal, or where there is none those of most.
pub fn width() -> usize {
    on_stdout().unwrap_or(80).clamp(60, 120)
}

/// The command as it was given; what is not Unicode is shown as �.
pub fn command_line() -> String {
    let given = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    std::iter::once("counterfair".to_string()).chain(given).collect::<Vec<_>>().join(" ")
}

/// Warnings, one line each, where they do not mix with results.
pub fn warn(lines: &[String]) {
    for line in lines {
        note_wrapped(format_args!("warning: {line}"));
    }
}

/// A table with a header; every column but the first is right-aligned.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Table {
    let mut table = Table::new("", 1, header.iter().copied());
    rows.into_iter().for_each(|row| table.push(row));
    table
}

/// A number with so many decimals; one that rounds to zero has no sign.
pub fn decimal(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| matches!(c, '0' | '.')) => digits.into(),
        _ => text,
    }
}

/// Which noise model each output has and why, where it was looked at.
pub fn noise_report(fitted: &Fitted) -> Option<&NoiseReport> {
    fitted.fitted_noise().map(FittedNoise::report)
}

/// The same, one line per output, named after its column.
pub fn say_noise(fitted: &Fitted, people: &People) -> io::Result<()> {
    noise_report(fitted).map_or(Ok(()), |report| say(report.named(&people.output_names())))
}

/// Size of a panel and of the mechanism fitted to it.
pub fn mechanism_table(fitted: &Fitted, people: &People) -> Table {
    let panel = people.panel();
    let mut header = vec!["group".to_string(), "rows".into(), "columns".into(), "rank".into(), "free".into()];
    header.extend(people.output_names().iter().map(|name| format!("residual sd {name}")));
    let rows = fitted.reports().iter().map(|report| {
        let name = report.level.map_or_else(|| "(all)".to_string(), |k| panel.levels().name(k).to_string());
        let mut row = vec![name, report.rows.to_string(), report.columns.to_string(), report.rank.to_string()];
        row.push(report.degrees.iter().map(|d| format!("{d:.1}")).collect::<Vec<_>>().join(" "));
        row.extend(report.residual_sd.iter().map(|sd| format!("{sd:.4}")));
        row
    });
    table(&header.iter().map(String::as_str).collect::<Vec<_>>(), rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounds_to_zero_has_no_sign_and_all_else_keeps_its_own() {
        assert_eq!([-0.0, -1e-17, -0.000_049, 0.000_049].map(|x| decimal(x, 4)), ["0.0000"; 4]);
        assert_eq!([-0.000_051, -10.0, 0.5].map(|x| decimal(x, 4)), ["-0.0001", "-10.0000", "0.5000"]);
        assert_eq!([-0.4, -0.6].map(|x| decimal(x, 0)), ["0", "-1"]);
        assert_eq!([f64::NEG_INFINITY, f64::NAN].map(|x| decimal(x, 2)), ["-inf", "NaN"]);
    }
}
