//! `alg:cf:2`: fitted Q iteration on the least-squares class.

use super::LinearQ;
use super::choice_sums::ChoiceSums;
use super::features::FeatureMap;
use super::fitted_q_pass::{Backup, Sweep};
use super::regressions::{Progress, Regressions, Stopping};
use crate::people::BlocksError;
use crate::preprocess::{Experience, View};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How fitted Q iteration runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// γ ∈ [0, 1).
    pub discount: f64,
    /// B, the most iterations.
    pub iterations: usize,
    /// Stop when no action value on the scale of the data moves by more than this share of the largest; 0 runs all iterations.
    pub tolerance: f64,
    /// Targets held in bounds, or not.
    pub clipping: Clipping,
}

/// Whether targets are held in bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Clipping {
    /// The printed algorithm.
    Off,
    /// Rewards held in [−R, R] and maxima in [−R/(1−γ), R/(1−γ)]: the algorithm that the corrected `thm:regret` is about.
    Rewards(f64),
}

impl Default for Settings {
    /// The paper's γ = 0.9 and B = 100.
    fn default() -> Self {
        Self { discount: 0.9, iterations: 100, tolerance: 0.0, clipping: Clipping::Off }
    }
}

/// A caller's mistake.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FittedQError {
    /// γ ∉ [0, 1).
    #[error("the discount is {0}, outside [0, 1)")]
    DiscountOutsideUnitInterval(f64),
    /// The feature map reads another number of inputs than a view has.
    #[error("the features read {features} numbers and a view has {view}")]
    Width {
        /// Inputs of the feature map.
        features: usize,
        /// Width of a view.
        view: usize,
    },
    /// Nobody was seen twice, so there is no tuple to learn from.
    #[error("there is no transition to learn from: no person has a state after a decision")]
    NoTransitions,
    /// A view of this width cannot be read as these coordinates.
    #[error("a view of {view} numbers cannot be read as {coordinates}")]
    Coordinates {
        /// Width of a view.
        view: usize,
        /// What was asked for.
        coordinates: String,
    },
    /// The coordinates of the views cannot be made into features.
    #[error("no features can be made of the views: {0}")]
    Features(String),
    /// Without penalties the data do not determine the weights.
    #[error("the data do not determine the weights, and there is no penalty that would")]
    NotDetermined,
    /// A step that has no form for people on disk.
    #[error("{0} needs everybody in memory: raise --ram")]
    InMemory(&'static str),
    /// Experience on disk could not be read back.
    #[error("experience on disk cannot be read: {0}")]
    Blocks(#[from] BlocksError),
    /// R ≤ 0.
    #[error("the reward bound is {0}; it must be positive")]
    RewardBound(f64),
}

/// How the iteration ended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The last change was within tolerance.
    Converged {
        /// Iterations done.
        iterations: usize,
    },
    /// B iterations were done.
    IterationLimit {
        /// Iterations done.
        iterations: usize,
        /// The last change, as a share of the largest value.
        change: f64,
    },
    /// The data do not determine every weight; the minimum-norm weights were used.
    RankDeficient {
        /// The first action concerned.
        action: usize,
        /// Directions the data determine.
        rank: usize,
        /// d.
        features: usize,
    },
    /// Values left the bound that any action value obeys by orders of magnitude.
    Diverged {
        /// The iteration.
        iteration: usize,
    },
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Converged { iterations } => write!(f, "converged after {iterations} iterations"),
            Self::IterationLimit { iterations, change } => {
                write!(f, "{iterations} iterations, the last of which moved values by {change:.1e} of the largest")
            }
            Self::RankDeficient { action, rank, features } => {
                write!(f, "rank-deficient: the data determine {rank} of {features} weights of action code {action}")
            }
            Self::Diverged { iteration } => write!(f, "diverged at iteration {iteration}"),
        }
    }
}

/// What fitted Q iteration gives.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedQ<V, F> {
    /// The action value after the last iteration.
    pub q: LinearQ<V, F>,
    /// How it ended.
    pub outcome: Outcome,
    /// The largest condition number among the actions' regressions, columns scaled.
    pub condition: f64,
    /// n, the number of tuples.
    pub transitions: usize,
}

/// Fitted Q iteration (`alg:cf:2`) from f̂₀ = 0.
///
/// # Equation
/// ```text
/// yᵢ = rᵢ + γ maxₐ f̂_{b−1}(sᵢ′, a),    f̂_b = argmin_f Σᵢ (f(sᵢ, aᵢ) − yᵢ)²
/// ```
/// The matrix Σ φφᵀ does not change with b: it is factored once, and an iteration costs about one pass over the data; once greedy
/// actions hardly change, far less.
///
/// # Errors
/// A [`FittedQError`] when the call makes no sense. Not converging, a deficient rank and divergence are [`Outcome`]s.
pub fn fitted_q_iteration<V: View, F: FeatureMap + Clone>(
    experience: &Experience<V>,
    features: &F,
    settings: Settings,
) -> Result<FittedQ<V, F>, FittedQError> {
    let γ = settings.discount;
    check(experience, features, γ)?;
    let (reward_limit, backup) = match settings.clipping {
        Clipping::Off => (f64::INFINITY, Backup::Max),
        Clipping::Rewards(bound) if bound > 0.0 => (bound, Backup::ClippedMax(bound / (1.0 - γ))),
        Clipping::Rewards(bound) => return Err(FittedQError::RewardBound(bound)),
    };
    let sweep = Sweep::new(experience, features, |r| r.clamp(-reward_limit, reward_limit));
    let regressions = Regressions::new(&sweep);
    let largest_reward = experience.rewards().iter().fold(0.0f64, |m, r| m.max(r.abs())).min(reward_limit);
    let stopping =
        Stopping { iterations: settings.iterations, tolerance: settings.tolerance, largest_reward, discount: γ };
    let mut pass = Pass::new(&sweep, &regressions, γ, backup, settings.iterations);
    let mut progress = Progress::new(stopping);

    let mut f = vec![0.0; regressions.weights()]; // line 1: f̂₀ = 0
    let mut next = f.clone();
    for b in 1..=settings.iterations {
        // line 2
        pass.fit(&f, &mut next); // lines 3 to 5: yᵢ = rᵢ + γ maxₐ f̂_{b−1}(sᵢ′, a), then f̂_b = argmin_f Σᵢ (f(sᵢ, aᵢ) − yᵢ)²
        std::mem::swap(&mut f, &mut next);
        if progress.is_over_after(b, regressions.movement(&next, &f)) {
            break;
        }
    }
    let q = LinearQ::new(features.clone(), sweep.actions(), f); // line 6: whoever is greedy in it is π̂

    let outcome = match progress.outcome {
        diverged @ Outcome::Diverged { .. } => diverged,
        ended => regressions.deficiency.unwrap_or(ended),
    };
    Ok(FittedQ { q, outcome, condition: regressions.condition(), transitions: experience.transitions() })
}

/// Lines 3 to 5 of `alg:cf:2`: plainly, by a pass over the data, or by sums over greedy choices that hardly change.
enum Pass<'a, F> {
    Plain { sweep: &'a Sweep<'a, F>, regressions: &'a Regressions, discount: f64, backup: Backup<'a> },
    Summed { sums: Box<ChoiceSums<'a, F>>, regressions: &'a Regressions },
}

impl<'a, F: FeatureMap> Pass<'a, F> {
    fn new(
        sweep: &'a Sweep<'a, F>,
        regressions: &'a Regressions,
        discount: f64,
        backup: Backup<'a>,
        planned: usize,
    ) -> Self {
        // Sums over choices lose the digits that a Gram matrix loses, and are linear in the weights only where nothing is clipped.
        if matches!(backup, Backup::Max) && regressions.are_well_conditioned() {
            let sums = Box::new(ChoiceSums::new(sweep, discount, regressions.feature_sizes(), planned));
            return Self::Summed { sums, regressions };
        }
        Self::Plain { sweep, regressions, discount, backup }
    }

    fn fit(&mut self, weights: &[f64], next: &mut [f64]) {
        match self {
            Self::Plain { sweep, regressions, discount, backup } => {
                regressions.fit(sweep, weights, *discount, *backup, next);
            }
            Self::Summed { sums, regressions } => {
                sums.moments(weights, next);
                regressions.solve_in_place(next);
            }
        }
    }
}

/// Whether the data, the features and the discount fit together.
pub fn check<V: View>(
    experience: &Experience<V>,
    features: &impl FeatureMap,
    discount: f64,
) -> Result<(), FittedQError> {
    if !(0.0..1.0).contains(&discount) {
        return Err(FittedQError::DiscountOutsideUnitInterval(discount));
    }
    if features.inputs() != experience.width() {
        return Err(FittedQError::Width { features: features.inputs(), view: experience.width() });
    }
    if experience.transitions() == 0 {
        return Err(FittedQError::NoTransitions);
    }
    Ok(())
}
