//! Rules written down by their weights.

use crate::kernel::learn::features::Polynomial;
use crate::kernel::learn::{Greedy, LinearQ};
use crate::kernel::preprocess::View;

/// The greedy rule of two action values that are linear in (1, what is read): the weights of action 0, then those of action 1.
pub fn linear_rule<V: View>(weights: Vec<f64>) -> Greedy<LinearQ<V, Polynomial>> {
    let features = Polynomial::new(weights.len() / 2 - 1, 1).expect("few inputs, degree one");
    Greedy(LinearQ::new(features, 2, weights))
}
