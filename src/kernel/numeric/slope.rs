//! The rate at which an error falls: the slope of log mean against log size.

use super::quantile::central_interval;
use super::streams::{Stream, uniform_index};

/// log mean = intercept + slope · log size, with a bootstrap interval for the slope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlopeFit {
    /// The rate: −½ when errors fall like size^(−½).
    pub slope: f64,
    /// Natural logarithm of the mean at size 1.
    pub intercept: f64,
    /// Percentile interval of the slope.
    pub interval: (f64, f64),
    /// The share of resampled slopes inside.
    pub confidence: f64,
}

/// Samples from which no slope can be read.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SlopeError {
    /// sizes.len() ≠ samples.len().
    #[error("{sizes} sizes with {samples} samples")]
    Unpaired {
        /// Sizes given.
        sizes: usize,
        /// Samples given.
        samples: usize,
    },
    /// All sizes are equal, or there are fewer than two.
    #[error("a slope needs two different sizes")]
    TooFewSizes,
    /// size ≤ 0, or not a finite number.
    #[error("size {0} has no logarithm")]
    Size(f64),
    /// No value at a size.
    #[error("no values at size {0}")]
    NoValues(f64),
    /// A mean, of the sample or of one of its resamples, that is not a positive finite number.
    #[error("mean {mean} at size {size} has no logarithm")]
    Mean {
        /// The size.
        size: f64,
        /// The mean there.
        mean: f64,
    },
    /// confidence ∉ (0, 1).
    #[error("confidence {0} is outside (0, 1)")]
    Confidence(f64),
    /// resamples = 0.
    #[error("an interval without resamples")]
    NoResamples,
}

/// Ordinary least squares of log mean on log size; values at each size are resampled with replacement.
///
/// `samples[k]` holds one value a seed at `sizes[k]`.
///
/// # Equation
/// ```text
/// slope = Σ (xₖ − x̄)(yₖ − ȳ) / Σ (xₖ − x̄)²,   xₖ = log sizeₖ,  yₖ = log meanₖ
/// ```
///
/// # Assumptions
/// Seeds are independent, within a size and between sizes.
///
/// # Errors
/// [`SlopeError`], each with the offending value.
pub fn log_log_slope(
    sizes: &[f64],
    samples: &[Vec<f64>],
    confidence: f64,
    resamples: usize,
    stream: Stream,
) -> Result<SlopeFit, SlopeError> {
    if sizes.len() != samples.len() {
        return Err(SlopeError::Unpaired { sizes: sizes.len(), samples: samples.len() });
    }
    if let Some(&size) = sizes.iter().find(|size| !(**size > 0.0 && size.is_finite())) {
        return Err(SlopeError::Size(size));
    }
    if sizes.iter().all(|size| *size == sizes[0]) {
        return Err(SlopeError::TooFewSizes);
    }
    if let Some((&size, _)) = sizes.iter().zip(samples).find(|(_, values)| values.is_empty()) {
        return Err(SlopeError::NoValues(size));
    }
    if !(0.0 < confidence && confidence < 1.0) {
        return Err(SlopeError::Confidence(confidence));
    }
    if resamples == 0 {
        return Err(SlopeError::NoResamples);
    }

    let x: Vec<f64> = sizes.iter().map(|size| size.ln()).collect();
    let fit = |mean_at: &mut dyn FnMut(&[f64]) -> f64| -> Result<(f64, f64), SlopeError> {
        let y: Result<Vec<f64>, SlopeError> =
            sizes.iter().zip(samples).map(|(&size, values)| log_mean(size, mean_at(values))).collect();
        Ok(line(&x, &y?))
    };
    let (slope, intercept) = fit(&mut |values| values.iter().sum::<f64>() / values.len() as f64)?;
    let slopes: Result<Vec<f64>, SlopeError> = (0..resamples as u64)
        .map(|b| {
            let mut rng = stream.index(b).rng();
            let mut resampled_mean = |values: &[f64]| {
                let drawn = values.iter().map(|_| values[uniform_index(&mut rng, values.len())]);
                drawn.sum::<f64>() / values.len() as f64
            };
            Ok(fit(&mut resampled_mean)?.0)
        })
        .collect();
    Ok(SlopeFit { slope, intercept, interval: central_interval(slopes?, confidence), confidence })
}

fn log_mean(size: f64, mean: f64) -> Result<f64, SlopeError> {
    if mean > 0.0 && mean.is_finite() { Ok(mean.ln()) } else { Err(SlopeError::Mean { size, mean }) }
}

/// Slope and intercept of the least-squares line.
fn line(x: &[f64], y: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let (x_mean, y_mean) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let products: f64 = x.iter().zip(y).map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    let squares: f64 = x.iter().map(|x| (x - x_mean) * (x - x_mean)).sum();
    let slope = products / squares;
    (slope, y_mean - slope * x_mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::fill_standard_normal;
    use crate::numeric::tolerance::{ROUNDING, close};

    const SIZES: [f64; 4] = [100.0, 300.0, 1000.0, 5000.0];

    /// 2.5 · size^rate times a positive noise of mean one, 60 seeds a size.
    fn noisy_power_law(rate: f64) -> Vec<Vec<f64>> {
        let stream = Stream::new(31).named("power law");
        let sample = |(k, size): (usize, &f64)| {
            let mut noise = vec![0.0; 60];
            fill_standard_normal(&mut stream.index(k as u64).rng(), &mut noise);
            noise.iter().map(|u| 2.5 * size.powf(rate) * (0.4 * u - 0.08).exp()).collect()
        };
        SIZES.iter().enumerate().map(sample).collect()
    }

    fn slope_of(samples: &[Vec<f64>]) -> Result<SlopeFit, SlopeError> {
        log_log_slope(&SIZES, samples, 0.95, 500, Stream::new(1))
    }

    #[test]
    fn an_exact_power_law_gives_back_its_rate() {
        let samples: Vec<Vec<f64>> = SIZES.iter().map(|size| vec![2.5 * size.powf(-0.7); 3]).collect();
        let fit = slope_of(&samples).unwrap();
        assert!(close(fit.slope, -0.7, ROUNDING) && close(fit.intercept, 2.5f64.ln(), ROUNDING));
        assert!(close(fit.interval.0, -0.7, ROUNDING) && close(fit.interval.1, -0.7, ROUNDING));
        assert_eq!(fit.confidence, 0.95);
    }

    #[test]
    fn the_line_is_that_of_ordinary_least_squares() {
        // log sizes 0, 1, 3 and means 2, 1, 0.3, the last as the mean of 0.1, 0.2 and 0.6.
        let sizes = [1.0, 1f64.exp(), 3f64.exp()];
        let samples = [vec![2.0], vec![0.5, 1.5], vec![0.1, 0.2, 0.6]];
        let fit = log_log_slope(&sizes, &samples, 0.5, 10, Stream::new(1)).unwrap();
        assert!(close(fit.slope, -0.628_032_338_847_818_7, ROUNDING), "{}", fit.slope);
        assert!(close(fit.intercept, 0.667_101_243_875_094_6, ROUNDING), "{}", fit.intercept);
    }

    #[test]
    fn the_interval_holds_the_true_rate_and_not_a_wrong_one() {
        for (rate, wrong) in [(-0.5, -0.65), (-0.65, -0.5), (0.0, -0.1)] {
            let (low, high) = slope_of(&noisy_power_law(rate)).unwrap().interval;
            assert!(low < rate && rate < high, "{rate} is outside ({low}, {high})");
            assert!(!(low..=high).contains(&wrong), "{wrong} is inside ({low}, {high})");
        }
    }

    #[test]
    fn the_interval_is_as_wide_as_the_delta_method_says() {
        // Var slope = Σ (xₖ − x̄)² σ²ₖ / S², σ²ₖ = Var(value)/(n mean²): a third is left for bootstrap noise.
        let samples = noisy_power_law(-0.5);
        let x: Vec<f64> = SIZES.iter().map(|size| size.ln()).collect();
        let x_mean = x.iter().sum::<f64>() / 4.0;
        let s: f64 = x.iter().map(|x| (x - x_mean).powi(2)).sum();
        let variance: f64 = samples
            .iter()
            .zip(&x)
            .map(|(values, x)| {
                let estimate = crate::numeric::Estimate::of(values);
                ((x - x_mean) * estimate.standard_error / estimate.mean / s).powi(2)
            })
            .sum();
        let fit = slope_of(&samples).unwrap();
        let ratio = (fit.interval.1 - fit.interval.0) / (2.0 * 1.96 * variance.sqrt());
        assert!((2.0 / 3.0..4.0 / 3.0).contains(&ratio), "{ratio}");
        assert!(fit.interval.0 < fit.slope && fit.slope < fit.interval.1);
    }

    #[test]
    fn each_impossible_sample_is_named() {
        let good = noisy_power_law(-0.5);
        let run = |sizes: &[f64], samples: &[Vec<f64>], confidence, resamples| {
            log_log_slope(sizes, samples, confidence, resamples, Stream::new(1)).unwrap_err()
        };
        assert_eq!(run(&SIZES, &good[..3], 0.9, 9), SlopeError::Unpaired { sizes: 4, samples: 3 });
        assert_eq!(run(&[7.0; 4], &good, 0.9, 9), SlopeError::TooFewSizes);
        assert_eq!(run(&[], &[], 0.9, 9), SlopeError::TooFewSizes);
        for size in [0.0, -3.0, f64::INFINITY] {
            assert_eq!(run(&[1.0, size, 2.0, 3.0], &good, 0.9, 9), SlopeError::Size(size));
        }
        let with_second = |values| [vec![good[0].clone(), values], good[2..].to_vec()].concat();
        assert_eq!(run(&SIZES, &with_second(vec![]), 0.9, 9), SlopeError::NoValues(300.0));
        assert_eq!(run(&SIZES, &with_second(vec![0.0]), 0.9, 9), SlopeError::Mean { size: 300.0, mean: 0.0 });
        assert_eq!(
            run(&SIZES, &with_second(vec![f64::INFINITY]), 0.9, 9),
            SlopeError::Mean { size: 300.0, mean: f64::INFINITY }
        );
        for confidence in [0.0, 1.0, 1.5, -0.1] {
            assert_eq!(run(&SIZES, &good, confidence, 9), SlopeError::Confidence(confidence));
        }
        assert_eq!(run(&SIZES, &good, 0.9, 0), SlopeError::NoResamples);
    }

    #[test]
    fn a_resample_without_a_logarithm_is_an_error_and_not_a_nan() {
        let samples = [vec![1.0; 4], vec![4.0, -1.0, -1.0, -1.0]];
        let error = log_log_slope(&[10.0, 20.0], &samples, 0.9, 50, Stream::new(1)).unwrap_err();
        assert!(matches!(error, SlopeError::Mean { size: 20.0, mean } if mean <= 0.0), "{error}");
    }

    #[test]
    fn a_resample_is_a_mean_however_many_values_a_size_has() {
        let samples = [vec![1.0; 2], vec![0.1; 5], vec![0.01; 11]];
        let fit = log_log_slope(&[1.0, 10.0, 100.0], &samples, 0.9, 50, Stream::new(2)).unwrap();
        assert!(close(fit.interval.0, -1.0, ROUNDING) && close(fit.interval.1, -1.0, ROUNDING), "{fit:?}");
    }

    #[test]
    fn a_line_far_above_the_axis_keeps_its_slope() {
        let height = 2f64.powi(40);
        // Distances from the mean of these numbers do not quite add up to 0, which numbers of this height would make 10⁻⁴ of.
        let x = [0.1, 0.7, 1.9, 2.3];
        let mean = x.iter().sum::<f64>() / 4.0;
        assert!(x.iter().map(|x| x - mean).sum::<f64>() != 0.0);
        let (slope, _) = line(&x, &x.map(|x| height + (5.0 * x).round()));
        let (level, _) = line(&x, &x.map(|x| (5.0 * x).round()));
        assert!((slope - level).abs() < 1e-12, "{slope} and {level}");
    }
}
