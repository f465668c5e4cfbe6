//! G_z: the law of standardised residuals at each level, as monotone broken lines to one common scale.

use crate::kernel::numeric::{Place, quantile};
use serde::{Deserialize, Serialize};

/// Quantiles of each level's standardised residuals at the same probabilities, and the common scale they are mapped to.
///
/// # Equation
/// ```text
/// c_m = Σ_z p_z q_z(π_m),   G_z: q_z(π_m) ↦ c_m,   π_m = (m − ½)/M
/// ```
/// straight between the knots and beyond them, where the slope is that of the three outer knots. Going from level z to level k passes
/// through c, so it takes quantiles of z to quantiles of k.
///
/// # Precision
/// Increments of q_z are held within a factor [`STEEPEST`] of those of c, so that every G_z has slopes in [1/8, 8] and ties cannot make
/// a map jump.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Shape {
    levels: Vec<Vec<f64>>,
    common: Vec<f64>,
}

/// The steepest slope of G_z and of its inverse.
pub(super) const STEEPEST: f64 = 8.0;

/// Fewest and most knots.
const KNOTS: std::ops::RangeInclusive<usize> = 8..=60;

/// M = ½ √(residuals per level), from 8 to 60.
pub(super) fn knots(residuals: usize, levels: usize) -> usize {
    let m = 0.5 * (residuals as f64 / levels as f64).sqrt();
    (m.round() as usize).clamp(*KNOTS.start(), *KNOTS.end())
}

impl Shape {
    /// From each level's quantiles, and the share of all weight that each level has.
    pub fn of_quantiles(mut quantiles: Vec<Vec<f64>>, shares: &[f64]) -> Option<Self> {
        let mut common = vec![0.0; quantiles.first().map_or(0, Vec::len)];
        for (own, share) in quantiles.iter().zip(shares) {
            common.iter_mut().zip(own).for_each(|(c, q)| *c += share * q);
        }
        let least = spread_of(&common) * 1e-6;
        if least.is_nan() || least <= 0.0 {
            return None;
        }
        widen(&mut common, |_, step| step.max(least));
        for own in &mut quantiles {
            widen(own, |m, step| {
                let between = common[m + 1] - common[m];
                step.clamp(between / STEEPEST, between * STEEPEST)
            });
        }
        Some(Self { levels: quantiles, common })
    }

    /// How many knots.
    pub fn knots(&self) -> usize {
        self.common.len()
    }

    /// U = G_z(e).
    pub fn to_common(&self, level: usize, noise: f64) -> f64 {
        broken_line(&self.levels[level], &self.common, noise)
    }

    /// e = G_z⁻¹(U).
    pub fn of_common(&self, level: usize, common: f64) -> f64 {
        broken_line(&self.common, &self.levels[level], common)
    }

    /// Whether it fits a mechanism of this many levels.
    pub fn is_consistent(&self, levels: usize) -> bool {
        let increasing = |knots: &[f64]| knots.iter().all(|x| x.is_finite()) && knots.windows(2).all(|w| w[0] < w[1]);
        self.levels.len() == levels
            && self.common.len() >= 3
            && increasing(&self.common)
            && self.levels.iter().all(|own| own.len() == self.common.len() && increasing(own))
    }
}

/// Quantiles at (m − ½)/M of sorted values; value i stands at the middle of its own weight.
pub(super) fn weighted_quantiles(sorted: &[(f64, f64)], count: usize) -> Vec<f64> {
    let total: f64 = sorted.iter().map(|(_, w)| w).sum();
    let mut knots = Vec::with_capacity(count);
    let (mut i, mut below) = (0, 0.0);
    for m in 0..count {
        let target = total * (m as f64 + 0.5) / count as f64;
        // Middle of value i's weight, and of the next one's.
        while i + 1 < sorted.len() && below + sorted[i].1 + 0.5 * sorted[i + 1].1 <= target {
            below += sorted[i].1;
            i += 1;
        }
        let here = below + 0.5 * sorted[i].1;
        knots.push(match sorted.get(i + 1) {
            Some(next) if target > here => {
                let there = below + sorted[i].1 + 0.5 * next.1;
                sorted[i].0 + (target - here) / (there - here) * (next.0 - sorted[i].0)
            }
            _ => sorted[i].0,
        });
    }
    knots
}

/// The places of [`weighted_quantiles`] among n values of weight 1.
pub(super) fn quantile_places(n: usize, count: usize) -> Vec<Place> {
    let place = |m: usize| Place::new(n, n as f64 * (m as f64 + 0.5) / count as f64 - 0.5);
    if n == 0 { vec![] } else { (0..count).map(place).collect() }
}

/// Distance between the quartiles of knots.
fn spread_of(knots: &[f64]) -> f64 {
    quantile(knots, 0.75) - quantile(knots, 0.25)
}

/// Changes the steps between knots, the middle knot staying where it is.
fn widen(knots: &mut [f64], change: impl Fn(usize, f64) -> f64) {
    let steps: Vec<f64> = knots.windows(2).enumerate().map(|(m, w)| change(m, w[1] - w[0])).collect();
    let middle = knots.len() / 2;
    for m in middle..steps.len() {
        knots[m + 1] = knots[m] + steps[m];
    }
    for m in (0..middle).rev() {
        knots[m] = knots[m + 1] - steps[m];
    }
}

/// The broken line through (xₘ, yₘ), straight beyond both ends with the slope of the three outer knots.
#[inline]
fn broken_line(xs: &[f64], ys: &[f64], x: f64) -> f64 {
    let last = xs.len() - 1;
    if x <= xs[0] {
        return ys[0] + (x - xs[0]) * (ys[2] - ys[0]) / (xs[2] - xs[0]);
    }
    if x >= xs[last] {
        return ys[last] + (x - xs[last]) * (ys[last] - ys[last - 2]) / (xs[last] - xs[last - 2]);
    }
    // NaN falls into the last interval and stays NaN.
    let i = xs.partition_point(|knot| *knot <= x).clamp(1, last) - 1;
    ys[i] + (x - xs[i]) * (ys[i + 1] - ys[i]) / (xs[i + 1] - xs[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_quantiles_are_where_equal_weights_have_them() {
        for (n, count) in [(8, 8), (9, 8), (61, 8), (1000, 60), (1003, 17)] {
            let sorted = weighted(&(0..n).map(|i| (i as f64).powi(2)).collect::<Vec<_>>());
            let at = |place: Place| place.between(sorted[place.below].0, sorted[place.above].0);
            let found: Vec<f64> = quantile_places(n, count).into_iter().map(at).collect();
            assert_eq!(found, weighted_quantiles(&sorted, count));
        }
    }
    use crate::kernel::numeric::{Stream, fill_standard_normal};

    fn weighted(values: &[f64]) -> Vec<(f64, f64)> {
        values.iter().map(|x| (*x, 1.0)).collect()
    }

    fn normal(seed: u64, count: usize) -> Vec<f64> {
        let mut values = vec![0.0; count];
        fill_standard_normal(&mut Stream::new(seed).rng(), &mut values);
        values
    }

    fn fit(levels: &[Vec<f64>], count: usize) -> Option<Shape> {
        let own = |values: &Vec<f64>| {
            let mut sorted = weighted(values);
            sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
            weighted_quantiles(&sorted, count)
        };
        let total: usize = levels.iter().map(Vec::len).sum();
        let shares: Vec<f64> = levels.iter().map(|values| values.len() as f64 / total as f64).collect();
        Shape::of_quantiles(levels.iter().map(own).collect(), &shares)
    }

    #[test]
    fn quantiles_stand_in_the_middle_of_their_weight() {
        // Four values at ⅛, ⅜, ⅝, ⅞: two knots at ¼ and ¾ lie half way between them.
        assert_eq!(weighted_quantiles(&weighted(&[1.0, 2.0, 4.0, 8.0]), 2), [1.5, 6.0]);
        // Weight 2 is the value twice, as far as it stands inside its own block.
        let twice = weighted_quantiles(&[(1.0, 1.0), (3.0, 2.0), (5.0, 1.0)], 2);
        // Middles at ⅛, ½, ⅞: ¼ is a third of the way from the first to the second.
        assert!((twice[0] - (1.0 + 2.0 / 3.0)).abs() < 1e-15 && (twice[1] - (3.0 + 4.0 / 3.0)).abs() < 1e-15);
    }

    #[test]
    fn maps_are_increasing_with_bounded_slope_and_undo_each_other() {
        let skewed: Vec<f64> = normal(2, 900).iter().map(|x| (0.8 * x).exp()).collect();
        // A third level with many ties.
        let tied: Vec<f64> = normal(3, 700).iter().map(|x| x.round()).collect();
        let shape = fit(&[normal(1, 500), skewed, tied], knots(2100, 3)).unwrap();
        assert_eq!(shape.knots(), 13);
        assert!(shape.is_consistent(3));
        for level in 0..3 {
            let mut before = None;
            for i in -400..=400 {
                let x = 0.025 * f64::from(i);
                let u = shape.to_common(level, x);
                assert!((shape.of_common(level, u) - x).abs() < 1e-12, "level {level} at {x}");
                if let Some((x0, u0)) = before {
                    let slope: f64 = (u - u0) / (x - x0);
                    // Differences over 0.025 carry rounding of 1e-14.
                    assert!(
                        (1.0 / STEEPEST - 1e-9..=STEEPEST + 1e-9).contains(&slope),
                        "level {level} at {x}: {slope}"
                    );
                }
                before = Some((x, u));
            }
        }
    }

    #[test]
    fn from_level_to_level_quantiles_go_to_quantiles() {
        // Level 1 is e^x of level 0's values: so is the map, at the knots.
        let base: Vec<f64> = (0..200).map(|i| -1.0 + 0.01 * f64::from(i)).collect();
        let other: Vec<f64> = base.iter().map(|x| x.exp()).collect();
        let shape = fit(&[base, other], 10).unwrap();
        for knot in &shape.levels[0] {
            let carried = shape.of_common(1, shape.to_common(0, *knot));
            // Quantiles between two values are linear there: off by the curvature over a hundredth.
            assert!((carried - knot.exp()).abs() < 1e-4, "{knot}: {carried}");
        }
        // Beyond the knots the map goes on straight.
        let far = |x: f64| shape.of_common(1, shape.to_common(0, x));
        assert!((far(9.0) - 2.0 * far(8.0) + far(7.0)).abs() < 1e-12 && far(9.0) > far(8.0));
    }

    #[test]
    fn residuals_that_do_not_vary_make_no_shape() {
        assert!(fit(&[vec![1.0; 50], vec![1.0; 50]], 8).is_none());
        assert_eq!((knots(10, 2), knots(1800, 2), knots(10_000_000, 2)), (8, 15, 60));
    }
}
