//! Which cells make `fig:regret`.

use super::{Cell, Learner, Method, PaperWorld, RegretCell, Scale};
use serde::{Deserialize, Serialize};

/// The sizes of `fig:regret`; δ, T and seeds are those of the [`Scale`] it is part of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RegretScale {
    /// N of the learners that are compared.
    pub sizes: Vec<usize>,
    /// N, far beyond the paper's, at which classes of action values come to what they cannot express; and with how many seeds.
    pub floors: Vec<Thinned>,
    /// ε, the errors in the means.
    pub errors: Vec<f64>,
    /// N of the panels that are learned from with an error in the means.
    pub error_size: usize,
    /// People followed, each at both levels.
    pub evaluation_people: usize,
    /// Decisions they are followed for.
    pub evaluation_horizon: usize,
}

/// A size with seeds of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thinned {
    /// N.
    pub people: usize,
    /// At most so many seeds: large panels vary less, and cost more.
    pub seeds: u64,
}

impl Default for RegretScale {
    fn default() -> Self {
        Self {
            sizes: vec![100, 200, 500, 1000, 2000, 5000],
            floors: vec![Thinned { people: 20_000, seeds: 100 }],
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
            floors: vec![],
            errors: vec![0.05, 0.1, 0.2, 0.4],
            evaluation_people: 500,
            ..Self::default()
        }
    }

    /// Who is compared over N; with the paper's plain quadratics also those who are not fair.
    pub const METHODS: [Method; 6] =
        [Method::Full, Method::Unaware, Method::Oracle, Method::TrueMeans, Method::Ours, Method::BestRule];
    /// Learners that are compared over N.
    pub const LEARNERS: [Learner; 2] = [Learner::LeastSquares, Learner::Stable];
    /// Classes of action values whose floors are shown.
    pub const CLASSES: [Learner; 3] = [Learner::LeastSquares, Learner::Stable, Learner::Quartic];

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
                    // What does not depend on action values is not done twice.
                    push(people, None, Learner::Stable, &Self::METHODS[..5], seed);
                }
                for floor in self.floors.iter().filter(|floor| seed <= floor.seeds) {
                    for learner in Self::CLASSES {
                        push(floor.people, None, learner, &[Method::Oracle], seed);
                    }
                }
                for &error in &self.errors {
                    let methods = [Method::TrueMeans, Method::BestRule];
                    push(self.error_size, Some(error), Learner::LeastSquares, &methods, seed);
                }
            }
        }
        cells
    }
}
