//! Kernels on blocks of rows stored column after column: the inner loops of fitted Q iteration.
//!
//! A block holds n rows of d features as d contiguous columns. Loops run along rows, so they are long whatever d is, and every
//! sum has one fixed order, so the digits do not depend on the machine's vector width: `mul_add` rounds once everywhere.

use pulp::{Arch, Simd, WithSimd};

/// Rows in a block: 128 × 15 features fill half of a 32 kB first-level cache.
pub const ROWS: usize = 128;

/// Independent partial sums of a dot product. A single running sum would wait for each addition.
const LANES: usize = 16;

/// q = Σⱼ wⱼ columnⱼ.
///
/// # Panics
/// If `columns` does not hold one column of `q`'s length a weight.
pub fn combine(columns: &[f64], weights: &[f64], q: &mut [f64]) {
    assert_eq!(columns.len(), weights.len() * q.len(), "one column a weight");
    Arch::new().dispatch(Combine { columns, weights, q });
}

// Structs and not closures: the body of a closure is not inlined into the function compiled for the wide registers, and every
// fused product then becomes a call of libm, forty times slower.
struct Combine<'a> {
    columns: &'a [f64],
    weights: &'a [f64],
    q: &'a mut [f64],
}

impl WithSimd for Combine<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { columns, weights, q } = self;
        let n = q.len();
        q.fill(0.0);
        let mut quads = weights.chunks_exact(4);
        let mut start = 0;
        for w in &mut quads {
            let (c0, rest) = columns[start..start + 4 * n].split_at(n);
            let (c1, rest) = rest.split_at(n);
            let (c2, c3) = rest.split_at(n);
            for ((((q, a), b), c), d) in q.iter_mut().zip(c0).zip(c1).zip(c2).zip(c3) {
                *q = w[3].mul_add(*d, w[2].mul_add(*c, w[1].mul_add(*b, w[0].mul_add(*a, *q))));
            }
            start += 4 * n;
        }
        for w in quads.remainder() {
            for (q, x) in q.iter_mut().zip(&columns[start..start + n]) {
                *q = w.mul_add(*x, *q);
            }
            start += n;
        }
    }
}

/// sumsⱼ += columnⱼ · y for every column.
///
/// # Panics
/// If `columns` does not hold one column of `y`'s length a sum.
pub fn accumulate(columns: &[f64], y: &[f64], sums: &mut [f64]) {
    assert_eq!(columns.len(), sums.len() * y.len(), "one column a sum");
    Arch::new().dispatch(Accumulate { columns, y, sums });
}

struct Accumulate<'a> {
    columns: &'a [f64],
    y: &'a [f64],
    sums: &'a mut [f64],
}

impl WithSimd for Accumulate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (sum, column) in self.sums.iter_mut().zip(self.columns.chunks_exact(self.y.len().max(1))) {
            *sum += dot(column, self.y);
        }
    }
}

/// gramⱼₖ += Σᵢ weightᵢ columnⱼᵢ columnₖᵢ for k ≤ j; the upper half is left alone. `weighted` is working space for one column.
///
/// # Panics
/// If the shapes do not fit.
pub fn accumulate_gram(columns: &[f64], weight: &[f64], gram: &mut [f64], weighted: &mut [f64]) {
    let n = weight.len();
    let d = columns.len() / n.max(1);
    assert_eq!(gram.len(), d * d, "a square Gram matrix");
    assert_eq!(weighted.len(), n, "working space for one column");
    Arch::new().dispatch(AccumulateGram { columns, weight, gram, weighted });
}

struct AccumulateGram<'a> {
    columns: &'a [f64],
    weight: &'a [f64],
    gram: &'a mut [f64],
    weighted: &'a mut [f64],
}

impl WithSimd for AccumulateGram<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { columns, weight, gram, weighted } = self;
        let n = weight.len();
        let d = columns.len() / n.max(1);
        for j in 0..d {
            for ((x, c), w) in weighted.iter_mut().zip(&columns[j * n..(j + 1) * n]).zip(weight) {
                *x = c * w;
            }
            for k in 0..=j {
                gram[j * d + k] += dot(weighted, &columns[k * n..(k + 1) * n]);
            }
        }
    }
}

#[inline(always)]
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (mut xs, mut ys) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    for (a, b) in (&mut xs).zip(&mut ys) {
        for lane in 0..LANES {
            lanes[lane] = a[lane].mul_add(b[lane], lanes[lane]);
        }
    }
    let mut tail = 0.0;
    for (a, b) in xs.remainder().iter().zip(ys.remainder()) {
        tail = a.mul_add(*b, tail);
    }
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] += lanes[lane + half];
        }
        half /= 2;
    }
    lanes[0] + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 37 rows and 7 columns of small integers: sums are exact, neither size is a multiple of a lane or of four.
    fn fixture() -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let columns = (0..7 * 37).map(|i| ((i * 29) % 23) as f64 - 9.0).collect();
        let weights = (0..7).map(|j| (j * j) as f64 - 5.0).collect();
        let y = (0..37).map(|i| ((i * 7) % 11) as f64 - 4.0).collect();
        (columns, weights, y)
    }

    #[test]
    fn combining_columns_is_the_weighted_sum() {
        let (columns, weights, _) = fixture();
        let mut q = vec![3.0; 37];
        combine(&columns, &weights, &mut q);
        for i in 0..37 {
            let expected: f64 = (0..7).map(|j| weights[j] * columns[j * 37 + i]).sum();
            assert_eq!(q[i], expected);
        }
    }

    #[test]
    fn accumulating_adds_the_products_to_what_was_there() {
        let (columns, _, y) = fixture();
        let mut sums: Vec<f64> = (0..7).map(f64::from).collect();
        accumulate(&columns, &y, &mut sums);
        for j in 0..7 {
            let expected: f64 = (0..37).map(|i| columns[j * 37 + i] * y[i]).sum();
            assert_eq!(sums[j], expected + j as f64);
        }
    }

    #[test]
    fn the_gram_matrix_is_weighted_and_lower() {
        let (columns, _, y) = fixture();
        let weight: Vec<f64> = y.iter().map(|x| x.abs()).collect();
        let mut gram = vec![2.0; 49];
        accumulate_gram(&columns, &weight, &mut gram, &mut vec![0.0; 37]);
        for j in 0..7 {
            for k in 0..7 {
                let sum: f64 = (0..37).map(|i| weight[i] * columns[j * 37 + i] * columns[k * 37 + i]).sum();
                let expected = if k <= j { sum + 2.0 } else { 2.0 };
                assert_eq!(gram[j * 7 + k], expected);
            }
        }
    }
}
