//! Named tolerances. Each is an expression with its reason.

/// Unit roundoff's double, the spacing of the numbers just above 1: 2⁻⁵² ≈ 2.2e−16.
pub const EPSILON: f64 = f64::EPSILON;

/// Safety factor between the rounding error we expect of an orthogonal reduction and the one we call rank deficiency.
///
/// The last pivot of designs of 3 to 60 000 rows with a repeated, summed, shifted or one-hot column was at most 0.54 of
/// ε max(√rows, features) in 384 trials.
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
/// use counterfair_kernel::numeric::tolerance::{ROUNDING, close};
/// assert!(close(0.1 + 0.2, 0.3, ROUNDING) && !close(0.1, 0.1 + 2.0 * ROUNDING, ROUNDING));
/// ```
pub fn close(a: f64, b: f64, tolerance: f64) -> bool {
    let apart = (a - b).abs();
    // No share of ∞ is less than ∞: without asking, it would be close to everything.
    a == b || (apart.is_finite() && apart <= tolerance * a.abs().max(b.abs()).max(1.0))
}

/// How far from 1 the sum of a distribution over actions may be: 2⁻²⁶ ≈ 1.5e−8.
///
/// Probabilities that have been through single precision or through eight printed digits pass; a missing action does not.
pub const PROBABILITY: f64 = 1.0 / 67_108_864.0;

/// A Newton step that moves no log-odds by more than this is the last: 2⁻²⁶ ≈ 1.5e−8.
///
/// Newton's method squares its error, so after such a step the next would move nothing that a double can hold.
pub const NEWTON_STEP: f64 = 1.0 / 67_108_864.0;

/// Log-likelihood a decision that is not worth another step: 1e−9.
///
/// While separated weights run off to infinity, each Newton step adds about 1 to a log-odds and divides what is left to gain by e.
/// At 1e−9 that is some twenty steps from the start, and fewer than one misjudged decision in 10⁸.
pub const LIKELIHOOD_GAIN: f64 = 1e-9;

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
        assert!(!close(f64::INFINITY, 1.0, 0.5) && !close(f64::INFINITY, f64::NEG_INFINITY, 0.5));
        assert!(close(f64::INFINITY, f64::INFINITY, 0.0));
    }
}
