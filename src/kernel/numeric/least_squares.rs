//! Least squares by Householder QR, with the rank decided and reported.
//!
//! Three steps, each orthogonal:
//! 1. blocks of rows of [X Y] are folded into one triangle R (tall-skinny QR), so that memory does not grow with n;
//! 2. the columns of R are brought to norm one and factored with column pivoting, and the rank is read off its diagonal;
//! 3. if columns depend on each other, the solution of least norm *in the caller's units* is taken.

use super::tolerance;
use super::triangle::{PivotedTriangle, RowFolder, project_out_span};
use faer::{Mat, MatRef};

/// Solution of min ‖Y − X B‖ with what is known about it.
///
/// A rank below the number of features is a fact about the data and no error: then infinitely many B are optimal, and
/// the one of least norm is given.
#[derive(Clone, Debug, PartialEq)]
pub struct LeastSquares {
    /// B, one block of `features` numbers per output.
    pub coefficients: Vec<f64>,
    /// Columns of X that are linearly independent up to [`tolerance::rank`].
    pub rank: usize,
    /// Columns of X.
    pub features: usize,
    /// Columns of Y.
    pub outputs: usize,
    /// ‖y − X b‖² per output.
    pub residual_sum_of_squares: Vec<f64>,
    /// Ratio of extreme pivots of X with columns of norm one, which bounds the condition number from below and is
    /// seldom far from it; +∞ when the rank is deficient.
    pub condition: f64,
}

impl LeastSquares {
    /// Whether the solution is the only one.
    pub fn is_full_rank(&self) -> bool {
        self.rank == self.features
    }

    /// The coefficients of one output.
    pub fn output(&self, output: usize) -> &[f64] {
        &self.coefficients[output * self.features..][..self.features]
    }
}

/// A design and targets that do not form a problem.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum LeastSquaresError {
    /// features = 0 or outputs = 0.
    #[error("least squares with {features} features and {outputs} outputs")]
    Empty {
        /// Columns of the design asked for.
        features: usize,
        /// Columns of the targets asked for.
        outputs: usize,
    },
    /// design.len() ≠ n·features or targets.len() ≠ n·outputs for every n.
    #[error(
        "a design of {design} numbers in rows of {features} does not match targets of {targets} in rows of {outputs}"
    )]
    Shape {
        /// Numbers in the design.
        design: usize,
        /// Numbers in a row of the design.
        features: usize,
        /// Numbers in the targets.
        targets: usize,
        /// Numbers in a row of the targets.
        outputs: usize,
    },
    /// n = 0.
    #[error("least squares without rows")]
    NoRows,
    /// |x| = ∞ or x is not a number, in the design.
    #[error("the design holds {value} in row {row}, column {column}")]
    NonFiniteDesign {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// The number found.
        value: f64,
    },
    /// |y| = ∞ or y is not a number, in the targets.
    #[error("the targets hold {value} in row {row}, column {column}")]
    NonFiniteTarget {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// The number found.
        value: f64,
    },
}

/// min ‖Y − X B‖ over B, and among minimisers the least ‖B‖.
///
/// `design` is X, row-major n × `features`; `targets` is Y, row-major n × `outputs`. Fewer rows than features are
/// allowed: the rank is then deficient.
///
/// # Precision
/// Backward stable column by column: badly scaled columns (1 beside x¹⁰) cost nothing. Digits certified by NIST that
/// are reproduced are printed by `tests/kernel/nist`.
///
/// # Errors
/// [`LeastSquaresError`] when shapes do not match, there are no rows, or a number is not finite.
///
/// # Example
/// ```
/// let design = [1.0, 0.0, 1.0, 1.0, 1.0, 3.0];
/// let fit = counterfair_kernel::numeric::least_squares(&design, &[1.0, 3.0, 7.0], 2, 1)?;
/// assert!((fit.coefficients[1] - 2.0).abs() < 1e-14 && fit.is_full_rank());
/// # Ok::<(), counterfair_kernel::numeric::LeastSquaresError>(())
/// ```
///
/// # Reference
/// Demmel, Grigori, Hoemmen and Langou (2012), *Communication-optimal parallel and sequential QR and LU factorizations*.
pub fn least_squares(
    design: &[f64],
    targets: &[f64],
    features: usize,
    outputs: usize,
) -> Result<LeastSquares, LeastSquaresError> {
    Problem::new(design, targets, features, outputs)?.solve()
}

/// A validated problem: n ≥ 1 rows, all numbers finite.
struct Problem<'a> {
    design: &'a [f64],
    targets: &'a [f64],
    features: usize,
    outputs: usize,
    rows: usize,
}

impl<'a> Problem<'a> {
    fn new(design: &'a [f64], targets: &'a [f64], features: usize, outputs: usize) -> Result<Self, LeastSquaresError> {
        if features == 0 || outputs == 0 {
            return Err(LeastSquaresError::Empty { features, outputs });
        }
        let rows = design.len() / features;
        if design.len() != rows * features || targets.len() != rows * outputs {
            let (design, targets) = (design.len(), targets.len());
            return Err(LeastSquaresError::Shape { design, features, targets, outputs });
        }
        if rows == 0 {
            return Err(LeastSquaresError::NoRows);
        }
        if let Some(at) = first_non_finite(design) {
            let (row, column, value) = (at / features, at % features, design[at]);
            return Err(LeastSquaresError::NonFiniteDesign { row, column, value });
        }
        if let Some(at) = first_non_finite(targets) {
            let (row, column, value) = (at / outputs, at % outputs, targets[at]);
            return Err(LeastSquaresError::NonFiniteTarget { row, column, value });
        }
        Ok(Self { design, targets, features, outputs, rows })
    }

    fn solve(&self) -> Result<LeastSquares, LeastSquaresError> {
        // Powers of two near each column's largest entry: exact to apply, and no square over- or underflows.
        let mut scales = vec![1.0; self.features + self.outputs];
        column_scales(self.design, &mut scales[..self.features]);
        column_scales(self.targets, &mut scales[self.features..]);
        let mut folder = RowFolder::new(scales.len());
        self.fold(&scales, &mut folder);
        Ok(solved(folder, &scales, self.features, self.rows))
    }

    fn fold(&self, scales: &[f64], folder: &mut RowFolder) {
        let features = self.features;
        let mut next = 0;
        while next < self.rows {
            let taken = folder.room().min(self.rows - next);
            folder.add(taken, |j, out| {
                if j < features {
                    copy_column(&self.design[next * features..], features, j, scales[j], out);
                } else {
                    copy_column(&self.targets[next * self.outputs..], self.outputs, j - features, scales[j], out);
                }
            });
            next += taken;
        }
    }
}

/// The solution from the triangle that all rows were folded into.
fn solved(folder: RowFolder, scales: &[f64], features: usize, rows: usize) -> LeastSquares {
    let outputs = scales.len() - features;
    let triangle = folder.finish();
    let (design, targets) = triangle.as_ref().split_at_col(features);
    let solution = solve_triangle(design, targets, tolerance::rank(rows, features), &scales[..features]);
    let unscale = |output: usize| scales[features + output].recip();
    LeastSquares {
        coefficients: (0..outputs)
            .flat_map(|k| (0..features).map(move |j| (j, k)))
            .map(|(j, k)| solution.coefficients[(j, k)] * unscale(k))
            .collect(),
        rank: solution.rank,
        features,
        outputs,
        residual_sum_of_squares: (0..outputs).map(|k| (solution.residual_norms[k] * unscale(k)).powi(2)).collect(),
        condition: solution.condition,
    }
}

/// [`least_squares()`] on rows that arrive in parts.
///
/// # Precision
/// That of [`least_squares()`], and the same digits: columns are scaled by powers of two that the first part decides.
pub struct LeastSquaresRows {
    features: usize,
    outputs: usize,
    rows: usize,
    scales: Vec<f64>,
    folder: RowFolder,
}

impl LeastSquaresRows {
    /// No rows yet.
    pub fn new(features: usize, outputs: usize) -> Self {
        Self { features, outputs, rows: 0, scales: vec![], folder: RowFolder::new(features + outputs) }
    }

    /// Adds rows of the design, row-major, and their targets.
    ///
    /// # Errors
    /// Those of [`least_squares()`]; no rows are none.
    pub fn add(&mut self, design: &[f64], targets: &[f64]) -> Result<(), LeastSquaresError> {
        if design.is_empty() && targets.is_empty() {
            return Ok(());
        }
        let part = Problem::new(design, targets, self.features, self.outputs)?;
        if self.scales.is_empty() {
            self.scales.resize(self.features + self.outputs, 1.0);
            column_scales(design, &mut self.scales[..self.features]);
            column_scales(targets, &mut self.scales[self.features..]);
        }
        part.fold(&self.scales, &mut self.folder);
        self.rows += part.rows;
        Ok(())
    }

    /// The solution.
    ///
    /// # Errors
    /// [`LeastSquaresError::NoRows`].
    pub fn solve(self) -> Result<LeastSquares, LeastSquaresError> {
        if self.rows == 0 {
            return Err(LeastSquaresError::NoRows);
        }
        Ok(solved(self.folder, &self.scales, self.features, self.rows))
    }
}

/// Place of the first number that is not finite.
fn first_non_finite(values: &[f64]) -> Option<usize> {
    // `&` instead of `&&` lets a block be checked without branches, several numbers at once.
    let clean = |block: &[f64]| block.iter().fold(true, |clean, value| clean & value.is_finite());
    if values.chunks(1024).all(clean) { None } else { values.iter().position(|value| !value.is_finite()) }
}

/// Column `j` of row-major rows, times `scale`.
fn copy_column(rows: &[f64], width: usize, j: usize, scale: f64, out: &mut [f64]) {
    for (value, row) in out.iter_mut().zip(rows.chunks_exact(width)) {
        *value = row[j] * scale;
    }
}

/// The power of two that brings the largest entry of each column to [1, 2); 1 for a column of zeros.
fn column_scales(rows: &[f64], scales: &mut [f64]) {
    let mut largest = vec![0.0f64; scales.len()];
    for row in rows.chunks_exact(scales.len()) {
        for (most, value) in largest.iter_mut().zip(row) {
            *most = most.max(value.abs());
        }
    }
    for (scale, most) in scales.iter_mut().zip(largest) {
        *scale = power_of_two_reciprocal(most);
    }
}

/// 2^(−⌊log₂ x⌋), 1 for zero; exponents are clipped to the range in which both it and its inverse are normal.
pub(super) fn power_of_two_reciprocal(x: f64) -> f64 {
    if x == 0.0 {
        return 1.0;
    }
    let exponent = ((x.to_bits() >> 52) as i64 - 1023).clamp(-1022, 1022);
    f64::from_bits(((1023 - exponent) as u64) << 52)
}

struct Solution {
    coefficients: Mat<f64>,
    rank: usize,
    residual_norms: Vec<f64>,
    condition: f64,
}

/// min ‖targets − design · D⁻¹ B‖, D = diag(scales), with least norm of B.
///
/// `design` is the left part of a triangle, `targets` the right part.
fn solve_triangle(design: MatRef<'_, f64>, targets: MatRef<'_, f64>, tolerance: f64, scales: &[f64]) -> Solution {
    let features = design.ncols();
    let outputs = targets.ncols();

    let norms: Vec<f64> = design.col_iter().map(|column| column.norm_l2()).collect();
    if norms.iter().all(|&norm| norm == 0.0) {
        // faer divides by the largest norm before it pivots.
        let residual_norms = targets.col_iter().map(|column| column.norm_l2()).collect();
        return Solution {
            coefficients: Mat::zeros(features, outputs),
            rank: 0,
            residual_norms,
            condition: f64::INFINITY,
        };
    }
    let equilibrate: Vec<f64> = norms.iter().map(|&norm| power_of_two_reciprocal(norm)).collect();
    let factor = PivotedTriangle::new(Mat::from_fn(features, features, |i, j| design[(i, j)] * equilibrate[j]));
    let rank = factor.rank(tolerance);

    let mut rotated = targets.subrows(0, features).to_owned();
    factor.rotate(rotated.as_mut());
    let residual_norms = (0..outputs)
        .map(|k| {
            let unexplained = rotated.col(k).subrows(rank, features - rank).norm_l2();
            let below = targets.col(k).subrows(features, targets.nrows() - features).norm_l2();
            unexplained.hypot(below)
        })
        .collect();

    let basic = factor.basic_solution(rank, rotated.as_ref());
    let mut coefficients = Mat::from_fn(features, outputs, |j, k| basic[(j, k)] * equilibrate[j] * scales[j]);
    if rank < features {
        let kernel = factor.kernel(rank);
        let kernel = Mat::from_fn(features, features - rank, |j, k| kernel[(j, k)] * equilibrate[j] * scales[j]);
        project_out_span(&kernel, &mut coefficients);
    }
    let condition = if rank < features { f64::INFINITY } else { factor.condition() };
    Solution { coefficients, rank, residual_norms, condition }
}

#[cfg(test)]
mod tests;
