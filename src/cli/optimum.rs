//! `counterfair optimum`: the best values there are in the paper's worlds.

use super::error::CliError;
use super::output::{say, table};
use super::progress::stage;
use clap::ValueEnum;
use counterfair::theory::optimum::{Bounded, PaperWorld, optimum};

#[derive(clap::Args)]
pub struct Arguments {
    /// The world of supplement F.2
    #[arg(long, value_enum)]
    world: WorldName,
    /// Strength δ of the sensitive attribute
    #[arg(long, allow_negative_numbers = true)]
    delta: f64,
    /// Discount γ
    #[arg(long, default_value_t = 0.9)]
    gamma: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum WorldName {
    Linear,
    Nonlinear,
}

pub fn run(arguments: &Arguments) -> Result<(), CliError> {
    let world = match arguments.world {
        WorldName::Linear => PaperWorld::Linear,
        WorldName::Nonlinear => PaperWorld::Nonlinear,
    };
    let found = stage("solving", || optimum(world, arguments.delta, arguments.gamma))?;
    let price = found.price_of_fairness();
    if arguments.json {
        let bounded = |b: Bounded| serde_json::json!({ "value": b.value, "error": b.error });
        let summary = serde_json::json!({
            "world": arguments.world.to_possible_value().map(|v| v.get_name().to_string()),
            "delta": arguments.delta, "gamma": arguments.gamma,
            "fair": bounded(found.fair), "full": bounded(found.full), "price_of_fairness": bounded(price),
        });
        say(format!("{summary:#}"))?;
    } else {
        let row =
            |name: &str, b: Bounded| vec![name.to_string(), format!("{:.12}", b.value), format!("{:.1e}", b.error)];
        let rows = [
            row("best fair, J*CF", found.fair),
            row("best unrestricted, J*Full", found.full),
            row("price of fairness", price),
        ];
        say(table(&["value over an infinite horizon", "value", "error below"], rows))?;
    }
    Ok(())
}
