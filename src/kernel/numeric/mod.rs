//! Least squares, random streams, quadrature, estimates and slopes: the arithmetic everything else stands on.
//!
//! | question | file | oracle beside it |
//! |---|---|---|
//! | β minimising ‖y − Xβ‖, and is it unique? | [`least_squares()`] | NIST StRD certified values |
//! | the same for many y, at one product each | [`Gram`] | the QR path |
//! | Σ wⱼ columnⱼ and Xᵀy on blocks of rows | [`block`] | plain loops |
//! | E f(U) for uniform or normal U | [`quadrature`] | moments in closed form |
//! | which random numbers? | [`Stream`] | pinned literals |
//! | mean and its error | [`Estimate`], [`bootstrap_interval`] | hand-worked samples |
//! | the rate α in error ≍ n^α | [`log_log_slope`] | exact power laws, and a wrong one |
//! | M x = b, eigenvalues, for d ≤ 30 | [`small`] | a spectrum in closed form |
//! | how close is equal? | [`tolerance`] | — |

pub mod block;
mod bootstrap;
mod estimate;
mod gram;
pub(crate) mod lanes;
mod least_squares;
mod monomials;
pub mod network;
pub mod quadrature;
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
pub use least_squares::{LeastSquares, LeastSquaresError, affine_least_squares, least_squares};
pub use monomials::{Monomials, TooManyMonomials};
pub use row_factor::RowFactor;
pub use slope::{SlopeError, SlopeFit, log_log_slope};
pub use streams::{Stream, fill_standard_normal, fill_uniform, uniform_index};
