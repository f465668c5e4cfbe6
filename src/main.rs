//! The `counterfair` command.

mod cli;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "counterfair", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The theory as executable claims: verdicts, witnesses, controls
    Verify(cli::verify::VerifyArgs),
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Verify(args) => cli::verify::run(&args),
    }
}
