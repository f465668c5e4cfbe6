//! The best fair rule, for whatever view of the worlds it is given.

use super::RegretMeter;
use crate::kernel::learn::Policy;
use crate::kernel::preprocess::Augmented;
use std::sync::Arc;

/// The greedy rule of Q*: the best fair policy when it reads the true counterfactual states, and as wrong as they are when it reads others.
pub struct BestRule(pub Arc<RegretMeter>);

impl Policy<Augmented> for BestRule {
    fn actions(&self) -> usize {
        2
    }
    fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]) {
        for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(2)) {
            out[1] = f64::from(u8::from(self.0.advantage(row[0], row[1]) > 0.0));
            out[0] = 1.0 - out[1];
        }
    }
    fn is_deterministic(&self) -> bool {
        true
    }
}
