//! What one pass over people says about all of them.

use super::FitError;
use super::cross_validation::{FoldCounts, steps};
use super::gain::stride;
use crate::kernel::people::{People, Shape, try_each};

/// Counts, sums and ranges over all people.
pub(super) struct Census {
    first: FirstStates,
    /// Decisions whose next state is known, and all decisions, by level.
    decisions: Vec<DecisionCounts>,
    /// Each state coordinate that follows a state, and each reward that one follows.
    outputs: Vec<SquareSums>,
    pub folds: FoldCounts,
    /// The range of each state coordinate.
    pub low: Vec<f64>,
    pub high: Vec<f64>,
    /// Every so many states.
    pub sample: Vec<f64>,
}

#[derive(Clone, Copy, Default)]
struct DecisionCounts {
    with_next: usize,
    all: usize,
}

/// Σ 1, Σ y and Σ y².
#[derive(Clone, Copy, Default)]
struct SquareSums {
    count: f64,
    sum: f64,
    squares: f64,
}

impl SquareSums {
    fn add(&mut self, y: f64) {
        self.count += 1.0;
        self.sum += y;
        self.squares += y * y;
    }

    /// Σ (y − ȳ)².
    fn around_mean(&self) -> f64 {
        self.squares - self.sum * self.sum / self.count.max(1.0)
    }
}

impl Census {
    /// Passes over people once.
    pub fn of(people: &dyn People) -> Result<Self, FitError> {
        let Shape { levels, state_dim: p, .. } = people.shape();
        let (p, levels) = (*p, levels.len());
        let mut census = Self {
            first: FirstStates::new(levels, p),
            decisions: vec![DecisionCounts::default(); levels],
            outputs: vec![SquareSums::default(); p + 1],
            folds: FoldCounts::new(levels),
            low: vec![f64::INFINITY; p],
            high: vec![f64::NEG_INFINITY; p],
            sample: vec![],
        };
        let (stride, mut row) = (stride(people.state_rows()), 0);
        try_each(people, |block| {
            for person in block.iter() {
                let level = person.level as usize;
                census.folds.meet(person.level);
                census.first.add(level, &person.states[..p], 1.0);
                census.decisions[level].with_next += steps(&person, p);
                census.decisions[level].all += person.actions.len();
                for (t, state) in person.states.chunks_exact(p).enumerate() {
                    for (j, &s) in state.iter().enumerate() {
                        (census.low[j], census.high[j]) = (census.low[j].min(s), census.high[j].max(s));
                        if t > 0 {
                            census.outputs[j].add(s);
                        }
                    }
                    if row % stride == 0 {
                        census.sample.extend_from_slice(state);
                    }
                    row += 1;
                }
                person.rewards.iter().take(steps(&person, p)).for_each(|r| census.outputs[p].add(*r));
            }
            Ok::<(), FitError>(())
        })?;
        Ok(census)
    }

    /// Ê(S₁ | Z = z), line 2 of `alg:cf:1`.
    pub fn initial_means(&self, shape: &Shape) -> Result<Vec<Vec<f64>>, FitError> {
        let empty = |level: usize| FitError::EmptyLevel { level: shape.levels.name(level).to_string() };
        self.first.means().map_err(empty)
    }

    /// Decisions whose next state is known, of one level or of all.
    pub fn transitions(&self, only: Option<usize>) -> usize {
        self.of_group(only, |counts| counts.with_next)
    }

    /// Decisions of one level or of all.
    pub fn decisions(&self, only: Option<usize>) -> usize {
        self.of_group(only, |counts| counts.all)
    }

    fn of_group(&self, only: Option<usize>, count: impl Fn(&DecisionCounts) -> usize) -> usize {
        only.map_or_else(|| self.decisions.iter().map(&count).sum(), |k| count(&self.decisions[k]))
    }

    /// Σ (y − ȳ)² of each output.
    pub fn spreads(&self) -> Vec<f64> {
        self.outputs.iter().map(SquareSums::around_mean).collect()
    }
}

/// Σ w s₁ and Σ w at each level.
pub(super) struct FirstStates {
    sums: Vec<Vec<f64>>,
    weights: Vec<f64>,
}

impl FirstStates {
    pub fn new(levels: usize, state_dim: usize) -> Self {
        Self { sums: vec![vec![0.0; state_dim]; levels], weights: vec![0.0; levels] }
    }

    pub fn add(&mut self, level: usize, state: &[f64], weight: f64) {
        self.weights[level] += weight;
        self.sums[level].iter_mut().zip(state).for_each(|(sum, s)| *sum += weight * s);
    }

    /// Σ w s₁ / Σ w at each level, or the first level without weight.
    pub fn means(&self) -> Result<Vec<Vec<f64>>, usize> {
        let mean = |(level, (sum, weight)): (usize, (&Vec<f64>, &f64))| {
            if *weight > 0.0 { Ok(sum.iter().map(|x| x / weight).collect()) } else { Err(level) }
        };
        self.sums.iter().zip(&self.weights).enumerate().map(mean).collect()
    }
}
