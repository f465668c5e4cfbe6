//! faer's factorisations on one thread.
//!
//! The methods of faer's matrices (`svd()`, `partial_piv_lu()`, …) take the global number of threads and split their sums accordingly, so that
//! the last digits depend on the machine: weights moved by 2e-9 between one thread and two. Here `Par::Seq` is written out, and
//! `tests/architecture.rs` fails when a method that does not say it is called anywhere else.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::factor::{lu_in_place, lu_in_place_scratch};
use faer::linalg::lu::partial_pivoting::solve::{solve_in_place, solve_in_place_scratch};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Col, Mat, MatRef, Par};

/// The singular values of a matrix, largest first, and its right singular vectors as columns; `None` when the iteration does not converge.
pub fn singular(matrix: MatRef<'_, f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let (m, n) = matrix.shape();
    let (mut values, mut left, mut right) = (Diag::zeros(m.min(n)), Mat::zeros(m, m), Mat::zeros(n, n));
    let all = ComputeSvdVectors::Full;
    let need = svd_scratch::<f64>(m, n, all, all, Par::Seq, Default::default());
    svd(
        matrix,
        values.as_mut(),
        Some(left.as_mut()),
        Some(right.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(need)),
        Default::default(),
    )
    .ok()?;
    Some((values.column_vector().iter().copied().collect(), right))
}

/// x with M x = b, by LU with partial pivoting.
///
/// # Panics
/// If M is not square or b is not as long.
pub fn solve_square(mut matrix: Mat<f64>, mut b: Col<f64>) -> Col<f64> {
    let n = matrix.nrows();
    let (mut forward, mut backward) = (vec![0usize; n], vec![0usize; n]);
    let need = lu_in_place_scratch::<usize, f64>(n, matrix.ncols(), Par::Seq, Default::default());
    let stack = &mut MemBuffer::new(need);
    let (_, order) =
        lu_in_place(matrix.as_mut(), &mut forward, &mut backward, Par::Seq, MemStack::new(stack), Default::default());
    let need = solve_in_place_scratch::<usize, f64>(n, 1, Par::Seq);
    // Both solves read their own half of the matrix only: the diagonal of L is one and is not stored.
    let halves = (matrix.as_ref(), matrix.as_ref());
    solve_in_place(halves.0, halves.1, order, b.as_mat_mut(), Par::Seq, MemStack::new(&mut MemBuffer::new(need)));
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Large enough for faer to split the work: 4 states × 3 levels of the default features are.
    fn square(n: usize) -> Mat<f64> {
        Mat::from_fn(n, n, |i, j| f64::from(u8::from(i == j)) + ((i * 37 + j * 101) % 97) as f64 / 97.0)
    }

    fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(work)
    }

    #[test]
    fn factorisations_are_bit_identical_on_1_2_4_and_7_threads() {
        let n = 260;
        let work = || {
            let (values, right) = singular(square(n).as_ref()).expect("a small matrix");
            let x = solve_square(square(n), Col::from_fn(n, |i| (i % 7) as f64));
            let bits = |x: &f64| x.to_bits();
            (
                values.iter().map(bits).collect::<Vec<_>>(),
                (0..n).flat_map(|j| right.col(j).iter().map(bits).collect::<Vec<_>>()).collect::<Vec<_>>(),
                x.iter().map(bits).collect::<Vec<_>>(),
            )
        };
        let one = on_threads(1, work);
        for threads in [2, 4, 7] {
            assert!(on_threads(threads, work) == one, "{threads} threads");
        }
    }

    #[test]
    fn the_solution_solves_and_the_singular_values_are_those_of_the_product() {
        let n = 9;
        let (m, b) = (square(n), Col::from_fn(n, |i| 1.0 + i as f64));
        let x = solve_square(m.clone(), b.clone());
        for i in 0..n {
            let row: f64 = (0..n).map(|j| m[(i, j)] * x[j]).sum();
            approx::assert_relative_eq!(row, b[i], max_relative = 1e-10);
        }
        // ‖M vⱼ‖ = σⱼ.
        let (values, right) = singular(m.as_ref()).expect("a small matrix");
        for j in 0..n {
            let length = (0..n).map(|i| (0..n).map(|k| m[(i, k)] * right[(k, j)]).sum::<f64>().powi(2)).sum::<f64>();
            approx::assert_relative_eq!(length.sqrt(), values[j], max_relative = 1e-10);
        }
        assert!(values.windows(2).all(|w| w[0] >= w[1]));
    }
}
