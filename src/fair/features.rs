//! Feature maps as a policy file names them.

use crate::estimate::stable_q::Winsorised;
use crate::kernel::learn::features::{FeatureMap, Polynomial};
use serde::{Deserialize, Serialize};

/// The shipped feature maps, as a policy file names them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Features {
    /// Monomials up to a total degree.
    Polynomial(Polynomial),
    /// Monomials in bounded linear coordinates.
    Winsorised(Winsorised),
}

impl Features {
    fn map(&self) -> &dyn FeatureMap {
        match self {
            Self::Polynomial(map) => map,
            Self::Winsorised(map) => map,
        }
    }
}

impl FeatureMap for Features {
    fn inputs(&self) -> usize {
        self.map().inputs()
    }

    fn count(&self) -> usize {
        self.map().count()
    }

    fn fill(&self, rows: &[f64], out: &mut [f64]) {
        self.map().fill(rows, out);
    }
}
