//! The rate at which an error falls: the slope of log mean against log size.

use super::bootstrap::central_interval;
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
