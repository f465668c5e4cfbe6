//! `counterfair show`: what a policy does, in words and cut points.

use super::error::CliError;
use super::output::{say, say_json, say_wrapped};
use counterfair::fair::{Method, Policy, Reservation, Rule};
use counterfair::report::study::cut_points;
use serde_json::json;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// A policy file
    #[arg(value_name = "POLICY.json")]
    policy: PathBuf,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<(), CliError> {
    let policy = Policy::load(&arguments.policy)?;
    let rule = Rule::of(&policy);
    let reservations: Vec<String> = policy.reservations().iter().map(Reservation::to_string).collect();
    if arguments.json {
        let found = json!({
            "format": "counterfair rule", "version": 1, "method": policy.method, "outcome": policy.manifest.outcome,
            "groups": policy.levels.names(), "actions": policy.actions.names(), "reservations": reservations, "rule": rule,
        });
        return Ok(say_json(&found)?);
    }
    let reads = match policy.method {
        Method::Ours => "decides from the states that a person would have in every group, by what was observed of them",
        Method::Full => "decides from the state and the group",
        Method::Unaware => "decides from the state, without the group",
    };
    say_wrapped(format!(
        "The policy {reads}. It was learned from {} transitions; {}.",
        policy.manifest.transitions, policy.manifest.outcome
    ))?;
    for reservation in reservations {
        say_wrapped(format!("Mind: {reservation}."))?;
    }
    match rule {
        Some(rule) => say(cut_points(&rule).terminal())?,
        None => {
            say_wrapped("The file does not say what states were typical, so that no cut points are shown.".to_string())?
        }
    }
    Ok(())
}
