//! Action values: what a greedy policy compares.

use super::features::FeatureMap;
use crate::numeric::block;
use crate::preprocess::{Experience, View};
use std::marker::PhantomData;

/// Q(s, a) for every action, a block of rows at a time.
pub trait ActionValue<V: View>: Send + Sync {
    /// How many numbers a row has.
    fn inputs(&self) -> usize;

    /// |A|.
    fn actions(&self) -> usize;

    /// Writes Q(sᵢ, a) for a block of n rows, action after action: `out[a * n + i]`.
    fn values(&self, rows: &[f64], out: &mut [f64]);
}

/// Q(s, a) = wₐᵀ φ(s): the linear class of `asm:hypothesis`, with weights of its own for each action.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearQ<V, F> {
    features: F,
    actions: usize,
    weights: Vec<f64>,
    kind: PhantomData<V>,
}

impl<V: View, F: FeatureMap> LinearQ<V, F> {
    /// The action value with these weights, d for each action in turn.
    ///
    /// # Panics
    /// If there are not d weights an action.
    pub fn new(features: F, actions: usize, weights: Vec<f64>) -> Self {
        assert_eq!(weights.len(), actions * features.count(), "d weights an action");
        Self { features, actions, weights, kind: PhantomData }
    }

    /// The feature map.
    pub fn features(&self) -> &F {
        &self.features
    }

    /// All weights, d for each action in turn.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }
}

impl<V: View, F: FeatureMap> ActionValue<V> for LinearQ<V, F> {
    fn inputs(&self) -> usize {
        self.features.inputs()
    }

    fn actions(&self) -> usize {
        self.actions
    }

    fn values(&self, rows: &[f64], out: &mut [f64]) {
        let (width, d) = (self.features.inputs(), self.features.count());
        let n = rows.len() / width;
        let block_rows = block::rows(d).min(n);
        let (mut columns, mut q) = (vec![0.0; d * block_rows], vec![0.0; self.actions * block_rows]);
        for first in (0..n).step_by(block_rows.max(1)) {
            let m = block_rows.min(n - first);
            let (columns, q) = (&mut columns[..d * m], &mut q[..self.actions * m]);
            self.features.fill(&rows[first * width..(first + m) * width], columns);
            block::combine(columns, m, &self.weights, q);
            for (out, q) in out.chunks_exact_mut(n).zip(q.chunks_exact(m)) {
                out[first..first + m].copy_from_slice(q);
            }
        }
    }
}

/// Q(view, a) at every decision of an experience, |A| numbers per decision.
pub fn decision_values<V: View>(q: &impl ActionValue<V>, experience: &Experience<V>) -> Vec<f64> {
    let (rows, actions) = (experience.views().len() / experience.width(), q.actions());
    let mut all = vec![0.0; rows * actions];
    q.values(experience.views(), &mut all);
    let mut values = Vec::with_capacity(experience.actions().len() * actions);
    for i in 0..experience.people() {
        let first = experience.views_of(i).start;
        for t in 0..experience.decisions_of(i).len() {
            values.extend((0..actions).map(|a| all[a * rows + first + t]));
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_action_value_reads_what_its_features_read() {
        let features = crate::learn::features::Polynomial::new(3, 1).unwrap();
        let q = LinearQ::<crate::preprocess::StateOnly, _>::new(features, 2, vec![0.5; 8]);
        assert_eq!((q.inputs(), ActionValue::actions(&q)), (3, 2));
    }
}
