//! The Oracle: counterfactual states as the structural model itself makes them.

use super::{Augmented, Memory, Preprocessor};
use crate::kernel::model::Mechanism;

/// The true counterfactual states: abduct the noise of this step, set each level, predict.
///
/// It must agree with [`Sequential`](super::Sequential) under true means to rounding; it is written from the definition of a
/// counterfactual and not from `alg:cf:1`, so that the agreement means something.
#[derive(Debug, Clone, PartialEq)]
pub struct Oracle<M> {
    mechanism: M,
    weights: Vec<f64>,
}

impl<M: Mechanism> Oracle<M> {
    /// The Oracle of a world with the true P(Z = z⁽ᵏ⁾).
    ///
    /// # Panics
    /// If there is not one weight a level.
    pub fn new(mechanism: M, weights: Vec<f64>) -> Self {
        assert_eq!(weights.len(), mechanism.levels(), "one weight a level");
        Self { mechanism, weights }
    }
}

impl<M: Mechanism> Preprocessor for Oracle<M> {
    type View = Augmented;

    fn width(&self) -> usize {
        self.mechanism.state_dim() * self.mechanism.levels()
    }

    fn begin(&self, levels: &[u32], states: &[f64]) -> Memory {
        let p = self.mechanism.state_dim();
        let mut view = Vec::with_capacity(levels.len() * self.width());
        for (state, &z) in states.chunks_exact(p).zip(levels) {
            let own = self.mechanism.initial_mean(z as usize);
            for k in 0..self.mechanism.levels() {
                let other = self.mechanism.initial_mean(k);
                view.extend((0..p).map(|j| other[j] + (state[j] - own[j])));
            }
        }
        Memory::new(levels, states, view)
    }

    fn advance(&self, memory: &mut Memory, actions: &[u32], states: &[f64]) {
        let (p, levels, width, n) =
            (self.mechanism.state_dim(), self.mechanism.levels(), self.width(), memory.people());
        let scratch = &mut memory.scratch;
        scratch.next.resize(p, 0.0);
        scratch.reward.resize(1, 0.0);
        scratch.level_states.resize(p, 0.0);
        for i in 0..n {
            let (z, action) = (memory.levels[i] as usize, &actions[i..=i]);
            let before = &memory.states[i * p..(i + 1) * p];
            self.mechanism.mean(z, before, action, &mut scratch.next, &mut scratch.reward);
            for j in 0..p {
                scratch.level_states[j] = states[i * p + j] - scratch.next[j];
            }
            for k in 0..levels {
                let world = &mut memory.view[i * width + k * p..i * width + (k + 1) * p];
                self.mechanism.mean(k, world, action, &mut scratch.next, &mut scratch.reward);
                for ((s, mean), noise) in world.iter_mut().zip(&scratch.next).zip(&scratch.level_states) {
                    *s = mean + noise;
                }
            }
        }
        memory.states.copy_from_slice(states);
    }

    fn reward(&self, memory: &mut Memory, actions: &[u32], rewards: &mut [f64]) {
        let (p, width) = (self.mechanism.state_dim(), self.width());
        let (mut next, mut mean) = (vec![0.0; p], [0.0]);
        for (i, r) in rewards.iter_mut().enumerate() {
            let (z, action) = (memory.levels[i] as usize, &actions[i..=i]);
            self.mechanism.mean(z, &memory.states[i * p..(i + 1) * p], action, &mut next, &mut mean);
            let noise = *r - mean[0];
            *r = 0.0;
            for (k, weight) in self.weights.iter().enumerate() {
                let world = &memory.view[i * width + k * p..i * width + (k + 1) * p];
                self.mechanism.mean(k, world, action, &mut next, &mut mean);
                *r += weight * (mean[0] + noise);
            }
        }
    }
}
