//! Who leaves before the planned end: a model of staying, and the weights that make up for those who left.

use super::class::{column, standardise};
use super::followed::Followed;
use super::logistic::{Choices, Logistic};
use crate::kernel::people::Panel;
use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// A logistic model of staying for another decision, and whether what was recorded predicts it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StayingModel {
    /// The decisions that were planned.
    pub horizon: usize,
    /// Decisions after which a person could have stayed.
    pub at_risk: usize,
    /// After how many of them the person left.
    pub left: usize,
    /// The share of people who left before the planned end.
    pub share_of_people: f64,
    /// Log-odds of staying per standard deviation (per unit for indicators).
    pub log_odds: Vec<(String, f64)>,
    /// The p-value of the likelihood-ratio test that nothing recorded predicts staying.
    pub p_value: f64,
    /// The largest weight given to anybody.
    pub largest_weight: f64,
}

/// The fitted model with what it was fitted to.
#[derive(Debug, Clone)]
pub(super) struct Staying {
    model: Logistic,
    design: Vec<f64>,
    width: usize,
    stayed: Vec<u32>,
    /// Rows at risk.
    rows: Vec<usize>,
    pub report: StayingModel,
}

/// No probability of staying is taken for smaller: a weight grows by at most this factor's inverse per decision.
const LEAST: f64 = 0.05;

impl Staying {
    /// Fits P(decision t + 1 is recorded | decision t is, what is known by then); `None` when nobody left before `horizon`.
    ///
    /// # Equation
    /// ```text
    /// logit P(stay) = β ᵀ[1, z, aₜ, rₜ, sₜ, sₜ·z]        (and sₜ₊₁, sₜ₊₁·z in place of sₜ, where it is always recorded)
    /// ```
    pub fn fit(panel: &Panel, people: &Followed, states: &[f64], horizon: usize) -> Option<Self> {
        let rows: Vec<usize> =
            (0..people.people()).flat_map(|i| people.decided(i).take(horizon.saturating_sub(1))).collect();
        let last = |row: usize| row + 1 == people.decided(people.owners[row] as usize).end;
        let stayed: Vec<u32> = rows.iter().map(|&row| u32::from(!last(row))).collect();
        let left = stayed.iter().filter(|stayed| **stayed == 0).count();
        if left == 0 {
            return None;
        }
        // The state a person left with says more than the one before, when everybody's was recorded.
        let ahead = usize::from(rows.iter().all(|&row| people.moves(row)));
        let (design, names) = design(panel, people, states, &rows, ahead);
        let width = names.len();
        let ones = vec![1.0; rows.len()];
        let choices = Choices { design: &design, width, taken: &stayed, outcomes: 2 };
        let model = Logistic::fit(choices, &ones);
        let constant = Choices { design: &ones, width: 1, ..choices };
        let none = Logistic::fit(constant, &ones).log_likelihood(constant, &ones);
        let statistic = 2.0 * (model.log_likelihood(choices, &ones) - none);
        let chi = ChiSquared::new((width - 1) as f64).expect("a model with covariates");
        let mut report = StayingModel {
            horizon,
            at_risk: rows.len(),
            left,
            share_of_people: left as f64 / people.people() as f64,
            log_odds: names.into_iter().zip(model.weights.iter().copied()).collect(),
            p_value: 1.0 - chi.cdf(statistic.max(0.0)),
            largest_weight: 1.0,
        };
        let mut found = Self { model, design, width, stayed, rows, report: report.clone() };
        report.largest_weight = found.weights(people, None).into_iter().fold(1.0, f64::max);
        found.report = report;
        Some(found)
    }

    /// Π_{j<t} 1/P̂(stay after j) at every row; with `resampled` weights on rows the model is fitted to them first.
    pub fn weights(&self, people: &Followed, resampled: Option<&[f64]>) -> Vec<f64> {
        let refitted = resampled.map(|weights| {
            let weights: Vec<f64> = self.rows.iter().map(|&row| weights[row]).collect();
            let choices = Choices { design: &self.design, width: self.width, taken: &self.stayed, outcomes: 2 };
            self.model.refitted(choices, &weights)
        });
        let model = refitted.as_ref().unwrap_or(&self.model);
        let mut stay = vec![1.0; people.sources.len()];
        let mut p = [0.0; 2];
        for (x, &row) in self.design.chunks_exact(self.width).zip(&self.rows) {
            model.probabilities(x, &mut p);
            stay[row] = p[1].max(LEAST);
        }
        let mut weights = vec![1.0; people.sources.len()];
        for person in 0..people.people() {
            let rows = people.rows_of(person);
            // A state after the last decision was seen because that decision was: it has the weight of that decision.
            for row in rows.start + 1..rows.end {
                let moved_on = row < people.decided(person).end;
                weights[row] = weights[row - 1] / if moved_on { stay[row - 1] } else { 1.0 };
            }
        }
        weights
    }
}

fn design(panel: &Panel, people: &Followed, states: &[f64], rows: &[usize], ahead: usize) -> (Vec<f64>, Vec<String>) {
    let (p, levels, actions) = (states.len() / people.sources.len(), people.level_count, people.action_count);
    let mut linear: Vec<Vec<f64>> = (0..p).map(|j| column(states, p, j)).collect();
    linear.push(people.rewards.clone());
    linear.iter_mut().for_each(|x| standardise(x));
    let rewards = linear.pop().expect("just pushed");
    let which = if ahead == 1 { "next state" } else { "state" };
    let mut names = vec!["constant".to_string(), "reward".to_string()];
    names.extend((1..actions).map(|a| format!("action {}", panel.action_names().name(a))));
    names.extend((1..=p).map(|j| format!("{which} {j}")));
    for level in 1..levels {
        names.push(format!("level {}", panel.levels().name(level)));
        names.extend((1..=p).map(|j| format!("{which} {j} at level {}", panel.levels().name(level))));
    }
    let mut out = Vec::with_capacity(rows.len() * names.len());
    for &row in rows {
        let level = people.levels[people.owners[row] as usize] as usize;
        out.extend([1.0, rewards[row]]);
        out.extend((1..actions).map(|a| f64::from(u8::from(people.actions[row] as usize == a))));
        out.extend(linear.iter().map(|x| x[row + ahead]));
        for k in 1..levels {
            let here = f64::from(u8::from(level == k));
            out.push(here);
            out.extend(linear.iter().map(|x| here * x[row + ahead]));
        }
    }
    (out, names)
}
