//! An exponent for every axis along which at least three sizes were measured.

use super::samples::Sample;
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::numeric::{log_log_slope, quantile};
use counterfair::report::plot::{Axis, BLUE, Chart, Ink, MUTED, Marker, Series, Span};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::Path;

const CONFIDENCE: f64 = 0.95;
const RESAMPLES: usize = 500;

/// Benchmarks that differ in one parameter only, by its value.
struct Along<'a> {
    name: &'a str,
    axis: &'a str,
    /// The parameters that stay.
    fixed: String,
    points: Vec<(f64, &'a Sample)>,
}

/// Prints and draws every axis; gives back the exponents, for keeping.
pub fn report(samples: &[Sample], out: &Path) -> Result<Vec<Value>, Box<dyn Error>> {
    let mut found = Vec::new();
    for along in axes(samples) {
        let sizes: Vec<f64> = along.points.iter().map(|(size, _)| *size).collect();
        let seconds: Vec<Vec<f64>> = along.points.iter().map(|(_, sample)| sample.seconds.clone()).collect();
        let fit = log_log_slope(&sizes, &seconds, CONFIDENCE, RESAMPLES, Stream::new(1).named("bench"))?;
        let from_to: Vec<String> =
            along.points.iter().map(|(size, sample)| format!("{size}: {}", duration(sample.median()))).collect();
        println!(
            "{} ∝ {}^{:.2} [{:.2}, {:.2}]   at {}   {}",
            along.name,
            along.axis,
            fit.slope,
            fit.interval.0,
            fit.interval.1,
            along.fixed,
            from_to.join(", ")
        );
        found.push(json!({
            "what": along.name, "axis": along.axis, "fixed": along.fixed, "exponent": fit.slope,
            "low": fit.interval.0, "high": fit.interval.1, "sizes": sizes,
            "seconds": along.points.iter().map(|(_, sample)| sample.median()).collect::<Vec<_>>(),
        }));
        let chart = chart(&along, fit.slope, fit.intercept);
        std::fs::write(out.join(format!("{}_{}.svg", along.name, along.axis)), chart.svg())?;
    }
    Ok(found)
}

/// All axes, each with its points from small to large.
fn axes(samples: &[Sample]) -> Vec<Along<'_>> {
    let pairs: BTreeSet<(&str, &str)> =
        samples.iter().flat_map(|s| s.parameters.keys().map(|k| (s.name.as_str(), k.as_str()))).collect();
    let mut all = Vec::new();
    for (name, axis) in pairs {
        let mut lines: BTreeMap<String, Vec<(f64, &Sample)>> = BTreeMap::new();
        for sample in samples.iter().filter(|s| s.name == name) {
            let Some(size) = sample.get(axis) else { continue };
            let others = sample.parameters.iter().filter(|(key, _)| *key != axis);
            let fixed: Vec<String> = others.map(|(key, value)| format!("{key}={value}")).collect();
            lines.entry(fixed.join(" ")).or_default().push((size, sample));
        }
        // Of several lines along one axis, the one with most points.
        let longest = lines.into_iter().filter(|(_, points)| points.len() >= 3).max_by_key(|(_, points)| points.len());
        if let Some((fixed, mut points)) = longest {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            all.push(Along { name, axis, fixed, points });
        }
    }
    all
}

fn chart(along: &Along<'_>, slope: f64, intercept: f64) -> Chart {
    let measured = along.points.iter().map(|(size, sample)| {
        let [low, mean, high] = [0.25, 0.5, 0.75].map(|share| quantile(&sample.seconds, share));
        (Span::exact(*size), Span { mean, low, high })
    });
    let line = along.points.iter().map(|(size, _)| {
        let fitted = (intercept + slope * size.ln()).exp();
        (Span::exact(*size), Span::exact(fitted))
    });
    let ink = |color, dashed| Ink { color, marker: Marker::Disc, dashed };
    Chart {
        title: format!("{}, {}", along.name, along.fixed),
        x: Axis::log(along.axis).with_ticks(along.points.iter().map(|(size, _)| *size)),
        y: Axis::log("seconds, one thread"),
        series: vec![
            Series { name: "measured".into(), ink: ink(BLUE, false), points: measured.collect() },
            Series { name: format!("∝ {}^{slope:.2}", along.axis), ink: ink(MUTED, true), points: line.collect() },
        ],
        references: vec![],
    }
}

/// Three digits and a unit.
pub fn duration(seconds: f64) -> String {
    let (scale, unit) = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")]
        .into_iter()
        .find(|(scale, _)| seconds >= *scale)
        .unwrap_or((1e-9, "ns"));
    format!("{:.3} {unit}", seconds / scale)
}
