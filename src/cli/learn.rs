//! `counterfair learn`: preprocess a file, run fitted Q iteration, save the policy.

use super::error::CliError;
use super::files::{Files, refuse_to_replace};
use super::large::{self, MemoryOptions};
use super::options::{DataOptions, ModelOptions};
use super::output::{command_line, mechanism_table, noise_report, say, say_json, say_noise, warn};
use super::progress::{LEARN, stages};
use clap::ValueEnum;
use counterfair::estimate::stable_q::StableSettings;
use counterfair::fair::{Learned, Learner, Method, People, Reservation, ValueClass};
use counterfair::kernel::learn::{Clipping, Settings};
use counterfair::kernel::numeric::Stream;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    data: DataOptions,
    #[command(flatten)]
    memory: MemoryOptions,
    #[command(flatten)]
    model: ModelOptions,
    /// What the policy reads: ours (counterfactual states of all groups: fair), full (state and group) or unaware (state without group)
    #[arg(long, default_value = "ours", value_name = "METHOD", help_heading = "Learning")]
    method: Method,
    /// Cross-fit over this many folds of people
    #[arg(long, value_name = "K", help_heading = "Learning")]
    folds: Option<usize>,
    /// How the action value is fitted
    #[arg(long, value_enum, default_value_t = LearnerName::Stable, help_heading = "Learning")]
    learner: LearnerName,
    /// Discount γ
    #[arg(long, default_value_t = 0.9, help_heading = "Learning")]
    discount: f64,
    /// Lower values by this many standard errors, for data that cover little (stable) [default: 0]
    #[arg(long, value_name = "K", help_heading = "Learning")]
    pessimism: Option<f64>,
    /// Total degree of the action value's polynomial (least-squares) [default: 2]
    #[arg(long, help_heading = "Learning")]
    degree: Option<usize>,
    /// Most iterations of fitted Q [default: 2000 for stable, 100 otherwise]
    #[arg(long, help_heading = "Learning")]
    iterations: Option<usize>,
    /// Stop once values move by less than this share (stable, least-squares) [default: 1e-8 for stable, 0 otherwise]
    #[arg(long, help_heading = "Learning")]
    tolerance: Option<f64>,
    /// Hold rewards in [-R, R] and values in [-R/(1-γ), R/(1-γ)] (least-squares)
    #[arg(long, value_name = "R", help_heading = "Learning")]
    clip: Option<f64>,
    /// Refits with resampled people that the policy file keeps, so that its unfairness can be judged on others
    #[arg(long, default_value_t = 200, value_name = "B", help_heading = "Learning")]
    replicates: usize,
    /// How often the people are halved to see how stable the policy is
    #[arg(long, default_value_t = 3, value_name = "N", help_heading = "Learning")]
    splits: usize,
    /// The policy file to write
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    save: PathBuf,
    /// Replace a file of that name
    #[arg(long, help_heading = "Output")]
    overwrite: bool,
    /// Save the policy even if learning diverged, had not settled or was rank-deficient; or if the data leave nothing to learn, a state is kept
    /// or recorded in categories: the file then says so, and `decide` repeats it
    #[arg(long, help_heading = "Output")]
    save_anyway: bool,
    /// Print the summary as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Classes of action values, as the command line spells them.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum LearnerName {
    /// Penalised quadratics in coordinates that all worlds share; converges on small and real data
    Stable,
    /// Plain polynomials by least squares, as in the paper's experiments
    LeastSquares,
    /// A net with supplement F.1's settings
    Neural,
}

impl Arguments {
    fn learner(&self, people: &People) -> Result<Learner, CliError> {
        let values = match self.learner {
            LearnerName::Stable => {
                self.refuse(&[("--degree", self.degree.is_some()), ("--clip", self.clip.is_some())])?;
                let default = StableSettings::default();
                ValueClass::Stable(StableSettings {
                    iterations: self.iterations.unwrap_or(default.iterations),
                    tolerance: self.tolerance.unwrap_or(default.tolerance),
                    pessimism: self.pessimism.unwrap_or(default.pessimism),
                    ..default
                })
            }
            LearnerName::LeastSquares => {
                self.refuse(&[("--pessimism", self.pessimism.is_some())])?;
                let default = Settings::default();
                let iteration = Settings {
                    iterations: self.iterations.unwrap_or(default.iterations),
                    tolerance: self.tolerance.unwrap_or(default.tolerance),
                    clipping: self.clip.map_or(Clipping::Off, Clipping::Rewards),
                    ..default
                };
                ValueClass::Polynomial { degree: self.degree.unwrap_or(2), iteration }
            }
            LearnerName::Neural => {
                self.refuse(&[
                    ("--degree", self.degree.is_some()),
                    ("--clip", self.clip.is_some()),
                    ("--tolerance", self.tolerance.is_some()),
                    ("--pessimism", self.pessimism.is_some()),
                ])?;
                let stream = Stream::new(self.model.seed).named("neural q");
                ValueClass::Neural { iterations: self.iterations.unwrap_or(100), stream }
            }
        };
        Ok(Learner {
            method: self.method,
            preprocessing: self.model.preprocessing(people, self.folds)?,
            values,
            discount: self.discount,
            replicates: self.replicates,
            splits: self.splits,
            seed: self.model.seed,
        })
    }

    /// An option that the learner has no use for is a mistake, not a wish to be passed over.
    fn refuse(&self, options: &[(&str, bool)]) -> Result<(), CliError> {
        let name = self.learner.to_possible_value().map_or(String::new(), |value| value.get_name().to_string());
        match options.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((option, _)) => Err(CliError::Argument(format!("{option} has no meaning with --learner {name}"))),
        }
    }
}

pub fn run(arguments: &Arguments) -> Result<(), CliError> {
    let files = Files::default().reading("--data", [&arguments.data.data]).writing("--save", [&arguments.save]);
    files.check()?;
    refuse_to_replace("--save", &arguments.save, arguments.overwrite)?;
    files.check_writable()?;
    let limit = arguments.memory.needed_for(&arguments.data.data)?;
    let mut counted = None;
    let (people, learned) = stages(&LEARN, |watch| {
        watch("reading");
        if let Some(limit) = &limit {
            let large = large::read(&arguments.data, limit, false)?;
            let learned = arguments.learner(large.sketch())?.learn_large(&large, watch)?;
            counted = Some(large.panel().people());
            return Ok((large.sketch().clone(), learned));
        }
        let people = arguments.data.read()?;
        let learned = arguments.learner(&people)?.learn_watched(&people, watch)?;
        Ok::<_, CliError>((people, learned))
    })?;
    let Learned { mut policy, outcome, condition, contrast_degree, stability, warnings } = learned;
    policy.manifest.command = command_line();
    let reservations = policy.reservations();
    let fitness = policy.fitness().map_err(|why| why.to_string()).and_then(|()| in_one_line(&reservations));
    let saved = fitness.is_ok() || arguments.save_anyway;
    if saved {
        policy.save(&arguments.save)?;
    }
    let transitions = policy.manifest.transitions;
    // Nothing is remarked on people on disk: remarks look at all of a column at once.
    let (count, remarks) = match counted {
        Some(count) => (count, vec![]),
        None => (people.panel().people(), people.remarks()),
    };
    let ended = match fitness {
        Err(why) if !saved => Err(CliError::NotSaved { file: arguments.save.display().to_string(), why }),
        _ => Ok(()),
    };
    if arguments.json {
        let stability = stability.map(|s| {
            serde_json::json!({ "changed": s.changed, "most_changed": s.most_changed, "at_stake": s.at_stake, "value_sd": s.value_sd, "splits": s.splits })
        });
        let summary = serde_json::json!({
            "method": policy.method, "people": count, "transitions": transitions, "outcome": outcome.to_string(),
            "condition": condition, "contrast_degree": contrast_degree, "stability": stability, "saved": saved,
            "noise": policy.mechanism.as_ref().and_then(noise_report), "outputs": people.output_names(),
            "reservations": reservations,
            "notes": people.notes(), "repairs": people.repairs(), "remarks": remarks, "warnings": warnings,
        });
        say_json(&summary)?;
        return ended;
    }
    if let Some(mechanism) = &policy.mechanism {
        say(mechanism_table(mechanism, &people))?;
        say_noise(mechanism, &people)?;
    }
    let file = if saved { arguments.save.display().to_string() } else { "not saved".into() };
    say(format_args!("{file}: {transitions} transitions; {outcome}"))?;
    if let Some(s) = stability {
        say(format_args!(
            "learned from half of the people, {:.1} % of decisions change, with {:.4} of value at stake in each (spread of values {:.4}; {} splits)",
            100.0 * s.changed,
            s.at_stake,
            s.value_sd,
            s.splits
        ))?;
    }
    warn(&warnings);
    warn(&reservations.iter().map(Reservation::to_string).collect::<Vec<_>>());
    ended
}

/// Reservations as one reason not to save.
fn in_one_line(reservations: &[Reservation]) -> Result<(), String> {
    let reasons: Vec<String> = reservations.iter().map(Reservation::to_string).collect();
    if reasons.is_empty() { Ok(()) } else { Err(reasons.join("; and ")) }
}
