//! A printed number beside the truth, and what many of them come to.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where and how often something is repeated.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    pub world: String,
    pub people: usize,
    pub horizon: usize,
}

/// One number of one repetition.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Found {
    pub world: String,
    pub people: usize,
    pub horizon: usize,
    pub repetition: u64,
    pub method: String,
    pub number: String,
    pub truth: f64,
    pub estimate: f64,
    pub covers_50: Option<bool>,
    pub covers_90: Option<bool>,
    pub covers_95: Option<bool>,
    /// Whether the truth is at most the upper 95 % bound.
    pub bounded: Option<bool>,
    pub half_width_95: Option<f64>,
    /// Whether words were printed beside it that say why it may be wrong.
    pub warned: bool,
}

/// Where nothing is estimated an interval is a point, and the truth a sum of rounded numbers.
const SLACK: f64 = 1e-9;

impl Found {
    /// A number without an interval yet.
    pub fn new(method: &str, number: &str, truth: f64, estimate: f64) -> Self {
        Self { method: method.into(), number: number.into(), truth, estimate, ..Self::default() }
    }

    /// The same with intervals of any confidence.
    pub fn within(self, interval: impl Fn(f64) -> (f64, f64)) -> Self {
        let covers = |confidence: f64| {
            let (low, high) = interval(confidence);
            Some(low - SLACK <= self.truth && self.truth <= high + SLACK)
        };
        let (covers_50, covers_90) = (covers(0.5), covers(0.9));
        let interval_95 = interval(0.95);
        Self { covers_50, covers_90, ..self }.within_95(interval_95)
    }

    /// The same with the 95 % interval alone.
    pub fn within_95(self, (low, high): (f64, f64)) -> Self {
        let covers = low - SLACK <= self.truth && self.truth <= high + SLACK;
        Self { covers_95: Some(covers), half_width_95: Some((high - low) / 2.0), ..self }
    }

    pub fn at_most(self, upper: f64) -> Self {
        Self { bounded: Some(self.truth <= upper), ..self }
    }

    pub fn warned(self, warned: bool) -> Self {
        Self { warned, ..self }
    }

    pub fn of(self, cell: &Cell, repetition: u64) -> Self {
        let Cell { world, people, horizon } = cell.clone();
        Self { world, people, horizon, repetition, ..self }
    }

    fn key(&self) -> Key {
        (self.world.clone(), self.people, self.horizon, self.method.clone(), self.number.clone())
    }
}

type Key = (String, usize, usize, String, String);

/// How a number fared over repetitions.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Line {
    pub world: String,
    pub people: usize,
    pub horizon: usize,
    pub method: String,
    pub number: String,
    pub repetitions: usize,
    pub truth: f64,
    pub estimate: f64,
    /// Standard deviation of estimate minus truth.
    pub error_sd: f64,
    pub covers_50: Option<f64>,
    pub covers_90: Option<f64>,
    pub covers_95: Option<f64>,
    /// Share of 95 % upper bounds that hold.
    pub upper_95: Option<f64>,
    pub half_width_95: Option<f64>,
    pub warned: f64,
}

/// A line for each cell, method and number, in this order.
pub fn lines(found: &[Found]) -> Vec<Line> {
    let mut by_key: BTreeMap<Key, Vec<&Found>> = BTreeMap::new();
    found.iter().for_each(|one| by_key.entry(one.key()).or_default().push(one));
    by_key.into_iter().map(|(key, found)| line(key, &found)).collect()
}

fn line((world, people, horizon, method, number): Key, found: &[&Found]) -> Line {
    let n = found.len() as f64;
    let mean = |of: &dyn Fn(&Found) -> f64| found.iter().map(|one| of(one)).sum::<f64>() / n;
    let share = |of: &dyn Fn(&Found) -> Option<bool>| {
        let known: Vec<bool> = found.iter().filter_map(|one| of(one)).collect();
        (!known.is_empty()).then(|| known.iter().filter(|yes| **yes).count() as f64 / known.len() as f64)
    };
    let off = mean(&|one| one.estimate - one.truth);
    let squares = mean(&|one| (one.estimate - one.truth - off).powi(2));
    let widths: Vec<f64> = found.iter().filter_map(|one| one.half_width_95).collect();
    Line {
        world,
        people,
        horizon,
        method,
        number,
        repetitions: found.len(),
        truth: mean(&|one| one.truth),
        estimate: mean(&|one| one.estimate),
        error_sd: (squares * n / (n - 1.0)).sqrt(),
        covers_50: share(&|one| one.covers_50),
        covers_90: share(&|one| one.covers_90),
        covers_95: share(&|one| one.covers_95),
        upper_95: share(&|one| one.bounded),
        half_width_95: (!widths.is_empty()).then(|| widths.iter().sum::<f64>() / widths.len() as f64),
        warned: mean(&|one| f64::from(u8::from(one.warned))),
    }
}

/// The line of a method's number.
#[track_caller]
pub fn at<'a>(lines: &'a [Line], method: &str, number: &str) -> &'a Line {
    lines
        .iter()
        .find(|line| line.method == method && line.number == number)
        .unwrap_or_else(|| panic!("no {number} of {method}"))
}
