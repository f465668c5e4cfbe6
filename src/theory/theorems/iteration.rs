//! Fitted Q iteration: `alg:cf:2`, its least squares and their perturbation.

use super::Claim;

pub(super) const CLAIMS: &[Claim] = &[];
