//! `counterfair learn`: preprocess a file, run fitted Q iteration, save the policy.

use super::error::CliError;
use super::options::{DataOptions, ModelOptions};
use super::output::{mechanism_table, stages, warn};
use clap::ValueEnum;
use counterfair::fair::{Learned, Learner, Method, ValueClass};
use counterfair::kernel::learn::{Clipping, Settings};
use counterfair::kernel::numeric::Stream;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    data: DataOptions,
    #[command(flatten)]
    model: ModelOptions,
    /// What the policy reads: ours (counterfactual states of all levels, fair), full (state and level) or unaware (state without level)
    #[arg(long, default_value = "ours", value_name = "METHOD")]
    method: Method,
    /// Cross-fit over this many contiguous blocks of people
    #[arg(long, value_name = "K")]
    folds: Option<usize>,
    /// How the action value is fitted
    #[arg(long, value_enum, default_value_t = LearnerName::LeastSquares)]
    learner: LearnerName,
    /// Total degree of the action value's polynomial (least squares)
    #[arg(long, default_value_t = 2)]
    degree: usize,
    /// Discount γ
    #[arg(long, default_value_t = 0.9)]
    discount: f64,
    /// Iterations of fitted Q
    #[arg(long, default_value_t = 100)]
    iterations: usize,
    /// Stop earlier, once values move by less than this share
    #[arg(long, default_value_t = 0.0)]
    tolerance: f64,
    /// Hold rewards in [-R, R] and values in [-R/(1-γ), R/(1-γ)]
    #[arg(long, value_name = "R")]
    clip: Option<f64>,
    /// The policy file to write
    #[arg(long, value_name = "FILE")]
    save: PathBuf,
    /// Save the policy even if learning diverged, had not settled or was rank-deficient
    #[arg(long)]
    save_anyway: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Classes of action values, as the command line spells them.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum LearnerName {
    /// Polynomials, by least squares
    LeastSquares,
    /// A net with supplement F.1's settings
    Neural,
}

impl Arguments {
    fn learner(&self) -> Learner {
        let values = match self.learner {
            LearnerName::LeastSquares => ValueClass::Polynomial { degree: self.degree },
            LearnerName::Neural => ValueClass::Neural(Stream::new(self.model.seed).named("neural q")),
        };
        let iteration = Settings {
            discount: self.discount,
            iterations: self.iterations,
            tolerance: self.tolerance,
            clipping: self.clip.map_or(Clipping::Off, Clipping::Rewards),
        };
        let preprocessing = self.model.preprocessing(self.folds);
        Learner { method: self.method, preprocessing, values, iteration, seed: self.model.seed }
    }
}

pub fn run(arguments: &Arguments) -> Result<(), CliError> {
    let (people, learned) = stages(|watch| {
        watch("reading");
        let people = arguments.data.read()?;
        let learned = arguments.learner().learn_watched(&people, watch)?;
        Ok::<_, CliError>((people, learned))
    })?;
    let Learned { mut policy, outcome, condition, warnings } = learned;
    policy.manifest.command = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    let fitness = policy.fitness();
    let saved = fitness.is_ok() || arguments.save_anyway;
    if saved {
        policy.save(&arguments.save)?;
    }
    let (panel, transitions) = (people.panel(), policy.manifest.transitions);
    if arguments.json {
        let summary = serde_json::json!({
            "method": policy.method, "people": panel.people(), "transitions": transitions, "outcome": outcome.to_string(),
            "condition": condition, "warnings": warnings, "saved": saved,
        });
        println!("{summary:#}");
    } else {
        if let Some(mechanism) = &policy.mechanism {
            println!("{}", mechanism_table(mechanism, panel));
        }
        println!("{}: {transitions} transitions; {outcome}", arguments.save.display());
        warn(&warnings);
    }
    match fitness {
        Err(why) if !saved => Err(CliError::NotSaved { file: arguments.save.display().to_string(), why }),
        _ => Ok(()),
    }
}
