//! An estimate with the same estimate on resampled people.

use serde::ser::{Serialize, SerializeStruct, Serializer};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// An estimate, and what it is when people are resampled and everything fitted is fitted again.
#[derive(Debug, Clone, PartialEq)]
pub struct Resampled {
    /// The estimate.
    pub mean: f64,
    /// The standard deviation over replicates; +∞ with fewer than two people or replicates.
    pub standard_error: f64,
    /// The estimate of each replicate, in the order in which they were drawn: differences are paired by position.
    pub replicates: Vec<f64>,
    /// N.
    pub people: usize,
}

impl Resampled {
    pub(super) fn new(mean: f64, replicates: Vec<f64>, people: usize) -> Self {
        let b = replicates.len() as f64;
        let middle = replicates.iter().sum::<f64>() / b;
        let squares: f64 = replicates.iter().map(|x| (x - middle) * (x - middle)).sum();
        let enough = replicates.len() > 1 && people > 1;
        Self {
            mean,
            standard_error: if enough { (squares / (b - 1.0)).sqrt() } else { f64::INFINITY },
            replicates,
            people,
        }
    }

    /// This minus the other, replicate by replicate: people are the same in both.
    ///
    /// # Panics
    /// When the two were not resampled together.
    pub fn minus(&self, other: &Self) -> Self {
        assert_eq!((self.replicates.len(), self.people), (other.replicates.len(), other.people), "the same resamples");
        let apart = self.replicates.iter().zip(&other.replicates).map(|(a, b)| a - b).collect();
        Self::new(self.mean - other.mean, apart, self.people)
    }

    /// (1 − weight) times this plus weight times the other, replicate by replicate: the value of a mixture that treats each person by the
    /// other with that probability throughout.
    ///
    /// # Panics
    /// When the two were not resampled together.
    pub fn blended(&self, other: &Self, weight: f64) -> Self {
        assert_eq!((self.replicates.len(), self.people), (other.replicates.len(), other.people), "the same resamples");
        let blend = |a: f64, b: f64| (1.0 - weight) * a + weight * b;
        let both = self.replicates.iter().zip(&other.replicates).map(|(a, b)| blend(*a, *b)).collect();
        Self::new(blend(self.mean, other.mean), both, self.people)
    }

    /// The two-sided p-value of the hypothesis that the truth is 0, by the law behind [`interval`](Self::interval); 1 without a spread.
    pub fn p_value(&self) -> f64 {
        if !(self.standard_error > 0.0 && self.standard_error.is_finite()) {
            return 1.0;
        }
        let t = StudentsT::new(0.0, 1.0, (self.people - 1) as f64).expect("positive degrees of freedom");
        2.0 * t.cdf(-(self.mean / self.standard_error).abs())
    }

    /// mean ± t standard errors, t the quantile of Student's law with N − 1 degrees of freedom.
    ///
    /// The central share of the replicates was tried beside it (40 values in six worlds, 60 replicates): at 95 % it held the truth less often
    /// in 28, more often in 1, by 2.3 % on average.
    ///
    /// # Panics
    /// When `confidence` is not strictly between 0 and 1.
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        assert!(0.0 < confidence && confidence < 1.0, "confidence {confidence} is outside (0, 1)");
        if self.standard_error.is_infinite() {
            return (f64::NEG_INFINITY, f64::INFINITY);
        }
        let t = StudentsT::new(0.0, 1.0, (self.people - 1) as f64).expect("positive degrees of freedom");
        let half = t.inverse_cdf(0.5 + confidence / 2.0) * self.standard_error;
        (self.mean - half, self.mean + half)
    }
}

/// `mean`, `standard_error` and `interval` (95 %); an unknown error and an endless interval are `null`.
impl Serialize for Resampled {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Resampled", 3)?;
        let known = self.standard_error.is_finite();
        fields.serialize_field("mean", &self.mean)?;
        fields.serialize_field("standard_error", &known.then_some(self.standard_error))?;
        fields.serialize_field("interval", &known.then(|| self.interval(0.95)))?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_taken_replicate_by_replicate() {
        let a = Resampled::new(3.0, vec![2.0, 3.5, 4.0], 9);
        let b = Resampled::new(1.0, vec![0.5, 2.0, 2.5], 9);
        let apart = a.minus(&b);
        assert_eq!((apart.mean, apart.standard_error), (2.0, 0.0));
        assert_eq!(apart.interval(0.9), (2.0, 2.0));
        assert!(a.standard_error > 1.0);
    }

    #[test]
    fn a_mixture_lies_between_and_its_spread_is_that_of_the_mixed_replicates() {
        let (a, b) = (Resampled::new(3.0, vec![2.0, 4.0], 9), Resampled::new(1.0, vec![1.5, 0.5], 9));
        let mixed = a.blended(&b, 0.25);
        assert_eq!((mixed.mean, mixed.replicates), (2.5, vec![1.875, 3.125]));
    }

    #[test]
    fn a_p_value_is_the_confidence_at_which_the_interval_reaches_zero() {
        let found = Resampled::new(1.0, vec![0.5, 1.2, 1.9, 0.4], 12);
        let (low, _) = found.interval(1.0 - found.p_value());
        assert!(low.abs() < 1e-6, "{low}");
        assert_eq!(Resampled::new(1.0, vec![1.0, 1.0], 9).p_value(), 1.0);
    }

    #[test]
    fn an_estimate_is_written_with_its_error_and_its_interval() {
        let text = serde_json::to_value(Resampled::new(1.0, vec![0.5, 1.5], 9)).unwrap();
        assert_eq!(text["mean"], 1.0);
        assert!((text["interval"][1].as_f64().unwrap() - (1.0 + 2.306_004_135 * 0.5f64.sqrt())).abs() < 1e-6);
        let alone = serde_json::to_value(Resampled::new(1.0, vec![1.0, 1.0], 1)).unwrap();
        assert!(alone["standard_error"].is_null() && alone["interval"].is_null());
    }
}
