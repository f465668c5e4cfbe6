//! σ(x, z): how far noise spreads, by Gaussian pseudo-likelihood.

use super::residuals::{Inputs, Row};
use crate::kernel::numeric::small::{dot, solve};
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

    /// Fits a form to residuals, each with the weight of its person. `None` when the residuals do not determine it.
    ///
    /// # Equation
    /// ```text
    /// γ minimises Σ w (2 γ·x + r² exp(−2 γ·x));   γ ← γ + ½ (Σ w x xᵀ)⁻¹ Σ w x (r² exp(−2 γ·x) − 1)
    /// ```
    /// For a constant this is the root mean square in closed form.
    pub fn fit(
        form: SpreadForm,
        rows: &[Row],
        inputs: &[f64],
        width: usize,
        levels: usize,
        weights: &[f64],
    ) -> Option<Self> {
        let firsts = root_mean_squares(rows.iter().filter(|row| row.decision.is_none()), levels, weights, form);
        let has_first = rows.iter().any(|row| row.decision.is_none());
        let constants = root_mean_squares(rows.iter().filter(|row| row.decision.is_some()), levels, weights, form);
        let has_later = rows.iter().any(|row| row.decision.is_some());
        let first = if has_first { firsts? } else { vec![] };
        // A panel of first states alone has no transitions whose spread could be known.
        let constants = if has_later { constants? } else { vec![1.0; levels] };
        let log = match form {
            SpreadForm::Common | SpreadForm::PerLevel => constants.iter().map(|σ| vec![σ.ln()]).collect(),
            SpreadForm::LogLinear => (0..levels)
                .map(|level| {
                    let own = || rows.iter().filter(|row| row.level == level);
                    log_linear(own(), inputs, width, weights, constants[level].ln())
                })
                .collect::<Option<_>>()?,
        };
        Some(Self { form, first, log })
    }

    /// log σ of one residual.
    pub fn log_at(&self, row: &Row, inputs: &[f64], width: usize) -> f64 {
        match row.decision {
            None => self.first[row.level].ln(),
            Some(at) => {
                let γ = &self.log[row.level];
                if γ.len() == 1 { γ[0] } else { dot(γ, &inputs[at * width..(at + 1) * width]) }
            }
        }
    }

    /// Writes σ at one level for every `step`-th place of `out` from `start` on, one a row.
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

/// √(Σ w r² / Σ w) at each level, or the same for all; `None` when a level has no residuals or they are all 0.
fn root_mean_squares<'a>(
    rows: impl Iterator<Item = &'a Row>,
    levels: usize,
    weights: &[f64],
    form: SpreadForm,
) -> Option<Vec<f64>> {
    let (mut squares, mut total) = (vec![0.0; levels], vec![0.0; levels]);
    for row in rows {
        let at = if form == SpreadForm::Common { 0 } else { row.level };
        squares[at] += weights[row.person] * row.residual * row.residual;
        total[at] += weights[row.person];
    }
    mean_squares(squares, total, form)
}

/// √(Σ w r² / Σ w) from the two sums at each level, which a common spread adds up.
pub(super) fn mean_squares(mut squares: Vec<f64>, mut total: Vec<f64>, form: SpreadForm) -> Option<Vec<f64>> {
    if form == SpreadForm::Common {
        let levels = squares.len();
        (squares, total) = (vec![squares.iter().sum(); levels], vec![total.iter().sum(); levels]);
    }
    let roots: Vec<f64> = squares.iter().zip(&total).map(|(s, n)| (s / n).sqrt()).collect();
    roots.iter().all(|σ| *σ > 0.0 && σ.is_finite()).then_some(roots)
}

fn log_linear<'a>(
    rows: impl Iterator<Item = &'a Row> + Clone,
    inputs: &[f64],
    width: usize,
    weights: &[f64],
    start: f64,
) -> Option<Vec<f64>> {
    let rows: Vec<(&[f64], f64, f64)> = rows
        .filter_map(|row| {
            row.decision.map(|at| (&inputs[at * width..(at + 1) * width], row.residual, weights[row.person]))
        })
        .filter(|(_, _, weight)| *weight > 0.0)
        .collect();
    if is_undetermined(rows.iter().map(|(_, _, w)| w).sum(), width) {
        return None;
    }
    let mut matrix = vec![0.0; width * width];
    for (x, _, w) in &rows {
        for i in 0..width {
            for j in 0..width {
                matrix[i * width + j] += w * x[i] * x[j];
            }
        }
    }
    let mut scoring = Scoring::new(matrix, start);
    while scoring.is_running() {
        rows.iter().for_each(|(x, r, w)| scoring.add(x, *r, *w));
        scoring.step();
    }
    scoring.found()
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

    /// Two people a row pair: residuals ±r are what a symmetric law looks like.
    fn row(person: usize, level: usize, decision: Option<usize>, residual: f64) -> Row {
        Row { person, level, decision, residual }
    }

    #[test]
    fn constants_are_weighted_root_mean_squares() {
        let rows = [
            row(0, 0, None, 5.0),
            row(0, 0, Some(0), 3.0),
            row(1, 1, None, 0.5),
            row(1, 1, Some(1), 4.0),
            row(2, 1, Some(2), 2.0),
        ];
        let weights = [2.0, 1.0, 3.0];
        let fit = |form| Spread::fit(form, &rows, &[1.0; 3], 1, 2, &weights).unwrap();
        let by_level = fit(SpreadForm::PerLevel);
        // Level 1: (1·16 + 3·4)/4 = 7. First states: 5 and 0.5.
        assert_eq!(by_level.first, [5.0, 0.5]);
        assert!(
            (by_level.log[0][0].exp() - 3.0).abs() < 1e-14 && (by_level.log[1][0].exp() - 7f64.sqrt()).abs() < 1e-14
        );
        // All: (2·9 + 16 + 3·4)/6 = 46/6, and (2·25 + 0.25)/3 of first states.
        let common = fit(SpreadForm::Common);
        assert!((common.log[1][0].exp() - (46.0f64 / 6.0).sqrt()).abs() < 1e-14 && common.log[0] == common.log[1]);
        assert!((common.first[0] - (50.25f64 / 3.0).sqrt()).abs() < 1e-14);
        assert!(
            Spread::fit(SpreadForm::PerLevel, &rows[..2], &[1.0; 3], 1, 2, &weights).is_none(),
            "nobody at level 1"
        );
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
            rows.push(row(i, level, Some(i), sign * dot(&γ[level], &x).exp()));
            inputs.extend(x);
        }
        let weights: Vec<f64> = (0..40).map(|i| 1.0 + f64::from(i % 4)).collect();
        let fit = |rows: &[Row]| Spread::fit(SpreadForm::LogLinear, rows, &inputs, 3, 2, &weights);
        let found = fit(&rows).unwrap();
        for (found, γ) in found.log.iter().zip(&γ) {
            // The last step was below 1e-8, and steps shrink geometrically.
            assert!(found.iter().zip(γ).all(|(a, b)| (a - b).abs() < 1e-7), "{found:?} {γ:?}");
        }
        // With residuals that are not their own spread, the score Σ w x (r²/σ² − 1) vanishes at the solution.
        for (i, row) in rows.iter_mut().enumerate() {
            row.residual *= 0.2 + 1.7 * (7.1 * i as f64).sin().abs();
        }
        let found = fit(&rows).unwrap();
        for level in 0..2 {
            for j in 0..3 {
                let score: f64 = rows
                    .iter()
                    .filter(|row| row.level == level)
                    .map(|row| {
                        let η = found.log_at(row, &inputs, 3);
                        weights[row.person]
                            * inputs[3 * row.person + j]
                            * (row.residual.powi(2) * (-2.0 * η).exp() - 1.0)
                    })
                    .sum();
                assert!(score.abs() < 1e-5, "level {level}, input {j}: {score}");
            }
        }
        // Without the action at level 0 its coefficient is unknown.
        rows.retain(|row| row.level == 1 || row.person % 3 != 0);
        assert!(fit(&rows).is_none());
    }
}
