//! Kernels on blocks of rows stored column after column: the inner loops of fitted Q iteration.
//!
//! A block holds n rows of d features as d contiguous columns. Loops run along rows, so they are long whatever d is, and every
//! sum has one fixed order, so the digits do not depend on the machine's vector width: `mul_add` rounds once everywhere.
//!
//! Each kernel works for two actions at a time: a column is read once for both, and what is summed stays in registers.

use super::lanes::{LANES, Quad, Work, dispatch};
use std::array::from_fn;

/// The most rows in a block.
pub const ROWS: usize = 128;

/// Bytes of features in a block: what leaves room for targets and values in a first-level cache of 32 kB.
const BYTES: usize = 26_000;

/// Vectors of rows combined at a time.
const TILE: usize = 4;

/// Rows in a block of d features: 128 up to d = 25, fewer beyond, so that the block stays in the first-level cache.
pub fn rows(features: usize) -> usize {
    let tile = TILE * LANES;
    (BYTES / (8 * features.max(1)) / tile * tile).clamp(tile, ROWS)
}

/// qₐ = Σⱼ wₐⱼ columnⱼ: n numbers for each vector of d weights.
///
/// # Panics
/// If `columns` are not d columns of n rows, or `q` not n numbers for each d weights.
pub fn combine(columns: &[f64], rows: usize, weights: &[f64], q: &mut [f64]) {
    if rows == 0 || columns.is_empty() {
        return q.fill(0.0);
    }
    assert_eq!(columns.len() % rows, 0, "whole columns");
    assert_eq!(weights.len() * rows, q.len() * (columns.len() / rows), "one column a weight");
    dispatch(Combine { columns, rows, weights, q });
}

struct Combine<'a> {
    columns: &'a [f64],
    rows: usize,
    weights: &'a [f64],
    q: &'a mut [f64],
}

impl Work for Combine<'_> {
    type Output = ();

    #[inline(always)]
    fn run<Q: Quad>(self, quad: Q) {
        let Self { columns, rows: n, weights, q } = self;
        let d = columns.len() / n;
        let (mut pairs, mut q) = (weights.chunks_exact(2 * d), q.chunks_exact_mut(2 * n));
        for (w, q) in (&mut pairs).zip(&mut q) {
            let ((w0, w1), (q0, q1)) = (w.split_at(d), q.split_at_mut(n));
            combine_some(quad, columns, n, [w0, w1], [q0, q1]);
        }
        if !pairs.remainder().is_empty() {
            combine_some(quad, columns, n, [pairs.remainder()], [q.into_remainder()]);
        }
    }
}

#[inline(always)]
fn combine_some<Q: Quad, const A: usize>(quad: Q, columns: &[f64], n: usize, weights: [&[f64]; A], q: [&mut [f64]; A]) {
    let step = TILE * LANES;
    let tiles = n / step;
    for tile in 0..tiles {
        let mut sums = [[quad.splat(0.0); TILE]; A];
        for (j, column) in columns.chunks_exact(n).enumerate() {
            let x: &[[f64; LANES]; TILE] = &column.as_chunks().0.as_chunks().0[tile];
            let x: [Q::Vector; TILE] = from_fn(|v| quad.load(&x[v]));
            for a in 0..A {
                let w = quad.splat(weights[a][j]);
                for v in 0..TILE {
                    sums[a][v] = quad.mul_add(w, x[v], sums[a][v]);
                }
            }
        }
        for a in 0..A {
            let q: &mut [[f64; LANES]; TILE] = &mut q[a].as_chunks_mut().0.as_chunks_mut().0[tile];
            for v in 0..TILE {
                q[v] = quad.store(sums[a][v]);
            }
        }
    }
    for a in 0..A {
        for i in tiles * step..n {
            let mut sum = 0.0;
            for (column, w) in columns.chunks_exact(n).zip(weights[a]) {
                sum = w.mul_add(column[i], sum);
            }
            q[a][i] = sum;
        }
    }
}

/// sumsₐⱼ += columnⱼ · yₐ for every column and every vector of n targets.
///
/// # Panics
/// If `columns` are not d columns of n rows, or `sums` not d numbers for each n targets.
pub fn accumulate(columns: &[f64], rows: usize, y: &[f64], sums: &mut [f64]) {
    if rows == 0 || columns.is_empty() {
        return;
    }
    assert_eq!(columns.len() % rows, 0, "whole columns");
    assert_eq!(sums.len() * rows, y.len() * (columns.len() / rows), "one column a sum");
    dispatch(Accumulate { columns, rows, y, sums });
}

struct Accumulate<'a> {
    columns: &'a [f64],
    rows: usize,
    y: &'a [f64],
    sums: &'a mut [f64],
}

impl Work for Accumulate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<Q: Quad>(self, quad: Q) {
        let Self { columns, rows: n, y, sums } = self;
        let d = columns.len() / n;
        let (mut pairs, mut sums) = (y.chunks_exact(2 * n), sums.chunks_exact_mut(2 * d));
        for (y, sums) in (&mut pairs).zip(&mut sums) {
            let ((y0, y1), (s0, s1)) = (y.split_at(n), sums.split_at_mut(d));
            accumulate_some(quad, columns, n, [y0, y1], [s0, s1]);
        }
        if !pairs.remainder().is_empty() {
            accumulate_some(quad, columns, n, [pairs.remainder()], [sums.into_remainder()]);
        }
    }
}

/// Six columns at a time: twelve sums in registers. Of what is left over, in more vectors, so that sums do not wait for each other.
#[inline(always)]
fn accumulate_some<Q: Quad, const A: usize>(
    quad: Q,
    columns: &[f64],
    n: usize,
    y: [&[f64]; A],
    mut sums: [&mut [f64]; A],
) {
    let sixes = columns.len() / n / 6 * 6;
    for j in (0..sixes).step_by(6) {
        add_dots::<Q, A, 6, 1>(quad, &columns[j * n..], n, y, sums.each_mut().map(|s| &mut s[j..j + 6]));
    }
    let (rest, sums) = (&columns[sixes * n..], sums.each_mut().map(|s| &mut s[sixes..]));
    match rest.len() / n {
        5 => add_dots::<Q, A, 5, 1>(quad, rest, n, y, sums),
        4 => add_dots::<Q, A, 4, 1>(quad, rest, n, y, sums),
        3 => add_dots::<Q, A, 3, 2>(quad, rest, n, y, sums),
        2 => add_dots::<Q, A, 2, 2>(quad, rest, n, y, sums),
        1 => add_dots::<Q, A, 1, 4>(quad, rest, n, y, sums),
        _ => {}
    }
}

/// Dot products of C columns with A vectors, each in V vectors of lanes.
#[inline(always)]
fn add_dots<Q: Quad, const A: usize, const C: usize, const V: usize>(
    quad: Q,
    columns: &[f64],
    n: usize,
    y: [&[f64]; A],
    sums: [&mut [f64]; A],
) {
    let whole = n / (V * LANES);
    let x: [&[[[f64; LANES]; V]]; C] = from_fn(|c| groups(&columns[c * n..], n));
    let z: [&[[[f64; LANES]; V]]; A] = from_fn(|a| groups(y[a], n));
    let mut partial = [[[quad.splat(0.0); V]; C]; A];
    for i in 0..whole {
        for v in 0..V {
            let z: [Q::Vector; A] = from_fn(|a| quad.load(&z[a][i][v]));
            for c in 0..C {
                let x = quad.load(&x[c][i][v]);
                for a in 0..A {
                    partial[a][c][v] = quad.mul_add(x, z[a], partial[a][c][v]);
                }
            }
        }
    }
    for a in 0..A {
        for c in 0..C {
            let total = partial[a][c].into_iter().reduce(|p, q| quad.add(p, q)).expect("at least one vector");
            let mut sum = quad.fold(total);
            for i in whole * V * LANES..n {
                sum = columns[c * n + i].mul_add(y[a][i], sum);
            }
            sums[a][c] += sum;
        }
    }
}

/// The first n numbers in whole groups of V vectors of lanes.
#[inline(always)]
fn groups<const V: usize>(x: &[f64], n: usize) -> &[[[f64; LANES]; V]] {
    &x[..n].as_chunks().0.as_chunks().0[..n / (V * LANES)]
}

/// gramₐⱼₖ += Σᵢ weightₐᵢ columnⱼᵢ columnₖᵢ for k ≤ j and every vector of n weights; upper halves are left alone.
///
/// # Panics
/// If `columns` are not d columns of n rows, or `grams` not d² numbers for each n weights.
pub fn accumulate_gram(columns: &[f64], rows: usize, weights: &[f64], grams: &mut [f64]) {
    if rows == 0 || columns.is_empty() {
        return;
    }
    let d = columns.len() / rows;
    assert_eq!(columns.len(), d * rows, "whole columns");
    assert!(rows <= ROWS, "a block has at most {ROWS} rows");
    assert_eq!(grams.len() * rows, weights.len() * d * d, "a square Gram matrix for each vector of weights");
    dispatch(AccumulateGram { columns, rows, weights, grams });
}

struct AccumulateGram<'a> {
    columns: &'a [f64],
    rows: usize,
    weights: &'a [f64],
    grams: &'a mut [f64],
}

impl Work for AccumulateGram<'_> {
    type Output = ();

    #[inline(always)]
    fn run<Q: Quad>(self, quad: Q) {
        let Self { columns, rows: n, weights, grams } = self;
        let d = columns.len() / n;
        let (mut pairs, mut grams) = (weights.chunks_exact(2 * n), grams.chunks_exact_mut(2 * d * d));
        for (w, grams) in (&mut pairs).zip(&mut grams) {
            let ((w0, w1), (g0, g1)) = (w.split_at(n), grams.split_at_mut(d * d));
            accumulate_gram_some(quad, columns, n, [w0, w1], [g0, g1]);
        }
        if !pairs.remainder().is_empty() {
            accumulate_gram_some(quad, columns, n, [pairs.remainder()], [grams.into_remainder()]);
        }
    }
}

#[inline(always)]
fn accumulate_gram_some<Q: Quad, const A: usize>(
    quad: Q,
    columns: &[f64],
    n: usize,
    weights: [&[f64]; A],
    mut grams: [&mut [f64]; A],
) {
    let d = columns.len() / n;
    let mut weighted = [[0.0; ROWS]; A];
    for j in 0..d {
        for a in 0..A {
            for ((x, c), w) in weighted[a].iter_mut().zip(&columns[j * n..(j + 1) * n]).zip(weights[a]) {
                *x = c * w;
            }
        }
        let y = weighted.each_ref().map(|w| &w[..n]);
        let rows = grams.each_mut().map(|gram| &mut gram[j * d..j * d + j + 1]);
        accumulate_some(quad, &columns[..(j + 1) * n], n, y, rows);
    }
}

/// yₐᵢ = 1{aᵢ = a}(rᵢ + γvᵢ): the targets of a block, n numbers an action.
///
/// # Panics
/// If rewards, values and taken actions are not as many.
pub fn masked_targets(rewards: &[f64], values: &[f64], discount: f64, taken: &[u32], y: &mut [f64]) {
    let n = rewards.len();
    assert_eq!((values.len(), taken.len()), (n, n), "a value and an action for each reward");
    dispatch(MaskedTargets { rewards, values, discount, taken, y });
}

struct MaskedTargets<'a> {
    rewards: &'a [f64],
    values: &'a [f64],
    discount: f64,
    taken: &'a [u32],
    y: &'a mut [f64],
}

impl Work for MaskedTargets<'_> {
    type Output = ();

    #[inline(always)]
    fn run<Q: Quad>(self, _: Q) {
        let Self { rewards, values, discount, taken, y } = self;
        for (action, y) in (0u32..).zip(y.chunks_exact_mut(rewards.len().max(1))) {
            for (((y, r), v), a) in y.iter_mut().zip(rewards).zip(values).zip(taken) {
                let target = discount.mul_add(*v, *r);
                *y = if *a == action { target } else { 0.0 };
            }
        }
    }
}

/// outᵢ = aᵢ bᵢ, rounded once.
#[inline(always)]
pub fn multiply<Q: Quad>(quad: Q, a: &[f64], b: &[f64], out: &mut [f64]) {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let (out, out_rest) = out.as_chunks_mut::<LANES>();
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = quad.store(quad.mul(quad.load(a), quad.load(b)));
    }
    for ((out, a), b) in out_rest.iter_mut().zip(a_rest).zip(b_rest) {
        *out = a * b;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 37 rows and up to 12 columns of small integers: sums are exact, the rows are no multiple of a tile or of the lanes, and any
    /// number of columns is left over after the sixes.
    const N: usize = 37;

    fn columns(d: usize) -> Vec<f64> {
        (0..d * N).map(|i| ((i * 29) % 23) as f64 - 9.0).collect()
    }

    /// `count` vectors of `length` numbers.
    fn vectors(count: usize, length: usize) -> Vec<f64> {
        (0..count * length).map(|i| ((i * 7) % 11) as f64 - 4.0).collect()
    }

    #[test]
    fn combining_columns_is_the_weighted_sum() {
        for d in 1..=12 {
            for actions in 1..=3 {
                let (columns, weights) = (columns(d), vectors(actions, d));
                let mut q = vec![3.0; actions * N];
                combine(&columns, N, &weights, &mut q);
                for (k, q) in q.iter().enumerate() {
                    let expected: f64 = (0..d).map(|j| weights[k / N * d + j] * columns[j * N + k % N]).sum();
                    assert_eq!(*q, expected, "{d} columns, {actions} actions");
                }
            }
        }
    }

    #[test]
    fn accumulating_adds_the_products_to_what_was_there() {
        for d in 1..=12 {
            for actions in 1..=3 {
                let (columns, y) = (columns(d), vectors(actions, N));
                let mut sums: Vec<f64> = (0..actions * d).map(|k| k as f64).collect();
                accumulate(&columns, N, &y, &mut sums);
                for (k, sum) in sums.iter().enumerate() {
                    let expected: f64 = (0..N).map(|i| columns[k % d * N + i] * y[k / d * N + i]).sum();
                    assert_eq!(*sum, expected + k as f64, "{d} columns, {actions} actions");
                }
            }
        }
    }

    #[test]
    fn the_gram_matrices_are_weighted_and_lower() {
        for actions in 1..=3 {
            let (d, columns, weights) = (7, columns(7), vectors(actions, N));
            let mut grams = vec![2.0; actions * d * d];
            accumulate_gram(&columns, N, &weights, &mut grams);
            for (at, entry) in grams.iter().enumerate() {
                let (a, j, k) = (at / (d * d), at / d % d, at % d);
                let sum: f64 = (0..N).map(|i| weights[a * N + i] * columns[j * N + i] * columns[k * N + i]).sum();
                assert_eq!(*entry, if k <= j { sum + 2.0 } else { 2.0 }, "{actions} actions");
            }
        }
    }

    #[test]
    fn a_target_belongs_to_the_action_taken_and_to_no_other() {
        let (rewards, values) = ([1.0, 2.0, 3.0], [10.0, 20.0, 30.0]);
        let mut y = [9.0; 6];
        // The last row starts no transition: its code is the number of actions.
        masked_targets(&rewards, &values, 0.5, &[1, 0, 2], &mut y);
        assert_eq!(y, [0.0, 12.0, 0.0, 6.0, 0.0, 0.0]);
    }

    #[test]
    fn a_block_is_made_of_tiles_and_fits_the_cache() {
        assert_eq!((rows(0), rows(6), rows(15), rows(25), rows(26)), (128, 128, 128, 128, 112));
        for d in 1..=2000 {
            assert!(rows(d).is_multiple_of(16) && (rows(d) == 16 || rows(d) * d * 8 <= BYTES), "{d} features");
        }
    }

    #[test]
    fn nothing_is_added_by_no_rows() {
        let (mut q, mut sums) = ([], [1.0]);
        combine(&[], 0, &[2.0], &mut q);
        accumulate(&[], 0, &[], &mut sums);
        assert_eq!(sums, [1.0]);
    }
}
