//! The augmented decision process: `thm:sr_policy` and the steps of its proof.

use super::Claim;

pub(super) const CLAIMS: &[Claim] = &[];
