//! Small positive definite matrices, row-major, factored in place and reused for many right-hand sides.

/// The lower triangle L of M = L Lᵀ, written over the lower half of M; `false` when a pivot is not positive.
pub(super) fn factor(matrix: &mut [f64], d: usize) -> bool {
    for j in 0..d {
        let (above, rest) = matrix.split_at_mut(j * d);
        let row = &mut rest[..d];
        for k in 0..j {
            let known: f64 = row[..k].iter().zip(&above[k * d..k * d + k]).map(|(x, y)| x * y).sum();
            row[k] = (row[k] - known) / above[k * d + k];
        }
        let pivot = row[j] - row[..j].iter().map(|l| l * l).sum::<f64>();
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        row[j] = pivot.sqrt();
    }
    true
}

/// x ← (L Lᵀ)⁻¹ x.
pub(super) fn solve(lower: &[f64], x: &mut [f64]) {
    let d = x.len();
    for i in 0..d {
        let known: f64 = x[..i].iter().zip(&lower[i * d..i * d + i]).map(|(x, l)| x * l).sum();
        x[i] = (x[i] - known) / lower[i * d + i];
    }
    for i in (0..d).rev() {
        x[i] /= lower[i * d + i];
        let (others, solved) = x.split_at_mut(i);
        for (x, l) in others.iter_mut().zip(&lower[i * d..i * d + i]) {
            *x -= l * solved[0];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solution_put_back_gives_the_right_hand_side_and_an_indefinite_matrix_is_refused() {
        let m = [4.0, 0.0, 0.0, -1.5, 3.0, 0.0, 0.5, 0.25, 2.0];
        let mut lower = m;
        assert!(factor(&mut lower, 3));
        let mut x = [1.0, -2.0, 0.7];
        solve(&lower, &mut x);
        let at = |i: usize, j: usize| m[i.max(j) * 3 + i.min(j)];
        for (i, b) in [1.0, -2.0, 0.7].into_iter().enumerate() {
            let found: f64 = (0..3).map(|j| at(i, j) * x[j]).sum();
            assert!((found - b).abs() < 1e-14, "{found} and {b}");
        }
        assert!(!factor(&mut [1.0, 0.0, 2.0, 1.0], 2));
    }
}
