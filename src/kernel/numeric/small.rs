//! Small dense matrices, row-major: solve, symmetric eigenvalues.
//!
//! Beside faer on purpose: the witnesses of claims are committed to their last digits, and plain loops give the same digits on every
//! processor, which blocked and vectorised kernels do not. What only these claims need is built with them.

/// x with M x = b, by Gaussian elimination with row pivoting; `None` when a pivot vanishes.
///
/// # Panics
/// When the lengths are not d² and d.
pub fn solve(matrix: &[f64], right: &[f64]) -> Option<Vec<f64>> {
    let d = right.len();
    assert_eq!(matrix.len(), d * d, "a square matrix");
    let (mut m, mut x) = (matrix.to_vec(), right.to_vec());
    for column in 0..d {
        let pivot = (column..d).max_by(|&i, &j| m[i * d + column].abs().total_cmp(&m[j * d + column].abs()))?;
        if m[pivot * d + column] == 0.0 {
            return None;
        }
        for j in 0..d {
            m.swap(column * d + j, pivot * d + j);
        }
        x.swap(column, pivot);
        for i in column + 1..d {
            let factor = m[i * d + column] / m[column * d + column];
            for j in column..d {
                m[i * d + j] -= factor * m[column * d + j];
            }
            x[i] -= factor * x[column];
        }
    }
    for i in (0..d).rev() {
        let known: f64 = (i + 1..d).map(|j| m[i * d + j] * x[j]).sum();
        x[i] = (x[i] - known) / m[i * d + i];
    }
    Some(x)
}

/// The inverse, column by column; `None` when there is none.
pub fn inverse(matrix: &[f64], d: usize) -> Option<Vec<f64>> {
    let mut inverse = vec![0.0; d * d];
    for j in 0..d {
        let unit: Vec<f64> = (0..d).map(|i| f64::from(u8::from(i == j))).collect();
        for (i, x) in solve(matrix, &unit)?.into_iter().enumerate() {
            inverse[i * d + j] = x;
        }
    }
    Some(inverse)
}

/// M x.
pub fn apply(matrix: &[f64], x: &[f64]) -> Vec<f64> {
    matrix.chunks_exact(x.len()).map(|row| dot(row, x)).collect()
}

/// Σ xᵢ yᵢ.
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// ‖x‖₂.
pub fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// max |xᵢ|.
pub fn sup(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

/// Sweeps of Jacobi rotations; convergence is quadratic and six are enough at the sizes met here.
const SWEEPS: usize = 30;

/// Eigenvalues of a symmetric matrix, ascending, by cyclic Jacobi rotations.
///
/// # Precision
/// Absolute errors of a few ε‖M‖, the small eigenvalues of a positive definite matrix included.
///
/// # Panics
/// When the length is not d².
pub fn symmetric_eigenvalues(matrix: &[f64], d: usize) -> Vec<f64> {
    assert_eq!(matrix.len(), d * d, "a square matrix");
    let mut m = matrix.to_vec();
    for _ in 0..SWEEPS {
        let off: f64 = (0..d).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| m[i * d + j].powi(2)).sum();
        if off == 0.0 {
            break;
        }
        for p in 0..d {
            for q in p + 1..d {
                rotate(&mut m, d, p, q);
            }
        }
    }
    let mut values: Vec<f64> = (0..d).map(|i| m[i * d + i]).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Annihilates entry (p, q).
fn rotate(m: &mut [f64], d: usize, p: usize, q: usize) {
    let apq = m[p * d + q];
    if apq == 0.0 {
        return;
    }
    let θ = (m[q * d + q] - m[p * d + p]) / (2.0 * apq);
    let t = if θ >= 0.0 { 1.0 } else { -1.0 } / (θ.abs() + θ.hypot(1.0));
    let c = t.hypot(1.0).recip();
    let s = t * c;
    for k in 0..d {
        let (kp, kq) = (m[k * d + p], m[k * d + q]);
        (m[k * d + p], m[k * d + q]) = (c * kp - s * kq, s * kp + c * kq);
    }
    for k in 0..d {
        let (pk, qk) = (m[p * d + k], m[q * d + k]);
        (m[p * d + k], m[q * d + k]) = (c * pk - s * qk, s * pk + c * qk);
    }
}

/// ‖M‖₂ of a symmetric matrix.
pub fn spectral_norm(matrix: &[f64], d: usize) -> f64 {
    sup(&symmetric_eigenvalues(matrix, d))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A few operations on numbers of size ten.
    const CLOSE: f64 = 1e-13;

    #[test]
    fn eigenvalues_of_the_second_difference_matrix_are_known() {
        let d = 5usize;
        let m: Vec<f64> = (0..d * d)
            .map(|k| match (k / d).abs_diff(k % d) {
                0 => 2.0,
                1 => -1.0,
                _ => 0.0,
            })
            .collect();
        for (k, value) in symmetric_eigenvalues(&m, d).into_iter().enumerate() {
            let known = 2.0 - 2.0 * (std::f64::consts::PI * (k + 1) as f64 / 6.0).cos();
            assert!((value - known).abs() < CLOSE, "{value} against {known}");
        }
    }

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        let m = [0.0, 2.0, 1.0, 1.0, -1.0, 0.5, 3.0, 0.25, -2.0];
        let inverse = inverse(&m, 3).unwrap();
        for j in 0..3 {
            let column: Vec<f64> = (0..3).map(|i| inverse[i * 3 + j]).collect();
            for (i, x) in apply(&m, &column).into_iter().enumerate() {
                assert!((x - f64::from(u8::from(i == j))).abs() < CLOSE);
            }
        }
        assert!(solve(&[1.0, 2.0, 2.0, 4.0], &[1.0, 1.0]).is_none());
    }

    #[test]
    fn products_and_lengths_by_hand() {
        assert_eq!(apply(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[1.0, -1.0, 2.0]), [5.0, 11.0]);
        assert_eq!(norm(&[3.0, -4.0, 12.0]), 13.0);
        // Eigenvalues −3 and 1.
        assert!((spectral_norm(&[-1.0, 2.0, 2.0, -1.0], 2) - 3.0).abs() < 1e-14);
    }

    #[test]
    fn a_single_entry_off_the_diagonal_is_seen_wherever_it_stands() {
        for d in 2..=5 {
            for (i, j) in (1..d).flat_map(|i| (0..i).map(move |j| (i, j))) {
                let mut matrix = vec![0.0; d * d];
                (matrix[i * d + j], matrix[j * d + i]) = (2.5, 2.5);
                let values = symmetric_eigenvalues(&matrix, d);
                let mut expected = vec![0.0; d];
                (expected[0], expected[d - 1]) = (-2.5, 2.5);
                let error = values.iter().zip(&expected).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
                assert!(error < 1e-14, "({i}, {j}) of {d}: {values:?}");
            }
        }
    }

    #[test]
    fn a_tridiagonal_matrix_has_the_roots_of_its_polynomial() {
        // (2 − λ)(3 − λ)(4 − λ) − (2 − λ) − (4 − λ) = (3 − λ)((3 − λ)² − 3).
        let values = symmetric_eigenvalues(&[2.0, 1.0, 0.0, 1.0, 3.0, 1.0, 0.0, 1.0, 4.0], 3);
        let expected = [3.0 - 3f64.sqrt(), 3.0, 3.0 + 3f64.sqrt()];
        values.iter().zip(expected).for_each(|(x, y)| assert!((x - y).abs() < 1e-14, "{values:?}"));
    }
}
