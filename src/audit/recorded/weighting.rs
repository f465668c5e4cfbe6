//! Importance weights over the record, what they leave of the people, and the doubly robust value that uses them.

use super::behaviour::Behaviour;
use super::followed::Followed;
use super::iterates::{Iterates, Problem};
use super::{NoValue, RecordedSettings};
use crate::kernel::numeric::Estimate;
use serde::Serialize;

/// How far the record covers a policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WeightDiagnostics {
    /// (Σᵢ ρ)² / Σᵢ ρ² at each decision: people's worth of data that are left.
    pub effective_people: Vec<f64>,
    /// The mean of ρ at each decision; 1 in expectation when propensities are right.
    pub mean_weight: Vec<f64>,
    /// The standard error of that mean.
    pub mean_weight_error: Vec<f64>,
    /// The largest ρ of anybody at any decision.
    pub largest_weight: f64,
    /// The mean over decisions of the probability that the policy takes an action which people like that hardly ever received (b̂ below
    /// 0.01, or never recorded at the level).
    pub unsupported: f64,
}

/// b̂ below which an action counts as not supported.
const SUPPORT: f64 = 0.01;

/// ρ₁:ₜ times the weight for having stayed, at every row with a decision.
pub(super) struct Weights {
    ratio: Vec<f64>,
}

impl Weights {
    /// # Equation
    /// ```text
    /// ρₜ = cₜ Π_{j ≤ t} π(aⱼ | hⱼ) / b(aⱼ | hⱼ)
    /// ```
    pub fn new(people: &Followed, probabilities: &[f64], behaviour: &Behaviour, staying: &[f64]) -> Self {
        let mut ratio = vec![0.0; people.sources.len()];
        for person in 0..people.people() {
            let mut product = 1.0;
            for row in people.decided(person) {
                let at = row * people.action_count + people.actions[row] as usize;
                product *= probabilities[at] / behaviour.taken[row];
                ratio[row] = product * staying[row];
            }
        }
        Self { ratio }
    }

    /// Sums of weights at each decision.
    fn by_decision(&self, people: &Followed) -> Vec<Sums> {
        let mut sums = vec![Sums::default(); people.horizon()];
        for person in 0..people.people() {
            sums[..people.horizons[person]].iter_mut().for_each(|sum| sum.valued += 1.0);
            for (sum, row) in sums.iter_mut().zip(people.decided(person)) {
                sum.weight += self.ratio[row];
                sum.squares += self.ratio[row] * self.ratio[row];
            }
        }
        sums
    }

    pub fn diagnostics(&self, people: &Followed, probabilities: &[f64], behaviour: &Behaviour) -> WeightDiagnostics {
        let sums = self.by_decision(people);
        let (actions, levels) = (people.action_count, people.level_count);
        let mut recorded = vec![false; actions * levels];
        let decided = || (0..people.people()).flat_map(|i| people.decided(i));
        let level = |row: usize| people.levels[people.owners[row] as usize] as usize;
        decided().for_each(|row| recorded[level(row) * actions + people.actions[row] as usize] = true);
        let unsupported = |row: usize| -> f64 {
            let cells = row * actions..(row + 1) * actions;
            let pairs = probabilities[cells.clone()].iter().zip(&behaviour.estimated[cells]).enumerate();
            pairs.filter(|(a, (_, b))| **b < SUPPORT || !recorded[level(row) * actions + a]).map(|(_, (π, _))| π).sum()
        };
        let spread = |s: &Sums| ((s.squares / s.valued - (s.weight / s.valued).powi(2)).max(0.0) / s.valued).sqrt();
        WeightDiagnostics {
            effective_people: sums.iter().map(Sums::effective).collect(),
            mean_weight: sums.iter().map(|s| s.weight / s.valued).collect(),
            mean_weight_error: sums.iter().map(spread).collect(),
            largest_weight: self.ratio.iter().copied().fold(0.0, f64::max),
            unsupported: decided().map(unsupported).sum::<f64>() / decided().count() as f64,
        }
    }

    /// The doubly robust value over the recorded horizon, self-normalised.
    ///
    /// # Equation
    /// ```text
    /// Ĵ = N⁻¹ Σᵢ V_{Tᵢ}(sᵢ₁) + Σₜ γ^{t−1} (nₜ/N) mₜ,   mₜ = Σᵢ ρᵢₜ δᵢₜ / Σᵢ ρᵢₜ,   δₜ = rₜ + γ V_{h−1}(sₜ₊₁) − Q_h(sₜ, aₜ),  h = Tᵢ − t + 1
    /// ```
    /// with V_h = Σₐ π Q_h of the decisions that *remain*, Q and the propensities both fitted without the person's fold.
    ///
    /// # Precision
    /// Person i moves Ĵ by V(sᵢ₁) + Σₜ γ^{t−1} [mₜ + ρᵢₜ (δᵢₜ − mₜ) nₜ / Σρ] minus Ĵ. That the nuisances are estimated changes it by
    /// products of their errors, which is why they are fitted on other people.
    pub fn doubly_robust(
        &self,
        problem: &Problem<'_>,
        iterates: &[Iterates],
        folds: &[usize],
        settings: &RecordedSettings,
    ) -> Result<Estimate, NoValue> {
        let people = problem.people;
        let sums = self.by_decision(people);
        if let Some(t) = sums.iter().position(|s| s.weight == 0.0) {
            return Err(NoValue::NobodyFollows { decision: t + 1 });
        }
        let fewest = sums.iter().map(Sums::effective).enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((t, effective)) = fewest.filter(|(_, effective)| *effective < settings.fewest_effective_people) {
            let needed = settings.fewest_effective_people;
            return Err(NoValue::FewEffectivePeople { decision: t + 1, effective, needed });
        }
        let γ = problem.discount;
        let mut surprise = vec![0.0; people.sources.len()];
        let mut means = vec![0.0; sums.len()];
        for person in 0..people.people() {
            let q = &iterates[folds[person]];
            for (t, row) in people.decided(person).enumerate() {
                let h = people.horizons[person] - t;
                let after = if h > 1 && people.moves(row) { problem.value(q, row + 1, h - 1) } else { 0.0 };
                let action = people.actions[row] as usize;
                surprise[row] = people.rewards[row] + γ * after - problem.action_value(q, row, h, action);
                // Somebody who left with no state on record shows the reward but not what follows: no surprise is known.
                if h > 1 && !people.moves(row) {
                    surprise[row] = 0.0;
                }
                means[t] += self.ratio[row] * surprise[row] / sums[t].weight;
            }
        }
        let parts: Vec<f64> = (0..people.people())
            .map(|person| {
                let expected = (0..people.horizons[person]).map(|t| γ.powi(t as i32) * means[t]).sum::<f64>();
                let own = people.decided(person).enumerate().map(|(t, row)| {
                    let share = sums[t].valued / sums[t].weight * self.ratio[row];
                    γ.powi(t as i32) * share * (surprise[row] - means[t])
                });
                iterates[folds[person]].first[person] + expected + own.sum::<f64>()
            })
            .collect();
        Ok(Estimate::of(&parts))
    }
}

/// Sums over people at one decision.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    /// People who are valued over this decision.
    valued: f64,
    weight: f64,
    squares: f64,
}

impl Sums {
    fn effective(&self) -> f64 {
        if self.weight > 0.0 { self.weight * self.weight / self.squares } else { 0.0 }
    }
}
