//! Slopes of deployed policies in the paper's own worlds: what theorems promise, what the law of a margin says, and what was measured.

use super::Results;
use crate::report::Table;
use crate::report::notebook::slope_chart;
use crate::report::number::{plain, with_bounds};
use crate::theory::theorems::{Limit, Row, Slope};

/// One measured slope with the claims about it.
struct Measured<'a> {
    slope: &'a Slope,
    rows: Vec<&'a Row>,
}

impl<'a> Measured<'a> {
    /// The claim that a theorem promises this slope, or that it follows a law.
    fn claimed(&self, promise: bool) -> Option<&'a Row> {
        self.rows.iter().find(|row| matches!(row.claim.limit, Limit::Law { .. }) != promise).copied()
    }

    /// Which of the two worlds.
    fn world(&self) -> &'static str {
        if self.rows.iter().any(|row| mentions(row, "non-linear world")) { "nonlinear" } else { "linear" }
    }
}

/// Whether a claim says or assumes something.
fn mentions(row: &Row, words: &str) -> bool {
    row.claim.says.contains(words) || row.claim.assumes.iter().any(|text| text.contains(words))
}

/// Every slope in the paper's worlds, once, however many claims are about it.
fn measured(results: &Results) -> Vec<Measured<'_>> {
    let mut all: Vec<Measured<'_>> = Vec::new();
    for row in results.examined.theorems.iter().filter(|row| mentions(row, "linear world")) {
        let Some(slope) = row.slope() else { continue };
        match all.iter_mut().find(|known| known.slope == slope) {
            Some(known) => known.rows.push(row),
            None => all.push(Measured { slope, rows: vec![row] }),
        }
    }
    all
}

/// A picture of each slope as `law_1.svg`, `law_2.svg`, …
pub(super) fn figures(results: &Results, (width, height): (u32, u32)) -> Vec<(String, String)> {
    let charts = measured(results).into_iter().filter_map(|slope| slope_chart(slope.rows[0]));
    charts.enumerate().map(|(k, chart)| (format!("law_{}.svg", k + 1), chart.svg_at(width, height))).collect()
}

/// Slopes beside what a theorem promises and what the law of a margin says.
pub(super) fn table(results: &Results) -> Table {
    let columns = ["world", "quantity", "in", "slope", "last three", "promised", "kept", "law", "kept", "control"];
    let mut table = Table::new("", 3, columns);
    for one in measured(results) {
        let claimed = |promise: bool| {
            one.claimed(promise).map_or(["–".into(), "–".into()], |row| {
                let sign = match row.claim.limit {
                    Limit::SlopeAtMost { .. } => "≤ ",
                    Limit::SlopeAtLeast { .. } => "≥ ",
                    _ => "",
                };
                let slope = row.claim.limit.slope().map_or("–".into(), |slope| plain(slope, 1));
                [format!("{sign}{slope}"), if row.verdict().stands() { "yes" } else { "no" }.into()]
            })
        };
        let ([promised, promise_kept], [law, law_kept]) = (claimed(true), claimed(false));
        let Slope { quantity, axis, slope, interval, last_three, .. } = one.slope;
        table.push([
            one.world().to_string(),
            quantity.clone(),
            axis.clone(),
            with_bounds(*slope, *interval, 2),
            plain(*last_three, 2),
            promised,
            promise_kept,
            law,
            law_kept,
            one.rows[0].control.slope().map_or("–".into(), |control| plain(control.slope, 2)),
        ]);
    }
    table
}

/// Counts of promises and laws, and the slopes that the text names.
pub(super) fn numbers(results: &Results) -> Vec<(String, String)> {
    let all = measured(results);
    let mut numbers = vec![("slopes".to_string(), all.len().to_string())];
    for (name, promise) in [("promises", true), ("laws", false)] {
        let rows: Vec<&Row> = all.iter().filter_map(|one| one.claimed(promise)).collect();
        let kept = rows.iter().filter(|row| row.verdict().stands()).count();
        numbers.push((name.into(), rows.len().to_string()));
        numbers.push((format!("{name}.kept"), kept.to_string()));
    }
    let span = |counts: Vec<usize>| match (counts.iter().min(), counts.iter().max()) {
        (Some(low), Some(high)) if low < high => format!("{low} to {high}"),
        (Some(low), _) => low.to_string(),
        _ => "no".into(),
    };
    numbers.push(("laws.seeds".into(), span(all.iter().map(|one| one.slope.seeds).collect())));
    numbers.push(("laws.sizes".into(), span(all.iter().map(|one| one.slope.sizes.len()).collect())));
    for world in ["linear", "nonlinear"] {
        for (name, quantity) in [("J-oracle", "|J − J of the Oracle|"), ("V-oracle", "|Ṽ − Ṽ of the Oracle|")] {
            let one = all.iter().find(|one| one.world() == world && one.slope.quantity == quantity);
            let text = one.map_or("–".into(), |one| with_bounds(one.slope.slope, one.slope.interval, 2));
            numbers.push((format!("slope.{world}.{name}"), text));
        }
    }
    numbers
}
