//! `counterfair evaluate`: how good and how fair a stored policy is on a file.

use super::error::CliError;
use super::options::{Missing, ModelOptions, say_repairs};
use super::output::{stages, table, warn};
use counterfair::fair::{Audit, AuditSettings, Policy};
use counterfair::kernel::data::Panel;
use counterfair::kernel::numeric::{Estimate, Stream};
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

pub fn run(arguments: &Arguments) -> Result<(), CliError> {
    let policy = Policy::load(&arguments.policy).map_err(counterfair::fair::Error::from)?;
    let settings = AuditSettings {
        preprocessing: arguments.model.preprocessing(None),
        degree: arguments.degree,
        stream: Stream::new(arguments.model.seed).named("evaluate"),
    };
    let (people, audit) = stages(|watch| {
        watch("reading");
        let people = policy.read_people(&arguments.data, arguments.missing.into())?;
        say_repairs(&people);
        let audit = policy.audit(&people, &settings, watch)?;
        Ok::<_, CliError>((people, audit))
    })?;
    if arguments.json {
        print_json(&policy, people.panel(), &audit);
    } else {
        print_tables(&policy, people.panel(), &audit);
        warn(&audit.warnings);
    }
    Ok(())
}

fn interval(estimate: &Estimate) -> String {
    let (low, high) = estimate.interval(0.95);
    format!("{low:.4} … {high:.4}")
}

fn print_tables(policy: &Policy, panel: &Panel, audit: &Audit) {
    let Audit { along, values, effective_people, .. } = audit;
    let name = |k: usize| panel.levels().name(k);
    let rows = values.iter().map(|(estimator, value)| match value {
        Ok(value) => vec![estimator.to_string(), format!("{:.4}", value.mean), interval(value)],
        Err(problem) => vec![estimator.to_string(), "—".into(), problem.clone()],
    });
    println!("{}", table(&[&format!("value, γ = {}", policy.manifest.discount), "estimate", "95 % interval"], rows));
    if let Some(effective) = effective_people {
        println!("importance weights leave {effective:.1} of {} people at the last decision", panel.people());
    }
    let rows = along.unfairness.pairs.iter().map(|((a, b), estimate)| {
        vec![format!("{} against {}", name(*a), name(*b)), format!("{:.4}", estimate.mean), interval(estimate)]
    });
    println!("{}", table(&["decisions that differ between worlds", "share", "95 % interval"], rows));
    println!(
        "CF metric {:.4} ± {:.4} (total variation {:.4}), through a mechanism fitted on this file, {} people",
        along.unfairness.metric.mean,
        1.96 * along.unfairness.metric.standard_error,
        along.unfairness.total_variation.mean,
        panel.people()
    );
    let actions = panel.action_names().names();
    let mut header = vec!["share of decisions by group"];
    header.extend(actions.iter().map(String::as_str));
    let rows = (0..panel.levels().len()).map(|k| {
        let mut row = vec![name(k).to_string()];
        row.extend((0..actions.len()).map(|a| match along.rates.overall(k, a) {
            Some(rate) => format!("{:.3} ± {:.3}", rate.mean, 1.96 * rate.standard_error),
            None => "—".into(),
        }));
        row
    });
    println!("{}", table(&header, rows));
}

fn print_json(policy: &Policy, panel: &Panel, audit: &Audit) {
    let Audit { along, values, effective_people, warnings } = audit;
    let name = |k: usize| panel.levels().name(k);
    let values: serde_json::Map<_, _> = values
        .iter()
        .map(|(estimator, value)| {
            let value = value.as_ref().map_or_else(|problem| json!({ "problem": problem }), |v| json!(v));
            (estimator.to_string(), value)
        })
        .collect();
    let pairs: Vec<_> = along
        .unfairness
        .pairs
        .iter()
        .map(|((a, b), estimate)| json!({ "levels": [name(*a), name(*b)], "disagreement": estimate }))
        .collect();
    let rates: Vec<_> = (0..panel.levels().len())
        .flat_map(|k| (0..panel.action_names().len()).map(move |a| (k, a)))
        .map(|(k, a)| json!({ "level": name(k), "action": panel.action_names().name(a), "share": along.rates.overall(k, a) }))
        .collect();
    let summary = json!({
        "method": policy.method, "people": panel.people(), "decisions": panel.decisions(), "discount": policy.manifest.discount,
        "value": values, "effective_people": effective_people, "cf_metric": along.unfairness.metric,
        "total_variation": along.unfairness.total_variation, "pairs": pairs, "action_shares": rates, "warnings": warnings,
    });
    println!("{summary:#}");
}
