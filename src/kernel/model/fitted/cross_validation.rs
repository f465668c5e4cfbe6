//! How smooth: decided by cross-validation over people.

use super::basis::StateBasis;
use super::design::Design;
use super::regression::resolve;
use super::spline::NaturalSpline;
use super::terms::Block;
use crate::kernel::data::Panel;
use crate::kernel::numeric::{Gram, GramFactor};

/// Knots of a spline, at quantiles of the states. The penalty decides how much of them is used; a dozen are enough for any function that
/// the noise of such studies lets one see.
const KNOTS: usize = 12;

/// Folds of people; person i of the panel is in fold i mod 5, so that sorted files do not put one kind of people into one fold.
const FOLDS: usize = 5;

/// At this penalty a spline is a straight line for all that data can tell.
const STRAIGHT: f64 = 1e3;

/// The penalties tried, stiffest first: a straight line, then two a decade from 10^½ to 10⁻⁷.
fn penalties() -> impl Iterator<Item = f64> {
    std::iter::once(STRAIGHT).chain((0..=15).map(|i| 10f64.powf(0.5 - 0.5 * f64::from(i))))
}

/// How one output is smoothed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Smoothing {
    /// λ in Σ (y − f)² + λ n ∫ f″².
    pub penalty: f64,
    /// Cross-validated sum of squares; +∞ where people left out leave the fit undetermined.
    pub error: f64,
    /// tr (XᵀX + λ n P)⁻¹ XᵀX, how many free parameters the fit amounts to.
    pub degrees: f64,
}

/// A spline basis of the states from which a group of people (everybody, or one level) moved on.
pub(super) fn spline_basis(panel: &Panel, only: Option<usize>) -> StateBasis {
    let p = panel.state_dim();
    let splines = (0..p).map(|j| {
        let people = panel.iter().filter(|person| only.is_none_or(|k| k == person.level as usize));
        let mut values: Vec<f64> =
            people.flat_map(|person| person.states.chunks_exact(p).take(person.actions.len()).map(|s| s[j])).collect();
        NaturalSpline::at_quantiles(&mut values, KNOTS)
    });
    StateBasis::Spline(splines.collect())
}

/// The penalty of each output (next states, then the reward) that predicts unseen people best.
///
/// The fit will be iterated, and a slope above 1 makes errors grow from step to step. Wiggles in small samples have such slopes, so
/// penalties that leave a state a gain above 1 are passed over, unless the straight line has one too.
///
/// # Equation
/// ```text
/// argmin over λ of  Σ_folds ‖y_f − X_f b̂₋f(λ)‖²,   b̂(λ) = (XᵀX + λ n P)⁻¹ Xᵀy,   P = LᵀL
/// ```
/// All of it comes from one Gram matrix of [X Y] a fold: fits without a fold are differences of sums.
pub(super) fn choose(design: &Design) -> Vec<Smoothing> {
    let p = design.panel.state_dim();
    let sums = Sums::of(design);
    // Only splines bend.
    let grid = if matches!(design.basis, StateBasis::Spline(_)) { penalties().collect() } else { vec![0.0] };
    let judged: Vec<Vec<Judged>> = grid.iter().filter_map(|&λ| sums.judge(design, λ)).collect();
    let best = |output: usize| {
        // When not even a straight line is determined without some fold, the fit itself will report its rank.
        let Some(line) = judged.first().map(|stiffest| stiffest[output]) else {
            return Smoothing { penalty: grid[0], error: f64::INFINITY, degrees: sums.columns as f64 };
        };
        let limit = line.gain.max(1.0);
        let candidates = judged.iter().map(|outputs| outputs[output]);
        let stable = candidates.filter(|judged| output == p || judged.gain <= limit);
        stable
            .fold(line, |best, judged| if judged.smoothing.error < best.smoothing.error { judged } else { best })
            .smoothing
    };
    (0..=p).map(best).collect()
}

/// Gram matrices of [X Y] and of the roughness.
struct Sums {
    columns: usize,
    width: usize,
    folds: Vec<Gram>,
    total: Gram,
    /// P = LᵀL.
    roughness: Vec<f64>,
}

/// How a penalty did for one output.
#[derive(Clone, Copy)]
struct Judged {
    smoothing: Smoothing,
    /// Largest slope of the fitted function, within the knots and one width beyond.
    gain: f64,
}

impl Sums {
    fn of(design: &Design) -> Self {
        let p = design.panel.state_dim();
        let columns = design.columns();
        let width = columns + p + 1;
        let mut folds: Vec<Gram> = (0..FOLDS).map(|_| Gram::new(width)).collect();
        let (mut functions, mut rows) = (vec![0.0; design.basis.count()], Vec::new());
        for (i, person) in design.people() {
            rows.clear();
            let steps = person.states.chunks_exact(p).zip(person.states.chunks_exact(p).skip(1));
            for ((state, next), (&action, &reward)) in steps.zip(person.actions.iter().zip(person.rewards)) {
                design.push_row(person.level as usize, state, action, &mut functions, &mut rows);
                rows.extend_from_slice(next);
                rows.push(reward);
            }
            folds[i % FOLDS].add_rows(&rows);
        }
        let mut total = Gram::new(width);
        folds.iter().for_each(|fold| total.merge(fold));
        let mut bends = Gram::new(columns);
        bends.add_rows(&design.roughness());
        Self { columns, width, folds, total, roughness: bends.matrix().to_vec() }
    }

    /// What a penalty does for each output; `None` when some fold's complement does not determine the coefficients.
    fn judge(&self, design: &Design, penalty: f64) -> Option<Vec<Judged>> {
        let outputs = self.columns..self.width;
        let mut errors = vec![0.0; outputs.len()];
        for fold in self.folds.iter().filter(|fold| fold.rows() > 0) {
            let without: Vec<f64> = self.total.matrix().iter().zip(fold.matrix()).map(|(a, b)| a - b).collect();
            let factor = self.penalised(&without, self.total.rows() - fold.rows(), penalty).factor().ok()?;
            for (error, at) in errors.iter_mut().zip(outputs.clone()) {
                let b = self.solve(&factor, &without, at);
                *error += residual(fold.matrix(), self.width, at, &b);
            }
        }
        let all = self.total.matrix();
        let factor = self.penalised(all, self.total.rows(), penalty).factor().ok()?;
        let degrees = (0..self.columns).map(|j| self.solve(&factor, all, j)[j]).sum();
        let gain = |at: usize| steepest(design, &self.solve(&factor, all, at));
        let judged = |(error, at)| Judged { smoothing: Smoothing { penalty, error, degrees }, gain: gain(at) };
        Some(errors.into_iter().zip(outputs).map(judged).collect())
    }

    /// XᵀX + λ n P, from the Gram matrix of [X Y] over n rows.
    fn penalised(&self, gram: &[f64], rows: usize, penalty: f64) -> Gram {
        let weight = penalty * rows as f64;
        let bends = self.roughness.chunks_exact(self.columns);
        let matrix: Vec<f64> = gram
            .chunks_exact(self.width)
            .zip(bends)
            .flat_map(|(row, bend)| row.iter().zip(bend).map(|(x, p)| x + weight * p))
            .collect();
        Gram::from_lower(self.columns, rows, &matrix)
    }

    /// The coefficients that a factor of the penalised matrix gives for one column of [X Y].
    fn solve(&self, factor: &GramFactor, gram: &[f64], at: usize) -> Vec<f64> {
        let mut b: Vec<f64> = (0..self.columns).map(|i| gram[i * self.width + at]).collect();
        factor.solve_in_place(&mut b);
        b
    }
}

/// The steepest slope of one output over levels and actions.
fn steepest(design: &Design, solution: &[f64]) -> f64 {
    let mut gain = 0.0f64;
    for level in design.levels() {
        for action in 0..design.panel.action_names().len() {
            let factor = |block: &Block| block.factor(action, level, design.values[level]);
            let coefficients = resolve(solution, design.blocks, design.basis.count(), 1, factor);
            gain = gain.max(largest_slope(design.basis, &coefficients));
        }
    }
    gain
}

/// Points along a coordinate at which slopes are taken: a dozen between two knots.
const SLOPE_POINTS: usize = 400;

/// Σ over coordinates of the steepest slope of one output: its row of ‖∂μₛ/∂s‖∞ at its largest, because the coordinates' functions add up.
fn largest_slope(basis: &StateBasis, coefficients: &[f64]) -> f64 {
    let StateBasis::Spline(splines) = basis else { return 0.0 };
    let mut sum = 0.0;
    let mut start = 1;
    for spline in splines {
        let c = &coefficients[start..start + spline.count()];
        let (low, high) = spline.boundary();
        let width = high - low;
        let step = 3.0 * width / SLOPE_POINTS as f64;
        let mut functions = vec![0.0; c.len()];
        let mut f = |i: usize| -> f64 {
            spline.fill(low - width + i as f64 * step, &mut functions);
            c.iter().zip(&functions).map(|(c, f)| c * f).sum()
        };
        let (mut before, mut steepest) = (f(0), 0.0f64);
        for i in 1..=SLOPE_POINTS {
            let after = f(i);
            steepest = steepest.max(((after - before) / step).abs());
            before = after;
        }
        sum += steepest;
        start += spline.count();
    }
    sum
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
        // Two straight coordinates: slopes are coefficient over knot width, 3/2 and −5/4.
        let splines = vec![NaturalSpline::new(vec![0.0, 2.0]).unwrap(), NaturalSpline::new(vec![1.0, 5.0]).unwrap()];
        let slope = largest_slope(&StateBasis::Spline(splines), &[9.0, 3.0, -5.0]);
        approx::assert_relative_eq!(slope, 2.75, max_relative = 1e-9);
    }

    #[test]
    fn the_steepest_slope_is_found_between_knots_and_beyond() {
        // The bent function of knots 2, 4, 8 has slope 3.75/6 at the left end and −3/6 at the right; with the line added
        // against it, 3 · (1/6) more at both ends: the right end is the steeper then.
        let basis = StateBasis::Spline(vec![NaturalSpline::new(vec![2.0, 4.0, 8.0]).unwrap()]);
        approx::assert_relative_eq!(largest_slope(&basis, &[0.0, 0.0, 1.0]), 0.625, max_relative = 1e-6);
        approx::assert_relative_eq!(largest_slope(&basis, &[0.0, -3.0, 1.0]), 1.0, max_relative = 1e-6);
    }

    #[test]
    fn residuals_from_products_are_those_of_the_rows() {
        // X = (1, x), y: rows (1, 0, 1), (1, 1, 3), (1, 2, 4); b = (1, 1) leaves 0, 1, 1.
        let mut gram = Gram::new(3);
        gram.add_rows(&[1.0, 0.0, 1.0, 1.0, 1.0, 3.0, 1.0, 2.0, 4.0]);
        assert_eq!(residual(gram.matrix(), 3, 2, &[1.0, 1.0]), 2.0);
    }

    #[test]
    fn penalties_fall_from_a_straight_line_by_half_decades() {
        let all: Vec<f64> = penalties().collect();
        assert_eq!((all.len(), all[0]), (17, 1e3));
        approx::assert_relative_eq!(all[1], 10f64.sqrt(), max_relative = 1e-15);
        approx::assert_relative_eq!(all[16], 1e-7, max_relative = 1e-12);
        assert!(all.windows(2).all(|w| w[1] < w[0]));
    }

    #[test]
    fn slopes_are_taken_around_the_knots_wherever_they_lie() {
        // Knots 2, 4, 8 in tenths and moved below zero: the slopes above, ten times.
        let basis = StateBasis::Spline(vec![NaturalSpline::new(vec![-8.0, -7.8, -7.4]).unwrap()]);
        approx::assert_relative_eq!(largest_slope(&basis, &[0.0, -3.0, 1.0]), 10.0, max_relative = 1e-6);
    }

    #[test]
    fn the_error_of_a_penalty_is_that_of_dense_fits_on_people_who_are_not_in_the_fold() {
        use super::super::terms::LevelFactor;
        use crate::kernel::data::{Labels, PanelBuilder, Person};
        use crate::kernel::numeric::least_squares;
        let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(1), 1).unwrap();
        for i in 0..13 {
            let x = f64::from(i);
            let states = [2.0 * (1.7 * x).sin(), 1.5 * (2.9 * x).cos(), (0.8 * x).sin()];
            let (id, rewards) = (i.to_string(), [states[0].cos(), states[1].cos()]);
            builder.push(Person { id: &id, level: 0, states: &states, actions: &[0, 0], rewards: &rewards }).unwrap();
        }
        let panel = builder.finish();
        let basis = StateBasis::Spline(vec![NaturalSpline::new(vec![-1.9, -0.5, 0.4, 1.1, 2.0]).unwrap()]);
        let blocks = [Block { action: None, level: LevelFactor::One, functions: 5 }];
        let design = Design { panel: &panel, basis: &basis, blocks: &blocks, values: &[0.0], only: None };
        let row = |s: f64| {
            let mut functions = vec![0.0; 5];
            basis.fill(&[s], &mut functions);
            functions
        };
        let penalty = 0.01;
        let judged = Sums::of(&design).judge(&design, penalty).unwrap();
        for (output, judged) in judged.iter().enumerate() {
            // Everybody's decisions: the fold, the functions of the state, and what followed.
            let decisions = || {
                panel.iter().enumerate().flat_map(move |(i, person)| {
                    (0..2).map(move |t| {
                        let y = if output == 0 { person.states[t + 1] } else { person.rewards[t] };
                        (i % 5, row(person.states[t]), y)
                    })
                })
            };
            let mut expected = 0.0;
            for fold in 0..5 {
                let (mut x, mut y) = (Vec::new(), Vec::new());
                for (_, functions, target) in decisions().filter(|d| d.0 != fold) {
                    x.extend(functions);
                    y.push(target);
                }
                let weight = (penalty * y.len() as f64).sqrt();
                x.extend(design.roughness().iter().map(|l| weight * l));
                y.resize(x.len() / 5, 0.0);
                let b = least_squares(&x, &y, 5, 1).unwrap().coefficients;
                let miss = |functions: &[f64], y: f64| y - functions.iter().zip(&b).map(|(f, b)| f * b).sum::<f64>();
                expected += decisions().filter(|d| d.0 == fold).map(|d| miss(&d.1, d.2).powi(2)).sum::<f64>();
            }
            // Normal equations lose the square of a condition number below a thousand.
            approx::assert_relative_eq!(judged.smoothing.error, expected, max_relative = 1e-9);
        }
    }
}
