//! FLAP, the single-stage preprocessing, applied at each time as if it were the only one.

use super::{Augmented, Memory, Preprocessor};
use crate::people::Panel;

/// Single-stage preprocessing: x̃ = [x − Ê(X | Z = z) + Ê(X | Z = k)]ₖ.
///
/// Right for a contextual bandit. Over time it is not, because the level also acts through earlier states and actions: the
/// comparison is the point of having it.
#[derive(Debug, Clone, PartialEq)]
pub struct SingleStage {
    /// By time, level and coordinate; the last time serves all later ones.
    means: Vec<Vec<Vec<f64>>>,
}

impl SingleStage {
    /// Level means over all recorded states of a panel. `None` when a level has nobody.
    pub fn fit(panel: &Panel) -> Option<Self> {
        Some(Self { means: vec![level_means(panel, |_| true)?] })
    }

    /// Level means of the states at each time, up to the last time at which every level has somebody. `None` when a level has nobody.
    pub fn fit_by_time(panel: &Panel) -> Option<Self> {
        let means: Vec<_> = (0..=panel.horizon()).map_while(|t| level_means(panel, |at| at == t)).collect();
        Some(Self { means }).filter(|stage| !stage.means.is_empty())
    }

    fn fill(&self, memory: &mut Memory) {
        let means = &self.means[memory.scratch.time.min(self.means.len() - 1)];
        let p = means[0].len();
        let rows = memory.view.chunks_exact_mut(means.len() * p).zip(memory.states.chunks_exact(p));
        for ((row, state), &z) in rows.zip(&memory.levels) {
            for (world, mean) in row.chunks_exact_mut(p).zip(means) {
                for j in 0..p {
                    world[j] = state[j] - means[z as usize][j] + mean[j];
                }
            }
        }
    }
}

/// The mean state of each level over the times that are asked for; `None` when a level has none.
fn level_means(panel: &Panel, asked: impl Fn(usize) -> bool) -> Option<Vec<Vec<f64>>> {
    let p = panel.state_dim();
    let mut sums = vec![vec![0.0; p]; panel.levels().len()];
    let mut counts = vec![0usize; panel.levels().len()];
    for person in panel.iter() {
        for (_, state) in person.states.chunks_exact(p).enumerate().filter(|(t, _)| asked(*t)) {
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
    Some(sums)
}

impl Preprocessor for SingleStage {
    type View = Augmented;

    fn width(&self) -> usize {
        self.means[0].len() * self.means[0][0].len()
    }

    fn begin(&self, levels: &[u32], states: &[f64]) -> Memory {
        let view = vec![0.0; levels.len() * self.width()];
        let mut memory = Memory::new(levels, states, view);
        self.fill(&mut memory);
        memory
    }

    fn advance(&self, memory: &mut Memory, _actions: &[u32], states: &[f64]) {
        memory.states.copy_from_slice(states);
        memory.scratch.time += 1;
        self.fill(memory);
    }

    fn reward(&self, _memory: &mut Memory, _actions: &[u32], _rewards: &mut [f64]) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::people::{Labels, PanelBuilder, Person};

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
    fn means_of_each_time_move_a_state_by_its_own_time() {
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(1), 1).unwrap();
        let mut push = |id, level, states: &[f64]| {
            let (actions, rewards) = (vec![0; states.len() - 1], vec![0.0; states.len() - 1]);
            builder.push(Person { id, level, states, actions: &actions, rewards: &rewards }).unwrap();
        };
        // Means 1, 4 of level 0 and 3, 5 of level 1; at the third time level 1 has nobody.
        push("a", 0, &[0.0, 3.0, 9.0]);
        push("b", 0, &[2.0, 5.0]);
        push("c", 1, &[3.0, 5.0]);
        let stage = SingleStage::fit_by_time(&builder.finish()).unwrap();
        let mut memory = stage.begin(&[0, 1], &[0.0, 3.5]);
        assert_eq!(memory.view, [0.0, 2.0, 1.5, 3.5]);
        for _ in 0..2 {
            stage.advance(&mut memory, &[0, 0], &[3.0, 7.0]);
            assert_eq!(memory.view, [3.0, 4.0, 6.0, 7.0], "the last time's means serve later ones");
        }
    }

    #[test]
    fn a_level_without_people_has_no_mean() {
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(1), 1).unwrap();
        builder.push(Person { id: "a", level: 1, states: &[1.0], actions: &[0], rewards: &[0.0] }).unwrap();
        assert_eq!(SingleStage::fit(&builder.finish()), None);
    }
}
