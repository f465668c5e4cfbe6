//! σ(x, z): how far noise spreads, by Gaussian pseudo-likelihood.

use super::choice::FOLDS;
use super::residuals::{Inputs, Residual, ResidualSource, Residuals};
use crate::estimate::FitError;
use crate::kernel::numeric::small::{dot, solve};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// What σ depends on; each form contains the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpreadForm {
    /// One σ for all.
    Common,
    /// σ_z.
    PerLevel,
    /// log σ_z = γ_z · [1, s, a].
    LogLinear,
}

impl std::fmt::Display for SpreadForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Common => "one spread",
            Self::PerLevel => "spread by level",
            Self::LogLinear => "spread by level, state and action",
        })
    }
}

/// The spread of one output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Spread {
    pub form: SpreadForm,
    /// σ of the first state by level; empty for the reward.
    pub first: Vec<f64>,
    /// γ_z of log σ_z by level; one number each unless the form is log-linear.
    pub log: Vec<Vec<f64>>,
}

/// Fisher scoring stops when no coefficient moves by more than this; it converges geometrically, and a thousandth of a standard error is 1e-5.
const STEP: f64 = 1e-8;

/// More steps than this are not taken.
const STEPS: usize = 60;

impl Spread {
    /// σ = 1: what additive noise is carried over with.
    pub fn unit(levels: usize, has_first: bool) -> Self {
        Self {
            form: SpreadForm::Common,
            first: vec![1.0; if has_first { levels } else { 0 }],
            log: vec![vec![0.0]; levels],
        }
    }

    /// log σ of one residual.
    pub fn log_at(&self, residual: &Residual, residuals: &Residuals) -> f64 {
        match residual.decision {
            None => self.first[residual.level].ln(),
            Some(at) => {
                let γ = &self.log[residual.level];
                if γ.len() == 1 { γ[0] } else { dot(γ, residuals.input(at)) }
            }
        }
    }

    /// A residual in units of its σ.
    pub fn standardised(&self, residual: &Residual, residuals: &Residuals) -> f64 {
        residual.value * (-self.log_at(residual, residuals)).exp()
    }

    /// Writes σ at one level for every `step`-th place of `out` from `start` on, one per row.
    pub fn fill(
        &self,
        level: usize,
        inputs: &Inputs,
        states: &[f64],
        actions: &[u32],
        out: &mut [f64],
        (start, step): (usize, usize),
    ) {
        let γ = &self.log[level];
        let out = out.iter_mut().skip(start).step_by(step);
        if γ.len() == 1 {
            let σ = γ[0].exp();
            return out.for_each(|x| *x = σ);
        }
        let p = states.len() / actions.len().max(1);
        for ((x, state), &action) in out.zip(states.chunks_exact(p.max(1))).zip(actions) {
            *x = inputs.dot(γ, state, action).exp();
        }
    }

    /// Whether it fits a mechanism of this shape.
    pub fn is_consistent(&self, levels: usize, width: usize, has_first: bool) -> bool {
        // A log of at most 300 in all: σ and its square are finite and positive. No spread that was fitted is near.
        let moderate = |γ: &Vec<f64>| {
            let most = γ[0].abs() + Inputs::LARGEST * γ[1..].iter().map(|x| x.abs()).sum::<f64>();
            most <= 300.0
        };
        let sized = |γ: &Vec<f64>| γ.len() == 1 || γ.len() == width;
        self.first.len() == if has_first { levels } else { 0 }
            && self.first.iter().all(|σ| *σ > 0.0 && σ.is_finite())
            && self.log.len() == levels
            && self.log.iter().all(|γ| sized(γ) && moderate(γ))
    }
}

/// A spread to fit: that of one output, to all people or without those of a fold.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpreadTask {
    pub output: usize,
    pub form: SpreadForm,
    pub without: Option<usize>,
}

impl SpreadTask {
    /// Whether a person's residuals are fitted to.
    fn takes(&self, residuals: &Residuals, person: usize) -> bool {
        self.without.is_none_or(|fold| residuals.folds[person] != fold)
    }
}

/// Fits spreads to residuals, each with the weight of its person. `None` where the residuals do not determine one.
///
/// # Equation
/// ```text
/// γ minimises Σ w (2 γ·x + r² exp(−2 γ·x));   γ ← γ + ½ (Σ w x xᵀ)⁻¹ Σ w x (r² exp(−2 γ·x) − 1)
/// ```
/// For a constant this is the root mean square in closed form.
///
/// # Errors
/// Those of people on disk.
pub(super) fn fit_spreads(source: &ResidualSource, tasks: &[SpreadTask]) -> Result<Vec<Option<Spread>>, FitError> {
    // As many outputs at a time as there is room for the products of their inputs.
    let size = tasks.iter().filter(|task| task.form == SpreadForm::LogLinear).count().min(FOLDS + 1);
    let each = (size * source.levels()).saturating_mul(source.inputs.width().pow(2)).max(1);
    let at_once = (source.people.room() / each).max(1);
    let mut found = Vec::new();
    let mut rest = tasks;
    while let Some(first) = rest.first() {
        let last = first.output + at_once;
        let (now, later) = rest.split_at(rest.partition_point(|task| task.output < last));
        found.extend(fit_together(source, now)?);
        rest = later;
    }
    Ok(found)
}

fn fit_together(source: &ResidualSource, tasks: &[SpreadTask]) -> Result<Vec<Option<Spread>>, FitError> {
    let (levels, width) = (source.levels(), source.inputs.width());
    let squares = squares_by_fold(source)?;
    let mut found: Vec<Option<Spread>> = Vec::new();
    let mut scorings = Vec::new();
    for &task in tasks {
        let (own, any) =
            (squares[task.output].without(task.without, levels), squares[task.output].without(None, levels));
        // Whichever fold is left out, an output with first states has a spread of them.
        let first = if any.has_first() { mean_squares(&own.first, task.form) } else { Some(vec![]) };
        // A panel of first states alone has no transitions whose spread could be known.
        let constants = if any.has_later() { mean_squares(&own.later, task.form) } else { Some(vec![1.0; levels]) };
        let is_determined = own.later.iter().all(|sum| !is_undetermined(sum.weight, width));
        let log_linear = task.form == SpreadForm::LogLinear;
        found.push(first.zip(constants).filter(|_| !log_linear || is_determined).map(|(first, constants)| Spread {
            form: task.form,
            first,
            log: constants.iter().map(|σ| vec![σ.ln()]).collect(),
        }));
        if log_linear && found.last().is_some_and(Option::is_some) {
            scorings.push((found.len() - 1, task, vec![vec![0.0; width * width]; levels]));
        }
    }
    // Σ w xxᵀ at each level, then scoring, a pass for each step.
    source.each(|block| {
        scorings.par_iter_mut().for_each(|(_, task, products)| {
            for residual in &block.residuals.outputs[task.output] {
                let (Some(at), weight) = (residual.decision, block.weight(residual)) else { continue };
                if weight > 0.0 && task.takes(block.residuals, residual.person) {
                    let x = block.residuals.input(at);
                    for (row, xi) in products[residual.level].chunks_exact_mut(width).zip(x) {
                        row.iter_mut().zip(x).for_each(|(sum, xj)| *sum += weight * xi * xj);
                    }
                }
            }
        });
    })?;
    let start = |(at, task, products): (usize, SpreadTask, Vec<Vec<f64>>)| {
        let log = found[at].as_ref().map_or(&[][..], |spread| &spread.log);
        let scorings = products.into_iter().zip(log).map(|(matrix, log)| Scoring::new(matrix, log[0]));
        (at, task, scorings.collect::<Vec<_>>())
    };
    let mut scorings: Vec<(usize, SpreadTask, Vec<Scoring>)> = scorings.into_iter().map(start).collect();
    while scorings.iter().any(|(.., own)| own.iter().any(Scoring::is_running)) {
        source.each(|block| {
            scorings.par_iter_mut().for_each(|(_, task, own)| {
                for residual in &block.residuals.outputs[task.output] {
                    let (Some(at), weight) = (residual.decision, block.weight(residual)) else { continue };
                    let scoring = &mut own[residual.level];
                    if scoring.is_running() && weight > 0.0 && task.takes(block.residuals, residual.person) {
                        scoring.add(block.residuals.input(at), residual.value, weight);
                    }
                }
            });
        })?;
        scorings.iter_mut().flat_map(|(.., own)| own).for_each(Scoring::step);
    }
    for (at, _, own) in scorings {
        let log: Option<Vec<Vec<f64>>> = own.into_iter().map(Scoring::found).collect();
        found[at] = found[at].take().zip(log).map(|(spread, log)| Spread { log, ..spread });
    }
    Ok(found)
}

/// Σ w r² and Σ w.
#[derive(Debug, Clone, Copy, Default)]
struct WeightedSquares {
    squares: f64,
    weight: f64,
}

impl WeightedSquares {
    fn add(&mut self, other: Self) {
        self.squares += other.squares;
        self.weight += other.weight;
    }
}

/// Squares of first states and of later residuals, by level, or by fold and level.
#[derive(Clone)]
struct Squares {
    first: Vec<WeightedSquares>,
    later: Vec<WeightedSquares>,
}

impl Squares {
    fn has_first(&self) -> bool {
        self.first.iter().any(|sum| sum.weight > 0.0)
    }

    fn has_later(&self) -> bool {
        self.later.iter().any(|sum| sum.weight > 0.0)
    }

    /// By level, without a fold.
    fn without(&self, fold: Option<usize>, levels: usize) -> Self {
        let total = |sums: &[WeightedSquares]| {
            let mut total = vec![WeightedSquares::default(); levels];
            for (_, own) in sums.chunks_exact(levels).enumerate().filter(|(f, _)| Some(*f) != fold) {
                total.iter_mut().zip(own).for_each(|(sum, own)| sum.add(*own));
            }
            total
        };
        Self { first: total(&self.first), later: total(&self.later) }
    }
}

/// The squares of every output by fold and level; in one fold where none is left out.
fn squares_by_fold(source: &ResidualSource) -> Result<Vec<Squares>, FitError> {
    let levels = source.levels();
    let cells = vec![WeightedSquares::default(); FOLDS * levels];
    let mut sums = vec![Squares { first: cells.clone(), later: cells }; source.outputs()];
    source.each(|block| {
        sums.par_iter_mut().zip(&block.residuals.outputs).for_each(|(sums, residuals)| {
            for residual in residuals {
                let (r, weight) = (residual.value, block.weight(residual));
                let fold = block.residuals.folds.get(residual.person).copied().unwrap_or(0);
                let own = if residual.decision.is_some() { &mut sums.later } else { &mut sums.first };
                own[fold * levels + residual.level].add(WeightedSquares { squares: weight * r * r, weight });
            }
        });
    })?;
    Ok(sums)
}

/// √(Σ w r² / Σ w) at each level, or the same for all; `None` when a level has no residuals or they are all 0.
fn mean_squares(by_level: &[WeightedSquares], form: SpreadForm) -> Option<Vec<f64>> {
    let mut by_level = by_level.to_vec();
    if form == SpreadForm::Common {
        let mut all = WeightedSquares::default();
        by_level.iter().for_each(|own| all.add(*own));
        by_level.fill(all);
    }
    let roots: Vec<f64> = by_level.iter().map(|sum| (sum.squares / sum.weight).sqrt()).collect();
    roots.iter().all(|σ| *σ > 0.0 && σ.is_finite()).then_some(roots)
}

/// Fewer residuals than coefficients determine no coefficient. Said before anything is solved: with 2000 columns that would take days.
fn is_undetermined(residuals: f64, width: usize) -> bool {
    residuals.is_nan() || residuals < width as f64
}

/// Fisher scoring for one level's γ, a pass over its residuals at a time.
pub(super) struct Scoring {
    matrix: Vec<f64>,
    γ: Vec<f64>,
    /// The objective at γ, once it is known.
    value: Option<f64>,
    direction: Vec<f64>,
    length: f64,
    /// Where the pass looks, and what it finds there.
    candidate: Vec<f64>,
    objective: f64,
    score: Vec<f64>,
    steps: usize,
    state: State,
}

#[derive(PartialEq)]
enum State {
    Running,
    Found,
    Undetermined,
}

impl Scoring {
    /// From Σ w xxᵀ and the log of a constant spread.
    pub fn new(matrix: Vec<f64>, start: f64) -> Self {
        let width = matrix.len().isqrt();
        // An input that never varies at this level (an action nobody took) has no coefficient: the form is not determined.
        let total = matrix[0];
        let varies = |j: usize| matrix[j * width + j] - matrix[j] * matrix[j] / total > 1e-9 * total;
        let is_determined = !is_undetermined(total, width) && (1..width).all(varies);
        let mut γ = vec![0.0; width];
        γ[0] = start;
        Self {
            matrix,
            candidate: γ.clone(),
            γ,
            value: None,
            direction: vec![],
            length: 1.0,
            objective: 0.0,
            score: vec![0.0; width],
            steps: 0,
            state: if is_determined { State::Running } else { State::Undetermined },
        }
    }

    pub fn is_running(&self) -> bool {
        self.state == State::Running
    }

    /// Adds a residual with inputs x and weight w.
    #[inline]
    pub fn add(&mut self, x: &[f64], r: f64, w: f64) {
        let η = dot(&self.candidate, x);
        let relative = r * r * (-2.0 * η).exp();
        self.objective += w * (2.0 * η + relative);
        let excess = 0.5 * w * (relative - 1.0);
        self.score.iter_mut().zip(x).for_each(|(s, x)| *s += excess * x);
    }

    /// Moves on once all residuals were added.
    pub fn step(&mut self) {
        if !self.is_running() {
            return;
        }
        let reached = std::mem::take(&mut self.objective);
        let score = std::mem::replace(&mut self.score, vec![0.0; self.γ.len()]);
        if let Some(value) = self.value {
            // Scoring may overshoot far from the minimum; halving always ends, because the direction descends.
            let is_better = reached <= value;
            if !is_better && self.length >= 1e-6 {
                self.length *= 0.5;
                return self.look_ahead();
            }
            if reached.is_nan() || reached > value {
                self.state = State::Found;
                return;
            }
            let moved = self.direction.iter().fold(0.0f64, |most, d| most.max((self.length * d).abs()));
            self.γ.clone_from(&self.candidate);
            self.steps += 1;
            if moved < STEP || self.steps == STEPS {
                self.state = State::Found;
                return;
            }
        }
        self.value = Some(reached);
        match solve(&self.matrix, &score) {
            Some(direction) => {
                (self.direction, self.length) = (direction, 1.0);
                self.look_ahead();
            }
            None => self.state = State::Undetermined,
        }
    }

    fn look_ahead(&mut self) {
        let ahead = self.γ.iter().zip(&self.direction).map(|(g, d)| g + self.length * d);
        self.candidate = ahead.collect();
    }

    /// γ, where the residuals determine it.
    pub fn found(self) -> Option<Vec<f64>> {
        (self.state == State::Found && self.γ.iter().all(|x| x.is_finite())).then_some(self.γ)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::people::{Labels, Panel, PanelBuilder, Person};

    fn residual(person: usize, level: usize, decision: Option<usize>, value: f64) -> Residual {
        Residual { person, level, decision, value }
    }

    /// The spread of some residuals of people of two levels.
    fn fit(
        form: SpreadForm,
        residuals: &[Residual],
        (inputs, width): (&[f64], usize),
        weights: &[f64],
    ) -> Option<Spread> {
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(1), 1).unwrap();
        for i in 0..weights.len() {
            let person = Person { id: &i.to_string(), level: 0, states: &[0.0], actions: &[], rewards: &[] };
            builder.push(person).unwrap();
        }
        let panel: Panel = builder.finish();
        let scale = Inputs::for_test(width);
        let found = Residuals::for_test(residuals, inputs, width);
        let source = ResidualSource::for_test(&panel, &scale, found, weights);
        fit_spreads(&source, &[SpreadTask { output: 0, form, without: None }]).unwrap().remove(0)
    }

    #[test]
    fn constants_are_weighted_root_mean_squares() {
        let rows = [
            residual(0, 0, None, 5.0),
            residual(0, 0, Some(0), 3.0),
            residual(1, 1, None, 0.5),
            residual(1, 1, Some(1), 4.0),
            residual(2, 1, Some(2), 2.0),
        ];
        let weights = [2.0, 1.0, 3.0];
        let fitted = |form| fit(form, &rows, (&[1.0; 3], 1), &weights).unwrap();
        let by_level = fitted(SpreadForm::PerLevel);
        // Level 1: (1·16 + 3·4)/4 = 7. First states: 5 and 0.5.
        assert_eq!(by_level.first, [5.0, 0.5]);
        assert!(
            (by_level.log[0][0].exp() - 3.0).abs() < 1e-14 && (by_level.log[1][0].exp() - 7f64.sqrt()).abs() < 1e-14
        );
        // All: (2·9 + 16 + 3·4)/6 = 46/6, and (2·25 + 0.25)/3 of first states.
        let common = fitted(SpreadForm::Common);
        assert!((common.log[1][0].exp() - (46.0f64 / 6.0).sqrt()).abs() < 1e-14 && common.log[0] == common.log[1]);
        assert!((common.first[0] - (50.25f64 / 3.0).sqrt()).abs() < 1e-14);
        assert!(fit(SpreadForm::PerLevel, &rows[..2], (&[1.0; 3], 1), &weights).is_none(), "nobody at level 1");
    }

    #[test]
    fn scoring_finds_a_log_linear_spread_and_its_score_is_zero() {
        // Residuals exp(γ·x) times ±1: with r² = σ² everywhere the likelihood is greatest at γ itself.
        let γ = [[0.3, -0.4, 0.7], [-1.0, 0.2, -0.1]];
        let (mut rows, mut inputs) = (vec![], vec![]);
        for i in 0..40usize {
            let x = [1.0, (1.3 * i as f64).sin(), f64::from(u8::from(i % 3 == 0))];
            let level = usize::from(i % 5 < 2);
            let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
            rows.push(residual(i, level, Some(i), sign * dot(&γ[level], &x).exp()));
            inputs.extend(x);
        }
        let weights: Vec<f64> = (0..40).map(|i| 1.0 + f64::from(i % 4)).collect();
        let fitted = |rows: &[Residual]| fit(SpreadForm::LogLinear, rows, (&inputs, 3), &weights);
        let found = fitted(&rows).unwrap();
        for (found, γ) in found.log.iter().zip(&γ) {
            // The last step was below 1e-8, and steps shrink geometrically.
            assert!(found.iter().zip(γ).all(|(a, b)| (a - b).abs() < 1e-7), "{found:?} {γ:?}");
        }
        // With residuals that are not their own spread, the score Σ w x (r²/σ² − 1) vanishes at the solution.
        for (i, row) in rows.iter_mut().enumerate() {
            row.value *= 0.2 + 1.7 * (7.1 * i as f64).sin().abs();
        }
        let found = fitted(&rows).unwrap();
        for level in 0..2 {
            for j in 0..3 {
                let score: f64 = rows
                    .iter()
                    .filter(|row| row.level == level)
                    .map(|row| {
                        let η = dot(&found.log[level], &inputs[3 * row.person..3 * row.person + 3]);
                        weights[row.person] * inputs[3 * row.person + j] * (row.value.powi(2) * (-2.0 * η).exp() - 1.0)
                    })
                    .sum();
                assert!(score.abs() < 1e-5, "level {level}, input {j}: {score}");
            }
        }
        // Without the action at level 0 its coefficient is unknown.
        rows.retain(|row| row.level == 1 || row.person % 3 != 0);
        assert!(fitted(&rows).is_none());
    }
}
