//! How people were treated: propensities that read the state, the level and the previous action, fitted on other people.

use super::class::{column, standardise};
use super::followed::Followed;
use super::logistic::{Choices, Logistic};
use serde::Serialize;

/// Propensities along the record, and how good they are.
#[derive(Debug, Clone)]
pub(super) struct Behaviour {
    /// b̂(a | history), |A| numbers per row; 0 at rows without a decision.
    pub estimated: Vec<f64>,
    /// The probability of the action that was taken, as weights use it; 1 at rows without a decision.
    pub taken: Vec<f64>,
    /// The largest |log b̂(a)/b̂(a′)| that a model gave to anybody.
    pub largest_log_odds: f64,
    /// Predicted and observed, bin by bin.
    pub calibration: Vec<CalibrationBin>,
}

/// Decisions whose predicted probability of an action is alike, and how often the action was taken there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationBin {
    /// The action's code.
    pub action: u32,
    /// The mean predicted probability, by a model fitted on other people.
    pub predicted: f64,
    /// The share of these decisions in which the action was taken.
    pub observed: f64,
    /// Decisions in the bin.
    pub decisions: usize,
}

/// Log-odds from which actions count as told apart without error: a probability below 1 in 3000.
pub(super) const SEPARATED: f64 = 8.0;

/// Bins of a calibration table for each action.
const BINS: usize = 5;

impl Behaviour {
    /// Propensities of everybody from the people of the other folds; `known` are probabilities of the taken actions, per row.
    ///
    /// # Equation
    /// ```text
    /// log b(a | h)/b(0 | h) = βₐᵀ [1, s, s², z, s·z, previous action]
    /// ```
    pub fn fit(people: &Followed, states: &[f64], folds: &[usize], known: Option<&[f64]>) -> Self {
        let actions = people.action_count;
        let rows: Vec<usize> = (0..people.people()).flat_map(|i| people.decided(i)).collect();
        let (design, width) = design(people, states, &rows);
        let taken: Vec<u32> = rows.iter().map(|&row| people.actions[row]).collect();
        let choices = Choices { design: &design, width, taken: &taken, outcomes: actions };
        let mut estimated = vec![0.0; people.sources.len() * actions];
        let mut largest_log_odds = 0.0f64;
        let fold_of = |row: usize| folds[people.owners[row] as usize];
        for fold in 0..folds.iter().max().map_or(0, |last| last + 1) {
            let weights: Vec<f64> = rows.iter().map(|&row| f64::from(u8::from(fold_of(row) != fold))).collect();
            let model = Logistic::fit(choices, &weights);
            for (x, &row) in design.chunks_exact(width).zip(&rows).filter(|(_, row)| fold_of(**row) == fold) {
                let out = &mut estimated[row * actions..(row + 1) * actions];
                model.probabilities(x, out);
                let (low, high) = out.iter().fold((1.0f64, 0.0f64), |(low, high), p| (low.min(*p), high.max(*p)));
                largest_log_odds = largest_log_odds.max((high / low).ln());
            }
        }
        let mut chosen = vec![1.0; people.sources.len()];
        for &row in &rows {
            chosen[row] = known.map_or(estimated[row * actions + people.actions[row] as usize], |known| known[row]);
        }
        let calibration =
            (0..actions as u32).flat_map(|a| calibration(a, &rows, &taken, &estimated, actions)).collect();
        Self { estimated, taken: chosen, largest_log_odds, calibration }
    }
}

/// Coefficients of a model of who received which action: those of every action but one.
pub(super) fn coefficients(states: usize, levels: usize, actions: usize) -> usize {
    width(states, levels, actions).saturating_mul(actions - 1)
}

/// Regressors of a decision.
fn width(states: usize, levels: usize, actions: usize) -> usize {
    1 + 2 * states + (levels - 1) * (1 + states) + actions
}

/// The regressors of a decision, for each of `rows`.
fn design(people: &Followed, states: &[f64], rows: &[usize]) -> (Vec<f64>, usize) {
    let (p, levels, actions) = (states.len() / people.sources.len(), people.level_count, people.action_count);
    let mut linear: Vec<Vec<f64>> = (0..p).map(|j| column(states, p, j)).collect();
    linear.iter_mut().for_each(|x| standardise(x));
    let mut square: Vec<Vec<f64>> = linear.iter().map(|x| x.iter().map(|x| x * x).collect()).collect();
    square.iter_mut().for_each(|x| standardise(x));
    let width = width(p, levels, actions);
    let mut out = Vec::with_capacity(rows.len() * width);
    for &row in rows {
        let person = people.owners[row] as usize;
        out.push(1.0);
        out.extend(linear.iter().chain(&square).map(|x| x[row]));
        for level in 1..levels {
            let here = f64::from(u8::from(people.levels[person] as usize == level));
            out.push(here);
            out.extend(linear.iter().map(|x| here * x[row]));
        }
        let before = (row > people.starts[person]).then(|| people.actions[row - 1] as usize);
        out.extend((0..actions).map(|a| f64::from(u8::from(before == Some(a)))));
    }
    (out, width)
}

/// Decisions in order of the predicted probability of one action, cut into bins of equal size.
fn calibration(action: u32, rows: &[usize], taken: &[u32], estimated: &[f64], actions: usize) -> Vec<CalibrationBin> {
    let mut pairs: Vec<(f64, bool)> =
        rows.iter().zip(taken).map(|(row, a)| (estimated[row * actions + action as usize], *a == action)).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let size = pairs.len().div_ceil(BINS).max(1);
    pairs
        .chunks(size)
        .map(|bin| CalibrationBin {
            action,
            predicted: bin.iter().map(|(p, _)| p).sum::<f64>() / bin.len() as f64,
            observed: bin.iter().filter(|(_, yes)| *yes).count() as f64 / bin.len() as f64,
            decisions: bin.len(),
        })
        .collect()
}
