//! A function of two variables, known at the points of two axes.

use super::axis::Axis;

/// Most points a panel may carry: interpolation weights live on the stack.
pub(super) const MAX_ORDER: usize = 32;

/// The points (mᵢ, dⱼ) of a tensor grid; values are stored with m running fastest.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grid {
    pub m: Axis,
    pub d: Axis,
}

impl Grid {
    /// Number of values of a function on the grid.
    pub fn len(&self) -> usize {
        self.m.len() * self.d.len()
    }

    /// The place (m, d) of a value.
    pub fn place(&self, index: usize) -> [f64; 2] {
        [self.m.point(index % self.m.len()), self.d.point(index / self.m.len())]
    }

    /// Weights that one place takes: those along m, then those along d.
    pub fn stencil_len(&self) -> usize {
        self.m.order() + self.d.order()
    }

    /// Writes the interpolation weights at (m, d) and returns the first value they belong to; the point is clamped to the
    /// rectangle.
    pub fn stencil(&self, [m, d]: [f64; 2], weights: &mut [f64]) -> usize {
        let (along_m, along_d) = weights.split_at_mut(self.m.order());
        let column = self.m.weights_at(m, along_m);
        let row = self.d.weights_at(d, along_d);
        row * self.m.len() + column
    }

    /// The sum of the panel's values with these weights.
    pub fn interpolate(&self, values: &[f64], first: usize, weights: &[f64]) -> f64 {
        let (along_m, along_d) = weights.split_at(self.m.order());
        // Rows are added up before the sum along m: additions side by side, which the processor does several at once.
        let mut total = [0.0; MAX_ORDER];
        let total = &mut total[..along_m.len()];
        for (j, wd) in along_d.iter().enumerate() {
            let row = &values[first + j * self.m.len()..][..along_m.len()];
            total.iter_mut().zip(row).for_each(|(total, value)| *total += wd * value);
        }
        total.iter().zip(along_m).map(|(total, wm)| total * wm).sum()
    }

    /// The interpolated value at (m, d).
    pub fn value(&self, values: &[f64], at: [f64; 2]) -> f64 {
        let mut weights = [0.0; 2 * MAX_ORDER];
        let weights = &mut weights[..self.stencil_len()];
        let first = self.stencil(at, weights);
        self.interpolate(values, first, weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two interpolations of numbers below 1000.
    const ROUNDING: f64 = 1e-11;

    #[test]
    fn products_of_polynomials_come_back_exactly() {
        let grid = Grid { m: Axis::new(-2.0, 3.0, 2.0, 5), d: Axis::new(1.0, 4.0, 1.6, 4) };
        let f = |[m, d]: [f64; 2]| (m.powi(4) - 2.0 * m) * (d.powi(3) + 0.5);
        let values: Vec<f64> = (0..grid.len()).map(|index| f(grid.place(index))).collect();
        assert_eq!((grid.len(), grid.stencil_len()), (15 * 8, 9));
        for at in [[-1.9, 1.1], [0.2, 3.3], [2.9, 2.0], [1.0, 2.5]] {
            assert!((grid.value(&values, at) - f(at)).abs() < ROUNDING, "{at:?}");
        }
        assert!((grid.value(&values, [9.0, -9.0]) - f([3.0, 1.0])).abs() < ROUNDING);
    }
}
