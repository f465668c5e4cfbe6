//! `counterfair learn`: preprocess a file, run fitted Q iteration, save the policy.

use super::error::CliError;
use super::options::{DataOptions, ModelOptions};
use super::output::{mechanism_table, stage, warnings};
use super::preprocess::preprocess;
use clap::ValueEnum;
use counterfair::kernel::data::{Panel, atomically};
use counterfair::kernel::learn::features::{Features, Polynomial};
use counterfair::kernel::learn::stored::{Manifest, Method, Parts, StoredPolicy, StoredQ};
use counterfair::kernel::learn::{
    Clipping, FittedQ, NeuralSettings, Outcome, Settings, fitted_q_iteration, neural_fitted_q_iteration,
};
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::preprocess::{Experience, Full, Unaware, View, batch};
use counterfair::report::outcome as outcome_in_words;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    data: DataOptions,
    #[command(flatten)]
    model: ModelOptions,
    /// What the policy reads
    #[arg(long, value_enum, default_value_t = MethodName::Ours)]
    method: MethodName,
    /// Cross-fit over this many contiguous blocks of people
    #[arg(long, value_name = "K")]
    folds: Option<usize>,
    /// How the action value is fitted
    #[arg(long, value_enum, default_value_t = Learner::LeastSquares)]
    learner: Learner,
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
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Classes of action values.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Learner {
    /// Polynomials, by least squares
    LeastSquares,
    /// A net with supplement F.1's settings
    Neural,
}

/// Methods that can be learned from a file.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum MethodName {
    /// Counterfactual states of all levels: fair
    Ours,
    /// State and level: not fair
    Full,
    /// State without level: not fair either
    Unaware,
}

pub fn run(arguments: &Arguments) -> Result<(), CliError> {
    let read = stage("reading", || arguments.data.read(None))?;
    let panel = &read.panel;
    let (p, levels) = (panel.state_dim(), panel.levels().len());
    let mut notes = Vec::new();
    let (method, mechanism, level_weights, fit) = match arguments.method {
        MethodName::Ours => {
            let done = preprocess(panel, &arguments.model, arguments.folds)?;
            notes = warnings(&done.mechanism, panel, &done.diagnostics);
            if !arguments.json {
                println!("{}", mechanism_table(&done.mechanism, panel));
            }
            let fit = learn(arguments, &done.experience, p * levels, 1)?;
            (Method::Ours, Some(done.mechanism), done.weights, fit)
        }
        MethodName::Full => {
            let experience = batch(&Full { state_dim: p }, panel)?;
            // With a single level the code is constant, and the indicators of its other levels are none.
            (Method::Full, None, panel.level_shares(), learn(arguments, &experience, p, levels.max(2))?)
        }
        MethodName::Unaware => {
            let experience = batch(&Unaware { state_dim: p }, panel)?;
            (Method::Unaware, None, panel.level_shares(), learn(arguments, &experience, p, 1)?)
        }
    };
    notes.extend(outcome_warning(fit.outcome, panel));
    let policy = StoredPolicy::new(Parts {
        method,
        levels: panel.levels().clone(),
        actions: panel.action_names().clone(),
        state_dim: p,
        columns: read.layout.columns().clone(),
        rows: arguments.data.rows.into(),
        level_weights,
        mechanism,
        q: fit.q,
        manifest: Manifest {
            program: format!("counterfair {}", env!("CARGO_PKG_VERSION")),
            command: std::env::args().skip(1).collect::<Vec<_>>().join(" "),
            seed: arguments.model.seed,
            discount: arguments.discount,
            transitions: fit.transitions,
            outcome: outcome_in_words(fit.outcome),
        },
    });
    atomically(&arguments.save, |out| Ok(serde_json::to_writer_pretty(out, &policy)?))?;
    if arguments.json {
        let summary = serde_json::json!({
            "method": method, "people": panel.people(), "transitions": fit.transitions, "outcome": outcome_in_words(fit.outcome),
            "condition": fit.condition, "warnings": notes,
        });
        println!("{summary:#}");
    } else {
        println!("{}: {} transitions; {}", arguments.save.display(), fit.transitions, outcome_in_words(fit.outcome));
        for line in notes {
            eprintln!("warning: {line}");
        }
    }
    Ok(())
}

/// A fit without its view type, ready to be stored.
struct Learned {
    q: StoredQ,
    outcome: Outcome,
    /// Largest condition number of the regressions; nets have none.
    condition: Option<f64>,
    transitions: usize,
}

fn learn<V: View>(
    arguments: &Arguments,
    experience: &Experience<V>,
    coordinates: usize,
    levels: usize,
) -> Result<Learned, CliError> {
    if arguments.learner == Learner::Neural {
        let settings = NeuralSettings {
            discount: arguments.discount,
            iterations: arguments.iterations,
            ..NeuralSettings::default()
        };
        let stream = Stream::new(arguments.model.seed).named("neural q");
        let (q, outcome) = stage("fitted Q iteration with a net", || {
            neural_fitted_q_iteration(experience, levels, &settings, stream)
        })?;
        let q = StoredQ::Neural(q.net().clone());
        return Ok(Learned { q, outcome, condition: None, transitions: experience.transitions() });
    }
    let features = Polynomial::for_rows(experience.views(), coordinates, levels, arguments.degree)?;
    let settings = Settings {
        discount: arguments.discount,
        iterations: arguments.iterations,
        tolerance: arguments.tolerance,
        clipping: arguments.clip.map_or(Clipping::Off, Clipping::Rewards),
    };
    let FittedQ { q, outcome, condition, transitions } =
        stage("fitted Q iteration", || fitted_q_iteration(experience, &features, settings))?;
    let q = StoredQ::Linear { features: Features::Polynomial(features), weights: q.weights().to_vec() };
    Ok(Learned { q, outcome, condition: Some(condition), transitions })
}

fn outcome_warning(outcome: Outcome, panel: &Panel) -> Option<String> {
    match outcome {
        Outcome::RankDeficient { action, rank, features } => Some(format!(
            "action {}: the data determine {rank} of {features} weights; its values are not to be trusted everywhere",
            panel.action_names().name(action)
        )),
        Outcome::Diverged { iteration } => Some(format!(
            "fitted Q iteration diverged at iteration {iteration}; try --clip, a lower --degree or a lower --discount"
        )),
        Outcome::Converged { .. } | Outcome::IterationLimit { .. } => None,
    }
}
