//! The displays of the proof of `thm:cf_metric`, the theorem in print, and what replaces it.

mod displays;
mod events;
mod margin;
mod theorem;

use super::Claim;

/// E1 … E12 and `thm:cf_metric`.
pub(super) fn claims() -> Vec<Claim> {
    [events::CLAIMS, displays::CLAIMS, theorem::CLAIMS].concat()
}
