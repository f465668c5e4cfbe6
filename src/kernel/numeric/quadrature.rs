//! Gauss quadrature for uniform and normal weights, and the normal law itself.
//!
//! Both rules come from one construction. The polynomials orthonormal for a symmetric weight satisfy
//! ```text
//! x pₖ(x) = bₖ₊₁ pₖ₊₁(x) + bₖ pₖ₋₁(x),
//! ```
//! so the nodes are the eigenvalues of the tridiagonal matrix with zero diagonal and off-diagonal b₁, …, bₙ₋₁, and the
//! weights are those of Christoffel,
//! ```text
//! wᵢ = mass / Σₖ₍ₖ₌₀…ₙ₋₁₎ pₖ(xᵢ)².
//! ```
//! Nodes are bisected by Sturm counts, which cannot miss or repeat one, and polished by Newton steps. Negative nodes are
//! mirror images, so that odd moments vanish exactly.

use libm::erfc;
use std::f64::consts::{PI, SQRT_2};

/// Nodes and weights of a quadrature rule, nodes ascending.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Where the integrand is evaluated.
    pub nodes: Vec<f64>,
    /// The weight of each node.
    pub weights: Vec<f64>,
}

impl Rule {
    /// The rule on [−1, 1] carried over to [a, b].
    pub fn on(&self, a: f64, b: f64) -> Rule {
        let (centre, half) = ((a + b) / 2.0, (b - a) / 2.0);
        Rule {
            nodes: self.nodes.iter().map(|x| centre + half * x).collect(),
            weights: self.weights.iter().map(|w| half * w).collect(),
        }
    }

    /// Σ wᵢ f(xᵢ).
    pub fn integrate(&self, mut f: impl FnMut(f64) -> f64) -> f64 {
        self.nodes.iter().zip(&self.weights).map(|(&x, &w)| w * f(x)).sum()
    }
}

/// Most points a rule may have. pₙ grows like e^(x²/4) ≤ eⁿ between its outer nodes, and its square must stay finite.
pub const MOST_POINTS: usize = 256;

/// ∫₋₁¹ f by Gauss–Legendre: exact for polynomials of degree below 2n. b_k = k/√(4k² − 1).
///
/// # Panics
/// When n is 0 or above [`MOST_POINTS`].
///
/// # Example
/// ```
/// let rule = counterfair_kernel::numeric::quadrature::gauss_legendre(20).on(0.0, 2.0);
/// assert!((rule.integrate(f64::exp) - (2f64.exp() - 1.0)).abs() < 1e-14);
/// ```
pub fn gauss_legendre(n: usize) -> Rule {
    gauss(n, 2.0, |k| k / (4.0 * k * k - 1.0).sqrt())
}

/// E f(U), U ~ N(0, 1), by Gauss–Hermite for the probabilists' weight: exact below degree 2n. b_k = √k.
///
/// # Panics
/// When n is 0 or above [`MOST_POINTS`].
///
/// # Example
/// ```
/// let rule = counterfair_kernel::numeric::quadrature::gauss_hermite(20);
/// assert!((rule.integrate(f64::cos) - (-0.5f64).exp()).abs() < 1e-14);
/// ```
pub fn gauss_hermite(n: usize) -> Rule {
    gauss(n, 1.0, f64::sqrt)
}

/// The n-point rule of a symmetric weight of total `mass` with recurrence coefficients b₁, b₂, ….
fn gauss(n: usize, mass: f64, coefficient: impl Fn(f64) -> f64) -> Rule {
    assert!((1..=MOST_POINTS).contains(&n), "a rule of {n} points is outside 1..={MOST_POINTS}");
    let b: Vec<f64> = (1..=n).map(|k| coefficient(k as f64)).collect();
    let mut rule = Rule { nodes: vec![0.0; n], weights: vec![0.0; n] };
    for i in n / 2..n {
        let node = if 2 * i + 1 == n { 0.0 } else { node(&b, i) };
        let weight = mass / Christoffel::at(&b, node).sum_of_squares;
        (rule.nodes[i], rule.weights[i]) = (node, weight);
        (rule.nodes[n - 1 - i], rule.weights[n - 1 - i]) = (-node, weight);
    }
    rule
}

/// The `i`-th smallest zero of pₙ.
fn node(b: &[f64], i: usize) -> f64 {
    // Gershgorin: no eigenvalue exceeds the largest sum of two neighbouring coefficients.
    let (mut low, mut high) = (0.0, 2.0 * b.iter().fold(0.0, |most: f64, &c| most.max(c)));
    for _ in 0..BISECTIONS {
        let middle = (low + high) / 2.0;
        if zeros_below(b, middle) > i { high = middle } else { low = middle }
    }
    let mut x = (low + high) / 2.0;
    for _ in 0..NEWTON_STEPS {
        let p = Christoffel::at(b, x);
        x -= p.value / p.slope;
    }
    x
}

/// Halvings that bring a bracket of width below 64 to 4e−9, where Newton's error is squared to below ε in one step.
const BISECTIONS: usize = 34;
/// One step to reach rounding error and one to be sure of it.
const NEWTON_STEPS: usize = 2;

/// Eigenvalues of the n × n Jacobi matrix below x: negative pivots of the factorisation of T − x.
fn zeros_below(b: &[f64], x: f64) -> usize {
    let mut pivot = -x;
    let mut count = usize::from(pivot < 0.0);
    for c in &b[..b.len() - 1] {
        // An exactly zero pivot divides to infinity and the count goes on correctly from there.
        pivot = -x - c * c / pivot;
        count += usize::from(pivot < 0.0);
    }
    count
}

/// pₙ(x), its derivative, and p₀(x)² + … + pₙ₋₁(x)², by the recurrence.
struct Christoffel {
    value: f64,
    slope: f64,
    sum_of_squares: f64,
}

impl Christoffel {
    fn at(b: &[f64], x: f64) -> Self {
        let (mut p_before, mut p) = (0.0, 1.0);
        let (mut d_before, mut d) = (0.0, 0.0);
        let (mut b_before, mut sum_of_squares) = (0.0, 0.0);
        for &c in b {
            sum_of_squares += p * p;
            let p_next = (x * p - b_before * p_before) / c;
            let d_next = (p + x * d - b_before * d_before) / c;
            (p_before, p, d_before, d, b_before) = (p, p_next, d, d_next, c);
        }
        Self { value: p, slope: d, sum_of_squares }
    }
}

/// Density of N(0, 1).
pub fn normal_pdf(x: f64) -> f64 {
    (-x * x / 2.0).exp() / (2.0 * PI).sqrt()
}

/// Distribution function of N(0, 1), Φ(x) = erfc(−x/√2)/2.
///
/// # Precision
/// Small probabilities in the left tail keep their relative precision, x² ε. `erfc` is that of the `libm` crate, equal on
/// every machine; the one in statrs is off by 5e−11 at −1.3.
pub fn normal_cdf(x: f64) -> f64 {
    erfc(-x / SQRT_2) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::tolerance::{ROUNDING, close};

    fn nodes_and_weights(rule: &Rule, expected: &[(f64, f64)]) {
        assert_eq!(rule.nodes.len(), expected.len());
        for ((x, w), (node, weight)) in rule.nodes.iter().zip(&rule.weights).zip(expected) {
            assert!(close(*x, *node, ROUNDING) && close(*w, *weight, ROUNDING), "{x} {w} for {node} {weight}");
        }
    }

    #[test]
    fn five_legendre_points_are_the_published_ones() {
        let (a, b) = (0.906_179_845_938_664, 0.538_469_310_105_683_1);
        let (u, v, w) = (0.236_926_885_056_189_1, 0.478_628_670_499_366_5, 128.0 / 225.0);
        nodes_and_weights(&gauss_legendre(5), &[(-a, u), (-b, v), (0.0, w), (b, v), (a, u)]);
        nodes_and_weights(&gauss_legendre(1), &[(0.0, 2.0)]);
    }

    #[test]
    fn four_hermite_points_are_those_in_radicals() {
        let root = 6f64.sqrt();
        let (a, b) = ((3.0 + root).sqrt(), (3.0 - root).sqrt());
        let (u, v) = ((3.0 - root) / 12.0, (3.0 + root) / 12.0);
        nodes_and_weights(&gauss_hermite(4), &[(-a, u), (-b, v), (b, v), (a, u)]);
        nodes_and_weights(&gauss_hermite(1), &[(0.0, 1.0)]);
    }

    #[test]
    fn legendre_is_exact_below_degree_2n_and_not_at_it() {
        for n in [2, 3, 8, 21, 40] {
            let rule = gauss_legendre(n);
            for k in 0..n {
                let moment = rule.integrate(|x| x.powi(2 * k as i32));
                assert!(close(moment, 2.0 / (2 * k + 1) as f64, ROUNDING), "n = {n}, degree {}", 2 * k);
            }
        }
        // ∫ x⁶ = 2/7 is missed by the squared norm of the monic P₃, 8/175.
        let moment = gauss_legendre(3).integrate(|x| x.powi(6));
        assert!(close(2.0 / 7.0 - moment, 8.0 / 175.0, ROUNDING));
    }

    #[test]
    fn hermite_is_exact_below_degree_2n_and_not_at_it() {
        for n in [2, 3, 8, 21, 40] {
            let rule = gauss_hermite(n);
            let mut double_factorial = 1.0;
            for k in 0..n {
                let moment = rule.integrate(|x| x.powi(2 * k as i32));
                assert!(close(moment / double_factorial, 1.0, 4.0 * ROUNDING), "n = {n}, degree {}", 2 * k);
                double_factorial *= (2 * k + 1) as f64;
            }
        }
        // E U⁸ = 105 is missed by E He₄² = 4!.
        assert!(close(gauss_hermite(4).integrate(|x| x.powi(8)), 81.0, ROUNDING));
    }

    #[test]
    fn large_rules_stay_accurate_and_symmetric() {
        for n in [255, 256] {
            let (legendre, hermite) = (gauss_legendre(n), gauss_hermite(n));
            assert!(close(legendre.integrate(|x| (3.0 * x).cos()), 2.0 * 3f64.sin() / 3.0, ROUNDING));
            assert!(close(hermite.integrate(|x| (2.0 * x).cos()), (-2f64).exp(), ROUNDING));
            for rule in [legendre, hermite] {
                assert!(rule.nodes.windows(2).all(|pair| pair[0] < pair[1]));
                assert!((0..n).all(|i| rule.nodes[i] == -rule.nodes[n - 1 - i]));
                assert!((0..n).all(|i| rule.weights[i] == rule.weights[n - 1 - i] && rule.weights[i] > 0.0));
            }
        }
    }

    #[test]
    fn the_number_of_points_is_bounded() {
        for n in [0, 257] {
            assert!(std::panic::catch_unwind(|| gauss_legendre(n)).is_err(), "{n} points");
        }
    }

    #[test]
    fn a_rule_moves_to_another_interval() {
        let rule = gauss_legendre(2).on(-0.5, 3.0);
        assert!(close(rule.integrate(|x| x * x * x), (81.0 - 0.0625) / 4.0, ROUNDING));
        assert!(close(rule.integrate(|_| 1.0), 3.5, ROUNDING));
    }

    #[test]
    fn the_normal_law_matches_published_values() {
        let relative = |found: f64, expected: f64| (found / expected - 1.0).abs() < ROUNDING;
        assert!(relative(normal_pdf(0.7), 0.312_253_933_366_761_26));
        assert!(relative(normal_cdf(0.7), 0.758_036_347_776_927));
        assert!(relative(normal_cdf(-1.3), 0.096_800_484_585_610_33));
        // Rounding −x/√2 alone costs x² ε in relative terms.
        assert!(relative(normal_cdf(-9.0), 1.128_588_405_953_840_6e-19));
    }

    #[test]
    fn a_rule_carried_over_keeps_its_order() {
        let rule = gauss_legendre(5).on(2.0, 5.0);
        assert!(rule.nodes.is_sorted() && rule.nodes[0] > 2.0 && rule.nodes[4] < 5.0, "{rule:?}");
    }
}
