//! `counterfair preprocess`: alg:cf:1 on a user's file.

use super::error::CliError;
use super::files::Files;
use super::large::{self, MemoryOptions, TooSmall};
use super::options::{DataOptions, ModelOptions};
use super::output::{mechanism_table, noise_report, note, say, say_json, say_noise, warn};
use super::progress::{PREPROCESS, stages};
use counterfair::estimate::Fitted;
use counterfair::fair::{FittedPreprocessing, People, preprocess};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    data: DataOptions,
    #[command(flatten)]
    memory: MemoryOptions,
    #[command(flatten)]
    model: ModelOptions,
    /// Cross-fit over this many contiguous blocks of people
    #[arg(long, value_name = "K", help_heading = "Model")]
    folds: Option<usize>,
    /// The file to write: the input's columns, with the counterfactual states of all groups as state1, state2, …
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: PathBuf,
    /// Save the fitted mechanism with names and columns as JSON, for `evaluate` and `study` with a `--policy-command`
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    save: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<(), CliError> {
    Files::default()
        .reading("--data", [&arguments.data.data])
        .writing("--out", [&arguments.out])
        .writing("--save", &arguments.save)
        .check_writable()?;
    if let Some(limit) = arguments.memory.needed_for(&arguments.data.data)? {
        return run_large(arguments, &limit);
    }
    let (people, done) = stages(&PREPROCESS, |watch| {
        watch("reading");
        let people = arguments.data.read()?;
        let done = preprocess(people.panel(), &arguments.model.preprocessing(&people, arguments.folds)?, watch)?;
        watch("writing");
        people.write_preprocessed(&arguments.out, done.experience.views(), done.experience.rewards())?;
        Ok::<_, CliError>((people, done))
    })?;
    if let Some(path) = &arguments.save {
        FittedPreprocessing::of(&people, &done).save(path)?;
    }
    let panel = people.panel();
    let warnings = done.warnings(&people);
    let figures = [panel.people(), panel.decisions(), panel.transitions()];
    arguments.summarize(&people, figures, &done.mechanism, &done.level_weights, || {
        serde_json::json!({
            "noise_check": done.noise, "diagnostics": done.diagnostics, "remarks": people.remarks(), "warnings": warnings,
        })
    })?;
    if !arguments.json {
        warn(&warnings);
    }
    Ok(())
}

impl Arguments {
    /// Prints what was fitted: as tables, or as JSON with what `more` adds to it.
    fn summarize(
        &self,
        people: &People,
        [count, decisions, transitions]: [usize; 3],
        mechanism: &Fitted,
        level_weights: &[f64],
        more: impl FnOnce() -> serde_json::Value,
    ) -> Result<(), CliError> {
        let (levels, gain) = (people.panel().levels(), mechanism.gain());
        if self.json {
            let mut summary = serde_json::json!({
                "people": count, "decisions": decisions, "transitions": transitions,
                "levels": levels, "actions": people.panel().action_names(), "level_weights": level_weights,
                "gain": gain, "regressions": mechanism.reports(), "noise": noise_report(mechanism),
                "outputs": people.output_names(), "notes": people.notes(), "repairs": people.repairs(),
            });
            if let (Some(summary), serde_json::Value::Object(more)) = (summary.as_object_mut(), more()) {
                summary.extend(more);
            }
            return Ok(say_json(&summary)?);
        }
        say(mechanism_table(mechanism, people))?;
        say_noise(mechanism, people)?;
        let (out, levels) = (self.out.display(), levels.len());
        say(format_args!("{out}: {count} people, {decisions} decisions, {levels} groups; one-step gain {gain:.3}"))?;
        Ok(())
    }
}

/// The same for people who do not fit in memory.
fn run_large(arguments: &Arguments, limit: &TooSmall) -> Result<(), CliError> {
    if arguments.save.is_some() {
        return Err(CliError::Argument("--save needs everybody in memory: raise --ram, or `learn` a policy".into()));
    }
    let (large, mechanism, weights) = stages(&PREPROCESS, |watch| {
        watch("reading");
        let large = large::read(&arguments.data, limit, true)?;
        let settings = arguments.model.preprocessing(large.sketch(), arguments.folds)?;
        let (mechanism, weights) = large.preprocess(&settings, &arguments.out, watch)?;
        Ok::<_, CliError>((large, mechanism, weights))
    })?;
    let panel = large.panel();
    let figures = [panel.people(), panel.decisions(), panel.transitions()];
    arguments.summarize(
        large.sketch(),
        figures,
        &mechanism,
        &weights,
        || serde_json::json!({ "sorted": large.was_sorted() }),
    )?;
    if large.was_sorted() && !arguments.json {
        note("rows are written in the order of people and times");
    }
    Ok(())
}
