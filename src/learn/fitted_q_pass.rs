//! One pass of fitted Q iteration over the data: targets and Φᵀy, features made block by block and never stored.

use super::features::FeatureMap;
use crate::numeric::block;
use crate::preprocess::{Experience, View};
use rayon::prelude::*;

/// What follows a step, as the target sees it.
#[derive(Debug, Clone, Copy)]
pub enum Backup<'a> {
    /// maxₐ Q(s′, a): fitted Q iteration.
    Max,
    /// maxₐ Q(s′, a), held in [−V, V].
    ClippedMax(f64),
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
        }
    }

    /// d, the number of features of an action.
    pub fn features(&self) -> usize {
        self.features.count()
    }

    /// |A|.
    pub fn actions(&self) -> usize {
        self.actions
    }

    fn rows(&self) -> usize {
        self.action.len()
    }

    /// Σ φφᵀ for each action (lower halves, d × d each) and the number of transitions with it.
    pub fn gram(&self) -> (Vec<f64>, Vec<usize>) {
        let (d, size) = (self.features.count(), self.actions * self.features.count().pow(2));
        let partial = self.tasks(size, |first, last, sums| {
            let (mut columns, mut weight, mut weighted) =
                (vec![0.0; d * block::ROWS], [0.0; block::ROWS], [0.0; block::ROWS]);
            for start in (first..last).step_by(block::ROWS) {
                let m = block::ROWS.min(last - start);
                self.fill(start, m, &mut columns);
                for (a, gram) in sums.chunks_exact_mut(d * d).enumerate() {
                    self.mask(a, start, m, |_| 1.0, &mut weight);
                    block::accumulate_gram(&columns[..d * m], &weight[..m], gram, &mut weighted[..m]);
                }
            }
        });
        let mut counts = vec![0; self.actions];
        for &a in &self.action {
            if let Some(count) = counts.get_mut(a as usize) {
                *count += 1;
            }
        }
        (partial, counts)
    }

    /// The rows of features of the transitions with one action, one after another; for factorisations that need the rows themselves.
    pub fn for_each_row(&self, action: usize, mut visit: impl FnMut(&[f64])) {
        let d = self.features.count();
        let (mut columns, mut row) = (vec![0.0; d * block::ROWS], vec![0.0; d]);
        for start in (0..self.rows()).step_by(block::ROWS) {
            let m = block::ROWS.min(self.rows() - start);
            self.fill(start, m, &mut columns);
            for i in (0..m).filter(|i| self.action[start + i] as usize == action) {
                for j in 0..d {
                    row[j] = columns[j * m + i];
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
        let d = self.features.count();
        let partial = self.tasks(self.actions * d, |first, last, sums| {
            let mut columns = vec![0.0; d * block::ROWS];
            let (mut value, mut target, mut q) = ([0.0; block::ROWS], [0.0; block::ROWS], [0.0; block::ROWS]);
            // Backwards, because a target needs the value of the row that follows.
            let mut after = 0.0;
            if last < self.rows() {
                self.fill(last, 1, &mut columns);
                self.values(&columns[..d], weights, backup, last, &mut value[..1], &mut q[..1]);
                after = value[0];
            }
            let blocks = (last - first).div_ceil(block::ROWS);
            for start in (0..blocks).rev().map(|b| first + b * block::ROWS) {
                let m = block::ROWS.min(last - start);
                self.fill(start, m, &mut columns);
                let columns = &columns[..d * m];
                self.values(columns, weights, backup, start, &mut value[..m], &mut q[..m]);
                for (a, sums) in sums.chunks_exact_mut(d).enumerate() {
                    self.mask(
                        a,
                        start,
                        m,
                        |i| {
                            let next = if i + 1 < m { value[i + 1] } else { after };
                            self.reward[start + i] + discount * next
                        },
                        &mut target,
                    );
                    if let Some(fitted) = fitted {
                        block::combine(columns, &fitted[a * d..(a + 1) * d], &mut q[..m]);
                        self.subtract(a, start, &q[..m], &mut target);
                    }
                    block::accumulate(columns, &target[..m], sums);
                }
                after = value[0];
            }
        });
        moments.copy_from_slice(&partial);
    }

    /// Σ φ(s, a) φ̄(s′)ᵀ over transitions, where φ̄(s′) = Σ_b π(b | s′) φ(s′, b): row-major, |A|·d square, action after action both ways.
    ///
    /// It is the matrix C of the linear iteration w ← G⁻¹(Σ φr + γ C w) that [`targets`](Self::targets) performs without forming it.
    pub fn successors(&self, probabilities: &[f64]) -> Vec<f64> {
        let (d, k) = (self.features.count(), self.actions);
        self.tasks(k * d * k * d, |first, last, sums| {
            let (mut columns, mut after) = (vec![0.0; d * block::ROWS], vec![0.0; d * block::ROWS]);
            let (mut expected, mut taken) = (vec![0.0; k * d * block::ROWS], [0.0; block::ROWS]);
            // The very last row starts no transition, and there is nothing after it to read.
            let last = last.min(self.rows() - 1);
            for start in (first..last).step_by(block::ROWS) {
                let m = block::ROWS.min(last - start);
                self.fill(start, m, &mut columns);
                self.fill(start + 1, m, &mut after);
                let next = &probabilities[(start + 1) * k..(start + 1 + m) * k];
                for (j, out) in expected[..k * d * m].chunks_exact_mut(m).enumerate() {
                    let (action, feature) = (j / d, j % d);
                    for (i, x) in out.iter_mut().enumerate() {
                        *x = next[i * k + action] * after[feature * m + i];
                    }
                }
                for (j, sums) in sums.chunks_exact_mut(k * d).enumerate() {
                    let (action, column) = (j / d, &columns[(j % d) * m..(j % d + 1) * m]);
                    self.mask(action, start, m, |i| column[i], &mut taken);
                    block::accumulate(&expected[..k * d * m], &taken[..m], sums);
                }
            }
        })
    }

    fn fill(&self, start: usize, rows: usize, columns: &mut [f64]) {
        let views = &self.views[start * self.width..(start + rows) * self.width];
        self.features.fill(views, &mut columns[..self.features.count() * rows]);
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
    fn subtract(&self, action: usize, start: usize, values: &[f64], target: &mut [f64]) {
        for ((x, q), &a) in target.iter_mut().zip(values).zip(&self.action[start..]) {
            if a as usize == action {
                *x -= q;
            }
        }
    }

    /// The backed-up value of each row of a block.
    fn values(
        &self,
        columns: &[f64],
        weights: &[f64],
        backup: Backup<'_>,
        start: usize,
        value: &mut [f64],
        q: &mut [f64],
    ) {
        let d = self.features.count();
        for (a, weights) in weights.chunks_exact(d).enumerate() {
            block::combine(columns, weights, q);
            match backup {
                Backup::Max | Backup::ClippedMax(_) if a == 0 => value.copy_from_slice(q),
                Backup::Max | Backup::ClippedMax(_) => {
                    for (v, q) in value.iter_mut().zip(&*q) {
                        *v = v.max(*q);
                    }
                }
                Backup::Expectation(probabilities) => {
                    let rows = probabilities[start * self.actions..].chunks_exact(self.actions);
                    for ((v, q), row) in value.iter_mut().zip(&*q).zip(rows) {
                        *v = if a == 0 { row[0] * q } else { row[a].mul_add(*q, *v) };
                    }
                }
            }
        }
        if let Backup::ClippedMax(limit) = backup {
            value.iter_mut().for_each(|v| *v = v.clamp(-limit, limit));
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
