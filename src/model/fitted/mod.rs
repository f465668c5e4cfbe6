//! Mechanisms fitted to data: line 1 and 2 of `alg:cf:1`.

mod basis;
mod cross_validation;
mod gain;
mod regression;
mod spline;
mod terms;

pub use basis::StateBasis;
pub use gain::one_step_gain;
pub use regression::RegressionReport;
pub use spline::{KnotError, NaturalSpline};

use super::Mechanism;
use crate::data::Panel;
use crate::numeric::{LeastSquaresError, Monomials, Stream, TooManyMonomials};
use regression::{Table, fit_table, level_values};
use serde::{Deserialize, Serialize};

/// What a fitted mechanism is linear in, or that it is a net.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Linear in the state.
    Linear,
    /// Every monomial of total degree ≤ D in the state and the indicators of action and level.
    Polynomial(usize),
    /// Natural cubic splines of the state coordinates, their number of knots chosen by cross-validation over people.
    Spline,
}

/// One regression for all levels, or one for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// One regression in which the level interacts with state and action.
    Pooled,
    /// A regression of its own for each level, as in supplement F.
    PerLevel,
}

/// How levels enter a pooled regression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LevelCode {
    /// As indicators.
    Indicator,
    /// As the number its name spells, with its powers: for attributes that are scores.
    Number,
}

/// What to fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitSettings {
    /// The functions of the state.
    pub basis: Basis,
    /// Levels together or apart.
    pub pooling: Pooling,
    /// How levels enter when together.
    pub code: LevelCode,
    /// Randomness of the fit, where it has any.
    pub stream: Stream,
}

impl Default for FitSettings {
    /// Splines, a regression for each level.
    fn default() -> Self {
        Self { basis: Basis::Spline, pooling: Pooling::PerLevel, code: LevelCode::Indicator, stream: Stream::new(0) }
    }
}

/// Why a mechanism cannot be fitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FitError {
    /// Nobody has this level, so nothing is known of its world.
    #[error("level {level} has no data to fit its mechanism on")]
    EmptyLevel {
        /// Its name.
        level: String,
    },
    /// Levels as numbers need names that are numbers.
    #[error("level {level} is not a number, so levels cannot enter as numbers")]
    LevelIsNoNumber {
        /// Its name.
        level: String,
    },
    /// Too high a degree.
    #[error(transparent)]
    Degree(#[from] TooManyMonomials),
    /// The regression itself.
    #[error(transparent)]
    LeastSquares(#[from] LeastSquaresError),
}

/// A mechanism fitted to a panel: initial means by level, transition and reward means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fitted {
    state_dim: usize,
    actions: usize,
    initial: Vec<Vec<f64>>,
    table: Table,
    reports: Vec<RegressionReport>,
    gain: f64,
}

/// Fits a mechanism by least squares.
///
/// # Errors
/// [`FitError`]: a level without data, levels that are no numbers, a degree out of reach.
pub fn fit(panel: &Panel, settings: &FitSettings) -> Result<Fitted, FitError> {
    let FitSettings { basis, pooling, code, .. } = *settings;
    let initial = initial_means(panel)?;
    let values = level_values(panel, code)?;
    let groups = if pooling == Pooling::Pooled { 1 } else { panel.levels().len() };
    let p = panel.state_dim();
    let bases = match basis {
        Basis::Linear => vec![StateBasis::Linear { coordinates: p }; groups],
        Basis::Polynomial(degree) => vec![StateBasis::Polynomial(Monomials::new(p, degree)?); groups],
        Basis::Spline => cross_validation::spline_bases(panel, pooling, code, &values),
    };
    let (table, reports) = fit_table(panel, bases, pooling, code, &values)?;
    let mut fitted = Fitted { state_dim: p, actions: panel.action_names().len(), initial, table, reports, gain: 0.0 };
    fitted.gain = one_step_gain(&fitted, panel);
    Ok(fitted)
}

/// Ê(S₁ | Z = z), line 2 of `alg:cf:1`.
fn initial_means(panel: &Panel) -> Result<Vec<Vec<f64>>, FitError> {
    let p = panel.state_dim();
    let mut sums = vec![vec![0.0; p]; panel.levels().len()];
    let mut counts = vec![0usize; panel.levels().len()];
    for person in panel.iter() {
        counts[person.level as usize] += 1;
        for (sum, s) in sums[person.level as usize].iter_mut().zip(person.states) {
            *sum += s;
        }
    }
    for (k, (sum, &count)) in sums.iter_mut().zip(&counts).enumerate() {
        if count == 0 {
            return Err(FitError::EmptyLevel { level: panel.levels().name(k).to_string() });
        }
        sum.iter_mut().for_each(|x| *x /= count as f64);
    }
    Ok(sums)
}

impl Fitted {
    /// What each regression saw and found.
    pub fn reports(&self) -> &[RegressionReport] {
        &self.reports
    }

    /// ℓ, the largest one-step gain of the fitted transition on the data: above 1, errors of counterfactual states grow with time.
    pub fn gain(&self) -> f64 {
        self.gain
    }

    /// The functions of the state at one level.
    pub fn basis(&self, level: usize) -> &StateBasis {
        self.table.basis(level)
    }

    /// Whether everything fits together, for a mechanism that comes from a file.
    pub fn is_consistent(&self) -> bool {
        let (p, levels) = (self.state_dim, self.initial.len());
        let bases = &self.table.bases;
        p > 0
            && levels > 0
            && self.actions > 0
            && self.initial.iter().all(|m| m.len() == p && m.iter().all(|x| x.is_finite()))
            && (bases.len() == 1 || bases.len() == levels)
            && bases.iter().all(|b| b.coordinates() == p)
            && self.table.coefficients.len() == levels
            && self.table.coefficients.iter().enumerate().all(|(k, by_action)| {
                let size = (p + 1).checked_mul(self.table.basis(k).count());
                by_action.len() == self.actions
                    && by_action.iter().all(|c| Some(c.len()) == size && c.iter().all(|x| x.is_finite()))
            })
    }
}

impl Mechanism for Fitted {
    fn state_dim(&self) -> usize {
        self.state_dim
    }

    fn levels(&self) -> usize {
        self.initial.len()
    }

    fn actions(&self) -> usize {
        self.actions
    }

    fn initial_mean(&self, level: usize) -> &[f64] {
        &self.initial[level]
    }

    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        self.table.mean(level, states, actions, next, rewards);
    }
}
