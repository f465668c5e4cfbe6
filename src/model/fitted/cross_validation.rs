//! How many knots: decided by cross-validation over people.

use super::basis::StateBasis;
use super::regression::resolve;
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
/// The fit will be iterated, and a slope above 1 makes errors grow from step to step. Wiggles in small samples have such slopes:
/// without a limit the value of Ours in the paper's non-linear world at N = 100 was 3.63 ± 1.74 over six seeds, where the Oracle had 4.48 ± 0.06. So candidates with a gain above 1 are passed
/// over, unless the straight line has one too.
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
    let judged: Vec<Option<Judged>> = candidates
        .iter()
        .map(|basis| {
            let blocks = blocks(basis, pooling, code, panel.action_names().len(), panel.levels().len());
            judge(panel, only, basis, &blocks, values)
        })
        .collect();
    // The straight line stands when nothing better does.
    let limit = judged[0].as_ref().map_or(1.0, |line| line.gain.max(1.0));
    let stable = judged
        .iter()
        .enumerate()
        .filter_map(|(i, judged)| Some((i, judged.as_ref()?)))
        .filter(|(_, j)| j.gain <= limit);
    let best = stable.min_by(|(_, a), (_, b)| a.error.total_cmp(&b.error)).map_or(0, |(i, _)| i);
    candidates[best].clone()
}

/// How a candidate did.
struct Judged {
    /// Cross-validated error.
    error: f64,
    /// Largest slope of the fitted transition, within the knots and one width beyond.
    gain: f64,
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

/// Cross-validated error and gain; `None` when some fold's complement does not determine the coefficients.
fn judge(panel: &Panel, only: Option<usize>, basis: &StateBasis, blocks: &[Block], values: &[f64]) -> Option<Judged> {
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
    let design: Vec<f64> =
        (0..columns).flat_map(|i| total.matrix()[i * width..i * width + columns].iter().copied()).collect();
    let factor = Gram::from_lower(columns, total.rows(), &design).factor().ok()?;
    let mut solution: Vec<f64> = (0..p)
        .flat_map(|j| (0..columns).map(move |i| (i, j)))
        .map(|(i, j)| total.matrix()[i * width + columns + j])
        .collect();
    solution.chunks_exact_mut(columns).for_each(|b| factor.solve_in_place(b));
    let mut gain = 0.0f64;
    for level in only.map_or(0..values.len(), |k| k..k + 1) {
        for action in 0..panel.action_names().len() {
            let coefficients = resolve(&solution, blocks, q, p, |block| block.factor(action, level, values[level]));
            gain = gain.max(largest_slope(basis, &coefficients));
        }
    }
    Some(Judged { error, gain })
}

/// Points along a coordinate at which slopes are taken: some twenty between two of eight knots.
const SLOPE_POINTS: usize = 400;

/// max over outputs of the sum over coordinates of the steepest slope: ‖∂μₛ/∂s‖∞ at its largest, because the coordinates' functions add up.
fn largest_slope(basis: &StateBasis, coefficients: &[f64]) -> f64 {
    let StateBasis::Spline(splines) = basis else { return 0.0 };
    let q = basis.count();
    let mut sums = vec![0.0; coefficients.len() / q];
    let mut start = 1;
    for spline in splines {
        let (low, high) = spline.boundary();
        let width = high - low;
        let step = 3.0 * width / SLOPE_POINTS as f64;
        let (mut before, mut after) = (vec![0.0; spline.count()], vec![0.0; spline.count()]);
        let mut steepest = vec![0.0f64; sums.len()];
        spline.fill(low - width, &mut before);
        for i in 1..=SLOPE_POINTS {
            spline.fill(low - width + i as f64 * step, &mut after);
            for (steepest, c) in steepest.iter_mut().zip(coefficients.chunks_exact(q)) {
                let rise: f64 = (0..spline.count()).map(|k| c[start + k] * (after[k] - before[k])).sum();
                *steepest = steepest.max((rise / step).abs());
            }
            std::mem::swap(&mut before, &mut after);
        }
        sums.iter_mut().zip(steepest).for_each(|(sum, s)| *sum += s);
        start += spline.count();
    }
    sums.into_iter().fold(0.0, f64::max)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steepest_slope_adds_up_over_coordinates() {
        // Two straight coordinates: slopes are coefficient over knot width, 3/2 and −5/4; a second output has 1/2 and 1/4.
        let splines = vec![NaturalSpline::new(vec![0.0, 2.0]).unwrap(), NaturalSpline::new(vec![1.0, 5.0]).unwrap()];
        let basis = StateBasis::Spline(splines);
        let slope = largest_slope(&basis, &[9.0, 3.0, -5.0, 7.0, 1.0, 1.0]);
        approx::assert_relative_eq!(slope, 2.75, max_relative = 1e-9);
    }

    #[test]
    fn residuals_from_products_are_those_of_the_rows() {
        // X = (1, x), y: rows (1, 0, 1), (1, 1, 3), (1, 2, 4); b = (1, 1) leaves 0, 1, 1.
        let mut gram = Gram::new(3);
        gram.add_rows(&[1.0, 0.0, 1.0, 1.0, 1.0, 3.0, 1.0, 2.0, 4.0]);
        assert_eq!(residual(gram.matrix(), 3, 2, &[1.0, 1.0]), 2.0);
    }
}
