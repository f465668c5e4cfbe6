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
/// use counterfair::numeric::{Stream, bootstrap_interval};
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
