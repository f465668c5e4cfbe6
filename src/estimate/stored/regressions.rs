//! The regressions of people on disk: products or a triangle from one pass, residuals from another.

use super::super::bends::Bends;
use super::super::groups::Group;
use super::super::regression::{Coefficients, MeanTable, RegressionReport, residual_sd_of, resolve};
use super::super::terms::Block;
use super::{Fit, FitError, pass};
use crate::kernel::numeric::ridge_path::RidgePath;
use crate::kernel::numeric::{Gram, LeastSquaresRows};
use crate::kernel::people::{Panel, Person};
use rayon::prelude::*;

/// Rows multiplied at a time.
const ROWS: usize = 512;

/// What is done with the rows and targets of a block.
type Work<'a> = dyn Fn(&mut Set, &[f64], &[f64]) -> Result<(), FitError> + Sync + 'a;

/// Fits next states and rewards of every group.
pub(super) fn fit_table(fit: &Fit<'_>, groups: &[Group]) -> Result<(MeanTable, Vec<RegressionReport>), FitError> {
    let (p, levels, actions) = (fit.shape.state_dim(), fit.shape.levels().len(), fit.shape.action_names().len());
    let terms: Vec<Vec<Block>> = groups.iter().map(|group| fit.blocks(group)).collect();
    let mut sets = Vec::new();
    for (at, (group, blocks)) in groups.iter().zip(&terms).enumerate() {
        let design = fit.design(fit.shape, group, blocks);
        let (known, all) = (fit.census.transitions(group.only), fit.census.decisions(group.only));
        if all == 0 {
            return Err(FitError::EmptyLevel { level: design.name() });
        }
        // Where a next state is missing somewhere, rewards have rows that next states have not.
        let cut = if known == all { p + 1 } else { p };
        for outputs in [0..cut, cut..p + 1].into_iter().filter(|o| !o.is_empty() && (known > 0 || o.start == p)) {
            let bends = Bends::new(&design);
            sets.push(Set::new(at, outputs, group, design.columns(), bends));
        }
    }
    let each_block = |sets: &mut [Set], work: &Work| {
        let mut result = Ok(());
        pass(fit.panel, |block| {
            let done = sets.par_iter_mut().try_for_each(|set| {
                let (rows, targets, _) = set.rows(fit, &groups[set.group], &terms[set.group], block);
                work(set, &rows, &targets)
            });
            if result.is_ok() {
                result = done;
            }
        })?;
        result
    };
    each_block(&mut sets, &|set, rows, targets| set.add(rows, targets))?;
    let mut again = Vec::new();
    for set in &mut sets {
        if !set.solve(fit, &groups[set.group], &terms[set.group])? {
            again.push(set.group);
        }
    }
    if !again.is_empty() {
        // Straight functions that depend on each other, or nearly do: rows are folded instead of multiplied.
        each_block(&mut sets, &|set, rows, targets| {
            if set.found.is_empty() { set.add(rows, targets) } else { Ok(()) }
        })?;
        for set in sets.iter_mut().filter(|set| set.found.is_empty()) {
            set.solve(fit, &groups[set.group], &terms[set.group])?;
        }
    }
    each_block(&mut sets, &|set, rows, targets| {
        set.look(rows, targets);
        Ok(())
    })?;
    let mut coefficients = vec![vec![Vec::new(); actions]; levels];
    let mut reports = Vec::new();
    for (at, (group, blocks)) in groups.iter().zip(&terms).enumerate() {
        let columns: usize = blocks.iter().map(|block| block.functions).sum();
        let mut outputs = vec![Output::unknown(columns); p + 1];
        for set in sets.iter().filter(|set| set.group == at) {
            outputs[set.outputs.clone()].clone_from_slice(&set.outputs());
        }
        reports.push(RegressionReport {
            level: group.only,
            rows: fit.census.transitions(group.only),
            columns,
            rank: outputs.iter().map(|output| output.rank).min().unwrap_or(columns),
            degrees: outputs.iter().map(|output| output.degrees).collect(),
            residual_sd: outputs.iter().map(|output| output.residual_sd).collect(),
        });
        let solution: Vec<f64> = outputs.into_iter().flat_map(|output| output.coefficients).collect();
        for level in group.only.map_or(0..levels, |k| k..k + 1) {
            for (action, resolved) in coefficients[level].iter_mut().enumerate() {
                let factor = |block: &Block| block.factor(action, level, fit.values[level]);
                *resolved = resolve(&solution, blocks, group.basis.count(), p + 1, factor);
            }
        }
    }
    let bases = groups.iter().map(|group| group.basis.clone()).collect();
    Ok((Coefficients::new(bases, coefficients).into(), reports))
}

/// Fits the outputs whose noise spreads once more, with weights 1/σ² of mean 1: [`reweigh`](super::super::reweigh::reweigh).
pub(super) fn reweigh(
    fit: &Fit<'_>,
    groups: &[Group],
    table: MeanTable,
    law: &super::super::FittedNoise,
) -> Result<MeanTable, FitError> {
    let weighed: Vec<bool> = law.precisions(fit.shape).iter().map(Option::is_some).collect();
    let terms: Vec<Vec<Block>> = groups.iter().map(|group| fit.blocks(group)).collect();
    let mut sets = Vec::new();
    for (at, (group, blocks)) in groups.iter().zip(&terms).enumerate() {
        for output in (0..weighed.len()).filter(|&output| weighed[output]) {
            let design = fit.design(fit.shape, group, blocks);
            let set = Set::new(at, output..output + 1, group, design.columns(), Bends::new(&design));
            sets.push((set, 0.0, 0usize));
        }
    }
    pass(fit.panel, |block| {
        let weights = law.precisions(block);
        sets.par_iter_mut().for_each(|(set, sum, count)| {
            let Some(own) = &weights[set.outputs.start] else { return };
            let (_, _, places) = set.rows(fit, &groups[set.group], &terms[set.group], block);
            places.iter().for_each(|&at| *sum += own[at]);
            *count += places.len();
        });
    })?;
    sets.retain(|(_, _, count)| *count > 0);
    while sets.iter().any(|(set, ..)| set.found.is_empty()) {
        let mut result = Ok(());
        pass(fit.panel, |block| {
            let weights = law.precisions(block);
            let done =
                sets.par_iter_mut().filter(|(set, ..)| set.found.is_empty()).try_for_each(|(set, sum, count)| {
                    let Some(own) = &weights[set.outputs.start] else { return Ok(()) };
                    let (mut rows, mut targets, places) = set.rows(fit, &groups[set.group], &terms[set.group], block);
                    let mean = *sum / *count as f64;
                    for ((row, target), at) in rows.chunks_exact_mut(set.columns).zip(&mut targets).zip(places) {
                        let root = (own[at] / mean).sqrt();
                        row.iter_mut().for_each(|x| *x *= root);
                        *target *= root;
                    }
                    set.add(&rows, &targets)
                });
            if result.is_ok() {
                result = done;
            }
        })?;
        result?;
        for (set, ..) in sets.iter_mut().filter(|(set, ..)| set.found.is_empty()) {
            set.solve(fit, &groups[set.group], &terms[set.group])?;
        }
    }
    let mut stored = Coefficients::from(table);
    for (set, ..) in &sets {
        let (group, blocks) = (&groups[set.group], &terms[set.group]);
        for level in group.only.map_or(0..fit.values.len(), |k| k..k + 1) {
            for action in 0..fit.shape.action_names().len() {
                let factor = |block: &Block| block.factor(action, level, fit.values[level]);
                let resolved = resolve(&set.found[0].0, blocks, group.basis.count(), 1, factor);
                stored.replace(level, action, set.outputs.start, &resolved);
            }
        }
    }
    Ok(stored.into())
}

/// What was found for one output.
#[derive(Clone)]
struct Output {
    coefficients: Vec<f64>,
    rank: usize,
    degrees: f64,
    residual_sd: f64,
}

impl Output {
    fn unknown(columns: usize) -> Self {
        Self { coefficients: vec![0.0; columns], rank: columns, degrees: columns as f64, residual_sd: 0.0 }
    }
}

/// Outputs of one group that share their rows.
struct Set {
    group: usize,
    outputs: std::ops::Range<usize>,
    columns: usize,
    penalties: Vec<f64>,
    degrees: Vec<f64>,
    n: usize,
    /// Σ y of each output.
    sums: Vec<f64>,
    method: Method,
    /// Coefficients and rank of each output, once they are known.
    found: Vec<(Vec<f64>, usize)>,
    /// Σ (y − f̂)² and Σ (y − ȳ)².
    squares: Vec<(f64, f64)>,
}

enum Method {
    /// Products of columns, in coordinates in which roughness is a sum of squares.
    Products { bends: Bends, gram: Gram, rows: Vec<f64> },
    /// A triangle for all outputs, or where they are penalised one for each.
    Folded(Vec<LeastSquaresRows>),
}

impl Set {
    fn new(at: usize, outputs: std::ops::Range<usize>, group: &Group, columns: usize, bends: Option<Bends>) -> Self {
        let smoothing = &group.smoothing[outputs.clone()];
        let penalties: Vec<f64> = smoothing.iter().map(|s| s.penalty).collect();
        let is_plain = penalties.iter().all(|λ| *λ == 0.0);
        let method = match bends {
            Some(bends) if !is_plain => {
                let gram = Gram::new(columns + outputs.len());
                Method::Products { bends, gram, rows: vec![] }
            }
            _ => Self::folded(is_plain, columns, outputs.len()),
        };
        Self {
            group: at,
            columns,
            degrees: smoothing.iter().map(|s| s.degrees).collect(),
            n: 0,
            sums: vec![0.0; outputs.len()],
            squares: vec![(0.0, 0.0); outputs.len()],
            method,
            found: vec![],
            penalties,
            outputs,
        }
    }

    fn is_plain(&self) -> bool {
        self.penalties.iter().all(|λ| *λ == 0.0)
    }

    fn folded(is_plain: bool, columns: usize, outputs: usize) -> Method {
        let (triangles, each) = if is_plain { (1, outputs) } else { (outputs, 1) };
        Method::Folded((0..triangles).map(|_| LeastSquaresRows::new(columns, each)).collect())
    }

    /// Rows and targets of a block's people, and the decision of the block that each row is.
    fn rows(&self, fit: &Fit<'_>, group: &Group, blocks: &[Block], block: &Panel) -> (Vec<f64>, Vec<f64>, Vec<usize>) {
        let design = fit.design(block, group, blocks);
        let p = block.state_dim();
        let mut functions = vec![0.0; group.basis.count()];
        let (mut rows, mut targets) = (Vec::new(), Vec::new());
        let mut places = Vec::new();
        let mut push = |person: &Person<'_>, start: usize, t: usize| {
            let next = person.states.get((t + 1) * p..(t + 2) * p);
            if self.outputs.start < p && next.is_none() {
                return;
            }
            design.push_row(
                person.level as usize,
                &person.states[t * p..(t + 1) * p],
                person.actions[t],
                &mut functions,
                &mut rows,
            );
            for output in self.outputs.clone() {
                targets.push(next.filter(|_| output < p).map_or(person.rewards[t], |next| next[output]));
            }
            places.push(start + t);
        };
        for (i, person) in design.people() {
            let start = block.decisions_of(i).start;
            (0..person.actions.len()).for_each(|t| push(&person, start, t));
        }
        (rows, targets, places)
    }

    fn add(&mut self, rows: &[f64], targets: &[f64]) -> Result<(), FitError> {
        let outputs = self.sums.len();
        self.n += targets.len() / outputs;
        for target in targets.chunks_exact(outputs) {
            self.sums.iter_mut().zip(target).for_each(|(sum, y)| *sum += y);
        }
        match &mut self.method {
            Method::Products { bends, gram, rows: turned } => {
                let width = self.columns + outputs;
                for (row, target) in rows.chunks_exact(self.columns).zip(targets.chunks_exact(outputs)) {
                    bends.push(row, turned);
                    turned.extend_from_slice(target);
                    if turned.len() == ROWS * width {
                        gram.add_rows(turned);
                        turned.clear();
                    }
                }
            }
            Method::Folded(triangles) if triangles.len() == 1 => triangles[0].add(rows, targets)?,
            Method::Folded(triangles) => {
                for (j, triangle) in triangles.iter_mut().enumerate() {
                    let target: Vec<f64> = targets.iter().skip(j).step_by(outputs).copied().collect();
                    triangle.add(rows, &target)?;
                }
            }
        }
        Ok(())
    }

    /// Whether the products determine the solution; if they do not, rows are to be added once more.
    fn solve(&mut self, fit: &Fit<'_>, group: &Group, blocks: &[Block]) -> Result<bool, FitError> {
        let (columns, outputs, is_plain) = (self.columns, self.sums.len(), self.is_plain());
        let emptied = Self::folded(is_plain, columns, outputs);
        match std::mem::replace(&mut self.method, emptied) {
            Method::Products { bends, mut gram, rows } => {
                gram.add_rows(&rows);
                let Some(path) = RidgePath::of_gram(gram.matrix(), columns + outputs, bends.free(), outputs) else {
                    (self.n, self.sums) = (0, vec![0.0; outputs]);
                    return Ok(false);
                };
                let wanted: Vec<(usize, f64)> = self.penalties.iter().map(|λ| λ * self.n as f64).enumerate().collect();
                let found = path.solutions(&wanted);
                self.found = found.chunks_exact(columns).map(|b| (bends.to_design(b), columns)).collect();
            }
            Method::Folded(triangles) => {
                let roughness = fit.design(fit.shape, group, blocks).roughness();
                for (mut triangle, λ) in triangles.into_iter().zip(&self.penalties) {
                    if !is_plain {
                        let weight = (λ * self.n as f64).sqrt();
                        let bends: Vec<f64> = roughness.iter().map(|l| weight * l).collect();
                        triangle.add(&bends, &vec![0.0; bends.len() / columns])?;
                    }
                    let solved = triangle.solve()?;
                    self.found.extend((0..solved.outputs).map(|j| (solved.output(j).to_vec(), solved.rank)));
                }
            }
        }
        Ok(true)
    }

    /// Adds up residuals, and how far outputs are from their means.
    fn look(&mut self, rows: &[f64], targets: &[f64]) {
        let means: Vec<f64> = self.sums.iter().map(|sum| sum / self.n as f64).collect();
        for (row, target) in rows.chunks_exact(self.columns).zip(targets.chunks_exact(means.len())) {
            for (j, (residual, raw)) in self.squares.iter_mut().enumerate() {
                let fitted: f64 = row.iter().zip(&self.found[j].0).map(|(x, b)| x * b).sum();
                *residual += (target[j] - fitted).powi(2);
                *raw += (target[j] - means[j]).powi(2);
            }
        }
    }

    fn outputs(&self) -> Vec<Output> {
        let output = |j: usize| {
            let (coefficients, rank) = self.found[j].clone();
            let degrees = if self.is_plain() { rank as f64 } else { self.degrees[j] };
            let (residual, raw) = self.squares[j];
            Output { coefficients, rank, degrees, residual_sd: residual_sd_of(residual, degrees, self.n as f64, raw) }
        };
        (0..self.sums.len()).map(output).collect()
    }
}
