//! `counterfair simulate`.

use super::error::CliError;
use super::files::Files;
use super::options::Rows;
use super::output::{say, say_wrapped};
use super::progress::stage;
use clap::ValueEnum;
use counterfair::files::{Columns, write};
use counterfair::kernel::model::worlds::{NAMES, by_name};
use counterfair::kernel::model::{Exogenous, try_simulate};
use counterfair::kernel::numeric::Stream;
use counterfair::reproduction::{CallEffect, ScoreScale, WeeklyCalls};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// The world: weekly-calls, a trial like the paper's own; those of the paper and like them: linear, nonlinear, bandit, three-levels; or
    /// one with uneven noise: spread-by-level, spread-by-state, skewed, three-levels-mixed
    #[arg(long, value_name = "WORLD", value_parser = clap::builder::PossibleValuesParser::new(worlds()), hide_possible_values = true)]
    world: String,
    /// People
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    n: u64,
    /// Decisions for each person
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    t: u64,
    /// Strength δ of the sensitive attribute [default: 1; weekly-calls has one of its own]
    #[arg(long, allow_negative_numbers = true)]
    delta: Option<f64>,
    /// Seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Row convention of the file [default: incoming; weekly-calls has outgoing rows]
    #[arg(long, value_enum)]
    rows: Option<Rows>,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    calls: CallOptions,
}

/// What the trial of weekly calls is like.
#[derive(clap::Args)]
#[command(next_help_heading = "Only with --world weekly-calls")]
struct CallOptions {
    /// How finely scores are recorded [default: integer]
    #[arg(long, value_enum)]
    scale: Option<Scale>,
    /// For whom a longer call is better than a brief one [default: some]
    #[arg(long, value_enum)]
    effect: Option<Effect>,
    /// Carry scores on unrounded: only the record is on the scale
    #[arg(long)]
    latent: bool,
    /// Standard deviation of an unobserved trait of the person that moves scores and rewards [default: 0]
    #[arg(long = "trait", value_name = "SD")]
    trait_sd: Option<f64>,
    /// Leave out some weeks, and the scores of others
    #[arg(long)]
    missed_weeks: bool,
    /// Add a fourth group, with a share of 4 %
    #[arg(long)]
    small_group: bool,
}

/// How scores are recorded, as the command line spells it.
#[derive(Clone, Copy, ValueEnum)]
enum Scale {
    /// As they are
    Exact,
    /// 0, 0.5, …, 10
    Half,
    /// 0, 1, …, 10
    Integer,
}

/// For whom calls are good, as the command line spells it.
#[derive(Clone, Copy, ValueEnum)]
enum Effect {
    /// For people in pain
    Some,
    /// For everybody alike
    Everybody,
    /// For nobody
    None,
}

/// The world that is a trial.
const WEEKLY_CALLS: &str = "weekly-calls";

fn worlds() -> Vec<&'static str> {
    std::iter::once(WEEKLY_CALLS).chain(NAMES).collect()
}

impl CallOptions {
    fn trial(&self) -> Result<WeeklyCalls, CliError> {
        let trait_sd = self.trait_sd.unwrap_or(0.0);
        if !(trait_sd >= 0.0 && trait_sd.is_finite()) {
            return Err(CliError::Argument(format!(
                "--trait is {trait_sd}; a standard deviation is a number from 0 on"
            )));
        }
        Ok(WeeklyCalls {
            scale: match self.scale {
                Some(Scale::Exact) => ScoreScale::Exact,
                Some(Scale::Half) => ScoreScale::Half,
                Some(Scale::Integer) | None => ScoreScale::Integer,
            },
            effect: match self.effect {
                Some(Effect::Some) | None => CallEffect::Some,
                Some(Effect::Everybody) => CallEffect::Everybody,
                Some(Effect::None) => CallEffect::None,
            },
            latent: self.latent,
            trait_sd,
            missed_weeks: self.missed_weeks,
            small_group: self.small_group,
        })
    }

    /// The first option that was given.
    fn given(&self) -> Option<&'static str> {
        let options = [
            ("--scale", self.scale.is_some()),
            ("--effect", self.effect.is_some()),
            ("--latent", self.latent),
            ("--trait", self.trait_sd.is_some()),
            ("--missed-weeks", self.missed_weeks),
            ("--small-group", self.small_group),
        ];
        options.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }
}

pub fn run(arguments: &Arguments) -> Result<(), CliError> {
    if arguments.world == WEEKLY_CALLS {
        return weekly_calls(arguments);
    }
    if let Some(option) = arguments.calls.given() {
        return Err(CliError::Argument(format!("{option} has a meaning with --world {WEEKLY_CALLS} only")));
    }
    let delta = arguments.delta.unwrap_or(1.0);
    if !delta.is_finite() {
        return Err(CliError::Argument(format!("--delta is {delta}, not a finite number")));
    }
    Files::default().writing("--out", [&arguments.out]).check_writable()?;
    let unknown = || CliError::Argument(format!("there is no world {:?}", arguments.world));
    let world = by_name(&arguments.world, delta).ok_or_else(unknown)?;
    let stream = Stream::new(arguments.seed).named("simulate");
    let panel = stage("simulating", || {
        try_simulate(&*world, &Exogenous::draw(&*world, arguments.n as usize, arguments.t as usize, stream))
    })?;
    let columns = Columns::default();
    stage("writing", || write(&arguments.out, &panel, &columns, arguments.rows.unwrap_or(Rows::Incoming).into()))?;
    say(format!(
        "{}: {} people, {} decisions, world {} with δ = {}, seed {}",
        arguments.out.display(),
        panel.people(),
        panel.decisions(),
        world.name(),
        delta,
        arguments.seed
    ))?;
    Ok(())
}

fn weekly_calls(arguments: &Arguments) -> Result<(), CliError> {
    let refuse = |option: &str, why: &str| {
        Err(CliError::Argument(format!("{option} has no meaning with --world {WEEKLY_CALLS}: {why}")))
    };
    if arguments.delta.is_some() {
        return refuse("--delta", "the strength of its attribute is part of the trial");
    }
    if matches!(arguments.rows, Some(Rows::Incoming)) {
        return refuse("--rows incoming", "a row holds the scores before a call, the call and what followed");
    }
    let trial = arguments.calls.trial()?;
    let (people, weeks) = (arguments.n as usize, arguments.t as usize);
    let rows = stage("simulating", || trial.write(&arguments.out, people, weeks, arguments.seed))?;
    let out = arguments.out.display();
    say(format!("{out}: {people} people, {rows} decisions, world {WEEKLY_CALLS}, seed {}", arguments.seed))?;
    say_wrapped(format!(
        "counterfair study --data {out} --rows outgoing --time week --z ethnicity --action call --states pain,interference{}",
        if trial.missed_weeks { " --missing drop-tail" } else { "" }
    ))?;
    Ok(())
}
