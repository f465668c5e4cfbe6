//! `counterfair evaluate`: how good and how fair a stored policy is on a file.

use super::error::CliError;
use super::options::{Missing, ModelOptions};
use super::output::{stage, table, warnings};
use counterfair::kernel::data::{MissingRepair, Panel, ReadOptions, read};
use counterfair::kernel::evaluate::{
    EvaluationSettings, FittedEvaluation, OffPolicy, PanelAudit, PanelDraws, audit, fitted_q_evaluation,
    probabilities_along,
};
use counterfair::kernel::learn::features::Polynomial;
use counterfair::kernel::learn::stored::{Method, StoredPolicy};
use counterfair::kernel::learn::{Outcome, Policy, fit_propensity};
use counterfair::kernel::model::fitted::fit;
use counterfair::kernel::numeric::{Estimate, Stream};
use counterfair::kernel::preprocess::diagnostics::diagnose;
use counterfair::kernel::preprocess::{Experience, Full, Sequential, View, batch};
use serde_json::json;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// The policy file
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    /// The file to evaluate on, laid out as the one the policy was learned from; best not the same people
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// What to do about missing cells
    #[arg(long, value_enum, default_value_t = Missing::Refuse)]
    missing: Missing,
    /// The evaluator's own mechanism, fitted on this file and not the policy's
    #[command(flatten)]
    model: ModelOptions,
    /// Total degree of the polynomial that the value is fitted with
    #[arg(long, default_value_t = 2)]
    degree: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A policy judged by its own mistakes: every fair policy passes, however wrong its means are.
const OWN_MEANS: &str = "the evaluator's mechanism is the policy's own (same people, same model), so the CF metric is 0 whatever the \
     policy's errors; evaluate on other people, or with another --model";

/// A value and the name of its estimator, or why there is none.
type Row = (&'static str, Result<Estimate, String>);

pub fn run(arguments: &Arguments) -> Result<(), CliError> {
    let policy = StoredPolicy::read(&arguments.policy)?;
    let options = ReadOptions {
        columns: policy.columns.clone(),
        rows: policy.rows,
        missing: match arguments.missing {
            Missing::Refuse => MissingRepair::Refuse,
            Missing::DropTail => MissingRepair::DropTail,
        },
        levels: Some(policy.levels.clone()),
        actions: Some(policy.actions.clone()),
    };
    let found = stage("reading", || read(&arguments.data, &options))?;
    let panel = &found.panel;
    if panel.state_dim() != policy.state_dim {
        return Err(CliError::Argument(format!(
            "{} has {} state columns, the policy reads {}",
            arguments.data.display(),
            panel.state_dim(),
            policy.state_dim
        )));
    }
    let agent = policy.agent();
    let draws = PanelDraws::draw(panel, Stream::new(arguments.model.seed).named("evaluate"));

    let mechanism = stage("fitting the evaluator's mechanism", || fit(panel, &arguments.model.settings()))?;
    let audit = stage("asking the policy in every world", || audit(panel, &mechanism, &*agent, &draws))?;
    let along = probabilities_along(panel, &*agent, &draws.coins)?;
    let (values, overlap) = stage("estimating the value", || values(arguments, &policy, panel, &along))?;

    let worlds = Sequential::new(&mechanism, arguments.model.level_weights(panel)?);
    let mut notes = warnings(&mechanism, panel, &diagnose(&mechanism, panel, &batch(&worlds, panel)?));
    if policy.mechanism.as_ref() == Some(&mechanism) {
        notes.insert(0, OWN_MEANS.into());
    }
    if arguments.json {
        print_json(&policy, panel, &audit, &values, overlap, &notes);
    } else {
        print_tables(&policy, panel, &audit, &values, overlap);
        for line in notes {
            eprintln!("warning: {line}");
        }
    }
    Ok(())
}

/// The value by fitted Q evaluation and by weighting, and the effective number of people at the last decision.
fn values(
    arguments: &Arguments,
    policy: &StoredPolicy,
    panel: &Panel,
    along: &[f64],
) -> Result<(Vec<Row>, Option<f64>), CliError> {
    let (p, levels, discount) = (panel.state_dim(), panel.levels().len(), policy.manifest.discount);
    let observed = batch(&Full { state_dim: p }, panel)?;
    let (fitted, action_values) = match (policy.method, &policy.mechanism) {
        (Method::Ours, Some(mechanism)) => {
            let sequential = Sequential::new(mechanism, policy.level_weights.clone());
            let views = batch(&sequential, panel)?.with_level(panel);
            by_regression(arguments, &views, along, levels * p, levels, discount)?
        }
        _ => by_regression(arguments, &observed, along, p, levels, discount)?,
    };
    let mut rows: Vec<Row> = vec![("fitted Q evaluation, endless horizon", fitted)];
    let features = Polynomial::for_rows(observed.views(), p, levels.max(2), 1)?;
    let mut behaviour = vec![0.0; along.len()];
    fit_propensity(&observed, &features)?.policy.probabilities(observed.views(), p + 1, &mut behaviour);
    let mut effective = None;
    match OffPolicy::new(panel, along, &behaviour, discount) {
        Ok(weighting) => {
            rows.push((
                "weighted importance sampling, recorded horizon",
                weighting.weighted().map_err(|e| e.to_string()),
            ));
            rows.push((
                "doubly robust, recorded horizon",
                weighting.doubly_robust(&action_values).map_err(|e| e.to_string()),
            ));
            effective = weighting.overlap().effective_people.last().copied();
        }
        Err(problem) => rows.push(("importance sampling, recorded horizon", Err(problem.to_string()))),
    }
    rows.push(("what people received, recorded horizon", Ok(recorded(panel, discount))));
    Ok((rows, effective))
}

/// Fitted Q evaluation, and Q along the data for the doubly robust estimator.
fn by_regression<V: View>(
    arguments: &Arguments,
    views: &Experience<V>,
    along: &[f64],
    coordinates: usize,
    levels: usize,
    discount: f64,
) -> Result<(Result<Estimate, String>, Vec<f64>), CliError> {
    use counterfair::kernel::learn::ActionValue;
    let features = Polynomial::for_rows(views.views(), coordinates, levels.max(2), arguments.degree)?;
    let settings = EvaluationSettings { discount, ..EvaluationSettings::default() };
    let FittedEvaluation { value, outcome, q, .. } = fitted_q_evaluation(views, along, &features, settings)?;
    let rows = views.views().len() / views.width();
    let mut by_action = vec![0.0; rows * q.actions()];
    q.values(views.views(), &mut by_action);
    let by_row =
        (0..rows).flat_map(|i| (0..q.actions()).map(move |a| (i, a))).map(|(i, a)| by_action[a * rows + i]).collect();
    let value = value.ok_or_else(|| match outcome {
        Outcome::Diverged { iteration } => format!("diverged at iteration {iteration}"),
        other => format!("{other:?}"),
    });
    Ok((value, by_row))
}

/// The mean discounted reward that people did receive.
fn recorded(panel: &Panel, discount: f64) -> Estimate {
    let returns: Vec<f64> = panel
        .iter()
        .map(|person| person.rewards.iter().rev().fold(0.0, |later, reward| reward + discount * later))
        .collect();
    Estimate::of(&returns)
}

fn interval(estimate: &Estimate) -> String {
    let (low, high) = estimate.interval(0.95);
    format!("{low:.4} … {high:.4}")
}

fn print_tables(policy: &StoredPolicy, panel: &Panel, audit: &PanelAudit, values: &[Row], effective: Option<f64>) {
    let name = |k: usize| panel.levels().name(k);
    let rows = values.iter().map(|(estimator, value)| match value {
        Ok(value) => vec![estimator.to_string(), format!("{:.4}", value.mean), interval(value)],
        Err(problem) => vec![estimator.to_string(), "—".into(), problem.clone()],
    });
    println!("{}", table(&[&format!("value, γ = {}", policy.manifest.discount), "estimate", "95 % interval"], rows));
    if let Some(effective) = effective {
        println!("importance weights leave {effective:.1} of {} people at the last decision", panel.people());
    }
    let rows = audit.unfairness.pairs.iter().map(|((a, b), estimate)| {
        vec![format!("{} against {}", name(*a), name(*b)), format!("{:.4}", estimate.mean), interval(estimate)]
    });
    println!("{}", table(&["decisions that differ between worlds", "share", "95 % interval"], rows));
    println!(
        "CF metric {:.4} ± {:.4} (total variation {:.4}), through a mechanism fitted on this file, {} people",
        audit.unfairness.metric.mean,
        1.96 * audit.unfairness.metric.standard_error,
        audit.unfairness.total_variation.mean,
        panel.people()
    );
    let actions = panel.action_names().names();
    let mut header = vec!["share of decisions by group"];
    header.extend(actions.iter().map(String::as_str));
    let rows = (0..panel.levels().len()).map(|k| {
        let mut row = vec![name(k).to_string()];
        row.extend((0..actions.len()).map(|a| match audit.rates.overall(k, a) {
            Some(rate) => format!("{:.3} ± {:.3}", rate.mean, 1.96 * rate.standard_error),
            None => "—".into(),
        }));
        row
    });
    println!("{}", table(&header, rows));
}

fn print_json(
    policy: &StoredPolicy,
    panel: &Panel,
    audit: &PanelAudit,
    values: &[Row],
    effective: Option<f64>,
    notes: &[String],
) {
    let name = |k: usize| panel.levels().name(k);
    let values: serde_json::Map<_, _> = values
        .iter()
        .map(|(estimator, value)| {
            let value = value.as_ref().map_or_else(|problem| json!({ "problem": problem }), |v| json!(v));
            (estimator.to_string(), value)
        })
        .collect();
    let pairs: Vec<_> = audit
        .unfairness
        .pairs
        .iter()
        .map(|((a, b), estimate)| json!({ "levels": [name(*a), name(*b)], "disagreement": estimate }))
        .collect();
    let rates: Vec<_> = (0..panel.levels().len())
        .flat_map(|k| (0..panel.action_names().len()).map(move |a| (k, a)))
        .map(|(k, a)| json!({ "level": name(k), "action": panel.action_names().name(a), "share": audit.rates.overall(k, a) }))
        .collect();
    let summary = json!({
        "method": policy.method, "people": panel.people(), "decisions": panel.decisions(), "discount": policy.manifest.discount,
        "value": values, "effective_people": effective, "cf_metric": audit.unfairness.metric,
        "total_variation": audit.unfairness.total_variation, "pairs": pairs, "action_shares": rates, "warnings": notes,
    });
    println!("{summary:#}");
}
