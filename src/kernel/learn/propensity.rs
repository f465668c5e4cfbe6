//! Who would have acted how: the behaviour policy fitted by multinomial logistic regression.

use super::Policy;
use super::features::FeatureMap;
use crate::kernel::numeric::{Gram, block, tolerance};
use crate::kernel::preprocess::{Experience, View};
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

    fn inputs(&self) -> Option<usize> {
        Some(self.features.inputs())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::data::{Labels, PanelBuilder, Person};
    use crate::kernel::learn::features::{OneHot, Polynomial};
    use crate::kernel::preprocess::{StateOnly, Unaware, batch};

    const WEIGHTS: [f64; 4] = [0.4, -1.1, -0.3, 0.7];

    /// More rows than two blocks hold.
    fn rows() -> Vec<f64> {
        (0..2 * block::ROWS + 37).map(|i| 1.5 * (1.7 * i as f64).sin() + 0.2).collect()
    }

    fn policy() -> Softmax<StateOnly, Polynomial> {
        Softmax::new(Polynomial::new(1, 1).unwrap(), 3, WEIGHTS.to_vec())
    }

    /// P(a | x) by the definition, of scores too small to overflow.
    fn softmax(x: f64) -> [f64; 3] {
        let scores = [0.0, WEIGHTS[0] + WEIGHTS[1] * x, WEIGHTS[2] + WEIGHTS[3] * x].map(f64::exp);
        scores.map(|e| e / scores.iter().sum::<f64>())
    }

    #[test]
    fn probabilities_follow_the_definition_block_after_block() {
        let rows = rows();
        let mut p = vec![0.0; 3 * rows.len()];
        policy().probabilities(&rows, 1, &mut p);
        for (found, x) in p.chunks_exact(3).zip(&rows) {
            found.iter().zip(softmax(*x)).for_each(|(p, q)| assert!((p - q).abs() < 1e-14, "{p} and {q}"));
        }
    }

    #[test]
    fn likelihood_score_and_curvature_are_the_sums_of_their_equations() {
        let rows = rows();
        let taken: Vec<u32> = (0..rows.len()).map(|i| ((i * i + i / 3) % 3) as u32).collect();
        let Curvature { likelihood, gradient, hessian } = policy().curvature(&rows, &taken);
        let one = |yes: bool| f64::from(u8::from(yes));
        let sum = |term: &dyn Fn(f64, usize, [f64; 3]) -> f64| -> f64 {
            rows.iter().zip(&taken).map(|(x, a)| term(*x, *a as usize, softmax(*x))).sum()
        };
        let close = |x: f64, y: f64| assert!((x - y).abs() < 1e-10, "{x} and {y}");
        close(likelihood, sum(&|_, a, p| p[a].ln()));
        for a in 1..3 {
            for j in 0..2 {
                close(gradient[2 * (a - 1) + j], sum(&|x, t, p| (one(t == a) - p[a]) * x.powi(j as i32)));
                // The lower triangle of blocks is what the factorisation reads.
                for b in 1..=a {
                    for l in 0..2 {
                        let expected = sum(&|x, _, p| p[a] * (one(a == b) - p[b]) * x.powi((j + l) as i32));
                        close(hessian[(2 * (a - 1) + j) * 4 + 2 * (b - 1) + l], expected);
                    }
                }
            }
        }
    }

    #[test]
    fn the_largest_movement_is_over_rows_and_actions_and_has_no_sign() {
        let (mut rows, step) = (vec![0.5; block::ROWS + 2], [0.5, 1.0, 0.1, -2.0]);
        // 0.5 + x and 0.1 − 2x: at −3 they are −2.5 and 6.1, at 4 they are 4.5 and −7.9.
        rows[7] = -3.0;
        assert!((policy().largest_movement(&rows, &step) - 6.1).abs() < 1e-12);
        rows[block::ROWS + 1] = 4.0;
        assert!((policy().largest_movement(&rows, &step) - 7.9).abs() < 1e-12);
    }

    fn experience(actions: usize, people: &[(&[f64], &[u32])]) -> Experience<StateOnly> {
        let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(actions), 1).unwrap();
        for (i, &(states, actions)) in people.iter().enumerate() {
            let (id, rewards) = (i.to_string(), vec![0.0; actions.len()]);
            builder.push(Person { id: &id, level: 0, states, actions, rewards: &rewards }).unwrap();
        }
        batch(&Unaware { state_dim: 1 }, &builder.finish()).unwrap()
    }

    fn assert_fit(fit: &PropensityFit<StateOnly, impl FeatureMap>, weights: &[f64], log_likelihood: f64) {
        // Newton's error after a step of 2⁻²⁶ is below the rounding of what it is computed from.
        fit.policy.weights().iter().zip(weights).for_each(|(x, y)| assert!((x - y).abs() < 1e-12, "{x} and {y}"));
        assert_eq!(fit.policy.weights().len(), weights.len());
        assert!((fit.log_likelihood - log_likelihood).abs() < 1e-14, "{}", fit.log_likelihood);
        assert!(matches!(fit.outcome, PropensityOutcome::Converged { iterations: 2..8 }), "{:?}", fit.outcome);
    }

    #[test]
    fn without_features_the_weights_are_log_odds_of_frequencies() {
        let states = [0.3; 10];
        let taken = [1, 0, 1, 2, 1, 0, 1, 2, 1, 0];
        let fit = fit_propensity(&experience(3, &[(&states, &taken)]), &Polynomial::new(1, 0).unwrap()).unwrap();
        let entropy = 0.3 * 0.3f64.ln() + 0.5 * 0.5f64.ln() + 0.2 * 0.2f64.ln();
        assert_fit(&fit, &[(5.0f64 / 3.0).ln(), (2.0f64 / 3.0).ln()], entropy);
    }

    #[test]
    fn a_state_after_the_last_decision_is_nobodys_decision() {
        let first: (&[f64], &[u32]) = (&[0.0, 1.0, 0.0, 1.0, 0.0, 1.0], &[0, 1, 1, 1, 0]);
        let second: (&[f64], &[u32]) = (&[1.0, 1.0, 0.0, 0.0, 0.0], &[0, 1, 1, 0]);
        let features = OneHot::new(vec![vec![0.0], vec![1.0]]).unwrap();
        let fit = fit_propensity(&experience(2, &[first, second]), &features).unwrap();
        // Action 1 is taken twice in five at 0, and three times in four at 1.
        let likelihood = 3.0 * 0.6f64.ln() + 2.0 * 0.4f64.ln() + 3.0 * 0.75f64.ln() + 0.25f64.ln();
        assert_fit(&fit, &[(2.0f64 / 3.0).ln(), 3f64.ln()], likelihood / 9.0);
    }

    #[test]
    fn an_action_that_nobody_takes_is_separated_once_it_has_nothing_left_to_gain() {
        let fit = fit_propensity(&experience(2, &[(&[0.3; 5], &[0; 5])]), &Polynomial::new(1, 0).unwrap()).unwrap();
        // With P = eʷ/(1 + eʷ) a step is −P/(P(1 − P)) = −(1 + eʷ), and P²/(P(1 − P)) = eʷ is what it gains.
        let (mut w, mut steps) = (0.0f64, 0);
        while w.exp() > 1e-9 {
            (w, steps) = (w - 1.0 - w.exp(), steps + 1);
        }
        assert_eq!(fit.outcome, PropensityOutcome::Separated { iterations: steps });
        assert!((fit.policy.weights()[0] - w).abs() < 1e-6 && (-22.0..-21.0).contains(&w), "{w}");
        assert!(fit.log_likelihood < 0.0 && fit.log_likelihood > -1e-9);
    }

    #[test]
    fn a_single_action_leaves_nothing_to_chance() {
        let single = Softmax::<StateOnly, _>::new(Polynomial::new(1, 1).unwrap(), 1, vec![]);
        assert!(single.is_deterministic() && !policy().is_deterministic());
    }

    #[test]
    fn states_of_two_coordinates_are_read_whole() {
        let weights = [0.4, -1.1, 0.6, -0.3, 0.7, 0.2];
        let policy: Softmax<StateOnly, _> = Softmax::new(Polynomial::new(2, 1).unwrap(), 3, weights.to_vec());
        let rows: Vec<f64> = (0..2 * (2 * block::ROWS + 37)).map(|i| (1.7 * i as f64).sin()).collect();
        let mut p = vec![0.0; 3 * rows.len() / 2];
        policy.probabilities(&rows, 2, &mut p);
        for (found, x) in p.chunks_exact(3).zip(rows.chunks_exact(2)) {
            let score = |w: &[f64]| (w[0] + w[1] * x[0] + w[2] * x[1]).exp();
            let scores = [1.0, score(&weights[..3]), score(&weights[3..])];
            let expected = scores.map(|e| e / scores.iter().sum::<f64>());
            found.iter().zip(expected).for_each(|(p, q)| assert!((p - q).abs() < 1e-14, "{p} and {q}"));
        }
    }

    #[test]
    fn frequencies_come_back_from_points_in_the_plane_whoever_made_them() {
        let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(2), 2).unwrap();
        let (here, there) = ([1.0, 2.0], [2.0, 1.0]);
        let first: ([[f64; 2]; 4], [u32; 3]) = ([here, there, here, there], [1, 0, 0]);
        let second: ([[f64; 2]; 5], [u32; 5]) = ([there, there, here, there, here], [1, 1, 0, 0, 0]);
        let mut push = |id, states: &[[f64; 2]], actions: &[u32]| {
            let rewards = vec![0.0; actions.len()];
            let states = states.as_flattened();
            builder.push(Person { id, level: 0, states, actions, rewards: &rewards }).unwrap();
        };
        push("a", &first.0, &first.1);
        push("b", &second.0, &second.1);
        let data = batch(&Unaware { state_dim: 2 }, &builder.finish()).unwrap();
        let points = OneHot::new(vec![here.to_vec(), there.to_vec()]).unwrap();
        let fit = fit_propensity(&data, &points).unwrap();
        // Action 1 is taken once in four here, and twice in four there.
        let likelihood = 3.0 * 0.75f64.ln() + 0.25f64.ln() + 4.0 * 0.5f64.ln();
        let weights = fit.policy.weights();
        assert!((weights[0] - (1.0f64 / 3.0).ln()).abs() < 1e-12 && weights[1].abs() < 1e-12, "{weights:?}");
        assert!((fit.log_likelihood - likelihood / 8.0).abs() < 1e-14);
    }
}
