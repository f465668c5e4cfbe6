//! The `counterfair` command.

mod cli;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Counterfactually fair reinforcement learning. Without a command: the paper, reproduced in about a minute.
#[derive(Parser)]
#[command(version)]
struct Counterfair {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// The full grids of the paper
    Reproduce(cli::reproduce::ReproduceArgs),
    /// Join the results of shards
    Merge(cli::reproduce::MergeArgs),
}

fn main() -> ExitCode {
    let done = match Counterfair::parse().command {
        None => cli::reproduce::run_quick(),
        Some(Command::Reproduce(args)) => cli::reproduce::reproduce(&args),
        Some(Command::Merge(args)) => cli::reproduce::merge(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("counterfair: {error}");
            ExitCode::from(2)
        }
    }
}
