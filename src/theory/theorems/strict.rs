//! Strict fairness and its replay: `def:cf_policy_strict`.

use super::Claim;

pub(super) const CLAIMS: &[Claim] = &[];
