//! Which rung: by a proper score over people who were left out, the simpler one unless the other is better by a standard error.

use super::density::Density;
use super::report::{Candidate, Score};
use super::residuals::Row;
use super::spread::{Spread, SpreadForm};
use crate::kernel::numeric::{Estimate, Stream, uniform_index};

/// Folds of people.
pub(super) const FOLDS: usize = 5;

/// The fold of each person: a hash of seed and id, so that the order of people does not matter.
pub(super) fn folds(ids: &[String], stream: Stream) -> Vec<usize> {
    let stream = stream.named("noise");
    ids.iter().map(|id| uniform_index(&mut stream.named(id).rng(), FOLDS)).collect()
}

/// The residuals of one output as the choice sees them.
pub(super) struct Judge<'a> {
    pub rows: &'a [Row],
    pub inputs: &'a [f64],
    pub width: usize,
    pub levels: usize,
    /// The fold of each person of the panel.
    pub folds: &'a [usize],
}

impl Judge<'_> {
    /// The form of σ: one for all, by level, or by level, state and action.
    ///
    /// # Equation
    /// ```text
    /// score of a person = −Σ (log σ̂₋f + r²/(2 σ̂₋f²))        (Dawid–Sebastiani; σ̂₋f fitted without the person's fold)
    /// ```
    pub fn spread(&self, least: SpreadForm, scores: &mut Vec<Score>) -> SpreadForm {
        let candidate = |form| match form {
            SpreadForm::Common => Candidate::OneSpread,
            SpreadForm::PerLevel => Candidate::SpreadByLevel,
            SpreadForm::LogLinear => Candidate::SpreadByState,
        };
        let Some(mut best_scores) = self.spread_scores(least) else { return least };
        let mut best = least;
        for form in [SpreadForm::PerLevel, SpreadForm::LogLinear].into_iter().filter(|form| *form > least) {
            let Some(found) = self.spread_scores(form) else { continue };
            let gain = self.gain(&best_scores, &found);
            let is_chosen = is_better(&gain);
            scores.push(Score { model: candidate(form), over: candidate(best), gain, is_chosen });
            if is_chosen {
                (best, best_scores) = (form, found);
            }
        }
        best
    }

    fn spread_scores(&self, form: SpreadForm) -> Option<Vec<f64>> {
        let mut scores = vec![0.0; self.folds.len()];
        for fold in 0..FOLDS {
            let weights: Vec<f64> = self.folds.iter().map(|f| f64::from(u8::from(*f != fold))).collect();
            let spread = Spread::fit(form, self.rows, self.inputs, self.width, self.levels, &weights)?;
            for row in self.rows.iter().filter(|row| self.folds[row.person] == fold) {
                let η = spread.log_at(row, self.inputs, self.width);
                scores[row.person] -= η + 0.5 * row.residual * row.residual * (-2.0 * η).exp();
            }
        }
        Some(scores)
    }

    /// Whether first states have a law of their own, and whether levels do, given standardised residuals.
    ///
    /// # Equation
    /// ```text
    /// score of a person = Σ log f̂₋f(e)        (f̂₋f a kernel density without the person's fold)
    /// ```
    pub fn shape(&self, standardised: &[f64], scores: &mut Vec<Score>) -> (bool, bool) {
        let pooled = |_: &Row| 0;
        let by_time = |row: &Row| usize::from(row.decision.is_some());
        let Some(mut together) = self.shape_scores(standardised, 1, pooled) else { return (false, false) };
        let mut is_apart = false;
        if let Some(found) = self.shape_scores(standardised, 2, by_time) {
            let gain = self.gain(&together, &found);
            is_apart = is_better(&gain);
            scores.push(Score { model: Candidate::FirstApart, over: Candidate::OneShape, gain, is_chosen: is_apart });
            if is_apart {
                together = found;
            }
        }
        let times = if is_apart { 2 } else { 1 };
        let by_level = |row: &Row| row.level * times + if is_apart { by_time(row) } else { 0 };
        let Some(found) = self.shape_scores(standardised, times * self.levels, by_level) else {
            return (is_apart, false);
        };
        let gain = self.gain(&together, &found);
        let is_chosen = is_better(&gain);
        scores.push(Score { model: Candidate::ShapeByLevel, over: Candidate::OneShape, gain, is_chosen });
        (is_apart, is_chosen)
    }

    fn shape_scores(&self, standardised: &[f64], groups: usize, group: impl Fn(&Row) -> usize) -> Option<Vec<f64>> {
        let mut scores = vec![0.0; self.folds.len()];
        for fold in 0..FOLDS {
            let mut training = vec![vec![]; groups];
            for (row, e) in self.rows.iter().zip(standardised) {
                if self.folds[row.person] != fold {
                    training[group(row)].push(*e);
                }
            }
            let densities = training.iter_mut().map(|values| Density::fit(values)).collect::<Option<Vec<_>>>()?;
            for (row, e) in self.rows.iter().zip(standardised) {
                if self.folds[row.person] == fold {
                    scores[row.person] += densities[group(row)].log(*e);
                }
            }
        }
        Some(scores)
    }

    /// Mean gain in score of a person who has residuals.
    fn gain(&self, simple: &[f64], rich: &[f64]) -> Estimate {
        let mut people: Vec<usize> = self.rows.iter().map(|row| row.person).collect();
        people.dedup();
        let gains: Vec<f64> = people.iter().map(|&i| rich[i] - simple[i]).collect();
        Estimate::of(&gains)
    }
}

/// Better by more than one standard error.
pub(super) fn is_better(gain: &Estimate) -> bool {
    gain.mean > gain.standard_error
}
