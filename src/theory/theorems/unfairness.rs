//! Unfairness: `thm:cf_metric`, as corrected.

use super::Claim;

pub(super) const CLAIMS: &[Claim] = &[];
