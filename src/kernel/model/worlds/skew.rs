//! A skewed law of mean 0 and variance 1 as an increasing function of a standard normal, and back.

use crate::numeric::quadrature::{normal_cdf, normal_pdf};
use statrs::distribution::{ContinuousCDF, Normal};
use std::f64::consts::SQRT_2;

/// Newton steps: from a start within a few per cent the error squares each time; fifty bound a loop that ends after five.
const STEPS: usize = 50;

/// e = (x − 2)/√2 with x gamma of shape 2, as the increasing function of a standard normal u: F(x) = Φ(u).
///
/// # Precision
/// Both tails are solved in the smaller of F and 1 − F, so that [`normal_of`] takes it back to 1e-12 for −5 < u < 7.
pub fn gamma_of(u: f64) -> f64 {
    let (tail, is_lower) = (normal_cdf(-u.abs()), u < 0.0);
    // √(2F) below, −log(1 − F) and what the factor 1 + x adds above.
    let mut x = if is_lower { (2.0 * tail).sqrt() } else { -tail.ln() + (1.0 - tail.ln()).ln() };
    for _ in 0..STEPS {
        let step = if is_lower { (lower(x) / tail).ln() * lower(x) } else { -(upper(x) / tail).ln() * upper(x) };
        let next = (x - step / (x * (-x).exp())).max(0.5 * x);
        if (next - x).abs() <= f64::EPSILON * x {
            x = next;
            break;
        }
        x = next;
    }
    (x - 2.0) / SQRT_2
}

/// The normal u of a skewed e: the inverse of [`gamma_of`]. Below the least possible e, −√2, it is that of the least.
pub fn normal_of(e: f64) -> f64 {
    let x = (SQRT_2 * e + 2.0).max(f64::MIN_POSITIVE.sqrt());
    let (below, above) = (lower(x), upper(x));
    let standard = Normal::standard();
    let (tail, sign) = if below < above { (below, -1.0) } else { (above, 1.0) };
    let mut v = standard.inverse_cdf(tail);
    // Two Newton steps in log Φ polish the library's inverse to the last digits.
    for _ in 0..2 {
        let cdf = normal_cdf(v);
        v -= (cdf / tail).ln() * cdf / normal_pdf(v);
    }
    -sign * v
}

/// F(x) = 1 − e⁻ˣ(1 + x); its series where that would cancel.
fn lower(x: f64) -> f64 {
    if x > 0.5 {
        return 1.0 - upper(x);
    }
    // Σ_{k ≥ 2} (−x)ᵏ (k − 1)/k!
    let (mut term, mut sum) = (-x, 0.0);
    for k in 2..24 {
        term *= -x / f64::from(k);
        sum += term * f64::from(k - 1);
    }
    sum
}

/// 1 − F(x) = e⁻ˣ(1 + x).
fn upper(x: f64) -> f64 {
    (-x).exp() * (1.0 + x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::quadrature::gauss_hermite;

    #[test]
    fn a_normal_goes_to_the_gamma_law_and_comes_back() {
        let mut before = f64::NEG_INFINITY;
        for i in -50..=60 {
            let u = 0.1 * f64::from(i);
            let e = gamma_of(u);
            assert!(e > before && e > -SQRT_2, "increasing above −√2");
            before = e;
            // Rounding of e itself, 2e-16, is worth 1e-13 of u at −5, where the law is dense, and more further out.
            assert!((normal_of(e) - u).abs() < 1e-12, "{u}: {}", normal_of(e) - u);
            assert!((gamma_of(normal_of(e)) - e).abs() < 1e-13 * e.abs().max(1.0), "{u}");
        }
        // F(x) = ½ at x = 1.67834699…, the median of a gamma of shape 2.
        assert!((gamma_of(0.0) - (1.678_346_990_016_661 - 2.0) / SQRT_2).abs() < 1e-14);
    }

    #[test]
    fn its_mean_is_0_its_variance_1_and_its_skewness_root_2() {
        // The moments of a gamma of shape k are k(k+1)…; e is as smooth in u as a polynomial of modest degree, bar the corner at −√2.
        let rule = gauss_hermite(96);
        let moment = |k: i32| rule.integrate(|u| gamma_of(u).powi(k));
        for (k, expected) in [(1, 0.0), (2, 1.0), (3, SQRT_2)] {
            assert!((moment(k) - expected).abs() < 1e-7, "moment {k} is {}", moment(k));
        }
    }
}
