//! Piecewise linear hats: a tensor grid of tents.

use crate::kernel::learn::features::FeatureMap;
use serde::{Deserialize, Serialize};

/// Tents on a regular grid, one axis an input; φₓ(y) = Πⱼ max(0, 1 − |yⱼ − xⱼ| / hⱼ).
///
/// Inside the grid they sum to one. Outside, an input is moved to the nearest face, so features stay bounded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Axis>", into = "Vec<Axis>")]
pub struct Tent {
    axes: Vec<Axis>,
}

/// The nodes `low`, `low + h`, …, `high` of one input.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// First node.
    pub low: f64,
    /// Last node.
    pub high: f64,
    /// Number of nodes, at least two.
    pub nodes: usize,
}

/// Why tents cannot be built: an axis needs finite low < high and at least two nodes, and all together at most [`Tent::LIMIT`] tents.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("tents need axes with low < high, two nodes or more, and {} tents at most; got {axes:?}", Tent::LIMIT)]
pub struct TentError {
    /// The axes asked for.
    pub axes: Vec<Axis>,
}

impl Tent {
    /// The most tents a map may have.
    pub const LIMIT: usize = 100_000;

    /// Tents on the product of the axes.
    ///
    /// # Errors
    /// [`TentError`].
    pub fn new(axes: Vec<Axis>) -> Result<Self, TentError> {
        let sound =
            |axis: &Axis| axis.low.is_finite() && axis.high.is_finite() && axis.low < axis.high && axis.nodes >= 2;
        let count = axes.iter().try_fold(1usize, |n, axis| n.checked_mul(axis.nodes));
        match count {
            Some(count) if count <= Self::LIMIT && !axes.is_empty() && axes.iter().all(sound) => Ok(Self { axes }),
            _ => Err(TentError { axes }),
        }
    }
}

impl TryFrom<Vec<Axis>> for Tent {
    type Error = TentError;

    fn try_from(axes: Vec<Axis>) -> Result<Self, TentError> {
        Self::new(axes)
    }
}

impl From<Tent> for Vec<Axis> {
    fn from(tent: Tent) -> Self {
        tent.axes
    }
}

impl FeatureMap for Tent {
    fn inputs(&self) -> usize {
        self.axes.len()
    }

    fn count(&self) -> usize {
        self.axes.iter().map(|axis| axis.nodes).product()
    }

    fn fill(&self, rows: &[f64], out: &mut [f64]) {
        let width = self.axes.len();
        let n = rows.len() / width;
        out[..n * self.count()].fill(0.0);
        for (i, row) in rows.chunks_exact(width).enumerate() {
            // The 2^width corners of the cell that holds the row.
            for corner in 0..1usize << width {
                let (mut index, mut weight) = (0, 1.0);
                for (j, (axis, &x)) in self.axes.iter().zip(row).enumerate() {
                    let (cell, fraction) = axis.locate(x);
                    let upper = corner >> j & 1 == 1;
                    index = index * axis.nodes + cell + usize::from(upper);
                    weight *= if upper { fraction } else { 1.0 - fraction };
                }
                if weight != 0.0 {
                    out[index * n + i] += weight;
                }
            }
        }
    }
}

impl Axis {
    /// The cell that holds x and how far into it x lies.
    fn locate(&self, x: f64) -> (usize, f64) {
        let cells = self.nodes - 1;
        let position = ((x - self.low) / (self.high - self.low) * cells as f64).clamp(0.0, cells as f64);
        let cell = (position as usize).min(cells - 1);
        (cell, position - cell as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_axes_interpolate_bilinearly_and_sum_to_one() {
        let map =
            Tent::new(vec![Axis { low: 0.0, high: 2.0, nodes: 3 }, Axis { low: -1.0, high: 1.0, nodes: 2 }]).unwrap();
        assert_eq!((map.inputs(), map.count()), (2, 6));
        let mut out = vec![0.0; 6];
        map.fill(&[1.25, 0.5], &mut out);
        // x lies a quarter into cell [1, 2], y three quarters into [−1, 1].
        assert_eq!(out, [0.0, 0.0, 0.1875, 0.5625, 0.0625, 0.1875]);
    }

    #[test]
    fn outside_the_grid_the_nearest_face_counts() {
        let map = Tent::new(vec![Axis { low: 0.0, high: 1.0, nodes: 2 }]).unwrap();
        let mut out = vec![0.0; 6];
        map.fill(&[-3.0, 0.25, 9.0], &mut out);
        assert_eq!(out, [1.0, 0.75, 0.0, 0.0, 0.25, 1.0]);
    }

    #[test]
    fn axes_that_cannot_be_are_refused() {
        let axis = |low, high, nodes| vec![Axis { low, high, nodes }];
        for axes in
            [vec![], axis(1.0, 1.0, 3), axis(0.0, 1.0, 1), axis(0.0, f64::INFINITY, 3), axis(0.0, 1.0, Tent::LIMIT + 1)]
        {
            assert!(Tent::new(axes.clone()).is_err(), "{axes:?}");
        }
        let huge = vec![Axis { low: 0.0, high: 1.0, nodes: usize::MAX }; 3];
        assert!(Tent::new(huge).is_err());
    }

    #[test]
    fn tents_are_written_as_their_axes_and_read_back() {
        let axes = vec![Axis { low: 0.0, high: 2.0, nodes: 3 }, Axis { low: -1.0, high: 1.0, nodes: 2 }];
        let map = Tent::new(axes.clone()).unwrap();
        assert_eq!(Vec::from(map.clone()), axes);
        let text = serde_json::to_string(&map).unwrap();
        assert_eq!(serde_json::from_str::<Tent>(&text).unwrap(), map);
    }

    #[test]
    fn at_the_last_node_the_last_tent_is_one() {
        let map = Tent::new(vec![Axis { low: 0.0, high: 2.0, nodes: 4 }]).unwrap();
        let mut out = [9.0; 4];
        map.fill(&[2.0], &mut out);
        assert_eq!(out, [0.0, 0.0, 0.0, 1.0]);
    }
}
