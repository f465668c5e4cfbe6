//! The orthogonal steps of least squares on faer: fold rows into a triangle, factor it with pivoting, project.

use super::vector_state::clear_upper_vector_state;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::householder::{
    apply_block_householder_sequence_transpose_on_the_left_in_place_scratch as rotate_scratch,
    apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj as rotate_in_place,
};
use faer::linalg::qr::{col_pivoting, no_pivoting};
use faer::linalg::triangular_solve::solve_upper_triangular_in_place;
use faer::{Conj, Mat, MatMut, MatRef, Par};

/// Rows folded at a time. Tall enough to amortise a factorisation, small enough for 512 kB of second-level cache at
/// width 64.
const BLOCK_ROWS: usize = 1024;

/// Folds rows into the triangle R of their QR factorisation, a block at a time.
///
/// The buffer holds R in its first `width` rows and new rows below; a full buffer is factored in place and the part
/// below R forgotten.
pub(super) struct RowFolder {
    buffer: Mat<f64>,
    reflectors: Mat<f64>,
    scratch: MemBuffer,
    filled: usize,
}

impl RowFolder {
    pub(super) fn new(width: usize) -> Self {
        let rows = width + BLOCK_ROWS;
        let block = no_pivoting::factor::recommended_block_size::<f64>(rows, width);
        Self {
            buffer: Mat::zeros(rows, width),
            reflectors: Mat::zeros(block, width),
            scratch: MemBuffer::new(no_pivoting::factor::qr_in_place_scratch::<f64>(
                rows,
                width,
                block,
                Par::Seq,
                Default::default(),
            )),
            filled: width,
        }
    }

    /// Rows that fit before the next fold; a full buffer is folded first.
    pub(super) fn room(&mut self) -> usize {
        if self.filled == self.buffer.nrows() {
            self.fold();
        }
        self.buffer.nrows() - self.filled
    }

    /// Adds `count` rows, at most [`room`](Self::room); `column(j, out)` writes their j-th column.
    pub(super) fn add(&mut self, count: usize, mut column: impl FnMut(usize, &mut [f64])) {
        for j in 0..self.buffer.ncols() {
            let values = self.buffer.col_as_slice_mut(j);
            column(j, &mut values[self.filled..self.filled + count]);
        }
        self.filled += count;
    }

    fn fold(&mut self) {
        let width = self.buffer.ncols();
        no_pivoting::factor::qr_in_place(
            self.buffer.as_mut().subrows_mut(0, self.filled),
            self.reflectors.as_mut(),
            Par::Seq,
            MemStack::new(&mut self.scratch),
            Default::default(),
        );
        for j in 0..width {
            self.buffer.col_mut(j).subrows_mut(j + 1, self.filled - j - 1).fill(0.0);
        }
        self.filled = width;
    }

    /// The `width` × `width` upper triangle with RᵀR equal to the Gram matrix of all rows.
    pub(super) fn finish(mut self) -> Mat<f64> {
        self.fold();
        clear_upper_vector_state();
        self.buffer.subrows(0, self.filled).to_owned()
    }
}

/// A P = Q R with |R₀₀| ≥ |R₁₁| ≥ …, A square.
pub(super) struct PivotedTriangle {
    packed: Mat<f64>,
    reflectors: Mat<f64>,
    /// `order[j]` is the column of A that stands at place j.
    order: Vec<usize>,
}

impl PivotedTriangle {
    pub(super) fn new(mut matrix: Mat<f64>) -> Self {
        let size = matrix.ncols();
        let block = no_pivoting::factor::recommended_block_size::<f64>(size, size);
        let mut reflectors = Mat::zeros(block, size);
        let (mut order, mut inverse) = (vec![0usize; size], vec![0usize; size]);
        let need =
            col_pivoting::factor::qr_in_place_scratch::<usize, f64>(size, size, block, Par::Seq, Default::default());
        col_pivoting::factor::qr_in_place(
            matrix.as_mut(),
            reflectors.as_mut(),
            &mut order,
            &mut inverse,
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(need)),
            Default::default(),
        );
        clear_upper_vector_state();
        Self { packed: matrix, reflectors, order }
    }

    fn pivot(&self, k: usize) -> f64 {
        self.packed[(k, k)].abs()
    }

    /// Leading pivots above `tolerance` times the first.
    pub(super) fn rank(&self, tolerance: f64) -> usize {
        let threshold = tolerance * self.pivot(0);
        (0..self.order.len()).take_while(|&k| self.pivot(k) > threshold).count()
    }

    /// |R₀₀| over the last pivot.
    pub(super) fn condition(&self) -> f64 {
        self.pivot(0) / self.pivot(self.order.len() - 1)
    }

    /// rhs ← Qᵀ rhs.
    pub(super) fn rotate(&self, rhs: MatMut<'_, f64>) {
        let need = rotate_scratch::<f64>(self.packed.nrows(), self.reflectors.nrows(), rhs.ncols());
        rotate_in_place(
            self.packed.as_ref(),
            self.reflectors.as_ref(),
            Conj::No,
            rhs,
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(need)),
        );
        clear_upper_vector_state();
    }

    /// Solution that uses the first `rank` pivot columns only; `rotated` is Qᵀ times the right-hand sides.
    pub(super) fn basic_solution(&self, rank: usize, rotated: MatRef<'_, f64>) -> Mat<f64> {
        let mut head = rotated.subrows(0, rank).to_owned();
        solve_upper_triangular_in_place(self.leading(rank), head.as_mut(), Par::Seq);
        clear_upper_vector_state();
        self.unpermute(|place, k| if place < rank { head[(place, k)] } else { 0.0 }, rotated.ncols())
    }

    /// Basis of the null space once pivots from `rank` on are taken for zero: P [−R₁₁⁻¹ R₁₂; I].
    pub(super) fn kernel(&self, rank: usize) -> Mat<f64> {
        let dependent = self.order.len() - rank;
        let mut head = self.packed.submatrix(0, rank, rank, dependent).to_owned();
        solve_upper_triangular_in_place(self.leading(rank), head.as_mut(), Par::Seq);
        clear_upper_vector_state();
        self.unpermute(
            |place, k| if place < rank { -head[(place, k)] } else { f64::from(u8::from(place - rank == k)) },
            dependent,
        )
    }

    fn leading(&self, rank: usize) -> MatRef<'_, f64> {
        self.packed.submatrix(0, 0, rank, rank)
    }

    /// Rows in the order of A's columns, from a function of the pivoted place.
    fn unpermute(&self, at: impl Fn(usize, usize) -> f64, columns: usize) -> Mat<f64> {
        let mut out = Mat::zeros(self.order.len(), columns);
        for (place, &column) in self.order.iter().enumerate() {
            for k in 0..columns {
                out[(column, k)] = at(place, k);
            }
        }
        out
    }
}

/// Subtracts from each column of `vectors` the member of span(`basis`) that leaves it shortest.
///
/// Twice: when the columns' units differ by 10⁵, a long basic solution cancels to a short one, and what the first pass
/// leaves along the span is ε times the long one.
pub(super) fn project_out_span(basis: &Mat<f64>, vectors: &mut Mat<f64>) {
    for _ in 0..2 {
        let shares = closest_shares(basis, vectors);
        for k in 0..vectors.ncols() {
            for i in 0..vectors.nrows() {
                vectors[(i, k)] -= (0..basis.ncols()).map(|b| basis[(i, b)] * shares[(b, k)]).sum::<f64>();
            }
        }
    }
}

/// Shares t that minimise ‖vectors − basis · t‖; the basis has full rank.
fn closest_shares(basis: &Mat<f64>, vectors: &Mat<f64>) -> Mat<f64> {
    let (rows, count) = basis.shape();
    let mut folder = RowFolder::new(count + vectors.ncols());
    let mut next = 0;
    while next < rows {
        let taken = folder.room().min(rows - next);
        folder.add(taken, |j, out| {
            let column = if j < count { basis.col_as_slice(j) } else { vectors.col_as_slice(j - count) };
            out.copy_from_slice(&column[next..next + taken]);
        });
        next += taken;
    }
    let triangle = folder.finish();
    let mut shares = triangle.submatrix(0, count, count, vectors.ncols()).to_owned();
    solve_upper_triangular_in_place(triangle.submatrix(0, 0, count, count), shares.as_mut(), Par::Seq);
    clear_upper_vector_state();
    shares
}
