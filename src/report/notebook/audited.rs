//! Policies judged on recorded histories: values with paired differences, unfairness with its bounds, and what both rest on.

use super::{Content, Show};
use crate::audit::noise_check::{Belief, Equality};
use crate::audit::recorded::Resampled;
use crate::estimate::FittedNoise;
use crate::fair::{Audit, JUDGED, Preprocessed};
use crate::kernel::people::Panel;
use crate::report::Table;
use crate::report::number::{plain, with_bounds};
use crate::report::plot::{Axis, Chart, Ink, Series, Span};

/// Share at which intervals hold.
const CONFIDENCE: f64 = 0.95;

fn resampled(value: &Resampled) -> String {
    with_bounds(value.mean, value.interval(CONFIDENCE), 3)
}

impl Show for Audit {
    fn content(&self) -> Content {
        Content::table(&worth("policy", self))
    }
}

/// Values over the recorded horizon of a judged policy, of what people received and of the others; and the paired differences.
pub fn worth(name: &str, audit: &Audit) -> Table {
    let values = &audit.values;
    let caption = format!(
        "Value over the recorded horizon ({} people, up to {} decisions, γ = {}) by fitted Q evaluation, and {name} minus each: estimate \
         [95 % interval; people resampled, everything refitted, differences paired].",
        values.people, values.horizon, values.discount
    );
    let minus = format!("{name} minus it");
    let mut table = Table::new(&caption, 1, ["policy", "value", &minus]);
    let judged = values.policy(JUDGED);
    let difference = |from: &str| judged.and_then(|j| j.minus(from)).map_or("–".into(), resampled);
    if let Some(judged) = judged {
        table.push([name.to_string(), resampled(&judged.value), "–".into()]);
    }
    for other in values.policies.iter().filter(|policy| policy.name != JUDGED) {
        table.push([other.name.clone(), resampled(&other.value), difference(&other.name)]);
    }
    table.push(["what people received".to_string(), resampled(&values.received), difference("received")]);
    table
}

/// The CF metric of several policies: estimate, interval, upper bound, and the lower bound that assumes no mechanism.
pub fn fairness<'a>(audits: impl IntoIterator<Item = (&'a str, &'a Audit)>) -> Table {
    let caption = "CF metric along recorded histories: the share of decisions that differ between a person's worlds. The interval and the upper \
                   bound hold if noise is as modelled; the lower bound (parity gap at the first decision) assumes no mechanism.";
    let mut table = Table::new(
        caption,
        1,
        ["policy", "CF metric [95 % interval]", "at most (95 %)", "at least, whatever the noise"],
    );
    for (name, audit) in audits {
        let at_least = plain(audit.parity_gap.interval.0.max(0.0), 3);
        match &audit.unfairness {
            Ok(law) => table.push([
                name.to_string(),
                with_bounds(law.mean(), law.interval(CONFIDENCE), 3),
                plain(law.upper(CONFIDENCE), 3),
                at_least,
            ]),
            Err(reason) => table.push([name.to_string(), "not given".into(), reason.clone(), at_least]),
        }
    }
    table
}

/// How many recorded people follow a policy: effective people at each decision, and what stands in for them.
pub fn followers<'a>(audits: impl IntoIterator<Item = (&'a str, &'a Audit)>) -> Table {
    let caption = "How far the record covers each policy: people left after weighting by how likely they were to be treated as the policy would, \
                   at the first and at the last decision, and the doubly robust value, which is only given where enough are left.";
    let mut table = Table::new(caption, 1, ["policy", "effective people, first", "last", "doubly robust value"]);
    for (name, audit) in audits {
        let Some(judged) = audit.values.policy(JUDGED) else { continue };
        let left = &judged.weights.effective_people;
        let at = |people: Option<&f64>| people.map_or("–".into(), |n| plain(*n, 1));
        let value = match &judged.doubly_robust {
            Ok(estimate) => with_bounds(estimate.mean, estimate.interval(CONFIDENCE), 3),
            Err(reason) => format!("not given: {reason}"),
        };
        table.push([name.to_string(), at(left.first()), at(left.last()), value]);
    }
    table
}

/// The CF metric of several policies against the correlation of a person's noise between worlds.
pub fn against_correlation<'a>(audits: impl IntoIterator<Item = (&'a str, Ink, &'a Audit)>) -> Chart {
    let x = Axis::linear("correlation ρ of a person's noise between worlds");
    let mut chart = Chart::new("", x, Axis::linear("CF metric, with 95 % interval").from_zero());
    for (name, ink, audit) in audits {
        let Some(sensitivity) = &audit.sensitivity else { continue };
        let curve = sensitivity.correlation.at.iter().zip(&sensitivity.correlation.metric);
        let points = curve.map(|(at, law)| {
            let (low, high) = law.interval(CONFIDENCE);
            (Span::exact(*at), Span { mean: law.mean(), low, high })
        });
        chart = chart.with(Series { name: name.into(), ink, points: points.collect() });
    }
    chart
}

/// Share of decisions with each action by group.
pub fn treated(caption: &str, panel: &Panel, audit: &Audit) -> Table {
    let actions = panel.action_names().names();
    let mut table = Table::new(caption, 1, ["group"].into_iter().chain(actions.iter().map(String::as_str)));
    for (k, by_action) in audit.rates.iter().enumerate() {
        let share = by_action.iter().map(|rate| {
            let span = rate.map(Span::share);
            span.map_or("–".into(), |s| with_bounds(s.mean, (s.low, s.high), 3))
        });
        table.push(std::iter::once(panel.levels().name(k).to_string()).chain(share));
    }
    table
}

/// The noise model that held-out people chose for each output, and how equal noise is between levels before and after it.
pub fn noise_models(done: &Preprocessed, states: &[&str]) -> Table {
    let caption = "Noise of each output: the model that held-out people chose, and the ratio of the levels' largest to smallest standard deviation \
                   with the p-value of equal spread, as residuals are (before) and on the model's common scale (after).";
    let columns = ["output", "model", "sd ratio before", "p", "sd ratio after", "p", "counterfactuals"];
    let mut table = Table::new(caption, 2, columns);
    let report = done.mechanism.fitted_noise().map(FittedNoise::report);
    for check in &done.noise.outputs {
        let name = match (check.is_reward, states.get(check.output)) {
            (true, _) => "reward".to_string(),
            (_, Some(name)) => name.to_string(),
            (_, None) => format!("state{}", check.output + 1),
        };
        let at = |output: &&crate::estimate::OutputReport| {
            (output.output, output.is_reward) == (check.output, check.is_reward)
        };
        let model = report.and_then(|r| r.outputs.iter().find(at)).map_or("additive".into(), |o| o.rung.to_string());
        // Where there is no noise, its spread is that of rounding, which is another on every machine.
        let nothing = check.verdict == Belief::NothingToCarry;
        let equality = |e: &Equality| {
            if nothing { ["–", "–"].map(String::from) } else { [plain(e.sd_ratio, 3), p_value(e.variance_p)] }
        };
        let [before, p_before] = equality(&check.before);
        let [after, p_after] = equality(&check.after);
        let first = if check.is_first { ", first" } else { "" };
        table.push([format!("{name}{first}"), model, before, p_before, after, p_after, belief(check.verdict).into()]);
    }
    table
}

/// A p-value; how far below a ten-thousandth it is, nobody needs to know.
fn p_value(p: f64) -> String {
    if p < 1e-4 { "< 0.0001".into() } else { plain(p, 4) }
}

fn belief(verdict: Belief) -> &'static str {
    match verdict {
        Belief::Believable => "believable",
        Belief::Differs => "doubtful: noise differs",
        Belief::FewValues => "doubtful: few values",
        Belief::NothingToCarry => "nothing to carry",
        Belief::Unknown => "unknown: too few people",
    }
}
