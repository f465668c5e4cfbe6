//! True means with a known error.

use crate::kernel::model::{Mechanism, NoiseLaw};

/// A mechanism whose means are off by numbers of their level.
///
/// Only differences between levels enter a counterfactual, so that an error common to all would change nothing.
#[derive(Debug, Clone)]
pub struct Mistaken<M> {
    mechanism: M,
    /// By level: what is added to the means of states, and to those of rewards.
    states: Vec<f64>,
    rewards: Vec<f64>,
    initial: Vec<Vec<f64>>,
}

impl<M: Mechanism> Mistaken<M> {
    /// The means of states wrong by `error` at the second level.
    pub fn new(mechanism: M, error: f64) -> Self {
        let levels = mechanism.levels();
        let states = (0..levels).map(|level| if level == 1 { error } else { 0.0 }).collect();
        Self::off_by(mechanism, states, vec![0.0; levels])
    }

    /// All means of level k wrong by `errors[k]`.
    pub(crate) fn at_each_level(mechanism: M, errors: Vec<f64>) -> Self {
        Self::off_by(mechanism, errors.clone(), errors)
    }

    /// All means of level k wrong by k times `error`.
    pub(crate) fn by_level(mechanism: M, error: f64) -> Self {
        let errors = (0..mechanism.levels()).map(|k| k as f64 * error).collect();
        Self::at_each_level(mechanism, errors)
    }

    fn off_by(mechanism: M, states: Vec<f64>, rewards: Vec<f64>) -> Self {
        let off = |(k, error): (usize, &f64)| mechanism.initial_mean(k).iter().map(|mean| mean + error).collect();
        let initial = states.iter().enumerate().map(off).collect();
        Self { mechanism, states, rewards, initial }
    }
}

impl<M: Mechanism> Mechanism for Mistaken<M> {
    fn state_dim(&self) -> usize {
        self.mechanism.state_dim()
    }
    fn levels(&self) -> usize {
        self.mechanism.levels()
    }
    fn actions(&self) -> usize {
        self.mechanism.actions()
    }
    fn initial_mean(&self, level: usize) -> &[f64] {
        &self.initial[level]
    }
    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        self.mechanism.mean(level, states, actions, next, rewards);
        next.iter_mut().for_each(|mean| *mean += self.states[level]);
        rewards.iter_mut().for_each(|mean| *mean += self.rewards[level]);
    }
    fn noise(&self) -> Option<&dyn NoiseLaw> {
        self.mechanism.noise()
    }
}
