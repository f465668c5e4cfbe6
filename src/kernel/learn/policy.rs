//! Decision rules: from what a policy reads to a distribution over actions.

use super::ActionValue;
use crate::model::worlds::{World, draw_action};
use crate::preprocess::{StateAndLevel, View};

/// A decision rule on views of one kind.
pub trait Policy<V: View>: Send + Sync {
    /// |A|.
    fn actions(&self) -> usize;

    /// How many numbers a view must have; `None` where any number will do.
    fn inputs(&self) -> Option<usize> {
        None
    }

    /// π(a | sᵢ) for a block of rows, |A| numbers a row.
    fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]);

    /// Whether every distribution puts all its mass on one action.
    fn is_deterministic(&self) -> bool;

    /// One action a row; row i is decided by its uniform draw through the inverse of the cumulative distribution.
    fn act(&self, rows: &[f64], width: usize, uniforms: &[f64], out: &mut [u32]) {
        let mut probabilities = vec![0.0; uniforms.len() * self.actions()];
        self.probabilities(rows, width, &mut probabilities);
        for ((action, row), &uniform) in out.iter_mut().zip(probabilities.chunks_exact(self.actions())).zip(uniforms) {
            *action = draw_action(row, uniform);
        }
    }
}

/// π(s) = argmaxₐ Q(s, a); of equal values the first action wins.
#[derive(Debug, Clone, PartialEq)]
pub struct Greedy<Q>(pub Q);

impl<V: View, Q: ActionValue<V>> Policy<V> for Greedy<Q> {
    fn actions(&self) -> usize {
        self.0.actions()
    }

    fn inputs(&self) -> Option<usize> {
        Some(self.0.inputs())
    }

    fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]) {
        let n = rows.len() / width;
        let mut chosen = vec![0; n];
        self.act(rows, width, &[], &mut chosen);
        out.fill(0.0);
        for (row, &action) in out.chunks_exact_mut(self.0.actions()).zip(&chosen) {
            row[action as usize] = 1.0;
        }
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    fn act(&self, rows: &[f64], width: usize, _uniforms: &[f64], out: &mut [u32]) {
        let n = rows.len() / width;
        let mut values = vec![0.0; n * self.0.actions()];
        self.0.values(rows, &mut values);
        let (first, others) = values.split_at_mut(n);
        out.fill(0);
        for (action, column) in others.chunks_exact(n.max(1)).enumerate() {
            for ((best, chosen), q) in first.iter_mut().zip(&mut *out).zip(column) {
                if *q > *best {
                    *best = *q;
                    *chosen = action as u32 + 1;
                }
            }
        }
    }
}

/// Every action with the same probability, whatever is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UniformlyRandom {
    /// |A|.
    pub actions: usize,
}

impl<V: View> Policy<V> for UniformlyRandom {
    fn actions(&self) -> usize {
        self.actions
    }

    fn probabilities(&self, _rows: &[f64], _width: usize, out: &mut [f64]) {
        out.fill(1.0 / self.actions as f64);
    }

    fn is_deterministic(&self) -> bool {
        self.actions == 1
    }
}

/// The behaviour policy of a world; it reads (s, z), as [`Full`](crate::preprocess::Full) shows them.
#[derive(Debug, Clone, PartialEq)]
pub struct Behaviour<W>(pub W);

impl<W: World> Policy<StateAndLevel> for Behaviour<W> {
    fn actions(&self) -> usize {
        self.0.actions()
    }

    fn inputs(&self) -> Option<usize> {
        Some(self.0.state_dim() + 1)
    }

    fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]) {
        for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(self.0.actions())) {
            self.0.behaviour(row[width - 1] as usize, &row[..width - 1], out);
        }
    }

    fn is_deterministic(&self) -> bool {
        false
    }
}
