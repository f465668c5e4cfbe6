//! True means with a known error.

use crate::kernel::model::Mechanism;

/// A world's means, but for ε that is added to every state's mean at the second level.
///
/// Only differences between levels enter a counterfactual, so that an error common to both would change nothing.
pub struct Mistaken<W> {
    world: W,
    error: f64,
    initial: Vec<Vec<f64>>,
}

impl<W: Mechanism> Mistaken<W> {
    /// The means of `world`, wrong by `error` at the second level.
    pub fn new(world: W, error: f64) -> Self {
        let off = |level: usize| if level == 1 { error } else { 0.0 };
        let initial = (0..world.levels())
            .map(|level| world.initial_mean(level).iter().map(|mean| mean + off(level)).collect())
            .collect();
        Self { world, error, initial }
    }
}

impl<W: Mechanism> Mechanism for Mistaken<W> {
    fn state_dim(&self) -> usize {
        self.world.state_dim()
    }
    fn levels(&self) -> usize {
        self.world.levels()
    }
    fn actions(&self) -> usize {
        self.world.actions()
    }
    fn initial_mean(&self, level: usize) -> &[f64] {
        &self.initial[level]
    }
    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        self.world.mean(level, states, actions, next, rewards);
        if level == 1 {
            next.iter_mut().for_each(|mean| *mean += self.error);
        }
    }
}
