//! `counterfair learn`: preprocess a file, run fitted Q iteration, save the policy.

use super::error::CliError;
use super::files::{Files, refuse_to_replace};
use super::large::{self, MemoryOptions};
use super::options::{DataOptions, ModelOptions};
use super::output::{command_line, mechanism_table, noise_report, note, say, say_json, say_noise, stages, warn};
use clap::ValueEnum;
use counterfair::fair::{Learned, Learner, Method, People, Reservation, Shard, ValueClass};
use counterfair::kernel::learn::{Clipping, Settings, StableSettings};
use counterfair::kernel::model::fitted::Basis;
use counterfair::kernel::numeric::Stream;
use counterfair::reproduction::Shard as Share;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    data: DataOptions,
    #[command(flatten)]
    memory: MemoryOptions,
    /// Learn together with other machines, each from the k-th of n stretches of the file's people; all of them run this command at the same time, and
    /// the first writes the policy
    #[arg(long, value_name = "K/N", requires = "exchange")]
    shard: Option<Share>,
    /// Folder that all shards see, empty at first, through which they exchange their sums
    #[arg(long, value_name = "DIR", requires = "shard")]
    exchange: Option<PathBuf>,
    #[command(flatten)]
    model: ModelOptions,
    /// What the policy reads: ours (counterfactual states of all levels, fair), full (state and level) or unaware (state without level)
    #[arg(long, default_value = "ours", value_name = "METHOD")]
    method: Method,
    /// Cross-fit over this many folds of people
    #[arg(long, value_name = "K")]
    folds: Option<usize>,
    /// How the action value is fitted
    #[arg(long, value_enum, default_value_t = LearnerName::Stable)]
    learner: LearnerName,
    /// Discount γ
    #[arg(long, default_value_t = 0.9)]
    discount: f64,
    /// Lower values by this many standard errors, for data that cover little (stable) [default: 0]
    #[arg(long, value_name = "K")]
    pessimism: Option<f64>,
    /// Total degree of the action value's polynomial (least-squares) [default: 2]
    #[arg(long)]
    degree: Option<usize>,
    /// Most iterations of fitted Q [default: 2000 for stable, 100 otherwise]
    #[arg(long)]
    iterations: Option<usize>,
    /// Stop once values move by less than this share (stable, least-squares) [default: 1e-8 for stable, 0 otherwise]
    #[arg(long)]
    tolerance: Option<f64>,
    /// Hold rewards in [-R, R] and values in [-R/(1-γ), R/(1-γ)] (least-squares)
    #[arg(long, value_name = "R")]
    clip: Option<f64>,
    /// Refits with resampled people that the policy file keeps, so that its unfairness can be judged on others
    #[arg(long, default_value_t = 200, value_name = "B")]
    replicates: usize,
    /// How often the people are halved to see how stable the policy is
    #[arg(long, default_value_t = 3, value_name = "N")]
    splits: usize,
    /// The policy file to write
    #[arg(long, value_name = "FILE")]
    save: PathBuf,
    /// Replace a file of that name
    #[arg(long)]
    overwrite: bool,
    /// Save the policy even if learning diverged, had not settled or was rank-deficient; or if the data leave nothing to learn, a state is kept
    /// or recorded in categories: the file then says so, and `decide` repeats it
    #[arg(long)]
    save_anyway: bool,
    /// Print the summary as JSON
    #[arg(long)]
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

    /// What looks at everybody at once has no form for people on several machines.
    fn refuse_with_shards(&self) -> Result<(), CliError> {
        let needs_everybody = [
            ("--folds", self.folds.is_some()),
            ("--pessimism", self.pessimism.is_some_and(|k| k > 0.0)),
            ("--learner other than stable", self.learner != LearnerName::Stable),
            ("--model neural", self.model.model.0 == Basis::Neural),
        ];
        match needs_everybody.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((option, _)) => Err(CliError::Argument(format!(
                "{option} needs everybody in the memory of one machine: it cannot be had with --shard"
            ))),
        }
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
    if arguments.shard.is_none_or(|share| share.number() == 1) {
        refuse_to_replace("--save", &arguments.save, arguments.overwrite)?;
        files.check_writable()?;
    }
    let shard = arguments.shard.zip(arguments.exchange.clone());
    let shard = shard.map(|(share, folder)| Shard { number: share.number(), of: share.of(), folder });
    let limit = match &shard {
        Some(_) => {
            arguments.refuse_with_shards()?;
            Some(arguments.memory.limit(&arguments.data.data)?)
        }
        None => arguments.memory.needed_for(&arguments.data.data)?,
    };
    let mut counted = None;
    let (people, learned) = stages(|watch| {
        watch("reading");
        if let Some(limit) = &limit {
            let large = match &shard {
                Some(shard) => large::read_shard(&arguments.data, limit, shard)?,
                None => large::read(&arguments.data, limit, false)?,
            };
            let learned = arguments.learner(large.sketch())?.learn_large(&large, watch)?;
            counted = Some(large.panel().people());
            if let Some(spent) = large.spent() {
                note(format_args!(
                    "shards said their sums {} times: {:.1} MB from this one, which waited {:.1} s for the others",
                    spent.rounds,
                    spent.bytes as f64 / 1e6,
                    spent.waited.as_secs_f64()
                ));
            }
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
    // All shards have the same policy.
    let is_first = shard.as_ref().is_none_or(|shard| shard.number == 1);
    let saved = is_first && (fitness.is_ok() || arguments.save_anyway);
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
        Err(why) if !(saved || arguments.save_anyway) => {
            Err(CliError::NotSaved { file: arguments.save.display().to_string(), why })
        }
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
    let file = match (saved, is_first) {
        (true, _) => arguments.save.display().to_string(),
        (false, true) => "not saved".into(),
        (false, false) => "left to the first shard to save".into(),
    };
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
