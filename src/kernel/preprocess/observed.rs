//! The two views that are not fair: everything, and everything but the sensitive attribute.

use super::{Memory, Preprocessor, StateAndLevel, StateOnly};

/// Full: the policy reads the state and the sensitive level. A view is (s, z) with z the level's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full {
    /// p, the number of state coordinates.
    pub state_dim: usize,
}

/// Unaware: the policy reads the state alone, which the level has shaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unaware {
    /// p, the number of state coordinates.
    pub state_dim: usize,
}

impl Preprocessor for Full {
    type View = StateAndLevel;

    fn width(&self) -> usize {
        self.state_dim + 1
    }

    fn begin(&self, levels: &[u32], states: &[f64]) -> Memory {
        let mut view = vec![0.0; levels.len() * self.width()];
        for ((row, state), &level) in
            view.chunks_exact_mut(self.width()).zip(states.chunks_exact(self.state_dim)).zip(levels)
        {
            row[..self.state_dim].copy_from_slice(state);
            row[self.state_dim] = f64::from(level);
        }
        Memory::new(levels, states, view)
    }

    fn advance(&self, memory: &mut Memory, _actions: &[u32], states: &[f64]) {
        memory.states.copy_from_slice(states);
        for (row, state) in memory.view.chunks_exact_mut(self.width()).zip(states.chunks_exact(self.state_dim)) {
            row[..self.state_dim].copy_from_slice(state);
        }
    }

    fn reward(&self, _memory: &mut Memory, _actions: &[u32], _rewards: &mut [f64]) {}
}

impl Preprocessor for Unaware {
    type View = StateOnly;

    fn width(&self) -> usize {
        self.state_dim
    }

    fn begin(&self, levels: &[u32], states: &[f64]) -> Memory {
        Memory::new(levels, states, states.to_vec())
    }

    fn advance(&self, memory: &mut Memory, _actions: &[u32], states: &[f64]) {
        memory.states.copy_from_slice(states);
        memory.view.copy_from_slice(states);
    }

    fn reward(&self, _memory: &mut Memory, _actions: &[u32], _rewards: &mut [f64]) {}
}
