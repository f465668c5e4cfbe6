//! Monomials in coordinates that are linear in the inputs, centred, scaled and held within bounds.

use crate::kernel::learn::features::FeatureMap;
use crate::kernel::numeric::Monomials;
use serde::{Deserialize, Serialize};

/// Every monomial of total degree ≤ D in bounded linear coordinates of the inputs.
///
/// # Equation
/// ```text
/// x_c = min(max((Σⱼ B_cj eⱼ − center_c) / scale_c, low_c), high_c),      φ = { x^α : |α| ≤ D }
/// ```
/// where e are the inputs; with `levels` = K > 1 the last input is a level code z, and the indicators 1{z = 1}, …, 1{z = K} stand in
/// its place.
///
/// Bounds keep a polynomial from being read far outside the data it was fitted to; they hold when deciding as well as when learning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WinsorisedRecipe", into = "WinsorisedRecipe")]
pub struct Winsorised {
    recipe: WinsorisedRecipe,
    monomials: Monomials,
    /// Entries of e.
    expanded: usize,
}

/// What makes a [`Winsorised`] map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WinsorisedRecipe {
    /// D.
    pub degree: usize,
    /// K when the last input is a level code, 1 when there is no such input.
    pub levels: usize,
    /// B, one row of e's length for each coordinate.
    pub matrix: Vec<f64>,
    /// One entry for each coordinate.
    pub center: Vec<f64>,
    /// Positive, one entry for each coordinate.
    pub scale: Vec<f64>,
    /// The least value of each coordinate, after scaling.
    pub low: Vec<f64>,
    /// The largest value of each coordinate, after scaling.
    pub high: Vec<f64>,
}

/// Why such features cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WinsorisedError {
    /// Centre, scale and bounds need one entry for each coordinate, and the matrix whole rows of at least as many entries as levels.
    #[error(
        "a matrix of {matrix} entries, {center} centres, {scale} scales, {low} and {high} bounds for {levels} levels do not fit"
    )]
    Shape {
        /// Entries of the matrix.
        matrix: usize,
        /// Centres.
        center: usize,
        /// Scales.
        scale: usize,
        /// Lower bounds.
        low: usize,
        /// Upper bounds.
        high: usize,
        /// Levels.
        levels: usize,
    },
    /// An entry of the matrix is infinite or not a number.
    #[error("entry {index} of the matrix is {value}")]
    Matrix {
        /// Its place.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A centre that is not finite, a scale that is not positive, or low > high.
    #[error("coordinate {coordinate}: centre {center}, scale {scale} and bounds [{low}, {high}] cannot standardise it")]
    Standardisation {
        /// The coordinate, from 0.
        coordinate: usize,
        /// Its centre.
        center: f64,
        /// Its scale.
        scale: f64,
        /// Its lower bound.
        low: f64,
        /// Its upper bound.
        high: f64,
    },
    /// More monomials than a design may have.
    #[error("degree {degree} in {coordinates} coordinates makes more than {} features", Monomials::LIMIT)]
    TooMany {
        /// D.
        degree: usize,
        /// Coordinates.
        coordinates: usize,
    },
}

impl Winsorised {
    /// The monomials behind the features, in their order.
    pub fn monomials(&self) -> &Monomials {
        &self.monomials
    }

    /// What it was made from.
    pub fn recipe(&self) -> &WinsorisedRecipe {
        &self.recipe
    }

    fn coordinates(&self) -> usize {
        self.recipe.center.len()
    }

    /// Inputs that are numbers and not a code.
    fn numbers(&self) -> usize {
        self.expanded - if self.recipe.levels > 1 { self.recipe.levels } else { 0 }
    }
}

impl TryFrom<WinsorisedRecipe> for Winsorised {
    type Error = WinsorisedError;

    fn try_from(recipe: WinsorisedRecipe) -> Result<Self, WinsorisedError> {
        let WinsorisedRecipe { degree, levels, matrix, center, scale, low, high } = &recipe;
        let coordinates = center.len();
        let expanded = matrix.len().checked_div(coordinates).unwrap_or(0);
        let whole = coordinates > 0 && expanded > 0 && expanded * coordinates == matrix.len();
        let indicators = if *levels > 1 { *levels } else { 0 };
        let sizes = [scale.len(), low.len(), high.len()];
        if !whole || *levels == 0 || expanded < indicators || sizes != [coordinates; 3] {
            let [scale, low, high] = sizes;
            let (matrix, center) = (matrix.len(), coordinates);
            return Err(WinsorisedError::Shape { matrix, center, scale, low, high, levels: *levels });
        }
        if let Some((index, &value)) = matrix.iter().enumerate().find(|(_, x)| !x.is_finite()) {
            return Err(WinsorisedError::Matrix { index, value });
        }
        for coordinate in 0..coordinates {
            let (center, scale) = (center[coordinate], scale[coordinate]);
            let (low, high) = (low[coordinate], high[coordinate]);
            let sound = center.is_finite() && scale.is_finite() && scale > 0.0 && low.is_finite() && high.is_finite();
            if !sound || low > high {
                return Err(WinsorisedError::Standardisation { coordinate, center, scale, low, high });
            }
        }
        let too_many = |_| WinsorisedError::TooMany { degree: *degree, coordinates };
        let monomials = Monomials::try_from((coordinates, *degree)).map_err(too_many)?;
        Ok(Self { recipe, monomials, expanded })
    }
}

impl From<Winsorised> for WinsorisedRecipe {
    fn from(map: Winsorised) -> Self {
        map.recipe
    }
}

impl FeatureMap for Winsorised {
    fn inputs(&self) -> usize {
        self.numbers() + usize::from(self.recipe.levels > 1)
    }

    fn count(&self) -> usize {
        self.monomials.count()
    }

    fn fill(&self, rows: &[f64], out: &mut [f64]) {
        let (width, numbers, coordinates) = (self.inputs(), self.numbers(), self.coordinates());
        let n = rows.len() / width;
        out[..n].fill(1.0);
        if self.recipe.degree == 0 {
            return;
        }
        let rowwise = self.recipe.matrix.chunks_exact(self.expanded);
        for (c, (column, matrix)) in out[n..].chunks_exact_mut(n.max(1)).zip(rowwise).enumerate() {
            column.fill(0.0);
            for (j, &b) in matrix[..numbers].iter().enumerate().filter(|(_, b)| **b != 0.0) {
                for (x, row) in column.iter_mut().zip(rows.chunks_exact(width)) {
                    *x += b * row[j];
                }
            }
            for (k, &b) in matrix[numbers..].iter().enumerate() {
                for (x, row) in column.iter_mut().zip(rows.chunks_exact(width)) {
                    *x += if row[width - 1] == k as f64 { b } else { 0.0 };
                }
            }
            let (center, inverse) = (self.recipe.center[c], self.recipe.scale[c].recip());
            let (low, high) = (self.recipe.low[c], self.recipe.high[c]);
            column.iter_mut().for_each(|x| *x = ((*x - center) * inverse).clamp(low, high));
        }
        for (j, &(earlier, coordinate)) in self.monomials.steps().iter().enumerate().skip(1 + coordinates) {
            let (before, from) = out.split_at_mut(j * n);
            let (a, b) = (&before[earlier * n..(earlier + 1) * n], &before[(1 + coordinate) * n..(2 + coordinate) * n]);
            for ((x, a), b) in from[..n].iter_mut().zip(a).zip(b) {
                *x = a * b;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sum and difference of two numbers, and −1, ½ or 2 by level; bounds cut the sum at 1.5.
    fn recipe() -> WinsorisedRecipe {
        WinsorisedRecipe {
            degree: 2,
            levels: 3,
            matrix: vec![1.0, 1.0, 0.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.5, 2.0],
            center: vec![1.0, 0.0, 0.5],
            scale: vec![2.0, 4.0, 1.0],
            low: vec![-1.0, -9.0, -9.0],
            high: vec![1.5, 9.0, 9.0],
        }
    }

    #[test]
    fn coordinates_are_linear_then_standardised_then_bounded_then_multiplied() {
        let map = Winsorised::try_from(recipe()).unwrap();
        assert_eq!((map.inputs(), map.count()), (3, 10));
        // Two rows at once: (3, 5) at level 2 and (−1, 0.5) at level 0.
        let mut out = [0.0; 20];
        map.fill(&[3.0, 5.0, 2.0, -1.0, 0.5, 0.0], &mut out);
        let row = |i: usize| -> Vec<f64> { (0..10).map(|j| out[2 * j + i]).collect() };
        // (8 − 1)/2 = 3.5 is held at 1.5; (5 − 3)/4; 2 − 0.5.
        assert_eq!(row(0), [1.0, 1.5, 0.5, 1.5, 2.25, 0.75, 2.25, 0.25, 0.75, 2.25]);
        assert_eq!(row(1)[..4], [1.0, -0.75, 0.375, -1.5]);
    }

    #[test]
    fn a_map_survives_json_and_a_hostile_one_is_refused() {
        let map = Winsorised::try_from(recipe()).unwrap();
        let text = serde_json::to_string(&map).unwrap();
        assert_eq!(serde_json::from_str::<Winsorised>(&text).unwrap(), map);
        let refused = |change: &dyn Fn(&mut WinsorisedRecipe)| {
            let mut hostile = recipe();
            change(&mut hostile);
            Winsorised::try_from(hostile).unwrap_err()
        };
        assert!(matches!(refused(&|r| r.matrix.truncate(14)), WinsorisedError::Shape { matrix: 14, .. }));
        assert!(matches!(refused(&|r| r.levels = 6), WinsorisedError::Shape { levels: 6, .. }));
        assert!(matches!(refused(&|r| r.levels = 0), WinsorisedError::Shape { levels: 0, .. }));
        assert!(matches!(refused(&|r| r.low.truncate(2)), WinsorisedError::Shape { low: 2, .. }));
        assert!(matches!(refused(&|r| r.matrix[4] = f64::NAN), WinsorisedError::Matrix { index: 4, .. }));
        assert!(matches!(refused(&|r| r.scale[1] = 0.0), WinsorisedError::Standardisation { coordinate: 1, .. }));
        assert!(matches!(refused(&|r| r.low[2] = 10.0), WinsorisedError::Standardisation { coordinate: 2, .. }));
        assert!(matches!(refused(&|r| r.degree = 500), WinsorisedError::TooMany { degree: 500, coordinates: 3 }));
    }

    #[test]
    fn degree_zero_is_the_constant() {
        let map = Winsorised::try_from(WinsorisedRecipe { degree: 0, ..recipe() }).unwrap();
        let mut out = [0.0];
        map.fill(&[3.0, 5.0, 2.0], &mut out);
        assert_eq!(out, [1.0]);
    }
}
