//! Reconstruction of counterfactual states: `alg:cf:1` and what additive noise is needed for.

use super::Claim;

pub(super) const CLAIMS: &[Claim] = &[];
