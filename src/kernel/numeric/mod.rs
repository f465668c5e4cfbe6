//! Least squares, random streams, quadrature, estimates and slopes: the arithmetic everything else stands on.
//!
//! | question | file | oracle beside it |
//! |---|---|---|
//! | β minimising ‖y − Xβ‖, and is it unique? | [`least_squares()`] | NIST StRD certified values |
//! | the same for many y, at one product each | [`Gram`] | the QR path |
//! | the same with a penalty on each weight | `RidgeFactor` | Gaussian elimination |
//! | the same for every weight of one penalty | `ridge_path` | the QR path |
//! | Σ wⱼ columnⱼ and Xᵀy on blocks of rows | `block` | plain loops |
//! | E f(U) for uniform or normal U | [`quadrature`] | moments in closed form |
//! | the k-th smallest of more numbers than fit | `ranks` | sorting |
//! | mean and squares of numbers in parts | `moments` | hand-worked numbers |
//! | which random numbers? | [`Stream`] | pinned literals |
//! | mean and its error | [`Estimate`], [`Law`] | hand-worked samples |
//! | weights of resampled people | `person_weights` | moments of the exponential |
//! | the rate α in error ≍ n^α | [`log_log_slope`] | exact power laws, and a wrong one |
//! | is this what was written? | `Fingerprint` | published hashes |
//! | how close is equal? | [`tolerance`] | — |

#[doc(hidden)]
pub mod block;
mod estimate;
mod fingerprint;
mod gram;
mod holm;
pub(crate) mod lanes;
mod law;
mod least_squares;
mod moments;
mod monomials;
#[doc(hidden)]
pub mod network;
pub(crate) mod octets;
mod packed;
mod person_weights;
#[doc(hidden)]
pub mod quadrature;
mod quantile;
pub(crate) mod ranks;
mod ridge;
pub(crate) mod ridge_path;
mod row_factor;
pub(crate) mod sequential;
mod slope;
pub(crate) mod small;
mod streams;
#[doc(hidden)]
pub mod tolerance;
mod triangle;
pub(crate) mod vector_state;

pub use estimate::Estimate;
pub use law::Law;
pub use streams::Stream;

pub(crate) use holm::holm;
pub(crate) use least_squares::LeastSquaresRows;
pub(crate) use moments::{Moments, column_moments};
pub(crate) use monomials::Monomials;
pub(crate) use quantile::Place;
pub(crate) use ridge::RidgeFactor;
pub(crate) use row_factor::RowFactor;

/// What this package's own command, tests and benches reach beyond the promise above. No promise: it may change with any release.
#[doc(hidden)]
pub mod internals {
    pub use super::fingerprint::Fingerprint;
    pub use super::gram::{Gram, GramFactor, GramRefusal};
    pub use super::least_squares::{LeastSquares, LeastSquaresError, least_squares};
    pub use super::monomials::TooManyMonomials;
    pub use super::packed::{Packed, PackedError};
    pub use super::person_weights::person_weights;
    pub use super::quantile::quantile;
    pub use super::slope::{SlopeError, SlopeFit, log_log_slope};
    pub use super::streams::{fill_standard_normal, fill_uniform, uniform_index};
}
pub(crate) use internals::*;
