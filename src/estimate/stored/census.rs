//! What one pass over people says about all of them.

use super::super::cross_validation::{Bunches, steps};
use super::super::gain::stride;
use super::{FitError, pass};
use crate::files::StoredPanel;
use crate::kernel::people::Panel;

/// Counts, sums and ranges of everybody.
pub(super) struct Census {
    /// Σ s₁ and people, by level.
    first: Vec<(Vec<f64>, usize)>,
    /// Decisions whose next state is known, and all decisions, by level.
    decisions: Vec<(usize, usize)>,
    /// Count, sum and sum of squares of each output that follows a state.
    outputs: Vec<(f64, f64, f64)>,
    pub bunches: Bunches,
    pub low: Vec<f64>,
    pub high: Vec<f64>,
    /// Every so many states.
    pub sample: Vec<f64>,
}

impl Census {
    pub fn of(panel: &StoredPanel) -> Result<Self, FitError> {
        let (p, levels) = (panel.state_dim(), panel.levels().len());
        let mut census = Self {
            first: vec![(vec![0.0; p], 0); levels],
            decisions: vec![(0, 0); levels],
            outputs: vec![(0.0, 0.0, 0.0); p + 1],
            bunches: Bunches::new(levels),
            low: vec![f64::INFINITY; p],
            high: vec![f64::NEG_INFINITY; p],
            sample: vec![],
        };
        let (stride, mut row) = (stride(panel.state_rows()), 0);
        pass(panel, |block| {
            for person in block.iter() {
                let z = person.level as usize;
                census.bunches.meet(person.level);
                census.first[z].1 += 1;
                census.first[z].0.iter_mut().zip(person.states).for_each(|(sum, s)| *sum += s);
                census.decisions[z].0 += steps(&person, p);
                census.decisions[z].1 += person.actions.len();
                for (t, state) in person.states.chunks_exact(p).enumerate() {
                    for (j, &s) in state.iter().enumerate() {
                        (census.low[j], census.high[j]) = (census.low[j].min(s), census.high[j].max(s));
                        if t > 0 {
                            add(&mut census.outputs[j], s);
                        }
                    }
                    if row % stride == 0 {
                        census.sample.extend_from_slice(state);
                    }
                    row += 1;
                }
                let known = person.states.len() / p - 1;
                person.rewards.iter().take(known).for_each(|r| add(&mut census.outputs[p], *r));
            }
        })?;
        Ok(census)
    }

    /// Ê(S₁ | Z = z).
    pub fn initial_means(&self, shape: &Panel) -> Result<Vec<Vec<f64>>, FitError> {
        let mean = |(k, (sum, count)): (usize, &(Vec<f64>, usize))| match count {
            0 => Err(FitError::EmptyLevel { level: shape.levels().name(k).to_string() }),
            _ => Ok(sum.iter().map(|x| x / *count as f64).collect()),
        };
        self.first.iter().enumerate().map(mean).collect()
    }

    /// Decisions whose next state is known, of one level or of all.
    pub fn transitions(&self, only: Option<usize>) -> usize {
        self.of_group(only, |counts| counts.0)
    }

    /// Decisions of one level or of all.
    pub fn decisions(&self, only: Option<usize>) -> usize {
        self.of_group(only, |counts| counts.1)
    }

    fn of_group(&self, only: Option<usize>, count: impl Fn(&(usize, usize)) -> usize) -> usize {
        only.map_or_else(|| self.decisions.iter().map(&count).sum(), |k| count(&self.decisions[k]))
    }

    /// Σ (y − ȳ)² of each output.
    pub fn spreads(&self) -> Vec<f64> {
        self.outputs.iter().map(|(count, sum, squares)| squares - sum * sum / f64::max(*count, 1.0)).collect()
    }
}

fn add((count, sum, squares): &mut (f64, f64, f64), y: f64) {
    *count += 1.0;
    *sum += y;
    *squares += y * y;
}
