//! GMRES without restarts, for x = b + K x with a compact K.

/// Solves x − K x = b to a residual of `tolerance`·‖b‖₂, or as far as `steps` dimensions of Krylov space lead.
///
/// `apply` writes K x into its second argument. Arnoldi by modified Gram–Schmidt, least squares by Givens rotations.
pub(super) fn gmres(b: &[f64], tolerance: f64, steps: usize, mut apply: impl FnMut(&[f64], &mut [f64])) -> Vec<f64> {
    let scale = norm(b);
    if scale == 0.0 {
        return vec![0.0; b.len()];
    }
    let mut basis = vec![b.iter().map(|x| x / scale).collect::<Vec<f64>>()];
    let (mut triangle, mut rotations, mut right) = (Vec::<Vec<f64>>::new(), Vec::<[f64; 2]>::new(), vec![scale]);
    let mut image = vec![0.0; b.len()];
    for k in 0..steps {
        apply(&basis[k], &mut image);
        let mut next: Vec<f64> = basis[k].iter().zip(&image).map(|(x, kx)| x - kx).collect();
        let unprojected = norm(&next);
        let mut column = Vec::new();
        for v in &basis {
            let projection = dot(v, &next);
            next.iter_mut().zip(v).for_each(|(x, v)| *x -= projection * v);
            column.push(projection);
        }
        let length = norm(&next);
        for (i, [c, s]) in rotations.iter().enumerate() {
            (column[i], column[i + 1]) = (c * column[i] + s * column[i + 1], c * column[i + 1] - s * column[i]);
        }
        let diagonal = column[k].hypot(length);
        let [c, s] = [column[k] / diagonal, length / diagonal];
        column[k] = diagonal;
        rotations.push([c, s]);
        triangle.push(column);
        let last = right[k];
        right[k] = c * last;
        right.push(-s * last);
        if right[k + 1].abs() <= tolerance * scale || length <= NO_DIRECTION * unprojected {
            break;
        }
        next.iter_mut().for_each(|x| *x /= length);
        basis.push(next);
    }
    let size = triangle.len();
    let mut y = vec![0.0; size];
    for i in (0..size).rev() {
        let known: f64 = (i + 1..size).map(|j| triangle[j][i] * y[j]).sum();
        y[i] = (right[i] - known) / triangle[i][i];
    }
    let mut x = vec![0.0; b.len()];
    for (y, v) in y.iter().zip(&basis) {
        x.iter_mut().zip(v).for_each(|(x, v)| *x += y * v);
    }
    x
}

/// What is left of a vector inside the span of the others is rounding: the Krylov space holds the solution.
const NO_DIRECTION: f64 = 8.0 * f64::EPSILON;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K of a small unsymmetric system, norm below 1.
    const K: [[f64; 4]; 4] = [[0.3, -0.2, 0.1, 0.0], [0.4, 0.1, 0.0, 0.2], [0.0, 0.3, -0.5, 0.1], [0.2, 0.2, 0.1, 0.4]];

    fn apply(x: &[f64], y: &mut [f64]) {
        for (y, row) in y.iter_mut().zip(&K) {
            *y = dot(row, x);
        }
    }

    fn residual(x: &[f64], b: &[f64]) -> f64 {
        let mut image = vec![0.0; 4];
        apply(x, &mut image);
        norm(&x.iter().zip(&image).zip(b).map(|((x, kx), b)| x - kx - b).collect::<Vec<f64>>())
    }

    #[test]
    fn as_many_steps_as_unknowns_solve_the_system() {
        let b = [1.0, -2.0, 0.5, 3.0];
        let x = gmres(&b, 0.0, 10, apply);
        assert!(residual(&x, &b) < 1e-14 * norm(&b));
    }

    #[test]
    fn the_residual_falls_with_every_step_and_stops_below_the_tolerance() {
        let b = [1.0, -2.0, 0.5, 3.0];
        let left: Vec<f64> = (1..=4).map(|steps| residual(&gmres(&b, 0.0, steps, apply), &b)).collect();
        assert!(left.windows(2).all(|pair| pair[1] < 0.9 * pair[0]), "{left:?}");
        let mut calls = 0;
        let tolerance = 1.01 * left[1] / norm(&b);
        let x = gmres(&b, tolerance, 10, |x, y| {
            calls += 1;
            apply(x, y);
        });
        assert_eq!(calls, 2);
        assert!((residual(&x, &b) - left[1]).abs() < 1e-14);
    }

    #[test]
    fn a_small_operator_is_not_taken_for_none() {
        // I − K = 1e-9 [[1, 0.5], [0, 2]].
        let x = gmres(&[0.0, 4e-9], 0.0, 10, |x, y| {
            y[0] = x[0] - 1e-9 * (x[0] + 0.5 * x[1]);
            y[1] = x[1] - 2e-9 * x[1];
        });
        // K keeps seven digits of what distinguishes it from the identity.
        assert!((x[0] + 1.0).abs() < 1e-6 && (x[1] - 2.0).abs() < 1e-6, "{x:?}");
    }

    #[test]
    fn nothing_is_asked_of_an_empty_right_hand_side() {
        assert_eq!(gmres(&[0.0; 4], 1e-6, 10, |_, _| panic!("applied")), [0.0; 4]);
    }

    #[test]
    fn an_invariant_space_ends_the_iteration() {
        // K is a multiple of the identity: one step is exact and the next direction has no length.
        let x = gmres(&[1.0, 2.0], 0.0, 10, |x, y| y.iter_mut().zip(x).for_each(|(y, x)| *y = 0.5 * x));
        assert!((x[0] - 2.0).abs() < 1e-14 && (x[1] - 4.0).abs() < 1e-14);
    }
}
