//! The library's `alg:cf:2` on processes that can be written down, each transition one person's only step; and rules written down by their weights.

use crate::kernel::learn::features::{FeatureMap, Polynomial};
use crate::kernel::learn::{Clipping, Greedy, LinearQ, Settings, fitted_q_iteration};
use crate::kernel::people::{Labels, PanelBuilder, Person};
use crate::kernel::preprocess::{Unaware, View, batch};

/// φ(s) = e_s for the states 0, 1, ….
#[derive(Debug, Clone, Copy)]
struct OneHot(usize);

impl FeatureMap for OneHot {
    fn inputs(&self) -> usize {
        1
    }

    fn count(&self) -> usize {
        self.0
    }

    fn fill(&self, rows: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (i, s) in rows.iter().enumerate() {
            out[*s as usize * rows.len() + i] = 1.0;
        }
    }
}

/// (s, a, r, s′).
pub type Transition = (usize, u32, f64, usize);

/// f̂_B(s, a), laid out by state and then action, after B steps of the library's fitted Q iteration from f̂₀ = 0 with one-hot features.
///
/// # Panics
/// If some action was never seen at some state.
pub fn fitted_q(states: usize, seen: &[Transition], discount: f64, iterations: usize) -> Vec<f64> {
    let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).expect("a panel with a state");
    for (i, (s, a, r, next)) in seen.iter().enumerate() {
        let (id, states) = (i.to_string(), [*s as f64, *next as f64]);
        builder.push(Person { id: &id, level: 0, states: &states, actions: &[*a], rewards: &[*r] }).expect("finite");
    }
    let experience = batch(&Unaware { state_dim: 1 }, &builder.finish()).expect("finite states");
    let settings = Settings { discount, iterations, tolerance: 0.0, clipping: Clipping::Off };
    let learned = fitted_q_iteration(&experience, &OneHot(states), settings).expect("every action at every state");
    let weights = learned.q.weights();
    (0..states * 2).map(|k| weights[k % 2 * states + k / 2]).collect()
}

/// The greedy rule of two action values that are linear in (1, what is read): the weights of action 0, then those of action 1.
pub fn linear_rule<V: View>(weights: Vec<f64>) -> Greedy<LinearQ<V, Polynomial>> {
    let features = Polynomial::new(weights.len() / 2 - 1, 1).expect("few inputs, degree one");
    Greedy(LinearQ::new(features, 2, weights))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_step_is_the_reward_and_two_look_one_step_ahead() {
        let seen = [(0, 0, 0.25, 1), (0, 1, 0.5, 0), (1, 0, 2.0, 1), (1, 1, -1.0, 0)];
        for (steps, expected) in [(1, [0.25, 0.5, 2.0, -1.0]), (2, [0.25 + 1.4, 0.5 + 0.35, 3.4, -1.0 + 0.35])] {
            for (made, right) in fitted_q(2, &seen, 0.7, steps).iter().zip(expected) {
                assert!((made - right).abs() < 1e-12, "{steps}: {made} and {right}");
            }
        }
    }
}
