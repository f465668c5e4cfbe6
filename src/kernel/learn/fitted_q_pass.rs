//! One pass of fitted Q iteration over the data: targets and Φᵀy, features made block by block and never stored.

use super::features::FeatureMap;
use crate::numeric::block;
use crate::preprocess::{Experience, ExperienceRows, View};
use rayon::prelude::*;
use std::ops::Range;

/// What follows a step, as the target sees it.
#[derive(Debug, Clone, Copy)]
pub enum Backup<'a> {
    /// maxₐ Q(s′, a): fitted Q iteration.
    Max,
    /// maxₐ Q(s′, a), held in [−V, V].
    ClippedMax(f64),
    /// maxₐ Q(s′, a) − margin(s′, a), held in [low, high]. Margins are laid out by row of views, |A| a row; none are 0.
    BoundedMax {
        /// The least a value can be.
        low: f64,
        /// The most a value can be.
        high: f64,
        /// What is taken off each action value, or nothing.
        margins: Option<&'a [f64]>,
    },
    /// Σₐ π(a | s′) Q(s′, a): fitted Q evaluation. Probabilities are laid out by row of views, |A| a row.
    Expectation(&'a [f64]),
}

/// The data of a least-squares Q iteration, by row of views, and the feature map that reads them.
pub struct Sweep<'a, F> {
    features: &'a F,
    views: &'a [f64],
    width: usize,
    actions: usize,
    /// The action of the transition that starts at a row, or |A| where none does.
    action: Vec<u32>,
    /// The reward of that transition.
    reward: Vec<f64>,
    /// Rows in a block.
    block_rows: usize,
}

/// The features of a block of rows, column after column.
pub(super) struct Block {
    space: Vec<f64>,
    /// Views of rows that do not stand one after another.
    views: Vec<f64>,
    /// Where the first cache line begins. A vector that straddles two lines is stored in twice the time.
    start: usize,
}

/// Bytes of a cache line, and numbers in it.
const LINE: usize = 64;
const LINE_NUMBERS: usize = LINE / size_of::<f64>();

impl Block {
    /// The features of rows `start..start + rows`.
    pub(super) fn fill<F: FeatureMap>(&mut self, sweep: &Sweep<'_, F>, start: usize, rows: usize) -> &[f64] {
        let columns = &mut self.space[self.start..self.start + sweep.features.count() * rows];
        sweep.features.fill(&sweep.views[start * sweep.width..(start + rows) * sweep.width], columns);
        columns
    }

    /// The features of some rows, at most as many as a block has.
    pub(super) fn gather<F: FeatureMap>(
        &mut self,
        sweep: &Sweep<'_, F>,
        rows: impl ExactSizeIterator<Item = usize>,
    ) -> &[f64] {
        let columns = &mut self.space[self.start..self.start + sweep.features.count() * rows.len()];
        self.views.clear();
        for row in rows {
            self.views.extend_from_slice(&sweep.views[row * sweep.width..(row + 1) * sweep.width]);
        }
        sweep.features.fill(&self.views, columns);
        columns
    }
}

/// Rows a task: partial sums are added in the order of tasks, so the digits do not depend on the number of threads.
const TASK_ROWS: usize = 128 * block::ROWS;

impl<'a, F: FeatureMap> Sweep<'a, F> {
    /// Lines up actions and rewards with the rows of an experience; `reward` maps the observed reward to the one learned from.
    pub fn new<V: View>(experience: &'a Experience<V>, features: &'a F, reward: impl Fn(f64) -> f64) -> Self {
        let rows = experience.views().len() / experience.width();
        let (mut action, mut rewards) = (vec![experience.actions_count() as u32; rows], vec![0.0; rows]);
        for i in 0..experience.people() {
            let (views, decisions) = (experience.views_of(i), experience.decisions_of(i));
            for t in 0..views.len() - 1 {
                action[views.start + t] = experience.actions()[decisions.start + t];
                rewards[views.start + t] = reward(experience.rewards()[decisions.start + t]);
            }
        }
        Self {
            features,
            views: experience.views(),
            width: experience.width(),
            actions: experience.actions_count(),
            action,
            reward: rewards,
            block_rows: block::rows(features.count()),
        }
    }

    /// The rows of some people on disk.
    pub fn of_rows(rows: &'a ExperienceRows, width: usize, actions: usize, features: &'a F) -> Self {
        let (action, reward) = (rows.actions.clone(), rows.rewards.clone());
        Self { features, views: &rows.views, width, actions, action, reward, block_rows: block::rows(features.count()) }
    }

    /// d, the number of features of an action.
    pub fn features(&self) -> usize {
        self.features.count()
    }

    /// |A|.
    pub fn actions(&self) -> usize {
        self.actions
    }

    /// Rows of views.
    pub(super) fn rows(&self) -> usize {
        self.action.len()
    }

    /// The most rows in a block.
    pub(super) fn block_rows(&self) -> usize {
        self.block_rows
    }

    /// The blocks of a range of rows: where each starts, and its number of rows.
    pub(super) fn blocks(&self, rows: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
        let (size, end) = (self.block_rows, rows.end);
        rows.step_by(size).map(move |start| (start, size.min(end - start)))
    }

    /// The action of the transition that ends at a row, if one does.
    pub(super) fn action_before(&self, row: usize) -> Option<u32> {
        let action = self.action[row.checked_sub(1)?];
        (action as usize != self.actions).then_some(action)
    }

    /// Σ φφᵀ for each action (lower halves, d × d each) and the number of transitions with it.
    pub fn gram(&self) -> (Vec<f64>, Vec<usize>) {
        let d = self.features.count();
        let partial = self.tasks(self.actions * d * d, |first, last, sums| {
            let mut block = self.block();
            let mut masks = vec![0.0; self.actions * self.block_rows];
            for start in (first..last).step_by(self.block_rows) {
                let m = self.block_rows.min(last - start);
                let columns = block.fill(self, start, m);
                for (a, mask) in masks[..self.actions * m].chunks_exact_mut(m).enumerate() {
                    self.mask(a, start, m, |_| 1.0, mask);
                }
                block::accumulate_gram(columns, m, &masks[..self.actions * m], sums);
            }
        });
        (partial, self.gram_counts())
    }

    /// The number of transitions with each action.
    pub fn gram_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.actions];
        for &a in &self.action {
            if let Some(count) = counts.get_mut(a as usize) {
                *count += 1;
            }
        }
        counts
    }

    /// The rows of features of the transitions with one action, one after another; for factorisations that need the rows themselves.
    pub fn for_each_row(&self, action: usize, mut visit: impl FnMut(&[f64])) {
        let mut row = vec![0.0; self.features.count()];
        let mut block = self.block();
        for start in (0..self.rows()).step_by(self.block_rows) {
            let m = self.block_rows.min(self.rows() - start);
            let columns = block.fill(self, start, m);
            for i in (0..m).filter(|i| self.action[start + i] as usize == action) {
                for (x, column) in row.iter_mut().zip(columns.chunks_exact(m)) {
                    *x = column[i];
                }
                visit(&row);
            }
        }
    }

    /// Lines 3 to 5 of `alg:cf:2` up to the solve: Σ φ y for each action, with y = r + γ backup(s′) under the given weights.
    ///
    /// With `fitted` weights of the next iteration it is Σ φ (y − φᵀw) instead: what they leave unexplained.
    pub fn targets(
        &self,
        weights: &[f64],
        discount: f64,
        backup: Backup<'_>,
        fitted: Option<&[f64]>,
        moments: &mut [f64],
    ) {
        let (d, k) = (self.features.count(), self.actions);
        let partial = self.tasks(k * d, |first, last, sums| {
            let mut block = self.block();
            let (mut q, mut y) = (vec![0.0; k * self.block_rows], vec![0.0; k * self.block_rows]);
            // Row i's value stands at i, that of the row after the block behind the last.
            let mut values = [0.0; block::ROWS + 1];
            // Backwards, because a target needs the value of the row that follows.
            if last < self.rows() {
                let columns = block.fill(self, last, 1);
                self.values(columns, weights, backup, last, &mut values[..1], &mut q[..k]);
            }
            let blocks = (last - first).div_ceil(self.block_rows);
            for start in (0..blocks).rev().map(|b| first + b * self.block_rows) {
                let m = self.block_rows.min(last - start);
                let columns = block.fill(self, start, m);
                let (q, y) = (&mut q[..k * m], &mut y[..k * m]);
                values[m] = values[0];
                self.values(columns, weights, backup, start, &mut values[..m], q);
                let (rewards, taken) = (&self.reward[start..start + m], &self.action[start..start + m]);
                block::masked_targets(rewards, &values[1..=m], discount, taken, y);
                if let Some(fitted) = fitted {
                    block::combine(columns, m, fitted, q);
                    self.subtract(start, m, q, y);
                }
                block::accumulate(columns, m, y, sums);
            }
        });
        moments.copy_from_slice(&partial);
    }

    /// y = r + γ backup(s′) of the transition that starts at each row; 0 where none does.
    pub fn target_rows(&self, weights: &[f64], discount: f64, backup: Backup<'_>) -> Vec<f64> {
        let (mut block, mut q) = (self.block(), vec![0.0; self.actions * self.block_rows]);
        let mut values = vec![0.0; self.rows() + 1];
        for (start, m) in self.blocks(0..self.rows()) {
            let columns = block.fill(self, start, m);
            self.values(columns, weights, backup, start, &mut values[start..start + m], &mut q[..self.actions * m]);
        }
        let target = |row: usize| self.reward[row] + discount * values[row + 1];
        (0..self.rows()).map(|row| if self.action_at(row).is_some() { target(row) } else { 0.0 }).collect()
    }

    /// The action of the transition that starts at a row, if one does.
    pub fn action_at(&self, row: usize) -> Option<usize> {
        let action = self.action[row] as usize;
        (action != self.actions).then_some(action)
    }

    /// Visits the features of every row in order, a transition starting there or not.
    pub fn for_each_view(&self, mut visit: impl FnMut(usize, &[f64])) {
        let mut features = vec![0.0; self.features.count()];
        let mut block = self.block();
        for (start, m) in self.blocks(0..self.rows()) {
            let columns = block.fill(self, start, m);
            for i in 0..m {
                for (x, column) in features.iter_mut().zip(columns.chunks_exact(m)) {
                    *x = column[i];
                }
                visit(start + i, &features);
            }
        }
    }

    /// Σ φ(s, a) φ̄(s′)ᵀ over transitions, where φ̄(s′) = Σ_b π(b | s′) φ(s′, b): row-major, |A|·d square, action after action both ways.
    ///
    /// It is the matrix C of the linear iteration w ← G⁻¹(Σ φr + γ C w) that [`targets`](Self::targets) performs without forming it.
    pub fn successors(&self, probabilities: &[f64]) -> Vec<f64> {
        let (d, k) = (self.features.count(), self.actions);
        self.tasks(k * d * k * d, |first, last, sums| {
            let (mut block, mut following) = (self.block(), self.block());
            let mut expected = vec![0.0; k * d * self.block_rows];
            let mut taken = vec![0.0; k * d * self.block_rows];
            // The very last row starts no transition, and there is nothing after it to read.
            let last = last.min(self.rows() - 1);
            for start in (first..last).step_by(self.block_rows) {
                let m = self.block_rows.min(last - start);
                let (columns, after) = (block.fill(self, start, m), following.fill(self, start + 1, m));
                let next = &probabilities[(start + 1) * k..(start + 1 + m) * k];
                let (expected, taken) = (&mut expected[..k * d * m], &mut taken[..k * d * m]);
                for (j, (expected, taken)) in expected.chunks_exact_mut(m).zip(taken.chunks_exact_mut(m)).enumerate() {
                    let (action, feature) = (j / d, (j % d) * m..(j % d + 1) * m);
                    for (i, (x, after)) in expected.iter_mut().zip(&after[feature.clone()]).enumerate() {
                        *x = next[i * k + action] * after;
                    }
                    let column = &columns[feature];
                    self.mask(action, start, m, |i| column[i], taken);
                }
                block::accumulate(expected, m, taken, sums);
            }
        })
    }

    /// Working space for the features of a block.
    pub(super) fn block(&self) -> Block {
        let space = vec![0.0; self.features.count() * self.block_rows + LINE_NUMBERS];
        // The standard library may decline to say where a line begins; any start is right, and some are slower.
        let start = space.as_ptr().align_offset(LINE).min(LINE_NUMBERS);
        Block { space, views: Vec::with_capacity(self.width * self.block_rows), start }
    }

    /// `of(i)` where row i of the block takes the action, 0 elsewhere.
    #[inline(always)]
    fn mask(&self, action: usize, start: usize, rows: usize, of: impl Fn(usize) -> f64, out: &mut [f64]) {
        let taken = &self.action[start..start + rows];
        for (i, (x, &a)) in out.iter_mut().zip(taken).enumerate() {
            *x = if a as usize == action { of(i) } else { 0.0 };
        }
    }

    /// Takes the fitted values off the targets of the rows that take the action.
    fn subtract(&self, start: usize, rows: usize, fitted: &[f64], y: &mut [f64]) {
        for (action, (y, fitted)) in y.chunks_exact_mut(rows).zip(fitted.chunks_exact(rows)).enumerate() {
            for ((y, q), &a) in y.iter_mut().zip(fitted).zip(&self.action[start..]) {
                if a as usize == action {
                    *y -= q;
                }
            }
        }
    }

    /// The backed-up value of each row of a block; `q` is working space, a number an action and row.
    fn values(
        &self,
        columns: &[f64],
        weights: &[f64],
        backup: Backup<'_>,
        start: usize,
        values: &mut [f64],
        q: &mut [f64],
    ) {
        let m = values.len();
        block::combine(columns, m, weights, q);
        if let Backup::BoundedMax { margins: Some(margins), .. } = backup {
            let rows = margins[start * self.actions..].chunks_exact(self.actions);
            for (i, row) in rows.take(m).enumerate() {
                row.iter().enumerate().for_each(|(a, margin)| q[a * m + i] -= margin);
            }
        }
        match backup {
            Backup::Max | Backup::ClippedMax(_) | Backup::BoundedMax { .. } => {
                let (first, others) = q.split_at(m);
                values.copy_from_slice(first);
                for q in others.chunks_exact(m) {
                    for (v, q) in values.iter_mut().zip(q) {
                        *v = if *q > *v { *q } else { *v };
                    }
                }
            }
            Backup::Expectation(probabilities) => {
                let rows = probabilities[start * self.actions..].chunks_exact(self.actions);
                for (i, (v, row)) in values.iter_mut().zip(rows).enumerate() {
                    *v = row.iter().enumerate().map(|(a, p)| p * q[a * m + i]).sum();
                }
            }
        }
        let (low, high) = match backup {
            Backup::ClippedMax(limit) => (-limit, limit),
            Backup::BoundedMax { low, high, .. } => (low, high),
            Backup::Max | Backup::Expectation(_) => return,
        };
        values.iter_mut().for_each(|v| *v = v.clamp(low, high));
    }

    /// What `work(task, its rows)` answers, in the order of tasks.
    pub(super) fn map_tasks<T: Send>(&self, work: impl Fn(usize, Range<usize>) -> T + Sync) -> Vec<T> {
        let rows = self.rows();
        let run = |task: usize| work(task, task * TASK_ROWS..((task + 1) * TASK_ROWS).min(rows));
        match rows.div_ceil(TASK_ROWS) {
            0 | 1 => vec![run(0)],
            tasks => (0..tasks).into_par_iter().map(run).collect(),
        }
    }

    /// Runs `work(first row, last row, sums)` over tasks of rows and adds the sums up in order.
    fn tasks(&self, size: usize, work: impl Fn(usize, usize, &mut [f64]) + Sync) -> Vec<f64> {
        let rows = self.rows();
        let tasks = rows.div_ceil(TASK_ROWS).max(1);
        let mut sums = vec![0.0; tasks * size];
        let run = |(task, sums): (usize, &mut [f64])| {
            let first = task * TASK_ROWS;
            work(first, (first + TASK_ROWS).min(rows), sums);
        };
        if tasks == 1 {
            run((0, &mut sums));
        } else {
            sums.par_chunks_mut(size).enumerate().for_each(run);
        }
        let (total, others) = sums.split_at_mut(size);
        for partial in others.chunks_exact(size) {
            for (t, p) in total.iter_mut().zip(partial) {
                *t += p;
            }
        }
        sums.truncate(size);
        sums
    }
}
