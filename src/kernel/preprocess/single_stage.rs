//! FLAP, the single-stage preprocessing, applied at each time as if it were the only one.

use super::{Augmented, Memory, Preprocessor};
use crate::kernel::data::Panel;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::data::{Labels, PanelBuilder, Person};

    #[test]
    fn a_state_moves_by_the_difference_of_the_levels_means() {
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(1), 2).unwrap();
        let mut push = |id, level, states: &[f64], steps: usize| {
            let (actions, rewards) = (vec![0; steps], vec![0.0; steps]);
            builder.push(Person { id, level, states, actions: &actions, rewards: &rewards }).unwrap();
        };
        // Means (2, 10) of level 0 and (5, 1) of level 1.
        push("a", 0, &[1.0, 12.0, 3.0, 8.0], 1);
        push("b", 1, &[5.0, 2.0], 1);
        push("c", 1, &[4.0, 1.0, 6.0, 0.0], 2);
        let panel = builder.finish();
        let stage = SingleStage::fit(&panel).unwrap();
        assert_eq!(stage.width(), 4);
        let mut memory = stage.begin(&[0, 1], &[1.0, 12.0, 5.0, 2.0]);
        assert_eq!(memory.view, [1.0, 12.0, 4.0, 3.0, 2.0, 11.0, 5.0, 2.0]);
        stage.advance(&mut memory, &[0, 0], &[3.0, 8.0, 0.5, 0.25]);
        assert_eq!(memory.view, [3.0, 8.0, 6.0, -1.0, -2.5, 9.25, 0.5, 0.25]);
    }

    #[test]
    fn a_level_without_people_has_no_mean() {
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(1), 1).unwrap();
        builder.push(Person { id: "a", level: 1, states: &[1.0], actions: &[0], rewards: &[0.0] }).unwrap();
        assert_eq!(SingleStage::fit(&builder.finish()), None);
    }
}
