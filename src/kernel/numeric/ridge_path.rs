//! Penalised least squares for every weight of the penalty, from one reduction.
//!
//! A Cholesky factor answers for one weight. Here Householder reflections bring the penalised part to tridiagonal form once, and each
//! further weight costs a tridiagonal system (Eldén 1977). Where there are fewer rows than penalised columns the rows' own products
//! are reduced instead, so that the cost is cubic in the smaller of the two.

use super::gram::Gram;
use super::vector_state::clear_upper_vector_state;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::tridiag::{tridiag_in_place, tridiag_in_place_scratch};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch as apply_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj as apply,
    apply_block_householder_sequence_transpose_on_the_left_in_place_scratch as apply_transpose_scratch,
    apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj as apply_transpose,
};
use faer::linalg::matmul::matmul;
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::{Accum, Conj, Mat, MatMut, MatRef, Par};

/// Rows multiplied at a time.
const ROWS: usize = 512;

/// The solutions of a regression in which some columns are free and the others carry a penalty.
///
/// # Equation
/// ```text
/// min ‖y − X₀b − X₁c‖² + w‖c‖²
/// c(w) = (S + wI)⁻¹ Zᵀy = Zᵀ (K + wI)⁻¹ y,   b(w) = G₀₀⁻¹ (X₀ᵀy − G₀₁ c),
/// Z = X₁ − X₀ G₀₀⁻¹ G₀₁,   S = ZᵀZ,   K = ZZᵀ
/// ```
///
/// # Precision
/// Normal equations: relative errors of c are near ε (μ + w)/w with μ the largest eigenvalue of S.
///
/// # Reference
/// Eldén (1977), *Algorithms for the regularization of ill-conditioned least squares problems*.
pub struct RidgePath {
    free: usize,
    outputs: usize,
    /// S or K.
    reduced: Tridiagonal,
    /// Zᵀy or Z-residuals of y, one column an output, in the coordinates of `reduced`.
    targets: Mat<f64>,
    /// Z, where K was reduced.
    rows: Option<Mat<f64>>,
    /// G₀₀⁻¹ G₀₁.
    cross: Mat<f64>,
    /// G₀₀⁻¹ X₀ᵀy.
    unpenalised: Mat<f64>,
}

impl RidgePath {
    /// From XᵀX of rows [X₀ X₁ Y], row-major: `free` columns, then penalised ones, then `outputs`.
    ///
    /// `None` when G₀₀ is singular or too ill-conditioned: then no penalty makes up for it.
    ///
    /// # Panics
    /// If `gram` is no square with room for these columns.
    pub fn of_gram(gram: &[f64], width: usize, free: usize, outputs: usize) -> Option<Self> {
        assert_eq!(gram.len(), width * width, "a square matrix");
        let gram = MatRef::from_row_major_slice(gram, width, width);
        let penalised = width - free - outputs;
        let (cross, unpenalised) = eliminate(gram, free, outputs)?;
        let x1 = free..free + penalised;
        let mut s = gram.get(x1.clone(), x1.clone()).to_owned();
        let mut targets = gram.get(x1.clone(), free + penalised..).to_owned();
        let g10 = gram.get(x1, ..free);
        product(s.as_mut(), Accum::Add, g10, cross.as_ref(), -1.0);
        product(targets.as_mut(), Accum::Add, g10, unpenalised.as_ref(), -1.0);
        let reduced = Tridiagonal::new(s);
        reduced.rotate_transposed(targets.as_mut());
        Some(Self { free, outputs, reduced, targets, rows: None, cross, unpenalised })
    }

    /// From the rows [X₀ X₁ Y] themselves, row-major: through K where they are fewer than the penalised columns.
    ///
    /// # Panics
    /// If `rows` is not a whole number of rows.
    pub fn of_rows(rows: &[f64], width: usize, free: usize, outputs: usize) -> Option<Self> {
        let n = rows.len() / width;
        if n >= width - free - outputs {
            let mut gram = Gram::new(width);
            rows.chunks(ROWS * width).for_each(|block| gram.add_rows(block));
            return Self::of_gram(gram.matrix(), width, free, outputs);
        }
        assert_eq!(rows.len(), n * width, "{} numbers in rows of {width}", rows.len());
        let rows = MatRef::from_row_major_slice(rows, n, width);
        let x0 = rows.get(.., ..free);
        // Only the products of the free columns with all are needed.
        let mut gram = Mat::zeros(free, width);
        product(gram.as_mut(), Accum::Replace, x0.transpose(), rows, 1.0);
        let (cross, unpenalised) = eliminate(gram.as_ref(), free, outputs)?;
        let mut z = rows.get(.., free..width - outputs).to_owned();
        let mut targets = rows.get(.., width - outputs..).to_owned();
        product(z.as_mut(), Accum::Add, x0, cross.as_ref(), -1.0);
        product(targets.as_mut(), Accum::Add, x0, unpenalised.as_ref(), -1.0);
        let mut k = Mat::zeros(n, n);
        product(k.as_mut(), Accum::Replace, z.as_ref(), z.transpose(), 1.0);
        let reduced = Tridiagonal::new(k);
        reduced.rotate_transposed(targets.as_mut());
        Some(Self { free, outputs, reduced, targets, rows: Some(z), cross, unpenalised })
    }

    /// The solution [b, c] of each (output, w), one after another.
    ///
    /// # Panics
    /// If there is no such output, or w ≤ 0 while S is singular.
    pub fn solutions(&self, wanted: &[(usize, f64)]) -> Vec<f64> {
        let mut c = Mat::zeros(self.reduced.size(), wanted.len());
        for (k, &(output, weight)) in wanted.iter().enumerate() {
            assert!(output < self.outputs, "output {output} of {}", self.outputs);
            let column: Vec<f64> = self.targets.col(output).iter().copied().collect();
            let solved = self.reduced.solve(weight, column);
            c.col_mut(k).iter_mut().zip(solved).for_each(|(c, x)| *c = x);
        }
        self.reduced.rotate(c.as_mut());
        if let Some(z) = &self.rows {
            let mut through = Mat::zeros(z.ncols(), wanted.len());
            product(through.as_mut(), Accum::Replace, z.transpose(), c.as_ref(), 1.0);
            c = through;
        }
        let mut b = Mat::from_fn(self.free, wanted.len(), |i, k| self.unpenalised[(i, wanted[k].0)]);
        product(b.as_mut(), Accum::Add, self.cross.as_ref(), c.as_ref(), -1.0);
        (0..wanted.len()).flat_map(|k| b.col(k).iter().chain(c.col(k).iter()).copied().collect::<Vec<_>>()).collect()
    }

    /// By how much the solution moves when the penalty pulls c towards e/√w instead of 0.
    ///
    /// # Equation
    /// ```text
    /// min ‖X₀b + X₁c‖² + ‖√w c − e‖²:   c = (S + wI)⁻¹ √w e = (v − Zᵀ(K + wI)⁻¹Zv)/w with v = √w e,   b = −G₀₀⁻¹ G₀₁ c
    /// ```
    ///
    /// # Panics
    /// If e has not one number for each penalised column, or w ≤ 0.
    pub fn towards(&self, weight: f64, e: &[f64]) -> Vec<f64> {
        assert!(weight > 0.0 && e.len() == self.cross.ncols(), "{} numbers, weight {weight}", e.len());
        let v = Mat::from_fn(e.len(), 1, |i, _| weight.sqrt() * e[i]);
        let solved = |mut right: Mat<f64>| {
            self.reduced.rotate_transposed(right.as_mut());
            let column = self.reduced.solve(weight, right.col(0).iter().copied().collect());
            let mut found = Mat::from_fn(column.len(), 1, |i, _| column[i]);
            self.reduced.rotate(found.as_mut());
            found
        };
        let c = match &self.rows {
            None => solved(v),
            Some(z) => {
                let mut seen = Mat::zeros(z.nrows(), 1);
                product(seen.as_mut(), Accum::Replace, z.as_ref(), v.as_ref(), 1.0);
                let mut c = v;
                product(c.as_mut(), Accum::Add, z.transpose(), solved(seen).as_ref(), -1.0);
                c.col_mut(0).iter_mut().for_each(|c| *c /= weight);
                c
            }
        };
        let mut b = Mat::zeros(self.free, 1);
        product(b.as_mut(), Accum::Replace, self.cross.as_ref(), c.as_ref(), -1.0);
        b.col(0).iter().chain(c.col(0).iter()).copied().collect()
    }

    /// How many free parameters a fit with weight w amounts to: the free columns and Σ μ/(μ + w) over the eigenvalues of S.
    pub fn degrees(&self, weight: f64) -> f64 {
        let size = self.reduced.size() as f64;
        let lost = if weight == 0.0 { 0.0 } else { weight * self.reduced.inverse_trace(weight) };
        self.free as f64 + size - lost
    }
}

/// ‖y − X β‖² over other rows for each solution, from their Gram matrix of [X Y]; the columns of X are all but the last `outputs`.
///
/// # Panics
/// If `gram` is no square, or the solutions do not match.
pub fn squares_of_gram(gram: &[f64], width: usize, outputs: usize, wanted: &[(usize, f64)], found: &[f64]) -> Vec<f64> {
    let columns = width - outputs;
    assert_eq!((gram.len(), found.len()), (width * width, columns * wanted.len()), "a square, and a solution for each");
    let gram = MatRef::from_row_major_slice(gram, width, width);
    let found = MatRef::from_column_major_slice(found, columns, wanted.len());
    let mut through = Mat::zeros(columns, wanted.len());
    product(through.as_mut(), Accum::Replace, gram.get(..columns, ..columns), found, 1.0);
    let square = |(k, &(output, _)): (usize, &(usize, f64))| {
        let y = columns + output;
        let sum = (0..columns).map(|i| found[(i, k)] * (through[(i, k)] - 2.0 * gram[(i, y)])).sum::<f64>();
        (gram[(y, y)] + sum).max(0.0)
    };
    wanted.iter().enumerate().map(square).collect()
}

/// [`squares_of_gram`] from the rows themselves.
///
/// # Panics
/// If the solutions do not match.
pub fn squares_of_rows(rows: &[f64], width: usize, outputs: usize, wanted: &[(usize, f64)], found: &[f64]) -> Vec<f64> {
    let (n, columns) = (rows.len() / width, width - outputs);
    assert_eq!(found.len(), columns * wanted.len(), "a solution for each");
    let rows = MatRef::from_row_major_slice(rows, n, width);
    let found = MatRef::from_column_major_slice(found, columns, wanted.len());
    let mut missed = Mat::from_fn(n, wanted.len(), |i, k| -rows[(i, columns + wanted[k].0)]);
    product(missed.as_mut(), Accum::Add, rows.get(.., ..columns), found, 1.0);
    missed.col_iter().map(|column| column.iter().map(|x| x * x).sum()).collect()
}

/// G₀₀⁻¹ G₀₁ and G₀₀⁻¹ X₀ᵀY from the first rows of a Gram matrix of [X₀ X₁ Y].
fn eliminate(gram: MatRef<'_, f64>, free: usize, outputs: usize) -> Option<(Mat<f64>, Mat<f64>)> {
    let lower: Vec<f64> = (0..free * free).map(|at| gram[(at / free, at % free)]).collect();
    let factor = Gram::from_lower(free, 0, &lower).factor().ok()?;
    let solve = |columns: MatRef<'_, f64>| {
        let mut solved = columns.to_owned();
        let mut column = vec![0.0; free];
        for k in 0..solved.ncols() {
            column.iter_mut().zip(solved.col(k).iter()).for_each(|(x, s)| *x = *s);
            factor.solve_in_place(&mut column);
            solved.col_mut(k).iter_mut().zip(&column).for_each(|(s, x)| *s = *x);
        }
        solved
    };
    let width = gram.ncols();
    Some((solve(gram.get(..free, free..width - outputs)), solve(gram.get(..free, width - outputs..))))
}

/// out ← (out or 0) + scale · left · right.
fn product(out: MatMut<'_, f64>, accum: Accum, left: MatRef<'_, f64>, right: MatRef<'_, f64>, scale: f64) {
    matmul(out, accum, left, right, scale, Par::Seq);
    clear_upper_vector_state();
}

/// A symmetric matrix as Q T Qᵀ with T tridiagonal and Q a sequence of reflections.
struct Tridiagonal {
    diagonal: Vec<f64>,
    beside: Vec<f64>,
    reflections: Mat<f64>,
    factors: Mat<f64>,
}

impl Tridiagonal {
    fn new(mut matrix: Mat<f64>) -> Self {
        let n = matrix.nrows();
        let mut factors = Mat::zeros(recommended_block_size::<f64>(n.max(1), n.max(1)), n.saturating_sub(1));
        if n > 1 {
            let need = tridiag_in_place_scratch::<f64>(n, Par::Seq, Default::default());
            let mut memory = MemBuffer::new(need);
            let stack = MemStack::new(&mut memory);
            tridiag_in_place(matrix.as_mut(), factors.as_mut(), Par::Seq, stack, Default::default());
            clear_upper_vector_state();
        }
        Self {
            diagonal: (0..n).map(|i| matrix[(i, i)]).collect(),
            beside: (1..n).map(|i| matrix[(i, i - 1)]).collect(),
            reflections: matrix,
            factors,
        }
    }

    fn size(&self) -> usize {
        self.diagonal.len()
    }

    /// columns ← Q columns.
    fn rotate(&self, columns: MatMut<'_, f64>) {
        let n = self.size();
        if n > 1 {
            let need = apply_scratch::<f64>(n - 1, self.factors.nrows(), columns.ncols());
            let basis = self.reflections.get(1.., ..n - 1);
            let mut memory = MemBuffer::new(need);
            let stack = MemStack::new(&mut memory);
            apply(basis, self.factors.as_ref(), Conj::No, columns.subrows_mut(1, n - 1), Par::Seq, stack);
            clear_upper_vector_state();
        }
    }

    /// columns ← Qᵀ columns.
    fn rotate_transposed(&self, columns: MatMut<'_, f64>) {
        let n = self.size();
        if n > 1 {
            let need = apply_transpose_scratch::<f64>(n - 1, self.factors.nrows(), columns.ncols());
            let basis = self.reflections.get(1.., ..n - 1);
            let mut memory = MemBuffer::new(need);
            let stack = MemStack::new(&mut memory);
            apply_transpose(basis, self.factors.as_ref(), Conj::No, columns.subrows_mut(1, n - 1), Par::Seq, stack);
            clear_upper_vector_state();
        }
    }

    /// Pivots of T + wI, taken from the top: dᵢ = tᵢ + w − eᵢ₋₁²/dᵢ₋₁.
    fn pivots(&self, weight: f64) -> Vec<f64> {
        let mut pivots: Vec<f64> = self.diagonal.iter().map(|t| t + weight).collect();
        for i in 1..pivots.len() {
            pivots[i] -= self.beside[i - 1] * self.beside[i - 1] / pivots[i - 1];
        }
        pivots
    }

    /// (T + wI)⁻¹ b.
    fn solve(&self, weight: f64, mut b: Vec<f64>) -> Vec<f64> {
        let pivots = self.pivots(weight);
        for i in 1..b.len() {
            b[i] -= self.beside[i - 1] / pivots[i - 1] * b[i - 1];
        }
        for i in (0..b.len()).rev() {
            let known = if i + 1 < b.len() { self.beside[i] * b[i + 1] } else { 0.0 };
            b[i] = (b[i] - known) / pivots[i];
        }
        b
    }

    /// tr (T + wI)⁻¹: entry i of the diagonal is 1/(dᵢ + d′ᵢ − tᵢ − w), with d′ the pivots taken from the bottom.
    fn inverse_trace(&self, weight: f64) -> f64 {
        let pivots = self.pivots(weight);
        let mut below = 0.0;
        let mut sum = 0.0;
        for i in (0..pivots.len()).rev() {
            let t = self.diagonal[i] + weight;
            if i + 1 < pivots.len() {
                below = t - self.beside[i] * self.beside[i] / below;
            } else {
                below = t;
            }
            sum += 1.0 / (pivots[i] + below - t);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::super::least_squares;
    use super::*;

    /// Rows of three free columns, seven penalised ones and two outputs, as a formula that nothing explains.
    fn rows(n: usize) -> Vec<f64> {
        let entry = |i: usize, j: usize| if j == 0 { 1.0 } else { (1.3 * (i * (j + 2)) as f64 + 0.7 * j as f64).sin() };
        (0..n).flat_map(|i| (0..12).map(move |j| entry(i, j))).collect()
    }

    /// QR of the rows with √w I below the penalised columns, whose targets are e.
    fn by_rows(rows: &[f64], output: usize, weight: f64, e: [f64; 7]) -> Vec<f64> {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for row in rows.chunks_exact(12) {
            x.extend_from_slice(&row[..10]);
            y.push(row[10 + output]);
        }
        for (j, e) in e.into_iter().enumerate() {
            x.extend((0..10).map(|k| if k == 3 + j { weight.sqrt() } else { 0.0 }));
            y.push(e);
        }
        least_squares(&x, &y, 10, 1).unwrap().coefficients
    }

    #[test]
    fn both_forms_are_the_dense_solution_at_every_weight() {
        for n in [5, 9, 40] {
            let rows = rows(n);
            let mut gram = Gram::new(12);
            gram.add_rows(&rows);
            let wanted = [(0, 1e3), (1, 0.03), (0, 2.5), (1, 1e-4)];
            for path in
                [RidgePath::of_gram(gram.matrix(), 12, 3, 2).unwrap(), RidgePath::of_rows(&rows, 12, 3, 2).unwrap()]
            {
                let found = path.solutions(&wanted);
                for (found, &(output, weight)) in found.chunks_exact(10).zip(&wanted) {
                    let expected = by_rows(&rows, output, weight, [0.0; 7]);
                    // μ/w is at most 4e5.
                    for (a, b) in found.iter().zip(&expected) {
                        approx::assert_relative_eq!(a, b, max_relative = 1e-8, epsilon = 1e-9);
                    }
                }
            }
        }
    }

    #[test]
    fn a_penalty_that_pulls_elsewhere_moves_the_dense_solution_in_both_forms() {
        let e = [0.3, -1.2, 0.0, 2.0, 0.7, -0.4, 1.1];
        for n in [5, 9, 40] {
            let rows = rows(n);
            let mut gram = Gram::new(12);
            gram.add_rows(&rows);
            for path in
                [RidgePath::of_gram(gram.matrix(), 12, 3, 2).unwrap(), RidgePath::of_rows(&rows, 12, 3, 2).unwrap()]
            {
                for weight in [40.0, 0.3] {
                    let (there, here) = (by_rows(&rows, 1, weight, e), by_rows(&rows, 1, weight, [0.0; 7]));
                    for (moved, (a, b)) in path.towards(weight, &e).iter().zip(there.iter().zip(&here)) {
                        approx::assert_relative_eq!(*moved, a - b, max_relative = 1e-9, epsilon = 1e-10);
                    }
                }
            }
        }
    }

    #[test]
    fn squares_of_other_rows_come_from_their_products_or_from_themselves() {
        let (all, wanted) = (rows(23), [(1, 0.5), (0, 0.02)]);
        let (seen, other) = all.split_at(12 * 15);
        let found = RidgePath::of_rows(seen, 12, 3, 2).unwrap().solutions(&wanted);
        let mut gram = Gram::new(12);
        gram.add_rows(other);
        let from_gram = squares_of_gram(gram.matrix(), 12, 2, &wanted, &found);
        let from_rows = squares_of_rows(other, 12, 2, &wanted, &found);
        for (k, b) in found.chunks_exact(10).enumerate() {
            let miss = |row: &[f64]| row[10 + wanted[k].0] - row.iter().zip(b).map(|(x, b)| x * b).sum::<f64>();
            let expected: f64 = other.chunks_exact(12).map(|row| miss(row).powi(2)).sum();
            approx::assert_relative_eq!(from_gram[k], expected, max_relative = 1e-12);
            approx::assert_relative_eq!(from_rows[k], expected, max_relative = 1e-13);
        }
    }

    #[test]
    fn degrees_are_the_trace_of_the_hat_matrix() {
        let n = 9;
        let rows = rows(n);
        let mut gram = Gram::new(12);
        gram.add_rows(&rows);
        for weight in [0.2, 30.0] {
            // The i-th diagonal entry is what is fitted at row i to a target that is 1 there and 0 elsewhere.
            let trace: f64 = (0..n)
                .map(|i| {
                    let mut own = rows.clone();
                    own.chunks_exact_mut(12).enumerate().for_each(|(k, row)| row[10] = f64::from(u8::from(k == i)));
                    let b = by_rows(&own, 0, weight, [0.0; 7]);
                    rows[i * 12..i * 12 + 10].iter().zip(&b).map(|(x, b)| x * b).sum::<f64>()
                })
                .sum();
            for path in
                [RidgePath::of_gram(gram.matrix(), 12, 3, 2).unwrap(), RidgePath::of_rows(&rows, 12, 3, 2).unwrap()]
            {
                approx::assert_relative_eq!(path.degrees(weight), trace, max_relative = 1e-10);
            }
        }
    }

    #[test]
    fn free_columns_that_depend_on_each_other_are_refused_and_penalised_ones_are_not() {
        let mut same = rows(20);
        same.chunks_exact_mut(12).for_each(|row| row[2] = 3.0 * row[1]);
        assert!(RidgePath::of_rows(&same, 12, 3, 2).is_none());
        let mut same = rows(20);
        same.chunks_exact_mut(12).for_each(|row| row[8] = row[5]);
        let found = RidgePath::of_rows(&same, 12, 3, 2).unwrap().solutions(&[(1, 0.5)]);
        approx::assert_relative_eq!(found[8], found[5], max_relative = 1e-10);
    }

    #[test]
    fn without_penalised_columns_it_is_least_squares() {
        let rows: Vec<f64> = (0..8).flat_map(|i| [1.0, f64::from(i), (f64::from(i) * 0.9).sin()]).collect();
        let mut gram = Gram::new(3);
        gram.add_rows(&rows);
        let path = RidgePath::of_gram(gram.matrix(), 3, 2, 1).unwrap();
        let (x, y): (Vec<_>, Vec<_>) = rows.chunks_exact(3).map(|r| ([r[0], r[1]], r[2])).unzip();
        let expected = least_squares(&x.concat(), &y, 2, 1).unwrap().coefficients;
        for (a, b) in path.solutions(&[(0, 0.0)]).iter().zip(&expected) {
            approx::assert_relative_eq!(a, b, max_relative = 1e-12);
        }
        assert_eq!(path.degrees(0.0), 2.0);
    }
}
