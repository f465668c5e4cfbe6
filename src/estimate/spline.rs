//! Natural cubic splines of one variable: cubic between the knots, straight beyond them.

use serde::{Deserialize, Serialize};

/// A natural cubic spline basis without its constant: m knots make m − 1 functions, the first of them the straight line.
///
/// # Equation
/// With x scaled so that the boundary knots are 0 and 1:
/// ```text
/// N₁(x) = x,   N_{j}(ξ_i) = 1{i = j}  for every interior knot ξ_j
/// ```
/// each the cubic through its values whose second derivative γ is continuous, piecewise linear and 0 at the boundary. Between ξ_i and
/// ξ_{i+1} = ξ_i + h, with t = (x − ξ_i)/h and u = 1 − t:
/// ```text
/// N(x) = u N(ξ_i) + t N(ξ_{i+1}) + (h²/6) ((u³ − u) γ_i + (t³ − t) γ_{i+1})
/// ```
/// Beyond the boundary knots every function is straight, so a fitted mechanism that is iterated on counterfactual states keeps a bounded
/// slope where there are no data. A quadratic does not: iterated, it sends states to infinity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f64>", into = "Vec<f64>")]
pub(crate) struct NaturalSpline {
    knots: Vec<f64>,
    /// The knots scaled to [0, 1].
    scaled: Vec<f64>,
    /// γ at each knot (row) of each bent function (column).
    bends: Vec<f64>,
}

/// More knots than this serve no study, and a file that asks for them is wrong: the basis holds a number for each pair of knots.
const MOST_KNOTS: usize = 64;

/// Knots must be two or more finite numbers, strictly increasing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("a spline needs from 2 to {MOST_KNOTS} finite, strictly increasing knots, not {0:?}")]
pub struct KnotError(pub Vec<f64>);

impl NaturalSpline {
    /// The basis on these knots.
    ///
    /// # Errors
    /// [`KnotError`].
    pub fn new(knots: Vec<f64>) -> Result<Self, KnotError> {
        let count = knots.len();
        let increasing = knots.windows(2).all(|w| w[0] < w[1]);
        if !(2..=MOST_KNOTS).contains(&count) || !increasing || knots.iter().any(|k| !k.is_finite()) {
            return Err(KnotError(knots));
        }
        let (first, width) = (knots[0], knots[count - 1] - knots[0]);
        let scaled: Vec<f64> = knots.iter().map(|knot| (knot - first) / width).collect();
        // Distinct knots may fall together, or the width overflow, once scaled.
        if !scaled.windows(2).all(|w| w[0] < w[1]) {
            return Err(KnotError(knots));
        }
        let bends = second_derivatives(&scaled);
        Ok(Self { knots, scaled, bends })
    }

    /// The straight line alone.
    fn line() -> Self {
        Self { knots: vec![0.0, 1.0], scaled: vec![0.0, 1.0], bends: vec![] }
    }

    /// The ranks of `count` equally spaced quantiles among `n` sorted values.
    pub(super) fn ranks(n: usize, count: usize) -> Vec<usize> {
        let rank = |last: usize, k: usize| (last as f64 * k as f64 / (count - 1) as f64).round() as usize;
        n.checked_sub(1).map_or_else(Vec::new, |last| (0..count).map(|k| rank(last, k)).collect())
    }

    /// The basis on sorted quantiles, repeats merged. Where there are not two distinct ones the line through 0 and 1 is all there is.
    pub(super) fn through(mut quantiles: Vec<f64>) -> Self {
        quantiles.dedup();
        Self::new(quantiles).unwrap_or_else(|_| Self::line())
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
        let (first, last) = self.boundary();
        let x = (x - first) / (last - first);
        out[0] = x;
        let bent = self.knots.len() - 2;
        if bent == 0 {
            return;
        }
        let out = &mut out[1..=bent];
        let γ = |knot: usize| &self.bends[knot * bent..(knot + 1) * bent];
        if x < 0.0 {
            let h = self.scaled[1];
            out.iter_mut().zip(γ(1)).for_each(|(value, γ)| *value = -x * h / 6.0 * γ);
            out[0] += x / h;
        } else if x > 1.0 {
            let h = 1.0 - self.scaled[bent];
            out.iter_mut().zip(γ(bent)).for_each(|(value, γ)| *value = (x - 1.0) * h / 6.0 * γ);
            out[bent - 1] -= (x - 1.0) / h;
        } else {
            // A number that is none lands in the first interval and comes out as itself.
            let i = self.scaled[1..=bent].partition_point(|&knot| knot <= x);
            let h = self.scaled[i + 1] - self.scaled[i];
            let t = (x - self.scaled[i]) / h;
            let u = 1.0 - t;
            let (left, right) = ((u * u * u - u) * h * h / 6.0, (t * t * t - t) * h * h / 6.0);
            for (value, (before, after)) in out.iter_mut().zip(γ(i).iter().zip(γ(i + 1))) {
                *value = left * before + right * after;
            }
            if i > 0 {
                out[i - 1] += u;
            }
            if i < bent {
                out[i] += t;
            }
        }
    }

    /// The piece that x lies in, from 0 before the first knot to m beyond the last, and its scaled distance from the piece's start.
    #[inline]
    pub(super) fn locate(&self, x: f64) -> (usize, f64) {
        let (first, last) = self.boundary();
        let x = (x - first) / (last - first);
        // Counting is faster than searching: a dozen comparisons without a branch.
        let piece = self.scaled.iter().map(|&knot| usize::from(knot <= x)).sum::<usize>();
        (piece, x - self.scaled[piece.saturating_sub(1)])
    }

    /// Σ c N piece by piece: the coefficients of powers 0 to 3 of the scaled distance from the piece's start.
    pub(super) fn cubics(&self, c: &[f64]) -> Vec<[f64; 4]> {
        let m = self.knots.len();
        let bent = m - 2;
        let value = |i: usize| c[0] * self.scaled[i] + if (1..=bent).contains(&i) { c[i] } else { 0.0 };
        let γ = |i: usize| (0..bent).map(|j| self.bends[i * bent + j] * c[1 + j]).sum::<f64>();
        let slope = |i: usize| {
            let h = self.scaled[i + 1] - self.scaled[i];
            ((value(i + 1) - value(i)) / h, h)
        };
        let between = (0..m - 1).map(|i| {
            let (rise, h) = slope(i);
            let (before, after) = (γ(i), γ(i + 1));
            [value(i), rise - h * (2.0 * before + after) / 6.0, before / 2.0, (after - before) / (6.0 * h)]
        });
        let between: Vec<[f64; 4]> = between.collect();
        let (rise, h) = slope(m - 2);
        let before = [value(0), between[0][1], 0.0, 0.0];
        let beyond = [value(m - 1), rise + h * γ(m - 2) / 6.0, 0.0, 0.0];
        std::iter::once(before).chain(between).chain([beyond]).collect()
    }

    /// Rows ρ over the functions with Σ (ρ·c)² = ∫ f″² for f = Σ c N, x scaled to [0, 1]: how much f bends, whatever its units.
    ///
    /// f″ is straight between knots, so two Gauss points an interval integrate its square exactly.
    pub fn roughness_rows(&self) -> Vec<Vec<f64>> {
        let bent = self.knots.len() - 2;
        let offset = 0.5 / 3.0f64.sqrt();
        let mut rows = Vec::new();
        for (i, interval) in self.scaled.windows(2).enumerate() {
            let weight = ((interval[1] - interval[0]) / 2.0).sqrt();
            for t in [0.5 - offset, 0.5 + offset] {
                let γ = |j: usize| (1.0 - t) * self.bends[i * bent + j] + t * self.bends[(i + 1) * bent + j];
                rows.push(std::iter::once(0.0).chain((0..bent).map(|j| weight * γ(j))).collect());
            }
        }
        rows
    }
}

/// γ at every knot of the function that is 1 at one interior knot and 0 at the others: a tridiagonal system for each.
///
/// # Equation
/// ```text
/// h_{i−1} γ_{i−1} / 6 + (h_{i−1} + h_i) γ_i / 3 + h_i γ_{i+1} / 6 = (y_{i+1} − y_i)/h_i − (y_i − y_{i−1})/h_{i−1},   γ₁ = γₘ = 0
/// ```
fn second_derivatives(knots: &[f64]) -> Vec<f64> {
    let bent = knots.len() - 2;
    let h: Vec<f64> = knots.windows(2).map(|w| w[1] - w[0]).collect();
    let mut bends = vec![0.0; knots.len() * bent];
    for j in 0..bent {
        let y = |knot: usize| f64::from(u8::from(knot == j + 1));
        // Forward elimination, then back substitution; the matrix is diagonally dominant, so no pivot is needed.
        let (mut upper, mut right) = (vec![0.0; bent], vec![0.0; bent]);
        for i in 0..bent {
            let slopes = (y(i + 2) - y(i + 1)) / h[i + 1] - (y(i + 1) - y(i)) / h[i];
            let (above, carried) = if i == 0 { (0.0, 0.0) } else { (upper[i - 1], right[i - 1]) };
            let pivot = (h[i] + h[i + 1]) / 3.0 - h[i] / 6.0 * above;
            upper[i] = h[i + 1] / 6.0 / pivot;
            right[i] = (slopes - h[i] / 6.0 * carried) / pivot;
        }
        let mut next = 0.0;
        for i in (0..bent).rev() {
            next = right[i] - upper[i] * next;
            bends[(i + 1) * bent + j] = next;
        }
    }
    bends
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
    fn three_knots_by_hand() {
        // Knots 2, 4, 8 scale to 0, ⅓, 1: h = ⅓, ⅔. The bent function is 1 at the middle: γ/3 = −1.5 − 3, so γ = −13.5.
        let spline = NaturalSpline::new(vec![2.0, 4.0, 8.0]).unwrap();
        assert_eq!(at(&spline, 5.0)[0], 0.5);
        let expect = |x: f64, value: f64| approx::assert_relative_eq!(at(&spline, x)[1], value, max_relative = 1e-14);
        // x = 3 (t = ½): ½ + (1/9)/6 · (−3/8) · (−13.5). x = 6 (t = ½): ½ + (4/9)/6 · (−3/8) · (−13.5).
        expect(3.0, 0.5 + 0.09375);
        expect(4.0, 1.0);
        expect(6.0, 0.5 + 0.375);
        // Slope at the left end 3 − (⅓/6)(−13.5) = 3.75, at the right end −1.5 + (⅔/6)(−13.5) = −3, a sixth of the way out.
        expect(1.0, -3.75 / 6.0);
        expect(9.0, -3.0 / 6.0);
        assert_eq!(at(&spline, 2.0), [0.0, 0.0]);
        approx::assert_abs_diff_eq!(at(&spline, 8.0)[1], 0.0, epsilon = 1e-15);
    }

    #[test]
    fn bent_functions_are_one_at_their_own_knot() {
        let knots = vec![-1.0, 0.3, 0.5, 2.0, 2.5];
        let spline = NaturalSpline::new(knots.clone()).unwrap();
        for (i, &knot) in knots.iter().enumerate() {
            for (j, value) in at(&spline, knot)[1..].iter().enumerate() {
                approx::assert_abs_diff_eq!(*value, f64::from(u8::from(i == j + 1)), epsilon = 1e-14);
            }
        }
    }

    #[test]
    fn every_function_is_straight_beyond_the_boundary_and_smooth_inside() {
        let spline = NaturalSpline::new(vec![-1.0, 0.3, 0.5, 2.0, 2.5]).unwrap();
        assert_eq!(spline.count(), 4);
        let second = |x: f64, h: f64, j: usize| {
            (at(&spline, x + h)[j] - 2.0 * at(&spline, x)[j] + at(&spline, x - h)[j]) / (h * h)
        };
        let first = |x: f64, h: f64, j: usize| (at(&spline, x + h)[j] - at(&spline, x)[j]) / h;
        for j in 0..4 {
            for x in [-9.0, -2.0, 3.5, 20.0] {
                assert!(second(x, 0.5, j).abs() < 1e-11, "function {j} bends at {x}");
            }
            // First and second derivatives are continuous at the knots: one-sided values agree as the step shrinks.
            for knot in [-1.0, 0.3, 0.5, 2.0, 2.5] {
                let kink = (first(knot, 1e-5, j) - first(knot - 1e-5, 1e-5, j)).abs();
                assert!(kink < 5e-3, "function {j} has a kink of {kink} at {knot}");
                let jump = (second(knot + 2e-4, 1e-4, j) - second(knot - 2e-4, 1e-4, j)).abs();
                assert!(jump < 0.5, "function {j} jumps by {jump} at {knot}");
            }
        }
        assert!(second(1.0, 1e-3, 1).abs() > 0.05, "inside it does bend");
    }

    #[test]
    fn roughness_is_the_integral_of_the_squared_second_derivative() {
        let spline = NaturalSpline::new(vec![-1.0, 0.3, 0.5, 2.0, 2.5]).unwrap();
        let c = [7.0, 0.4, -1.1, 0.9];
        let rough: f64 =
            spline.roughness_rows().iter().map(|row| row.iter().zip(c).map(|(ρ, c)| ρ * c).sum::<f64>().powi(2)).sum();
        // Second differences of f on a fine grid of the scaled variable, squared and summed.
        let f = |u: f64| at(&spline, -1.0 + 3.5 * u).iter().zip(c).map(|(n, c)| n * c).sum::<f64>();
        let h = 1e-3;
        let sum: f64 = (0..1000)
            .map(|i| (i as f64 + 0.5) * h)
            .map(|u| ((f(u + h) - 2.0 * f(u) + f(u - h)) / (h * h)).powi(2) * h)
            .sum();
        approx::assert_relative_eq!(rough, sum, max_relative = 1e-3);
        assert_eq!(spline.roughness_rows().len(), 8);
        let line = NaturalSpline::new(vec![0.0, 2.0]).unwrap();
        assert!(line.roughness_rows().iter().flatten().all(|ρ| *ρ == 0.0), "a straight line does not bend");
    }

    fn at_quantiles(values: &mut [f64], count: usize) -> NaturalSpline {
        values.sort_by(f64::total_cmp);
        NaturalSpline::through(NaturalSpline::ranks(values.len(), count).into_iter().map(|rank| values[rank]).collect())
    }

    #[test]
    fn knots_sit_at_quantiles_and_repeats_are_merged() {
        let mut values: Vec<f64> = (5..=95).rev().map(f64::from).collect();
        let spline = at_quantiles(&mut values, 4);
        assert_eq!(spline.knots, [5.0, 35.0, 65.0, 95.0]);
        assert_eq!(at_quantiles(&mut [1.0, 1.0, 1.0, 2.0], 5).knots, [1.0, 2.0]);
        assert_eq!(at_quantiles(&mut [3.0; 9], 4).knots, [0.0, 1.0]);
        assert_eq!(at_quantiles(&mut [], 4).knots, [0.0, 1.0]);
        assert_eq!(at_quantiles(&mut [-1e308, 0.0, 1e308], 3).knots, [0.0, 1.0]);
    }

    #[test]
    fn knots_that_cannot_be_are_refused() {
        let too_many: Vec<f64> = (0..=MOST_KNOTS).map(|k| k as f64).collect();
        let refused = [
            vec![],
            vec![1.0],
            vec![1.0, 1.0],
            vec![2.0, 1.0],
            vec![0.0, f64::INFINITY],
            vec![f64::NAN, 1.0],
            vec![-1e308, 0.0, 1e308],
            vec![0.0, 1e-320, 1.0e10],
            too_many.clone(),
        ];
        for knots in refused {
            assert!(NaturalSpline::new(knots.clone()).is_err(), "{knots:?}");
        }
        assert!(NaturalSpline::new(too_many[1..].to_vec()).is_ok());
    }

    #[test]
    fn a_spline_is_stored_as_its_knots() {
        let knots = vec![-1.5, 0.25, 2.0, 7.0];
        assert_eq!(Vec::from(NaturalSpline::new(knots.clone()).unwrap()), knots);
    }
}
