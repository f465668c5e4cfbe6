//! `counterfair memory`: looking after the file in which `decide --memory` remembers people.
//!
//! A command of its own and not options of `decide`: none of this needs a policy, or reads a stream.

use super::error::CliError;
use super::output::{harmless_json, note, say_json};
use counterfair::fair::{MemoryError, MemoryFile, MemoryStore, Remembered, Request};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(clap::Subcommand)]
enum Task {
    /// What the memory belongs to and how much it holds
    Show(File),
    /// One line of JSON per person: id, group, number of decisions
    List(File),
    /// One line of JSON per person with everything that is remembered
    Export {
        #[command(flatten)]
        file: File,
        /// Print the requests instead that were answered, as `decide` reads them, so that another policy can be asked the same
        #[arg(long)]
        requests: bool,
        /// Leave out people with more decisions than the memory kept (`decide --history`), and say how many, instead of stopping
        #[arg(long, requires = "requests")]
        leave_out: bool,
    },
    /// Forget people; the file is written anew, without a trace of them
    Forget {
        #[command(flatten)]
        file: File,
        /// Whom
        #[arg(long, required = true)]
        id: Vec<String>,
    },
}

#[derive(clap::Args)]
struct File {
    /// The memory
    #[arg(long, value_name = "FILE")]
    memory: PathBuf,
}

pub fn run(arguments: &Arguments) -> Result<(), CliError> {
    match &arguments.task {
        Task::Show(file) => {
            let memory = MemoryFile::inspect(&file.memory)?;
            let bytes = std::fs::metadata(&file.memory)?.len();
            let mut about = serde_json::to_value(memory.about()).expect("names and numbers");
            about["people"] = memory.people()?.into();
            about["bytes"] = bytes.into();
            say_json(&about)?;
        }
        Task::List(file) => {
            each(&file.memory, |memory, id, person| {
                let level = memory.about().levels.name(person.level as usize);
                json!({ "id": id, "z": level, "decisions": person.decisions })
            })?;
        }
        Task::Export { file, requests: false, .. } => each(&file.memory, exported)?,
        Task::Export { file, requests: true, leave_out } => requests(&file.memory, *leave_out)?,
        Task::Forget { file, id } => {
            let mut memory = MemoryFile::inspect(&file.memory)?;
            for id in id {
                if memory.get(id)?.is_none() {
                    return Err(CliError::Argument(format!("nothing is remembered of {id}; nobody was forgotten")));
                }
            }
            memory.put(&id.iter().map(|id| (id.clone(), None)).collect::<HashMap<_, _>>())?;
        }
    }
    Ok(())
}

/// Prints one line for each person.
fn each(path: &Path, line: impl Fn(&MemoryFile, &str, &Remembered) -> Value) -> Result<(), CliError> {
    let memory = MemoryFile::inspect(path)?;
    printed(&memory, |id, person, out| writeln!(out, "{}", harmless_json(&line(&memory, id, person).to_string())))
}

/// People whose requests are printed time by time: one person's requests one after another would each wait for a commit of its own.
const BLOCK: usize = 4096;

/// Prints the requests that were answered: some people's first ones, then their second ones, and so on.
fn requests(path: &Path, leave_out: bool) -> Result<(), CliError> {
    let memory = MemoryFile::inspect(path)?;
    let (mut people, mut incomplete) = (0, 0);
    memory.visit(&mut |id, person| {
        people += 1;
        incomplete += usize::from(memory.requests(id, &person).is_none());
        Ok(())
    })?;
    if incomplete > 0 {
        let (kept, file) = (memory.history(), path.display());
        let found =
            format!("{file}: {incomplete} of {people} people have had more decisions than the {kept} that were kept");
        if !leave_out {
            return Err(CliError::Argument(format!(
                "{found}, so that not all of their requests are known; --leave-out prints those of the others"
            )));
        }
        note(format_args!("{found}; they are left out"));
    }
    let mut block: Vec<std::vec::IntoIter<Request>> = Vec::new();
    printed(&memory, |id, person, out| {
        block.extend(memory.requests(id, person).map(Vec::into_iter));
        if block.len() == BLOCK { time_by_time(&mut block, out) } else { Ok(()) }
    })?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    time_by_time(&mut block, &mut out)?;
    Ok(out.flush()?)
}

/// Prints everybody's first request, then everybody's second, until none is left.
fn time_by_time(block: &mut Vec<std::vec::IntoIter<Request>>, out: &mut dyn Write) -> std::io::Result<()> {
    while !block.is_empty() {
        for request in block.iter_mut().filter_map(Iterator::next) {
            writeln!(out, "{}", harmless_json(&serde_json::to_string(&request)?))?;
        }
        block.retain(|rest| rest.len() > 0);
    }
    Ok(())
}

/// Shows everybody to `print`, with standard output.
fn printed(
    memory: &MemoryFile,
    mut print: impl FnMut(&str, &Remembered, &mut dyn Write) -> std::io::Result<()>,
) -> Result<(), CliError> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut failure = None;
    let visited = memory.visit(&mut |id, person| {
        print(id, &person, &mut out).map_err(|error| {
            let problem = error.to_string();
            failure = Some(error);
            MemoryError::Io { file: "standard output".into(), problem }
        })
    });
    match failure {
        Some(error) => Err(error.into()),
        None => {
            visited?;
            Ok(out.flush()?)
        }
    }
}

/// A person's memory, by the names of levels and actions.
fn exported(memory: &MemoryFile, id: &str, person: &Remembered) -> Value {
    let about = memory.about();
    let action = |a: &u32| Value::from(about.actions.name(*a as usize));
    let states: Vec<&[f64]> = person.states.chunks_exact(about.state_dim).collect();
    let mut out = json!({
        "id": id, "z": about.levels.name(person.level as usize), "decisions": person.decisions,
        "decided": action(&person.decided), "states": states, "actions": person.actions.iter().map(action).collect::<Vec<_>>(),
        "complete": person.is_complete(about.state_dim),
    });
    if person.view.len() == about.levels.len() * about.state_dim {
        let worlds = about.levels.names().iter().zip(person.view.chunks_exact(about.state_dim));
        out["counterfactual_states"] =
            worlds.map(|(level, state)| (level.clone(), json!(state))).collect::<Map<_, _>>().into();
    }
    out
}
