//! What counterfactual fairness is and which rules have it: `thm:cf`, `def:cf_policy`, `eq:cf_metric`.

use super::Claim;

pub(super) const CLAIMS: &[Claim] = &[];
