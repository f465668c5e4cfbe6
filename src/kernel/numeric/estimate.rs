//! A mean with its standard error.

use serde::{Deserialize, Deserializer, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};
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

    /// [`of`](Self::of) from the mean of independent values, the sum of squares around it, and their number.
    pub fn of_moments(mean: f64, squares: f64, count: usize) -> Self {
        let n = count as f64;
        if count == 0 { Self::of(&[]) } else { Self { mean, standard_error: standard_error(squares, n, n), count } }
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
        let half = self.half_width(confidence);
        (self.mean - half, self.mean + half)
    }

    /// Half the width of the [interval](Self::interval); +∞ when `count` is below 2.
    ///
    /// # Panics
    /// When `confidence` is not strictly between 0 and 1.
    pub fn half_width(&self, confidence: f64) -> f64 {
        assert!(0.0 < confidence && confidence < 1.0, "confidence {confidence} is outside (0, 1)");
        if self.count < 2 {
            return f64::INFINITY;
        }
        let t = StudentsT::new(0.0, 1.0, (self.count - 1) as f64).expect("positive degrees of freedom");
        t.inverse_cdf(0.5 + confidence / 2.0) * self.standard_error
    }
}

/// √( n/(n − 1) · squares ) / total, or +∞ when n is 1.
fn standard_error(squares: f64, n: f64, total: f64) -> f64 {
    if n > 1.0 { (n / (n - 1.0) * squares).sqrt() / total } else { f64::INFINITY }
}

/// `mean ± half the 95 % interval` of Student's t; decimals follow the error's two leading digits unless a precision is given.
impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let half = self.half_width(0.95);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::tolerance::{ROUNDING, close};

    /// Quantiles of statrs' Student t, which solves for them iteratively, to this precision.
    const QUANTILE: f64 = 1e-9;

    #[test]
    fn the_mean_of_values_has_the_error_of_the_formula() {
        let estimate = Estimate::of(&[2.0, 3.5, 7.0, 1.5]);
        assert_eq!((estimate.mean, estimate.count), (3.5, 4));
        assert!(close(estimate.standard_error, (18.5f64 / 12.0).sqrt(), ROUNDING));
    }

    #[test]
    fn one_value_has_no_known_error_and_none_has_no_mean() {
        assert_eq!(Estimate::of(&[4.2]), Estimate { mean: 4.2, standard_error: f64::INFINITY, count: 1 });
        assert_eq!(Estimate::of(&[]), Estimate { mean: 0.0, standard_error: f64::INFINITY, count: 0 });
        assert_eq!(Estimate::of(&[4.2]).interval(0.5), (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn a_clustered_mean_is_a_ratio_with_a_linearised_error() {
        let estimate = Estimate::clustered(&[3.0, 10.0, 4.0], &[2.0, 5.0, 1.0]);
        assert_eq!((estimate.mean, estimate.count), (2.125, 3));
        assert!(close(estimate.standard_error, 0.358_013_726_168_425, ROUNDING));
    }

    #[test]
    fn clusters_of_one_row_are_values() {
        let values = [2.0, 3.5, 7.0, 1.5];
        let (a, b) = (Estimate::of(&values), Estimate::clustered(&values, &[1.0; 4]));
        assert_eq!((a.mean, a.count), (b.mean, b.count));
        assert!(close(a.standard_error, b.standard_error, ROUNDING));
    }

    #[test]
    fn clusters_without_rows_do_not_count() {
        let with = Estimate::clustered(&[3.0, 0.0, 10.0, 4.0], &[2.0, 0.0, 5.0, 1.0]);
        assert_eq!(with, Estimate::clustered(&[3.0, 10.0, 4.0], &[2.0, 5.0, 1.0]));
        assert_eq!(Estimate::clustered(&[0.0], &[0.0]), Estimate::of(&[]));
        let one = Estimate::clustered(&[6.0, 0.0], &[4.0, 0.0]);
        assert_eq!(one, Estimate { mean: 1.5, standard_error: f64::INFINITY, count: 1 });
    }

    #[test]
    #[should_panic(expected = "one sum and one count per cluster")]
    fn sums_and_counts_come_in_pairs() {
        Estimate::clustered(&[1.0, 2.0], &[1.0]);
    }

    #[test]
    fn intervals_are_those_of_student() {
        let estimate = Estimate { mean: -1.5, standard_error: 0.2, count: 4 };
        let (low, high) = estimate.interval(0.95);
        assert!(close(low, -1.5 - 0.2 * 3.182_446_305_283_71, QUANTILE), "{low}");
        assert!(close(high, -1.5 + 0.2 * 3.182_446_305_283_71, QUANTILE), "{high}");
        let (low, high) = Estimate { count: 3, ..estimate }.interval(0.9);
        assert!(close((high - low) / 2.0, 0.2 * 2.919_985_580_353_726, QUANTILE));
        assert!(Estimate { count: 2, ..estimate }.interval(0.9).1.is_finite());
    }

    #[test]
    fn a_confidence_outside_the_open_unit_interval_is_refused() {
        for confidence in [0.0, 1.0, -0.5, 1.2, f64::NAN] {
            let refused = std::panic::catch_unwind(|| Estimate::of(&[1.0, 2.0]).interval(confidence));
            assert!(refused.is_err(), "{confidence} was accepted");
        }
    }

    #[test]
    fn an_estimate_prints_the_digits_its_error_allows() {
        let estimate = |mean, standard_error| Estimate { mean, standard_error, count: 9 };
        assert_eq!(estimate(0.123_456, 0.002).to_string(), "0.1235 ± 0.0046");
        assert_eq!(estimate(12.34, 0.5).to_string(), "12.3 ± 1.2");
        assert_eq!(estimate(1234.56, 70.0).to_string(), "1235 ± 161");
        assert_eq!(estimate(0.5, 0.0).to_string(), "0.5 ± 0");
        assert_eq!(estimate(0.5, f64::INFINITY).to_string(), "0.5 ± ∞");
        assert_eq!(format!("{:.3}", estimate(0.123_456, 0.02)), "0.123 ± 0.046");
    }

    #[test]
    fn an_estimate_survives_json_even_without_an_error() {
        for estimate in [Estimate::of(&[0.1, 0.7, 0.4]), Estimate::of(&[3.0]), Estimate::of(&[])] {
            let text = serde_json::to_string(&estimate).unwrap();
            assert_eq!(serde_json::from_str::<Estimate>(&text).unwrap(), estimate, "{text}");
        }
    }

    #[test]
    fn values_far_from_zero_keep_their_spread() {
        // 2⁴⁰ and these many 1024ths, which add up to 0. Products with numbers as large as their sum would be rounded to 10⁻⁴.
        let parts = [-1365.0, 341.0, 1023.0, 1.0].map(|d| d / 1024.0);
        let estimate = Estimate::of(&parts.map(|d| 2f64.powi(40) + d));
        let squares: f64 = parts.iter().map(|d| d * d).sum();
        assert_eq!((estimate.mean, estimate.count), (2f64.powi(40), 4));
        assert!((estimate.standard_error - (squares / 12.0).sqrt()).abs() < 1e-14, "{estimate:?}");
    }
}
