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
//! | mean and squares of numbers in parts | `moments` | hand-worked numbers |
//! | which random numbers? | [`Stream`] | pinned literals |
//! | mean and its error | [`Estimate`], [`Law`] | hand-worked samples |
//! | weights of resampled people | `person_weights` | moments of the exponential |
//! | the rate α in error ≍ n^α | [`log_log_slope`] | exact power laws, and a wrong one |
//! | is this what was written? | `Fingerprint` | published hashes |
//! | how close is equal? | [`tolerance`] | — |

pub mod block;
mod estimate;
mod fingerprint;
mod gram;
pub mod lanes;
mod law;
mod least_squares;
mod moments;
mod monomials;
pub mod octets;
mod packed;
mod person_weights;
pub mod quadrature;
mod quantile;
mod ridge;
pub mod ridge_path;
mod row_factor;
pub mod sequential;
mod slope;
pub mod small;
mod streams;
pub mod tolerance;
mod triangle;
pub mod vector_state;

pub use estimate::Estimate;
pub use law::Law;
pub use streams::Stream;

pub use least_squares::LeastSquaresRows;
pub use moments::{Moments, column_moments};
pub use monomials::Monomials;
pub use quantile::Place;
pub use ridge::RidgeFactor;
pub use row_factor::RowFactor;

pub use fingerprint::Fingerprint;
pub use gram::{Gram, GramFactor, GramRefusal};
pub use least_squares::{LeastSquares, LeastSquaresError, least_squares};
pub use monomials::TooManyMonomials;
pub use packed::{Packed, PackedError};
pub use person_weights::person_weights;
pub use quantile::quantile;
pub use slope::{SlopeError, SlopeFit, log_log_slope};
pub use streams::{fill_standard_normal, fill_uniform, uniform_index};
