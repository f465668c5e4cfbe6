//! Products of blocks of rows with vectors and matrices: the inner loops of fitted Q iteration.
//!
//! Rows are flat and row-major. Loops run over four numbers at a time inside [`pulp`]'s run-time dispatch, so that they
//! use the machine's vector units without being compiled for it. The four lanes are written out and every product is
//! fused, so the order of roundings is fixed here: results are equal to the last bit on every machine.

use pulp::Arch;

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
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for (row, results) in rows.chunks_exact(width).zip(out.chunks_exact_mut(m)) {
                for (column, result) in matrix.chunks_exact(width).zip(results) {
                    *result = dot(row, column);
                }
            }
        },
    );
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
    if width == 0 {
        return;
    }
    Arch::new().dispatch(
        #[inline(always)]
        || {
            // Four rows at a time, so that `out` is read and written once for every four.
            let (fours, rest) = y.as_chunks::<LANES>();
            let (four_rows, last_rows) = rows.split_at(fours.len() * LANES * width);
            for (y, block) in fours.iter().zip(four_rows.chunks_exact(LANES * width)) {
                let (r0, r1) = block.split_at(width);
                let (r1, r2) = r1.split_at(width);
                let (r2, r3) = r2.split_at(width);
                for ((((sum, a), b), c), d) in out.iter_mut().zip(r0).zip(r1).zip(r2).zip(r3) {
                    let first = a.mul_add(y[0], b * y[1]);
                    let second = c.mul_add(y[2], d * y[3]);
                    *sum += first + second;
                }
            }
            for (y, row) in rest.iter().zip(last_rows.chunks_exact(width)) {
                for (sum, a) in out.iter_mut().zip(row) {
                    *sum = a.mul_add(*y, *sum);
                }
            }
        },
    );
}

/// Marks the upper halves of the vector registers as unused, after a product of faer.
///
/// faer's matrix products return without that mark, and on x86 every libm call that follows (exp, tanh) then runs 10–25
/// times slower. A function that uses wide registers is compiled to clear them on return, so touching one is enough.
pub fn clear_upper_vector_state() {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let wide = std::hint::black_box([1.0f64; LANES]);
            std::hint::black_box(wide.map(|x| x + x));
        },
    );
}
