//! Quantiles, and the interval between two of them.

/// The central share `confidence` of `values`.
pub(super) fn central_interval(mut values: Vec<f64>, confidence: f64) -> (f64, f64) {
    assert!(0.0 < confidence && confidence < 1.0, "confidence {confidence} is outside (0, 1)");
    values.sort_by(f64::total_cmp);
    (quantile(&values, 0.5 - confidence / 2.0), quantile(&values, 0.5 + confidence / 2.0))
}

/// Quantile of ascending values, linear between order statistics (type 7 of Hyndman and Fan, the default of R and
/// NumPy).
///
/// # Panics
/// When `sorted` is empty or `share` is outside [0, 1].
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    assert!(!sorted.is_empty(), "a quantile of no values was asked for");
    assert!((0.0..=1.0).contains(&share), "share {share} is outside [0, 1]");
    Place::of_share(sorted.len(), share).among(sorted)
}

/// A place between two order statistics: every kind of quantile is the value at some place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// The ranks it lies between, from 0; they are equal at an order statistic.
    pub below: usize,
    /// The upper one.
    pub above: usize,
    /// How far it is from the one towards the other.
    share: f64,
}

impl Place {
    /// The place `at` ranks from the first of `n` values, or the first or the last of them.
    ///
    /// # Panics
    /// When there are no values.
    pub fn new(n: usize, at: f64) -> Self {
        let at = at.clamp(0.0, (n - 1) as f64);
        let below = at.floor();
        Self { below: below as usize, above: at.ceil() as usize, share: at - below }
    }

    /// The place of [`quantile`].
    pub fn of_share(n: usize, share: f64) -> Self {
        Self::new(n, share * (n - 1) as f64)
    }

    /// The value here of `n` ascending values.
    pub fn among(self, sorted: &[f64]) -> f64 {
        self.between(sorted[self.below], sorted[self.above])
    }

    /// The value here between those at the two ranks.
    pub fn between(self, below: f64, above: f64) -> f64 {
        below + self.share * (above - below)
    }

    /// Both ranks.
    pub fn ranks(self) -> [usize; 2] {
        [self.below, self.above]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::tolerance::{ROUNDING, close};

    #[test]
    fn quantiles_are_linear_between_order_statistics() {
        let values = [1.0, 2.0, 4.0, 8.0];
        let shares = [0.0, 0.25, 0.5, 0.9, 1.0];
        let expected = [1.0, 1.75, 3.0, 6.8, 8.0];
        for (share, expected) in shares.into_iter().zip(expected) {
            assert!(close(quantile(&values, share), expected, ROUNDING), "at {share}");
        }
        assert_eq!(quantile(&[3.5], 0.3), 3.5);
    }

    #[test]
    fn places_beyond_the_ends_are_the_ends() {
        let values = [1.0, 2.0, 4.0];
        assert_eq!(
            [-0.7, 0.0, 0.5, 1.25, 2.0, 9.0].map(|at| Place::new(3, at).among(&values)),
            [1.0, 1.0, 1.5, 2.5, 4.0, 4.0]
        );
        assert_eq!((Place::new(3, 1.0).ranks(), Place::new(3, 1.5).ranks()), ([1, 1], [1, 2]));
    }

    #[test]
    #[should_panic(expected = "a quantile of no values")]
    fn no_values_have_no_quantile() {
        quantile(&[], 0.5);
    }

    #[test]
    #[should_panic(expected = "share 1.1 is outside [0, 1]")]
    fn a_share_above_one_is_refused() {
        quantile(&[1.0], 1.1);
    }

    #[test]
    fn the_interval_holds_the_central_share() {
        let values: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        let (low, high) = central_interval(values, 0.9);
        assert!(close(low, 5.0, ROUNDING) && close(high, 95.0, ROUNDING), "{low}, {high}");
    }

    #[test]
    fn a_confidence_outside_the_open_unit_interval_is_refused() {
        for confidence in [0.0, 1.0, -0.5, 1.2, f64::NAN] {
            let refused = std::panic::catch_unwind(|| central_interval(vec![1.0, 2.0], confidence));
            assert!(refused.is_err(), "{confidence} was accepted");
        }
    }
}
