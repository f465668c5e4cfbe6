//! One regression of a mechanism, kept as rows so that it can be solved again with weights.

use super::super::basis::StateBasis;
use super::super::design::Design;
use super::super::groups::Group;
use super::super::regression::{RegressionReport, resolve};
use super::super::terms::{Block, blocks};
use super::super::{FitError, LevelCode, Pooling};
use crate::kernel::data::Panel;
use crate::kernel::numeric::{Gram, GramFactor, Stream, fill_standard_normal, least_squares};
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
    /// L, flat, and P = LᵀL.
    bends: Vec<f64>,
    roughness: Vec<f64>,
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
        let bends = design.roughness();
        let mut roughness = Gram::new(columns);
        roughness.add_rows(&bends);
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
            bends,
            roughness: roughness.matrix().to_vec(),
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
        // Sums that all outputs without precisions share.
        let shared = if (0..=p).all(|output| precise(output).is_some()) { None } else { Some(self.known(&plain)) };
        let mut outputs: Vec<Output> = Vec::with_capacity(p + 1);
        for output in 0..=p {
            let weights = match precise(output) {
                None => plain,
                Some(precision) => RowWeights { people, precision: self.mean_precision(people, precision, output) },
            };
            let own = precise(output).map(|_| self.known(&weights));
            let known = own.as_ref().or(shared.as_ref()).expect("sums with precisions or without");
            let bends = bends.map(|stream| stream.index(output as u64));
            let found = if output < p || self.without_next.owners.is_empty() {
                self.output(&weights, known, columns + output, output, bends)?
            } else {
                // Rewards also have the decisions whose next state was not seen.
                let mut rest = Gram::new(self.without_next.width);
                let rows = self.without_next.add_weighted(&weights, &mut rest, &mut Vec::new());
                let all = known.without_next_states(columns, p).plus(rest.matrix(), rows);
                self.output(&weights, &all, columns, output, bends)?
            };
            outputs.push(found);
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

    /// Weighted sums over the rows whose next state is known.
    fn known(&self, weights: &RowWeights<'_>) -> Sums {
        let mut gram = Gram::new(self.with_next.width);
        let rows = self.with_next.add_weighted(weights, &mut gram, &mut Vec::new());
        Sums { rows, width: self.with_next.width, gram: gram.matrix().to_vec() }
    }

    /// Precisions with their mean over the rows of an output, so that λ means what it meant without them.
    fn mean_precision<'b>(&self, people: &[f64], precision: &'b [f64], output: usize) -> Option<(&'b [f64], f64)> {
        let rest: &[(usize, usize)] = if output == self.state_dim { &self.without_next.owners } else { &[] };
        let rows = || self.with_next.owners.iter().chain(rest);
        let total: f64 = rows().map(|&(person, _)| people[person]).sum();
        let sum: f64 = rows().map(|&(person, decision)| people[person] * precision[decision]).sum();
        (total > 0.0 && sum > 0.0).then(|| (precision, sum / total))
    }

    /// The coefficients of one output, `at` its column of the sums.
    fn output(
        &self,
        weights: &RowWeights<'_>,
        sums: &Sums,
        at: usize,
        output: usize,
        bends: Option<Stream>,
    ) -> Result<Output, FitError> {
        let columns = self.columns;
        if sums.rows == 0.0 {
            return Ok(Output { coefficients: vec![0.0; columns], rank: columns, residual_sd: 0.0 });
        }
        let factor = self.factor(sums, self.penalties[output]);
        let (mut coefficients, rank) = match &factor {
            Some(factor) => {
                let mut b: Vec<f64> = (0..columns).map(|i| sums.gram[i * sums.width + at]).collect();
                factor.solve_in_place(&mut b);
                (b, columns)
            }
            None => self.by_rows(weights, output, &[])?,
        };
        let degrees = if self.penalties[output] == 0.0 { rank as f64 } else { self.degrees[output] };
        let residual_sd = (sums.residual(columns, at, &coefficients) / (sums.rows - degrees).max(1.0)).sqrt();
        if let Some(stream) = bends.filter(|_| self.penalties[output] > 0.0) {
            // e = σ √(n_w / n) ε: the rows count for n however the weights are scaled.
            let mut drawn = vec![0.0; self.bends.len() / columns];
            fill_standard_normal(&mut stream.rng(), &mut drawn);
            let rest = if output == self.state_dim { self.without_next.owners.len() } else { 0 };
            let size = residual_sd * (sums.rows / (self.with_next.owners.len() + rest) as f64).sqrt();
            drawn.iter_mut().for_each(|e| *e *= size);
            match &factor {
                Some(factor) => {
                    let root = (self.penalties[output] * sums.rows).sqrt();
                    let mut moved = vec![0.0; columns];
                    for (bend, e) in self.bends.chunks_exact(columns).zip(&drawn) {
                        moved.iter_mut().zip(bend).for_each(|(m, l)| *m += root * e * l);
                    }
                    factor.solve_in_place(&mut moved);
                    coefficients.iter_mut().zip(moved).for_each(|(b, m)| *b += m);
                }
                None => coefficients = self.by_rows(weights, output, &drawn)?.0,
            }
        }
        Ok(Output { coefficients, rank, residual_sd })
    }

    /// XᵀWX + λ n_w P, factored; `None` where it is singular or too ill-conditioned.
    fn factor(&self, sums: &Sums, penalty: f64) -> Option<GramFactor> {
        let weight = penalty * sums.rows;
        let bends = self.roughness.chunks_exact(self.columns);
        let matrix: Vec<f64> = sums
            .gram
            .chunks_exact(sums.width)
            .zip(bends)
            .flat_map(|(row, bend)| row.iter().zip(bend).map(|(x, p)| x + weight * p))
            .collect();
        Gram::from_lower(self.columns, 0, &matrix).factor().ok()
    }

    /// QR of √w X with √(λ n_w) L below: the minimum-norm solution where the weights leave it undetermined. `drawn` are the targets of
    /// the rows below, 0 where they end.
    fn by_rows(&self, weights: &RowWeights<'_>, output: usize, drawn: &[f64]) -> Result<(Vec<f64>, usize), FitError> {
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
        if self.penalties[output] > 0.0 {
            let weight = (self.penalties[output] * total).sqrt();
            design.extend(self.bends.iter().map(|l| weight * l));
            target.extend_from_slice(drawn);
            target.resize(design.len() / columns, 0.0);
        }
        let fit = least_squares(&design, &target, columns, 1)?;
        Ok((fit.coefficients, fit.rank))
    }
}

/// Weighted sums of products of [X Y].
struct Sums {
    rows: f64,
    width: usize,
    gram: Vec<f64>,
}

impl Sums {
    /// The sums of [X, reward] out of those of [X, next state, reward].
    fn without_next_states(&self, columns: usize, p: usize) -> Self {
        let kept = || (0..columns).chain([columns + p]);
        let gram = kept().flat_map(|i| kept().map(move |j| self.gram[i * self.width + j])).collect();
        Self { rows: self.rows, width: columns + 1, gram }
    }

    fn plus(mut self, gram: &[f64], rows: f64) -> Self {
        self.rows += rows;
        self.gram.iter_mut().zip(gram).for_each(|(sum, x)| *sum += x);
        self
    }

    /// ‖√w (y − Xb)‖².
    fn residual(&self, columns: usize, at: usize, b: &[f64]) -> f64 {
        let entry = |i: usize, j: usize| self.gram[i * self.width + j];
        let mut sum = entry(at, at);
        for i in 0..columns {
            let fitted: f64 = (0..columns).map(|j| entry(i, j) * b[j]).sum();
            sum += b[i] * (fitted - 2.0 * entry(i, at));
        }
        sum.max(0.0)
    }
}

/// What was found for one output.
struct Output {
    coefficients: Vec<f64>,
    rank: usize,
    residual_sd: f64,
}
