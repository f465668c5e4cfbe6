//! Least squares for many right-hand sides when the Gram matrix cannot be trusted: the singular values of the rows themselves.

use super::sequential::singular;
use super::tolerance;
use super::triangle::RowFolder;
use faer::Mat;

/// (XᵀX)⁺ from the triangle of X, for right-hand sides that arrive as Xᵀy.
///
/// X is folded into its QR triangle, so small singular values are seen at full precision; the Gram matrix squares them away.
/// Columns are scaled to unit length first. When the rank is deficient the solution has minimum norm in the scaled coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct RowFactor {
    features: usize,
    rank: usize,
    condition: f64,
    /// Row-major d × d.
    inverse_gram: Vec<f64>,
}

impl RowFactor {
    /// Factors the rows that `visit` hands to its argument, one after another; `lengths` are the columns' Euclidean lengths.
    pub fn new(features: usize, rows: usize, lengths: &[f64], visit: impl FnOnce(&mut dyn FnMut(&[f64]))) -> Self {
        let scale: Vec<f64> = lengths.iter().map(|&l| if l > 0.0 { l } else { 1.0 }).collect();
        let mut folder = RowFolder::new(features);
        visit(&mut |row| {
            folder.room();
            folder.add(1, |j, column| column[0] = row[j] / scale[j]);
        });
        let triangle: Mat<f64> = folder.finish();
        let mut factor =
            Self { features, rank: 0, condition: f64::INFINITY, inverse_gram: vec![0.0; features * features] };
        let Some((singular, right)) = singular(triangle.as_ref()) else {
            return factor;
        };
        let largest = singular[0];
        let threshold = largest * tolerance::rank(rows, features);
        factor.rank = (0..features).filter(|&j| singular[j] > threshold).count();
        if factor.rank > 0 {
            factor.condition = largest / singular[factor.rank - 1];
        }
        for j in 0..features {
            for k in 0..features {
                let sum: f64 =
                    (0..factor.rank).map(|l| right[(j, l)] * right[(k, l)] / (singular[l] * singular[l])).sum();
                factor.inverse_gram[j * features + k] = sum / (scale[j] * scale[k]);
            }
        }
        factor
    }

    /// How many directions the rows determine.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Largest over smallest singular value that counts, columns scaled.
    pub fn condition(&self) -> f64 {
        self.condition
    }

    /// β = (XᵀX)⁺ Xᵀy, written over Xᵀy.
    pub fn solve_in_place(&self, moments: &mut [f64]) {
        let solution: Vec<f64> = self
            .inverse_gram
            .chunks_exact(self.features)
            .map(|row| row.iter().zip(&*moments).map(|(a, b)| a * b).sum())
            .collect();
        moments.copy_from_slice(&solution);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(rows: &[[f64; 3]]) -> Vec<f64> {
        (0..3).map(|j| rows.iter().map(|r| r[j] * r[j]).sum::<f64>().sqrt()).collect()
    }

    fn factor(rows: &[[f64; 3]]) -> RowFactor {
        RowFactor::new(3, rows.len(), &lengths(rows), |push| rows.iter().for_each(|row| push(row)))
    }

    fn moments(rows: &[[f64; 3]], y: &[f64]) -> Vec<f64> {
        (0..3).map(|j| rows.iter().zip(y).map(|(row, y)| row[j] * y).sum()).collect()
    }

    const ROWS: [[f64; 3]; 4] = [[1.0, 2.0, 50.0], [1.0, -1.0, 10.0], [1.0, 4.0, -30.0], [1.0, 0.5, 20.0]];

    #[test]
    fn full_rank_rows_give_back_the_coefficients_that_made_y() {
        let y: Vec<f64> = ROWS.iter().map(|r| 2.0 * r[0] - 0.5 * r[1] + 0.25 * r[2]).collect();
        let factor = factor(&ROWS);
        let mut beta = moments(&ROWS, &y);
        factor.solve_in_place(&mut beta);
        assert_eq!(factor.rank(), 3);
        assert!(factor.condition() > 1.0 && factor.condition() < 10.0);
        for (b, expected) in beta.iter().zip([2.0, -0.5, 0.25]) {
            approx::assert_relative_eq!(*b, expected, max_relative = 1e-12);
        }
    }

    #[test]
    fn a_repeated_column_is_seen_and_shared_equally() {
        let rows: Vec<[f64; 3]> = ROWS.iter().map(|r| [r[0], r[1], 3.0 * r[1]]).collect();
        let y: Vec<f64> = rows.iter().map(|r| 1.0 + 4.0 * r[1]).collect();
        let factor = factor(&rows);
        let mut beta = moments(&rows, &y);
        factor.solve_in_place(&mut beta);
        assert_eq!(factor.rank(), 2);
        // Scaled to unit length the two columns are equal, so each takes half: 2 x and (2/3) · 3x.
        for (b, expected) in beta.iter().zip([1.0, 2.0, 2.0 / 3.0]) {
            approx::assert_relative_eq!(*b, expected, max_relative = 1e-12);
        }
    }

    #[test]
    fn no_rows_have_rank_zero_and_the_zero_solution() {
        let factor = factor(&[]);
        let mut beta = vec![1.0, 2.0, 3.0];
        factor.solve_in_place(&mut beta);
        assert_eq!((factor.rank(), beta), (0, vec![0.0; 3]));
    }
}
