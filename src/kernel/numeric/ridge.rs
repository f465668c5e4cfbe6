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
        penalties.iter().enumerate().for_each(|(j, penalty)| lower[j * d + j] += penalty);
        // What is left of a pivot below this is rounding error of the subtraction.
        dispatch(Eliminate { lower: &mut lower, size: d, pivots: d, least: d as f64 * f64::EPSILON })?;
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

/// A symmetric matrix whose first columns were eliminated.
///
/// # Equation
/// ```text
/// ⎡A  Bᵀ⎤   ⎡L  0⎤ ⎡Lᵀ  Vᵀ⎤
/// ⎣B  C ⎦ = ⎣V  I⎦ ⎣0   S ⎦,   V = B L⁻ᵀ,   S = C − VVᵀ = C − B A⁻¹ Bᵀ
/// ```
/// With right-hand sides as the last rows it solves a system in two parts: S is what is left to solve once the first unknowns are expressed by
/// the others, and [`substitute`](Self::substitute) finds these afterwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Eliminated {
    size: usize,
    pivots: usize,
    lower: Vec<f64>,
}

impl Eliminated {
    /// Eliminates the first `pivots` columns of a matrix of which the lower half is read (row-major, square); `None` when less than the share
    /// `least` of some column's square is left once those before it are known.
    ///
    /// # Panics
    /// If the matrix is no square of at least `pivots` rows.
    pub fn new(mut lower: Vec<f64>, pivots: usize, least: f64) -> Option<Self> {
        let size = lower.len().isqrt();
        assert!(size * size == lower.len() && pivots <= size, "a square matrix of at least {pivots} rows");
        dispatch(Eliminate { lower: &mut lower, size, pivots, least }).ok()?;
        Some(Self { size, pivots, lower })
    }

    /// Row i of S as far as its diagonal.
    pub fn rest(&self, i: usize) -> &[f64] {
        let start = (self.pivots + i) * self.size + self.pivots;
        &self.lower[start..=start + i]
    }

    /// The eliminated unknowns x of the right-hand side in row `right` of S, where the first of the others are known.
    ///
    /// # Equation
    /// ```text
    /// Lᵀ x = v_right − Σⱼ knownⱼ vⱼ
    /// ```
    pub fn substitute(&self, right: usize, known: &[f64]) -> Vec<f64> {
        let row = |i: usize| &self.lower[i * self.size..i * self.size + self.pivots];
        let mut x = row(self.pivots + right).to_vec();
        for (j, known) in known.iter().enumerate() {
            x.iter_mut().zip(row(self.pivots + j)).for_each(|(x, v)| *x -= known * v);
        }
        for i in (0..self.pivots).rev() {
            x[i] /= row(i)[i];
            let (before, own) = x.split_at_mut(i);
            before.iter_mut().zip(row(i)).for_each(|(x, l)| *x -= own[0] * l);
        }
        x
    }
}

/// Rows of a factor, or columns of its inverse, that are computed side by side. Each depends on those before it, but not on its
/// neighbours: alone, a processor would wait for one sum before it can go on with the next.
const ABREAST: usize = 8;

/// Replaces the lower half of a matrix by its Cholesky factor as far as `pivots` goes: see [`Eliminated`].
struct Eliminate<'a> {
    lower: &'a mut [f64],
    size: usize,
    pivots: usize,
    /// The least share of a column's square that must be left of it.
    least: f64,
}

impl Work for Eliminate<'_> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn run<Q: Quad>(self, quad: Q) -> Result<(), usize> {
        let Self { lower, size, pivots, least } = self;
        let mut first = 0;
        while first + ABREAST <= pivots {
            factor_rows::<Q, ABREAST>(quad, lower, size, first, least)?;
            first += ABREAST;
        }
        (first..pivots).try_for_each(|row| factor_rows::<Q, 1>(quad, lower, size, row, least))?;
        first = pivots;
        while first + ABREAST <= size {
            reduce_rows::<Q, ABREAST>(quad, lower, size, first, pivots);
            first += ABREAST;
        }
        (first..size).for_each(|row| reduce_rows::<Q, 1>(quad, lower, size, row, pivots));
        Ok(())
    }
}

/// Rows `first` to `first + R` of the factor, those above being known; the first column among them that depends on those before it.
#[inline(always)]
fn factor_rows<Q: Quad, const R: usize>(
    quad: Q,
    lower: &mut [f64],
    d: usize,
    first: usize,
    least: f64,
) -> Result<(), usize> {
    solve_rows::<Q, R>(quad, lower, d, first, first);
    for i in first..first + R {
        let (above, rest) = lower.split_at_mut(i * d);
        let row = &mut rest[..d];
        for j in first..i {
            let known = dot(&row[..j], &above[j * d..j * d + j]);
            row[j] = (row[j] - known) / above[j * d + j];
        }
        let diagonal = row[i];
        let pivot = diagonal - dot(&row[..i], &row[..i]);
        let independent = pivot > least * diagonal;
        if !independent || !pivot.is_finite() {
            return Err(i);
        }
        row[i] = pivot.sqrt();
        row[i + 1..].fill(0.0);
    }
    Ok(())
}

/// Rows `first` to `first + R` below the factor's: V = B L⁻ᵀ, and C − VVᵀ as far as the diagonal.
#[inline(always)]
fn reduce_rows<Q: Quad, const R: usize>(quad: Q, lower: &mut [f64], d: usize, first: usize, pivots: usize) {
    solve_rows::<Q, R>(quad, lower, d, first, pivots);
    let (above, rest) = lower.split_at_mut(first * d);
    for j in pivots..first {
        let row = &above[j * d..j * d + pivots];
        let known = dots::<Q, R>(quad, std::array::from_fn(|r| &rest[r * d..r * d + pivots]), [row; R]);
        known.into_iter().enumerate().for_each(|(r, known)| rest[r * d + j] -= known);
    }
    for r in 0..R {
        for q in 0..=r {
            rest[r * d + first + q] -= dot(&rest[r * d..r * d + pivots], &rest[q * d..q * d + pivots]);
        }
    }
}

/// The first `columns` entries of rows `first` to `first + R`, from those of the factor's rows above.
#[inline(always)]
fn solve_rows<Q: Quad, const R: usize>(quad: Q, lower: &mut [f64], d: usize, first: usize, columns: usize) {
    let (above, rest) = lower.split_at_mut(first * d);
    for j in 0..columns {
        let (row, pivot) = (&above[j * d..j * d + j], above[j * d + j]);
        let known = dots::<Q, R>(quad, std::array::from_fn(|r| &rest[r * d..r * d + j]), [row; R]);
        for (r, known) in known.into_iter().enumerate() {
            rest[r * d + j] = (rest[r * d + j] - known) / pivot;
        }
    }
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
#[inline]
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
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
        (0..d).for_each(|j| alone[j * d + j] += penalties[j]);
        let least = d as f64 * f64::EPSILON;
        (0..d).for_each(|row| factor_rows::<_, 1>(portable, &mut alone, d, row, least).unwrap());
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

    /// 21 unknowns of which 11 are eliminated, and 9 right-hand sides: whole groups of rows and some over, above and below.
    #[test]
    fn a_system_in_two_parts_has_the_solution_of_the_whole() {
        let (d, pivots, rights) = (21, 11, 9);
        let x: Vec<f64> = (0..40 * d).map(|i| (1.3 * i as f64).sin() + 0.1 * (0.7 * (i * i) as f64).cos()).collect();
        let mut gram = vec![0.0; d * d];
        for row in x.chunks_exact(d) {
            (0..d * d).for_each(|at| gram[at] += row[at / d] * row[at % d]);
        }
        let right = |k: usize, j: usize| (0.4 * k as f64 + 1.1 * j as f64).cos();
        let size = d + rights;
        let mut lower = vec![0.0; size * size];
        (0..d * d).for_each(|at| lower[at / d * size + at % d] = gram[at]);
        (0..rights * d).for_each(|at| lower[(d + at / d) * size + at % d] = right(at / d, at % d));
        let first = Eliminated::new(lower, pivots, 1e-12).unwrap();
        let left = size - pivots;
        let mut rest = vec![0.0; left * left];
        (0..left).for_each(|i| rest[i * left..=i * left + i].copy_from_slice(first.rest(i)));
        let second = Eliminated::new(rest, d - pivots, 1e-12).unwrap();
        for k in 0..rights {
            let b: Vec<f64> = (0..d).map(|j| right(k, j)).collect();
            let expected = small::solve(&gram, &b).unwrap();
            let last = second.substitute(k, &[]);
            let found = [first.substitute(d - pivots + k, &last), last].concat();
            for (x, y) in found.iter().zip(&expected) {
                assert!((x - y).abs() < 1e-10, "{x} and {y}");
            }
            // −bᵀG⁻¹b stands on the diagonal of what is left.
            assert!((second.rest(k)[k] + small::dot(&b, &expected)).abs() < 1e-10);
        }
    }

    #[test]
    fn a_column_of_which_too_little_is_left_is_not_eliminated() {
        // Of the second column the share 1 − 0.8² = 0.36 is left.
        let matrix = vec![1.0, 0.0, 0.8, 1.0];
        assert!(Eliminated::new(matrix.clone(), 2, 0.35).is_some());
        assert!(Eliminated::new(matrix.clone(), 2, 0.37).is_none());
        assert!(Eliminated::new(matrix, 1, 0.37).is_some());
    }
}
