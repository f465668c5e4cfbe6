//! Which cells make `fig:regret`.

use super::{Cell, Learner, Method, PaperWorld, RegretCell, Scale};
use serde::{Deserialize, Serialize};

/// The sizes of `fig:regret`; δ, T and seeds are those of the [`Scale`] it is part of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RegretScale {
    /// N of the learners that are compared.
    pub sizes: Vec<usize>,
    /// The paper's plain quadratics get so many times the seeds of everything else: their regret varies most between panels.
    pub times_seeds: u64,
    /// At most so many seeds by the stable learner, which takes longer.
    pub stable_seeds: u64,
    /// N far beyond the paper's, at which classes of action values come to what they cannot express.
    pub floors: Vec<Floor>,
    /// ε, the errors in the means.
    pub errors: Vec<f64>,
    /// N of the panels that are learned from with an error in the means.
    pub error_size: usize,
    /// People followed, each at both levels.
    pub evaluation_people: usize,
    /// Decisions they are followed for.
    pub evaluation_horizon: usize,
}

/// A large size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Floor {
    /// N.
    pub people: usize,
    /// At most so many seeds: large panels cost more.
    pub seeds: u64,
    /// The classes of action values that are compared.
    pub learners: Vec<Learner>,
}

impl Default for RegretScale {
    fn default() -> Self {
        Self {
            sizes: vec![100, 200, 500, 1000, 2000],
            times_seeds: 2,
            stable_seeds: 30,
            floors: vec![
                Floor { people: 20_000, seeds: 20, learners: Self::CLASSES.to_vec() },
                Floor { people: 100_000, seeds: 5, learners: Self::CLASSES.to_vec() },
            ],
            errors: vec![-0.4, -0.2, -0.1, -0.05, -0.025, 0.025, 0.05, 0.1, 0.2, 0.4],
            error_size: 1000,
            evaluation_people: 2000,
            evaluation_horizon: 60,
        }
    }
}

impl RegretScale {
    /// Small enough for the quick reproduction.
    pub fn quick() -> Self {
        Self {
            sizes: vec![100, 200, 500, 1000],
            times_seeds: 1,
            floors: vec![],
            errors: vec![0.05, 0.1, 0.2, 0.4],
            evaluation_people: 500,
            ..Self::default()
        }
    }

    /// Who is compared over N; with the paper's plain quadratics also those who are not fair.
    pub const METHODS: [Method; 6] =
        [Method::Full, Method::Unaware, Method::Oracle, Method::TrueMeans, Method::Ours, Method::BestRule];
    /// Who is learned by the stable learner too, at the sizes of `table:learners`.
    pub const BY_BOTH: [Method; 4] = [Method::Full, Method::Unaware, Method::Oracle, Method::Ours];
    /// Classes of action values whose floors are shown.
    pub const CLASSES: [Learner; 2] = [Learner::LeastSquares, Learner::Quartic];

    pub(super) fn cells(&self, scale: &Scale) -> Vec<Cell> {
        let mut cells = Vec::new();
        for world in [PaperWorld::Linear, PaperWorld::Nonlinear] {
            let mut push = |people, error, learner, methods: &[Method], seed| {
                cells.push(Cell::Regret(RegretCell {
                    world,
                    strength: scale.strength,
                    people,
                    horizon: scale.horizon,
                    evaluation_people: self.evaluation_people,
                    evaluation_horizon: self.evaluation_horizon,
                    error,
                    methods: methods.to_vec(),
                    learner,
                    seed,
                }));
            };
            for seed in 1..=scale.seeds {
                for &people in &self.sizes {
                    push(people, None, Learner::LeastSquares, &Self::METHODS, seed);
                }
                for &people in scale.learner_sizes.iter().filter(|_| seed <= self.stable_seeds) {
                    push(people, None, Learner::Stable, &Self::BY_BOTH, seed);
                }
                for floor in self.floors.iter().filter(|floor| seed <= floor.seeds) {
                    for &learner in &floor.learners {
                        push(floor.people, None, learner, &[Method::Oracle], seed);
                    }
                }
                for &error in &self.errors {
                    let methods = [Method::TrueMeans, Method::BestRule];
                    push(self.error_size, Some(error), Learner::LeastSquares, &methods, seed);
                }
            }
            for seed in scale.seeds + 1..=scale.seeds * self.times_seeds {
                for &people in &self.sizes {
                    push(people, None, Learner::LeastSquares, &Self::METHODS[2..], seed);
                }
            }
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduction::Label;

    #[test]
    fn more_seeds_are_those_of_the_plain_learner_and_of_nobody_who_is_not_fair() {
        let scale =
            Scale { seeds: 2, regret: RegretScale { times_seeds: 2, ..RegretScale::quick() }, ..Scale::quick() };
        let cells = scale.cells(&[Label::Regret], &[]);
        let (sizes, errors) = (scale.regret.sizes.len(), scale.regret.errors.len());
        // Two worlds by two seeds by the plain learner, and by the stable one at its sizes; two seeds more by the plain one; errors.
        let stable = scale.learner_sizes.len();
        assert_eq!(cells.len(), 2 * (2 * (sizes + stable) + 2 * sizes + 2 * errors));
        let late = |cell: &&Cell| cell.seed() > 2;
        assert!(cells.iter().filter(late).all(|c| c.learner() == Learner::LeastSquares));
        assert!(cells.iter().filter(late).all(|c| !c.methods().contains(&Method::Full)));
    }

    #[test]
    fn a_scale_of_an_earlier_time_is_read_with_the_sizes_of_today() {
        let mut old = serde_json::to_value(Scale::paper()).expect("a scale");
        old.as_object_mut().expect("an object").remove("regret");
        assert_eq!(serde_json::from_value::<Scale>(old).expect("an earlier scale"), Scale::paper());
    }
}
