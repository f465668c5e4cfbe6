//! The same fit with other weights on people: what a bootstrap over people asks for, hundreds of times.

#[cfg(test)]
mod tests;

use super::census::{Census, FirstStates};
use super::groups::Group;
use super::regression::{Care, Regressions};
use super::rows::{RegressionRows, RowSource};
use super::{Basis, FitError, FitSettings, Fitted, FittedNoise, LeastSquaresFit, fit_with};
use crate::kernel::numeric::Stream;
use crate::kernel::people::Panel;

/// A mechanism that can be fitted again with a weight for each person.
///
/// Choices (levels together or apart, knots, smoothness) are made once, with weight 1 for all people, and kept. What is left is linear
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
    panel: Panel,
    census: Census,
    groups: Vec<Group>,
    rows: Vec<RegressionRows>,
}

/// Why a mechanism cannot be fitted again.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RefitError {
    /// Nets are not linear in anything: a refit is a training of its own.
    #[error("a net is not refitted with weights: resampling people would train one for each resample")]
    Neural,
    /// Not one weight per person.
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
        let LeastSquaresFit { fitted, census, groups, rows } = LeastSquaresFit::new(panel, settings)?;
        // Turned once, and not in each of hundreds of refits.
        let turned = groups.iter().zip(rows.unwrap_or_default());
        let rows = turned.map(|(group, rows)| rows.turned(group.bends.as_ref(), group.design.columns())).collect();
        Ok(Self { fitted, panel: panel.clone(), census, groups, rows })
    }

    /// The fit with weight 1 for all people: what [`fit`](super::fit) returns, bit for bit.
    pub fn fitted(&self) -> &Fitted {
        &self.fitted
    }

    /// N.
    pub fn people(&self) -> usize {
        self.panel.people()
    }

    /// The fit with these weights, one per person in the order of the panel.
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
        let initial = self.initial_means(weights)?;
        let rows = RowSource { people: &self.panel, groups: &self.groups, kept: Some(&self.rows) };
        let regressions = Regressions { rows, census: &self.census };
        let law = |means: &Fitted| match fitted_noise(&self.fitted) {
            Some(noise) => noise.refit(means, &self.panel, Some(weights)).map(Some),
            None => Ok(self.fitted.noise.clone()),
        };
        let refitted = fit_with(&regressions, initial, Some(weights), Care::Time, bends, law)?;
        Ok(Fitted { gain: self.fitted.gain, ..refitted })
    }

    /// Σ w s₁ / Σ w at each level.
    fn initial_means(&self, weights: &[f64]) -> Result<Vec<Vec<f64>>, RefitError> {
        let mut first = FirstStates::new(self.panel.levels().len(), self.panel.state_dim());
        for (person, w) in self.panel.iter().zip(weights) {
            first.add(person.level as usize, &person.states[..self.panel.state_dim()], *w);
        }
        first.means().map_err(|level| RefitError::EmptyLevel { level: self.panel.levels().name(level).to_string() })
    }
}

/// Noise that has something to refit.
fn fitted_noise(fitted: &Fitted) -> Option<&FittedNoise> {
    fitted.noise.as_ref().filter(|noise| !noise.is_additive())
}
