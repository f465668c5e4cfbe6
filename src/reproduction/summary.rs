//! Means over seeds, with their intervals.

use super::{Cell, Measured, Method, Record};
use crate::kernel::numeric::{Estimate, SlopeError, SlopeFit, Stream, log_log_slope};

/// Coverage of every interval that is shown.
pub const CONFIDENCE: f64 = 0.95;
/// Resamples behind the interval of a slope.
const RESAMPLES: usize = 2000;

/// A method at one point of a figure, over seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// N, δ, η or whatever the horizontal axis shows.
    pub at: f64,
    /// `eq:cf_metric`; seeds are the units.
    pub unfairness: Estimate,
    /// The value; seeds are the units.
    pub value: Estimate,
    /// Ṽ over the horizon of the value; of no unit where it was not measured.
    pub fair: Estimate,
    /// The value less Ṽ, gained by unfairness; likewise.
    pub gained: Estimate,
    /// The value over the long horizon; of no unit where there is none.
    pub long_value: Estimate,
    /// Standard deviations over seeds, of the CF metric and of the value: what `table:real_data` prints in brackets.
    pub deviations: (f64, f64),
    /// Seeds at which the method could not be learned.
    pub missing: usize,
}

/// The cells that a predicate picks, grouped by the number it gives them and summarised for one method; ascending.
pub fn curve(records: &[Record], method: Method, at: impl Fn(&Cell) -> Option<f64>) -> Vec<Point> {
    let mut groups: Vec<(f64, Vec<&Record>)> = Vec::new();
    for record in records {
        let Some(x) = at(&record.cell) else { continue };
        if !record.results.iter().any(|r| r.method == method) {
            continue;
        }
        match groups.iter_mut().find(|(at, _)| *at == x) {
            Some((_, group)) => group.push(record),
            None => groups.push((x, vec![record])),
        }
    }
    groups.sort_by(|a, b| a.0.total_cmp(&b.0));
    groups.into_iter().map(|(at, group)| point(at, method, &group)).collect()
}

fn point(at: f64, method: Method, group: &[&Record]) -> Point {
    let measured: Vec<&Measured> = group.iter().filter_map(|r| r.measured(method)).collect();
    let unfairness: Vec<f64> = measured.iter().map(|m| m.unfairness.mean).collect();
    let value: Vec<f64> = measured.iter().map(|m| m.value.mean).collect();
    let long: Vec<f64> = measured.iter().filter_map(|m| m.long_value.map(|v| v.mean)).collect();
    let of = |part: fn(&Measured) -> Option<Estimate>| -> Vec<f64> {
        measured.iter().filter_map(|m| part(m).map(|estimate| estimate.mean)).collect()
    };
    let (fair, gained) = (Estimate::of(&of(|m| m.fair)), Estimate::of(&of(|m| m.gained)));
    let deviation = |e: Estimate| if e.count > 1 { e.standard_error * (e.count as f64).sqrt() } else { 0.0 };
    let (unfairness, value) = (Estimate::of(&unfairness), Estimate::of(&value));
    let deviations = (deviation(unfairness), deviation(value));
    let missing = group.len() - measured.len();
    Point { at, unfairness, value, fair, gained, long_value: Estimate::of(&long), deviations, missing }
}

/// The rate at which a method's CF metric falls: log mean against log of what `at` gives.
///
/// # Errors
/// [`SlopeError`] when there is nothing to take a logarithm of.
pub fn rate(records: &[Record], method: Method, at: impl Fn(&Cell) -> Option<f64>) -> Result<SlopeFit, SlopeError> {
    rate_of(&samples(records, method, at, |m| Some(m.unfairness.mean)))
}

/// The slope of log mean against log of what the samples are taken at.
///
/// # Errors
/// [`SlopeError`] when there is nothing to take a logarithm of.
pub fn rate_of(samples: &[(f64, Vec<f64>)]) -> Result<SlopeFit, SlopeError> {
    let sizes: Vec<f64> = samples.iter().map(|(at, _)| *at).collect();
    let values: Vec<Vec<f64>> = samples.iter().map(|(_, values)| values.clone()).collect();
    log_log_slope(&sizes, &values, CONFIDENCE, RESAMPLES, Stream::new(0).named("rate"))
}

/// One quantity of one method, a value per seed, grouped by the number that `at` gives to cells; ascending.
pub fn samples(
    records: &[Record],
    method: Method,
    at: impl Fn(&Cell) -> Option<f64>,
    quantity: impl Fn(&Measured) -> Option<f64>,
) -> Vec<(f64, Vec<f64>)> {
    let mut groups: Vec<(f64, Vec<f64>)> = Vec::new();
    for record in records {
        let Some(x) = at(&record.cell) else { continue };
        let Some(value) = record.measured(method).and_then(&quantity) else { continue };
        match groups.iter_mut().find(|(at, _)| *at == x) {
            Some((_, values)) => values.push(value),
            None => groups.push((x, vec![value])),
        }
    }
    groups.sort_by(|a, b| a.0.total_cmp(&b.0));
    groups
}
