//! `counterfair preprocess`: alg:cf:1 on a user's file.

use super::error::CliError;
use super::options::{DataOptions, ModelOptions};
use super::output::{mechanism_table, stage, warnings};
use counterfair::kernel::data::{Panel, atomically, write_preprocessed};
use counterfair::kernel::model::fitted::{Fitted, fit};
use counterfair::kernel::preprocess::diagnostics::{Diagnostics, diagnose};
use counterfair::kernel::preprocess::{Augmented, Experience, Sequential, batch, cross_fitted_batch};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    data: DataOptions,
    #[command(flatten)]
    model: ModelOptions,
    /// Cross-fit over this many contiguous blocks of people
    #[arg(long, value_name = "K")]
    folds: Option<usize>,
    /// The file to write: the input's columns, with the counterfactual states of all levels as state1, state2, …
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Save the fitted mechanism as JSON
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// A panel after alg:cf:1, with the mechanism fitted on all of it and what there is to know about both.
pub struct Preprocessed {
    pub mechanism: Fitted,
    pub weights: Vec<f64>,
    pub experience: Experience<Augmented>,
    pub diagnostics: Diagnostics,
}

/// Lines 1 to 11 of the algorithm, with or without cross-fitting.
pub fn preprocess(panel: &Panel, model: &ModelOptions, folds: Option<usize>) -> Result<Preprocessed, CliError> {
    let settings = model.settings();
    let weights = model.level_weights(panel)?;
    let mechanism = stage("fitting the mechanism", || fit(panel, &settings))?;
    let experience = match folds {
        None => stage("reconstructing counterfactual states", || {
            batch(&Sequential::new(mechanism.clone(), weights.clone()), panel)
        })?,
        Some(folds) => stage("cross-fitting", || cross_fitted_batch(panel, &settings, &weights, folds))?,
    };
    let diagnostics = stage("diagnosing", || diagnose(&mechanism, panel, &experience));
    Ok(Preprocessed { mechanism, weights, experience, diagnostics })
}

pub fn run(arguments: &Arguments) -> Result<(), CliError> {
    let read = stage("reading", || arguments.data.read(None))?;
    let panel = &read.panel;
    let done = preprocess(panel, &arguments.model, arguments.folds)?;
    stage("writing", || write_preprocessed(&arguments.out, &read, done.experience.views(), done.experience.rewards()))?;
    if let Some(path) = &arguments.save {
        atomically(path, |out| Ok(serde_json::to_writer_pretty(out, &done.mechanism)?))?;
    }
    let warnings = warnings(&done.mechanism, panel, &done.diagnostics);
    if arguments.json {
        let summary = serde_json::json!({
            "people": panel.people(), "decisions": panel.decisions(), "transitions": panel.transitions(),
            "levels": panel.levels(), "actions": panel.action_names(), "level_weights": done.weights,
            "gain": done.mechanism.gain(), "regressions": done.mechanism.reports(),
            "diagnostics": done.diagnostics, "warnings": warnings,
        });
        println!("{summary:#}");
    } else {
        println!("{}", mechanism_table(&done.mechanism, panel));
        println!(
            "{}: {} people, {} decisions, {} levels; one-step gain {:.3}",
            arguments.out.display(),
            panel.people(),
            panel.decisions(),
            panel.levels().len(),
            done.mechanism.gain()
        );
        for line in warnings {
            eprintln!("warning: {line}");
        }
    }
    Ok(())
}
