//! Options for a policy that is a program.

use super::error::CliError;
use counterfair::fair::{FittedPreprocessing, Method, Policy, ProgramCommand};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A policy file, or a program with the preprocessing that feeds it.
#[derive(clap::Args)]
#[command(next_help_heading = "Policy")]
pub struct PolicyOptions {
    /// The policy file
    #[arg(long, value_name = "FILE", required_unless_present = "policy_command")]
    pub policy: Option<PathBuf>,
    /// A program that decides, instead of a policy file: it is shown views and answers with actions or probabilities, as lines of JSON
    /// (src/fair/schema/program.json)
    #[arg(long, value_name = "COMMAND", conflicts_with = "policy", requires = "preprocessing")]
    pub policy_command: Option<ProgramCommand>,
    /// What a program's views are made with: what `preprocess --save` wrote, or a policy file
    #[arg(long, value_name = "FILE")]
    pub preprocessing: Option<PathBuf>,
    /// What a program is shown: the counterfactual states of all groups (ours: fair by construction), state and group (full), or the state
    /// (unaware)
    /// [default: ours]
    #[arg(long, value_name = "VIEW")]
    pub reads: Option<Method>,
    /// Seconds that a program may take to start, and to answer a batch [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: Option<u64>,
}

impl PolicyOptions {
    /// The file that the policy, or its preprocessing, is in.
    pub fn file(&self) -> &Path {
        let files = [&self.policy, &self.preprocessing];
        files.into_iter().flatten().next().map_or(Path::new(""), PathBuf::as_path)
    }

    /// An option for programs where there is none is a mistake, not a wish to be passed over.
    pub fn refuse_idle(&self, programs: usize) -> Result<(), CliError> {
        let given = [
            ("--preprocessing", self.preprocessing.is_some()),
            ("--reads", self.reads.is_some()),
            ("--timeout", self.timeout.is_some()),
        ];
        match given.iter().find(|(_, given)| *given && programs == 0 && self.policy_command.is_none()) {
            None => Ok(()),
            Some((option, _)) => Err(CliError::Argument(format!("{option} has a meaning for programs only"))),
        }
    }

    /// Loads the file, or starts the program.
    pub fn load(&self) -> Result<Policy, CliError> {
        match &self.policy_command {
            Some(command) => self.start(command),
            None => Ok(Policy::load(self.file())?),
        }
    }

    /// A program that reads what these options say; without a preprocessing of its own it takes the policy's.
    pub fn start(&self, command: &ProgramCommand) -> Result<Policy, CliError> {
        let file = self.preprocessing.as_deref().unwrap_or(self.file());
        let timeout = self.timeout.map_or(ProgramCommand::TIMEOUT, Duration::from_secs);
        let command = command.clone().with_timeout(timeout);
        Ok(FittedPreprocessing::load(file)?.with_program(self.reads.unwrap_or(Method::Ours), &command)?)
    }
}

/// A program with a name to call it by.
#[derive(Clone)]
pub struct NamedCommand {
    pub name: String,
    pub command: ProgramCommand,
}

impl std::str::FromStr for NamedCommand {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, command)) if !name.trim().is_empty() => {
                let command = command.parse().map_err(|error: counterfair::fair::UnclosedQuote| error.to_string())?;
                Ok(Self { name: name.trim().into(), command })
            }
            _ => Err("not a name, `=` and a command".into()),
        }
    }
}
