//! Monomials up to a total degree, with an optional categorical input.

use super::FeatureMap;
use crate::numeric::lanes::{Quad, Work, dispatch};
use crate::numeric::{Monomials, block, column_moments};
use serde::{Deserialize, Serialize};

/// Every monomial of total degree ≤ D in the inputs, and in the indicators of a categorical last input if there is one.
///
/// # Equation
/// With coordinates x (centred and scaled) and a level code z that has K values:
/// ```text
/// { x^α : |α| ≤ D }  ∪  { 1{z = k} x^α : |α| ≤ D − 1, k = 1, …, K − 1 }
/// ```
/// The indicator of the first level is left out: it is the constant minus the others, and the class stays the same.
///
/// # Precision
/// Centring and scaling change neither the class nor its least-squares fit, only the condition number: test scores near 500 make
/// 1, x, x² collinear to twelve digits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Recipe", into = "Recipe")]
pub struct Polynomial {
    recipe: Recipe,
    monomials: Monomials,
    /// 1 / scale: a product where a quotient would take five times as long.
    inverse: Vec<f64>,
    /// How many of the monomials stand beside a level indicator.
    interacted: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Recipe {
    degree: usize,
    center: Vec<f64>,
    scale: Vec<f64>,
    /// K when the last input is a level code, 1 when there is no such input.
    levels: usize,
}

/// Why polynomial features cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PolynomialError {
    /// center and scale must have one entry a coordinate.
    #[error("{center} centres and {scale} scales do not match")]
    Shape {
        /// Entries of the centre.
        center: usize,
        /// Entries of the scale.
        scale: usize,
    },
    /// A centre that is not finite or a scale that is not positive and finite.
    #[error("coordinate {coordinate}: centre {center} and scale {scale} cannot standardise it")]
    Standardisation {
        /// The coordinate, from 0.
        coordinate: usize,
        /// Its centre.
        center: f64,
        /// Its scale.
        scale: f64,
    },
    /// More features than [`Polynomial::LIMIT`].
    #[error(
        "degree {degree} in {coordinates} coordinates and {levels} levels makes more than {} features",
        Polynomial::LIMIT
    )]
    TooMany {
        /// Degree asked for.
        degree: usize,
        /// Coordinates.
        coordinates: usize,
        /// Levels.
        levels: usize,
    },
}

impl Polynomial {
    /// The most features a map may have; a policy file that asks for more is refused before anything is allocated.
    pub const LIMIT: usize = Monomials::LIMIT;

    /// Monomials of degree ≤ `degree` in `coordinates` inputs, neither centred nor scaled.
    ///
    /// # Errors
    /// [`PolynomialError::TooMany`].
    pub fn new(coordinates: usize, degree: usize) -> Result<Self, PolynomialError> {
        Self::standardised(degree, vec![0.0; coordinates], vec![1.0; coordinates], 1)
    }

    /// Monomials in (x − center) / scale and, if `levels > 1`, in the indicators of a level code that follows the coordinates.
    ///
    /// # Errors
    /// Any [`PolynomialError`].
    pub fn standardised(
        degree: usize,
        center: Vec<f64>,
        scale: Vec<f64>,
        levels: usize,
    ) -> Result<Self, PolynomialError> {
        Self::try_from(Recipe { degree, center, scale, levels })
    }

    /// Centre and scale taken from the rows the features will meet: mean and standard deviation (1 where a column is constant).
    ///
    /// # Errors
    /// [`PolynomialError::TooMany`].
    pub fn for_rows(rows: &[f64], coordinates: usize, levels: usize, degree: usize) -> Result<Self, PolynomialError> {
        let width = coordinates + usize::from(levels > 1);
        let (center, mut scale) = column_moments(rows, width, coordinates);
        for s in &mut scale {
            *s = if *s > 0.0 { s.sqrt() } else { 1.0 };
        }
        Self::standardised(degree, center, scale, levels)
    }

    fn coordinates(&self) -> usize {
        self.recipe.center.len()
    }
}

impl TryFrom<Recipe> for Polynomial {
    type Error = PolynomialError;

    fn try_from(recipe: Recipe) -> Result<Self, PolynomialError> {
        let Recipe { degree, center, scale, levels } = &recipe;
        if center.len() != scale.len() {
            return Err(PolynomialError::Shape { center: center.len(), scale: scale.len() });
        }
        for (coordinate, (&center, &scale)) in center.iter().zip(scale).enumerate() {
            if !center.is_finite() || !scale.is_finite() || scale <= 0.0 {
                return Err(PolynomialError::Standardisation { coordinate, center, scale });
            }
        }
        let too_many = || PolynomialError::TooMany { degree: *degree, coordinates: center.len(), levels: *levels };
        let monomials = Monomials::new(center.len(), *degree).map_err(|_| too_many())?;
        let interacted = degree.checked_sub(1).map_or(0, |lower| monomials.up_to(lower));
        let count = levels.saturating_sub(1).saturating_mul(interacted).saturating_add(monomials.count());
        if count > Polynomial::LIMIT {
            return Err(too_many());
        }
        let inverse = scale.iter().map(|s| s.recip()).collect();
        Ok(Self { recipe, monomials, inverse, interacted })
    }
}

impl From<Polynomial> for Recipe {
    fn from(map: Polynomial) -> Self {
        map.recipe
    }
}

impl FeatureMap for Polynomial {
    fn inputs(&self) -> usize {
        self.coordinates() + usize::from(self.recipe.levels > 1)
    }

    fn count(&self) -> usize {
        self.monomials.count() + self.recipe.levels.saturating_sub(1) * self.interacted
    }

    fn fill(&self, rows: &[f64], out: &mut [f64]) {
        if !rows.is_empty() {
            dispatch(Fill { map: self, rows, out });
        }
    }
}

/// [`FeatureMap::fill`], compiled for the machine's vector registers.
struct Fill<'a> {
    map: &'a Polynomial,
    rows: &'a [f64],
    out: &'a mut [f64],
}

impl Work for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn run<Q: Quad>(self, quad: Q) {
        let Self { map, rows, out } = self;
        let (width, center, coordinates) = (map.inputs(), &map.recipe.center, map.coordinates());
        let n = rows.len() / width;
        out[..n].fill(1.0);
        if map.monomials.count() > 1 {
            standardise(rows, width, center, &map.inverse, &mut out[n..(1 + coordinates) * n]);
        }
        for (j, &(earlier, coordinate)) in map.monomials.steps().iter().enumerate().skip(1 + coordinates) {
            let (before, from) = out.split_at_mut(j * n);
            // Coordinate c is feature 1 + c: the degree-one monomials follow the constant in order.
            let (a, b) = (&before[earlier * n..(earlier + 1) * n], &before[(1 + coordinate) * n..(2 + coordinate) * n]);
            block::multiply(quad, a, b, &mut from[..n]);
        }
        let interacting = if map.interacted > 0 { map.recipe.levels } else { 0 };
        for k in 1..interacting {
            let start = map.monomials.count() + (k - 1) * map.interacted;
            let (monomials, interactions) = out[..(start + map.interacted) * n].split_at_mut(start * n);
            // The first monomial is the constant, so the first interaction is the indicator itself.
            let (indicator, others) = interactions.split_at_mut(n);
            for (x, row) in indicator.iter_mut().zip(rows.chunks_exact(width)) {
                *x = f64::from(u8::from(row[width - 1] == k as f64));
            }
            for (column, monomial) in others.chunks_exact_mut(n).zip(monomials[n..].chunks_exact(n)) {
                block::multiply(quad, monomial, indicator, column);
            }
        }
    }
}

/// Column c is (rowᵢ[c] − centerₓ) · inverseₓ. A width known to the compiler keeps a narrow row in registers for all its columns.
#[inline(always)]
fn standardise(rows: &[f64], width: usize, center: &[f64], inverse: &[f64], columns: &mut [f64]) {
    match width {
        1 => standardise_narrow::<1>(rows, center, inverse, columns),
        2 => standardise_narrow::<2>(rows, center, inverse, columns),
        3 => standardise_narrow::<3>(rows, center, inverse, columns),
        4 => standardise_narrow::<4>(rows, center, inverse, columns),
        5 => standardise_narrow::<5>(rows, center, inverse, columns),
        _ => {
            let n = rows.len() / width;
            for (c, column) in columns.chunks_exact_mut(n).enumerate() {
                for (x, row) in column.iter_mut().zip(rows.chunks_exact(width)) {
                    *x = (row[c] - center[c]) * inverse[c];
                }
            }
        }
    }
}

#[inline(always)]
fn standardise_narrow<const W: usize>(rows: &[f64], center: &[f64], inverse: &[f64], columns: &mut [f64]) {
    let rows = rows.as_chunks::<W>().0;
    let (n, fours) = (rows.len(), rows.as_chunks::<4>().0);
    for (c, (center, inverse)) in center.iter().zip(inverse).enumerate().take(W) {
        let column = &mut columns[c * n..(c + 1) * n];
        let (out, rest) = column.as_chunks_mut::<4>();
        for (x, four) in out.iter_mut().zip(fours) {
            *x = std::array::from_fn(|i| (four[i][c] - center) * inverse);
        }
        for (x, row) in rest.iter_mut().zip(&rows[4 * fours.len()..]) {
            *x = (row[c] - center) * inverse;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(map: &Polynomial, row: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; map.count()];
        map.fill(row, &mut out);
        out
    }

    #[test]
    fn degree_two_in_two_coordinates_is_the_six_monomials() {
        let map = Polynomial::new(2, 2).unwrap();
        assert_eq!(features(&map, &[3.0, 5.0]), [1.0, 3.0, 5.0, 9.0, 15.0, 25.0]);
    }

    #[test]
    fn degree_three_in_three_coordinates_counts_twenty() {
        let map = Polynomial::new(3, 3).unwrap();
        assert_eq!(map.count(), 20);
        let sum: f64 = features(&map, &[2.0, 3.0, 5.0]).iter().sum();
        // Σ_{|α| ≤ 3} x^α = Σ_d h_d(2, 3, 5), complete homogeneous: 1 + 10 + 69 + 410.
        assert_eq!(sum, 490.0);
    }

    #[test]
    fn a_level_code_interacts_up_to_one_degree_less() {
        let map = Polynomial::standardised(2, vec![0.0], vec![1.0], 3).unwrap();
        assert_eq!(map.inputs(), 2);
        assert_eq!(features(&map, &[4.0, 0.0]), [1.0, 4.0, 16.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(features(&map, &[4.0, 1.0]), [1.0, 4.0, 16.0, 1.0, 4.0, 0.0, 0.0]);
        assert_eq!(features(&map, &[4.0, 2.0]), [1.0, 4.0, 16.0, 0.0, 0.0, 1.0, 4.0]);
    }

    #[test]
    fn degree_zero_is_the_constant_even_with_levels() {
        let map = Polynomial::standardised(0, vec![0.0], vec![1.0], 3).unwrap();
        assert_eq!(features(&map, &[4.0, 2.0]), [1.0]);
    }

    #[test]
    fn rows_of_a_block_do_not_mix() {
        let map = Polynomial::standardised(2, vec![1.0, -2.0], vec![2.0, 0.5], 1).unwrap();
        let rows = [3.0, 5.0, -1.0, 0.25, 7.0, 2.0];
        let mut block = vec![0.0; 3 * map.count()];
        map.fill(&rows, &mut block);
        for i in 0..3 {
            let alone = features(&map, &rows[2 * i..2 * i + 2]);
            let in_block: Vec<f64> = (0..map.count()).map(|j| block[j * 3 + i]).collect();
            assert_eq!(alone, in_block);
        }
        assert_eq!(features(&map, &rows[..2])[1..3], [1.0, 14.0]);
    }

    #[test]
    fn standardising_takes_mean_and_deviation_and_spares_constants() {
        let map = Polynomial::for_rows(&[1.0, 4.0, 3.0, 4.0, 8.0, 4.0], 2, 1, 1).unwrap();
        let sd = (26.0f64 / 3.0).sqrt();
        assert_eq!(map.recipe.center, [4.0, 4.0]);
        approx::assert_relative_eq!(map.recipe.scale[0], sd, max_relative = 1e-15);
        assert_eq!(map.recipe.scale[1], 1.0);
    }

    #[test]
    fn a_level_code_is_no_coordinate_to_be_standardised() {
        // Coordinate, code: 1, 3 and 8 with codes 2, 0 and 1.
        let map = Polynomial::for_rows(&[1.0, 2.0, 3.0, 0.0, 8.0, 1.0], 1, 3, 1).unwrap();
        assert_eq!((map.recipe.center.as_slice(), map.inputs()), (&[4.0][..], 2));
        approx::assert_relative_eq!(map.recipe.scale[0], (26.0f64 / 3.0).sqrt(), max_relative = 1e-15);
    }

    #[test]
    fn a_hostile_recipe_is_refused_before_it_is_built() {
        assert!(matches!(Polynomial::new(40, 40), Err(PolynomialError::TooMany { .. })));
        assert!(matches!(
            Polynomial::standardised(1, vec![0.0], vec![1.0], usize::MAX),
            Err(PolynomialError::TooMany { .. })
        ));
        assert!(matches!(
            Polynomial::standardised(1, vec![0.0], vec![0.0], 1),
            Err(PolynomialError::Standardisation { coordinate: 0, .. })
        ));
        assert!(matches!(
            Polynomial::standardised(1, vec![f64::NAN], vec![1.0], 1),
            Err(PolynomialError::Standardisation { .. })
        ));
        assert_eq!(
            Polynomial::standardised(1, vec![0.0], vec![], 1),
            Err(PolynomialError::Shape { center: 1, scale: 0 })
        );
    }

    #[test]
    fn rows_of_any_width_are_standardised_alike() {
        for width in 1..=8usize {
            let center: Vec<f64> = (0..width).map(|c| c as f64 - 1.5).collect();
            let scale: Vec<f64> = (0..width).map(|c| 0.5 + c as f64).collect();
            let map = Polynomial::standardised(1, center.clone(), scale.clone(), 1).unwrap();
            let rows: Vec<f64> = (0..5 * width).map(|i| (1.3 * i as f64).sin()).collect();
            let mut out = vec![0.0; 5 * map.count()];
            map.fill(&rows, &mut out);
            for i in 0..5 {
                for c in 0..width {
                    let expected = (rows[i * width + c] - center[c]) / scale[c];
                    assert!((out[(1 + c) * 5 + i] - expected).abs() < 1e-15, "width {width}, row {i}, column {c}");
                }
            }
        }
    }
}
