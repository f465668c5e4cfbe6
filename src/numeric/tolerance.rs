//! Named tolerances. Each is an expression with its reason.

/// Unit roundoff's double, the spacing of the numbers just above 1: 2⁻⁵² ≈ 2.2e−16.
pub const EPSILON: f64 = f64::EPSILON;

/// Safety factor between the rounding error we expect of an orthogonal reduction and the one we call rank deficiency.
///
/// Duplicated, summed and affinely dependent columns left pivots of 0 to 2 √n·ε in the trials behind this value.
const RANK_MARGIN: f64 = 8.0;

/// Pivots below this share of the largest are taken for zero when the rank of `rows` × `features` is decided.
///
/// # Equation
/// ```text
/// τ = 8 ε max(√rows, features)
/// ```
/// Columns have norm one when the decision is made, so the threshold measures dependence and not units. Rounding errors
/// of Householder reflections add up like a random walk over the rows, hence √rows; the customary ε·rows would call
/// Filip-like designs deficient at two million rows.
pub fn rank(rows: usize, features: usize) -> f64 {
    RANK_MARGIN * EPSILON * (rows as f64).sqrt().max(features as f64)
}

/// Largest condition number of an equilibrated Gram matrix whose Cholesky solution is trusted: ε^(−1/2) ≈ 6.7e7.
///
/// κ(XᵀX) = κ(X)², and a Cholesky solution loses κ(XᵀX)·ε in relative terms. At this limit half of the sixteen digits
/// are left, about 1e−8; beyond it QR, which loses κ(X)·ε, is worth its price.
pub const GRAM_CONDITION: f64 = 67_108_864.0;

/// How far beyond any possible action value, max|r| / (1 − γ), an iteration may wander before it is called divergent.
///
/// Extrapolating fits overshoot by factors of ten before they settle; a factor of a million does not come back.
pub const DIVERGENCE: f64 = 1e6;
/// Relative agreement asked of results that are a few dozen roundings away from each other: 64 ε ≈ 1.4e−14.
pub const ROUNDING: f64 = 64.0 * EPSILON;

/// Whether two numbers agree up to `tolerance`, relative to the larger of them and 1.
///
/// # Example
/// ```
/// use counterfair::numeric::tolerance::{ROUNDING, close};
/// assert!(close(0.1 + 0.2, 0.3, ROUNDING) && !close(0.1, 0.1 + 2.0 * ROUNDING, ROUNDING));
/// ```
pub fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_threshold_follows_the_longer_of_root_rows_and_features() {
        assert_eq!(rank(9, 4), 32.0 * EPSILON);
        assert_eq!(rank(10_000, 4), 800.0 * EPSILON);
    }

    #[test]
    fn the_gram_limit_is_the_inverse_root_of_epsilon() {
        assert_eq!(GRAM_CONDITION, 1.0 / EPSILON.sqrt());
    }

    #[test]
    fn closeness_is_absolute_below_one_and_relative_above() {
        assert!(close(0.25, 0.375, 0.125) && !close(0.25, 0.375, 0.124));
        assert!(close(4.0, 5.0, 0.2) && !close(4.0, 5.0, 0.19));
        assert!(close(-5.0, -4.0, 0.2) && !close(-5.0, -4.0, 0.19));
        assert!(!close(f64::NAN, 1.0, 1.0));
    }
}
