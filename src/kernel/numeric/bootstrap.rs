//! Percentile bootstrap over units.

use super::streams::{Stream, uniform_index};

/// Percentile bootstrap interval of a statistic of `units` independent units, people say.
///
/// Each resample draws `units` indices with replacement from its own child of `stream`; the closure gets them and
/// returns the statistic. The ends are the (1 ∓ confidence)/2 quantiles of the statistics.
///
/// # Panics
/// When `units` or `resamples` is 0, or `confidence` is not strictly between 0 and 1.
///
/// # Example
/// ```
/// use counterfair::kernel::numeric::{Stream, bootstrap_interval};
/// let x = [3.1, 2.7, 4.4, 3.9, 2.2, 3.3];
/// let mean = |chosen: &[usize]| chosen.iter().map(|&i| x[i]).sum::<f64>() / chosen.len() as f64;
/// let (low, high) = bootstrap_interval(x.len(), 999, 0.9, Stream::new(5), mean);
/// assert!(low < 3.2 && 3.4 < high);
/// ```
pub fn bootstrap_interval(
    units: usize,
    resamples: usize,
    confidence: f64,
    stream: Stream,
    mut statistic: impl FnMut(&[usize]) -> f64,
) -> (f64, f64) {
    let mut chosen = vec![0; units];
    let statistics = (0..resamples as u64).map(|b| {
        let mut rng = stream.index(b).rng();
        chosen.fill_with(|| uniform_index(&mut rng, units));
        statistic(&chosen)
    });
    central_interval(statistics.collect(), confidence)
}

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
    use crate::kernel::numeric::Estimate;
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

    #[test]
    fn resamples_are_whole_samples_and_do_not_depend_on_their_number() {
        let record = |resamples| {
            let mut seen = Vec::new();
            bootstrap_interval(5, resamples, 0.8, Stream::new(4), |chosen| {
                seen.push(chosen.to_vec());
                0.0
            });
            seen
        };
        let (few, many) = (record(7), record(20));
        assert_eq!((few.len(), many.len()), (7, 20));
        assert_eq!(few, many[..7]);
        assert!(many.iter().all(|chosen| chosen.len() == 5 && chosen.iter().all(|&i| i < 5)));
        assert!(many.windows(2).all(|pair| pair[0] != pair[1]));
        assert!((0..5).all(|i| many.iter().flatten().any(|&j| j == i)));
    }

    #[test]
    fn the_interval_of_a_mean_is_about_the_normal_one() {
        // At n = 400 the ends differ from mean ± 1.645 se by bootstrap noise, near 2 % of the half width at 4000
        // resamples, and by skewness of order 1/√n; a quarter of the half width covers both.
        let x: Vec<f64> = (0..400).map(|i| f64::from(i * i % 401) / 100.0).collect();
        let estimate = Estimate::of(&x);
        let mean = |chosen: &[usize]| chosen.iter().map(|&i| x[i]).sum::<f64>() / chosen.len() as f64;
        let (low, high) = bootstrap_interval(x.len(), 4000, 0.9, Stream::new(8), mean);
        let half = 1.645 * estimate.standard_error;
        assert!((low - (estimate.mean - half)).abs() < half / 4.0, "{low} against {}", estimate.mean - half);
        assert!((high - (estimate.mean + half)).abs() < half / 4.0, "{high} against {}", estimate.mean + half);
    }
}
