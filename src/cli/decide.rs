//! `counterfair decide`: deployment on a stream of people.

use super::error::CliError;
use super::lines::{LONGEST_LINE, Lines};
use super::log::Log;
use counterfair::fair::{Deployment, Explain, HISTORY, MemoryFile, OnError, Policy};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    /// The policy file
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    /// Remember people in this file, which survives a crash: no answer is given before what it rests on is on disk
    #[arg(long, value_name = "FILE")]
    memory: Option<PathBuf>,
    /// When the memory is started: keep whole histories, which `migrate` needs, of up to this many decisions per person
    #[arg(long, value_name = "H", default_value_t = HISTORY, requires = "memory")]
    history: u64,
    /// Say with each answer how sure it is: values of all actions, margin, distance from what the policy learned from
    #[arg(long)]
    explain: bool,
    /// Append one line per decision to this file, for auditors: who, when, what, why
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Serve a policy even if its learning did not end well
    #[arg(long)]
    serve_anyway: bool,
    /// Answer a bad line with an error object and go on, instead of stopping
    #[arg(long)]
    keep_going: bool,
}

/// A policy that may be served.
pub fn load(path: &Path, serve_anyway: bool) -> Result<Policy, CliError> {
    let policy = Policy::load(path)?;
    match policy.fitness() {
        Err(why) if !serve_anyway => Err(CliError::NotServed { file: path.display().to_string(), why }),
        _ => Ok(policy),
    }
}

pub fn run(arguments: &Arguments) -> Result<(), CliError> {
    let policy = load(&arguments.policy, arguments.serve_anyway)?;
    let deployment = match &arguments.memory {
        None => policy.deploy(),
        Some(file) => {
            let memory = MemoryFile::open(file, &policy, arguments.history)?;
            Deployment::with_memory(policy, memory)
        }
    };
    let mut deployment = deployment.explaining(match (arguments.explain, &arguments.log) {
        (true, _) => Explain::InAnswer,
        (false, Some(_)) => Explain::InDecision,
        (false, None) => Explain::Never,
    });
    let open = |path: &PathBuf| {
        Log::open(path, deployment.fingerprint())
            .map_err(|source| CliError::Read { file: path.display().to_string(), source })
    };
    let mut log = arguments.log.as_ref().map(open).transpose()?;
    let on_error = if arguments.keep_going { OnError::GoOn } else { OnError::Stop };
    let (mut input, mut output) = (Lines::new(std::io::stdin().lock()), std::io::stdout().lock());
    let mut answers = String::new();
    while let Some(mut lines) = input.block()? {
        lines.retain(|(_, text)| text.is_none_or(|text| !text.iter().all(u8::is_ascii_whitespace)));
        if on_error == OnError::Stop
            && let Some(long) = lines.iter().position(|(_, text)| text.is_none())
        {
            lines.truncate(long + 1);
        }
        let mut answered = deployment.answer_all(lines.iter().filter_map(|(_, text)| *text), on_error)?.into_iter();
        if let Some(log) = &mut log {
            log.write(answered.as_slice().iter().flatten())?;
        }
        answers.clear();
        let mut stopped = None;
        for (number, text) in lines {
            let refused = match text {
                None => {
                    let problem = format!("longer than {LONGEST_LINE} bytes");
                    (json!({ "line": number, "error": problem }).to_string(), problem)
                }
                Some(_) => match answered.next() {
                    Some(Ok(answer)) => {
                        answers.push_str(&answer.text);
                        answers.push('\n');
                        continue;
                    }
                    Some(Err(error)) => (error.to_json(number), error.to_string()),
                    None => break,
                },
            };
            if on_error == OnError::Stop {
                stopped = Some(CliError::Line { line: number, problem: refused.1 });
                break;
            }
            answers.push_str(&refused.0);
            answers.push('\n');
        }
        output.write_all(answers.as_bytes())?;
        // Decisions are waited for: they must not sit in a buffer.
        output.flush()?;
        if let Some(error) = stopped {
            return Err(error);
        }
    }
    Ok(())
}
