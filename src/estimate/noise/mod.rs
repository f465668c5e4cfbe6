//! Noise fitted to data: its spread and shape, on the rung that was asked for or that the data choose.
//!
//! | question | file |
//! |---|---|
//! | what is left of outputs once their means are taken away, and of what does its spread depend? | `residuals` |
//! | which rung? | `choice`, by `density` of people left out |
//! | how far does noise spread, and which law has it? | `fitting`, by `spread` and `shape` |
//! | what was chosen? | `report` |
//!
//! Each is a few passes over residuals, which are kept where people are in memory and made anew from each block where they are on disk.

mod choice;
mod density;
mod fitting;
mod report;
mod residuals;
mod shape;
mod spread;

pub use report::{Candidate, Nature, NoiseReport, OutputReport, Score};
pub use spread::SpreadForm;

use super::{FitError, Fitted, RegressionReport};
use crate::kernel::model::{Mechanism, NoiseLaw, Output, Rung};
use crate::kernel::numeric::Stream;
use crate::kernel::people::{Panel, People};
use fitting::fit_plans;
use residuals::{Inputs, ResidualSource};
use serde::{Deserialize, Serialize};
use shape::Shape;
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

/// Different values are not counted further.
const MANY: usize = 64;

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
        let inputs = Inputs::of(people)?;
        let source = ResidualSource::new(people, &inputs, (means, means.reports()), None, Some(stream));
        let (levels, p) = (source.levels(), source.outputs() - 1);
        let natures = natures(&source, keep)?;
        let is_open = |nature: Nature| match nature {
            Nature::Continuous => choice != NoiseChoice::Additive,
            Nature::FewValues(_) => matches!(choice, NoiseChoice::Scale | NoiseChoice::Rank),
            Nature::Noiseless | Nature::Kept => false,
        };
        let open: Vec<usize> = (0..=p).filter(|&output| is_open(natures[output])).collect();
        let mut plans: Vec<Option<NoisePlan>> = vec![None; p + 1];
        let mut scores: Vec<Vec<Score>> = vec![vec![]; p + 1];
        for (&output, found) in open.iter().zip(choice::plans(&source, &open, choice)?) {
            (plans[output], scores[output]) = (found.plan, found.scores);
        }
        let fitted = fit_plans(&source, &plans)?.into_iter().zip(&natures).enumerate();
        let or_additive = |(output, (fitted, nature)): (usize, (Option<OutputNoise>, &Nature))| {
            fitted.unwrap_or_else(|| OutputNoise {
                kept: *nature == Nature::Kept,
                ..OutputNoise::additive(levels, output < p)
            })
        };
        let outputs: Vec<OutputNoise> = fitted.map(or_additive).collect();
        let report = |(output, (noise, scores)): (usize, (&OutputNoise, Vec<Score>))| OutputReport {
            output,
            is_reward: output == p,
            rung: noise.rung(),
            spread: noise.spread.form,
            first_apart: noise.first_shape.is_some(),
            knots: noise.shape.as_ref().map_or(0, Shape::knots),
            nature: natures[output],
            scores,
        };
        let report = NoiseReport { outputs: outputs.iter().zip(scores).enumerate().map(report).collect() };
        drop(source);
        Ok(Self::new(inputs, outputs, levels, report))
    }

    fn new(inputs: Inputs, outputs: Vec<OutputNoise>, levels: usize, report: NoiseReport) -> Self {
        let p = outputs.len() - 1;
        let initial = (0..levels).map(|z| outputs[..p].iter().map(|o| o.spread.first[z]).collect()).collect();
        Self { inputs, outputs, initial, report }
    }

    /// The same rungs, forms and knots fitted once more: to residuals around other means, with a weight for each person.
    ///
    /// What people with positive weight do not determine stays as it was.
    pub(super) fn refit(&self, means: &Fitted, people: &dyn People, weights: Option<&[f64]>) -> Result<Self, FitError> {
        self.refit_around(means, means.reports(), people, weights)
    }

    /// The same around the means of any mechanism; the reports say how many degrees of freedom each level's regression spent. Without weights
    /// each person counts once.
    ///
    /// # Errors
    /// [`FitError::Blocks`] when people on disk cannot be read.
    ///
    /// # Panics
    /// If there is not one weight for each person, or people have another shape.
    pub fn refit_around(
        &self,
        means: &dyn Mechanism,
        reports: &[RegressionReport],
        people: &dyn People,
        weights: Option<&[f64]>,
    ) -> Result<Self, FitError> {
        assert!(weights.is_none_or(|weights| weights.len() == people.people()), "one weight for each person");
        let source = ResidualSource::new(people, &self.inputs, (means, reports), weights, None);
        assert_eq!((source.outputs(), source.levels()), (self.outputs.len(), self.initial.len()), "the same shape");
        let plans: Vec<Option<NoisePlan>> = self.outputs.iter().map(OutputNoise::plan).collect();
        let fitted = fit_plans(&source, &plans)?.into_iter().zip(&self.outputs);
        let outputs = fitted.map(|(fitted, old)| fitted.unwrap_or_else(|| old.clone())).collect();
        Ok(Self::new(self.inputs.clone(), outputs, source.levels(), self.report.clone()))
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
    fn plan(&self) -> Option<NoisePlan> {
        if self.additive || self.kept {
            return None;
        }
        let knots = self.shape.as_ref().map(Shape::knots);
        let first_knots = self.first_shape.as_ref().map(Shape::knots);
        Some(NoisePlan { form: self.spread.form, knots, first_knots })
    }
}

/// What to fit for one output: the form of its spread and the knots of its laws.
#[derive(Debug, Clone, Copy)]
struct NoisePlan {
    form: SpreadForm,
    /// Of each level's law; `None` below the rank rung.
    knots: Option<usize>,
    /// Of each level's law of the first state, where that is another.
    first_knots: Option<usize>,
}

/// What kind of output each is.
fn natures(source: &ResidualSource, keep: OutputSet) -> Result<Vec<Nature>, FitError> {
    let p = source.outputs() - 1;
    let (mut largest, mut size, mut rows) = (vec![0.0f64; p + 1], vec![0.0f64; p + 1], vec![0; p + 1]);
    let mut seen: Vec<Vec<f64>> = vec![vec![]; p + 1];
    source.each(|block| {
        for (output, residuals) in block.residuals.outputs.iter().enumerate() {
            rows[output] += residuals.len();
            largest[output] = residuals.iter().fold(largest[output], |most, r| most.max(r.value.abs()));
            size[output] = size[output].max(block.residuals.size[output]);
        }
        (0..p).for_each(|j| meet(&mut seen[j], block.panel.states().iter().skip(j).step_by(p)));
        meet(&mut seen[p], block.panel.rewards().iter());
    })?;
    let nature = |output: usize| {
        if keep.contains(output) {
            return Nature::Kept;
        }
        if largest[output] <= NOISELESS * size[output] {
            return Nature::Noiseless;
        }
        let values = seen[output].len();
        let is_few = values <= FEW.min(MANY) && rows[output] >= 5 * values;
        if is_few { Nature::FewValues(values) } else { Nature::Continuous }
    };
    Ok((0..=p).map(nature).collect())
}

/// Adds values to the sorted ones that were seen, up to [`MANY`].
fn meet<'a>(seen: &mut Vec<f64>, values: impl Iterator<Item = &'a f64>) {
    for value in values {
        if seen.len() == MANY {
            break;
        }
        if let Err(at) = seen.binary_search_by(|x| x.total_cmp(value)) {
            seen.insert(at, *value);
        }
    }
}
