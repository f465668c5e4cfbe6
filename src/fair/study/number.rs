//! Numbers with their intervals, the same for every estimate of a study.

use super::CONFIDENCE;
use crate::audit::recorded::Resampled;
use crate::kernel::numeric::{Estimate, Law};
use serde::Serialize;

/// An estimate with its standard error and its 95 % interval, where they are known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Number {
    /// The estimate.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
}

/// An estimate with an upper bound beside its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bounded {
    /// The estimate and its interval.
    #[serde(flatten)]
    pub number: Number,
    /// At most this, with 95 % confidence.
    pub upper: f64,
}

impl Number {
    /// A number that is known without error.
    pub fn exact(mean: f64) -> Self {
        Self { mean, standard_error: Some(0.0), interval: Some((mean, mean)) }
    }

    fn new(mean: f64, standard_error: f64, interval: impl FnOnce() -> (f64, f64)) -> Self {
        let known = standard_error.is_finite();
        Self { mean, standard_error: known.then_some(standard_error), interval: known.then(interval) }
    }

    /// The same with an interval that ends where the number can no longer be.
    pub fn within(self, (low, high): (f64, f64)) -> Self {
        Self { interval: self.interval.map(|(a, b)| (a.clamp(low, high), b.clamp(low, high))), ..self }
    }

    /// The same in units of this size.
    pub fn over(self, unit: f64) -> Self {
        Self {
            mean: self.mean / unit,
            standard_error: self.standard_error.map(|error| error / unit),
            interval: self.interval.map(|(low, high)| (low / unit, high / unit)),
        }
    }

    /// Whether the interval is known and does not hold 0.
    pub fn excludes_zero(&self) -> bool {
        self.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }
}

impl From<&Resampled> for Number {
    fn from(found: &Resampled) -> Self {
        Self::new(found.mean, found.standard_error, || found.interval(CONFIDENCE))
    }
}

impl From<Estimate> for Number {
    fn from(found: Estimate) -> Self {
        Self::new(found.mean, found.standard_error, || found.interval(CONFIDENCE))
    }
}

impl From<&Law> for Bounded {
    fn from(law: &Law) -> Self {
        // A few large draws among many zeros lift the mean above almost all of them: no bound is below the estimate that it is for.
        let mean = law.mean();
        let holding = |(low, high): (f64, f64)| (low.min(mean), high.max(mean));
        let number = Number::new(mean, law.standard_error(), || holding(law.interval(CONFIDENCE)));
        Self { number, upper: law.upper(CONFIDENCE).max(mean) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_ends_where_the_number_can_no_longer_be_and_an_unknown_one_is_none() {
        let found = Number { mean: 0.4, standard_error: Some(0.3), interval: Some((-0.2, 1.3)) };
        assert_eq!(found.within((0.0, 1.0)).interval, Some((0.0, 1.0)));
        assert!(!found.excludes_zero());
        assert!(Number { interval: Some((-2.0, -0.1)), ..found }.excludes_zero());
        let alone = Number::from(Estimate::of(&[2.0]));
        assert_eq!((alone.mean, alone.standard_error, alone.interval), (2.0, None, None));
        assert!(!alone.excludes_zero() && Number::exact(1.5).excludes_zero());
    }
    #[test]
    fn a_bound_is_never_below_its_estimate() {
        let draws: Vec<f64> = (0..200).map(|b| if b < 3 { 0.6 } else { 0.0 }).collect();
        let found = Bounded::from(&Law::of(draws));
        let (low, high) = found.number.interval.unwrap();
        assert!((found.number.mean - 0.009).abs() < 1e-12);
        assert!(low <= found.number.mean && found.number.mean <= high && found.number.mean <= found.upper, "{found:?}");
        let spread = Law::of((0..200).map(f64::from).collect());
        assert_eq!(Bounded::from(&spread).upper, spread.upper(0.95), "else the quantile");
    }
}
