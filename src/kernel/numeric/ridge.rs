//! Penalised least squares on a Gram matrix: G + Λ factored once, solved for many right-hand sides.

use super::lanes::{LANES, Quad, Work, dispatch};

/// The Cholesky factor of G + diag(λ).
///
/// # Equation
/// ```text
/// β = argmin ‖y − Xβ‖² + Σⱼ λⱼ βⱼ² = (G + Λ)⁻¹ Xᵀy,   G = XᵀX,   G + Λ = L Lᵀ
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RidgeFactor {
    size: usize,
    /// L, row-major.
    lower: Vec<f64>,
    /// Lᵀ, row-major.
    upper: Vec<f64>,
}

impl RidgeFactor {
    /// Factors the lower half of `gram` (row-major, d × d) with `penalties` added to its diagonal; `None` when the sum is not
    /// positive definite to working precision.
    ///
    /// # Panics
    /// If `gram` is not a square of as many rows as there are penalties.
    pub fn new(gram: &[f64], penalties: &[f64]) -> Option<Self> {
        Self::up_to_dependence(gram, penalties).ok()
    }

    /// The same; otherwise the first column that depends on those before it to working precision.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn up_to_dependence(gram: &[f64], penalties: &[f64]) -> Result<Self, usize> {
        let d = penalties.len();
        assert_eq!(gram.len(), d * d, "a square matrix with a penalty for each row");
        let mut lower = gram.to_vec();
        dispatch(Factor { lower: &mut lower, penalties })?;
        let mut upper = Vec::with_capacity(d * d);
        for column in 0..d {
            upper.extend(lower.iter().skip(column).step_by(d));
        }
        Ok(Self { size: d, lower, upper })
    }

    /// d.
    pub fn size(&self) -> usize {
        self.size
    }

    /// b ← (G + Λ)⁻¹ b.
    ///
    /// # Panics
    /// If b has not d entries.
    pub fn solve_in_place(&self, b: &mut [f64]) {
        let d = self.size;
        assert_eq!(b.len(), d, "a right-hand side of the factor's size");
        self.half_solve_in_place(b);
        self.other_half_solve_in_place(b);
    }

    /// b ← L⁻ᵀ b.
    ///
    /// # Panics
    /// If b has not d entries.
    pub fn other_half_solve_in_place(&self, b: &mut [f64]) {
        let d = self.size;
        assert_eq!(b.len(), d, "a right-hand side of the factor's size");
        for i in (0..d).rev() {
            b[i] = (b[i] - dot(&self.upper[i * d + i + 1..(i + 1) * d], &b[i + 1..])) / self.upper[i * d + i];
        }
    }

    /// b ← L⁻¹ b, so that ‖b‖² becomes bᵀ(G + Λ)⁻¹b.
    ///
    /// # Panics
    /// If b has not d entries.
    pub fn half_solve_in_place(&self, b: &mut [f64]) {
        let d = self.size;
        assert_eq!(b.len(), d, "a right-hand side of the factor's size");
        for i in 0..d {
            b[i] = (b[i] - dot(&self.lower[i * d..i * d + i], &b[..i])) / self.lower[i * d + i];
        }
    }

    /// The diagonal of (G + Λ)⁻¹.
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        let d = self.size;
        let mut diagonal = vec![0.0; d];
        dispatch(InverseDiagonal { lower: &self.lower, diagonal: &mut diagonal });
        diagonal
    }
}

/// Rows of a factor, or columns of its inverse, that are computed side by side. Each depends on those before it, but not on its
/// neighbours: alone, a processor would wait for one sum before it can go on with the next.
const ABREAST: usize = 8;

/// Replaces the lower half of a matrix, with penalties added to its diagonal, by its Cholesky factor.
struct Factor<'a> {
    lower: &'a mut [f64],
    penalties: &'a [f64],
}

impl Work for Factor<'_> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn run<Q: Quad>(self, quad: Q) -> Result<(), usize> {
        let (d, mut first) = (self.penalties.len(), 0);
        while first + ABREAST <= d {
            factor_rows::<Q, ABREAST>(quad, self.lower, self.penalties, first)?;
            first += ABREAST;
        }
        (first..d).try_for_each(|row| factor_rows::<Q, 1>(quad, self.lower, self.penalties, row))
    }
}

/// Rows `first` to `first + R` of the factor, those above being known; the first column among them that depends on those before it.
#[inline(always)]
fn factor_rows<Q: Quad, const R: usize>(
    quad: Q,
    lower: &mut [f64],
    penalties: &[f64],
    first: usize,
) -> Result<(), usize> {
    let d = penalties.len();
    let (above, rest) = lower.split_at_mut(first * d);
    for j in 0..first {
        let (row, pivot) = (&above[j * d..j * d + j], above[j * d + j]);
        let known = dots::<Q, R>(quad, std::array::from_fn(|r| &rest[r * d..r * d + j]), [row; R]);
        for (r, known) in known.into_iter().enumerate() {
            rest[r * d + j] = (rest[r * d + j] - known) / pivot;
        }
    }
    for i in first..first + R {
        let (above, rest) = lower.split_at_mut(i * d);
        let row = &mut rest[..d];
        for j in first..i {
            let known = dot(&row[..j], &above[j * d..j * d + j]);
            row[j] = (row[j] - known) / above[j * d + j];
        }
        let diagonal = row[i] + penalties[i];
        let pivot = diagonal - dot(&row[..i], &row[..i]);
        // What is left of the pivot below this is rounding error of the subtraction.
        let independent = pivot > d as f64 * f64::EPSILON * diagonal;
        if !independent || !pivot.is_finite() {
            return Err(i);
        }
        row[i] = pivot.sqrt();
        row[i + 1..].fill(0.0);
    }
    Ok(())
}

/// The diagonal of (L Lᵀ)⁻¹.
struct InverseDiagonal<'a> {
    lower: &'a [f64],
    diagonal: &'a mut [f64],
}

impl Work for InverseDiagonal<'_> {
    type Output = ();

    #[inline(always)]
    fn run<Q: Quad>(self, quad: Q) {
        let (d, mut columns) = (self.diagonal.len(), vec![0.0; ABREAST * self.diagonal.len()]);
        let mut first = 0;
        while first + ABREAST <= d {
            inverse_columns::<Q, ABREAST>(quad, self.lower, self.diagonal, first, &mut columns);
            first += ABREAST;
        }
        for column in first..d {
            inverse_columns::<Q, 1>(quad, self.lower, self.diagonal, column, &mut columns);
        }
    }
}

/// Entries `first` to `first + R` of the diagonal: column k of L⁻¹ begins at k, and entry k of the diagonal is its squared length.
#[inline(always)]
fn inverse_columns<Q: Quad, const R: usize>(
    quad: Q,
    lower: &[f64],
    diagonal: &mut [f64],
    first: usize,
    columns: &mut [f64],
) {
    let d = diagonal.len();
    for r in 0..R {
        let (k, column) = (first + r, &mut columns[r * d..(r + 1) * d]);
        column[k] = 1.0 / lower[k * d + k];
        for i in k + 1..first + R {
            column[i] = -dot(&lower[i * d + k..i * d + i], &column[k..i]) / lower[i * d + i];
        }
    }
    for i in first + R..d {
        let rows: [&[f64]; R] = std::array::from_fn(|r| &lower[i * d + first + r..i * d + i]);
        let known = dots::<Q, R>(quad, rows, std::array::from_fn(|r| &columns[r * d + first + r..r * d + i]));
        for (r, known) in known.into_iter().enumerate() {
            columns[r * d + i] = -known / lower[i * d + i];
        }
    }
    for r in 0..R {
        let column = &columns[r * d + first + r..(r + 1) * d];
        diagonal[first + r] = dot(column, column);
    }
}

/// [`dot`] of R pairs, equal to it in every bit.
#[inline(always)]
fn dots<Q: Quad, const R: usize>(quad: Q, x: [&[f64]; R], y: [&[f64]; R]) -> [f64; R] {
    let common = x.iter().map(|x| x.len() / LANES).min().unwrap_or(0);
    let [xs, ys] = [x, y].map(|all| all.map(|x| &x.as_chunks::<LANES>().0[..common]));
    let mut sums = [quad.splat(0.0); R];
    for c in 0..common {
        for r in 0..R {
            sums[r] = quad.add(sums[r], quad.mul(quad.load(&xs[r][c]), quad.load(&ys[r][c])));
        }
    }
    std::array::from_fn(|r| finish(quad.store(sums[r]), &x[r][common * LANES..], &y[r][common * LANES..]))
}

/// Σ xᵢyᵢ in four running sums, which the processor adds side by side.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    finish([0.0; LANES], x, y)
}

/// The same, where the running sums have begun.
#[inline(always)]
fn finish(mut sums: [f64; LANES], x: &[f64], y: &[f64]) -> f64 {
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    for (x, y) in x.iter().zip(y) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::small;

    /// Seven features of nine rows, and unequal penalties.
    fn example() -> (Vec<f64>, Vec<f64>, usize) {
        let d = 7;
        let x: Vec<f64> = (0..9 * d).map(|i| (1.7 * i as f64).sin() + if i % d == 0 { 1.0 } else { 0.0 }).collect();
        let mut gram = vec![0.0; d * d];
        for row in x.chunks_exact(d) {
            for i in 0..d {
                for j in 0..d {
                    gram[i * d + j] += row[i] * row[j];
                }
            }
        }
        (gram, (0..d).map(|j| 0.1 + 0.3 * j as f64).collect(), d)
    }

    #[test]
    fn solutions_inverse_and_determinant_are_those_of_gaussian_elimination() {
        let (gram, penalties, d) = example();
        let factor = RidgeFactor::new(&gram, &penalties).unwrap();
        let mut full = gram;
        (0..d).for_each(|j| full[j * d + j] += penalties[j]);
        let b: Vec<f64> = (0..d).map(|j| (j as f64).cos()).collect();
        let mut x = b.clone();
        factor.solve_in_place(&mut x);
        let expected = small::solve(&full, &b).unwrap();
        let inverse = small::inverse(&full, d).unwrap();
        let diagonal = factor.inverse_diagonal();
        for j in 0..d {
            assert!((x[j] - expected[j]).abs() < 1e-12);
            assert!((diagonal[j] - inverse[j * d + j]).abs() < 1e-12);
        }
        let mut half = b.clone();
        factor.half_solve_in_place(&mut half);
        assert!((small::dot(&half, &half) - small::dot(&b, &expected)).abs() < 1e-12);
    }

    #[test]
    fn a_repeated_column_needs_a_penalty() {
        let gram = [4.0, 4.0, 4.0, 4.0];
        assert!(RidgeFactor::new(&gram, &[0.0, 0.0]).is_none());
        let mut b = [2.0, 2.0];
        RidgeFactor::new(&gram, &[1.0, 1.0]).unwrap().solve_in_place(&mut b);
        assert!(b.iter().all(|x| (x - 2.0 / 9.0).abs() < 1e-15));
    }

    #[test]
    fn rows_and_columns_abreast_are_equal_in_every_bit_to_one_after_another() {
        // Two full groups and three rows over, with lengths on and off whole vectors.
        let d = 2 * ABREAST + 3;
        let x: Vec<f64> = (0..(d + 4) * d).map(|i| (1.3 * i as f64).sin() + f64::from(u8::from(i % d == 2))).collect();
        let mut gram = vec![0.0; d * d];
        for row in x.chunks_exact(d) {
            (0..d * d).for_each(|at| gram[at] += row[at / d] * row[at % d]);
        }
        let penalties: Vec<f64> = (0..d).map(|j| 0.01 * j as f64).collect();
        let factor = RidgeFactor::new(&gram, &penalties).unwrap();
        let mut alone = gram.clone();
        let portable = crate::numeric::lanes::Portable;
        (0..d).for_each(|row| factor_rows::<_, 1>(portable, &mut alone, &penalties, row).unwrap());
        assert_eq!(factor.lower, alone);
        assert!((0..d * d).all(|at| factor.upper[at] == alone[at % d * d + at / d]));
        let mut column = vec![0.0; d];
        let inverse: Vec<f64> = (0..d)
            .map(|k| {
                column[k] = 1.0 / alone[k * d + k];
                for i in k + 1..d {
                    column[i] = -dot(&alone[i * d + k..i * d + i], &column[k..i]) / alone[i * d + i];
                }
                dot(&column[k..], &column[k..])
            })
            .collect();
        assert_eq!(factor.inverse_diagonal(), inverse);
        // A matrix that fails in the middle of a group has no factor.
        gram[(ABREAST + 2) * d + ABREAST + 2] = -1.0;
        assert_eq!(RidgeFactor::up_to_dependence(&gram, &penalties), Err(ABREAST + 2));
    }
}
