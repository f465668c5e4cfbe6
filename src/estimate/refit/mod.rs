//! The same fit with other weights on people: what a bootstrap over people asks for, hundreds of times.

mod regression;
#[cfg(test)]
mod tests;

use super::regression::{Coefficients, RegressionReport, level_values};
use super::{Basis, FitError, FitSettings, Fitted, FittedNoise, Means, fit_groups};
use crate::kernel::numeric::Stream;
use crate::kernel::people::Panel;
use regression::WeightedRegression;

/// A mechanism that can be fitted again with a weight for each person.
///
/// Choices (levels together or apart, knots, smoothness) are made once, on everybody with weight 1, and kept. What is left is linear
/// algebra on weighted sums:
///
/// # Equation
/// ```text
/// m̂_w(k) = Σ_{zᵢ = k} wᵢ sᵢ₁ / Σ_{zᵢ = k} wᵢ,     b̂_w = (Σᵢ wᵢ XᵢᵀXᵢ + λ n_w P)⁻¹ Σᵢ wᵢ Xᵢᵀyᵢ,     n_w = Σᵢ wᵢ nᵢ
/// ```
/// where Xᵢ are the nᵢ rows of person i. Only ratios of weights matter. With whole numbers it is the fit of a panel in which person i
/// stands wᵢ times, on the knots of the original. Noise that is more than added is refitted around these means on the rungs that were
/// chosen, and means with the precision that it gives them.
///
/// # Precision
/// Normal equations where their condition allows it, QR of the weighted rows where it does not: digits as in
/// [`tolerance::GRAM_CONDITION`](crate::kernel::numeric::tolerance::GRAM_CONDITION).
pub struct Refitter {
    fitted: Fitted,
    level_names: Vec<String>,
    /// The level and the first state of each person.
    levels: Vec<u32>,
    first: Vec<f64>,
    regressions: Vec<WeightedRegression>,
    /// The people, where noise is refitted too.
    panel: Option<Panel>,
}

/// Why a mechanism cannot be fitted again.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RefitError {
    /// Nets are not linear in anything: a refit is a training of its own.
    #[error("a net is not refitted with weights: resampling people would train one for each resample")]
    Neural,
    /// Not one weight a person.
    #[error("{found} weights were given for {people} people")]
    WeightCount {
        /// Weights given.
        found: usize,
        /// People in the panel.
        people: usize,
    },
    /// wᵢ < 0, or no number.
    #[error("the weight of person {position} (from 0) is {weight}; weights are finite and not negative")]
    Weight {
        /// The person's place in the panel.
        position: usize,
        /// The weight given.
        weight: f64,
    },
    /// Σ wᵢ = 0 over the people of a level.
    #[error("the weights leave nobody at level {level}")]
    EmptyLevel {
        /// Its name.
        level: String,
    },
    /// The first fit.
    #[error(transparent)]
    Fit(#[from] FitError),
}

impl Refitter {
    /// Fits as [`fit`](super::fit) does and keeps what refits need: a row of numbers for every decision.
    ///
    /// # Errors
    /// [`RefitError::Neural`] for nets, [`RefitError::Fit`] where the panel cannot be fitted.
    pub fn new(panel: &Panel, settings: &FitSettings) -> Result<Self, RefitError> {
        if settings.basis == Basis::Neural {
            return Err(RefitError::Neural);
        }
        let (fitted, pooling, groups) = fit_groups(panel, settings)?;
        let values = level_values(panel, settings.code)?;
        let regressions =
            groups.iter().map(|group| WeightedRegression::new(panel, group, pooling, settings.code, &values)).collect();
        let p = panel.state_dim();
        Ok(Self {
            level_names: panel.levels().names().to_vec(),
            levels: panel.level_codes().to_vec(),
            first: panel.iter().flat_map(|person| person.states[..p].iter().copied()).collect(),
            panel: fitted_noise(&fitted).map(|_| panel.clone()),
            fitted,
            regressions,
        })
    }

    /// The fit with weight 1 for everybody: what [`fit`](super::fit) returns, bit for bit.
    pub fn fitted(&self) -> &Fitted {
        &self.fitted
    }

    /// N.
    pub fn people(&self) -> usize {
        self.levels.len()
    }

    /// The fit with these weights, one a person in the order of the panel.
    ///
    /// Its [`gain`](Fitted::gain) is that of the unweighted fit: it describes the study, not the resample.
    ///
    /// # Errors
    /// [`RefitError`] about weights: their number, their sign, a level left empty.
    pub fn refit(&self, weights: &[f64]) -> Result<Fitted, RefitError> {
        self.fit_again(weights, None)
    }

    /// A mechanism that the data do not tell apart from the fit: refitted with these weights, and with its penalised bends drawn.
    ///
    /// A refit varies as the estimate varies, round the estimate. But a penalised spline is too straight, and the truth bends by as much
    /// as the penalty thinks usual; no refit with the same penalty shows it. Drawing the penalty's targets does:
    ///
    /// # Equation
    /// ```text
    /// b*_w = (Σᵢ wᵢ XᵢᵀXᵢ + λ n_w P)⁻¹ (Σᵢ wᵢ Xᵢᵀyᵢ + √(λ n_w) Lᵀe),   e ~ N(0, σ̂² n_w / n),   P = LᵀL
    /// ```
    /// whose covariance is that of refits plus σ²λn A⁻¹PA⁻¹, A = XᵀX + λnP: the squared bias to be expected of functions as rough as λ
    /// says. With independent errors of equal variance the sum is σ²A⁻¹, the Bayesian covariance of a smoothing spline, whose intervals cover the
    /// truth on average over the state. In the paper's non-linear world (N = 100, T = 8) the upper 95 % bound of the CF metric covers more often
    /// with it: `tests/coverage`.
    ///
    /// # Errors
    /// As [`refit`](Self::refit).
    ///
    /// # Reference
    /// Nychka, Bayesian confidence intervals for smoothing splines, Journal of the American Statistical Association 83 (1988) 1134–1143.
    pub fn draw(&self, weights: &[f64], bends: Stream) -> Result<Fitted, RefitError> {
        self.fit_again(weights, Some(bends))
    }

    fn fit_again(&self, weights: &[f64], bends: Option<Stream>) -> Result<Fitted, RefitError> {
        if weights.len() != self.people() {
            return Err(RefitError::WeightCount { found: weights.len(), people: self.people() });
        }
        if let Some(position) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            return Err(RefitError::Weight { position, weight: weights[position] });
        }
        let plain = self.refit_means(weights, &[], bends)?;
        let (Some(noise), Some(panel)) = (fitted_noise(&self.fitted), &self.panel) else { return Ok(plain) };
        // As the fit does: noise around plain means, means with the precision that this gives them, noise around those.
        let mut law = noise.refit(&plain, panel, weights);
        let precisions = law.precisions(panel);
        let mut means = plain;
        if precisions.iter().any(Option::is_some) {
            means = self.refit_means(weights, &precisions, bends)?;
            law = law.refit(&means, panel, weights);
        }
        means.noise = Some(law);
        Ok(means)
    }

    /// Means alone; the noise is that of the unweighted fit.
    fn refit_means(
        &self,
        weights: &[f64],
        precisions: &[Option<Vec<f64>>],
        bends: Option<Stream>,
    ) -> Result<Fitted, RefitError> {
        let initial = self.initial_means(weights)?;
        let (levels, actions) = (initial.len(), self.fitted.actions);
        let mut coefficients = vec![vec![Vec::new(); actions]; levels];
        let mut reports: Vec<RegressionReport> = Vec::with_capacity(self.regressions.len());
        for (at, regression) in self.regressions.iter().enumerate() {
            let bends = bends.map(|stream| stream.named("bends").index(at as u64));
            reports.push(regression.solve(weights, precisions, bends, &mut coefficients)?);
        }
        let bases = self.regressions.iter().map(|regression| regression.basis().clone()).collect();
        let means = Means::Table(Coefficients::new(bases, coefficients).into());
        Ok(Fitted { initial, means, reports, ..self.fitted.clone() })
    }

    /// Σ w s₁ / Σ w at each level.
    fn initial_means(&self, weights: &[f64]) -> Result<Vec<Vec<f64>>, RefitError> {
        let p = self.fitted.state_dim;
        let mut sums = vec![vec![0.0; p]; self.level_names.len()];
        let mut totals = vec![0.0; sums.len()];
        for ((&w, &z), state) in weights.iter().zip(&self.levels).zip(self.first.chunks_exact(p)) {
            totals[z as usize] += w;
            sums[z as usize].iter_mut().zip(state).for_each(|(sum, s)| *sum += w * s);
        }
        for ((sum, &total), name) in sums.iter_mut().zip(&totals).zip(&self.level_names) {
            if total <= 0.0 {
                return Err(RefitError::EmptyLevel { level: name.clone() });
            }
            sum.iter_mut().for_each(|x| *x /= total);
        }
        Ok(sums)
    }
}

/// Noise that has something to refit.
fn fitted_noise(fitted: &Fitted) -> Option<&FittedNoise> {
    fitted.noise.as_ref().filter(|noise| !noise.is_additive())
}
