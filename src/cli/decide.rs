//! `counterfair decide`: deployment on a stream of people.

use super::error::CliError;
use counterfair::fair::Policy;
use serde_json::json;
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

/// The longest line read: a state of a few thousand coordinates fits many times over.
const LONGEST_LINE: usize = 1 << 20;

pub fn run(arguments: &Arguments) -> Result<(), CliError> {
    let mut deployment = Policy::load(&arguments.policy).map_err(counterfair::fair::Error::from)?.deploy();
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
            Err(problem) if arguments.keep_going => json!({ "line": number, "error": problem.to_string() }).to_string(),
            Err(problem) => return Err(CliError::Line { line: number, problem: problem.to_string() }),
        };
        output.write_all(answer.as_bytes())?;
        output.write_all(b"\n")?;
        // A decision is waited for: it must not sit in a buffer.
        output.flush()?;
    }
    Ok(())
}
