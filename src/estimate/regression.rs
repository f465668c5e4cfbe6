//! The regressions of a mechanism: sums over weighted rows, and the coefficients that they determine.
//!
//! A fit, a fit with weights and a fit to people on disk are the same sums: `rows` says where rows come from and what each counts for.

use super::FitError;
use super::census::Census;
use super::groups::Group;
use super::mean_table::{Coefficients, RegressionReport};
use super::products::Products;
use super::rows::{RowSource, WeightedRows, Weights};
use crate::kernel::numeric::{LeastSquaresRows, Stream, fill_standard_normal};
use crate::kernel::people::Shape;
use rayon::prelude::*;
use std::ops::Range;

/// The regressions of next states and rewards on the people of each group.
#[derive(Clone, Copy)]
pub(super) struct Regressions<'a> {
    pub rows: RowSource<'a>,
    pub census: &'a Census,
}

/// How much care is taken.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Care {
    /// Least squares without a penalty by QR, and residuals from the rows themselves.
    Digits,
    /// Products of columns wherever their condition allows it, residuals among them: for one of hundreds of refits.
    Time,
}

impl Regressions<'_> {
    /// Fits next states and rewards of every group. With `bends` the penalised part of each solution is drawn: see
    /// [`Refitter::draw`](super::Refitter::draw).
    ///
    /// # Errors
    /// [`FitError::EmptyLevel`], and those of sums and of least squares.
    pub fn fit(
        &self,
        weights: &Weights,
        care: Care,
        bends: Option<Stream>,
    ) -> Result<(Coefficients, Vec<RegressionReport>), FitError> {
        let shape = self.rows.people.shape();
        let mut coefficients = Coefficients::zero(self.rows.groups.iter().map(|group| &group.design));
        let mut reports = Vec::new();
        let all = 0..shape.state_dim + 1;
        for system in self.solve(std::slice::from_ref(&all), weights, care, bends)? {
            system.write(&mut coefficients);
            reports.push(system.report(care));
        }
        Ok((coefficients, reports))
    }

    /// Fits some outputs again with the precisions of their noise, on the same functions and as smoothly as before.
    ///
    /// # Equation
    /// ```text
    /// min Σ w (y − f)² / σ² + λ (Σ w / σ²) ∫ f″²
    /// ```
    /// A common factor of weights changes nothing.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn weigh_again(
        &self,
        coefficients: &mut Coefficients,
        weights: &Weights,
        outputs: &[usize],
        care: Care,
        bends: Option<Stream>,
    ) -> Result<(), FitError> {
        let outputs: Vec<Range<usize>> = outputs.iter().map(|&output| output..output + 1).collect();
        let systems = self.solve(&outputs, weights, care, bends)?;
        systems.iter().for_each(|system| system.write(coefficients));
        Ok(())
    }

    /// Every group's solution of every range of outputs.
    fn solve(
        &self,
        outputs: &[Range<usize>],
        weights: &Weights,
        care: Care,
        bends: Option<Stream>,
    ) -> Result<Vec<System<'_>>, FitError> {
        let mut systems = Vec::new();
        for (at, group) in self.rows.groups.iter().enumerate() {
            let only = group.design.only;
            let counts = Counts { with_next: self.census.transitions(only), all: self.census.decisions(only) };
            if counts.all == 0 {
                return Err(FitError::EmptyLevel { level: name_of(self.rows.people.shape(), only) });
            }
            let bends = bends.map(|stream| stream.named("bends").index(at as u64));
            systems.extend(outputs.iter().map(|own| System::new(at, group, own.clone(), counts, care, bends)));
        }
        self.each(&self.rows, weights, &mut systems, |system, rows| system.add(rows))?;
        let solved = systems.par_iter_mut().map(System::solve);
        if !solved.collect::<Result<Vec<bool>, FitError>>()?.into_iter().all(|is_solved| is_solved) {
            // Straight functions that depend on each other, or nearly do: rows are folded instead of multiplied.
            self.each(&self.rows.of_designs(), weights, &mut systems, |system, rows| match system.found {
                Some(_) => Ok(()),
                None => system.add(rows),
            })?;
            systems.par_iter_mut().filter(|system| system.found.is_none()).try_for_each(|system| {
                system.solve()?;
                Ok::<(), FitError>(())
            })?;
        }
        if care == Care::Digits && weights.precise.is_none() {
            self.each(&self.rows.of_designs(), weights, &mut systems, |system, rows| {
                system.look(rows);
                Ok(())
            })?;
        }
        Ok(systems)
    }

    /// Passes over rows once, with what each unsolved system, or each that was just solved, does with its own.
    fn each(
        &self,
        rows: &RowSource,
        weights: &Weights,
        systems: &mut [System],
        work: impl Fn(&mut System, &WeightedRows) -> Result<(), FitError> + Sync,
    ) -> Result<(), FitError> {
        let all_are_solved = systems.iter().all(|system| system.found.is_some());
        let mut is_asked_for = vec![false; rows.groups.len()];
        for system in systems.iter().filter(|system| all_are_solved || system.found.is_none()) {
            is_asked_for[system.at] = true;
        }
        rows.each(weights, &is_asked_for, |rows| systems.par_iter_mut().try_for_each(|system| work(system, rows)))
    }
}

/// The name of a group, for errors.
fn name_of(shape: &Shape, only: Option<usize>) -> String {
    only.map_or_else(|| "(all)".into(), |level| shape.levels.name(level).to_string())
}

/// Decisions of a group.
#[derive(Clone, Copy)]
struct Counts {
    with_next: usize,
    all: usize,
}

/// Some outputs of one group, which share their weights. Next states are fitted where they are known, rewards on every decision.
struct System<'a> {
    /// The place of its group.
    at: usize,
    group: &'a Group,
    outputs: Range<usize>,
    counts: Counts,
    care: Care,
    bends: Option<Stream>,
    sums: SystemSums,
    /// Σ w over decisions whose next state is known, and over the others.
    weight: f64,
    rest_weight: f64,
    /// Σ y, and later Σ (y − f̂)² and Σ (y − ȳ)², of each output.
    targets: Vec<f64>,
    missed: Vec<f64>,
    around_mean: Vec<f64>,
    found: Option<Vec<Solution>>,
}

/// What was found for one output.
struct Solution {
    coefficients: Vec<f64>,
    rank: usize,
    /// ‖√w (y − Xb)‖².
    squares: f64,
    /// Whether any row has weight.
    is_known: bool,
}

enum SystemSums {
    /// In the coordinates of bends: rows whose next state is known with all outputs, and the others with the reward.
    Products { known: Products, rest: Option<Products> },
    /// In columns of the design.
    Triangles(Vec<Triangle>),
}

/// Rows folded into a triangle, for outputs that share their rows and have no penalty, or for one that has.
struct Triangle {
    outputs: Range<usize>,
    /// Whether there is one more output, which is 0 but for what the penalty is drawn towards.
    is_drawn: bool,
    rows: LeastSquaresRows,
    design: Vec<f64>,
    targets: Vec<f64>,
}

/// Rows folded at a time.
const FOLDED: usize = 4096;

impl<'a> System<'a> {
    fn new(
        at: usize,
        group: &'a Group,
        outputs: Range<usize>,
        counts: Counts,
        care: Care,
        bends: Option<Stream>,
    ) -> Self {
        let zeros = vec![0.0; outputs.len()];
        let mut system = Self {
            at,
            group,
            counts,
            care,
            bends,
            sums: SystemSums::Triangles(vec![]),
            weight: 0.0,
            rest_weight: 0.0,
            targets: zeros.clone(),
            missed: zeros.clone(),
            around_mean: zeros,
            found: None,
            outputs,
        };
        let is_penalised = system.outputs.clone().any(|output| system.penalty(output) > 0.0);
        system.sums = match &group.bends {
            Some(bends) if is_penalised || care == Care::Time => {
                let columns = group.design.columns();
                let are_few = counts.with_next < bends.penalised();
                let rest = system.has_rest().then(|| Products::new(columns + 1, are_few));
                SystemSums::Products { known: Products::new(columns + system.outputs.len(), are_few), rest }
            }
            _ => system.triangles(),
        };
        system
    }

    fn penalty(&self, output: usize) -> f64 {
        self.group.smoothing[output].penalty
    }

    fn reward(&self) -> usize {
        self.group.design.state_dim
    }

    /// Whether there are decisions that only the reward is fitted on.
    fn has_rest(&self) -> bool {
        self.outputs.end > self.reward() && self.counts.all > self.counts.with_next
    }

    fn triangles(&self) -> SystemSums {
        let (columns, p) = (self.group.design.columns(), self.reward());
        let is_plain = self.outputs.clone().all(|output| self.penalty(output) == 0.0);
        let ranges: Vec<Range<usize>> = match is_plain {
            false => self.outputs.clone().map(|output| output..output + 1).collect(),
            true if self.has_rest() => vec![self.outputs.start..p, p..p + 1],
            true => vec![self.outputs.clone()],
        };
        let triangle = |outputs: Range<usize>| {
            let is_drawn = self.bends.is_some() && !is_plain;
            let rows = LeastSquaresRows::new(columns, outputs.len() + usize::from(is_drawn));
            Triangle { outputs, is_drawn, rows, design: vec![], targets: vec![] }
        };
        SystemSums::Triangles(ranges.into_iter().filter(|outputs| !outputs.is_empty()).map(triangle).collect())
    }

    /// Adds a block's rows.
    fn add(&mut self, rows: &WeightedRows) -> Result<(), FitError> {
        let (columns, p, first) = (self.group.design.columns(), self.reward(), self.outputs.start);
        let own = &rows.groups[self.at];
        let turn = self.group.bends.as_ref().filter(|_| !own.are_turned);
        let each = own.decisions.iter().zip(own.regressors.chunks_exact(columns)).zip(own.targets.chunks_exact(p + 1));
        for ((decision, row), targets) in each {
            let weight = rows.weight(*decision, first);
            if weight == 0.0 || !(decision.has_next || self.outputs.end > p) {
                continue;
            }
            if decision.has_next {
                self.weight += weight;
                self.targets.iter_mut().zip(&targets[self.outputs.clone()]).for_each(|(sum, y)| *sum += y);
            } else {
                self.rest_weight += weight;
                self.targets[p - first] += targets[p];
            }
            match &mut self.sums {
                SystemSums::Products { known, .. } if decision.has_next => {
                    known.add(row, turn, &targets[self.outputs.clone()], weight);
                }
                SystemSums::Products { rest, .. } => {
                    rest.iter_mut().for_each(|rest| rest.add(row, turn, &targets[p..], weight));
                }
                SystemSums::Triangles(triangles) => {
                    let shown = |triangle: &&mut Triangle| decision.has_next || triangle.outputs.start == p;
                    for triangle in triangles.iter_mut().filter(shown) {
                        triangle.add(row, &targets[triangle.outputs.clone()], weight)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether the sums determine the solution; if they do not, rows are to be added once more.
    fn solve(&mut self) -> Result<bool, FitError> {
        let again = self.triangles();
        self.found = match std::mem::replace(&mut self.sums, again) {
            SystemSums::Products { known, rest } => self.by_products(known, rest),
            SystemSums::Triangles(triangles) => Some(self.by_triangles(triangles)?),
        };
        if self.found.is_none() {
            (self.weight, self.rest_weight) = (0.0, 0.0);
            self.targets.fill(0.0);
        }
        Ok(self.found.is_some())
    }

    fn by_products(&self, known: Products, rest: Option<Products>) -> Option<Vec<Solution>> {
        let (columns, p) = (self.group.design.columns(), self.reward());
        let bends = self.group.bends.as_ref()?;
        let known = known.finish();
        let with_rest = rest.map(|rest| known.last_target_with(columns, &rest.finish()));
        let alone = self.outputs.start..if with_rest.is_some() { p } else { self.outputs.end };
        let mut solutions = Vec::new();
        for (sums, outputs) in [(Some(&known), alone), (with_rest.as_ref(), p..p + 1)] {
            let Some(sums) = sums.filter(|_| !outputs.is_empty()) else { continue };
            let total = self.weight_of(outputs.start);
            if total == 0.0 {
                solutions.extend(outputs.map(|_| Solution::unknown(columns)));
                continue;
            }
            let path = sums.path(bends)?;
            let weight = |output: usize| self.penalty(output) * total;
            // The targets of the sums of all rows are the reward alone.
            let wanted: Vec<(usize, f64)> =
                outputs.clone().map(|output| (output - outputs.start, weight(output))).collect();
            let found = path.solutions(&wanted);
            let squares = match self.care {
                Care::Time => sums.squares(columns, &wanted, &found),
                Care::Digits => vec![f64::NAN; wanted.len()],
            };
            for ((output, found), squares) in outputs.zip(found.chunks_exact(columns)).zip(squares) {
                let mut coefficients = bends.to_design(found);
                if let Some(mut drawn) = self.normals(output, bends.penalised()) {
                    let size = self.size_of_draws(output, squares, columns);
                    drawn.iter_mut().for_each(|e| *e *= size);
                    let moved = bends.to_design(&path.towards(weight(output), &drawn));
                    coefficients.iter_mut().zip(moved).for_each(|(b, m)| *b += m);
                }
                solutions.push(Solution { coefficients, rank: columns, squares, is_known: true });
            }
        }
        Some(solutions)
    }

    /// QR of √w X, with √(λ Σ w) L below where there is a penalty: the minimum-norm solution where rows leave it undetermined, and its rank.
    fn by_triangles(&self, triangles: Vec<Triangle>) -> Result<Vec<Solution>, FitError> {
        let columns = self.group.design.columns();
        let roughness = self.group.design.roughness();
        let mut solutions = Vec::new();
        for mut triangle in triangles {
            let (first, total) = (triangle.outputs.start, self.weight_of(triangle.outputs.start));
            if total == 0.0 {
                solutions.extend(triangle.outputs.map(|_| Solution::unknown(columns)));
                continue;
            }
            triangle.fold()?;
            let weight = (self.penalty(first) * total).sqrt();
            let below: Vec<f64> = if weight > 0.0 { roughness.iter().map(|l| weight * l).collect() } else { vec![] };
            let drawn = self.normals(first, below.len() / columns).filter(|_| triangle.is_drawn);
            let targets = match &drawn {
                Some(drawn) => drawn.iter().flat_map(|e| [0.0, *e]).collect(),
                None => vec![0.0; below.len() / columns * triangle.outputs.len()],
            };
            triangle.rows.add(&below, &targets)?;
            let solved = triangle.rows.solve()?;
            for (j, output) in triangle.outputs.enumerate() {
                let mut coefficients = solved.output(j).to_vec();
                let bent = |row: &[f64]| row.iter().zip(&coefficients).map(|(l, b)| l * b).sum::<f64>().powi(2);
                let penalty: f64 = below.chunks_exact(columns).map(bent).sum();
                let squares = (solved.residual_sum_of_squares[j] - penalty).max(0.0);
                if drawn.is_some() {
                    let size = self.size_of_draws(output, squares, solved.rank);
                    coefficients.iter_mut().zip(solved.output(j + 1)).for_each(|(b, moved)| *b += size * moved);
                }
                solutions.push(Solution { coefficients, rank: solved.rank, squares, is_known: true });
            }
        }
        Ok(solutions)
    }

    /// Σ w over the rows of an output.
    fn weight_of(&self, output: usize) -> f64 {
        if output == self.reward() { self.weight + self.rest_weight } else { self.weight }
    }

    /// n, the rows of an output.
    fn rows_of(&self, output: usize) -> f64 {
        let all = output == self.reward() && self.has_rest();
        (if all { self.counts.all } else { self.counts.with_next }) as f64
    }

    fn degrees(&self, output: usize, rank: usize) -> f64 {
        if self.penalty(output) == 0.0 { rank as f64 } else { self.group.smoothing[output].degrees }
    }

    /// Standard normal numbers for an output whose penalty is drawn.
    fn normals(&self, output: usize, count: usize) -> Option<Vec<f64>> {
        let stream = self.bends.filter(|_| self.penalty(output) > 0.0)?.index(output as u64);
        let mut normals = vec![0.0; count];
        fill_standard_normal(&mut stream.rng(), &mut normals);
        Some(normals)
    }

    /// σ √(Σ w / n) with σ² = (n / Σ w) squares / (n − d), so that rows count for n however weights are scaled.
    fn size_of_draws(&self, output: usize, squares: f64, rank: usize) -> f64 {
        (squares / (self.rows_of(output) - self.degrees(output, rank)).max(1.0)).sqrt()
    }

    /// Adds up residuals, and how far outputs are from their means.
    fn look(&mut self, rows: &WeightedRows) {
        let Some(found) = &self.found else { return };
        let (columns, p) = (self.group.design.columns(), self.reward());
        let own = &rows.groups[self.at];
        let means: Vec<f64> =
            self.outputs.clone().zip(&self.targets).map(|(output, sum)| sum / self.rows_of(output)).collect();
        let each = own.decisions.iter().zip(own.regressors.chunks_exact(columns)).zip(own.targets.chunks_exact(p + 1));
        for ((decision, row), targets) in each {
            for (j, output) in self.outputs.clone().enumerate().filter(|(_, o)| decision.has_next || *o == p) {
                let fitted: f64 = row.iter().zip(&found[j].coefficients).map(|(x, b)| x * b).sum();
                self.missed[j] += (targets[output] - fitted).powi(2);
                self.around_mean[j] += (targets[output] - means[j]).powi(2);
            }
        }
    }

    fn write(&self, coefficients: &mut Coefficients) {
        for (output, solution) in self.outputs.clone().zip(self.found.iter().flatten()) {
            if solution.is_known {
                coefficients.write(&self.group.design, output, &solution.coefficients);
            }
        }
    }

    fn report(&self, care: Care) -> RegressionReport {
        let columns = self.group.design.columns();
        let each = || self.outputs.clone().zip(self.found.iter().flatten());
        let degrees = |(output, solution): (usize, &Solution)| {
            if solution.is_known { self.degrees(output, solution.rank) } else { columns as f64 }
        };
        let sd = |(j, (output, solution)): (usize, (usize, &Solution))| {
            let (degrees, is_plain) = (degrees((output, solution)), self.penalty(output) == 0.0);
            match care {
                _ if !solution.is_known => 0.0,
                Care::Digits => {
                    let squares = if is_plain { solution.squares } else { self.missed[j] };
                    residual_sd(squares, degrees, self.rows_of(output), self.around_mean[j])
                }
                Care::Time => (solution.squares / (self.weight_of(output) - degrees).max(1.0)).sqrt(),
            }
        };
        RegressionReport {
            level: self.group.design.only,
            rows: self.counts.with_next,
            columns,
            rank: each().map(|(_, solution)| solution.rank).min().unwrap_or(columns),
            degrees: each().map(degrees).collect(),
            residual_sd: each().enumerate().map(sd).collect(),
        }
    }
}

impl Solution {
    /// An output that no row is about.
    fn unknown(columns: usize) -> Self {
        Self { coefficients: vec![0.0; columns], rank: columns, squares: 0.0, is_known: false }
    }
}

impl Triangle {
    fn add(&mut self, row: &[f64], targets: &[f64], weight: f64) -> Result<(), FitError> {
        let root = weight.sqrt();
        self.design.extend(row.iter().map(|x| root * x));
        self.targets.extend(targets.iter().map(|y| root * y));
        self.targets.extend(self.is_drawn.then_some(0.0));
        if self.design.len() >= FOLDED * row.len() { self.fold() } else { Ok(()) }
    }

    fn fold(&mut self) -> Result<(), FitError> {
        self.rows.add(&self.design, &self.targets)?;
        self.design.clear();
        self.targets.clear();
        Ok(())
    }
}

/// √(RSS / (n − degrees of freedom)), and no more than the spread of the output itself: where a level has about as many rows as the fit has
/// degrees of freedom, the first is a large number divided by a small one (122 was seen where people spread by 33).
fn residual_sd(sum_of_squares: f64, degrees: f64, rows: f64, around_mean: f64) -> f64 {
    let residual = (sum_of_squares / (rows - degrees).max(1.0)).sqrt();
    let raw = (around_mean / (rows - 1.0)).sqrt();
    if rows > 1.0 { residual.min(raw) } else { residual }
}

#[cfg(test)]
mod tests {
    use super::super::{Basis, FitSettings, Fitted, Pooling, fit};
    use super::*;
    use crate::kernel::model::Mechanism;
    use crate::kernel::people::{Labels, PanelBuilder, Person};

    const NEXT: fn(f64, f64) -> f64 = |s, a| 0.2 + 0.5 * s - 0.1 * a;
    const REWARD: fn(f64, f64) -> f64 = |s, a| 1.0 - s + 0.3 * a * s;

    /// Twelve people who decide `decisions` times and of whom as many states are known: the last next state is not.
    fn unfinished(decisions: usize) -> Fitted {
        let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(2), 1).unwrap();
        for i in 0..12usize {
            let actions: Vec<u32> = (0..decisions).map(|t| ((i + i * t / 2) % 2) as u32).collect();
            let mut states = vec![2.0 * (1.7 * i as f64).sin()];
            for t in 1..decisions {
                states.push(NEXT(states[t - 1], f64::from(actions[t - 1])));
            }
            let rewards: Vec<f64> = states.iter().zip(&actions).map(|(s, a)| REWARD(*s, f64::from(*a))).collect();
            let id = i.to_string();
            builder.push(Person { id: &id, level: 0, states: &states, actions: &actions, rewards: &rewards }).unwrap();
        }
        let settings = FitSettings { basis: Basis::Linear, pooling: Pooling::PerLevel, ..FitSettings::default() };
        fit(&builder.finish(), &settings).unwrap()
    }

    #[test]
    fn rewards_are_fitted_on_every_decision_and_next_states_where_they_are_known() {
        for (decisions, rows) in [(1, 0), (2, 12), (3, 24)] {
            let fitted = unfinished(decisions);
            let report = &fitted.reports()[0];
            assert_eq!((report.rows, report.columns, report.rank), (rows, 4, 4));
            for (s, a) in [(0.7, 0), (-1.2, 1)] {
                let (mut next, mut reward) = ([9.0], [9.0]);
                fitted.mean(0, &[s], &[a], &mut next, &mut reward);
                // Without a single next state nothing is known of them, and the mean is 0.
                let expected = if rows == 0 { 0.0 } else { NEXT(s, f64::from(a)) };
                // Two dozen rows of size one.
                assert!((next[0] - expected).abs() < 1e-12, "{decisions}: {next:?} and {expected}");
                assert!((reward[0] - REWARD(s, f64::from(a))).abs() < 1e-12, "{decisions}: {reward:?}");
            }
        }
    }

    #[test]
    fn a_residual_spread_is_never_larger_than_the_raw_one() {
        // 10, 40, −25, 60, 20: mean 21, sum of squares 4120, four degrees of freedom.
        let raw = (4120.0f64 / 4.0).sqrt();
        // Plenty of rows left: as textbooks have it.
        assert_eq!(residual_sd(300.0, 2.0, 5.0, 4120.0), 10.0);
        // A smoother that used up its degrees of freedom and explained next to nothing.
        assert_eq!(residual_sd(4000.0, 4.9, 5.0, 4120.0), raw);
    }
}
