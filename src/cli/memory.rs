//! `counterfair memory`: looking after the file in which `decide --memory` remembers people.
//!
//! A command of its own and not options of `decide`: none of this needs a policy, or reads a stream.

use super::error::CliError;
use super::output::{harmless_json, say_json};
use counterfair::fair::{MemoryError, MemoryFile, MemoryStore, Remembered};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(clap::Subcommand)]
enum Task {
    /// What the memory belongs to and how much it holds
    Show(File),
    /// One line of JSON per person: id, level, number of decisions
    List(File),
    /// One line of JSON per person with everything that is remembered
    Export(File),
    /// Forget people
    Forget {
        #[command(flatten)]
        file: File,
        /// Whom
        #[arg(long, required = true)]
        id: Vec<String>,
    },
    /// Write the file anew, as small as it can be and without a trace of forgotten people
    Compact(File),
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
        Task::Export(file) => each(&file.memory, exported)?,
        Task::Forget { file, id } => {
            let mut memory = MemoryFile::inspect(&file.memory)?;
            for id in id {
                if memory.get(id)?.is_none() {
                    return Err(CliError::Argument(format!("nothing is remembered of {id}; nobody was forgotten")));
                }
            }
            memory.put(&id.iter().map(|id| (id.clone(), None)).collect::<HashMap<_, _>>())?;
        }
        Task::Compact(file) => MemoryFile::inspect(&file.memory)?.compact(&file.memory)?,
    }
    Ok(())
}

/// Prints one line for each person.
fn each(path: &PathBuf, line: impl Fn(&MemoryFile, &str, &Remembered) -> Value) -> Result<(), CliError> {
    let memory = MemoryFile::inspect(path)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut failure = None;
    let visited = memory.visit(&mut |id, person| {
        writeln!(out, "{}", harmless_json(&line(&memory, id, &person).to_string())).map_err(|error| {
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
