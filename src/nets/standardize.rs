//! Columns scaled to mean 0 and standard deviation 1.

use crate::kernel::numeric::column_moments;
use serde::{Deserialize, Serialize};

/// The mean and standard deviation of each column.
///
/// # Equation
/// u = (x − μ) / σ and back, x = μ + σ u, where σ² = (1/n) Σ (x − μ)² and a column that does not vary has σ = 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Standardizer {
    mean: Vec<f64>,
    deviation: Vec<f64>,
}

/// What a file says a standardizer is.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    mean: Vec<f64>,
    deviation: Vec<f64>,
}

/// Why columns cannot be standardised.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StandardizerError {
    /// There are rows, and they have columns.
    #[error("{numbers} numbers are not one or more rows of {width} columns")]
    Shape {
        /// How many numbers were given.
        numbers: usize,
        /// How many columns each row should have.
        width: usize,
    },
    /// Mean and standard deviation are finite, and the latter positive.
    #[error("column {column} has mean {mean} and standard deviation {deviation}")]
    Unusable {
        /// The column, from 0.
        column: usize,
        /// Its mean.
        mean: f64,
        /// Its standard deviation.
        deviation: f64,
    },
}

impl Standardizer {
    /// The means and standard deviations of rows of `width` columns.
    ///
    /// # Errors
    /// If there are no whole rows, or a column holds a number that is not finite or too large to be squared.
    pub fn fit(rows: &[f64], width: usize) -> Result<Self, StandardizerError> {
        if width == 0 || rows.is_empty() || !rows.len().is_multiple_of(width) {
            return Err(StandardizerError::Shape { numbers: rows.len(), width });
        }
        let (mean, variance) = column_moments(rows, width, width);
        // A column of equal numbers stays as it is; one whose squares vanish is refused, because it would be learned from at its tiny scale.
        let constant = |column: usize| rows.chunks_exact(width).all(|row| row[column] == rows[column]);
        let deviation = variance.iter().enumerate().map(|(j, σ2)| if constant(j) { 1.0 } else { σ2.sqrt() }).collect();
        Self::checked(mean, deviation)
    }

    fn checked(mean: Vec<f64>, deviation: Vec<f64>) -> Result<Self, StandardizerError> {
        if mean.is_empty() || mean.len() != deviation.len() {
            return Err(StandardizerError::Shape { numbers: deviation.len(), width: mean.len() });
        }
        for (column, (&mean, &deviation)) in mean.iter().zip(&deviation).enumerate() {
            if !(mean.is_finite() && deviation.is_finite() && deviation > 0.0) {
                return Err(StandardizerError::Unusable { column, mean, deviation });
            }
        }
        Ok(Standardizer { mean, deviation })
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.mean.len()
    }

    /// μ of each column.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// σ of each column.
    pub fn deviation(&self) -> &[f64] {
        &self.deviation
    }

    /// x ← (x − μ) / σ in each column of the rows.
    ///
    /// # Panics
    /// If these are not whole rows.
    pub fn apply(&self, rows: &mut [f64]) {
        self.each(rows, |x, mean, deviation| (x - mean) / deviation);
    }

    /// x ← μ + σ x in each column of the rows: the inverse of [`Standardizer::apply`].
    ///
    /// # Panics
    /// If these are not whole rows.
    pub fn invert(&self, rows: &mut [f64]) {
        self.each(rows, |u, mean, deviation| mean + deviation * u);
    }

    fn each(&self, rows: &mut [f64], map: impl Fn(f64, f64, f64) -> f64) {
        assert!(rows.len().is_multiple_of(self.width()), "{} numbers in rows of {}", rows.len(), self.width());
        for row in rows.chunks_exact_mut(self.width()) {
            for ((x, &mean), &deviation) in row.iter_mut().zip(&self.mean).zip(&self.deviation) {
                *x = map(*x, mean, deviation);
            }
        }
    }
}

impl TryFrom<Unchecked> for Standardizer {
    type Error = StandardizerError;

    fn try_from(file: Unchecked) -> Result<Self, StandardizerError> {
        Self::checked(file.mean, file.deviation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns (1, 3, 8) and (5, 5, 5) and (−2, 0, 2): means 4, 5, 0; variances 26/3, none, 8/3.
    const ROWS: [f64; 9] = [1.0, 5.0, -2.0, 3.0, 5.0, 0.0, 8.0, 5.0, 2.0];

    #[test]
    fn mean_and_deviation_are_those_of_the_columns() {
        let fitted = Standardizer::fit(&ROWS, 3).unwrap();
        let deviation = [(26.0f64 / 3.0).sqrt(), 1.0, (8.0f64 / 3.0).sqrt()];
        assert_eq!(fitted.width(), 3);
        for j in 0..3 {
            assert!((fitted.mean()[j] - [4.0, 5.0, 0.0][j]).abs() <= 4.0 * f64::EPSILON);
            assert!((fitted.deviation()[j] - deviation[j]).abs() <= 8.0 * f64::EPSILON);
        }
    }

    #[test]
    fn scaled_columns_have_mean_zero_and_deviation_one_and_come_back() {
        let fitted = Standardizer::fit(&ROWS, 3).unwrap();
        let mut rows = ROWS;
        fitted.apply(&mut rows);
        let again = Standardizer::fit(&rows, 3).unwrap();
        for j in 0..3 {
            assert!(again.mean()[j].abs() <= 4.0 * f64::EPSILON);
            assert!((again.deviation()[j] - 1.0).abs() <= 4.0 * f64::EPSILON);
        }
        fitted.invert(&mut rows);
        for (back, row) in rows.iter().zip(ROWS) {
            assert!((back - row).abs() <= 8.0 * f64::EPSILON);
        }
    }

    #[test]
    fn a_constant_column_is_seen_whatever_the_rounding_of_its_mean() {
        // The sum of seven times 0.1 / 7 is not 0.1.
        let fitted = Standardizer::fit(&[0.1; 7], 1).unwrap();
        assert_eq!((fitted.mean(), fitted.deviation()), (&[0.1][..], &[1.0][..]));
    }

    #[test]
    fn what_cannot_be_scaled_is_refused_with_its_values() {
        assert_eq!(Standardizer::fit(&[], 2), Err(StandardizerError::Shape { numbers: 0, width: 2 }));
        assert_eq!(Standardizer::fit(&[1.0; 3], 2), Err(StandardizerError::Shape { numbers: 3, width: 2 }));
        assert_eq!(Standardizer::fit(&[1.0; 3], 0), Err(StandardizerError::Shape { numbers: 3, width: 0 }));
        for bad in [f64::NAN, f64::INFINITY, 1e200] {
            let error = Standardizer::fit(&[0.0, 1.0, 0.5, bad], 2).unwrap_err();
            assert!(matches!(error, StandardizerError::Unusable { column: 1, .. }), "{error}");
        }
        // Two tiny numbers whose squared difference is 0.
        let error = Standardizer::fit(&[0.0, 1e-200], 1).unwrap_err();
        assert!(matches!(error, StandardizerError::Unusable { column: 0, deviation: 0.0, .. }), "{error}");
    }

    #[test]
    fn a_file_comes_back_exactly_and_a_bad_one_is_refused() {
        let fitted = Standardizer::fit(&ROWS, 3).unwrap();
        let text = serde_json::to_string(&fitted).unwrap();
        assert_eq!(serde_json::from_str::<Standardizer>(&text).unwrap(), fitted);
        for bad in [
            r#"{"mean":[],"deviation":[]}"#,
            r#"{"mean":[1.0],"deviation":[1.0,2.0]}"#,
            r#"{"mean":[1.0],"deviation":[0.0]}"#,
            r#"{"mean":[1.0],"deviation":[-1.0]}"#,
            r#"{"mean":[1e999],"deviation":[1.0]}"#,
            r#"{"mean":[1.0],"deviation":[null]}"#,
        ] {
            assert!(serde_json::from_str::<Standardizer>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    #[should_panic(expected = "4 numbers in rows of 3")]
    fn rows_that_are_not_whole_are_refused() {
        Standardizer::fit(&ROWS, 3).unwrap().apply(&mut [0.0; 4]);
    }

    #[test]
    fn a_column_far_from_zero_keeps_its_deviation() {
        // 2⁴⁰ and these many 1024ths, which add up to 0. Products with numbers as large as their sum would be rounded to 10⁻⁴.
        let parts = [-1365.0, 341.0, 1023.0, 1.0].map(|d| d / 1024.0);
        let fitted = Standardizer::fit(&parts.map(|d| 2f64.powi(40) + d), 1).unwrap();
        let squares: f64 = parts.iter().map(|d| d * d).sum();
        assert_eq!(fitted.mean(), [2f64.powi(40)]);
        assert!((fitted.deviation()[0] - (squares / 4.0).sqrt()).abs() < 1e-14, "{fitted:?}");
    }
}
