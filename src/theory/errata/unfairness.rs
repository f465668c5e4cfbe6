//! The proof of `thm:cf_metric` (displays E1 to E12) and the theorem itself.

use super::Erratum;

pub(super) const ERRATA: &[Erratum] = &[];
