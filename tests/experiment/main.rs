//! The runner: threads, shards and interruptions change no digit; and the tables of a small reproduction.

mod runner;
mod tables;

use counterfair::reproduction::{Label, Learner, Scale};

/// A grid of seconds, off every special point: two sizes, δ = 0.7, unequal horizons of data and evaluation.
fn small() -> Scale {
    Scale {
        sizes: vec![60, 120],
        size: 60,
        strengths: vec![0.0, 0.7],
        strength: 0.7,
        horizon: 6,
        evaluation_people: 300,
        evaluation_horizon: 8,
        long_horizon: 30,
        weights: vec![0.3],
        shifts: vec![0.5],
        semi_people: 80,
        semi_horizon: 7,
        seeds: 4,
        learner_sizes: vec![60],
        learner_seeds: 1,
        splits: 2,
        learner: Learner::LeastSquares,
    }
}

const SYNTHETIC: [Label; 1] = [Label::SimAll];
