//! Products of blocks of rows with vectors and matrices: the inner loops of fitted Q iteration.
//!
//! Rows are flat and row-major. Loops run over four numbers at a time inside [`pulp`]'s run-time dispatch, so that they
//! use the machine's vector units without being compiled for it. The four lanes are written out and every product is
//! fused, so the order of roundings is fixed here: results are equal to the last bit on every machine.

use pulp::{Arch, Simd, WithSimd};
use std::hint::black_box;

/// Numbers handled together.
const LANES: usize = 4;

/// outᵢ = rowᵢ · vector.
///
/// # Panics
/// When `rows` is not `out.len()` rows of `width`, or the vector is not `width` long.
pub fn rows_times_vector(rows: &[f64], width: usize, vector: &[f64], out: &mut [f64]) {
    rows_times_matrix(rows, width, vector, 1, out);
}

/// out = rows · matrix, with `matrix` of `m` columns stored one after another and `out` row-major n × m.
///
/// # Panics
/// When `rows` is not n rows of `width`, the matrix not `width` × `m`, or `out` not n × `m`.
pub fn rows_times_matrix(rows: &[f64], width: usize, matrix: &[f64], m: usize, out: &mut [f64]) {
    assert!(width > 0 && m > 0, "a product of width {width} with {m} columns");
    assert_eq!(matrix.len(), width * m, "a matrix of {width} × {m}");
    assert_eq!(rows.len() * m, out.len() * width, "as many rows of results as of {width} numbers");
    Arch::new().dispatch(RowsTimesMatrix { rows, width, matrix, m, out });
}

// A struct and not a closure: the body of a closure is not inlined into the function compiled for the wide registers,
// and each fused product then becomes a call that is three hundred times slower.
struct RowsTimesMatrix<'a> {
    rows: &'a [f64],
    width: usize,
    matrix: &'a [f64],
    m: usize,
    out: &'a mut [f64],
}

impl WithSimd for RowsTimesMatrix<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (row, results) in self.rows.chunks_exact(self.width).zip(self.out.chunks_exact_mut(self.m)) {
            for (column, result) in self.matrix.chunks_exact(self.width).zip(results) {
                *result = dot(row, column);
            }
        }
    }
}

/// Σ aⱼ bⱼ: four running sums, then the pairs, then the rest in order.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] = a[lane].mul_add(b[lane], sums[lane]);
        }
    }
    let whole = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    a_rest.iter().zip(b_rest).fold(whole, |sum, (a, b)| a.mul_add(*b, sum))
}

/// out += rowsᵀ y.
///
/// # Panics
/// When `rows` is not `y.len()` rows of `width`, or `out` is not `width` long.
pub fn add_transposed_times(rows: &[f64], width: usize, y: &[f64], out: &mut [f64]) {
    assert_eq!(rows.len(), y.len() * width, "{} rows of {width}", y.len());
    assert_eq!(out.len(), width, "a result of {width} numbers");
    if width > 0 {
        Arch::new().dispatch(AddTransposedTimes { rows, width, y, out });
    }
}

struct AddTransposedTimes<'a> {
    rows: &'a [f64],
    width: usize,
    y: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for AddTransposedTimes<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        // Four rows at a time, so that `out` is read and written once for every four.
        let (fours, rest) = self.y.as_chunks::<LANES>();
        let (four_rows, last_rows) = self.rows.split_at(fours.len() * LANES * self.width);
        for (y, block) in fours.iter().zip(four_rows.chunks_exact(LANES * self.width)) {
            let (r0, r1) = block.split_at(self.width);
            let (r1, r2) = r1.split_at(self.width);
            let (r2, r3) = r2.split_at(self.width);
            for ((((sum, a), b), c), d) in self.out.iter_mut().zip(r0).zip(r1).zip(r2).zip(r3) {
                let first = a.mul_add(y[0], b * y[1]);
                let second = c.mul_add(y[2], d * y[3]);
                *sum += first + second;
            }
        }
        for (y, row) in rest.iter().zip(last_rows.chunks_exact(self.width)) {
            for (sum, a) in self.out.iter_mut().zip(row) {
                *sum = a.mul_add(*y, *sum);
            }
        }
    }
}

/// Marks the upper halves of the vector registers as unused, after a product of faer.
///
/// faer's matrix products return without that mark, and on x86 every libm call that follows (exp, tanh) then runs 10–25
/// times slower. A function that uses wide registers is compiled to clear them on return, so touching one is enough.
pub fn clear_upper_vector_state() {
    Arch::new().dispatch(TouchWideRegister);
}

struct TouchWideRegister;

impl WithSimd for TouchWideRegister {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let wide = black_box([1.0f64; LANES]);
        black_box(wide.map(|x| x + x));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small integers, for which every order of summation gives the same bits.
    fn integers(count: usize, salt: usize) -> Vec<f64> {
        (0..count).map(|i| ((i * 37 + salt * 11 + i * i * 5) % 19) as f64 - 8.0).collect()
    }

    #[test]
    fn products_equal_plain_loops() {
        for width in 1..=13 {
            for n in [0, 1, 2, 3, 4, 5, 7, 8, 11] {
                let rows = integers(n * width, 1);
                for m in 1..=3 {
                    let matrix = integers(width * m, 2);
                    let mut out = vec![f64::NAN; n * m];
                    rows_times_matrix(&rows, width, &matrix, m, &mut out);
                    for i in 0..n {
                        for k in 0..m {
                            let sum: f64 = (0..width).map(|j| rows[i * width + j] * matrix[k * width + j]).sum();
                            assert_eq!(out[i * m + k], sum, "width {width}, row {i}, column {k}");
                        }
                    }
                }
                let y = integers(n, 3);
                let mut out = integers(width, 4);
                add_transposed_times(&rows, width, &y, &mut out);
                for j in 0..width {
                    let sum: f64 = (0..n).map(|i| rows[i * width + j] * y[i]).sum();
                    assert_eq!(out[j], integers(width, 4)[j] + sum, "width {width}, {n} rows, column {j}");
                }
            }
        }
    }

    #[test]
    fn a_vector_is_a_matrix_of_one_column() {
        let (rows, vector) = (integers(35, 5), integers(7, 6));
        let (mut a, mut b) = ([0.0; 5], [0.0; 5]);
        rows_times_vector(&rows, 7, &vector, &mut a);
        rows_times_matrix(&rows, 7, &vector, 1, &mut b);
        assert_eq!(a, b);
        assert!(a.iter().any(|x| *x != 0.0));
    }

    #[test]
    fn products_are_fused() {
        // (1 + 2⁻³⁰)(1 − 2⁻³⁰) − 1 = −2⁻⁶⁰, which two roundings would lose.
        let (up, down) = (1.0 + 2f64.powi(-30), 1.0 - 2f64.powi(-30));
        let mut out = [0.0];
        rows_times_vector(&[-1.0, 0.0, 0.0, 0.0, up], 5, &[1.0, 0.0, 0.0, 0.0, down], &mut out);
        assert_eq!(out, [-(2f64.powi(-60))]);
        rows_times_vector(&[-1.0, 0.0, 0.0, 0.0, up, 0.0, 0.0, 0.0], 8, &[1.0, 0., 0., 0., down, 0., 0., 0.], &mut out);
        assert_eq!(out, [-(2f64.powi(-60))]);
        let mut out = [-1.0];
        add_transposed_times(&[up], 1, &[down], &mut out);
        assert_eq!(out, [-(2f64.powi(-60))]);
    }

    #[test]
    fn shapes_that_do_not_match_are_refused() {
        type Call = fn();
        let calls: [Call; 6] = [
            || rows_times_matrix(&[], 0, &[], 1, &mut []),
            || rows_times_matrix(&[], 1, &[], 0, &mut []),
            || rows_times_matrix(&[1.0; 4], 2, &[1.0; 3], 1, &mut [0.0; 2]),
            || rows_times_matrix(&[1.0; 4], 2, &[1.0; 2], 1, &mut [0.0; 3]),
            || add_transposed_times(&[1.0; 4], 2, &[1.0; 3], &mut [0.0; 2]),
            || add_transposed_times(&[1.0; 4], 2, &[1.0; 2], &mut [0.0; 3]),
        ];
        for (k, call) in calls.into_iter().enumerate() {
            assert!(std::panic::catch_unwind(call).is_err(), "call {k} was accepted");
        }
        add_transposed_times(&[], 0, &[1.0; 3], &mut []);
    }
}
