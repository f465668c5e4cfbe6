//! The Oracle: counterfactual states as the structural model itself makes them.

use super::sequential::{gather, scatter};
use super::{Augmented, Memory, Preprocessor};
use crate::model::Mechanism;
use crate::model::noise::{first_noise, first_state};

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
        let mut noise = vec![0.0; p];
        for (state, &z) in states.chunks_exact(p).zip(levels) {
            noise.copy_from_slice(state);
            first_noise(&self.mechanism, z as usize, &mut noise);
            for k in 0..self.mechanism.levels() {
                let start = view.len();
                view.extend_from_slice(&noise);
                first_state(&self.mechanism, k, &mut view[start..]);
            }
        }
        Memory::new(levels, states, view)
    }

    fn advance(&self, memory: &mut Memory, actions: &[u32], states: &[f64]) {
        let (p, width) = (self.mechanism.state_dim(), self.width());
        let (step, noise, world) =
            (&mut memory.scratch.step, &mut memory.scratch.next, &mut memory.scratch.level_states);
        let mut first = 0;
        // Neighbours of one level go together; in an evaluation a whole block does.
        for run in memory.levels.chunk_by(|a, b| a == b) {
            let (z, rows) = (run[0] as usize, first..first + run.len());
            let (coordinates, actions) = (rows.start * p..rows.end * p, &actions[rows.clone()]);
            step.prepare(&self.mechanism, z, &memory.states[coordinates.clone()], actions);
            noise.clear();
            noise.extend_from_slice(&states[coordinates.clone()]);
            step.state_noise(&self.mechanism, z, noise);
            let view = &mut memory.view[rows.start * width..rows.end * width];
            world.resize(noise.len(), 0.0);
            for k in 0..self.mechanism.levels() {
                gather(view, (k * p, p, width), world);
                step.prepare(&self.mechanism, k, world, actions);
                world.copy_from_slice(noise);
                step.states(&self.mechanism, k, world);
                scatter(world, (k * p, p, width), view);
            }
            first = rows.end;
        }
        memory.states.copy_from_slice(states);
    }

    fn reward(&self, memory: &mut Memory, actions: &[u32], rewards: &mut [f64]) {
        let (p, width) = (self.mechanism.state_dim(), self.width());
        let step = &mut memory.scratch.step;
        for (i, r) in rewards.iter_mut().enumerate() {
            let (z, action) = (memory.levels[i] as usize, &actions[i..=i]);
            step.prepare(&self.mechanism, z, &memory.states[i * p..(i + 1) * p], action);
            let mut noise = [*r];
            step.reward_noise(&self.mechanism, z, &mut noise);
            *r = 0.0;
            for (k, weight) in self.weights.iter().enumerate() {
                step.prepare(&self.mechanism, k, &memory.view[i * width + k * p..i * width + (k + 1) * p], action);
                let mut reward = noise;
                step.rewards(&self.mechanism, k, &mut reward);
                *r += weight * reward[0];
            }
        }
    }
}
