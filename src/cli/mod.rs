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
mod report;
mod reproduce;
mod simulate;
mod studies;
mod study;
mod verify;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Counterfactually fair policies for sequential decisions: learn them, evaluate them, deploy them, and check the theory.
#[derive(Parser)]
#[command(version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// The full grids of the paper, with a report
    Reproduce(reproduce::ReproduceArgs),
    /// Join the results of shards
    Merge(reproduce::MergeArgs),
    /// Best fair and best unrestricted value of one of the paper's worlds
    Optimum(optimum::Arguments),
    /// Data from a named world, as its behaviour policy would have collected them
    Simulate(simulate::Arguments),
    /// Everything for your own file on one page: checks, policies side by side, fairness, a verdict
    Study(study::Arguments),
    /// Counterfactual states and rewards (alg:cf:1) for a file
    Preprocess(preprocess::Arguments),
    /// Learn a policy from a file: preprocess, then fitted Q iteration
    Learn(learn::Arguments),
    /// How good and how fair a policy is on a file
    Evaluate(evaluate::Arguments),
    /// The theorems as checks, each with its limit, margin and control, and the errata with their witnesses
    Verify(verify::VerifyArgs),
    /// What the paper in `paper/` is built from
    Report(report::Arguments),
    /// Deploy a policy: JSON lines in, decisions out
    Decide(decide::Arguments),
    /// Look after the file in which `decide --memory` remembers people
    Memory(memory::Arguments),
}

/// Runs the program; bad input exits with 2.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        None => reproduce::run_quick().map_err(Into::into),
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
            output::note(format!("error: {error}"));
            ExitCode::from(2)
        }
    }
}
