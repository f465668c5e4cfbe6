//! `counterfair migrate`: a memory for another policy.

use super::decide::load;
use super::error::CliError;
use super::files::Files;
use super::output::say;
use counterfair::fair::internals::migrate;
use counterfair::fair::{MemoryFile, MemoryStore};
use counterfair::kernel::data::internals::name_aside;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// The memory as it is; it stays as it is
    #[arg(long, value_name = "FILE")]
    memory: PathBuf,
    /// The policy that shall take over
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    /// The memory to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Leave out people whose history is not complete, and print their ids, instead of stopping
    #[arg(long)]
    leave_behind: bool,
    /// Take a policy even if its learning did not end well
    #[arg(long)]
    serve_anyway: bool,
}

pub fn run(arguments: &Arguments) -> Result<(), CliError> {
    Files::default()
        .reading("--memory", [&arguments.memory])
        .reading("--policy", [&arguments.policy])
        .writing("--out", [&arguments.out])
        .check()?;
    let policy = load(&arguments.policy, arguments.serve_anyway)?;
    let from = MemoryFile::inspect(&arguments.memory)?;
    if arguments.out.exists() {
        return Err(CliError::Argument(format!("{} exists already", arguments.out.display())));
    }
    // Whole or not at all: made beside, and named once it is complete. Whoever may not read the old memory may not read the new one.
    let part = name_aside(&arguments.out)?;
    let migrated = (|| {
        let mut to = MemoryFile::open(&part, &policy, from.history())?;
        std::fs::set_permissions(&part, std::fs::metadata(&arguments.memory)?.permissions())?;
        let migrated = migrate(&from, from.codes(), &policy, &mut to, arguments.leave_behind)?;
        drop(to);
        std::fs::rename(&part, &arguments.out)?;
        Ok::<_, CliError>(migrated)
    })();
    if migrated.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    let migrated = migrated?;
    for id in &migrated.left_behind {
        say(format_args!("left behind: {id}"))?;
    }
    Ok(say(format_args!("{}: {} people", arguments.out.display(), migrated.people))?)
}
