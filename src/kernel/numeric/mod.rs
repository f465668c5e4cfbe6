//! Least squares, random streams, quadrature, estimates and slopes: the arithmetic everything else stands on.
//!
//! | question | file | oracle beside it |
//! |---|---|---|
//! | β minimising ‖y − Xβ‖, and is it unique? | [`least_squares()`] | NIST StRD certified values |
//! | the same for many y, at one product each | [`Gram`] | the QR path |
//! | the same with a penalty on each weight | [`RidgeFactor`] | Gaussian elimination |
//! | the same for every weight of one penalty | `ridge_path` | the QR path |
//! | Σ wⱼ columnⱼ and Xᵀy on blocks of rows | [`block`] | plain loops |
//! | E f(U) for uniform or normal U | [`quadrature`] | moments in closed form |
//! | the k-th smallest of more numbers than fit | `ranks` | sorting |
//! | which random numbers? | [`Stream`] | pinned literals |
//! | mean and its error | [`Estimate`], [`bootstrap_interval`], [`Law`] | hand-worked samples |
//! | weights of resampled people | [`person_weights`] | moments of the exponential |
//! | the rate α in error ≍ n^α | [`log_log_slope`] | exact power laws, and a wrong one |
//! | how close is equal? | [`tolerance`] | — |

pub mod block;
mod bootstrap;
mod estimate;
mod gram;
mod holm;
pub(crate) mod lanes;
mod law;
mod least_squares;
mod monomials;
pub mod network;
pub(crate) mod octets;
mod packed;
mod person_weights;
pub mod quadrature;
pub(crate) mod ranks;
mod ridge;
pub(crate) mod ridge_path;
mod row_factor;
pub(crate) mod sequential;
mod slope;
pub mod small;
mod streams;
pub mod tolerance;
mod triangle;
pub(crate) mod vector_state;

pub use bootstrap::{bootstrap_interval, quantile};
pub use estimate::Estimate;
pub use gram::{Gram, GramFactor, GramRefusal};
pub use holm::holm;
pub use law::Law;
pub use least_squares::{LeastSquares, LeastSquaresError, LeastSquaresRows, least_squares};
pub use monomials::{Monomials, TooManyMonomials};
pub use packed::{Packed, PackedError};
pub use person_weights::person_weights;
pub use ridge::RidgeFactor;
pub use row_factor::RowFactor;
pub use slope::{SlopeError, SlopeFit, log_log_slope};
pub use streams::{Stream, fill_standard_normal, fill_uniform, uniform_index};
