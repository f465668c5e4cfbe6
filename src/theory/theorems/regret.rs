//! Regret: `thm:regret`, as corrected.

use super::Claim;

pub(super) const CLAIMS: &[Claim] = &[];
