//! A mean with its standard error.

use serde::{Deserialize, Deserializer, Serialize};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use std::fmt;

/// A mean, its standard error, and the number of independent units behind them.
///
/// One unit says nothing about spread, and none says nothing at all: then `standard_error` is +∞ and every interval is
/// the whole line. The mean of no unit is 0, a placeholder that `count == 0` marks. In JSON, +∞ is `null`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The sample mean, or ratio of sums when clustered.
    pub mean: f64,
    /// Estimated standard deviation of `mean`; +∞ when `count` is below 2.
    #[serde(deserialize_with = "null_is_infinite")]
    pub standard_error: f64,
    /// Independent units: values, or clusters.
    pub count: usize,
}

fn null_is_infinite<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
}

impl Estimate {
    /// The mean of independent values.
    ///
    /// # Equation
    /// ```text
    /// mean = Σ xᵢ / n,   standard_error = √( Σ (xᵢ − mean)² / (n (n − 1)) )
    /// ```
    pub fn of(values: &[f64]) -> Self {
        if values.is_empty() {
            return Self { mean: 0.0, standard_error: f64::INFINITY, count: 0 };
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
        Self { mean, standard_error: standard_error(squares, n, n), count: values.len() }
    }

    /// A mean over rows that come in clusters: `sums[i]` over the `counts[i]` rows of cluster i.
    ///
    /// Rows of one person depend on each other; people do not. The estimate is the ratio of totals and its error the
    /// linearised one of a ratio. Clusters without rows carry no information and are not counted.
    ///
    /// # Equation
    /// ```text
    /// mean = Σ sᵢ / Σ cᵢ,   standard_error² = n/(n − 1) · Σ (sᵢ − mean·cᵢ)² / (Σ cᵢ)²
    /// ```
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn clustered(sums: &[f64], counts: &[f64]) -> Self {
        assert_eq!(sums.len(), counts.len(), "one sum and one count per cluster");
        let clusters = || sums.iter().zip(counts).filter(|(_, count)| **count > 0.0);
        let count = clusters().count();
        if count == 0 {
            return Self::of(&[]);
        }
        let rows: f64 = clusters().map(|(_, c)| c).sum();
        let mean = clusters().map(|(s, _)| s).sum::<f64>() / rows;
        let squares: f64 = clusters().map(|(s, c)| (s - mean * c) * (s - mean * c)).sum();
        Self { mean, standard_error: standard_error(squares, count as f64, rows), count }
    }

    /// Two-sided Student-t interval with `count − 1` degrees of freedom.
    ///
    /// # Panics
    /// When `confidence` is not strictly between 0 and 1.
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        assert!(0.0 < confidence && confidence < 1.0, "confidence {confidence} is outside (0, 1)");
        if self.count < 2 {
            return (f64::NEG_INFINITY, f64::INFINITY);
        }
        let t = StudentsT::new(0.0, 1.0, (self.count - 1) as f64).expect("positive degrees of freedom");
        let half = t.inverse_cdf(0.5 + confidence / 2.0) * self.standard_error;
        (self.mean - half, self.mean + half)
    }
}

/// √( n/(n − 1) · squares ) / total, or +∞ when n is 1.
fn standard_error(squares: f64, n: f64, total: f64) -> f64 {
    if n > 1.0 { (n / (n - 1.0) * squares).sqrt() / total } else { f64::INFINITY }
}

/// `mean ± 1.96 standard errors`; decimals follow the error's two leading digits unless a precision is given.
impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let half = Normal::standard().inverse_cdf(0.975) * self.standard_error;
        match f.precision().or_else(|| decimals(half)) {
            _ if half.is_infinite() => write!(f, "{} ± ∞", self.mean),
            Some(digits) => write!(f, "{:.digits$} ± {:.digits$}", self.mean, half),
            None => write!(f, "{} ± {}", self.mean, half),
        }
    }
}

/// Decimals that show two leading digits of `half`; none when it is zero.
fn decimals(half: f64) -> Option<usize> {
    (half > 0.0).then(|| (1.0 - half.log10().floor()).clamp(0.0, 17.0) as usize)
}
