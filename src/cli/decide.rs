//! `counterfair decide`: deployment on a stream of people.

use super::error::CliError;
use counterfair::learn::stored::{Method, StoredPolicy};
use counterfair::learn::{Agent, AgentMemory};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// The policy file
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    /// Answer a bad line with an error object and go on, instead of stopping
    #[arg(long)]
    keep_going: bool,
}

/// One line of input: who, their level, their state now, and the action taken since the last line about them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    id: Value,
    z: Value,
    state: Vec<f64>,
    #[serde(default)]
    action: Option<Value>,
}

/// The longest line read: a state of a few thousand coordinates fits many times over.
const LONGEST_LINE: usize = 1 << 20;

pub fn run(arguments: &Arguments) -> Result<(), CliError> {
    let policy = StoredPolicy::read(&arguments.policy)?;
    let mut deployment = Deployment { agent: policy.agent(), policy, people: HashMap::new() };
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = std::io::Read::take(&mut input, LONGEST_LINE as u64 + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        if read > LONGEST_LINE {
            // The rest of the line cannot be told from the next one, so there is no going on.
            return Err(CliError::Line { line: number, problem: format!("longer than {LONGEST_LINE} bytes") });
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let answer = match deployment.answer(&line) {
            Ok(answer) => answer,
            Err(problem) if arguments.keep_going => json!({ "line": number, "error": problem }),
            Err(problem) => return Err(CliError::Line { line: number, problem }),
        };
        serde_json::to_writer(&mut output, &answer).map_err(std::io::Error::from)?;
        output.write_all(b"\n")?;
        // A decision is waited for: it must not sit in a buffer.
        output.flush()?;
    }
    Ok(())
}

struct Deployment {
    policy: StoredPolicy,
    agent: Box<dyn Agent>,
    people: HashMap<String, Person>,
}

struct Person {
    level: u32,
    memory: AgentMemory,
}

impl Deployment {
    /// Decides for one person; a line that cannot be used changes no memory.
    fn answer(&mut self, line: &[u8]) -> Result<Value, String> {
        let request: Request = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let policy = &self.policy;
        let id = name(&request.id).ok_or_else(|| format!("id is {}, neither a string nor a number", request.id))?;
        let code = |labels: &counterfair::data::Labels, value: &Value, what: &str| {
            let known = || format!("{what} is {value}; the policy knows {:?}", labels.names());
            name(value).and_then(|name| labels.code(&name)).map(|code| code as u32).ok_or_else(known)
        };
        let level = code(&policy.levels, &request.z, "z")?;
        if request.state.len() != policy.state_dim {
            return Err(format!("state has {} numbers, the policy reads {}", request.state.len(), policy.state_dim));
        }
        if let Some(x) = request.state.iter().find(|x| !x.is_finite()) {
            return Err(format!("state holds {x}, not a finite number"));
        }
        let taken = match &request.action {
            None | Some(Value::Null) => None,
            Some(value) => Some(code(&policy.actions, value, "action")?),
        };
        let memory = match (self.people.get(&id), taken) {
            (None, None) => self.agent.begin(&[level], &request.state, &[0.5]),
            (None, Some(_)) => {
                return Err(format!(
                    "the first line about {id} has a previous action, but nothing is remembered of them"
                ));
            }
            (Some(_), None) => {
                return Err(format!("a further line about {id} needs the action taken since the last one"));
            }
            (Some(person), Some(_)) if person.level != level => {
                return Err(format!(
                    "z of {id} was {:?}, now {}",
                    policy.levels.name(person.level as usize),
                    request.z
                ));
            }
            (Some(person), Some(action)) => {
                let mut memory = person.memory.clone();
                self.agent.advance(&mut memory, &[action], &request.state);
                memory
            }
        };
        let view = memory.parts.first().map_or(&[][..], |part| &part.view);
        if let Some(x) = view.iter().find(|x| !x.is_finite()) {
            return Err(format!("a counterfactual state of {id} is {x}: the mechanism was led beyond its range"));
        }
        let states: Option<Value> = (policy.method == Method::Ours).then(|| {
            let by_level = view.chunks_exact(policy.state_dim).enumerate();
            by_level
                .map(|(k, state)| (policy.levels.name(k).to_string(), json!(state)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        });
        let mut memory = memory;
        let mut action = [0];
        self.agent.act(&mut memory, &[0.5], &mut action);
        self.people.insert(id.clone(), Person { level, memory });
        let mut answer = json!({ "id": request.id, "action": policy.actions.name(action[0] as usize) });
        if let Some(states) = states {
            answer["counterfactual_states"] = states;
        }
        Ok(answer)
    }
}

/// A string, or a number as it is written.
fn name(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
