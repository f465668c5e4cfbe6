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

use statrs::function::erf::erfc;
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
/// let rule = counterfair::numeric::quadrature::gauss_legendre(20).on(0.0, 2.0);
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
/// let rule = counterfair::numeric::quadrature::gauss_hermite(20);
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

/// Φ(x) = erfc(−x/√2)/2: small probabilities in the left tail keep their relative precision.
pub fn normal_cdf(x: f64) -> f64 {
    erfc(-x / SQRT_2) / 2.0
}
