//! One coordinate axis cut into panels, with Chebyshev points inside each panel.

use std::f64::consts::PI;

/// An interval cut into equal panels that carry `order` Chebyshev points of the first kind each.
///
/// A function known at the points is interpolated, panel by panel, by a polynomial of degree `order − 1`. Points of the
/// first kind lie strictly inside, so that neighbouring panels share none.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    low: f64,
    width: f64,
    panels: usize,
    /// Chebyshev points on [−1, 1], increasing, and their barycentric weights.
    points: Vec<f64>,
    weights: Vec<f64>,
}

impl Axis {
    /// Cuts `[low, high]` into panels no wider than `widest`; an interval without length becomes a single point.
    pub fn new(low: f64, high: f64, widest: f64, order: usize) -> Self {
        let length = high - low;
        let (panels, order) =
            if length > f64::MIN_POSITIVE { ((length / widest).ceil().max(1.0) as usize, order) } else { (1, 1) };
        let angle = |i: usize| (2 * i + 1) as f64 * PI / (2 * order) as f64;
        let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        Self {
            low,
            width: length.max(0.0) / panels as f64,
            panels,
            points: (0..order).map(|i| -angle(i).cos()).collect(),
            weights: (0..order).map(|i| sign(i) * angle(i).sin()).collect(),
        }
    }

    /// Points in a panel.
    pub fn order(&self) -> usize {
        self.points.len()
    }

    /// Points in all panels together.
    pub fn len(&self) -> usize {
        self.panels * self.order()
    }

    /// The place of point `index` of `0..len()`, counted from the low end.
    pub fn point(&self, index: usize) -> f64 {
        let (panel, i) = (index / self.order(), index % self.order());
        self.low + self.width * (panel as f64 + 0.5 * (1.0 + self.points[i]))
    }

    /// Writes the interpolation weights at `x` into `weights` and returns the index of the first point they belong to.
    ///
    /// Outside the interval the value at its nearer end is meant: `x` is clamped.
    ///
    /// # Equation
    /// ℓᵢ(t) = (wᵢ / (t − tᵢ)) / Σⱼ wⱼ / (t − tⱼ), the second barycentric formula; it is exact at the points and as
    /// stable as the interpolation itself.
    pub fn weights_at(&self, x: f64, weights: &mut [f64]) -> usize {
        if self.width == 0.0 {
            weights[0] = 1.0;
            return 0;
        }
        let position = ((x - self.low) / self.width).clamp(0.0, self.panels as f64);
        let panel = (position as usize).min(self.panels - 1);
        let t = 2.0 * (position - panel as f64) - 1.0;
        if let Some(hit) = self.points.iter().position(|&point| point == t) {
            weights.fill(0.0);
            weights[hit] = 1.0;
            return panel * self.order();
        }
        let mut total = 0.0;
        for ((weight, w), point) in weights.iter_mut().zip(&self.weights).zip(&self.points) {
            *weight = w / (t - point);
            total += *weight;
        }
        weights.iter_mut().for_each(|weight| *weight /= total);
        panel * self.order()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Interpolation of numbers below 100 with a Lebesgue constant below 3.
    const ROUNDING: f64 = 1e-12;

    fn interpolate(axis: &Axis, x: f64, f: impl Fn(f64) -> f64) -> f64 {
        let mut weights = vec![0.0; axis.order()];
        let first = axis.weights_at(x, &mut weights);
        weights.iter().enumerate().map(|(i, w)| w * f(axis.point(first + i))).sum()
    }

    #[test]
    fn polynomials_of_degree_below_the_order_come_back_exactly() {
        let axis = Axis::new(-1.5, 5.5, 2.0, 5);
        assert_eq!((axis.panels, axis.len()), (4, 20));
        let f = |x: f64| 0.3 * x.powi(4) - x.powi(3) + 2.0 * x - 1.0;
        for i in 0..=50 {
            let x = -1.5 + 7.0 * f64::from(i) / 50.0;
            assert!((interpolate(&axis, x, f) - f(x)).abs() < ROUNDING, "{x}");
        }
    }

    #[test]
    fn the_points_increase_and_lie_strictly_inside() {
        let axis = Axis::new(-1.5, 5.5, 2.0, 5);
        let points: Vec<f64> = (0..axis.len()).map(|i| axis.point(i)).collect();
        assert!(points.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(-1.5 < points[0] && points[19] < 5.5);
        // The first Chebyshev point of five: −cos(π/10), in a panel of width 7/4.
        assert!((points[0] - (-1.5 + 0.875 * (1.0 - (PI / 10.0).cos()))).abs() < ROUNDING);
    }

    #[test]
    fn at_a_point_the_value_of_the_point_is_taken() {
        let axis = Axis::new(0.0, 1.0, 1.0, 3);
        let mut weights = [0.0; 3];
        assert_eq!(axis.weights_at(0.5, &mut weights), 0);
        assert!((weights[1] - 1.0).abs() < ROUNDING && weights[0].abs() + weights[2].abs() < ROUNDING);
        // Exactly on the middle point, where the barycentric formula divides by zero.
        let exact = Axis { points: vec![-0.5, 0.0, 0.5], weights: vec![1.0, -2.0, 1.0], ..axis };
        exact.weights_at(0.5, &mut weights);
        assert_eq!(weights, [0.0, 1.0, 0.0]);
    }

    #[test]
    fn beyond_its_ends_an_axis_repeats_them() {
        let axis = Axis::new(-1.5, 5.5, 2.0, 5);
        let f = |x: f64| x * x;
        assert!((interpolate(&axis, -40.0, f) - 2.25).abs() < ROUNDING);
        assert!((interpolate(&axis, 40.0, f) - 30.25).abs() < ROUNDING);
    }

    #[test]
    fn an_interval_without_length_is_one_point() {
        let axis = Axis::new(0.3, 0.3, 2.0, 5);
        assert_eq!((axis.len(), axis.point(0)), (1, 0.3));
        assert_eq!(interpolate(&axis, 7.0, |x| x), 0.3);
    }

    #[test]
    fn a_length_that_fits_is_not_cut_further() {
        assert_eq!(Axis::new(0.0, 6.0, 2.0, 4).panels, 3);
        assert_eq!(Axis::new(0.0, 6.1, 2.0, 4).panels, 4);
        assert_eq!(Axis::new(0.0, 1e-9, 2.0, 4).len(), 4);
    }

    #[test]
    fn at_a_point_of_the_axis_all_weight_is_its_own() {
        let axis = Axis::new(-1.0, 2.0, 0.75, 4);
        assert_eq!(axis.len(), 16, "four panels of four points");
        for index in 0..axis.len() {
            let mut weights = [9.0; 4];
            let first = axis.weights_at(axis.point(index), &mut weights);
            let carried: f64 = weights.iter().enumerate().map(|(k, w)| w * axis.point(first + k)).sum();
            assert!((carried - axis.point(index)).abs() < ROUNDING, "point {index}");
            // Points at the border of two panels belong to either.
            assert!(weights[(index - first).min(3)] > 1.0 - 1e-9 || weights.contains(&1.0), "{weights:?}");
        }
        let mut weights = [9.0; 4];
        assert_eq!(axis.weights_at(2.0, &mut weights), 12, "the last panel");
    }
}
