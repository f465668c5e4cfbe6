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
    let position = share * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = position.ceil() as usize;
    sorted[below] + (position - below as f64) * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::numeric::tolerance::{ROUNDING, close};

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
