//! What a check finds: the worst of some cases, or a slope.

use crate::kernel::numeric::{Estimate, SlopeFit, Stream, log_log_slope};
use serde::{Deserialize, Serialize};

/// What a check found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Found {
    /// The worst of some cases.
    Sides(Worst),
    /// A slope.
    Slope(Box<Slope>),
    /// Nothing that could decide.
    Nothing {
        /// Why.
        reason: String,
    },
}

impl Found {
    /// The slope, when this is one.
    pub fn slope(&self) -> Option<&Slope> {
        match self {
            Self::Slope(slope) => Some(slope),
            Self::Sides(_) | Self::Nothing { .. } => None,
        }
    }
}

/// The case, of all that were looked at, whose left side is largest in units of its right side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub struct Worst {
    /// Cases looked at.
    pub cases: usize,
    /// The side that must not be the larger; for an equality the distance of its two sides.
    pub left: f64,
    /// The side that must not be the smaller; for an equality what is put down to rounding.
    pub right: f64,
    /// All that is needed to recompute both sides by hand.
    pub text: String,
}

impl Worst {
    /// One case of left ≤ right. A right side of 0 demands a left side of 0. A side that is not a number counts as a violation.
    ///
    /// The ratio is returned: searches climb it.
    pub fn at_most(&mut self, left: f64, right: f64, text: impl FnOnce() -> String) -> f64 {
        let ratio = ratio(left, right);
        // Of cases that are equally bad the first is kept: those that can be checked by hand come first.
        if self.cases == 0 || ratio > self.ratio() {
            (self.left, self.right, self.text) = (left, right, text());
        }
        self.cases += 1;
        ratio
    }

    /// One case of left = right up to `within`.
    pub fn equal(&mut self, left: f64, right: f64, within: f64, text: impl FnOnce() -> String) {
        self.at_most((left - right).abs(), within, text);
    }

    /// Left side in units of the right side, at the worst case: 1 is a statement that cannot be improved.
    pub fn ratio(&self) -> f64 {
        ratio(self.left, self.right)
    }

    /// As what a check found.
    pub fn found(self) -> Found {
        Found::Sides(self)
    }
}

fn ratio(left: f64, right: f64) -> f64 {
    match left / right {
        _ if left.is_nan() || right.is_nan() || right < 0.0 => f64::INFINITY,
        _ if left <= 0.0 => 0.0,
        ratio => ratio,
    }
}

/// A rate, measured: means over seeds at several sizes and the slope of their logarithms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slope {
    /// What falls or grows.
    pub quantity: String,
    /// What `sizes` count.
    pub axis: String,
    /// Sizes, in order.
    pub sizes: Vec<f64>,
    /// Mean over seeds at each size.
    pub means: Vec<f64>,
    /// Standard error of each mean.
    pub standard_errors: Vec<f64>,
    /// Seeds per size.
    pub seeds: usize,
    /// Slope of log mean on log size.
    pub slope: f64,
    /// Natural logarithm of the fitted mean at size 1.
    pub intercept: f64,
    /// 95 % bootstrap interval of the slope, over seeds within each size.
    pub interval: (f64, f64),
    /// The slope of the last three sizes alone: where it differs, the law is not yet there.
    pub last_three: f64,
}

/// Share of bootstrap slopes in an interval.
const CONFIDENCE: f64 = 0.95;
const RESAMPLES: usize = 999;

impl Slope {
    /// The slope of some samples: `samples[k]` holds one value per seed at `sizes[k]`.
    ///
    /// Means are taken before logarithms, because a regret is often exactly 0.
    pub fn measured(quantity: &str, axis: &str, sizes: &[f64], samples: &[Vec<f64>], stream: Stream) -> Found {
        let fit = |from: usize| log_log_slope(&sizes[from..], &samples[from..], CONFIDENCE, RESAMPLES, stream);
        let (all, last) = match (fit(0), fit(sizes.len().saturating_sub(3))) {
            (Ok(all), Ok(last)) => (all, last),
            (Err(error), _) | (_, Err(error)) => return Found::Nothing { reason: error.to_string() },
        };
        let SlopeFit { slope, intercept, interval, .. } = all;
        let estimates: Vec<Estimate> = samples.iter().map(|values| Estimate::of(values)).collect();
        Found::Slope(Box::new(Self {
            quantity: quantity.into(),
            axis: axis.into(),
            sizes: sizes.to_vec(),
            means: estimates.iter().map(|e| e.mean).collect(),
            standard_errors: estimates.iter().map(|e| e.standard_error).collect(),
            seeds: samples.iter().map(Vec::len).min().unwrap_or(0),
            slope,
            intercept,
            interval,
            last_three: last.slope,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_of_the_size_has_its_power_as_slope() {
        let sizes: Vec<f64> = (0..6).map(|k| 125.0 * 2f64.powi(k)).collect();
        let samples: Vec<Vec<f64>> = sizes.iter().map(|n| vec![3.0 / n, 3.0 / n]).collect();
        let Found::Slope(slope) = Slope::measured("x", "N", &sizes, &samples, Stream::new(1)) else {
            panic!("a slope")
        };
        assert!((slope.slope + 1.0).abs() < 1e-12 && (slope.last_three + 1.0).abs() < 1e-12);
        assert_eq!((slope.seeds, slope.sizes.len()), (2, 6));
    }

    #[test]
    fn the_worst_case_is_kept_with_its_words() {
        let mut worst = Worst::default();
        for (left, right) in [(1.0, 2.0), (3.0, 4.0), (1.0, 4.0)] {
            worst.at_most(left, right, || format!("{left} and {right}"));
        }
        assert_eq!((worst.cases, worst.left, worst.text.as_str()), (3, 3.0, "3 and 4"));
    }
}
