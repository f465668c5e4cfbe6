//! The simulations (supplement F) and the algorithms as printed.

use super::Erratum;

pub(super) const ERRATA: &[Erratum] = &[];
