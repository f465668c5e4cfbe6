//! Fitted Q evaluation: the value of a policy from data that another policy made.

use crate::kernel::learn::features::FeatureMap;
use crate::kernel::learn::{
    ActionValue, Backup, FittedQError, LinearQ, Outcome, Progress, Regressions, Stopping, Sweep, check,
};
use crate::kernel::numeric::{Estimate, tolerance};
use crate::kernel::preprocess::{Experience, View};

/// How fitted Q evaluation runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EvaluationSettings {
    /// γ ∈ [0, 1).
    pub discount: f64,
    /// B, the most iterations.
    pub iterations: usize,
    /// Stop when no action value on the scale of the data moves by more than this share of the largest; 0 runs all iterations.
    pub tolerance: f64,
}

impl Default for EvaluationSettings {
    /// The paper's γ = 0.9 and B = 100.
    fn default() -> Self {
        Self { discount: 0.9, iterations: 100, tolerance: 0.0 }
    }
}

/// What fitted Q evaluation gives.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedEvaluation<V, F> {
    /// J(π), with its standard error over people; `None` when the iteration diverged.
    pub value: Option<Estimate>,
    /// How the iteration ended. A rank-deficient regression still has a value, that of the minimum-norm weights.
    pub outcome: Outcome,
    /// The action value of π after the last iteration.
    pub q: LinearQ<V, F>,
    /// Each person's part Ĵ + ηᵢ in the value, which is their mean up to γᴮ: differences between policies on the same people,
    /// taken person by person, have the standard error of the difference. Empty when the iteration diverged.
    pub parts: Vec<f64>,
    /// The largest condition number among the actions' regressions, columns scaled.
    pub condition: f64,
    /// n, the number of tuples.
    pub transitions: usize,
}

/// A caller's mistake.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EvaluationError {
    /// As for fitted Q iteration.
    #[error(transparent)]
    Problem(#[from] FittedQError),
    /// There are not |A| probabilities for each row of views.
    #[error("{found} probabilities were given for {rows} states and {actions} actions")]
    Probabilities {
        /// Rows of views.
        rows: usize,
        /// |A|.
        actions: usize,
        /// Numbers given.
        found: usize,
    },
    /// Σₐ π(a | s) ≠ 1, or a probability outside [0, 1].
    #[error("the probabilities of row {row} are not a distribution: they sum to {sum}")]
    NotADistribution {
        /// The row, from 0.
        row: usize,
        /// Their sum.
        sum: f64,
    },
}

/// Fitted Q evaluation from f̂₀ = 0 by least squares.
///
/// # Equation
/// ```text
/// yᵢ = rᵢ + γ Σₐ π(a | sᵢ′) f̂_{b−1}(sᵢ′, a),   f̂_b = argmin_f Σᵢ (f(sᵢ, aᵢ) − yᵢ)²,   Ĵ = N⁻¹ Σᵢ Σₐ π(a | sᵢ₁) f̂_B(sᵢ₁, a)
/// ```
/// The value is read at the *first* states. Averaging over all recorded states would answer another question: what π is worth
/// from where the old policy has left people.
///
/// # Assumptions
/// The rows must make the process Markov under π, and rewards must be those observed: for policies that read (s, z) or s use
/// [`Full`](crate::kernel::preprocess::Full)'s views, for policies that read augmented views use
/// [`Experience::with_level`]. A [`Replay`](crate::theory::rules::Replay) remembers more than either.
/// `probabilities` are π's at every row of views, |A| each, as [`probabilities_along`](super::probabilities_along) gives them.
///
/// # Precision
/// With G = Σ φφᵀ, C = Σ φ φ̄(s′)ᵀ, b = Σ φr and ψ = N⁻¹ Σᵢ φ̄(sᵢ₁), where φ̄(s) = Σₐ π(a | s) φ(s, a), the limit solves
/// (G − γC) w = b and Ĵ = ψᵀw. Perturbing the law of people in the direction of person i moves Ĵ by
///
/// ```text
/// ηᵢ = φ̄(sᵢ₁)ᵀw − Ĵ + N Σₜ uᵀφᵢₜ (rᵢₜ + γ φ̄(sᵢₜ₊₁)ᵀw − φᵢₜᵀw),    (G − γC)ᵀ u = ψ,
/// ```
/// because d(Mw) = db gives dw = M⁻¹(db − dM w) for M = G − γC. The standard error is that of the mean of the ηᵢ: steps of one
/// person may depend on each other in any way, and the fit need not be right. N uᵀφ estimates the ratio of π's discounted visits
/// to the recorded ones. u is found by B steps of u ← G⁻¹(ψ + γCᵀu), the transpose of the iteration for w, so that
/// ψᵀw_B = u_Bᵀb holds at every B and minimum-norm weights are treated alike; what is left out is of order γᴮ.
///
/// # Errors
/// [`EvaluationError`] when the call makes no sense. Not converging, a deficient rank and divergence are [`Outcome`]s.
///
/// # Reference
/// Le, Voloshin and Yue (2019), *Batch policy learning under constraints*; Hao et al. (2021), *Bootstrapping fitted Q-evaluation
/// for off-policy inference*, for the limit law.
pub fn fitted_q_evaluation<V: View, F: FeatureMap + Clone>(
    experience: &Experience<V>,
    probabilities: &[f64],
    features: &F,
    settings: EvaluationSettings,
) -> Result<FittedEvaluation<V, F>, EvaluationError> {
    let γ = settings.discount;
    check(experience, features, γ)?;
    check_probabilities(experience, probabilities)?;
    let sweep = Sweep::new(experience, features, |r| r);
    let regressions = Regressions::new(&sweep);
    let largest_reward = experience.rewards().iter().fold(0.0f64, |m, r| m.max(r.abs()));
    let stopping =
        Stopping { iterations: settings.iterations, tolerance: settings.tolerance, largest_reward, discount: γ };
    let backup = Backup::Expectation(probabilities);
    let successors = sweep.successors(probabilities);
    let mut rewards = vec![0.0; sweep.actions() * features.count()];
    sweep.targets(&rewards.clone(), γ, backup, None, &mut rewards);
    let mut progress = Progress::new(stopping);
    let mut weights = vec![0.0; regressions.weights()];
    let mut next = weights.clone();
    for b in 1..=settings.iterations {
        if regressions.are_well_conditioned() {
            // The map is linear, and its matrix is known: b + γCw without another pass over the data.
            step(&successors, &rewards, γ, &weights, &mut next);
            regressions.solve_in_place(&mut next);
        } else {
            regressions.fit(&sweep, &weights, γ, backup, &mut next);
        }
        std::mem::swap(&mut weights, &mut next);
        if progress.is_over_after(b, regressions.movement(&next, &weights)) {
            break;
        }
    }
    let Progress { outcome, done, .. } = progress;
    let q = LinearQ::new(features.clone(), sweep.actions(), weights);
    let mut result = FittedEvaluation {
        value: None,
        outcome,
        q,
        parts: vec![],
        condition: regressions.condition(),
        transitions: experience.transitions(),
    };
    if matches!(outcome, Outcome::Diverged { .. }) {
        return Ok(result);
    }
    result.outcome = regressions.deficiency.unwrap_or(outcome);

    let initial = initial_features(experience, probabilities, features);
    let mut visits = vec![0.0; initial.len()];
    for _ in 0..done {
        visits = transposed_step(&successors, &initial, γ, &visits);
        regressions.solve_in_place(&mut visits);
    }
    let visits = LinearQ::new(features.clone(), sweep.actions(), visits);
    result.parts = parts(experience, probabilities, &result.q, &visits, γ);
    let mean = initial.iter().zip(result.q.weights()).map(|(ψ, w)| ψ * w).sum();
    result.value = Some(Estimate { mean, ..Estimate::of(&result.parts) });
    Ok(result)
}

/// ψ = N⁻¹ Σᵢ φ̄(sᵢ₁), d numbers for each action in turn.
fn initial_features<V: View>(
    experience: &Experience<V>,
    probabilities: &[f64],
    features: &impl FeatureMap,
) -> Vec<f64> {
    let (d, k, width, n) = (features.count(), experience.actions_count(), experience.width(), experience.people());
    let (mut row, mut sum) = (vec![0.0; d], vec![0.0; k * d]);
    for i in 0..n {
        let first = experience.views_of(i).start;
        features.fill(&experience.views()[first * width..(first + 1) * width], &mut row);
        for (sum, probability) in sum.chunks_exact_mut(d).zip(&probabilities[first * k..(first + 1) * k]) {
            for (sum, x) in sum.iter_mut().zip(&row) {
                *sum += probability * x / n as f64;
            }
        }
    }
    sum
}

/// b + γ C w.
fn step(successors: &[f64], rewards: &[f64], discount: f64, weights: &[f64], out: &mut [f64]) {
    for ((out, r), row) in out.iter_mut().zip(rewards).zip(successors.chunks_exact(weights.len())) {
        let followed: f64 = row.iter().zip(weights).map(|(c, w)| c * w).sum();
        *out = discount.mul_add(followed, *r);
    }
}

/// ψ + γ Cᵀ u.
fn transposed_step(successors: &[f64], initial: &[f64], discount: f64, visits: &[f64]) -> Vec<f64> {
    let mut out = initial.to_vec();
    for (row, u) in successors.chunks_exact(initial.len()).zip(visits) {
        for (out, c) in out.iter_mut().zip(row) {
            *out += discount * u * c;
        }
    }
    out
}

/// φ̄(sᵢ₁)ᵀw + N Σₜ uᵀφᵢₜ (rᵢₜ + γ φ̄(sᵢₜ₊₁)ᵀw − φᵢₜᵀw) for each person; their mean is Ĵ once w has settled.
fn parts<V: View, F: FeatureMap>(
    experience: &Experience<V>,
    probabilities: &[f64],
    q: &LinearQ<V, F>,
    visits: &LinearQ<V, F>,
    discount: f64,
) -> Vec<f64> {
    let (k, n) = (experience.actions_count(), experience.people() as f64);
    let rows = experience.views().len() / experience.width();
    let (mut values, mut weights) = (vec![0.0; rows * k], vec![0.0; rows * k]);
    q.values(experience.views(), &mut values);
    visits.values(experience.views(), &mut weights);
    let expected = |row: usize| -> f64 { (0..k).map(|a| probabilities[row * k + a] * values[a * rows + row]).sum() };
    (0..experience.people())
        .map(|i| {
            let (views, decisions) = (experience.views_of(i), experience.decisions_of(i));
            let surprises: f64 = (views.start..views.end - 1)
                .zip(decisions)
                .map(|(row, decision)| {
                    let at = experience.actions()[decision] as usize * rows + row;
                    weights[at] * (experience.rewards()[decision] + discount * expected(row + 1) - values[at])
                })
                .sum();
            expected(views.start) + n * surprises
        })
        .collect()
}

fn check_probabilities<V: View>(experience: &Experience<V>, probabilities: &[f64]) -> Result<(), EvaluationError> {
    let (rows, actions) = (experience.views().len() / experience.width(), experience.actions_count());
    if probabilities.len() != rows * actions {
        return Err(EvaluationError::Probabilities { rows, actions, found: probabilities.len() });
    }
    for (row, distribution) in probabilities.chunks_exact(actions).enumerate() {
        let sum: f64 = distribution.iter().sum();
        if (sum - 1.0).abs() > tolerance::PROBABILITY || distribution.iter().any(|p| *p < 0.0) || sum.is_nan() {
            return Err(EvaluationError::NotADistribution { row, sum });
        }
    }
    Ok(())
}
