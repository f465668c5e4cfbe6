//! Feature maps φ(s) for the linear class; every action has its own weights, so φ does not see the action.

mod one_hot;
mod polynomial;

pub use polynomial::{Polynomial, PolynomialError};

pub use one_hot::OneHot;

/// A map from what a policy reads to d numbers, a block of rows at a time.
///
/// Implement it for features of your own; they work everywhere the shipped ones do, except in policy files.
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
