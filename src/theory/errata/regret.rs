//! The proof of `thm:regret` (displays D1 to D22) and the theorem itself.

use super::Erratum;

pub(super) const ERRATA: &[Erratum] = &[];
