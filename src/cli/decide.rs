//! `counterfair decide`: deployment on a stream of people.

use super::error::CliError;
use super::files::Files;
use super::lines::{LONGEST_LINE, Lines};
use super::log::Log;
use super::output::{harmless_json, warn};
use counterfair::fair::OnError;
use counterfair::fair::{Deployment, Explain, HISTORY, MemoryFile, Policy};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// The policy file
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    /// Remember people in this file, which survives a crash: no answer is given before what it rests on is on disk
    #[arg(long, value_name = "FILE")]
    memory: Option<PathBuf>,
    /// When the memory is started: keep whole histories, which `memory export --requests` needs, of up to this many decisions per person
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

pub fn run(arguments: &Arguments) -> Result<(), CliError> {
    let files = Files::default().reading("--policy", [&arguments.policy]).streaming();
    files.writing("--memory", &arguments.memory).writing("--log", &arguments.log).check()?;
    let policy = Policy::load(&arguments.policy)?;
    let name = arguments.policy.display();
    if let (Err(why), false) = (policy.fitness(), arguments.serve_anyway) {
        return Err(CliError::NotServed { file: name.to_string(), why });
    }
    warn(&policy.reservations().iter().map(|reason| format!("{name}: {reason}")).collect::<Vec<_>>());
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
    let open = |path: &PathBuf| Log::open(path, deployment.fingerprint());
    let mut log = arguments.log.as_ref().map(open).transpose()?;
    let on_error = if arguments.keep_going { OnError::GoOn } else { OnError::Stop };
    let (mut input, mut output) = (Lines::new(std::io::stdin().lock()), std::io::stdout().lock());
    while let Some(mut lines) = input.block()? {
        lines.retain(|(_, text)| text.is_none_or(|text| !text.iter().all(u8::is_ascii_whitespace)));
        let mut rest = &lines[..];
        while !rest.is_empty() {
            let (answers, done, stopped) = answer(&mut deployment, rest, on_error, log.as_mut())?;
            // Decisions are waited for: they must not sit in a buffer. A reader that went away is an error here: decisions were made, and
            // perhaps remembered, that were not learned of.
            let written = output.write_all(harmless_json(&answers).as_bytes()).and_then(|()| output.flush());
            let (first, last) = (rest[0].0, rest[done - 1].0);
            written.map_err(|source| CliError::NotDelivered { first, last, source })?;
            if let Some(error) = stopped {
                return Err(error);
            }
            rest = &rest[done..];
        }
    }
    Ok(())
}

/// Answers the first of the lines: the text to print, how many lines it answers, and the error that ends the stream, if there is one.
fn answer(
    deployment: &mut Deployment,
    lines: &[(usize, Option<&[u8]>)],
    on_error: OnError,
    log: Option<&mut Log>,
) -> Result<(String, usize, Option<CliError>), CliError> {
    let first_long = lines.iter().position(|(_, text)| text.is_none()).unwrap_or(lines.len());
    if first_long == 0 {
        let (line, problem) = (lines[0].0, format!("longer than {LONGEST_LINE} bytes"));
        return Ok(match on_error {
            OnError::Stop => (String::new(), 1, Some(CliError::Line { line, problem })),
            OnError::GoOn => (format!("{}\n", json!({ "line": line, "error": problem })), 1, None),
        });
    }
    let answered = deployment.answer_all(lines[..first_long].iter().filter_map(|(_, text)| *text), on_error)?;
    if let Some(log) = log {
        log.write(answered.iter().flatten())?;
    }
    let mut answers = String::new();
    for ((number, _), answer) in lines.iter().zip(&answered) {
        match answer {
            Ok(answer) => answers.push_str(&answer.text),
            Err(error) if on_error == OnError::GoOn => answers.push_str(&error.to_json(*number)),
            Err(error) => {
                let stopped = CliError::Line { line: *number, problem: error.to_string() };
                return Ok((answers, answered.len(), Some(stopped)));
            }
        }
        answers.push('\n');
    }
    Ok((answers, answered.len(), None))
}
