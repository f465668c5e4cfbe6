//! The regressions of a least-squares Q iteration, factored once, and the iteration they serve.

use super::Outcome;
use super::features::FeatureMap;
use super::fitted_q_pass::{Backup, Sweep};
use crate::numeric::{Gram, GramFactor, RowFactor, tolerance};

/// When an iteration ends.
#[derive(Debug, Clone, Copy)]
pub struct Stopping {
    /// B.
    pub iterations: usize,
    /// The share of the largest value below which a change is none; 0 for all B iterations.
    pub tolerance: f64,
    /// max |r|, which with γ bounds every action value.
    pub largest_reward: f64,
    /// γ.
    pub discount: f64,
}

/// The size beyond which an action value is no longer one: far above max |r| / (1 − γ), which bounds them all.
pub fn divergence_limit(largest_reward: f64, discount: f64) -> f64 {
    tolerance::DIVERGENCE * (1.0 + largest_reward) / (1.0 - discount)
}

/// How an iteration goes: whether it has settled, left every bound, or been done B times.
pub struct Progress {
    stopping: Stopping,
    /// How it ended, or where it is.
    pub outcome: Outcome,
    /// Iterations done.
    pub done: usize,
}

impl Progress {
    /// Nothing done yet.
    pub fn new(stopping: Stopping) -> Self {
        Self { stopping, outcome: Outcome::IterationLimit { iterations: 0, change: 0.0 }, done: 0 }
    }

    /// Takes note of iteration b, which moved weights by `movement` (change and size); whether it was the last.
    pub fn is_over_after(&mut self, b: usize, (change, size): (f64, f64)) -> bool {
        let Stopping { iterations, tolerance, largest_reward, discount } = self.stopping;
        self.done = b;
        if !size.is_finite() || size > divergence_limit(largest_reward, discount) {
            self.outcome = Outcome::Diverged { iteration: b };
            return true;
        }
        let change = if size > 0.0 { change / size } else { 0.0 };
        if change <= tolerance && tolerance > 0.0 {
            self.outcome = Outcome::Converged { iterations: b };
            return true;
        }
        self.outcome = Outcome::IterationLimit { iterations: b, change };
        b == iterations
    }
}

/// The regression of one action, factored once for all iterations.
enum Regression {
    Gram(GramFactor),
    Rows(RowFactor),
}

impl Regression {
    fn solve_in_place(&self, moments: &mut [f64]) {
        match self {
            Self::Gram(factor) => factor.solve_in_place(moments),
            Self::Rows(factor) => factor.solve_in_place(moments),
        }
    }

    /// The condition number of the rows (not of their Gram matrix).
    fn condition(&self) -> f64 {
        match self {
            Self::Gram(factor) => factor.condition().sqrt(),
            Self::Rows(factor) => factor.condition(),
        }
    }
}

/// Times the residual is fitted again. Each multiplies the error by κ²ε, so two are enough up to condition numbers near 1e7.
const REFINEMENTS: usize = 2;

/// One regression an action.
pub struct Regressions {
    actions: Vec<Regression>,
    /// Root mean square of each feature under each action: turns a weight into its share of an action value.
    scale: Vec<f64>,
    /// The outcome when a regression has no unique solution.
    pub deficiency: Option<Outcome>,
}

impl Regressions {
    /// Factors Σ φφᵀ for each action; where its condition number is too large, the rows themselves.
    pub fn new(sweep: &Sweep<'_, impl FeatureMap>) -> Self {
        let d = sweep.features();
        let (grams, counts) = sweep.gram();
        let (mut actions, mut scale, mut deficiency) = (Vec::new(), Vec::new(), None);
        for (action, (gram, &count)) in grams.chunks_exact(d * d).zip(&counts).enumerate() {
            let lengths: Vec<f64> = (0..d).map(|j| gram[j * d + j].sqrt()).collect();
            scale.extend(lengths.iter().map(|l| l / (count.max(1) as f64).sqrt()));
            let regression = match Gram::from_lower(d, count, gram).factor() {
                Ok(factor) => Regression::Gram(factor),
                Err(_) => Regression::Rows(RowFactor::new(d, count, &lengths, |push| sweep.for_each_row(action, push))),
            };
            if let Regression::Rows(factor) = &regression
                && factor.rank() < d
                && deficiency.is_none()
            {
                deficiency = Some(Outcome::RankDeficient { action, rank: factor.rank(), features: d });
            }
            actions.push(regression);
        }
        Self { actions, scale, deficiency }
    }

    /// Whether every action's weights come from its Gram matrix, with nothing to make good.
    pub fn are_well_conditioned(&self) -> bool {
        self.actions.iter().all(|regression| matches!(regression, Regression::Gram(_)))
    }

    /// How many weights there are, d for each action.
    pub fn weights(&self) -> usize {
        self.scale.len()
    }

    /// One iteration: the weights whose values are nearest to the targets under the present ones.
    ///
    /// Where a regression works on the rows' singular values, Φᵀy alone would lose the digits that the Gram matrix loses; the
    /// residual is fitted again until that is made good.
    pub fn fit(
        &self,
        sweep: &Sweep<'_, impl FeatureMap>,
        weights: &[f64],
        discount: f64,
        backup: Backup<'_>,
        next: &mut [f64],
    ) {
        sweep.targets(weights, discount, backup, None, next);
        self.solve_in_place(next);
        if !self.are_well_conditioned() {
            let mut correction = vec![0.0; next.len()];
            for _ in 0..REFINEMENTS {
                sweep.targets(weights, discount, backup, Some(next), &mut correction);
                self.solve_in_place(&mut correction);
                next.iter_mut().zip(&correction).for_each(|(w, c)| *w += c);
            }
        }
    }

    /// The weights of every action from its moments Σ φy.
    pub fn solve_in_place(&self, moments: &mut [f64]) {
        let d = moments.len() / self.actions.len();
        for (regression, moments) in self.actions.iter().zip(moments.chunks_exact_mut(d)) {
            regression.solve_in_place(moments);
        }
    }

    /// The largest movement and the largest size of a weight, each as its share of an action value.
    pub fn movement(&self, before: &[f64], after: &[f64]) -> (f64, f64) {
        let mut movement = (0.0f64, 0.0f64);
        for ((b, a), scale) in before.iter().zip(after).zip(&self.scale) {
            // `max` would pass over a NaN in silence.
            if !a.is_finite() {
                return (f64::INFINITY, f64::INFINITY);
            }
            movement = (movement.0.max((a - b).abs() * scale), movement.1.max(a.abs() * scale));
        }
        movement
    }

    /// A typical size of each feature: its largest root mean square among the actions, or 1 where it was always 0.
    pub fn feature_sizes(&self) -> Vec<f64> {
        let d = self.scale.len() / self.actions.len();
        let largest = |j: usize| self.scale.iter().skip(j).step_by(d).fold(0.0f64, |m, s| m.max(*s));
        (0..d).map(largest).map(|size| if size > 0.0 { size } else { 1.0 }).collect()
    }

    /// The largest condition number among the actions, columns scaled.
    pub fn condition(&self) -> f64 {
        self.actions.iter().map(Regression::condition).fold(1.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::features::OneHot;
    use crate::people::{Labels, PanelBuilder, Person};
    use crate::preprocess::{Experience, StateOnly, Unaware, batch};

    /// Two people at the points 0, 1 and 2: five transitions with action 0, at 0, 0, 1, 0 and 1, and three with action 1, at 1, 1 and 0.
    fn people() -> Experience<StateOnly> {
        let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(2), 1).unwrap();
        let first: (&[f64], &[u32]) = (&[0.0, 0.0, 1.0, 1.0, 2.0], &[0, 0, 0, 1]);
        let second: (&[f64], &[u32]) = (&[1.0, 0.0, 0.0, 1.0, 2.0], &[1, 1, 0, 0]);
        for (id, (states, actions)) in [("a", first), ("b", second)] {
            builder.push(Person { id, level: 0, states, actions, rewards: &[0.5; 4] }).unwrap();
        }
        batch(&Unaware { state_dim: 1 }, &builder.finish()).unwrap()
    }

    #[test]
    fn a_features_size_is_its_largest_root_mean_square_and_one_where_it_never_shows() {
        let points = OneHot::new(vec![vec![0.0], vec![1.0], vec![2.0]]).unwrap();
        let data = people();
        let sizes = Regressions::new(&Sweep::new(&data, &points, |r| r)).feature_sizes();
        let expected = [(3.0f64 / 5.0).sqrt(), (2.0f64 / 3.0).sqrt(), 1.0];
        sizes.iter().zip(expected).for_each(|(x, y)| assert!((x - y).abs() < 1e-15, "{sizes:?} and {expected:?}"));
        assert_eq!(sizes.len(), 3);
    }

    #[test]
    fn the_limit_is_a_million_times_what_rewards_of_one_more_can_add_up_to() {
        // 10⁶ · (1 + 3) / (1 − ¾).
        assert_eq!(divergence_limit(3.0, 0.75), 1.6e7);
    }

    #[test]
    fn without_a_tolerance_all_iterations_are_done_even_when_nothing_moves() {
        let run = |tolerance| {
            let stopping = Stopping { iterations: 7, tolerance, largest_reward: 1.0, discount: 0.5 };
            let mut progress = Progress::new(stopping);
            // From 0 to ¼ in the first iteration, and no further.
            let moved = |b: usize| (if b == 1 { 0.25 } else { 0.0 }, 0.25);
            let last = (1..).find(|&b| progress.is_over_after(b, moved(b)));
            assert_eq!(last, Some(progress.done));
            (progress.outcome, progress.done)
        };
        assert_eq!(run(0.0), (Outcome::IterationLimit { iterations: 7, change: 0.0 }, 7));
        assert_eq!(run(1e-9), (Outcome::Converged { iterations: 2 }, 2));
    }
}
