//! The law of an unknown quantity, as draws.

use super::quantile::Place;

/// What resampling says about an unknown quantity: draws, in ascending order.
///
/// The draws are used as a distribution over where the truth lies: its mean is the estimate, its quantiles are bounds. For which
/// quantities that reading covers as it should is a matter of the method that made them, and of its coverage.
#[derive(Debug, Clone, PartialEq)]
pub struct Law {
    sorted: Vec<f64>,
    mean: f64,
    standard_error: f64,
}

impl Law {
    /// The law with these draws, in any order.
    ///
    /// # Panics
    /// When there are none, or one is not a number.
    pub fn of(mut draws: Vec<f64>) -> Self {
        assert!(!draws.is_empty(), "a law of no draws");
        assert!(draws.iter().all(|x| !x.is_nan()), "a draw that is not a number");
        // Sums in ascending order do not depend on the order in which draws came.
        draws.sort_by(f64::total_cmp);
        let n = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / n;
        let squares: f64 = draws.iter().map(|x| (x - mean) * (x - mean)).sum();
        let standard_error = if n > 1.0 { (squares / (n - 1.0)).sqrt() } else { f64::INFINITY };
        Self { sorted: draws, mean, standard_error }
    }

    /// The mean of the draws.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The standard deviation of the draws.
    pub fn standard_error(&self) -> f64 {
        self.standard_error
    }

    /// The draws, ascending.
    pub fn draws(&self) -> &[f64] {
        &self.sorted
    }

    /// The quantile of this share: the k-th of B draws at k/(B + 1), linear between, the extreme draws beyond.
    ///
    /// If the truth is one more draw of the law, it is below the k-th with probability k/(B + 1) exactly (type 6 of Hyndman and Fan). The
    /// usual type 7 makes intervals of a hundred draws one hundredth too short in coverage.
    ///
    /// # Panics
    /// When `share` is outside [0, 1].
    pub fn quantile(&self, share: f64) -> f64 {
        assert!((0.0..=1.0).contains(&share), "share {share} is outside [0, 1]");
        let n = self.sorted.len();
        Place::new(n, share * (n + 1) as f64 - 1.0).among(&self.sorted)
    }

    /// The equal-tailed interval that holds this share of the draws.
    ///
    /// # Panics
    /// When `confidence` is not strictly between 0 and 1.
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        assert!(0.0 < confidence && confidence < 1.0, "confidence {confidence} is outside (0, 1)");
        (self.quantile(0.5 - confidence / 2.0), self.quantile(0.5 + confidence / 2.0))
    }

    /// The bound below which this share of the draws lies.
    ///
    /// # Panics
    /// When `confidence` is not strictly between 0 and 1.
    pub fn upper(&self, confidence: f64) -> f64 {
        assert!(0.0 < confidence && confidence < 1.0, "confidence {confidence} is outside (0, 1)");
        self.quantile(confidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::tolerance::{ROUNDING, close};

    #[test]
    fn a_law_is_its_draws_in_whatever_order_they_came() {
        let law = Law::of(vec![4.0, 1.0, 8.0, 2.0]);
        assert_eq!(law, Law::of(vec![8.0, 4.0, 2.0, 1.0]));
        assert_eq!((law.mean(), law.draws()), (3.75, &[1.0, 2.0, 4.0, 8.0][..]));
        assert!(close(law.standard_error(), (28.75f64 / 3.0).sqrt(), ROUNDING));
        // Draws stand at 0.2, 0.4, 0.6, 0.8.
        let (low, high) = law.interval(0.5);
        assert!(close(low, 1.25, ROUNDING) && close(high, 7.0, ROUNDING), "{low}, {high}");
        assert!(close(law.upper(0.7), 6.0, ROUNDING));
        assert_eq!((law.quantile(0.0), law.upper(0.9), law.quantile(1.0)), (1.0, 8.0, 8.0));
    }

    #[test]
    fn one_draw_says_nothing_about_spread() {
        assert_eq!(Law::of(vec![2.5]).standard_error(), f64::INFINITY);
    }

    #[test]
    fn a_law_of_nothing_is_refused() {
        for draws in [vec![], vec![1.0, f64::NAN]] {
            assert!(std::panic::catch_unwind(|| Law::of(draws.clone())).is_err(), "{draws:?} was accepted");
        }
        for confidence in [0.0, 1.0, f64::NAN] {
            let law = Law::of(vec![1.0, 2.0]);
            assert!(std::panic::catch_unwind(|| law.interval(confidence)).is_err(), "{confidence} was accepted");
            assert!(std::panic::catch_unwind(|| law.upper(confidence)).is_err(), "{confidence} was accepted");
        }
    }
}
