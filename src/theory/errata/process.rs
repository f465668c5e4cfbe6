//! The statements about fairness, the augmented process and stationary policies (sections 2 to 3, supplements A to C).

use super::Erratum;

pub(super) const ERRATA: &[Erratum] = &[];
