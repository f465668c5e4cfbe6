//! Who would have acted how: the behaviour policy fitted by multinomial logistic regression.

use super::Policy;
use super::features::FeatureMap;
use crate::numeric::{Gram, block, tolerance};
use crate::preprocess::{Experience, View};
use std::marker::PhantomData;

/// P(a | x) ∝ exp(βₐᵀφ(x)) with β₀ = 0; a [`Policy`] like any other.
#[derive(Debug, Clone, PartialEq)]
pub struct Softmax<V, F> {
    features: F,
    actions: usize,
    /// d for each action but the first.
    weights: Vec<f64>,
    kind: PhantomData<V>,
}

/// How a propensity fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropensityOutcome {
    /// The likelihood is at its maximum.
    Converged {
        /// Newton steps taken.
        iterations: usize,
    },
    /// The likelihood has nothing left to gain while the weights still grow: its maximum is at infinity, because some
    /// combination of features tells two actions apart without error. Propensities near 0 are not estimates then.
    Separated {
        /// Newton steps taken.
        iterations: usize,
    },
    /// The features depend on each other on the data: the weights are not determined.
    RankDeficient,
    /// Steps ran out.
    IterationLimit {
        /// Newton steps taken.
        iterations: usize,
    },
}

/// A fitted behaviour policy.
#[derive(Debug, Clone, PartialEq)]
pub struct PropensityFit<V, F> {
    /// The policy at the last step.
    pub policy: Softmax<V, F>,
    /// How the fit ended.
    pub outcome: PropensityOutcome,
    /// The mean log-likelihood of a decision.
    pub log_likelihood: f64,
}

/// A caller's mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PropensityError {
    /// The feature map reads another number of inputs than a view has.
    #[error("the features read {features} numbers and a view has {view}")]
    Width {
        /// Inputs of the feature map.
        features: usize,
        /// Width of a view.
        view: usize,
    },
    /// Nobody decided anything.
    #[error("there is no decision to learn from")]
    NoDecisions,
}

/// A step that still moves a log-odds by this much when the likelihood has nothing left to gain is that of separated weights, which
/// move by about 1 for ever; regular steps have shrunk to the square root of the gain by then.
const RUNAWAY_STEP: f64 = 0.1;

/// Newton steps at most. Regular fits take under ten.
const ITERATIONS: usize = 60;

/// Fits P(a | x) by maximum likelihood on every recorded decision.
///
/// # Equation
/// ```text
/// max_β Σ log P(aₜ | xₜ),   β ← β + H⁻¹ Σ φ ⊗ (1{a = aₜ} − P(a | xₜ)),   H = Σ φφᵀ ⊗ (diag P − P Pᵀ)
/// ```
/// A step that lowers the likelihood is halved.
///
/// # Errors
/// [`PropensityError`] when the features do not read the views or there is no decision. Separation and a deficient rank are
/// [`PropensityOutcome`]s.
pub fn fit_propensity<V: View, F: FeatureMap + Clone>(
    experience: &Experience<V>,
    features: &F,
) -> Result<PropensityFit<V, F>, PropensityError> {
    if features.inputs() != experience.width() {
        return Err(PropensityError::Width { features: features.inputs(), view: experience.width() });
    }
    if experience.actions().is_empty() {
        return Err(PropensityError::NoDecisions);
    }
    let mut rows = Vec::with_capacity(experience.actions().len() * experience.width());
    for i in 0..experience.people() {
        let first = experience.views_of(i).start;
        let last = first + experience.decisions_of(i).len();
        rows.extend_from_slice(&experience.views()[first * experience.width()..last * experience.width()]);
    }
    let actions = experience.actions_count();
    let n = experience.actions().len() as f64;
    let mut policy = Softmax::new(features.clone(), actions, vec![0.0; (actions - 1) * features.count()]);
    let mut now = policy.curvature(&rows, experience.actions());
    let done = |policy, outcome, now: &Curvature| PropensityFit { policy, outcome, log_likelihood: now.likelihood / n };
    for iterations in 0..ITERATIONS {
        let side = policy.weights.len();
        if side == 0 {
            return Ok(done(policy, PropensityOutcome::Converged { iterations }, &now));
        }
        let Ok(factor) = Gram::from_lower(side, rows.len(), &now.hessian).factor() else {
            // At β = 0 the Hessian is the features' Gram matrix; later it can only degenerate through vanishing probabilities.
            let outcome = match iterations {
                0 => PropensityOutcome::RankDeficient,
                _ => PropensityOutcome::Separated { iterations },
            };
            return Ok(done(policy, outcome, &now));
        };
        let mut step = now.gradient.clone();
        factor.solve_in_place(&mut step);
        let gain: f64 = step.iter().zip(&now.gradient).map(|(s, g)| s * g).sum::<f64>() / n;
        let movement = policy.largest_movement(&rows, &step);
        if movement <= tolerance::NEWTON_STEP {
            return Ok(done(policy, PropensityOutcome::Converged { iterations }, &now));
        }
        if gain <= tolerance::LIKELIHOOD_GAIN && movement > RUNAWAY_STEP {
            return Ok(done(policy, PropensityOutcome::Separated { iterations }, &now));
        }
        let start = policy.weights.clone();
        let mut length = 1.0f64;
        loop {
            for ((w, from), s) in policy.weights.iter_mut().zip(&start).zip(&step) {
                *w = length.mul_add(*s, *from);
            }
            let next = policy.curvature(&rows, experience.actions());
            if next.likelihood >= now.likelihood || length < tolerance::NEWTON_STEP {
                now = next;
                break;
            }
            length /= 2.0;
        }
    }
    Ok(done(policy, PropensityOutcome::IterationLimit { iterations: ITERATIONS }, &now))
}

/// The log-likelihood with its first and (negative) second derivatives.
struct Curvature {
    likelihood: f64,
    gradient: Vec<f64>,
    hessian: Vec<f64>,
}

impl<V: View, F: FeatureMap> Softmax<V, F> {
    /// The policy with these weights, d for each action but the first.
    ///
    /// # Panics
    /// If there are not d weights for each action but the first.
    pub fn new(features: F, actions: usize, weights: Vec<f64>) -> Self {
        assert_eq!(weights.len(), (actions - 1) * features.count(), "d weights for each action but the first");
        Self { features, actions, weights, kind: PhantomData }
    }

    /// The weights, d for each action but the first.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Visits blocks of rows: the first row's number, the features column by column, and P(a | x), action after action.
    fn for_each_block(&self, rows: &[f64], mut visit: impl FnMut(usize, &[f64], &[f64])) {
        let (d, width) = (self.features.count(), self.features.inputs());
        let (mut columns, mut p) = (vec![0.0; d * block::ROWS], vec![0.0; self.actions * block::ROWS]);
        for (b, views) in rows.chunks(block::ROWS * width).enumerate() {
            let m = views.len() / width;
            let (columns, p) = (&mut columns[..d * m], &mut p[..self.actions * m]);
            self.features.fill(views, columns);
            p[..m].fill(0.0);
            block::combine(columns, m, &self.weights, &mut p[m..]);
            for i in 0..m {
                // The largest score is subtracted so that no exponential overflows.
                let largest = (0..self.actions).map(|a| p[a * m + i]).fold(f64::NEG_INFINITY, f64::max);
                let mut sum = 0.0;
                for a in 0..self.actions {
                    p[a * m + i] = (p[a * m + i] - largest).exp();
                    sum += p[a * m + i];
                }
                (0..self.actions).for_each(|a| p[a * m + i] /= sum);
            }
            visit(b * block::ROWS, columns, p);
        }
    }

    fn curvature(&self, rows: &[f64], taken: &[u32]) -> Curvature {
        let (d, side) = (self.features.count(), self.weights.len());
        let mut sums = Curvature { likelihood: 0.0, gradient: vec![0.0; side], hessian: vec![0.0; side * side] };
        let mut weight = [0.0; block::ROWS];
        let mut square = vec![0.0; d * d];
        self.for_each_block(rows, |first, columns, p| {
            let m = p.len() / self.actions;
            let taken = &taken[first..first + m];
            sums.likelihood += taken.iter().enumerate().map(|(i, &a)| p[a as usize * m + i].ln()).sum::<f64>();
            for a in 1..self.actions {
                for i in 0..m {
                    weight[i] = f64::from(u8::from(taken[i] as usize == a)) - p[a * m + i];
                }
                block::accumulate(columns, m, &weight[..m], &mut sums.gradient[(a - 1) * d..a * d]);
                for b in 1..=a {
                    for i in 0..m {
                        weight[i] = p[a * m + i] * (f64::from(u8::from(a == b)) - p[b * m + i]);
                    }
                    square.fill(0.0);
                    block::accumulate_gram(columns, m, &weight[..m], &mut square);
                    for j in 0..d {
                        for l in 0..d {
                            let entry = square[j.max(l) * d + j.min(l)];
                            sums.hessian[((a - 1) * d + j) * side + (b - 1) * d + l] += entry;
                        }
                    }
                }
            }
        });
        sums
    }

    /// The largest change of a log-odds that a step makes on the data.
    fn largest_movement(&self, rows: &[f64], step: &[f64]) -> f64 {
        let (d, mut largest, mut score) = (self.features.count(), 0.0f64, [0.0; block::ROWS]);
        self.for_each_block(rows, |_, columns, _| {
            let m = columns.len() / d;
            for step in step.chunks_exact(d) {
                block::combine(columns, m, step, &mut score[..m]);
                largest = score[..m].iter().fold(largest, |most, x| most.max(x.abs()));
            }
        });
        largest
    }
}

impl<V: View, F: FeatureMap> Policy<V> for Softmax<V, F> {
    fn actions(&self) -> usize {
        self.actions
    }

    fn probabilities(&self, rows: &[f64], _width: usize, out: &mut [f64]) {
        self.for_each_block(rows, |first, _, p| {
            let m = p.len() / self.actions;
            for i in 0..m {
                for a in 0..self.actions {
                    out[(first + i) * self.actions + a] = p[a * m + i];
                }
            }
        });
    }

    fn is_deterministic(&self) -> bool {
        self.actions == 1
    }
}
