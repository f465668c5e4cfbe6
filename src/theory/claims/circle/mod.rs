//! The whole method on the circle bed, from `alg:cf:1` through `alg:cf:2`: its rates, its distance from the Oracle, and `thm:cf_metric′`
//! and the fast rate of `thm:regret′` on what it learned.

mod bounds;
mod rates;
mod states;

use super::Claim;
use crate::kernel::learn::features::FeatureMap;
use crate::kernel::learn::{Clipping, Settings, fitted_q_iteration};
use crate::kernel::numeric::Stream;
use crate::kernel::preprocess::{Sequential, batch};
use crate::theory::beds::{Circle, CircleFit, Weights};

/// Rates, bounds, and the error of states.
pub(super) fn claims() -> Vec<Claim> {
    [rates::CLAIMS, bounds::CLAIMS, states::CLAIMS].concat()
}

/// (1 ± cos(s₁ − s₀))/2 ⊗ (1, cos s₀, sin s₀): six features an action.
#[derive(Debug, Clone, Copy)]
struct Harmonics;

impl FeatureMap for Harmonics {
    fn inputs(&self) -> usize {
        2
    }

    fn count(&self) -> usize {
        6
    }

    fn fill(&self, rows: &[f64], out: &mut [f64]) {
        let n = rows.len() / 2;
        for (i, row) in rows.chunks_exact(2).enumerate() {
            let near = (1.0 + (row[1] - row[0]).cos()) / 2.0;
            let (sin, cos) = row[0].sin_cos();
            for (block, weight) in [near, 1.0 - near].into_iter().enumerate() {
                for (k, v) in [1.0, cos, sin].into_iter().enumerate() {
                    out[(block * 3 + k) * n + i] = weight * v;
                }
            }
        }
    }
}

/// T of all runs.
const HORIZON: usize = 6;

/// What the method made of one data set.
struct Learned {
    fit: CircleFit,
    weights: Weights,
    /// The same learner on true counterfactual states and rewards.
    oracle: Weights,
}

/// Simulates N people and learns from them; `None` when some level never saw some action.
fn learn(bed: &Circle, people: usize, biased: bool, stream: Stream) -> Option<Learned> {
    let panel = bed.simulate(people, HORIZON, stream);
    let mut fit = CircleFit::from_panel(&panel)?;
    if biased {
        fit.initial[1][0] += 0.3;
        fit.increments[1][1] += 0.3;
    }
    let settings = Settings {
        discount: bed.discount,
        // γ²⁵ is one part in seven thousand.
        iterations: 25,
        tolerance: 0.0,
        clipping: Clipping::Rewards(bed.reward_bound()),
    };
    let through = |means: CircleFit, weights: Vec<f64>| -> Option<Weights> {
        let experience = batch(&Sequential::new(means, weights), &panel).ok()?;
        let learned = fitted_q_iteration(&experience, &Harmonics, settings).ok()?;
        let at = |k: usize| learned.q.weights()[k];
        Some([0, 1].map(|a| [0, 1].map(|block| [0, 1, 2].map(|j| at(6 * a + 3 * block + j)))))
    };
    let weights = through(fit.clone(), panel.level_shares())?;
    let oracle = through(bed.truth(), bed.level_law().to_vec())?;
    Some(Learned { fit, weights, oracle })
}
