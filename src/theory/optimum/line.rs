//! Integrals of the better of two smooth functions along a line of noise.

use crate::kernel::numeric::quadrature::Rule;

/// A point of a line at which the better of the two actions is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Choice {
    /// Place on the line.
    pub s: f64,
    /// Quadrature weight for ds.
    pub weight: f64,
    /// The better action.
    pub action: usize,
    /// Its value.
    pub value: f64,
}

impl Choice {
    fn best(s: f64, weight: f64, [q0, q1]: [f64; 2]) -> Self {
        Self { s, weight, action: usize::from(q1 > q0), value: q0.max(q1) }
    }
}

/// Quadrature points for max(q₀, q₁) on the panels between `breaks`, cut further where q₁ − q₀ changes sign.
///
/// # Precision
/// Within each piece the integrand is one smooth function, so the rule keeps its full order across the kink. A pair of
/// sign changes between neighbouring sample points is not seen; its effect is bounded by the gap it hides.
pub(super) fn choices(breaks: &[f64], rule: &Rule, q: impl Fn(f64) -> [f64; 2]) -> Vec<Choice> {
    let mut line = Vec::new();
    let gap = |s: f64| {
        let [q0, q1] = q(s);
        q1 - q0
    };
    let mut left = gap(breaks[0]);
    for ends in breaks.windows(2) {
        let right = gap(ends[1]);
        let start = line.len();
        line.extend(panel(ends[0], ends[1], rule).map(|(s, weight)| Choice::best(s, weight, q(s))));
        let cuts = sign_changes((ends[0], left), &line[start..], (ends[1], right), gap);
        if !cuts.is_empty() {
            line.truncate(start);
            let edges: Vec<f64> = [ends[0]].into_iter().chain(cuts).chain([ends[1]]).collect();
            for piece in edges.windows(2) {
                line.extend(panel(piece[0], piece[1], rule).map(|(s, weight)| Choice::best(s, weight, q(s))));
            }
        }
        left = right;
    }
    line
}

/// Where the gap changes sign, as seen at the points of a panel and its two ends.
fn sign_changes(left: (f64, f64), inner: &[Choice], right: (f64, f64), gap: impl Fn(f64) -> f64) -> Vec<f64> {
    let inner = inner.iter().map(|choice| (choice.s, choice.action == 1));
    let mut cuts = Vec::new();
    let mut before = (left.0, left.1 > 0.0);
    for here in inner.chain([(right.0, right.1 > 0.0)]) {
        if here.1 != before.1 {
            cuts.push(bisect(before.0, here.0, before.1, &gap));
        }
        before = here;
    }
    cuts
}

/// The rule's points and weights on [low, high].
fn panel(low: f64, high: f64, rule: &Rule) -> impl Iterator<Item = (f64, f64)> {
    let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
    rule.nodes.iter().zip(&rule.weights).map(move |(t, w)| (middle + half * t, half * w))
}

/// The place in [low, high] where `f`, `positive` or not at `low`, changes sign.
fn bisect(mut low: f64, mut high: f64, positive: bool, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if (f(middle) > 0.0) == positive {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Halvings of a sample spacing below 1: 2⁻⁴⁰ ≈ 1e-12, and a misplaced kink costs the square of that.
const BISECTIONS: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::numeric::quadrature::gauss_legendre;

    /// Sums of sixty numbers below 10.
    const ROUNDING: f64 = 1e-13;

    fn integral(line: &[Choice]) -> f64 {
        line.iter().map(|c| c.weight * c.value).sum()
    }

    #[test]
    fn a_kink_inside_a_panel_costs_nothing() {
        let line = choices(&[-1.0, 0.5, 2.0], &gauss_legendre(3), |s| [0.3, s]);
        // ∫₋₁^0.3 0.3 ds + ∫_0.3² s ds.
        assert!((integral(&line) - (0.39 + 0.5 * (4.0 - 0.09))).abs() < ROUNDING);
        assert_eq!(line.len(), 9);
        assert!(line.iter().all(|c| (c.action == 1) == (c.s > 0.3)));
        assert!(line.windows(2).all(|pair| pair[0].s < pair[1].s));
    }

    #[test]
    fn two_kinks_in_one_panel_are_both_found() {
        let line = choices(&[-1.0, 1.0], &gauss_legendre(5), |s| [s * s, 0.16]);
        // 2 ∫₀^0.4 0.16 ds + 2 ∫_0.4¹ s² ds.
        assert!((integral(&line) - 2.0 * (0.064 + (1.0 - 0.064) / 3.0)).abs() < ROUNDING);
        assert_eq!(line.len(), 15);
    }

    #[test]
    fn a_kink_between_the_last_point_and_the_end_is_seen() {
        let rule = gauss_legendre(2);
        for kink in [-0.95, 0.95] {
            let line = choices(&[-1.0, 1.0], &rule, |s| [0.0, s - kink]);
            assert!((integral(&line) - 0.5 * (1.0 - kink) * (1.0 - kink)).abs() < ROUNDING);
        }
    }

    #[test]
    fn without_a_kink_the_rule_is_used_as_it_is() {
        let rule = gauss_legendre(4);
        let line = choices(&[0.0, 1.0, 3.0], &rule, |s| [s, s - 1.0]);
        assert_eq!(line.len(), 8);
        assert!(line.iter().all(|c| c.action == 0 && c.value == c.s));
        assert!((integral(&line) - 4.5).abs() < ROUNDING);
    }
}
