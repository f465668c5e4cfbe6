//! `counterfair simulate`.

use super::error::CliError;
use super::files::Files;
use super::options::Rows;
use super::output::{say, stage};
use counterfair::files::{Columns, write};
use counterfair::kernel::model::worlds::{NAMES, by_name};
use counterfair::kernel::model::{Exogenous, try_simulate};
use counterfair::kernel::numeric::Stream;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// The world: linear, nonlinear, bandit, three-levels, or one with uneven noise: spread-by-level, spread-by-state, skewed,
    /// three-levels-mixed
    #[arg(long, value_parser = NAMES)]
    world: String,
    /// People
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    n: u64,
    /// Decisions for each person
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    t: u64,
    /// Strength δ of the sensitive attribute
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    delta: f64,
    /// Seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Row convention of the file
    #[arg(long, value_enum, default_value_t = Rows::Incoming)]
    rows: Rows,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub fn run(arguments: &Arguments) -> Result<(), CliError> {
    if !arguments.delta.is_finite() {
        return Err(CliError::Argument(format!("--delta is {}, not a finite number", arguments.delta)));
    }
    Files::default().writing("--out", [&arguments.out]).check_writable()?;
    let unknown = || CliError::Argument(format!("there is no world {:?}", arguments.world));
    let world = by_name(&arguments.world, arguments.delta).ok_or_else(unknown)?;
    let stream = Stream::new(arguments.seed).named("simulate");
    let panel = stage("simulating", || {
        try_simulate(&*world, &Exogenous::draw(&*world, arguments.n as usize, arguments.t as usize, stream))
    })?;
    let columns = Columns::default();
    stage("writing", || write(&arguments.out, &panel, &columns, arguments.rows.into()))?;
    say(format!(
        "{}: {} people, {} decisions, world {} with δ = {}, seed {}",
        arguments.out.display(),
        panel.people(),
        panel.decisions(),
        world.name(),
        arguments.delta,
        arguments.seed
    ))?;
    Ok(())
}
