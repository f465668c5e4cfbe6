//! Natural cubic splines of one variable: cubic between the knots, straight beyond them.

use serde::{Deserialize, Serialize};

/// A natural cubic spline basis without its constant: m knots make m − 1 functions, the first of them the straight line.
///
/// # Equation
/// With x scaled so that the boundary knots are 0 and 1, ξ₁ = 0 < … < ξₘ = 1 (the truncated power form):
/// ```text
/// N₁(x) = x,   N_{k+1}(x) = d_k(x) − d_{m−1}(x),   d_k(x) = ((x − ξ_k)₊³ − (x − ξₘ)₊³) / (ξₘ − ξ_k),   k = 1, …, m − 2
/// ```
/// Beyond the boundary knots every function is straight, so a fitted mechanism that is iterated on counterfactual states keeps a bounded
/// slope where there are no data. A quadratic does not: iterated, it sends states to infinity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f64>", into = "Vec<f64>")]
pub struct NaturalSpline {
    knots: Vec<f64>,
}

/// Knots must be two or more finite numbers, strictly increasing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("a spline needs two or more finite, strictly increasing knots, not {0:?}")]
pub struct KnotError(pub Vec<f64>);

impl NaturalSpline {
    /// The basis on these knots.
    ///
    /// # Errors
    /// [`KnotError`].
    pub fn new(knots: Vec<f64>) -> Result<Self, KnotError> {
        let increasing = knots.windows(2).all(|w| w[0] < w[1]);
        if knots.len() < 2 || !increasing || knots.iter().any(|k| !k.is_finite()) {
            return Err(KnotError(knots));
        }
        Ok(Self { knots })
    }

    /// `count` knots at equally spaced quantiles of the values, from the 5th to the 95th hundredth; fewer where values repeat.
    ///
    /// The tails beyond are left to the straight pieces: a cubic there would rest on a handful of points. When the values do not
    /// have two distinct quantiles the line through 0 and 1 is all there is.
    pub fn at_quantiles(values: &mut [f64], count: usize) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |share: f64| values.get(((values.len() - 1) as f64 * share).round() as usize).copied();
        let mut knots: Vec<f64> = if values.is_empty() {
            vec![]
        } else {
            (0..count).filter_map(|k| at(0.05 + 0.9 * k as f64 / (count - 1) as f64)).collect()
        };
        knots.dedup();
        Self::new(knots).unwrap_or(Self { knots: vec![0.0, 1.0] })
    }

    /// m − 1, the number of functions.
    pub fn count(&self) -> usize {
        self.knots.len() - 1
    }

    /// The first and the last knot.
    pub fn boundary(&self) -> (f64, f64) {
        (self.knots[0], self.knots[self.knots.len() - 1])
    }

    /// Writes the functions at x.
    pub fn fill(&self, x: f64, out: &mut [f64]) {
        let (first, last) = (self.knots[0], self.knots[self.knots.len() - 1]);
        let width = last - first;
        let scaled = |x: f64| (x - first) / width;
        let x = scaled(x);
        out[0] = x;
        let interior = self.knots.len() - 2;
        if interior == 0 {
            return;
        }
        let cube = |ξ: f64| (x - ξ).max(0.0).powi(3);
        let beyond = cube(1.0);
        let d = |k: usize| {
            let ξ = scaled(self.knots[k]);
            (cube(ξ) - beyond) / (1.0 - ξ)
        };
        let closing = d(interior);
        for (k, value) in out[1..=interior].iter_mut().enumerate() {
            *value = d(k) - closing;
        }
    }
}

impl TryFrom<Vec<f64>> for NaturalSpline {
    type Error = KnotError;

    fn try_from(knots: Vec<f64>) -> Result<Self, KnotError> {
        Self::new(knots)
    }
}

impl From<NaturalSpline> for Vec<f64> {
    fn from(spline: NaturalSpline) -> Self {
        spline.knots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(spline: &NaturalSpline, x: f64) -> Vec<f64> {
        let mut out = vec![0.0; spline.count()];
        spline.fill(x, &mut out);
        out
    }

    #[test]
    fn values_between_knots_are_the_truncated_powers() {
        // Knots 2, 4, 10 scale to 0, ¼, 1; x = 6 to ½. d₁ = ½³ = 1/8, d₂ = (¼)³ / (3/4) = 1/48.
        let spline = NaturalSpline::new(vec![2.0, 4.0, 10.0]).unwrap();
        let values = at(&spline, 6.0);
        assert_eq!(values[0], 0.5);
        approx::assert_relative_eq!(values[1], 1.0 / 8.0 - 1.0 / 48.0, max_relative = 1e-15);
        // x = 12 scales to 5/4: d₁ = 125/64 − 1/64, d₂ = (1 − 1/64) / (3/4).
        approx::assert_relative_eq!(at(&spline, 12.0)[1], 124.0 / 64.0 - (63.0 / 64.0) / 0.75, max_relative = 1e-14);
        assert_eq!(at(&spline, 1.0), [-0.125, 0.0]);
    }

    #[test]
    fn every_function_is_straight_beyond_the_boundary_and_smooth_inside() {
        let spline = NaturalSpline::new(vec![-1.0, 0.3, 0.5, 2.0, 2.5]).unwrap();
        assert_eq!(spline.count(), 4);
        let second = |x: f64, h: f64, j: usize| {
            (at(&spline, x + h)[j] - 2.0 * at(&spline, x)[j] + at(&spline, x - h)[j]) / (h * h)
        };
        for j in 0..4 {
            for x in [-9.0, -2.0, 3.5, 20.0] {
                assert!(second(x, 0.5, j).abs() < 1e-11, "function {j} bends at {x}");
            }
            // The second derivative is continuous at the knots: one-sided values agree as the step shrinks.
            for knot in [-1.0, 0.3, 0.5, 2.0, 2.5] {
                let jump = (second(knot + 2e-3, 1e-3, j) - second(knot - 2e-3, 1e-3, j)).abs();
                assert!(jump < 0.2, "function {j} jumps by {jump} at {knot}");
            }
        }
        assert!(second(1.0, 1e-3, 1).abs() > 0.05, "inside it does bend");
    }

    #[test]
    fn knots_sit_at_quantiles_and_repeats_are_merged() {
        let mut values: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        let spline = NaturalSpline::at_quantiles(&mut values, 4);
        assert_eq!(spline.knots, [5.0, 35.0, 65.0, 95.0]);
        assert_eq!(NaturalSpline::at_quantiles(&mut [1.0, 1.0, 1.0, 2.0], 5).knots, [1.0, 2.0]);
        assert_eq!(NaturalSpline::at_quantiles(&mut [3.0; 9], 4).knots, [0.0, 1.0]);
        assert_eq!(NaturalSpline::at_quantiles(&mut [], 4).knots, [0.0, 1.0]);
    }

    #[test]
    fn knots_that_cannot_be_are_refused() {
        for knots in [vec![], vec![1.0], vec![1.0, 1.0], vec![2.0, 1.0], vec![0.0, f64::INFINITY], vec![f64::NAN, 1.0]]
        {
            assert!(NaturalSpline::new(knots.clone()).is_err(), "{knots:?}");
        }
    }
}
