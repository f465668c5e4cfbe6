//! The command line: arguments in, library calls, files and tables out.

mod decide;
mod error;
mod evaluate;
mod files;
mod large;
mod learn;
mod lines;
mod log;
mod memory;
mod optimum;
mod options;
mod output;
mod preprocess;
mod program;
mod progress;
mod report;
mod reproduce;
mod simulate;
mod studies;
mod study;
mod verify;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Fair decisions for people over time: learn a policy from records, see how fair it is and what it is worth, use it.
#[derive(Parser)]
#[command(version, propagate_version = true, before_help = PURPOSES, help_template = TEMPLATE, max_term_width = WIDEST)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

/// Help begins with what it is about and what people come for.
const TEMPLATE: &str = "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// What people come for.
const PURPOSES: &str = "\
I have a file, one row per person and time: what can it tell me?
  counterfair study --data FILE --z GROUP --action ACTION --reward OUTCOME --states A,B
I have no file and want to try:
  counterfair simulate --world weekly-calls --n 600 --t 12 --out people.csv
I want a policy, and then its decisions:
  counterfair learn --data FILE --save policy.json
  counterfair decide --policy policy.json
I want to see the paper's figures, in about a minute:
  counterfair reproduce --quick";

/// Columns beyond which lines of help are hard to read.
const WIDEST: usize = 120;

#[derive(Subcommand)]
enum Command {
    /// Everything for your own file on one page: checks, policies side by side, fairness, a verdict
    Study(study::Arguments),
    /// Learn a policy from a file: preprocess, then fitted Q iteration
    Learn(learn::Arguments),
    /// How good and how fair a policy is on a file
    Evaluate(evaluate::Arguments),
    /// Use a policy: JSON lines in, decisions out
    Decide(decide::Arguments),
    /// Look after the file in which `decide --memory` remembers people
    Memory(memory::Arguments),
    /// Counterfactual states and rewards (alg:cf:1) for a file
    Preprocess(preprocess::Arguments),
    /// A file of people from a world whose truth is known
    Simulate(simulate::Arguments),
    /// The paper's figures and tables: with --quick in about a minute
    Reproduce(reproduce::ReproduceArgs),
    /// Join the results of shards of `reproduce`
    Merge(reproduce::MergeArgs),
    /// The theorems as checks, each with its limit, margin and control, and the errata with their witnesses
    Verify(verify::VerifyArgs),
    /// Best fair and best unrestricted value of one of the paper's worlds
    Optimum(optimum::Arguments),
    /// What our own account in `paper/` is built from
    Report(report::Arguments),
}

/// Runs the program; bad input exits with 2.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        None => output::say(Arguments::command().render_help()).map_err(Into::into),
        Some(Command::Reproduce(arguments)) => reproduce::reproduce(&arguments).map_err(Into::into),
        Some(Command::Merge(arguments)) => reproduce::merge(&arguments).map_err(Into::into),
        Some(Command::Verify(arguments)) => match verify::run(&arguments) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Some(Command::Optimum(arguments)) => optimum::run(&arguments),
        Some(Command::Simulate(arguments)) => simulate::run(&arguments),
        Some(Command::Study(arguments)) => study::run(&arguments),
        Some(Command::Preprocess(arguments)) => preprocess::run(&arguments),
        Some(Command::Learn(arguments)) => learn::run(&arguments),
        Some(Command::Evaluate(arguments)) => evaluate::run(&arguments),
        Some(Command::Report(arguments)) => report::run(&arguments),
        Some(Command::Decide(arguments)) => decide::run(&arguments),
        Some(Command::Memory(arguments)) => memory::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // A reader that went away (`| head`) is not a failure of ours.
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            output::note_wrapped(format!("error: {error}"));
            ExitCode::from(2)
        }
    }
}
