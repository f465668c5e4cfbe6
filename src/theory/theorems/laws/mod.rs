//! Rates of the deployed policy: one grid of runs feeds all of them.

use super::Claim;

pub(super) const CLAIMS: &[Claim] = &[];
