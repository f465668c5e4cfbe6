//! The deployed policy: fair value, what is gained by unfairness, and what recorded data can say of them.

use super::Claim;

pub(super) const CLAIMS: &[Claim] = &[];
