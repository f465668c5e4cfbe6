//! `alg:cf:1` on a panel: fit, reconstruct, diagnose.

use super::{Error, People, warnings};
use crate::audit::diagnostics::{Diagnostics, diagnose};
use crate::audit::noise_check::{NoiseCheck, check_noise};
use crate::estimate::cross_fitted_batch;
use crate::estimate::{FitSettings, Fitted, FittedNoise, NoiseChoice, Pooling, fit};
use crate::kernel::people::{Labels, Panel};
use crate::kernel::preprocess::{Augmented, Experience, Sequential, batch};

/// How counterfactual states are made.
#[derive(Debug, Clone, PartialEq)]
pub struct Preprocessing {
    /// What mechanism is fitted.
    pub mechanism: FitSettings,
    /// Cross-fit over this many folds of people; `None`: everybody is processed with the mechanism fitted to everybody.
    pub folds: Option<usize>,
    /// The target population's weight of each level, in any unit; empty: the shares in the panel.
    pub level_weights: Vec<f64>,
}

impl Default for Preprocessing {
    /// Splines; levels together or apart, and the noise model of each coordinate, as unseen people say.
    fn default() -> Self {
        let mechanism =
            FitSettings { noise: NoiseChoice::Chosen, pooling: Pooling::Cautious, ..FitSettings::default() };
        Self { mechanism, folds: None, level_weights: Vec::new() }
    }
}

/// A panel after `alg:cf:1`, with the mechanism fitted to all of it and what there is to know about both.
#[derive(Debug, Clone)]
pub struct Preprocessed {
    /// The mechanism fitted to everybody: what deployment uses.
    pub mechanism: Fitted,
    /// P(Z = z⁽ᵏ⁾), summing to 1.
    pub level_weights: Vec<f64>,
    /// Counterfactual states and rewards.
    pub experience: Experience<Augmented>,
    /// What to look at before trusting them.
    #[doc(hidden)]
    pub diagnostics: Diagnostics,
    /// Whether noise is the same at all levels, before its model and after.
    #[doc(hidden)]
    pub noise: NoiseCheck,
}

impl Preprocessing {
    /// P(Z): the weights given, brought to sum one, or the shares in the panel.
    ///
    /// # Errors
    /// [`Error::LevelWeights`].
    pub fn weights_for(&self, panel: &Panel) -> Result<Vec<f64>, Error> {
        self.weights_among(panel.levels(), panel.level_shares())
    }

    /// The same for levels with these shares.
    pub(super) fn weights_among(&self, levels: &Labels, shares: Vec<f64>) -> Result<Vec<f64>, Error> {
        let weights = &self.level_weights;
        if weights.is_empty() {
            return Ok(shares);
        }
        let levels = levels.names();
        let wrong =
            |problem: String| Error::LevelWeights { weights: weights.clone(), levels: levels.to_vec(), problem };
        if weights.len() != levels.len() {
            return Err(wrong(format!("{} numbers for {} levels", weights.len(), levels.len())));
        }
        if let Some(w) = weights.iter().find(|w| !w.is_finite() || **w < 0.0) {
            return Err(wrong(format!("{w} is not a weight")));
        }
        let total: f64 = weights.iter().sum();
        if total <= 0.0 || !total.is_finite() {
            return Err(wrong(format!("they sum to {total}")));
        }
        Ok(weights.iter().map(|w| w / total).collect())
    }
}

impl Preprocessed {
    /// What a person should know before trusting counterfactual states, one line each.
    pub fn warnings(&self, people: &People) -> Vec<String> {
        warnings::of_mechanism(&self.mechanism, people, &self.diagnostics, &self.noise)
    }
}

/// Lines 1 to 11 of `alg:cf:1`, with or without cross-fitting; `watch` hears the name of each stage when it begins.
///
/// # Errors
/// [`Error`]: weights that are none, a level without data, a counterfactual state that overflows.
pub fn preprocess(panel: &Panel, settings: &Preprocessing, watch: &mut dyn FnMut(&str)) -> Result<Preprocessed, Error> {
    let level_weights = settings.weights_for(panel)?;
    watch("fitting the mechanism");
    let mechanism = fit(panel, &settings.mechanism)?;
    let experience = match settings.folds {
        None => {
            watch("reconstructing counterfactual states");
            batch(&Sequential::new(&mechanism, level_weights.clone()), panel)?
        }
        Some(folds) => {
            watch("cross-fitting");
            cross_fitted_batch(panel, &settings.mechanism, &level_weights, folds)?
        }
    };
    watch("diagnosing");
    let diagnostics = diagnose(&mechanism, panel, &experience);
    let noise = check_noise(&mechanism, panel, mechanism.fitted_noise().map(FittedNoise::report));
    Ok(Preprocessed { mechanism, level_weights, experience, diagnostics, noise })
}
