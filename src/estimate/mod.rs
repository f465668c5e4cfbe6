//! Mechanisms fitted to data: line 1 and 2 of `alg:cf:1`.

mod basis;
mod bends;
mod certificate;
mod cross_fit;
mod cross_validation;
mod design;
mod gain;
mod groups;
mod neural;
mod noise;
mod piecewise;
pub(crate) mod ranks;
mod refit;
mod regression;
mod reweigh;
mod spline;
pub mod stable_q;
mod stored;
mod stored_views;
mod terms;

pub use cross_fit::{CrossFitError, cross_fitted_batch};
pub use noise::{NoiseChoice, OutputSet};
pub use stored_views::StoredExperience;
pub use stored_views::StoringError;
pub(crate) use stored_views::stored_batch;

pub(crate) use basis::StateBasis;
pub(crate) use certificate::weights as replicate_weights;
pub(crate) use gain::one_step_gain;
pub(crate) use noise::NOISELESS;
pub(crate) use stored::fit_stored;

pub use certificate::Certificate;
pub use neural::NeuralSettings;
pub use noise::{Candidate, FittedNoise, Nature, NoiseReport, OutputReport, Score, SpreadForm};
pub use refit::{RefitError, Refitter};
pub use regression::RegressionReport;

#[cfg(test)]
mod tests;

use crate::kernel::model::{Mechanism, NoiseLaw};
use crate::kernel::numeric::{LeastSquaresError, Stream, TooManyMonomials};
use crate::kernel::people::Panel;
use crate::nets::StandardizerError;
use groups::Group;
use neural::{Nets, fit_nets};
use regression::{MeanTable, fit_table, level_values};
use reweigh::reweigh;
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

/// One regression for all levels, or one for each.
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
    Scratch(String),
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

/// Fits a mechanism: initial means, then transitions and rewards by least squares or by nets with supplement F.1's settings.
///
/// # Errors
/// [`FitError`]: a level without data, levels that are no numbers, a degree out of reach.
pub fn fit(panel: &Panel, settings: &FitSettings) -> Result<Fitted, FitError> {
    let FitSettings { basis, pooling, stream, noise, keep, .. } = *settings;
    if basis == Basis::Neural {
        let fitted = fit_neural(panel, pooling, &NeuralSettings::default(), stream)?;
        if noise == NoiseChoice::Additive && keep.is_empty() {
            return Ok(fitted);
        }
        let law = FittedNoise::choose(&fitted, panel, noise, keep, stream);
        return Ok(fitted.with_noise(law, panel));
    }
    Ok(fit_groups(panel, settings)?.0)
}

/// A least-squares mechanism, with whom it was fitted to together and how smoothly.
fn fit_groups(panel: &Panel, settings: &FitSettings) -> Result<(Fitted, Pooling, Vec<Group>), FitError> {
    let FitSettings { basis, pooling, code, stream, noise, keep } = *settings;
    let values = level_values(panel, code)?;
    let initial = initial_means(panel)?;
    let (pooling, groups) = groups::groups(panel, basis, pooling, code, &values)?;
    let (table, reports) = fit_table(panel, &groups, pooling, code, &values)?;
    let mut fitted = Fitted::new(panel, initial, Means::Table(table), reports);
    if noise == NoiseChoice::Additive && keep.is_empty() {
        return Ok((fitted.with_gain(panel), pooling, groups));
    }
    let mut law = FittedNoise::choose(&fitted, panel, noise, keep, stream);
    let precisions = law.precisions(panel);
    if let (Means::Table(table), true) = (&fitted.means, precisions.iter().any(Option::is_some)) {
        let table = reweigh(panel, &groups, (pooling, code, &values), table.clone(), &precisions)?;
        fitted.means = Means::Table(table);
        law = law.refit(&fitted, panel, &vec![1.0; panel.people()]);
    }
    Ok((fitted.with_noise(law, panel), pooling, groups))
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
    let initial = initial_means(panel)?;
    let (nets, reports) = fit_nets(panel, pooling, settings, stream)?;
    Ok(Fitted::new(panel, initial, Means::Nets(nets), reports).with_gain(panel))
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
    /// Means whose gain is not known yet.
    fn new(panel: &Panel, initial: Vec<Vec<f64>>, means: Means, reports: Vec<RegressionReport>) -> Self {
        let (state_dim, actions) = (panel.state_dim(), panel.action_names().len());
        Self { state_dim, actions, initial, means, reports, gain: f64::NAN, noise: None }
    }

    fn with_gain(mut self, panel: &Panel) -> Self {
        self.gain = one_step_gain(&self, panel);
        self
    }

    /// The same means with this noise around them.
    pub fn with_noise(mut self, noise: FittedNoise, panel: &Panel) -> Self {
        self.noise = Some(noise);
        self.with_gain(panel)
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
