//! The displays of the proof of `thm:cf_metric`, the theorem in print, and what replaces it.

mod displays;
mod margin;
mod theorem;

use super::Claim;

/// E5 … E12 and `thm:cf_metric`.
pub(super) fn claims() -> Vec<Claim> {
    [displays::CLAIMS, theorem::CLAIMS].concat()
}
