//! The pictures of a study: one colour for each meaning, as everywhere.

use super::Picture;
use super::words::shown;
use crate::fair::study::{Number, PROGRAM, PolicyRow, Study};
use crate::report::plot::{Axis, Chart, Forest, ForestRow, INK, Ink, MUTED, Marker, PURPLE, Series, Span};
use crate::reproduction::Method;

/// All pictures, in the order of the page.
pub(super) fn all(study: &Study) -> Vec<Picture> {
    let mut found = Vec::new();
    let mut push = |name: &str, svg: Option<String>, caption: &str| {
        found.extend(svg.map(|svg| Picture { name: name.into(), svg, caption: caption.into() }));
    };
    push(
        "1-worth-and-unfairness",
        trade_off(study),
        "Worth against unfairness: right is better, down is fairer. Lines are 95 % intervals.",
    );
    for (a, svg) in panels(study, "Received", &|z, a| Some(&study.data.over_time[z][a])) {
        push(
            &format!("2-actions-{}", a + 1),
            Some(svg),
            "What people received: share of an action by group at each decision.",
        );
    }
    push("2-still-there", remaining(study), "People who are still there at each decision, by group.");
    push(
        "3-spread",
        spread(study),
        "Residual spread between groups, largest over smallest standard deviation; 1 is equal. Rings: as they are. Discs: after the noise model.",
    );
    push(
        "4-differences",
        differences(study),
        "Value minus what people received, 95 % intervals, paired over people. Right of the line is better.",
    );
    push(
        "4-unfairness",
        metrics(study),
        "CF metric with 95 % interval: share of decisions that would differ had the attribute been different.",
    );
    for (a, svg) in panels(study, "Ours gives", &|z, a| over_time(study, "Ours", z, a)) {
        let caption = "What Ours would do along the same histories, by group, over time; what was received is drawn in section 2, on the same axis.";
        push(&format!("5-ours-{}", a + 1), Some(svg), caption);
    }
    push(
        "5-parity",
        parity(study),
        "Demographic parity difference by rule and action, 95 % intervals from resampled people.",
    );
    push(
        "6-correlation",
        correlation(study),
        "Unfairness if a person's noise in two worlds is only correlated; at 1 it is the same, as assumed.",
    );
    push(
        "6-share",
        causal_share(study),
        "Unfairness of Ours if only a share of the difference between groups is an effect of the attribute; at 1 all of it, as assumed.",
    );
    push(
        "6-confounding",
        confounding(study),
        "Ours minus what people received, by weighting: between which bounds, if something unrecorded changes the odds of actions.",
    );
    push("7-people", Some(flow(study)), "People from the file to the folds.");
    found
}

/// The ink of a rule.
fn ink(name: &str) -> Ink {
    match name {
        "Ours" => Ink::of(Method::Ours),
        "Full" => Ink::of(Method::Full),
        "Unaware" => Ink::of(Method::Unaware),
        "Random" => Ink::of(Method::Random),
        "received" => Ink::of(Method::Behaviour),
        PROGRAM => Ink { color: PURPLE, marker: Marker::Square, dashed: false },
        name if name.contains(" % Ours") => Ink::of(Method::Mixture(0.5)),
        _ => Ink { color: MUTED, marker: Marker::Diamond, dashed: false },
    }
}

fn span(number: &Number) -> Span {
    let (low, high) = number.interval.unwrap_or((number.mean, number.mean));
    Span { mean: number.mean, low, high }
}

/// An axis of shares that never shows what a share cannot be.
fn shares(title: &str, spans: impl Iterator<Item = Span>) -> Axis {
    let axis = Axis::linear(title).from_zero();
    // Where all are 0 there is no range to choose: the whole one is shown.
    if spans.fold(0.0, |most: f64, span| most.max(span.high)) > 0.0 { axis } else { axis.with_ticks([0.0, 0.5, 1.0]) }
}

/// The name of a level or an action; one that is a mere code is given its column's name.
fn named(column: &str, name: &str) -> String {
    if name.chars().count() <= 2 { label(&format!("{} {name}", label(column))) } else { label(name) }
}

/// A label that leaves room for the chart.
fn label(name: &str) -> String {
    let name = shown(name);
    if name.chars().count() <= 14 { name } else { name.chars().take(13).chain(['…']).collect() }
}

fn trade_off(study: &Study) -> Option<String> {
    let policies = study.policies.as_ref()?;
    let drawn =
        policies.rows.iter().filter(|row| ["Ours", "Full", "Unaware", PROGRAM, "Random"].contains(&row.name.as_str()));
    let points: Vec<(&str, Span, Span)> = drawn
        .filter_map(|row| Some((row.name.as_str(), span(&row.minus_received), span(&row.cf_metric?.number))))
        .collect();
    let y = shares("CF metric", points.iter().map(|point| point.2));
    let mut chart = Chart::new("Worth and unfairness", Axis::linear("value minus what people received"), y);
    for (name, worth, metric) in points {
        chart = chart.with(Series::new(name, ink(name), [(worth, metric)]));
    }
    (!chart.series.is_empty()).then(|| chart.svg())
}

/// Actions that have a panel at most.
const PANELS: usize = 6;

/// The actions that have a panel: of two the second, because the first takes what is left; of more each.
fn panelled(study: &Study) -> std::ops::Range<usize> {
    let actions = study.data.actions.len();
    if actions == 2 { 1..2 } else { 0..actions.min(PANELS) }
}

/// Shares of an action at a level under a rule, over time.
fn over_time<'s>(study: &'s Study, rule: &str, level: usize, action: usize) -> Option<&'s Vec<Option<f64>>> {
    let action = &study.data.actions[action];
    let found = study.treated.as_ref()?.over_time.iter().find(|o| o.rule == rule && o.action == *action)?;
    found.shares.get(level)
}

/// Ends of an axis of shares, from which the first that holds all of them is taken.
const TOPS: [f64; 4] = [0.1, 0.25, 0.5, 1.0];

/// An axis that shows the shares of all actions, those that were received and those of Ours: what has one panel each is compared between them.
fn one_axis(study: &Study) -> Axis {
    let received = study.data.over_time.iter().flatten().flatten();
    let treated = study.treated.iter().flat_map(|treated| &treated.over_time);
    let shares = received.chain(treated.flat_map(|rule| rule.shares.iter().flatten())).flatten();
    let most = shares.fold(0.0f64, |most, share| most.max(*share));
    let top = TOPS.into_iter().find(|top| most <= *top).unwrap_or(1.0);
    Axis::linear("share of decisions").with_ticks((0..=5).map(|tick| top * f64::from(tick) / 5.0))
}

/// One panel for each action, all on one axis.
fn panels<'s>(
    study: &Study,
    title: &str,
    of: &dyn Fn(usize, usize) -> Option<&'s Vec<Option<f64>>>,
) -> Vec<(usize, String)> {
    let panel = |a: usize| {
        let title = format!("{title} {}", named(&study.done.columns[3], &study.data.actions[a]));
        let drawn = (0..levels_drawn(study)).map(|z| of(z, a).cloned()).collect::<Option<Vec<_>>>()?;
        by_level(study, &title, one_axis(study), drawn).map(|svg| (a, svg))
    };
    panelled(study).filter_map(panel).collect()
}

fn times(study: &Study) -> Axis {
    let axis = Axis::linear("decision");
    if study.data.horizon <= 12 { axis.with_ticks((1..=study.data.horizon).map(|t| t as f64)) } else { axis }
}

/// Levels that have a line: of many the first eight.
fn levels_drawn(study: &Study) -> usize {
    study.data.levels.len().min(8)
}

/// Lines of shares by level.
fn by_level(study: &Study, title: &str, y: Axis, drawn: Vec<Vec<Option<f64>>>) -> Option<String> {
    let mut chart = Chart::new(title, times(study), y);
    for ((z, level), drawn) in study.data.levels.iter().enumerate().zip(drawn) {
        let points = drawn.into_iter().enumerate().filter_map(|(t, share)| Some(((t + 1) as f64, share?)));
        chart = chart.with(Series::new(&named(&study.done.columns[2], &level.name), Ink::level(z), points));
    }
    (study.data.horizon > 0).then(|| chart.svg())
}

fn remaining(study: &Study) -> Option<String> {
    let share = |z: usize| study.data.remaining[z].iter().map(|x| Some(*x)).collect::<Vec<_>>();
    let drawn: Vec<_> = (0..levels_drawn(study)).map(share).collect();
    let spans = drawn.iter().flatten().flatten().map(|share| Span::exact(*share));
    by_level(study, "Still there", shares("share of people", spans), drawn)
}

fn spread(study: &Study) -> Option<String> {
    let believe = study.believe.as_ref()?;
    let mut rows = Vec::new();
    for output in believe.outputs.iter().filter(|output| output.is_carried) {
        let shapes =
            [(output.before.sd_ratio, " as is", Marker::Ring), (output.after.sd_ratio, " modelled", Marker::Disc)];
        for (ratio, what, marker) in shapes.into_iter().filter(|(ratio, ..)| ratio.is_finite()) {
            let ink = Ink { color: if marker == Marker::Disc { INK } else { MUTED }, marker, dashed: false };
            rows.push(ForestRow { name: format!("{}{what}", label(&output.name)), span: Span::exact(ratio), ink });
        }
    }
    let forest = Forest {
        title: "Spread of noise between groups".into(),
        x: Axis::linear("ratio of standard deviations"),
        reference: Some(1.0),
        rows,
    };
    (!forest.rows.is_empty()).then(|| forest.svg())
}

fn forest(title: &str, x: Axis, rows: &[PolicyRow], of: impl Fn(&PolicyRow) -> Option<Span>) -> Option<String> {
    let rows: Vec<ForestRow> = rows
        .iter()
        .filter_map(|row| Some(ForestRow { name: shown(&row.name), span: of(row)?, ink: ink(&row.name) }))
        .collect();
    let forest = Forest { title: title.into(), x, reference: Some(0.0), rows };
    (!forest.rows.is_empty()).then(|| forest.svg())
}

fn differences(study: &Study) -> Option<String> {
    let x = Axis::linear("value minus what people received");
    forest("Worth", x, &study.policies.as_ref()?.rows, |row| Some(span(&row.minus_received)))
}

fn metrics(study: &Study) -> Option<String> {
    let rows = &study.policies.as_ref()?.rows;
    let of = |row: &PolicyRow| row.cf_metric.map(|metric| span(&metric.number));
    forest("Unfairness", shares("CF metric", rows.iter().filter_map(of)), rows, of)
}

fn parity(study: &Study) -> Option<String> {
    let measures = &study.treated.as_ref()?.measures;
    // Of two actions the second says the same as the first.
    let last = study.data.actions.last()?;
    let drawn = measures.iter().filter(|m| study.data.actions.len() != 2 || m.action == *last);
    let rows: Vec<ForestRow> = drawn
        .map(|m| ForestRow {
            name: format!("{}: {}", m.rule, named(&study.done.columns[3], &m.action)),
            span: span(&m.difference),
            ink: ink(&m.rule),
        })
        .collect();
    let x = shares("difference between groups", rows.iter().map(|row| row.span));
    Some(Forest { title: "Demographic parity".into(), x, reference: Some(0.0), rows }.svg())
}

fn correlation(study: &Study) -> Option<String> {
    let found = study.sensitivity.as_ref()?;
    let curves =
        || std::iter::once(("Ours", &found.correlation)).chain(found.others.iter().map(|(n, c)| (n.as_str(), c)));
    let y = shares("CF metric", curves().flat_map(|(_, curve)| curve.means()).map(Span::exact));
    let mut chart = Chart::new("Other noise in other worlds", Axis::linear("correlation of noise"), y);
    for (name, curve) in curves() {
        chart = chart.with(Series::new(name, ink(name), curve.at.iter().copied().zip(curve.means())));
    }
    Some(chart.svg())
}

fn causal_share(study: &Study) -> Option<String> {
    let curve = &study.sensitivity.as_ref()?.share;
    let y = shares("CF metric", curve.means().into_iter().map(Span::exact));
    let chart = Chart::new("Not all of it causal", Axis::linear("share that is causal"), y);
    Some(chart.with(Series::new("Ours", ink("Ours"), curve.at.iter().copied().zip(curve.means()))).svg())
}

fn confounding(study: &Study) -> Option<String> {
    let bounds = &study.sensitivity.as_ref()?.confounding;
    let points = bounds
        .iter()
        .map(|(gamma, (low, high))| (Span::exact(*gamma), Span { mean: (low + high) / 2.0, low: *low, high: *high }));
    let chart = Chart::new(
        "Hidden confounding",
        Axis::linear("factor on the odds of an action (Γ)"),
        Axis::linear("value minus received"),
    );
    let ink = ink("Ours").curve();
    (!bounds.is_empty()).then(|| chart.with(Series::new("Ours", ink, points)).with_reference(0.0, "none").svg())
}

/// People in the file, used, and in each fold, as bars.
fn flow(study: &Study) -> String {
    let bar = |name: String, people: usize, color| ForestRow {
        name,
        span: Span { mean: people as f64, low: 0.0, high: people as f64 },
        ink: Ink { color, marker: Marker::Square, dashed: false },
    };
    let gone = study.data.repairs.people_dropped;
    let mut rows =
        vec![bar("read".into(), study.data.people + gone, PURPLE), bar("used".into(), study.data.people, INK)];
    let folds = study.done.fold_sizes.iter().enumerate();
    rows.extend(folds.map(|(f, n)| bar(format!("fold {}", f + 1), *n, MUTED)));
    Forest { title: "From file to folds".into(), x: Axis::linear("people").from_zero(), reference: None, rows }.svg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_of_shares_that_are_all_0_shows_no_negative_share() {
        let drawn = |share: f64| {
            let y = shares("share of decisions", [Span::exact(share)].into_iter());
            let points = [(3.0, share), (4.0, share)];
            Chart::new("x", Axis::linear("decision"), y).with(Series::new("Ours", ink("Ours"), points)).svg()
        };
        let says = |svg: &str, tick: &str| svg.lines().any(|line| line == tick);
        let (none, some) = (drawn(0.0), drawn(0.4));
        assert!(!none.lines().any(|line| line.starts_with('−')) && says(&none, "0.5") && says(&none, "1"), "{none}");
        assert!(says(&some, "0.2") && !says(&some, "1"), "{some}");
    }
}
