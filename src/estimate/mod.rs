//! Mechanisms fitted to data: line 1 and 2 of `alg:cf:1`.
//!
//! A fit is a few passes over people in which sums are added up. It does not know where people are: in memory they are one block, on disk they are
//! many, and the digits are the same. A refit with weights is the same passes with another argument.
//!
//! | step | file |
//! |---|---|
//! | counts, initial means, ranges | `census` |
//! | functions of the state, and how they stand beside actions and levels | `basis`, `spline`, `terms`, `design` |
//! | levels together or apart, and how smoothly | `groups`, `cross_validation`, `bends` |
//! | rows and their weights; sums over them; coefficients | `rows`, `products`, `regression`, `mean_table`, `piecewise` |
//! | noise that is more than added | `noise` |
//! | the same with other weights, kept in a policy file | `refit`, `certificate` |
//! | nets; every person with a mechanism that has not seen them | `neural`, `cross_fit` |
//! | action values that are stable on real data | `views`, `stable_q` |

mod basis;
mod bends;
mod census;
mod certificate;
mod cross_fit;
mod cross_validation;
mod design;
mod gain;
mod groups;
mod mean_table;
mod neural;
mod noise;
mod piecewise;
mod products;
pub(crate) mod ranks;
mod refit;
mod regression;
mod rows;
mod spline;
pub mod stable_q;
mod terms;
mod views;

pub use cross_fit::{CrossFitError, cross_fitted_batch};
pub use noise::{NoiseChoice, OutputSet};
pub(crate) use views::stored_batch;
pub use views::{StoredExperience, StoringError, Views};

pub(crate) use basis::StateBasis;
pub(crate) use certificate::weights as replicate_weights;
pub(crate) use noise::NOISELESS;

pub use certificate::Certificate;
pub use mean_table::RegressionReport;
pub use neural::NeuralSettings;
pub use noise::{Candidate, FittedNoise, Nature, NoiseReport, OutputReport, Score, SpreadForm};
pub use refit::{RefitError, Refitter};

#[cfg(test)]
mod tests;

use crate::kernel::model::{Mechanism, NoiseLaw};
use crate::kernel::numeric::{LeastSquaresError, Stream, TooManyMonomials};
use crate::kernel::people::{BlocksError, Labels, Panel, People, Shape};
use crate::nets::StandardizerError;
use census::Census;
use gain::one_step_gain;
use groups::{Group, groups};
use mean_table::MeanTable;
use neural::{Nets, fit_nets};
use regression::{Care, Regressions};
use rows::{RegressionRows, RowSource, Weights};
use serde::{Deserialize, Serialize};

/// What a fitted mechanism is linear in, or that it is a net.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Linear in the state.
    Linear,
    /// Every monomial of total degree ≤ D in the state and the indicators of action and level.
    Polynomial(usize),
    /// The state and its sine and cosine: for coordinates that turn, and for worlds that are made of waves.
    Trigonometric,
    /// Natural cubic splines of the state coordinates, as smooth as cross-validation over people says.
    Spline,
    /// A net, as in supplement F.1.
    Neural,
}

/// One regression for all levels, or one per level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// One regression in which the level interacts with state and action.
    Pooled,
    /// A regression of its own for each level, as in supplement F.
    PerLevel,
    /// Whichever of the two predicts unseen people better, by cross-validation; nets are fitted for each level.
    Chosen,
    /// Together, unless levels apart predict unseen people better by more than chance would: what is printed about a mechanism does not
    /// know that a choice was made, and a choice that chance makes in one study of six costs precision and coverage.
    Cautious,
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
    /// Randomness of the fit, where it has any, and of the folds by which noise is judged.
    pub stream: Stream,
    /// How noise is carried from level to level.
    pub noise: NoiseChoice,
    /// Outputs that have in every world the value that was observed.
    pub keep: OutputSet,
}

impl Default for FitSettings {
    /// Splines, levels together or apart as the data say; noise is added.
    fn default() -> Self {
        Self {
            basis: Basis::Spline,
            pooling: Pooling::Chosen,
            code: LevelCode::Indicator,
            stream: Stream::new(0),
            noise: NoiseChoice::Additive,
            keep: OutputSet::default(),
        }
    }
}

/// Why a mechanism cannot be fitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FitError {
    /// No person has this level, so nothing is known of its world.
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
    /// The training of a net left the finite numbers.
    #[error("the training of a net diverged in epoch {epoch}")]
    Diverged {
        /// The epoch, counted from 1.
        epoch: usize,
    },
    /// Numbers too large to be standardised.
    #[error(transparent)]
    Standardizer(#[from] StandardizerError),
    /// More columns than there is room for.
    #[error(
        "a regression with {columns} columns on {rows} rows would take {needed:.1} GiB of memory, more than {allowed:.0}: \
         leave out states or take a smaller model"
    )]
    TooLarge {
        /// Columns of the regression.
        columns: usize,
        /// Its rows.
        rows: usize,
        /// Memory it would take, in GiB.
        needed: f64,
        /// Memory it may take, in GiB.
        allowed: f64,
    },
    /// More columns than rows, and more than there is time for.
    #[error(
        "a regression with {columns} columns on {rows} rows would take about {minutes:.0} minutes, more than {allowed:.0}, and so few rows do not \
         determine so many columns: leave out states, or take a smaller model"
    )]
    TooLong {
        /// Columns of the regression.
        columns: usize,
        /// Its rows.
        rows: usize,
        /// Minutes it would take on one core, to a factor of three.
        minutes: f64,
        /// Minutes it may take.
        allowed: f64,
    },
    /// A step that has no form for people on disk.
    #[error("{what} needs all {people} people in memory: raise --ram")]
    InMemory {
        /// The step.
        what: &'static str,
        /// N.
        people: usize,
    },
    /// People on disk could not be read back.
    #[error("people on disk cannot be read: {0}")]
    Blocks(#[from] BlocksError),
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
    means: Means,
    reports: Vec<RegressionReport>,
    gain: f64,
    /// Absent from files of additive mechanisms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    noise: Option<FittedNoise>,
}

/// The transition and reward means, in one of their forms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Means {
    Table(MeanTable),
    Nets(Nets),
}

/// Fits a mechanism to people in memory or on disk: initial means, then transitions and rewards by least squares or by nets with supplement F.1's
/// settings.
///
/// # Errors
/// [`FitError`]: a level without data, levels that are not numbers, a degree out of reach, nets for people on disk.
pub fn fit(people: &dyn People, settings: &FitSettings) -> Result<Fitted, FitError> {
    let FitSettings { basis, pooling, stream, noise, keep, .. } = *settings;
    if basis != Basis::Neural {
        return Ok(LeastSquaresFit::new(people, settings)?.fitted);
    }
    let in_memory = || FitError::InMemory { what: "training a net", people: people.people() };
    let fitted = fit_neural(people.in_memory().ok_or_else(in_memory)?, pooling, &NeuralSettings::default(), stream)?;
    if noise == NoiseChoice::Additive && keep.is_empty() {
        return Ok(fitted);
    }
    let law = FittedNoise::choose(&fitted, people, noise, keep, stream)?;
    Ok(Fitted { noise: Some(law), ..fitted }.with_gain(&Census::of(people)?))
}

/// A least-squares mechanism, and what a fit with other weights starts from.
struct LeastSquaresFit {
    fitted: Fitted,
    census: Census,
    groups: Vec<Group>,
    /// The rows of people in memory.
    rows: Option<Vec<RegressionRows>>,
}

impl LeastSquaresFit {
    fn new(people: &dyn People, settings: &FitSettings) -> Result<Self, FitError> {
        let FitSettings { code, stream, noise, keep, .. } = *settings;
        let values = level_values(&people.shape().levels, code)?;
        let census = Census::of(people)?;
        let initial = census.initial_means(people.shape())?;
        let groups = groups(people, &census, settings, &values)?;
        let rows = RowSource::kept(people, &groups);
        let source = RowSource { people, groups: &groups, kept: rows.as_deref() };
        let regressions = Regressions { rows: source, census: &census };
        let law = |means: &Fitted| match noise == NoiseChoice::Additive && keep.is_empty() {
            true => Ok(None),
            false => FittedNoise::choose(means, people, noise, keep, stream).map(Some),
        };
        let fitted = fit_with(&regressions, initial, None, Care::Digits, None, law)?.with_gain(&census);
        Ok(Self { fitted, census, groups, rows })
    }
}

/// Means with these weights on people, the noise around them, and where its spread varies means with the precision that this gives them.
///
/// Its gain is not known yet.
fn fit_with(
    regressions: &Regressions,
    initial: Vec<Vec<f64>>,
    weights: Option<&[f64]>,
    care: Care,
    bends: Option<Stream>,
    law: impl Fn(&Fitted) -> Result<Option<FittedNoise>, FitError>,
) -> Result<Fitted, FitError> {
    let people = regressions.rows.people;
    let plain = Weights { people: weights, precise: None };
    let (mut coefficients, reports) = regressions.fit(&plain, care, bends)?;
    let table = Means::Table(coefficients.clone().into());
    let mut fitted = Fitted::new(people.shape(), initial, table, reports);
    let Some(mut law) = law(&fitted)? else { return Ok(fitted) };
    let outputs = law.precise_outputs();
    if !outputs.is_empty() {
        let weighed = Weights { precise: Some(&law), ..plain };
        regressions.weigh_again(&mut coefficients, &weighed, &outputs, care, bends)?;
        fitted.means = Means::Table(coefficients.into());
        law = law.refit(&fitted, people, weights)?;
    }
    fitted.noise = Some(law);
    Ok(fitted)
}

/// The number behind each level: its name when levels enter as numbers, its code otherwise.
fn level_values(levels: &Labels, code: LevelCode) -> Result<Vec<f64>, FitError> {
    let value = |(k, name): (usize, &String)| match code {
        LevelCode::Indicator => Ok(k as f64),
        LevelCode::Number => name
            .trim()
            .parse()
            .ok()
            .filter(|x: &f64| x.is_finite())
            .ok_or_else(|| FitError::LevelIsNoNumber { level: name.clone() }),
    };
    levels.names().iter().enumerate().map(value).collect()
}

/// Fits a mechanism by nets of the given shape and training.
///
/// # Errors
/// [`FitError`].
pub fn fit_neural(
    panel: &Panel,
    pooling: Pooling,
    settings: &NeuralSettings,
    stream: Stream,
) -> Result<Fitted, FitError> {
    let census = Census::of(panel)?;
    let initial = census.initial_means(panel.shape())?;
    let (nets, reports) = fit_nets(panel, pooling, settings, stream)?;
    Ok(Fitted::new(panel.shape(), initial, Means::Nets(nets), reports).with_gain(&census))
}

impl Fitted {
    /// Means whose gain is not known yet.
    fn new(shape: &Shape, initial: Vec<Vec<f64>>, means: Means, reports: Vec<RegressionReport>) -> Self {
        let (state_dim, actions) = (shape.state_dim, shape.actions.len());
        Self { state_dim, actions, initial, means, reports, gain: f64::NAN, noise: None }
    }

    fn with_gain(mut self, census: &Census) -> Self {
        self.gain = one_step_gain(&self, census);
        self
    }

    /// The noise that was fitted, where it was looked at: what was chosen, and a way to fit it again.
    pub fn fitted_noise(&self) -> Option<&FittedNoise> {
        self.noise.as_ref()
    }

    /// What each regression saw and found.
    #[doc(hidden)]
    pub fn reports(&self) -> &[RegressionReport] {
        &self.reports
    }

    /// ℓ, the largest one-step gain of the fitted transition on the data: above 1, errors of counterfactual states grow with time.
    pub fn gain(&self) -> f64 {
        self.gain
    }

    /// The functions of the state at one level; nets have none.
    pub(crate) fn basis(&self, level: usize) -> Option<&StateBasis> {
        match &self.means {
            Means::Table(table) => Some(table.basis(level)),
            Means::Nets(_) => None,
        }
    }

    /// Whether everything fits together, for a mechanism that comes from a file.
    pub fn is_consistent(&self) -> bool {
        let (p, levels) = (self.state_dim, self.initial.len());
        let initial_fits = self.initial.iter().all(|m| m.len() == p && m.iter().all(|x| x.is_finite()));
        let means_fit = match &self.means {
            Means::Table(table) => table.is_consistent(p, levels, self.actions),
            Means::Nets(nets) => nets.is_consistent(p, levels, self.actions),
        };
        let noise_fits = self.noise.as_ref().is_none_or(|noise| noise.is_consistent(p, levels, self.actions));
        p > 0 && levels > 0 && self.actions > 0 && initial_fits && means_fit && noise_fits
    }
}

impl gain::Additive for Fitted {
    fn along(&self, level: usize, action: u32, j: usize, x: f64, next: &mut [f64]) -> bool {
        match &self.means {
            Means::Table(table) => table.along(level, action, j, x, next),
            Means::Nets(_) => false,
        }
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
        match &self.means {
            Means::Table(table) => table.mean(level, states, actions, next, rewards),
            Means::Nets(nets) => nets.mean(level, states, actions, next, rewards),
        }
    }

    fn noise(&self) -> Option<&dyn NoiseLaw> {
        self.noise.as_ref().filter(|noise| !noise.is_additive()).map(|noise| noise as &dyn NoiseLaw)
    }
}
