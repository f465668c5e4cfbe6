//! `counterfair study`: everything for one's own file, on one page.

use super::error::CliError;
use super::files::Files;
use super::large::SampleOptions;
use super::options::{DataOptions, ModelOptions};
use super::output::{command_line, say, say_json, say_wrapped, warn};
use super::progress::{STUDY, stages};
use clap::ValueEnum;
use counterfair::audit::recorded::Dropout;
use counterfair::fair::study::{StudyProgram, StudySettings, study};
use counterfair::fair::{FittedPreprocessing, Learner, Method, People, ProgramCommand};
use counterfair::report::study as report;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    data: DataOptions,
    #[command(flatten)]
    model: ModelOptions,
    #[command(flatten)]
    memory: SampleOptions,
    /// The folder to write to [default: out/study/NAME, after the file]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Write into a folder that holds other files; files of the same name are replaced
    #[arg(long, help_heading = "Output")]
    overwrite: bool,
    /// Discount γ
    #[arg(long, default_value_t = 0.9, help_heading = "Judging")]
    discount: f64,
    /// Folds of people: each is judged by policies learned from the others
    #[arg(long, default_value_t = 5, value_name = "K", value_parser = clap::value_parser!(u64).range(2..=100), help_heading = "Judging")]
    folds: u64,
    /// How often people are resampled for the intervals of values
    #[arg(long, default_value_t = 400, value_name = "B", value_parser = clap::value_parser!(u64).range(2..=100_000), help_heading = "Judging")]
    replicates: u64,
    /// What is made of people who leave before the others
    #[arg(long, value_enum, default_value_t = Leaving::Auto, help_heading = "Judging")]
    dropout: Leaving,
    /// List this many people, by id, for whom it matters most
    #[arg(long, default_value_t = 0, value_name = "N", help_heading = "Output")]
    show_ids: usize,
    /// What you know about the study and the file does not say, how actions were assigned say; printed with the data
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    note: Vec<String>,
    /// A program to judge beside the policies that are learned here: it is shown views and answers with actions or probabilities, as lines of
    /// JSON (src/fair/schema/program.json). It is judged on everybody in the file, so it must not have been trained on them
    #[arg(long, value_name = "COMMAND", help_heading = "A policy from elsewhere")]
    policy_command: Option<ProgramCommand>,
    /// What the program's views are made with: what `preprocess --save` wrote, or a policy file [default: fitted to this file]
    #[arg(long, value_name = "FILE", requires = "policy_command", help_heading = "A policy from elsewhere")]
    preprocessing: Option<PathBuf>,
    /// What the program is shown: the counterfactual states of all groups (ours: fair by construction), state and group (full), or the state
    /// (unaware)
    #[arg(
        long,
        value_name = "VIEW",
        default_value = "ours",
        requires = "policy_command",
        help_heading = "A policy from elsewhere"
    )]
    reads: Method,
    /// Seconds that the program may take to start, and to answer a batch
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "policy_command", value_parser = clap::value_parser!(u64).range(1..=86_400), help_heading = "A policy from elsewhere")]
    timeout: u64,
    /// Print the study as JSON instead of its verdict
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// What is made of people who leave, as the command line spells it.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Leaving {
    /// Weighted for if who left depends on what was recorded (p < 0.01), otherwise as recorded
    Auto,
    /// Each person is valued over their own recorded decisions
    AsRecorded,
    /// Those who stayed are weighted by the inverse of their probability of staying
    Weighted,
}

impl Arguments {
    fn settings(&self, people: &People) -> Result<StudySettings, CliError> {
        let learner = Learner {
            preprocessing: self.model.preprocessing(people, None)?,
            discount: self.discount,
            seed: self.model.seed,
            ..Learner::new(Method::Ours)
        };
        Ok(StudySettings {
            learner,
            folds: self.folds as usize,
            replicates: self.replicates as usize,
            dropout: match self.dropout {
                Leaving::Auto => None,
                Leaving::AsRecorded => Some(Dropout::AsRecorded),
                Leaving::Weighted => Some(Dropout::Weighted { horizon: None }),
            },
            show_ids: self.show_ids,
            program: self.program()?,
            notes: self.note.clone(),
            ..StudySettings::default()
        })
    }

    /// The program to judge beside the others.
    fn program(&self) -> Result<Option<StudyProgram>, CliError> {
        let Some(command) = &self.policy_command else { return Ok(None) };
        let preprocessing = self.preprocessing.as_ref().map(FittedPreprocessing::load).transpose()?;
        let command = command.clone().with_timeout(Duration::from_secs(self.timeout));
        Ok(Some(StudyProgram { command, reads: self.reads, preprocessing }))
    }

    /// `--out`, or a folder named after the file in letters that every system takes.
    fn folder(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| Path::new("out").join("study").join(slug(&self.data.data)))
    }
}

/// The file's name without endings, in a safe alphabet.
fn slug(path: &Path) -> String {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let stem = name.split('.').next().unwrap_or_default();
    let safe: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).take(60).collect();
    let safe = safe.trim_matches('-');
    if safe.is_empty() { "study".into() } else { safe.into() }
}

pub fn run(arguments: &Arguments) -> Result<(), CliError> {
    if !(0.0..1.0).contains(&arguments.discount) {
        return Err(CliError::Argument(format!("--discount {} is outside [0, 1)", arguments.discount)));
    }
    let folder = arguments.folder();
    if !arguments.overwrite {
        report::check(&folder)?;
    }
    Files::default()
        .reading("--data", [&arguments.data.data])
        .reading("--preprocessing", &arguments.preprocessing)
        .running("--policy-command", &arguments.policy_command)
        .filling("--out", &folder, report::may_write(&folder))
        .check_writable()?;
    let found = stages(&STUDY, |watch| {
        watch("reading");
        let people =
            arguments.data.read_within(arguments.memory.limit_for(&arguments.data.data), arguments.model.seed)?;
        let settings = arguments.settings(&people)?;
        Ok::<_, CliError>(study(&people, &settings, watch)?)
    })?;
    let command = command_line();
    let page = report::write(&found, &command, &folder, arguments.overwrite)?;
    if arguments.json {
        return Ok(say_json(&report::json(&found, &command, &[]))?);
    }
    say_wrapped(report::sentence(&found))?;
    say_wrapped(report::recommendation(&found))?;
    say(format_args!("The page: {}", page.display()))?;
    warn(&found.cautions);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::slug;
    use std::path::Path;

    #[test]
    fn a_folder_is_named_in_a_safe_alphabet() {
        for (path, expected) in [
            ("data/star_long.csv", "star_long"),
            ("a.csv.gz", "a"),
            ("../x y/é\"><img src=x>.csv", "img-src-x"),
            (".csv", "study"),
            ("...", "study"),
        ] {
            assert_eq!(slug(Path::new(path)), expected);
        }
    }
}
