//! How many knots: decided by cross-validation over people.

use super::basis::StateBasis;
use super::spline::NaturalSpline;
use super::terms::{Block, blocks};
use super::{LevelCode, Pooling};
use crate::data::Panel;
use crate::numeric::Gram;

/// Numbers of knots tried. Two are a straight line; more than eight would chase noise at the sizes of such studies.
const KNOTS: [usize; 6] = [2, 3, 4, 5, 6, 8];

/// Folds of people; person i is in fold i mod 5, so that sorted files do not put one kind of people into one fold.
const FOLDS: usize = 5;

/// A spline basis a group of people (all, or each level), with the number of knots that predicts unseen people best.
///
/// # Equation
/// ```text
/// argmin over knots of  Σ_outputs Σ_folds ‖Y_f − X_f B̂₋f‖² / ‖Y − Ȳ‖²
/// ```
/// All of it comes from one Gram matrix of [X Y] a fold: fits without a fold are differences of sums.
pub(super) fn spline_bases(panel: &Panel, pooling: Pooling, code: LevelCode, values: &[f64]) -> Vec<StateBasis> {
    let groups: Vec<Option<usize>> = match pooling {
        Pooling::Pooled => vec![None],
        Pooling::PerLevel => (0..panel.levels().len()).map(Some).collect(),
    };
    groups.into_iter().map(|only| best_basis(panel, only, pooling, code, values)).collect()
}

fn best_basis(panel: &Panel, only: Option<usize>, pooling: Pooling, code: LevelCode, values: &[f64]) -> StateBasis {
    let candidates = KNOTS.map(|count| StateBasis::Spline(splines(panel, only, count)));
    let mut best = (f64::INFINITY, 0);
    for (i, basis) in candidates.iter().enumerate() {
        let blocks = blocks(basis, pooling, code, panel.action_names().len(), panel.levels().len());
        // A candidate that some fold cannot determine is out of the race; the straight line stands when none is left.
        if let Some(error) = prediction_error(panel, only, basis, &blocks, values)
            && error < best.0
        {
            best = (error, i);
        }
    }
    candidates[best.1].clone()
}

/// Splines of every coordinate on quantiles of the states from which the group moved on.
fn splines(panel: &Panel, only: Option<usize>, count: usize) -> Vec<NaturalSpline> {
    let p = panel.state_dim();
    (0..p)
        .map(|j| {
            let people = panel.iter().filter(|person| only.is_none_or(|k| k == person.level as usize));
            let mut values: Vec<f64> = people
                .flat_map(|person| person.states.chunks_exact(p).take(person.actions.len()).map(|s| s[j]))
                .collect();
            NaturalSpline::at_quantiles(&mut values, count)
        })
        .collect()
}

/// The cross-validated error; `None` when some fold's complement does not determine the coefficients.
fn prediction_error(
    panel: &Panel,
    only: Option<usize>,
    basis: &StateBasis,
    blocks: &[Block],
    values: &[f64],
) -> Option<f64> {
    let (p, q) = (panel.state_dim(), basis.count());
    let columns: usize = blocks.iter().map(|b| b.functions).sum();
    let width = columns + p + 1;
    let mut folds: Vec<Gram> = (0..FOLDS).map(|_| Gram::new(width)).collect();
    let (mut functions, mut rows) = (vec![0.0; q], Vec::new());
    let people = panel.iter().filter(|person| only.is_none_or(|k| k == person.level as usize));
    for (i, person) in people.enumerate() {
        rows.clear();
        let level = person.level as usize;
        let steps = person.states.chunks_exact(p).zip(person.states.chunks_exact(p).skip(1));
        for ((state, next), (&action, &reward)) in steps.zip(person.actions.iter().zip(person.rewards)) {
            basis.fill(state, &mut functions);
            for block in blocks {
                let factor = block.factor(action as usize, level, values[level]);
                rows.extend(functions[..block.functions].iter().map(|f| factor * f));
            }
            rows.extend_from_slice(next);
            rows.push(reward);
        }
        folds[i % FOLDS].add_rows(&rows);
    }
    let mut total = Gram::new(width);
    folds.iter().for_each(|fold| total.merge(fold));
    let spread = |output: usize| {
        let at = columns + output;
        // Column 0 is the constant: its product with an output is the output's sum.
        let (n, sum) = (total.matrix()[0], total.matrix()[at]);
        total.matrix()[at * width + at] - sum * sum / n
    };
    let mut error = 0.0;
    for fold in folds.iter().filter(|fold| fold.rows() > 0) {
        let without: Vec<f64> = total.matrix().iter().zip(fold.matrix()).map(|(a, b)| a - b).collect();
        let design: Vec<f64> =
            (0..columns).flat_map(|i| without[i * width..i * width + columns].iter().copied()).collect();
        let factor = Gram::from_lower(columns, total.rows() - fold.rows(), &design).factor().ok()?;
        for output in 0..=p {
            let at = columns + output;
            let mut b: Vec<f64> = (0..columns).map(|i| without[i * width + at]).collect();
            factor.solve_in_place(&mut b);
            error += residual(fold.matrix(), width, at, &b) / spread(output).max(f64::MIN_POSITIVE);
        }
    }
    Some(error)
}

/// ‖y − Xb‖² from the Gram matrix of [X Y].
fn residual(gram: &[f64], width: usize, output: usize, b: &[f64]) -> f64 {
    let mut sum = gram[output * width + output];
    for (i, bi) in b.iter().enumerate() {
        sum -= 2.0 * bi * gram[i * width + output];
        for (j, bj) in b.iter().enumerate() {
            sum += bi * bj * gram[i * width + j];
        }
    }
    sum.max(0.0)
}
