//! The Gram matrix G = XᵀX: summed over blocks of rows, factored once, solved for many right-hand sides.

use super::least_squares::power_of_two_reciprocal;
use super::ridge::RidgeFactor;
use super::tolerance;
use super::vector_state::clear_upper_vector_state;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// XᵀX of the rows seen so far.
///
/// # Precision
/// Equal calls in equal order give equal bits on one machine; blocks of other sizes may round differently.
///
/// # Example
/// ```
/// use counterfair_kernel::numeric::Gram;
/// let mut gram = Gram::new(2);
/// gram.add_rows(&[1.0, 0.0, 1.0, 1.0, 1.0, 3.0]);
/// assert_eq!(gram.matrix(), [3.0, 4.0, 4.0, 10.0]);
/// let mut b = [11.0, 24.0]; // Xᵀy for y = 1 + 2x
/// gram.factor().unwrap().solve_in_place(&mut b);
/// assert!((b[0] - 1.0).abs() < 1e-14 && (b[1] - 2.0).abs() < 1e-14);
/// ```
#[derive(Clone, Debug)]
pub struct Gram {
    features: usize,
    rows: usize,
    matrix: Vec<f64>,
}

impl Gram {
    /// The zero matrix for `features` columns.
    ///
    /// # Panics
    /// When `features` is 0.
    pub fn new(features: usize) -> Self {
        assert!(features > 0, "a Gram matrix of no features");
        Self { features, rows: 0, matrix: vec![0.0; features * features] }
    }

    /// The matrix whose lower half, row-major in a full square, has been summed elsewhere over `rows` rows.
    ///
    /// # Panics
    /// When `features` is 0 or `lower` is not a square of that side.
    pub fn from_lower(features: usize, rows: usize, lower: &[f64]) -> Self {
        assert_eq!(lower.len(), features * features, "a square matrix");
        let mut gram = Self::new(features);
        gram.rows = rows;
        for i in 0..features {
            for j in 0..=i {
                gram.matrix[i * features + j] = lower[i * features + j];
                gram.matrix[j * features + i] = lower[i * features + j];
            }
        }
        gram
    }

    /// Columns.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Rows added so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// XᵀX, symmetric and full.
    pub fn matrix(&self) -> &[f64] {
        &self.matrix
    }

    /// Adds row-major rows. Nothing is allocated; blocks of some hundred rows are fastest.
    ///
    /// # Panics
    /// When `rows` is not a whole number of rows.
    pub fn add_rows(&mut self, rows: &[f64]) {
        let n = self.features;
        assert_eq!(rows.len() % n, 0, "{} numbers in rows of {n}", rows.len());
        let x = MatRef::from_row_major_slice(rows, rows.len() / n, n);
        self.rows += x.nrows();
        matmul(
            MatMut::from_row_major_slice_mut(&mut self.matrix, n, n),
            BlockStructure::TriangularLower,
            Accum::Add,
            x.transpose(),
            BlockStructure::Rectangular,
            x,
            BlockStructure::Rectangular,
            1.0,
            Par::Seq,
        );
        clear_upper_vector_state();
        for i in 0..n {
            for j in 0..i {
                self.matrix[j * n + i] = self.matrix[i * n + j];
            }
        }
    }

    /// Adds the rows another matrix has seen.
    ///
    /// # Panics
    /// When the numbers of features differ.
    pub fn merge(&mut self, other: &Gram) {
        assert_eq!(self.features, other.features, "Gram matrices of one set of features");
        self.rows += other.rows;
        for (sum, entry) in self.matrix.iter_mut().zip(&other.matrix) {
            *sum += entry;
        }
    }

    /// G = D⁻¹ L Lᵀ D⁻¹ with D the powers of two that bring the diagonal to [1, 4).
    ///
    /// # Errors
    /// [`GramRefusal`] when the matrix is singular to working precision or so ill-conditioned that QR should be used
    /// instead. That is the mathematics saying no; nothing is repaired silently.
    pub fn factor(&self) -> Result<GramFactor, GramRefusal> {
        let n = self.features;
        let mut scales = vec![0.0; n];
        for (i, scale) in scales.iter_mut().enumerate() {
            let diagonal = self.matrix[i * n + i];
            if !(diagonal > 0.0 && diagonal.is_finite()) {
                return Err(GramRefusal::NotPositiveDefinite { column: i });
            }
            *scale = power_of_two_reciprocal(diagonal.sqrt());
        }
        let mut scaled = self.matrix.clone();
        for (i, row) in scaled.chunks_exact_mut(n).enumerate() {
            for (entry, scale) in row.iter_mut().zip(&scales) {
                *entry *= scales[i] * scale;
            }
        }
        let factor = RidgeFactor::up_to_dependence(&scaled, &vec![0.0; n])
            .map_err(|column| GramRefusal::NotPositiveDefinite { column })?;
        let (least, most) = extreme_eigenvalues(&scaled, n);
        let condition = most / least;
        if !(0.0..=tolerance::GRAM_CONDITION).contains(&condition) {
            return Err(GramRefusal::IllConditioned { condition });
        }
        Ok(GramFactor { factor, scales, condition })
    }
}

/// Why a Gram matrix was not factored.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum GramRefusal {
    /// xⱼᵀxⱼ = 0 or ∞, or column j is a combination of the columns before it to working precision.
    #[error("column {column} depends on the columns before it")]
    NotPositiveDefinite {
        /// The column, from 0.
        column: usize,
    },
    /// κ(G) > [`tolerance::GRAM_CONDITION`].
    #[error("the condition number {condition:.1e} of the Gram matrix leaves too few digits; use QR")]
    IllConditioned {
        /// Ratio of extreme eigenvalues of the equilibrated matrix.
        condition: f64,
    },
}

/// A factored Gram matrix.
#[derive(Clone, Debug)]
pub struct GramFactor {
    /// Of the matrix whose diagonal was brought to [1, 4).
    factor: RidgeFactor,
    scales: Vec<f64>,
    condition: f64,
}

impl GramFactor {
    /// rhs ← G⁻¹ rhs, for one or several right-hand sides stored one after another.
    ///
    /// # Panics
    /// When `rhs` is not a whole number of right-hand sides.
    pub fn solve_in_place(&self, rhs: &mut [f64]) {
        let n = self.scales.len();
        assert_eq!(rhs.len() % n, 0, "{} numbers in right-hand sides of {n}", rhs.len());
        for b in rhs.chunks_exact_mut(n) {
            b.iter_mut().zip(&self.scales).for_each(|(b, scale)| *b *= scale);
            self.factor.solve_in_place(b);
            b.iter_mut().zip(&self.scales).for_each(|(b, scale)| *b *= scale);
        }
    }

    /// Ratio of extreme eigenvalues once the diagonal is brought to [1, 4).
    pub fn condition(&self) -> f64 {
        self.condition
    }
}

/// Smallest and largest eigenvalue of a symmetric matrix.
fn extreme_eigenvalues(matrix: &[f64], n: usize) -> (f64, f64) {
    // A power of two keeps the squares taken on the way finite.
    let largest = matrix.iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
    let scale = power_of_two_reciprocal(largest);
    let mut values = Diag::<f64>::zeros(n);
    let need = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::No, Par::Seq, Default::default());
    self_adjoint_evd(
        Mat::from_fn(n, n, |i, j| matrix[i * n + j] * scale).as_ref(),
        values.as_mut(),
        None,
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(need)),
        Default::default(),
    )
    .expect("the eigenvalues of a finite symmetric matrix converge");
    clear_upper_vector_state();
    let values = values.column_vector();
    (values[0] / scale, values[n - 1] / scale)
}

#[cfg(test)]
mod tests;
