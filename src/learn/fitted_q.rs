//! `alg:cf:2`: fitted Q iteration on the least-squares class.

use super::LinearQ;
use super::features::FeatureMap;
use super::fitted_q_pass::{Backup, Sweep};
use crate::numeric::{Gram, GramFactor, RowFactor, tolerance};
use crate::preprocess::{Experience, View};

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
    /// R ≤ 0.
    #[error("the reward bound is {0}; it must be positive")]
    RewardBound(f64),
}

/// How the iteration ended.
#[derive(Debug, Clone, Copy, PartialEq)]
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

/// The regression of one action, factored once for all iterations.
enum Regression {
    Gram(GramFactor),
    Rows(RowFactor),
}

impl Regression {
    fn solve_in_place(&self, moments: &mut [f64]) {
        match self {
            Self::Gram(factor) => factor.solve_in_place(moments),
            Self::Rows(factor) => factor.solve_in_place(moments),
        }
    }

    /// The condition number of the rows (not of their Gram matrix).
    fn condition(&self) -> f64 {
        match self {
            Self::Gram(factor) => factor.condition().sqrt(),
            Self::Rows(factor) => factor.condition(),
        }
    }
}

/// Fitted Q iteration (`alg:cf:2`) from f̂₀ = 0.
///
/// # Equation
/// ```text
/// yᵢ = rᵢ + γ maxₐ f̂_{b−1}(sᵢ′, a),    f̂_b = argmin_f Σᵢ (f(sᵢ, aᵢ) − yᵢ)²
/// ```
/// The matrix Σ φφᵀ does not change with b: it is factored once, and an iteration costs one pass over the data.
///
/// # Errors
/// A [`FittedQError`] when the call makes no sense. Not converging, a deficient rank and divergence are [`Outcome`]s.
pub fn fitted_q_iteration<V: View, F: FeatureMap + Clone>(
    experience: &Experience<V>,
    features: &F,
    settings: Settings,
) -> Result<FittedQ<V, F>, FittedQError> {
    let Settings { discount: γ, iterations, .. } = settings;
    check(experience, features, γ)?;
    let (reward_limit, backup) = match settings.clipping {
        Clipping::Off => (f64::INFINITY, Backup::Max),
        Clipping::Rewards(bound) if bound > 0.0 => (bound, Backup::ClippedMax(bound / (1.0 - γ))),
        Clipping::Rewards(bound) => return Err(FittedQError::RewardBound(bound)),
    };
    let sweep = Sweep::new(experience, features, |r| r.clamp(-reward_limit, reward_limit));
    let regressions = Regressions::new(&sweep);
    let largest_reward = experience.rewards().iter().fold(0.0f64, |m, r| m.max(r.abs())).min(reward_limit);
    let limit = tolerance::DIVERGENCE * (1.0 + largest_reward) / (1.0 - γ);

    let mut q = LinearQ::new(features.clone(), sweep.actions(), vec![0.0; sweep.actions() * features.count()]);
    let mut next = q.weights().to_vec();
    let mut outcome = Outcome::IterationLimit { iterations: 0, change: 0.0 };
    for b in 1..=iterations {
        regressions.fit(&sweep, q.weights(), γ, backup, &mut next); // lines 3 to 5
        let (change, size) = regressions.movement(q.weights(), &next);
        q.weights_mut().copy_from_slice(&next);
        if !size.is_finite() || size > limit {
            outcome = Outcome::Diverged { iteration: b };
            break;
        }
        let change = if size > 0.0 { change / size } else { 0.0 };
        outcome = Outcome::IterationLimit { iterations: b, change };
        if change <= settings.tolerance && settings.tolerance > 0.0 {
            outcome = Outcome::Converged { iterations: b };
            break;
        }
    }
    if let (Some(deficiency), false) = (regressions.deficiency, matches!(outcome, Outcome::Diverged { .. })) {
        outcome = deficiency;
    }
    Ok(FittedQ { q, outcome, condition: regressions.condition(), transitions: experience.transitions() })
}

/// Whether the data, the features and the discount fit together.
pub(crate) fn check<V: View>(
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

/// Times the residual is fitted again. Each multiplies the error by κ²ε, so two are enough up to condition numbers near 1e7.
const REFINEMENTS: usize = 2;

/// One regression an action.
pub(crate) struct Regressions {
    actions: Vec<Regression>,
    /// Root mean square of each feature under each action: turns a weight into its share of an action value.
    scale: Vec<f64>,
    pub(crate) deficiency: Option<Outcome>,
}

impl Regressions {
    /// Factors Σ φφᵀ for each action; where its condition number is too large, the rows themselves.
    pub(crate) fn new(sweep: &Sweep<'_, impl FeatureMap>) -> Self {
        let d = sweep.features();
        let (grams, counts) = sweep.gram();
        let (mut actions, mut scale, mut deficiency) = (Vec::new(), Vec::new(), None);
        for (action, (gram, &count)) in grams.chunks_exact(d * d).zip(&counts).enumerate() {
            let lengths: Vec<f64> = (0..d).map(|j| gram[j * d + j].sqrt()).collect();
            scale.extend(lengths.iter().map(|l| l / (count.max(1) as f64).sqrt()));
            let regression = match Gram::from_lower(d, count, gram).factor() {
                Ok(factor) => Regression::Gram(factor),
                Err(_) => Regression::Rows(RowFactor::new(d, count, &lengths, |push| sweep.for_each_row(action, push))),
            };
            if let Regression::Rows(factor) = &regression
                && factor.rank() < d
                && deficiency.is_none()
            {
                deficiency = Some(Outcome::RankDeficient { action, rank: factor.rank(), features: d });
            }
            actions.push(regression);
        }
        Self { actions, scale, deficiency }
    }

    /// One iteration: the weights whose values are nearest to the targets under the present ones.
    ///
    /// Where a regression works on the rows' singular values, Φᵀy alone would lose the digits that the Gram matrix loses; the
    /// residual is fitted again until that is made good.
    pub(crate) fn fit(
        &self,
        sweep: &Sweep<'_, impl FeatureMap>,
        weights: &[f64],
        discount: f64,
        backup: Backup<'_>,
        next: &mut [f64],
    ) {
        sweep.targets(weights, discount, backup, None, next);
        self.solve_in_place(next);
        if self.actions.iter().any(|regression| matches!(regression, Regression::Rows(_))) {
            let mut correction = vec![0.0; next.len()];
            for _ in 0..REFINEMENTS {
                sweep.targets(weights, discount, backup, Some(next), &mut correction);
                self.solve_in_place(&mut correction);
                next.iter_mut().zip(&correction).for_each(|(w, c)| *w += c);
            }
        }
    }

    /// The weights of every action from its moments Σ φy.
    pub(crate) fn solve_in_place(&self, moments: &mut [f64]) {
        let d = moments.len() / self.actions.len();
        for (regression, moments) in self.actions.iter().zip(moments.chunks_exact_mut(d)) {
            regression.solve_in_place(moments);
        }
    }

    /// The largest movement and the largest size of a weight, each as its share of an action value.
    pub(crate) fn movement(&self, before: &[f64], after: &[f64]) -> (f64, f64) {
        let mut movement = (0.0f64, 0.0f64);
        for ((b, a), scale) in before.iter().zip(after).zip(&self.scale) {
            // `max` would pass over a NaN in silence.
            if !a.is_finite() {
                return (f64::INFINITY, f64::INFINITY);
            }
            movement = (movement.0.max((a - b).abs() * scale), movement.1.max(a.abs() * scale));
        }
        movement
    }

    /// The largest condition number among the actions, columns scaled.
    pub(crate) fn condition(&self) -> f64 {
        self.actions.iter().map(Regression::condition).fold(1.0, f64::max)
    }
}
