//! One regression of a mechanism, kept as rows so that it can be solved again with weights.

use super::super::basis::StateBasis;
use super::super::bends::Bends;
use super::super::design::Design;
use super::super::groups::Group;
use super::super::regression::{RegressionReport, resolve};
use super::super::terms::{Block, blocks};
use super::super::{FitError, LevelCode, Pooling};
use crate::kernel::numeric::ridge_path::{RidgePath, squares_of_gram, squares_of_rows};
use crate::kernel::numeric::{Gram, Stream, fill_standard_normal, least_squares};
use crate::kernel::people::Panel;
use std::ops::Range;

/// Rows weighted and multiplied at a time: enough for long products, few enough to stay in cache.
const ROWS: usize = 512;

/// Rows of numbers that belong to people.
struct Rows {
    width: usize,
    /// The person each row belongs to, and the decision of the panel it is about.
    owners: Vec<(usize, usize)>,
    data: Vec<f64>,
}

impl Rows {
    /// Σ w over rows; and Σ w xxᵀ added to `gram`; `buffer` is working space.
    fn add_weighted(&self, weights: &RowWeights<'_>, gram: &mut Gram, buffer: &mut Vec<f64>) -> f64 {
        let mut total = 0.0;
        buffer.clear();
        for (row, &owner) in self.data.chunks_exact(self.width).zip(&self.owners) {
            let w = weights.of(owner);
            if w == 0.0 {
                continue;
            }
            total += w;
            let root = w.sqrt();
            buffer.extend(row.iter().map(|x| root * x));
            if buffer.len() >= ROWS * self.width {
                gram.add_rows(buffer);
                buffer.clear();
            }
        }
        gram.add_rows(buffer);
        total
    }
}

/// The weight of a person, times the precision of the decision where there is one.
#[derive(Clone, Copy)]
struct RowWeights<'a> {
    people: &'a [f64],
    /// 1/σ² of each decision of the panel, and their mean over the weighted rows.
    precision: Option<(&'a [f64], f64)>,
}

impl RowWeights<'_> {
    fn of(&self, (person, decision): (usize, usize)) -> f64 {
        self.people[person] * self.precision.map_or(1.0, |(precision, mean)| precision[decision] / mean)
    }
}

/// A regression of next states and rewards on one group of people.
pub(super) struct WeightedRegression {
    only: Option<usize>,
    basis: StateBasis,
    blocks: Vec<Block>,
    values: Vec<f64>,
    levels: Range<usize>,
    state_dim: usize,
    columns: usize,
    /// λ and the degrees of freedom of each output as chosen on everybody.
    penalties: Vec<f64>,
    degrees: Vec<f64>,
    /// [X, next state, reward] where the next state is known, and [X, reward] where it is not.
    with_next: Rows,
    without_next: Rows,
    /// L, flat, and the coordinates in which P = LᵀL is a sum of squares.
    roughness: Vec<f64>,
    bends: Option<Bends>,
    /// The rows in these coordinates, where they are so few that products of rows are smaller than those of columns.
    turned: Option<(Vec<f64>, Vec<f64>)>,
}

impl WeightedRegression {
    pub fn new(panel: &Panel, group: &Group, pooling: Pooling, code: LevelCode, values: &[f64]) -> Self {
        let (p, levels, actions) = (panel.state_dim(), panel.levels().len(), panel.action_names().len());
        let Group { only, basis, smoothing } = group;
        let blocks = blocks(basis, pooling, code, actions, levels);
        let design = Design { panel, basis, blocks: &blocks, values, only: *only };
        let columns = design.columns();
        let mut with_next = Rows { width: columns + p + 1, owners: vec![], data: vec![] };
        let mut without_next = Rows { width: columns + 1, owners: vec![], data: vec![] };
        let mut functions = vec![0.0; basis.count()];
        for (i, person) in design.people() {
            for (t, (&action, &reward)) in person.actions.iter().zip(person.rewards).enumerate() {
                let next = person.states.get((t + 1) * p..(t + 2) * p);
                let rows = if next.is_some() { &mut with_next } else { &mut without_next };
                let state = &person.states[t * p..(t + 1) * p];
                design.push_row(person.level as usize, state, action, &mut functions, &mut rows.data);
                rows.data.extend_from_slice(next.unwrap_or(&[]));
                rows.data.push(reward);
                rows.owners.push((i, panel.decisions_of(i).start + t));
            }
        }
        let bends = Bends::new(&design);
        let turned = bends.as_ref().filter(|bends| with_next.owners.len() < bends.penalised()).map(|bends| {
            let turn = |rows: &Rows| {
                let mut turned = Vec::with_capacity(rows.data.len());
                rows.data.chunks_exact(rows.width).for_each(|row| bends.push(row, &mut turned));
                turned
            };
            (turn(&with_next), turn(&without_next))
        });
        Self {
            only: *only,
            levels: design.levels(),
            basis: basis.clone(),
            values: values.to_vec(),
            state_dim: p,
            columns,
            penalties: smoothing.iter().map(|s| s.penalty).collect(),
            degrees: smoothing.iter().map(|s| s.degrees).collect(),
            with_next,
            without_next,
            roughness: design.roughness(),
            bends,
            turned,
            blocks,
        }
    }

    pub fn basis(&self) -> &StateBasis {
        &self.basis
    }

    /// Solves with weights and writes the coefficients of every level it speaks of.
    ///
    /// `precisions` has, for each output whose spread varies, 1/σ² at every decision of the panel; it may be empty. With `bends` the
    /// penalised part is drawn too: see [`Refitter::draw`](super::Refitter::draw).
    pub fn solve(
        &self,
        people: &[f64],
        precisions: &[Option<Vec<f64>>],
        bends: Option<Stream>,
        coefficients: &mut [Vec<Vec<f64>>],
    ) -> Result<RegressionReport, FitError> {
        let (p, columns) = (self.state_dim, self.columns);
        let plain = RowWeights { people, precision: None };
        let precise = |output: usize| precisions.get(output).and_then(Option::as_ref);
        // What all outputs without precisions share.
        let shared = if (0..=p).all(|output| precise(output).is_some()) { None } else { Some(self.systems(&plain)) };
        let mut outputs: Vec<Output> = Vec::with_capacity(p + 1);
        for output in 0..=p {
            let weights = match precise(output) {
                None => plain,
                Some(precision) => RowWeights { people, precision: self.mean_precision(people, precision, output) },
            };
            let drawn = bends.map(|stream| stream.index(output as u64));
            let own = precise(output).map(|_| self.systems(&weights));
            let (known, rewards) = own.as_ref().or(shared.as_ref()).expect("sums with precisions or without");
            outputs.push(match rewards {
                Some(rewards) if output == p => self.output(&weights, rewards, 0, output, drawn)?,
                _ => self.output(&weights, known, output, output, drawn)?,
            });
        }
        let report = RegressionReport {
            level: self.only,
            rows: self.with_next.data.len() / self.with_next.width,
            columns,
            rank: outputs.iter().map(|o| o.rank).min().unwrap_or(columns),
            degrees: self.degrees.clone(),
            residual_sd: outputs.iter().map(|o| o.residual_sd).collect(),
        };
        let solution: Vec<f64> = outputs.into_iter().flat_map(|o| o.coefficients).collect();
        for level in self.levels.clone() {
            for (action, resolved) in coefficients[level].iter_mut().enumerate() {
                let factor = |block: &Block| block.factor(action, level, self.values[level]);
                *resolved = resolve(&solution, &self.blocks, self.basis.count(), p + 1, factor);
            }
        }
        Ok(report)
    }

    /// The weighted rows whose next state is known, and those of the reward where it has more.
    fn systems(&self, weights: &RowWeights<'_>) -> (System, Option<System>) {
        let (p, columns) = (self.state_dim, self.columns);
        let has_rest = !self.without_next.owners.is_empty();
        if let Some((with_next, without_next)) = &self.turned {
            let (mut known, mut rewards) = (System::of_rows(columns + p + 1), System::of_rows(columns + 1));
            known.add(with_next, &self.with_next, weights, (columns, 0));
            if has_rest {
                rewards.add(with_next, &self.with_next, weights, (columns, p));
                rewards.add(without_next, &self.without_next, weights, (columns, 0));
            }
            return (known.reduced(self.bends.as_ref()), has_rest.then(|| rewards.reduced(self.bends.as_ref())));
        }
        let mut gram = Gram::new(self.with_next.width);
        let rows = self.with_next.add_weighted(weights, &mut gram, &mut Vec::new());
        let width = self.with_next.width;
        let rewards = has_rest.then(|| {
            // Rewards also have the decisions whose next state was not seen.
            let mut rest = Gram::new(self.without_next.width);
            let more = self.without_next.add_weighted(weights, &mut rest, &mut Vec::new());
            let kept = || (0..columns).chain([columns + p]);
            let known = kept().flat_map(|i| kept().map(move |j| (i, j))).map(|(i, j)| gram.matrix()[i * width + j]);
            let sum = known.zip(rest.matrix()).map(|(a, b)| a + b).collect();
            System::of_gram(rows + more, columns + 1, sum, self.bends.as_ref())
        });
        (System::of_gram(rows, width, gram.matrix().to_vec(), self.bends.as_ref()), rewards)
    }

    /// Precisions with their mean over the rows of an output, so that λ means what it meant without them.
    fn mean_precision<'b>(&self, people: &[f64], precision: &'b [f64], output: usize) -> Option<(&'b [f64], f64)> {
        let rest: &[(usize, usize)] = if output == self.state_dim { &self.without_next.owners } else { &[] };
        let rows = || self.with_next.owners.iter().chain(rest);
        let total: f64 = rows().map(|&(person, _)| people[person]).sum();
        let sum: f64 = rows().map(|&(person, decision)| people[person] * precision[decision]).sum();
        (total > 0.0 && sum > 0.0).then(|| (precision, sum / total))
    }

    /// The coefficients of one output, `at` its place among those of the system; with `drawn` the penalised part is drawn too.
    fn output(
        &self,
        weights: &RowWeights<'_>,
        system: &System,
        at: usize,
        output: usize,
        drawn: Option<Stream>,
    ) -> Result<Output, FitError> {
        let columns = self.columns;
        if system.rows == 0.0 {
            return Ok(Output { coefficients: vec![0.0; columns], rank: columns, residual_sd: 0.0 });
        }
        let weight = self.penalties[output] * system.rows;
        let wanted = [(at, weight)];
        let (mut coefficients, rank, squares) = match (&system.path, &self.bends) {
            (Some(path), Some(bends)) => {
                let found = path.solutions(&wanted);
                (bends.to_design(&found), columns, system.squares(columns, &wanted, &found))
            }
            _ => self.by_rows(weights, output, &[])?,
        };
        let degrees = if self.penalties[output] == 0.0 { rank as f64 } else { self.degrees[output] };
        let residual_sd = (squares / (system.rows - degrees).max(1.0)).sqrt();
        if let Some(stream) = drawn.filter(|_| self.penalties[output] > 0.0) {
            // e = σ √(n_w / n) ε with σ² = (n / n_w) squares / (n − d): the rows count for n however the weights are scaled.
            let rest = if output == self.state_dim { self.without_next.owners.len() } else { 0 };
            let rows = (self.with_next.owners.len() + rest) as f64;
            let size = (squares / (rows - degrees).max(1.0)).sqrt();
            let draw = |count: usize| {
                let mut drawn = vec![0.0; count];
                fill_standard_normal(&mut stream.rng(), &mut drawn);
                drawn.iter_mut().for_each(|e| *e *= size);
                drawn
            };
            match (&system.path, &self.bends) {
                (Some(path), Some(bends)) => {
                    let moved = bends.to_design(&path.towards(weight, &draw(bends.penalised())));
                    coefficients.iter_mut().zip(moved).for_each(|(b, m)| *b += m);
                }
                _ => coefficients = self.by_rows(weights, output, &draw(self.roughness.len() / columns))?.0,
            }
        }
        Ok(Output { coefficients, rank, residual_sd })
    }

    /// QR of √w X with √(λ n_w) L below: the minimum-norm solution where the weights leave it undetermined, its rank, and ‖√w (y − Xb)‖².
    /// `drawn` are the targets of the rows below, 0 where they end.
    fn by_rows(
        &self,
        weights: &RowWeights<'_>,
        output: usize,
        drawn: &[f64],
    ) -> Result<(Vec<f64>, usize, f64), FitError> {
        let (p, columns) = (self.state_dim, self.columns);
        let (mut design, mut target, mut total) = (Vec::new(), Vec::new(), 0.0);
        let mut take = |rows: &Rows, at: usize| {
            for (row, &owner) in rows.data.chunks_exact(rows.width).zip(&rows.owners) {
                let w = weights.of(owner);
                if w > 0.0 {
                    let root = w.sqrt();
                    design.extend(row[..columns].iter().map(|x| root * x));
                    target.push(root * row[at]);
                    total += w;
                }
            }
        };
        take(&self.with_next, columns + output);
        if output == p {
            take(&self.without_next, columns);
        }
        let rows = target.len();
        if self.penalties[output] > 0.0 {
            let weight = (self.penalties[output] * total).sqrt();
            design.extend(self.roughness.iter().map(|l| weight * l));
            target.extend_from_slice(drawn);
            target.resize(design.len() / columns, 0.0);
        }
        let fit = least_squares(&design, &target, columns, 1)?;
        let fitted = |row: &[f64]| row.iter().zip(&fit.coefficients).map(|(x, b)| x * b).sum::<f64>();
        let squares = design.chunks_exact(columns).zip(&target[..rows]).map(|(x, y)| (y - fitted(x)).powi(2)).sum();
        Ok((fit.coefficients, fit.rank, squares))
    }
}

/// Weighted rows √w [X₀ X₁ Y], or their Gram matrix, and the solutions they give.
struct System {
    /// Σ w.
    rows: f64,
    width: usize,
    are_rows: bool,
    data: Vec<f64>,
    path: Option<RidgePath>,
}

impl System {
    /// No rows yet.
    fn of_rows(width: usize) -> Self {
        Self { rows: 0.0, width, are_rows: true, data: vec![], path: None }
    }

    /// From the Gram matrix of √w [X Y].
    fn of_gram(rows: f64, width: usize, gram: Vec<f64>, bends: Option<&Bends>) -> Self {
        let bent = bends.filter(|bends| bends.penalised() > 0);
        let data = match bent {
            Some(bends) => bends.of_gram(&gram, width),
            None => gram,
        };
        Self { rows, width, are_rows: false, data, path: None }.reduced(bends)
    }

    /// Adds rows of `columns` regressors with their weights, without the first `skipped` outputs.
    fn add(&mut self, turned: &[f64], rows: &Rows, weights: &RowWeights<'_>, (columns, skipped): (usize, usize)) {
        for (row, &owner) in turned.chunks_exact(rows.width).zip(&rows.owners) {
            let w = weights.of(owner);
            if w > 0.0 {
                self.rows += w;
                let root = w.sqrt();
                self.data.extend(row[..columns].iter().chain(&row[columns + skipped..]).map(|x| root * x));
            }
        }
    }

    fn reduced(mut self, bends: Option<&Bends>) -> Self {
        self.path = bends.and_then(|bends| {
            let outputs = self.width - bends.free() - bends.penalised();
            if self.are_rows {
                RidgePath::of_rows(&self.data, self.width, bends.free(), outputs)
            } else {
                RidgePath::of_gram(&self.data, self.width, bends.free(), outputs)
            }
        });
        self
    }

    /// ‖√w (y − Xb)‖² of a solution.
    fn squares(&self, columns: usize, wanted: &[(usize, f64)], found: &[f64]) -> f64 {
        let squares = if self.are_rows { squares_of_rows } else { squares_of_gram };
        squares(&self.data, self.width, self.width - columns, wanted, found)[0]
    }
}

/// What was found for one output.
struct Output {
    coefficients: Vec<f64>,
    rank: usize,
    residual_sd: f64,
}
