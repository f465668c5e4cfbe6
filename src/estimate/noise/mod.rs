//! Noise fitted to data: its spread and shape, on the rung that was asked for or that the data choose.

mod choice;
mod density;
mod report;
mod residuals;
mod shape;
mod spread;
mod stored;

pub use report::{Candidate, Nature, NoiseReport, OutputReport, Score};
pub use spread::SpreadForm;
pub(super) use stored::StoredNoise;

use super::{FitError, Fitted, RegressionReport};
use crate::kernel::model::{Mechanism, NoiseLaw, Output, Rung};
use crate::kernel::numeric::Stream;
use crate::kernel::people::{Panel, People};
use choice::{Judge, folds};
use residuals::{Inputs, MANY, Residuals, Row};
use serde::{Deserialize, Serialize};
use shape::{Shape, knots};
use spread::Spread;

/// The noise model to fit.
///
/// A coordinate with few values (a yes/no, a count of three) does not determine its noise, whatever the model. Chosen leaves it additive; a rung that is
/// asked for is fitted to it all the same; in both cases the report calls its counterfactuals not to be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseChoice {
    /// Noise is added, as in the paper.
    #[default]
    Additive,
    /// Noise spreads differently by level, and by state and action where that predicts unseen people better.
    Scale,
    /// Noise has a shape for each level.
    Rank,
    /// For each coordinate the rung that unseen people favour, the simpler one unless another is better by a standard error.
    Chosen,
}

/// A set of outputs: state coordinates from 0, then p for the reward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutputSet(u128);

impl OutputSet {
    /// How many outputs a set can tell apart.
    pub const CAPACITY: usize = 128;

    /// The set with one more output; `None` when its number is beyond [`CAPACITY`](Self::CAPACITY).
    pub fn with(self, output: usize) -> Option<Self> {
        (output < Self::CAPACITY).then(|| Self(self.0 | 1 << output))
    }

    /// Whether an output is in it.
    pub fn contains(self, output: usize) -> bool {
        output < Self::CAPACITY && self.0 >> output & 1 == 1
    }

    /// Whether nothing is in it.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Residuals are rounding below this share of the output's size.
pub(crate) const NOISELESS: f64 = 1e-9;

/// An output that takes at most this many values, each of them often, does not determine its noise.
const FEW: usize = 12;

/// Spread and shape of every output's noise, fitted to residuals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FittedNoise {
    inputs: Inputs,
    /// p state coordinates, then the reward.
    outputs: Vec<OutputNoise>,
    /// σ of the first state, by level.
    initial: Vec<Vec<f64>>,
    report: NoiseReport,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct OutputNoise {
    kept: bool,
    /// Whether noise is merely added; σ is 1 then.
    additive: bool,
    spread: Spread,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shape: Option<Shape>,
    /// The first state's own, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first_shape: Option<Shape>,
}

impl FittedNoise {
    /// Chooses a rung for each output and fits it to residuals around the means.
    pub(super) fn choose(
        means: &Fitted,
        people: &dyn People,
        choice: NoiseChoice,
        keep: OutputSet,
        stream: Stream,
    ) -> Result<Self, FitError> {
        match people.in_memory() {
            Some(panel) => Ok(Self::choose_in_memory(means, panel, choice, keep, stream)),
            None => StoredNoise { panel: people, means, stream, room: people.room() }.choose(choice, keep),
        }
    }

    fn choose_in_memory(means: &Fitted, panel: &Panel, choice: NoiseChoice, keep: OutputSet, stream: Stream) -> Self {
        let (p, levels) = (panel.state_dim(), panel.levels().len());
        let inputs = Inputs::of(panel);
        let residuals = Residuals::of(means, means.reports(), &inputs, panel);
        let (folds, weights) = (folds(panel.ids(), stream), vec![1.0; panel.people()]);
        let mut outputs = Vec::new();
        let mut reports = Vec::new();
        for output in 0..=p {
            let rows = &residuals.outputs[output];
            let nature = nature(&residuals, output, keep);
            let mut report = OutputReport {
                output,
                is_reward: output == p,
                rung: Rung::Additive,
                spread: SpreadForm::Common,
                first_apart: false,
                knots: 0,
                nature,
                scores: vec![],
            };
            let mut noise = OutputNoise::additive(levels, output < p);
            noise.kept = nature == Nature::Kept;
            let is_open = match nature {
                Nature::Continuous => choice != NoiseChoice::Additive,
                Nature::FewValues(_) => matches!(choice, NoiseChoice::Scale | NoiseChoice::Rank),
                Nature::Noiseless | Nature::Kept => false,
            };
            if is_open {
                let width = inputs.width();
                let judge = Judge { rows, inputs: &residuals.inputs, width, levels, folds: &folds };
                let plan = Plan::choose(&judge, choice, &weights, &mut report.scores);
                if let Some(fitted) = plan.and_then(|plan| plan.fit(rows, &residuals.inputs, width, levels, &weights)) {
                    report.rung = fitted.rung();
                    report.spread = fitted.spread.form;
                    report.first_apart = fitted.first_shape.is_some();
                    report.knots = fitted.shape.as_ref().map_or(0, Shape::knots);
                    noise = fitted;
                }
            }
            outputs.push(noise);
            reports.push(report);
        }
        Self::new(inputs, outputs, levels, NoiseReport { outputs: reports })
    }

    fn new(inputs: Inputs, outputs: Vec<OutputNoise>, levels: usize, report: NoiseReport) -> Self {
        let p = outputs.len() - 1;
        let initial = (0..levels).map(|z| outputs[..p].iter().map(|o| o.spread.first[z]).collect()).collect();
        Self { inputs, outputs, initial, report }
    }

    /// The same rungs, forms and knots fitted once more, to residuals around other means and with a weight for each person of the panel.
    ///
    /// What people with positive weight do not determine stays as it was.
    ///
    /// # Panics
    /// If there is not one weight a person, or the panel has another shape.
    pub(super) fn refit(&self, means: &Fitted, people: &dyn People, weights: Option<&[f64]>) -> Result<Self, FitError> {
        let Some(panel) = people.in_memory() else {
            return StoredNoise { panel: people, means, stream: Stream::new(0), room: people.room() }.refit(self);
        };
        let ones = vec![1.0; panel.people()];
        Ok(self.refit_around(means, means.reports(), panel, weights.unwrap_or(&ones)))
    }

    /// [`refit`](Self::refit) around any means; the reports say how many degrees of freedom each level's regression spent.
    ///
    /// # Panics
    /// As [`refit`](Self::refit).
    pub fn refit_around(
        &self,
        means: &impl Mechanism,
        reports: &[RegressionReport],
        panel: &Panel,
        weights: &[f64],
    ) -> Self {
        assert_eq!(weights.len(), panel.people(), "one weight a person");
        assert_eq!(panel.state_dim() + 1, self.outputs.len(), "a panel of the same shape");
        let (levels, width) = (panel.levels().len(), self.inputs.width());
        assert_eq!(levels, self.initial.len(), "a panel of the same shape");
        let residuals = Residuals::of(means, reports, &self.inputs, panel);
        let refitted = self.outputs.iter().zip(&residuals.outputs).map(|(noise, rows)| {
            let fitted = noise.plan().and_then(|plan| plan.fit(rows, &residuals.inputs, width, levels, weights));
            fitted.unwrap_or_else(|| noise.clone())
        });
        let outputs = refitted.collect();
        Self::new(self.inputs.clone(), outputs, levels, self.report.clone())
    }

    /// What was chosen, and why.
    pub fn report(&self) -> &NoiseReport {
        &self.report
    }

    /// Whether every output's noise is merely added, and none is kept.
    pub fn is_additive(&self) -> bool {
        self.outputs.iter().all(|output| output.additive && !output.kept)
    }

    /// The outputs whose spread varies.
    pub(super) fn precise_outputs(&self) -> Vec<usize> {
        let varies =
            |output: &OutputNoise| !output.additive && !output.kept && output.spread.form != SpreadForm::Common;
        (0..self.outputs.len()).filter(|&j| varies(&self.outputs[j])).collect()
    }

    /// 1/σ² at every decision of a panel for each output whose spread varies (`None` for the others): weights for its regression.
    pub fn precisions(&self, panel: &Panel) -> Vec<Option<Vec<f64>>> {
        let p = panel.state_dim();
        let precision = |output: &OutputNoise| {
            if output.additive || output.kept || output.spread.form == SpreadForm::Common {
                return None;
            }
            let mut found = vec![0.0; panel.decisions()];
            let mut rest = found.as_mut_slice();
            for person in panel.iter() {
                let (own, others) = rest.split_at_mut(person.actions.len());
                let states = &person.states[..own.len() * p];
                output.spread.fill(person.level as usize, &self.inputs, states, person.actions, own, (0, 1));
                rest = others;
            }
            found.iter_mut().for_each(|σ| *σ = 1.0 / (*σ * *σ));
            Some(found)
        };
        self.outputs.iter().map(precision).collect()
    }

    /// Whether everything fits together, for noise that comes from a file.
    pub(super) fn is_consistent(&self, p: usize, levels: usize, actions: usize) -> bool {
        let fits = |(j, output): (usize, &OutputNoise)| {
            output.spread.is_consistent(levels, self.inputs.width(), j < p)
                && output.shape.iter().chain(&output.first_shape).all(|shape| shape.is_consistent(levels))
        };
        self.outputs.len() == p + 1
            && self.inputs.is_consistent(p, actions)
            && self.outputs.iter().enumerate().all(fits)
            && self.initial.len() == levels
            && self.initial.iter().all(|σ| σ.len() == p && σ.iter().all(|x| *x > 0.0 && x.is_finite()))
    }

    fn shape(&self, output: Output) -> Option<&Shape> {
        match output {
            Output::First(j) => self.outputs[j].first_shape.as_ref().or(self.outputs[j].shape.as_ref()),
            Output::Next(j) => self.outputs[j].shape.as_ref(),
            Output::Reward => self.outputs.last()?.shape.as_ref(),
        }
    }
}

impl NoiseLaw for FittedNoise {
    fn initial_spread(&self, level: usize) -> &[f64] {
        &self.initial[level]
    }

    fn spread(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        let p = self.outputs.len() - 1;
        for (j, output) in self.outputs[..p].iter().enumerate() {
            output.spread.fill(level, &self.inputs, states, actions, next, (j, p));
        }
        self.outputs[p].spread.fill(level, &self.inputs, states, actions, rewards, (0, 1));
    }

    fn to_common(&self, output: Output, level: usize, noise: f64) -> f64 {
        self.shape(output).map_or(noise, |shape| shape.to_common(level, noise))
    }

    fn of_common(&self, output: Output, level: usize, common: f64) -> f64 {
        self.shape(output).map_or(common, |shape| shape.of_common(level, common))
    }

    fn is_kept(&self, output: Output) -> bool {
        match output {
            Output::First(j) | Output::Next(j) => self.outputs[j].kept,
            Output::Reward => self.outputs.last().is_some_and(|output| output.kept),
        }
    }
}

impl OutputNoise {
    fn additive(levels: usize, has_first: bool) -> Self {
        let spread = Spread::unit(levels, has_first);
        Self { kept: false, additive: true, spread, shape: None, first_shape: None }
    }

    fn rung(&self) -> Rung {
        match (&self.shape, self.additive) {
            (Some(_), _) => Rung::Rank,
            (None, true) => Rung::Additive,
            (None, false) => Rung::Scale,
        }
    }

    /// What there is to fit again; `None` where noise is added or kept.
    fn plan(&self) -> Option<Plan> {
        if self.additive || self.kept {
            return None;
        }
        let knots = self.shape.as_ref().map(Shape::knots);
        let first_knots = self.first_shape.as_ref().map(Shape::knots);
        Some(Plan { form: self.spread.form, knots, first_knots })
    }
}

/// What to fit for one output: the form of its spread and the knots of its laws.
struct Plan {
    form: SpreadForm,
    /// Of each level's law; `None` below the rank rung.
    knots: Option<usize>,
    /// Of each level's law of the first state, where that is another.
    first_knots: Option<usize>,
}

impl Plan {
    fn choose(judge: &Judge, choice: NoiseChoice, weights: &[f64], scores: &mut Vec<Score>) -> Option<Self> {
        let least = if choice == NoiseChoice::Scale { SpreadForm::PerLevel } else { SpreadForm::Common };
        let form = judge.spread(least, scores);
        let mut plan = Self { form, knots: None, first_knots: None };
        if choice == NoiseChoice::Scale || choice == NoiseChoice::Additive {
            return Some(plan);
        }
        let spread = Spread::fit(form, judge.rows, judge.inputs, judge.width, judge.levels, weights)?;
        let standardised = standardise(&spread, judge.rows, judge.inputs, judge.width);
        let (is_apart, by_level) = judge.shape(&standardised, scores);
        if by_level || choice == NoiseChoice::Rank {
            let first = judge.rows.iter().filter(|row| row.decision.is_none()).count();
            let later = judge.rows.len() - first;
            plan.knots = Some(knots(if is_apart { later } else { first + later }, judge.levels));
            plan.first_knots = is_apart.then(|| knots(first, judge.levels));
        }
        Some(plan)
    }

    /// `None` when the residuals do not determine it, or there is nothing but an additive rung in it.
    fn fit(&self, rows: &[Row], inputs: &[f64], width: usize, levels: usize, weights: &[f64]) -> Option<OutputNoise> {
        if self.form == SpreadForm::Common && self.knots.is_none() {
            return None;
        }
        let spread = Spread::fit(self.form, rows, inputs, width, levels, weights)?;
        let (mut shape, mut first_shape) = (None, None);
        if let Some(knots) = self.knots {
            let standardised = standardise(&spread, rows, inputs, width);
            let gather = |pass: &dyn Fn(&Row) -> bool| {
                let mut by_level = vec![vec![]; levels];
                for (row, e) in rows.iter().zip(&standardised).filter(|(row, _)| pass(row)) {
                    by_level[row.level].push((*e, weights[row.person]));
                }
                by_level
            };
            let apart = self.first_knots.is_some();
            shape = Some(Shape::fit(&mut gather(&|row| !apart || row.decision.is_some()), knots)?);
            if let Some(knots) = self.first_knots {
                first_shape = Some(Shape::fit(&mut gather(&|row| row.decision.is_none()), knots)?);
            }
        }
        Some(OutputNoise { kept: false, additive: false, spread, shape, first_shape })
    }
}

fn standardise(spread: &Spread, rows: &[Row], inputs: &[f64], width: usize) -> Vec<f64> {
    rows.iter().map(|row| row.residual * (-spread.log_at(row, inputs, width)).exp()).collect()
}

fn nature(residuals: &Residuals, output: usize, keep: OutputSet) -> Nature {
    if keep.contains(output) {
        return Nature::Kept;
    }
    let rows = &residuals.outputs[output];
    let largest = rows.iter().fold(0.0f64, |most, row| most.max(row.residual.abs()));
    if largest <= NOISELESS * residuals.size[output] {
        return Nature::Noiseless;
    }
    let values = residuals.distinct[output];
    if values <= FEW.min(MANY) && rows.len() >= 5 * values { Nature::FewValues(values) } else { Nature::Continuous }
}
