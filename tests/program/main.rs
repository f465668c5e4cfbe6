//! A policy may be a program: judged and served like any other, and what can go wrong with it.
//!
//! This binary has no harness of the compiler's, because it is also the program: `--child PART` plays a part of [`child`].

mod child;
mod commands;
mod faults;
#[path = "../command_line/folder.rs"]
mod folder;
#[path = "../deployment/follows.rs"]
mod follows;
mod python;

use counterfair::fair::{FittedPreprocessing, Learner, Method, People, Policy, ProgramCommand, ValueClass};
use counterfair::kernel::learn::Settings;
use counterfair::kernel::model::worlds::Linear;
use counterfair::kernel::model::{Exogenous, simulate};
use counterfair::kernel::numeric::Stream;
use std::time::Duration;

/// A test by name.
type Test = (&'static str, fn());

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "--child") {
        return child::play(&arguments[1], arguments.get(2).map(String::as_str));
    }
    let filters: Vec<&String> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
    let chosen = |(name, _): &Test| filters.is_empty() || filters.iter().any(|f| name.contains(f.as_str()));
    let tests: Vec<Test> =
        [faults::TESTS, commands::TESTS, python::TESTS].concat().into_iter().filter(chosen).collect();
    let failed: Vec<&str> = tests
        .iter()
        .filter(|(name, test)| {
            let passed = std::panic::catch_unwind(test).is_ok();
            println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
            !passed
        })
        .map(|(name, _)| *name)
        .collect();
    println!("{} passed, {} failed {failed:?}", tests.len() - failed.len(), failed.len());
    if !failed.is_empty() {
        std::process::exit(101);
    }
}

/// This binary in a part.
fn playing(part: &str) -> ProgramCommand {
    let program = std::env::current_exe().unwrap().to_str().unwrap().to_string();
    ProgramCommand::new([program.as_str(), "--child", part]).with_timeout(Duration::from_secs(20))
}

/// The same with a file.
fn playing_with(part: &str, file: &std::path::Path) -> ProgramCommand {
    let mut command = playing(part);
    command.words.push(file.to_str().unwrap().into());
    command
}

/// The same as one text.
fn text(command: &ProgramCommand) -> String {
    command.words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" ")
}

fn people(n: usize, seed: u64) -> People {
    let world = Linear::new(1.0);
    People::from(simulate(&world, &Exogenous::draw(&world, n, 5, Stream::new(seed))))
}

/// A least-squares policy without a certificate.
fn learned(method: Method) -> Policy {
    let iteration = Settings { iterations: 30, ..Settings::default() };
    let values = ValueClass::Polynomial { degree: 2, iteration };
    Learner { values, replicates: 0, splits: 0, discount: 0.7, ..Learner::new(method) }.learn(&people(120, 1)).unwrap()
}

fn preprocessing() -> FittedPreprocessing {
    FittedPreprocessing::of_policy(&learned(Method::Ours))
}
