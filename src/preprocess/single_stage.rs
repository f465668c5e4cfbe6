//! FLAP, the single-stage preprocessing, applied at each time as if it were the only one.

use super::{Augmented, Memory, Preprocessor};
use crate::data::Panel;

/// Single-stage preprocessing: x̃ = [x − Ê(X | Z = z) + Ê(X | Z = k)]ₖ.
///
/// Right for a contextual bandit. Over time it is not, because the level also acts through earlier states and actions: the
/// comparison is the point of having it.
#[derive(Debug, Clone, PartialEq)]
pub struct SingleStage {
    means: Vec<Vec<f64>>,
}

impl SingleStage {
    /// Level means over all recorded states of a panel. `None` when a level has nobody.
    pub fn fit(panel: &Panel) -> Option<Self> {
        let p = panel.state_dim();
        let mut sums = vec![vec![0.0; p]; panel.levels().len()];
        let mut counts = vec![0usize; panel.levels().len()];
        for person in panel.iter() {
            for state in person.states.chunks_exact(p) {
                counts[person.level as usize] += 1;
                for (sum, s) in sums[person.level as usize].iter_mut().zip(state) {
                    *sum += s;
                }
            }
        }
        if counts.contains(&0) {
            return None;
        }
        for (sum, &count) in sums.iter_mut().zip(&counts) {
            sum.iter_mut().for_each(|x| *x /= count as f64);
        }
        Some(Self { means: sums })
    }

    fn fill(&self, memory: &mut Memory) {
        let p = self.means[0].len();
        let rows = memory.view.chunks_exact_mut(self.means.len() * p).zip(memory.states.chunks_exact(p));
        for ((row, state), &z) in rows.zip(&memory.levels) {
            for (world, mean) in row.chunks_exact_mut(p).zip(&self.means) {
                for j in 0..p {
                    world[j] = state[j] - self.means[z as usize][j] + mean[j];
                }
            }
        }
    }
}

impl Preprocessor for SingleStage {
    type View = Augmented;

    fn width(&self) -> usize {
        self.means.len() * self.means[0].len()
    }

    fn begin(&self, levels: &[u32], states: &[f64]) -> Memory {
        let view = vec![0.0; levels.len() * self.width()];
        let mut memory = Memory::new(levels, states, view);
        self.fill(&mut memory);
        memory
    }

    fn advance(&self, memory: &mut Memory, _actions: &[u32], states: &[f64]) {
        memory.states.copy_from_slice(states);
        self.fill(memory);
    }

    fn reward(&self, _memory: &mut Memory, _actions: &[u32], _rewards: &mut [f64]) {}
}
