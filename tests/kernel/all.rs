//! The kernel against oracles from elsewhere: certified regressions, exact rational vectors of the proved algorithm, value iteration by hand.

mod fitted_q;
mod nist;
mod proof_vectors;
