//! `counterfair evaluate`: how good and how fair a stored policy is on a file.

use super::error::CliError;
use super::large::SampleOptions;
use super::options::{Missing, ModelOptions, ReadingOptions, say_about};
use super::output::{decimal, say, say_json, table, warn};
use super::program::{NamedCommand, PolicyOptions};
use super::progress::{EVALUATE, stages};
use counterfair::audit::recorded::StayingModel;
use counterfair::audit::recorded::{Dropout, RecordedSettings, RecordedValue, Resampled};
use counterfair::fair::study::Bounded;
use counterfair::fair::{Audit, AuditSettings, JUDGED, Policy};
use counterfair::kernel::numeric::Estimate;
use counterfair::kernel::numeric::Law;
use counterfair::kernel::people::Panel;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The version of the JSON that `--json` prints.
const VERSION: u32 = 2;

/// Names that the tables give to others.
const TAKEN: [&str; 3] = [JUDGED, "received", "Random"];

/// The confidence of everything printed.
const CONFIDENCE: f64 = 0.95;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    policy: PolicyOptions,
    /// γ that a program is judged with [default: that of the policy file its preprocessing is from, or 0.9]
    #[arg(long, requires = "policy_command", value_parser = discount, help_heading = "Policy")]
    discount: Option<f64>,
    /// The file to evaluate on, laid out as the one the policy was learned from; best not the same people
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    data: PathBuf,
    /// Other policy files to compare with, named after their files
    #[arg(long, value_name = "FILE", help_heading = "Policy")]
    against: Vec<PathBuf>,
    /// Programs to compare with; they are shown what --reads and --preprocessing say, or made with the policy file's preprocessing
    #[arg(long, value_name = "NAME=COMMAND", help_heading = "Policy")]
    against_command: Vec<NamedCommand>,
    #[command(flatten)]
    reading: ReadingOptions,
    /// Weight people who stayed, as `--missing weigh` does, and still refuse missing cells
    #[arg(long, help_heading = "Data")]
    weigh_dropout: bool,
    #[command(flatten)]
    memory: SampleOptions,
    /// The mechanism fitted on this file, where the policy file keeps no certificate
    #[command(flatten)]
    model: ModelOptions,
    /// Highest total degree of the polynomials that values are fitted with [default: up to 3, as the data carry]
    #[arg(long, help_heading = "Judging")]
    degree: Option<usize>,
    /// How often people are resampled for the intervals of values
    #[arg(long, default_value_t = 400, value_name = "B", help_heading = "Judging")]
    replicates: usize,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Arguments {
    fn weighs(&self) -> bool {
        self.weigh_dropout || self.reading.missing == Missing::Weigh
    }
}

pub fn run(arguments: &Arguments) -> Result<(), CliError> {
    arguments.policy.refuse_idle(arguments.against_command.len())?;
    let names = names_of_others(arguments)?;
    let mut policy = arguments.policy.load()?;
    policy.manifest.discount = arguments.discount.unwrap_or(policy.manifest.discount);
    let files = arguments.against.iter().map(|path| Ok(Policy::load(path)?));
    let programs = arguments.against_command.iter().map(|named| arguments.policy.start(&named.command));
    let others = names
        .into_iter()
        .zip(files.chain(programs))
        .map(|(name, policy)| Ok((name, policy?)))
        .collect::<Result<Vec<_>, CliError>>()?;
    let (people, audit) = stages(&EVALUATE, |watch| {
        watch("reading");
        let (data, how, seed) = (&arguments.data, arguments.reading.options(), arguments.model.seed);
        let people = match arguments.memory.limit_for(data) {
            Some(bytes) => policy.read_people_within(data, &how, bytes, seed)?,
            None => policy.read_people_with(data, &how)?,
        };
        let people = people.naming_people(arguments.reading.name_people);
        say_about(&people);
        let dropout = if arguments.weighs() { Dropout::Weighted { horizon: None } } else { Dropout::AsRecorded };
        let settings = AuditSettings {
            preprocessing: arguments.model.preprocessing(&people, None)?,
            values: RecordedSettings {
                degree: arguments.degree,
                replicates: arguments.replicates,
                seed: arguments.model.seed,
                dropout,
                ..RecordedSettings::default()
            },
            confidence: CONFIDENCE,
            seed: arguments.model.seed,
            ..AuditSettings::default()
        };
        let others: Vec<(&str, &Policy)> = others.iter().map(|(name, policy)| (name.as_str(), policy)).collect();
        let audit = policy.audit(&people, &others, &settings, watch)?;
        Ok::<_, CliError>((people, audit))
    })?;
    if arguments.json {
        let mut summary = as_json(&policy, people.panel(), &audit);
        summary["notes"] = json!(people.notes());
        if let Some(sample) = people.sample() {
            summary["sample"] = json!(sample);
        }
        summary["repairs"] = json!(people.repairs());
        summary["remarks"] = json!(people.remarks());
        say_json(&summary)?;
    } else {
        say(as_tables(&policy, people.panel(), &audit, arguments.weighs()).trim_end())?;
        warn(&audit.warnings);
    }
    Ok(())
}

/// What the policies to compare with are called: each differently, and none as something else in the tables.
fn names_of_others(arguments: &Arguments) -> Result<Vec<String>, CliError> {
    let mut names: Vec<String> = Vec::new();
    let mut take = |option: &str, given: String, name: String| {
        if TAKEN.contains(&name.as_str()) || names.contains(&name) {
            return Err(CliError::Argument(format!(
                "{option} {given}: `{name}` already names something in the tables; choose another name"
            )));
        }
        names.push(name);
        Ok(())
    };
    for path in &arguments.against {
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        take("--against", path.display().to_string(), name)?;
    }
    for NamedCommand { name, .. } in &arguments.against_command {
        take("--against-command", name.clone(), name.clone())?;
    }
    Ok(names)
}

fn discount(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(discount) if (0.0..1.0).contains(&discount) => Ok(discount),
        _ => Err("not a number from 0 up to, but not including, 1".into()),
    }
}

/// The value of the judged policy.
fn judged(audit: &Audit) -> &RecordedValue {
    audit.values.policy(JUDGED).expect("the judged policy was asked for")
}

/// What a difference is taken from, in words.
fn subtracted(name: &str) -> &str {
    if name == "received" { "what people received" } else { name }
}

fn from_to(low: f64, high: f64) -> String {
    format!("{} to {}", decimal(low, 4), decimal(high, 4))
}

fn cells(mean: f64, (low, high): (f64, f64)) -> Vec<String> {
    let interval = if low.is_finite() { from_to(low, high) } else { "unknown".into() };
    vec![decimal(mean, 4), interval]
}

fn row(name: String, mean: f64, interval: (f64, f64)) -> Vec<String> {
    [vec![name], cells(mean, interval)].concat()
}

/// Adds a line to a text.
macro_rules! line {
    ($out:ident, $($text:tt)*) => {{
        $out.push_str(&format!($($text)*));
        $out.push('\n');
    }};
}

fn as_tables(policy: &Policy, panel: &Panel, audit: &Audit, weighed: bool) -> String {
    let mut out = String::new();
    let Audit { values, unfairness, parity_gap: gap, rates, accepted, .. } = audit;
    if let Some(accepted) = accepted {
        line!(out, "{accepted}");
    }
    let judged = judged(audit);
    let resampled = |name: String, r: &Resampled| row(name, r.mean, r.interval(CONFIDENCE));
    let mut rows = vec![
        resampled("policy, fitted Q evaluation".into(), &judged.value),
        match &judged.doubly_robust {
            Ok(e) => row("policy, doubly robust".into(), e.mean, e.interval(CONFIDENCE)),
            Err(reason) => vec!["policy, doubly robust".into(), "not given".into(), reason.to_string()],
        },
        resampled("what people received".into(), &values.received),
    ];
    rows.extend(values.policies.iter().filter(|p| p.name != JUDGED).map(|p| resampled(p.name.clone(), &p.value)));
    rows.extend(judged.minus.iter().map(|d| resampled(format!("policy minus {}", subtracted(&d.from)), &d.value)));
    let title = format!("value over the recorded horizon, γ = {}", policy.manifest.discount);
    line!(out, "{}", table(&[&title, "estimate", "95 % interval"], rows));
    let (low, high) = values.allowed;
    line!(
        out,
        "rewards allow values from {}; {} people, up to {} decisions",
        from_to(low, high),
        values.people,
        values.horizon
    );
    let effective = &judged.weights.effective_people;
    if let Some(last) = effective.last() {
        line!(
            out,
            "weights leave {last:.1} effective people at the last decision; largest weight {:.1}; {:.1} % of decisions unsupported",
            judged.weights.largest_weight,
            100.0 * judged.weights.unsupported.max(0.0)
        );
    }
    if let Some(staying) = values.staying.as_ref().filter(|_| weighed) {
        add_staying(&mut out, staying);
    }
    match unfairness {
        Ok(law) => {
            let name = |k: usize| panel.levels().name(k);
            let rows = law.pairs.iter().map(|((a, b), share)| {
                row(format!("{} against {}", name(*a), name(*b)), share.mean(), share.interval(CONFIDENCE))
            });
            line!(out, "{}", table(&["decisions that differ between worlds", "share", "95 % interval"], rows));
            let Bounded { number, upper } = Bounded::from(&law.metric);
            let (low, high) = number.interval.unwrap_or(law.interval(CONFIDENCE));
            line!(
                out,
                "CF metric {}, interval {}: at most {} with 95 % confidence, if noise is as modelled",
                decimal(law.mean(), 4),
                from_to(low, high),
                decimal(upper, 4)
            );
            if let Some(bound) = law.finite_sample_bound {
                line!(out, "at most {bound:.4} for any number of judged people");
            }
        }
        Err(reason) => line!(out, "CF metric: not given, {reason}"),
    }
    line!(
        out,
        "at least {} whatever the noise (parity gap at the first decision {}, interval {})",
        decimal(gap.interval.0, 4),
        decimal(gap.estimate, 4),
        from_to(gap.interval.0, gap.interval.1)
    );
    if let Some(sensitivity) = &audit.sensitivity {
        add_sensitivity(&mut out, sensitivity);
    }
    let actions = panel.action_names().names();
    let mut header = vec!["share of decisions by group"];
    header.extend(actions.iter().map(String::as_str));
    let rows = rates.iter().enumerate().map(|(k, by_action)| {
        let mut row = vec![panel.levels().name(k).to_string()];
        row.extend(by_action.iter().map(|rate| match rate {
            Some(rate) => {
                let (low, high) = rate.interval(CONFIDENCE);
                format!("{:.3} ({:.3} to {:.3})", rate.mean, low.max(0.0), high.min(1.0))
            }
            None => "no decision".into(),
        }));
        row
    });
    line!(out, "{}", table(&header, rows));
    out
}

/// The model of staying by which people were weighted.
fn add_staying(out: &mut String, staying: &StayingModel) {
    line!(
        out,
        "{:.1} % of people left before decision {} (after {} of {} decisions); what was recorded predicts leaving with p = {:.2e}; largest \
         weight {:.1}",
        100.0 * staying.share_of_people,
        staying.horizon,
        staying.left,
        staying.at_risk,
        staying.p_value,
        staying.largest_weight
    );
    let rows = staying.log_odds.iter().map(|(name, x)| vec![name.clone(), format!("{x:+.3}")]);
    line!(out, "{}", table(&["staying for another decision", "log-odds per sd"], rows));
}

fn add_sensitivity(out: &mut String, sensitivity: &counterfair::fair::Sensitivity) {
    let curve = |curve: &counterfair::audit::sensitivity::Curve| {
        curve.at.iter().zip(curve.means()).map(|(x, y)| vec![format!("{x}"), decimal(y, 4)]).collect::<Vec<_>>()
    };
    line!(out, "{}", table(&["correlation ρ of noise between worlds", "CF metric"], curve(&sensitivity.correlation)));
    for (name, crossing) in &sensitivity.crossings {
        match crossing {
            Some(at) => line!(out, "below ρ = {at:.2} the policy is no fairer than {name}"),
            None => line!(out, "the policy is fairer than {name} at every ρ"),
        }
    }
    line!(
        out,
        "{}",
        table(&["share λ of the groups' difference that is causal", "CF metric"], curve(&sensitivity.share))
    );
    if !sensitivity.confounding.is_empty() {
        let rows =
            sensitivity.confounding.iter().map(|(gamma, (low, high))| vec![format!("{gamma}"), from_to(*low, *high)]);
        line!(out, "{}", table(&["hidden confounding of actions up to Γ", "value minus what people received"], rows));
        match sensitivity.tipping {
            Some(gamma) if gamma <= 1.0 => {
                line!(out, "without confounding the weighted difference is not determined in sign")
            }
            Some(gamma) => line!(out, "the sign of the difference is lost at Γ = {gamma:.2}"),
            None => line!(out, "the sign of the difference is kept up to the largest Γ"),
        }
    }
}

fn of_law(law: &Law) -> Value {
    let Bounded { number, upper } = Bounded::from(law);
    let interval = number.interval.unwrap_or(law.interval(CONFIDENCE));
    json!({ "mean": law.mean(), "standard_error": law.standard_error(), "interval": interval, "upper": upper })
}

fn of_estimate(estimate: &Estimate) -> Value {
    let known = estimate.standard_error.is_finite();
    json!({
        "mean": estimate.mean, "standard_error": known.then_some(estimate.standard_error),
        "interval": known.then(|| estimate.interval(CONFIDENCE)), "count": estimate.count,
    })
}

fn as_json(policy: &Policy, panel: &Panel, audit: &Audit) -> Value {
    let Audit { values, accepted, unfairness, parity_gap: gap, rates, own_people, warnings, sensitivity } = audit;
    let judged = judged(audit);
    let name = |k: usize| panel.levels().name(k);
    let doubly_robust = match &judged.doubly_robust {
        Ok(estimate) => of_estimate(estimate),
        Err(reason) => json!({ "problem": reason.to_string() }),
    };
    let mut value = serde_json::Map::new();
    value.insert("fitted Q evaluation, recorded horizon".into(), json!(judged.value));
    value.insert("doubly robust, recorded horizon".into(), doubly_robust);
    value.insert("what people received, recorded horizon".into(), json!(values.received));
    for other in values.policies.iter().filter(|p| p.name != JUDGED) {
        value.insert(format!("{}, fitted Q evaluation, recorded horizon", other.name), json!(other.value));
    }
    let differences: serde_json::Map<_, _> = judged
        .minus
        .iter()
        .map(|d| (format!("policy minus {}, recorded horizon", subtracted(&d.from)), json!(d.value)))
        .collect();
    let parity_gap = json!({ "mean": gap.estimate, "interval": gap.interval });
    let (cf_metric, total_variation, pairs) = match unfairness {
        Ok(law) => {
            let mut metric = of_law(&law.metric);
            metric["finite_sample_bound"] = json!(law.finite_sample_bound);
            metric["replicates"] = json!(law.replicates());
            let pairs: Vec<Value> = law
                .pairs
                .iter()
                .map(|((a, b), share)| json!({ "levels": [name(*a), name(*b)], "disagreement": of_law(share) }))
                .collect();
            (metric, of_law(&law.total_variation), pairs)
        }
        Err(reason) => (json!({ "problem": reason }), Value::Null, Vec::new()),
    };
    let shares: Vec<Value> = rates
        .iter()
        .enumerate()
        .flat_map(|(k, by_action)| by_action.iter().enumerate().map(move |(a, rate)| (k, a, rate)))
        .map(|(k, a, rate)| json!({ "level": name(k), "action": panel.action_names().name(a), "share": rate.as_ref().map(of_estimate) }))
        .collect();
    let sensitivity = sensitivity.as_ref().map(|s| {
        let curve = |c: &counterfair::audit::sensitivity::Curve| {
            let points = c.at.iter().zip(&c.metric);
            points.map(|(x, law)| json!({ "at": x, "cf_metric": of_law(law) })).collect::<Vec<_>>()
        };
        json!({
            "cross_world_correlation": curve(&s.correlation), "causal_share": curve(&s.share),
            "no_fairer_below": s.crossings.iter().map(|(n, x)| json!({ "policy": n, "correlation": x })).collect::<Vec<_>>(),
            "confounding": s.confounding.iter().map(|(g, b)| json!({ "gamma": g, "difference": b })).collect::<Vec<_>>(),
            "tipping_gamma": s.tipping,
        })
    });
    let mut evaluation = json!({
        "format": "counterfair evaluation", "version": VERSION,
        "method": policy.method, "people": panel.people(), "decisions": panel.decisions(), "discount": policy.manifest.discount,
        "value": value, "difference": differences, "allowed": values.allowed,
        "weights": judged.weights, "propensity": values.propensity, "staying": values.staying,
        "cf_metric": cf_metric, "total_variation": total_variation, "pairs": pairs, "parity_gap": parity_gap,
        "action_shares": shares, "sensitivity": sensitivity, "learned_from_these_people": own_people, "warnings": warnings,
    });
    if let Some(accepted) = accepted {
        evaluation["accepted"] = json!(accepted);
    }
    if let Some(program) = policy.program() {
        evaluation["program"] = json!(program.command().words);
    }
    evaluation
}
