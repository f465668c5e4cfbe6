//! The three products of a layer, on one block of rows.
//!
//! A block holds [`BLOCK`] rows *unit by unit*: a unit's values in all rows of the block are contiguous (a [`Column`]). Then
//! every loop below runs along rows, whatever the width of the layer: an input of one number and an output of one number
//! vectorise as well as a layer of 64. All layers of a block stay in the second-level cache between the pass forward and
//! the pass back.
//!
//! # Precision
//! Each sum is taken in an order fixed by the shape of the network and by [`BLOCK`], never by the width of the machine's
//! vectors, and each term is one fused multiply–add. So the digits are the same on every machine with IEEE arithmetic.

use crate::kernel::numeric::lanes::{LANES, Quad};

/// Rows in a block. Batches of 512 are whole blocks.
pub(super) const BLOCK: usize = 64;

/// One unit's values in the rows of a block.
pub(super) type Column = [f64; BLOCK];

/// y_j ← b_j + Σᵢ w_ij xᵢ for every output j of a layer, rectified when the layer is hidden.
///
/// Rows at and above `rows` are left in an unspecified state.
#[inline(always)]
pub(super) fn forward<Q: Quad>(
    quad: Q,
    w: &[f64],
    b: &[f64],
    x: &[Column],
    y: &mut [Column],
    rows: usize,
    hidden: bool,
) {
    if hidden {
        product(quad, w, x, y, rows, |j| b[j], |_, _, v| quad.rectify(v));
    } else {
        product(quad, w, x, y, rows, |j| b[j], |_, _, v| v);
    }
}

/// ∂L/∂hᵢ ← 1{hᵢ > 0} Σ_j wᵀ_ji ∂L/∂y_j for every unit i of the hidden layer below; h are its values after rectification.
///
/// The slope of the rectifier at 0 is taken to be 0.
#[inline(always)]
pub(super) fn backward<Q: Quad>(quad: Q, w_transposed: &[f64], dy: &[Column], h: &[Column], dh: &mut [Column]) {
    let gate = |i: usize, part: usize, v| quad.gate(quad.load(&h[i].as_chunks().0[part]), v);
    product(quad, w_transposed, dy, dh, BLOCK, |_| 0.0, gate);
}

/// ∂L/∂w_ij += Σᵣ xᵢᵣ ∂L/∂y_jr and ∂L/∂b_j += Σᵣ ∂L/∂y_jr, summed over the first `rows` rows of the block; above them ∂L/∂y is 0.
#[inline(always)]
pub(super) fn weigh<Q: Quad>(quad: Q, x: &[Column], dy: &[Column], rows: usize, dw: &mut [f64], db: &mut [f64]) {
    for (db, dy) in db.iter_mut().zip(dy) {
        let start = quad.splat(0.0);
        *db += quad.fold(dy.as_chunks().0.iter().fold(start, |sum, d| quad.add(sum, quad.load(d))));
    }
    let (width, parts) = (dy.len(), rows.div_ceil(LANES));
    let (fours, rest) = dy.as_chunks::<4>();
    let (twos, one) = rest.as_chunks::<2>();
    // Fewer outputs, more inputs at a time: each tile keeps eight sums in registers.
    for (g, dy) in fours.iter().enumerate() {
        inputs::<Q, 2, 4>(quad, x, dy, parts, &mut dw[4 * g..], width);
    }
    for dy in twos {
        inputs::<Q, 4, 2>(quad, x, dy, parts, &mut dw[4 * fours.len()..], width);
    }
    if let [dy] = one {
        inputs::<Q, 8, 1>(quad, x, &[*dy], parts, &mut dw[width - 1..], width);
    }
}

/// out_o ← finish(o, quad of rows, start_o + Σₖ w_ko xₖ) for every column o of the matrix w, which has one row for each
/// column of x.
#[inline(always)]
fn product<Q: Quad>(
    quad: Q,
    w: &[f64],
    x: &[Column],
    out: &mut [Column],
    rows: usize,
    start: impl Fn(usize) -> f64,
    finish: impl Fn(usize, usize, Q::Vector) -> Q::Vector,
) {
    let width = out.len();
    let mut first = 0;
    // Twelve sums in registers hide the latency of a fused product; below six outputs, more rows at a time and eight sums.
    while first + 6 <= width {
        tile::<Q, 6, 2>(quad, w, x, out, first, rows, &start, &finish);
        first += 6;
    }
    if first + 4 <= width {
        tile::<Q, 4, 2>(quad, w, x, out, first, rows, &start, &finish);
        first += 4;
    }
    if first + 2 <= width {
        tile::<Q, 2, 4>(quad, w, x, out, first, rows, &start, &finish);
        first += 2;
    }
    if first < width {
        tile::<Q, 1, 8>(quad, w, x, out, first, rows, &start, &finish);
    }
}

/// [`product`] for the J outputs from `first` on, R vectors of rows at a time.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "the inside of `product`, cut out to be compiled for four shapes")]
fn tile<Q: Quad, const J: usize, const R: usize>(
    quad: Q,
    w: &[f64],
    x: &[Column],
    out: &mut [Column],
    first: usize,
    rows: usize,
    start: &impl Fn(usize) -> f64,
    finish: &impl Fn(usize, usize, Q::Vector) -> Q::Vector,
) {
    let width = out.len();
    for part in 0..rows.div_ceil(R * LANES) {
        let mut sum: [[Q::Vector; R]; J] = std::array::from_fn(|j| [quad.splat(start(first + j)); R]);
        for (w, x) in w.chunks_exact(width).zip(x) {
            let w: &[f64; J] = w[first..].first_chunk().expect("a tile lies within its row");
            let x: &[[f64; LANES]; R] = &x.as_chunks().0.as_chunks().0[part];
            let x: [Q::Vector; R] = std::array::from_fn(|r| quad.load(&x[r]));
            for j in 0..J {
                let w = quad.splat(w[j]);
                for r in 0..R {
                    sum[j][r] = quad.mul_add(w, x[r], sum[j][r]);
                }
            }
        }
        for j in 0..J {
            let out: &mut [[f64; LANES]; R] = &mut out[first + j].as_chunks_mut().0.as_chunks_mut().0[part];
            for r in 0..R {
                out[r] = quad.store(finish(first + j, part * R + r, sum[j][r]));
            }
        }
    }
}

/// dw_ij += Σᵣ xᵢᵣ dy_jr for all inputs i, I at a time, and J outputs j.
#[inline(always)]
fn inputs<Q: Quad, const I: usize, const J: usize>(
    quad: Q,
    x: &[Column],
    dy: &[Column; J],
    parts: usize,
    dw: &mut [f64],
    width: usize,
) {
    let (groups, rest) = x.as_chunks::<I>();
    for (g, x) in groups.iter().enumerate() {
        correlate(quad, x, dy, parts, &mut dw[g * I * width..], width);
    }
    for (i, x) in rest.iter().enumerate() {
        correlate(quad, std::array::from_ref(x), dy, parts, &mut dw[(groups.len() * I + i) * width..], width);
    }
}

/// dw_ij += Σᵣ xᵢᵣ dy_jr for I inputs i and J outputs j, over the first so many vectors of rows.
///
/// How many there are is not known to the compiler, and must not be: given the 16 of a whole block it unrolls all of them and takes
/// one sum after another, each waiting for itself, with the rest on the stack. A step of a net [64, 64] then takes 1.6 times as long.
#[inline(always)]
fn correlate<Q: Quad, const I: usize, const J: usize>(
    quad: Q,
    x: &[Column; I],
    dy: &[Column; J],
    parts: usize,
    dw: &mut [f64],
    width: usize,
) {
    let mut sum = [[quad.splat(0.0); J]; I];
    for part in 0..parts.min(BLOCK / LANES) {
        let dy: [Q::Vector; J] = std::array::from_fn(|j| quad.load(&dy[j].as_chunks().0[part]));
        for i in 0..I {
            let x = quad.load(&x[i].as_chunks().0[part]);
            for j in 0..J {
                sum[i][j] = quad.mul_add(x, dy[j], sum[i][j]);
            }
        }
    }
    for i in 0..I {
        for j in 0..J {
            dw[i * width + j] += quad.fold(sum[i][j]);
        }
    }
}
