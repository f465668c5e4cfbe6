//! How smooth: decided by cross-validation over people.

use super::basis::StateBasis;
use super::bends::Bends;
use super::design::Design;
use super::spline::NaturalSpline;
use crate::kernel::numeric::Gram;
use crate::kernel::numeric::ridge_path::{RidgePath, squares_of_gram, squares_of_rows};
use crate::kernel::people::Person;

/// Knots of a spline, at quantiles of the states. The penalty decides how much of them is used; a dozen are enough for any function that
/// the noise of such studies lets one see.
const KNOTS: usize = 12;

/// Folds of people.
const FOLDS: usize = 5;

/// Gives people their folds: i mod 5, so that sorted files do not put one kind of people into one fold.
///
/// Files in which levels take turns can: of 40 levels in turn, the people of one are 40 apart and would all be in one fold, without which
/// nothing is known of their level. Where some level would lie in a single fold, people are counted within their level instead. So people are met
/// first: how many each level has, and in which folds their places would put them.
pub(super) struct FoldCounts {
    place: usize,
    met: Vec<(usize, [bool; FOLDS])>,
}

impl FoldCounts {
    pub fn new(levels: usize) -> Self {
        Self { place: 0, met: vec![(0, [false; FOLDS]); levels] }
    }

    /// Meets the next person.
    pub fn meet(&mut self, level: u32) {
        let (count, folds) = &mut self.met[level as usize];
        *count += 1;
        folds[self.place % FOLDS] = true;
        self.place += 1;
    }

    /// What gives each person their fold, once all people were met.
    pub fn counter(&self) -> FoldCounter {
        let is_bunched =
            |(count, folds): &(usize, [bool; FOLDS])| *count > 1 && folds.iter().filter(|f| **f).count() == 1;
        let within_levels = self.met.iter().any(is_bunched);
        FoldCounter { within_levels, place: 0, met: vec![0; self.met.len()] }
    }
}

/// The fold of one person after another.
#[derive(Clone)]
pub(super) struct FoldCounter {
    within_levels: bool,
    place: usize,
    met: Vec<usize>,
}

impl FoldCounter {
    pub fn next(&mut self, level: u32) -> usize {
        let z = level as usize;
        self.met[z] += 1;
        self.place += 1;
        if self.within_levels { (z + self.met[z]) % FOLDS } else { (self.place - 1) % FOLDS }
    }
}

/// Rows multiplied at a time.
const ROWS: usize = 256;

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

/// The ranks at which the splines of `n` states have their knots.
pub(super) fn knot_ranks(n: usize) -> Vec<usize> {
    NaturalSpline::ranks(n, KNOTS)
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
/// One reduction a fold serves all penalties and outputs: with n rows and d columns the cost is O(n d² + min(n, d)³), and growing the
/// number of state columns multiplies d.
///
/// There are sums of folds where the columns can be told apart into straight ones and bends.
pub(super) fn choose(design: &Design, sums: Option<(Folds, Bends)>) -> Vec<Smoothing> {
    let p = design.state_dim;
    // Only splines bend.
    let grid = if matches!(design.basis, StateBasis::Spline(_)) { penalties().collect() } else { vec![0.0] };
    // When not even a straight line is determined without some fold, the fit itself will report its rank.
    let undetermined = Smoothing { penalty: grid[0], error: f64::INFINITY, degrees: design.columns() as f64 };
    let Some(judged) = sums.and_then(|(folds, bends)| Judged::new(design, folds, bends, &grid)) else {
        return vec![undetermined; p + 1];
    };
    let slopes = Slopes::of(&design.basis);
    let best = |output: usize| {
        let error = |&at: &usize| judged.errors[output * grid.len() + at];
        let gain = |at: usize| steepest(design, &slopes, &judged.coefficients(output, grid[at]));
        let mut by_error: Vec<usize> = (0..grid.len()).collect();
        // The stiffer of equals comes first.
        by_error.sort_by(|a, b| error(a).total_cmp(&error(b)));
        let limit = if output == p || by_error[0] == 0 { f64::INFINITY } else { gain(0).max(1.0) };
        let at = by_error.into_iter().find(|&at| at == 0 || output == p || gain(at) <= limit).unwrap_or(0);
        Smoothing { penalty: grid[at], error: error(&at), degrees: judged.degrees(grid[at]) }
    };
    (0..=p).map(best).collect()
}

/// How each penalty does for each output.
struct Judged {
    bends: Bends,
    rows: usize,
    everybody: RidgePath,
    /// Cross-validated sums of squares, penalty by penalty for each output.
    errors: Vec<f64>,
}

impl Judged {
    /// `None` when some fold's complement does not determine a straight line.
    fn new(design: &Design, folds: Folds, bends: Bends, grid: &[f64]) -> Option<Self> {
        let outputs = design.state_dim + 1;
        let rows: usize = folds.rows.iter().sum();
        let everybody = folds.path_without(&bends, None)?;
        let mut errors = vec![0.0; outputs * grid.len()];
        for fold in (0..FOLDS).filter(|&fold| folds.rows[fold] > 0) {
            let left = (rows - folds.rows[fold]) as f64;
            let wanted: Vec<(usize, f64)> =
                (0..outputs).flat_map(|output| grid.iter().map(move |λ| (output, λ * left))).collect();
            let found = folds.path_without(&bends, Some(fold))?.solutions(&wanted);
            let (own, width) = (&folds.sums[fold], folds.width);
            let squares = if folds.are_rows {
                squares_of_rows(own, width, outputs, &wanted, &found)
            } else {
                squares_of_gram(own, width, outputs, &wanted, &found)
            };
            errors.iter_mut().zip(squares).for_each(|(sum, error)| *sum += error);
        }
        Some(Self { bends, rows, everybody, errors })
    }

    /// The coefficients of one output, fitted to all people.
    fn coefficients(&self, output: usize, penalty: f64) -> Vec<f64> {
        self.bends.to_design(&self.everybody.solutions(&[(output, penalty * self.rows as f64)]))
    }

    fn degrees(&self, penalty: f64) -> f64 {
        self.everybody.degrees(penalty * self.rows as f64)
    }
}

/// [X₀ X₁ Y] of each fold: its Gram matrix, or where rows are few the rows themselves.
pub(super) struct Folds {
    width: usize,
    rows: Vec<usize>,
    are_rows: bool,
    sums: Vec<Vec<f64>>,
}

/// The decisions of a person whose next state is known.
pub(super) fn steps(person: &Person<'_>, p: usize) -> usize {
    (person.states.len() / p).saturating_sub(1).min(person.actions.len())
}

/// [`Folds`] while people are added to them.
pub(super) struct FoldSums {
    width: usize,
    rows: Vec<usize>,
    are_rows: bool,
    kept: Vec<Vec<f64>>,
    grams: Vec<Gram>,
    functions: Vec<f64>,
    row: Vec<f64>,
}

impl FoldSums {
    /// For as many `rows` as there will be in all.
    pub fn new(design: &Design, bends: &Bends, rows: usize) -> Self {
        let width = design.columns() + design.state_dim + 1;
        let are_rows = rows < bends.penalised();
        Self {
            width,
            rows: vec![0; FOLDS],
            are_rows,
            kept: vec![vec![]; FOLDS],
            grams: if are_rows { vec![] } else { (0..FOLDS).map(|_| Gram::new(width)).collect() },
            functions: vec![0.0; design.basis.count()],
            row: Vec::new(),
        }
    }

    /// Adds a person to a fold.
    pub fn add(&mut self, design: &Design, bends: &Bends, fold: usize, person: &Person<'_>) {
        let p = design.state_dim;
        self.rows[fold] += steps(person, p);
        for t in 0..steps(person, p) {
            let (state, next) = (&person.states[t * p..(t + 1) * p], &person.states[(t + 1) * p..(t + 2) * p]);
            let out = if self.are_rows { &mut self.row } else { &mut self.kept[fold] };
            design.push_row(person.level as usize, state, person.actions[t], &mut self.functions, out);
            out.extend_from_slice(next);
            out.push(person.rewards[t]);
            if self.are_rows {
                bends.push(&self.row, &mut self.kept[fold]);
                self.row.clear();
            }
        }
        if !self.are_rows && self.kept[fold].len() >= ROWS * self.width {
            self.grams[fold].add_rows(&self.kept[fold]);
            self.kept[fold].clear();
        }
    }

    /// The sums of all people who were added.
    pub fn finish(mut self, bends: &Bends) -> Folds {
        for (gram, rest) in self.grams.iter_mut().zip(&self.kept) {
            gram.add_rows(rest);
        }
        let Self { width, rows, are_rows, kept, grams, .. } = self;
        let sums = if are_rows { kept } else { grams.iter().map(|gram| bends.of_gram(gram.matrix(), width)).collect() };
        Folds { width, rows, are_rows, sums }
    }
}

impl Folds {
    /// The solutions for all people, or for all but a fold.
    fn path_without(&self, bends: &Bends, fold: Option<usize>) -> Option<RidgePath> {
        let outputs = self.width - bends.free() - bends.penalised();
        let others = self.sums.iter().enumerate().filter(|(i, _)| Some(*i) != fold).map(|(_, sums)| sums);
        if self.are_rows {
            let rows: Vec<f64> = others.flatten().copied().collect();
            return RidgePath::of_rows(&rows, self.width, bends.free(), outputs);
        }
        let mut sum = vec![0.0; self.width * self.width];
        others.for_each(|gram| sum.iter_mut().zip(gram).for_each(|(sum, x)| *sum += x));
        RidgePath::of_gram(&sum, self.width, bends.free(), outputs)
    }
}

/// The steepest slope of one output over levels and actions.
fn steepest(design: &Design, slopes: &Slopes, solution: &[f64]) -> f64 {
    let mut gain = 0.0f64;
    for level in design.levels() {
        for action in 0..design.actions {
            gain = gain.max(slopes.largest(&design.resolve(solution, level, action)));
        }
    }
    gain
}

/// Points along a coordinate at which slopes are taken: a dozen between two knots.
const SLOPE_POINTS: usize = 400;

/// The slopes of every function of a spline basis, from one width before the knots to one beyond.
struct Slopes {
    /// For each spline, its number of functions and their slopes point by point.
    splines: Vec<(usize, Vec<f64>)>,
}

impl Slopes {
    fn of(basis: &StateBasis) -> Self {
        let StateBasis::Spline(splines) = basis else { return Self { splines: vec![] } };
        let slopes = |spline: &NaturalSpline| {
            let (low, high) = spline.boundary();
            let width = high - low;
            let step = 3.0 * width / SLOPE_POINTS as f64;
            let count = spline.count();
            let mut values = vec![0.0; (SLOPE_POINTS + 1) * count];
            for (i, row) in values.chunks_exact_mut(count).enumerate() {
                spline.fill(low - width + i as f64 * step, row);
            }
            let slopes = values.iter().zip(&values[count..]).map(|(before, after)| (after - before) / step);
            (count, slopes.collect())
        };
        Self { splines: splines.iter().map(slopes).collect() }
    }

    /// Σ over coordinates of the steepest slope of one output: its row of ‖∂μₛ/∂s‖∞ at its largest, because the coordinates' functions
    /// add up.
    fn largest(&self, coefficients: &[f64]) -> f64 {
        let mut rest = &coefficients[1..];
        let mut sum = 0.0;
        for (count, slopes) in &self.splines {
            let (own, others) = rest.split_at(*count);
            rest = others;
            let slope = |row: &[f64]| row.iter().zip(own).map(|(slope, c)| slope * c).sum::<f64>().abs();
            sum += slopes.chunks_exact(*count).map(slope).fold(0.0f64, f64::max);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steepest_slope_adds_up_over_coordinates() {
        // Two straight coordinates: slopes are coefficient over knot width, 3/2 and −5/4.
        let splines = vec![NaturalSpline::new(vec![0.0, 2.0]).unwrap(), NaturalSpline::new(vec![1.0, 5.0]).unwrap()];
        let slope = Slopes::of(&StateBasis::Spline(splines)).largest(&[9.0, 3.0, -5.0]);
        approx::assert_relative_eq!(slope, 2.75, max_relative = 1e-9);
    }

    #[test]
    fn the_steepest_slope_is_found_between_knots_and_beyond() {
        // The bent function of knots 2, 4, 8 has slope 3.75/6 at the left end and −3/6 at the right; with the line added
        // against it, 3 · (1/6) more at both ends: the right end is the steeper then.
        let basis = StateBasis::Spline(vec![NaturalSpline::new(vec![2.0, 4.0, 8.0]).unwrap()]);
        approx::assert_relative_eq!(Slopes::of(&basis).largest(&[0.0, 0.0, 1.0]), 0.625, max_relative = 1e-6);
        approx::assert_relative_eq!(Slopes::of(&basis).largest(&[0.0, -3.0, 1.0]), 1.0, max_relative = 1e-6);
    }

    use super::super::census::Census;
    use crate::kernel::people::{Labels, Panel, PanelBuilder};

    fn folds_of(panel: &Panel) -> Vec<usize> {
        let mut counter = Census::of(panel).unwrap().folds.counter();
        panel.level_codes().iter().map(|&z| counter.next(z)).collect()
    }

    #[test]
    fn levels_that_take_turns_are_spread_over_the_folds() {
        let folds = |levels: u32, people: u32| {
            let mut builder = PanelBuilder::new(Labels::numbered(levels as usize), Labels::numbered(1), 1).unwrap();
            for i in 0..people {
                let (id, level) = (i.to_string(), i % levels);
                builder.push(Person { id: &id, level, states: &[0.1, 0.2], actions: &[0], rewards: &[1.0] }).unwrap();
            }
            folds_of(&builder.finish())
        };
        assert_eq!(folds(3, 7), [0, 1, 2, 3, 4, 0, 1], "by place where that serves");
        let found = folds(10, 50);
        for level in 0..10 {
            let mut own: Vec<usize> = (0..5).map(|turn| found[10 * turn + level]).collect();
            own.sort_unstable();
            assert_eq!(own, [0, 1, 2, 3, 4], "level {level}");
        }
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
        approx::assert_relative_eq!(Slopes::of(&basis).largest(&[0.0, -3.0, 1.0]), 10.0, max_relative = 1e-6);
    }

    #[test]
    fn the_error_of_a_penalty_is_that_of_dense_fits_on_people_who_are_not_in_the_fold() {
        use super::super::terms::{LevelFactor, Term};
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
        let terms = vec![Term { action: None, level: LevelFactor::One, functions: 5 }];
        let design = Design { basis: basis.clone(), terms, values: vec![0.0], only: None, actions: 1, state_dim: 1 };
        let row = |s: f64| {
            let mut functions = vec![0.0; 5];
            basis.fill(&[s], &mut functions);
            functions
        };
        let penalty = 0.01;
        let bends = Bends::new(&design).unwrap();
        let mut sums = FoldSums::new(&design, &bends, panel.transitions());
        let folds = folds_of(&panel);
        design.people(&panel).for_each(|(i, person)| sums.add(&design, &bends, folds[i], &person));
        let judged = Judged::new(&design, sums.finish(&bends), bends, &[penalty]).unwrap();
        for (output, error) in judged.errors.iter().enumerate() {
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
            approx::assert_relative_eq!(*error, expected, max_relative = 1e-9);
        }
    }
}
