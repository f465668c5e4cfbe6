//! The value of a policy from data of another, by weighting: per decision, self-normalised, and doubly robust.

use crate::kernel::data::Panel;
use crate::kernel::numeric::{Estimate, tolerance};

/// Recorded histories with the probabilities of the policy in question and of the one that acted.
///
/// The estimand is E Σₜ γ^{t−1} Rₜ over the *recorded* horizon: nothing is said of what would come after. Where horizons differ,
/// they are taken to be fixed beforehand.
#[derive(Debug, Clone)]
pub struct OffPolicy<'a> {
    panel: &'a Panel,
    target: &'a [f64],
    behaviour: &'a [f64],
    discount: f64,
    /// ρ₁:ₜ for every decision.
    weights: Vec<f64>,
}

/// Tables that cannot be weighted with.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum OffPolicyError {
    /// γ ∉ [0, 1].
    #[error("the discount is {0}, outside [0, 1]")]
    DiscountOutsideUnitInterval(f64),
    /// A table has not |A| numbers for every state row.
    #[error("the {table} has {found} numbers where {rows} states and {actions} actions need one each")]
    Shape {
        /// `target policy`, `behaviour policy` or `action values`.
        table: &'static str,
        /// State rows of the panel.
        rows: usize,
        /// |A|.
        actions: usize,
        /// Numbers given.
        found: usize,
    },
    /// Σₐ π(a | s) ≠ 1, or a probability outside [0, 1].
    #[error("row {row} of the {table} is not a distribution: it sums to {sum}")]
    NotADistribution {
        /// `target policy` or `behaviour policy`.
        table: &'static str,
        /// The state row, from 0.
        row: usize,
        /// Their sum.
        sum: f64,
    },
    /// b(a | s) = 0 for an action that was taken.
    #[error("person {id}, decision {t}: action {action} was taken, but its propensity is 0")]
    ImpossibleAction {
        /// The person.
        id: String,
        /// The decision, counted from 1.
        t: usize,
        /// The action's code.
        action: u32,
    },
}

/// At some time the weights of everybody are zero: nobody's record follows the policy that far, and data say nothing about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("nobody's recorded actions follow the policy up to decision {t}")]
pub struct NobodyFollows {
    /// The first such decision, counted from 1.
    pub t: usize,
}

/// How far the data cover the policy in question.
#[derive(Debug, Clone, PartialEq)]
pub struct Overlap {
    /// (Σᵢ ρ)² / Σᵢ ρ² at each time: people's worth of data that are left. 0 when nobody follows the policy that far.
    pub effective_people: Vec<f64>,
    /// The mean of ρ₁:ₜ at each time; 1 in expectation when the propensities are right.
    pub mean_weight: Vec<f64>,
    /// The largest ρ₁:ₜ of anybody at any time.
    pub largest_weight: f64,
    /// The mean over decisions of Σₐ π(a | s) 1{b(a | s) = 0}: what the policy does and data cannot show. Weighting is biased unless
    /// it is 0.
    pub unsupported: f64,
}

impl<'a> OffPolicy<'a> {
    /// Lines up a panel with both policies along it, |A| numbers a state row (states after the last decision included), as
    /// [`probabilities_along`](super::probabilities_along) gives them. The behaviour policy may be known or
    /// fitted ([`fit_propensity`](crate::kernel::learn::fit_propensity)); standard errors treat it as known, which for
    /// the per-decision estimator errs on the safe side.
    ///
    /// # Equation
    /// ```text
    /// ρ₁:ₜ = Π_{j ≤ t} π(aⱼ | hⱼ) / b(aⱼ | hⱼ)
    /// ```
    ///
    /// # Errors
    /// [`OffPolicyError`] when shapes do not fit, a row is no distribution, or a recorded action had no probability.
    pub fn new(
        panel: &'a Panel,
        target: &'a [f64],
        behaviour: &'a [f64],
        discount: f64,
    ) -> Result<Self, OffPolicyError> {
        if !(0.0..=1.0).contains(&discount) {
            return Err(OffPolicyError::DiscountOutsideUnitInterval(discount));
        }
        for (table, rows) in [("target policy", target), ("behaviour policy", behaviour)] {
            check_shape(panel, table, rows)?;
            for (row, distribution) in rows.chunks_exact(panel.action_names().len()).enumerate() {
                let sum: f64 = distribution.iter().sum();
                let valid = (sum - 1.0).abs() <= tolerance::PROBABILITY && distribution.iter().all(|p| *p >= 0.0);
                if !valid {
                    return Err(OffPolicyError::NotADistribution { table, row, sum });
                }
            }
        }
        let actions = panel.action_names().len();
        let mut weights = Vec::with_capacity(panel.decisions());
        for i in 0..panel.people() {
            let mut weight = 1.0;
            for (t, decision) in panel.decisions_of(i).enumerate() {
                let action = panel.actions()[decision];
                let at = (panel.states_of(i).start + t) * actions + action as usize;
                if behaviour[at] == 0.0 {
                    return Err(OffPolicyError::ImpossibleAction { id: panel.ids()[i].clone(), t: t + 1, action });
                }
                weight *= target[at] / behaviour[at];
                weights.push(weight);
            }
        }
        Ok(Self { panel, target, behaviour, discount, weights })
    }

    /// γ^{t−1} for t = 1, 2, …
    fn discounts(&self) -> impl Iterator<Item = f64> + use<> {
        let γ = self.discount;
        (0..).map(move |t| γ.powi(t))
    }

    /// Per-decision importance sampling.
    ///
    /// # Equation
    /// ```text
    /// N⁻¹ Σᵢ Σₜ γ^{t−1} ρ₁:ₜ rₜ
    /// ```
    /// Unbiased when the propensities are right; its variance grows like that of ρ₁:ₜ, exponentially in t.
    ///
    /// # Reference
    /// Precup, Sutton and Singh (2000), *Eligibility traces for off-policy policy evaluation*.
    pub fn per_decision(&self) -> Estimate {
        let of = |i: usize| {
            let steps = self.panel.decisions_of(i).zip(self.discounts());
            steps.map(|(at, discount)| discount * self.weights[at] * self.panel.rewards()[at]).sum()
        };
        Estimate::of(&(0..self.panel.people()).map(of).collect::<Vec<f64>>())
    }

    /// Weighted per-decision importance sampling: at each time the weights of those still there are made to average 1.
    ///
    /// # Equation
    /// ```text
    /// Σₜ γ^{t−1} (nₜ/N) mₜ,   mₜ = Σᵢ ρ₁:ₜ rₜ / Σᵢ ρ₁:ₜ
    /// ```
    /// where nₜ people have a decision t and the sums are over them. Not unbiased, but consistent, and never outside the range of
    /// the rewards. The standard error is the linearised one: person i moves the value by
    /// Σₜ γ^{t−1} 1{Tᵢ ≥ t} (mₜ + ρ₁:ₜ (rₜ − mₜ) / ρ̄ₜ) minus the value itself.
    ///
    /// # Errors
    /// [`NobodyFollows`] when all weights at a time are zero.
    pub fn weighted(&self) -> Result<Estimate, NobodyFollows> {
        let times = self.by_time();
        if let Some(t) = times.iter().position(|time| time.weight == 0.0) {
            return Err(NobodyFollows { t: t + 1 });
        }
        let of = |i: usize| {
            let steps = self.panel.decisions_of(i).zip(&times).zip(self.discounts());
            steps
                .map(|((at, time), discount)| {
                    let mean = time.weighted_reward / time.weight;
                    let share = self.weights[at] / (time.weight / time.people);
                    discount * (mean + share * (self.panel.rewards()[at] - mean))
                })
                .sum()
        };
        Ok(Estimate::of(&(0..self.panel.people()).map(of).collect::<Vec<f64>>()))
    }

    /// The doubly robust estimator with action values Q(sₜ, a), |A| numbers a state row.
    ///
    /// # Equation
    /// ```text
    /// N⁻¹ Σᵢ Σₜ γ^{t−1} [ ρ₁:ₜ₋₁ Σₐ π(a | sₜ) Q(sₜ, a) + ρ₁:ₜ (rₜ − Q(sₜ, aₜ)) ]
    /// ```
    /// With the right propensities it is unbiased whatever Q is, as long as Q was fitted on other people; with the right Q (of the
    /// remaining horizon) it is unbiased whatever the propensities are. A Q near the truth takes most of the variance away.
    ///
    /// # Errors
    /// [`OffPolicyError::Shape`] when there is not one action value for each state row and action.
    ///
    /// # Reference
    /// Jiang and Li (2016), *Doubly robust off-policy value evaluation for reinforcement learning*.
    pub fn doubly_robust(&self, action_values: &[f64]) -> Result<Estimate, OffPolicyError> {
        check_shape(self.panel, "action values", action_values)?;
        let k = self.panel.action_names().len();
        let of = |i: usize| {
            let mut before = 1.0;
            let steps = self.panel.decisions_of(i).zip(self.panel.states_of(i)).zip(self.discounts());
            steps
                .map(|((at, row), discount)| {
                    let (π, q) = (&self.target[row * k..(row + 1) * k], &action_values[row * k..(row + 1) * k]);
                    let expected: f64 = π.iter().zip(q).map(|(π, q)| π * q).sum();
                    let surprise = self.panel.rewards()[at] - q[self.panel.actions()[at] as usize];
                    let term = discount * (before * expected + self.weights[at] * surprise);
                    before = self.weights[at];
                    term
                })
                .sum()
        };
        Ok(Estimate::of(&(0..self.panel.people()).map(of).collect::<Vec<f64>>()))
    }

    /// How much data the weights leave, and whether the policy does anything the data cannot show.
    pub fn overlap(&self) -> Overlap {
        let (times, k) = (self.by_time(), self.panel.action_names().len());
        let effective = |time: &Time| if time.weight > 0.0 { time.weight * time.weight / time.squares } else { 0.0 };
        let mut unsupported = 0.0;
        for i in 0..self.panel.people() {
            for (_, row) in self.panel.decisions_of(i).zip(self.panel.states_of(i)) {
                let cells = row * k..(row + 1) * k;
                let rows = self.target[cells.clone()].iter().zip(&self.behaviour[cells]);
                unsupported += rows.filter(|(_, b)| **b == 0.0).map(|(π, _)| π).sum::<f64>();
            }
        }
        Overlap {
            effective_people: times.iter().map(effective).collect(),
            mean_weight: times.iter().map(|time| time.weight / time.people).collect(),
            largest_weight: self.weights.iter().copied().fold(0.0, f64::max),
            unsupported: unsupported / (self.panel.decisions().max(1)) as f64,
        }
    }

    fn by_time(&self) -> Vec<Time> {
        let mut times = vec![Time::default(); self.panel.horizon()];
        for i in 0..self.panel.people() {
            for (at, time) in self.panel.decisions_of(i).zip(&mut times) {
                let weight = self.weights[at];
                time.people += 1.0;
                time.weight += weight;
                time.squares += weight * weight;
                time.weighted_reward += weight * self.panel.rewards()[at];
            }
        }
        times
    }
}

/// Sums over the people who have a decision at one time.
#[derive(Debug, Clone, Copy, Default)]
struct Time {
    people: f64,
    weight: f64,
    squares: f64,
    weighted_reward: f64,
}

fn check_shape(panel: &Panel, table: &'static str, numbers: &[f64]) -> Result<(), OffPolicyError> {
    let (rows, actions, found) = (panel.state_rows(), panel.action_names().len(), numbers.len());
    if found == rows * actions { Ok(()) } else { Err(OffPolicyError::Shape { table, rows, actions, found }) }
}
