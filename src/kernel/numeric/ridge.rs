//! Penalised least squares on a Gram matrix: G + Λ factored once, solved for many right-hand sides.

/// The Cholesky factor of G + diag(λ).
///
/// # Equation
/// ```text
/// β = argmin ‖y − Xβ‖² + Σⱼ λⱼ βⱼ² = (G + Λ)⁻¹ Xᵀy,   G = XᵀX,   G + Λ = L Lᵀ
/// ```
///
/// # Example
/// ```
/// use counterfair::kernel::numeric::RidgeFactor;
/// // Rows 1 and 2, y = 3 and 4; a penalty of 5: β = 11 / (5 + 5).
/// let factor = RidgeFactor::new(&[5.0], &[5.0]).unwrap();
/// let mut b = [11.0];
/// factor.solve_in_place(&mut b);
/// assert!((b[0] - 1.1).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RidgeFactor {
    size: usize,
    /// L, row-major.
    lower: Vec<f64>,
    /// Lᵀ, row-major.
    upper: Vec<f64>,
}

impl RidgeFactor {
    /// Factors the lower half of `gram` (row-major, d × d) with `penalties` added to its diagonal; `None` when the sum is not
    /// positive definite to working precision.
    ///
    /// # Panics
    /// If `gram` is not a square of as many rows as there are penalties.
    pub fn new(gram: &[f64], penalties: &[f64]) -> Option<Self> {
        let d = penalties.len();
        assert_eq!(gram.len(), d * d, "a square matrix with a penalty for each row");
        let mut lower = gram.to_vec();
        for i in 0..d {
            let (above, rest) = lower.split_at_mut(i * d);
            let row = &mut rest[..d];
            for j in 0..i {
                let known = dot(&row[..j], &above[j * d..j * d + j]);
                row[j] = (row[j] - known) / above[j * d + j];
            }
            let diagonal = row[i] + penalties[i];
            let pivot = diagonal - dot(&row[..i], &row[..i]);
            // What is left of the pivot below this is rounding error of the subtraction.
            let independent = pivot > d as f64 * f64::EPSILON * diagonal;
            if !independent || !pivot.is_finite() {
                return None;
            }
            row[i] = pivot.sqrt();
            row[i + 1..].fill(0.0);
        }
        let upper = (0..d * d).map(|at| lower[at % d * d + at / d]).collect();
        Some(Self { size: d, lower, upper })
    }

    /// d.
    pub fn size(&self) -> usize {
        self.size
    }

    /// b ← (G + Λ)⁻¹ b.
    ///
    /// # Panics
    /// If b has not d entries.
    pub fn solve_in_place(&self, b: &mut [f64]) {
        let d = self.size;
        assert_eq!(b.len(), d, "a right-hand side of the factor's size");
        self.half_solve_in_place(b);
        self.other_half_solve_in_place(b);
    }

    /// b ← L⁻ᵀ b.
    ///
    /// # Panics
    /// If b has not d entries.
    pub fn other_half_solve_in_place(&self, b: &mut [f64]) {
        let d = self.size;
        assert_eq!(b.len(), d, "a right-hand side of the factor's size");
        for i in (0..d).rev() {
            b[i] = (b[i] - dot(&self.upper[i * d + i + 1..(i + 1) * d], &b[i + 1..])) / self.upper[i * d + i];
        }
    }

    /// b ← L⁻¹ b, so that ‖b‖² becomes bᵀ(G + Λ)⁻¹b.
    ///
    /// # Panics
    /// If b has not d entries.
    pub fn half_solve_in_place(&self, b: &mut [f64]) {
        let d = self.size;
        assert_eq!(b.len(), d, "a right-hand side of the factor's size");
        for i in 0..d {
            b[i] = (b[i] - dot(&self.lower[i * d..i * d + i], &b[..i])) / self.lower[i * d + i];
        }
    }

    /// The diagonal of (G + Λ)⁻¹.
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        let d = self.size;
        // Column k of L⁻¹ begins at k, and entry k of the diagonal is its squared length.
        let mut column = vec![0.0; d];
        (0..d)
            .map(|k| {
                column[k] = 1.0 / self.lower[k * d + k];
                for i in k + 1..d {
                    column[i] = -dot(&self.lower[i * d + k..i * d + i], &column[k..i]) / self.lower[i * d + i];
                }
                dot(&column[k..], &column[k..])
            })
            .collect()
    }

    /// log det(G + Λ).
    pub fn log_determinant(&self) -> f64 {
        (0..self.size).map(|i| 2.0 * self.lower[i * self.size + i].ln()).sum()
    }
}

/// Σ xᵢyᵢ in four running sums, which the processor adds side by side.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<4>(), y.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (x, y) in x.iter().zip(y) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::numeric::small;

    /// Seven features of nine rows, and unequal penalties.
    fn example() -> (Vec<f64>, Vec<f64>, usize) {
        let d = 7;
        let x: Vec<f64> = (0..9 * d).map(|i| (1.7 * i as f64).sin() + if i % d == 0 { 1.0 } else { 0.0 }).collect();
        let mut gram = vec![0.0; d * d];
        for row in x.chunks_exact(d) {
            for i in 0..d {
                for j in 0..d {
                    gram[i * d + j] += row[i] * row[j];
                }
            }
        }
        (gram, (0..d).map(|j| 0.1 + 0.3 * j as f64).collect(), d)
    }

    #[test]
    fn solutions_inverse_and_determinant_are_those_of_gaussian_elimination() {
        let (gram, penalties, d) = example();
        let factor = RidgeFactor::new(&gram, &penalties).unwrap();
        let mut full = gram;
        (0..d).for_each(|j| full[j * d + j] += penalties[j]);
        let b: Vec<f64> = (0..d).map(|j| (j as f64).cos()).collect();
        let mut x = b.clone();
        factor.solve_in_place(&mut x);
        let expected = small::solve(&full, &b).unwrap();
        let inverse = small::inverse(&full, d).unwrap();
        let diagonal = factor.inverse_diagonal();
        for j in 0..d {
            assert!((x[j] - expected[j]).abs() < 1e-12);
            assert!((diagonal[j] - inverse[j * d + j]).abs() < 1e-12);
        }
        let mut half = b.clone();
        factor.half_solve_in_place(&mut half);
        assert!((small::dot(&half, &half) - small::dot(&b, &expected)).abs() < 1e-12);
        let log_determinant: f64 = small::symmetric_eigenvalues(&full, d).iter().map(|v| v.ln()).sum();
        assert!((factor.log_determinant() - log_determinant).abs() < 1e-11);
    }

    #[test]
    fn a_repeated_column_needs_a_penalty() {
        let gram = [4.0, 4.0, 4.0, 4.0];
        assert!(RidgeFactor::new(&gram, &[0.0, 0.0]).is_none());
        let mut b = [2.0, 2.0];
        RidgeFactor::new(&gram, &[1.0, 1.0]).unwrap().solve_in_place(&mut b);
        assert!(b.iter().all(|x| (x - 2.0 / 9.0).abs() < 1e-15));
    }
}
