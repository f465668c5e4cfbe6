//! Feature maps φ(s) for the linear class; every action has its own weights, so φ does not see the action.

mod one_hot;
mod polynomial;
mod tent;
mod winsorised;

pub use polynomial::{Polynomial, PolynomialError};

/// What this package's own command, tests and benches reach beyond the promise above. No promise: it may change with any release.
#[doc(hidden)]
pub mod internals {
    pub use super::one_hot::OneHot;
    pub use super::tent::{Axis, Tent, TentError};
    pub use super::winsorised::{Winsorised, WinsorisedError, WinsorisedRecipe};
}
pub(crate) use internals::*;

use serde::{Deserialize, Serialize};

/// A map from what a policy reads to d numbers, a block of rows at a time.
///
/// Implement it for features of your own; they work everywhere the shipped ones do, except in policy files, which know only [`Features`].
pub trait FeatureMap: Send + Sync {
    /// How many numbers a row of input has.
    fn inputs(&self) -> usize;

    /// d, how many features come out.
    fn count(&self) -> usize;

    /// Writes the features of a block of n rows, feature after feature: `out[j * n + i]` is feature j of row i.
    ///
    /// Columns are contiguous because the kernels run along rows: with d = 6 an inner loop over features would be all overhead.
    fn fill(&self, rows: &[f64], out: &mut [f64]);
}

/// The shipped feature maps, as a policy file names them.
#[doc(hidden)] // how a policy file names them; no promise
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Features {
    /// Monomials up to a total degree.
    Polynomial(Polynomial),
    /// Piecewise linear hats on a grid.
    Tent(Tent),
    /// Indicators of finitely many points.
    OneHot(OneHot),
    /// Monomials in bounded linear coordinates.
    Winsorised(Winsorised),
}

impl Features {
    fn map(&self) -> &dyn FeatureMap {
        match self {
            Self::Polynomial(map) => map,
            Self::Tent(map) => map,
            Self::OneHot(map) => map,
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
