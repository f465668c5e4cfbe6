//! Least squares in cells that lend each other strength.

use crate::kernel::numeric::RidgeFactor;

/// One regression per cell, each drawn towards their common centre with the weight of a few rows.
///
/// # Equation
/// ```text
/// min_{w, m} Σ_c [ Σ_{i ∈ c} vᵢ (yᵢ − φᵢᵀw_c)² + λ ‖w_c − m‖² ] + (λ/10) ‖m − m₀e₀‖²
/// ```
/// where m₀ is the centre's intercept, which is not penalised. With the columns of φ on a scale of 1, λ is the number of rows that
/// the centre counts for in each direction: nothing where a cell has hundreds, and what keeps a cell of five from
/// extrapolating. Given m the cells part, so that all costs are those of q × q matrices.
#[derive(Debug, Clone)]
pub(super) struct PooledRidge {
    prior: f64,
    /// Of G_c + λI.
    cells: Vec<RidgeFactor>,
    /// Of what remains for the centre.
    centre: RidgeFactor,
}

impl PooledRidge {
    /// Factors cells of Σ vφφᵀ, q × q each, lower halves.
    pub fn new(grams: &[f64], q: usize, prior: f64) -> Self {
        let mut centre = vec![0.0; q * q];
        let mut unit = vec![0.0; q];
        let definite = |gram: &[f64]| {
            RidgeFactor::new(gram, &vec![prior; q])
                .expect("a Gram matrix of finite features with a positive prior is definite")
        };
        let cells: Vec<RidgeFactor> = grams.chunks_exact(q * q).map(definite).collect();
        for cell in &cells {
            for j in 0..q {
                unit.fill(0.0);
                unit[j] = 1.0;
                cell.solve_in_place(&mut unit);
                for (i, x) in unit.iter().enumerate().skip(j) {
                    centre[i * q + j] += prior * (f64::from(u8::from(i == j)) - prior * x);
                }
            }
        }
        let mut own = vec![prior / 10.0; q];
        own[0] = prior * f64::EPSILON;
        let centre = RidgeFactor::new(&centre, &own).expect("the centre of cells with a positive prior is definite");
        Self { prior, cells, centre }
    }

    /// Σ vφy per cell ← the weights of each cell.
    pub fn solve_in_place(&self, moments: &mut [f64]) {
        let (q, λ) = (self.centre.size(), self.prior);
        let mut centre = vec![0.0; q];
        let mut alone = vec![0.0; q];
        for (cell, b) in self.cells.iter().zip(moments.chunks_exact(q)) {
            alone.copy_from_slice(b);
            cell.solve_in_place(&mut alone);
            centre.iter_mut().zip(&alone).for_each(|(m, x)| *m += λ * x);
        }
        self.centre.solve_in_place(&mut centre);
        for (cell, b) in self.cells.iter().zip(moments.chunks_exact_mut(q)) {
            b.iter_mut().zip(&centre).for_each(|(b, m)| *b += λ * m);
            cell.solve_in_place(b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows (cell, x, v, y) of two cells, the second with one row only.
    const ROWS: [(usize, f64, f64, f64); 5] =
        [(0, -1.0, 1.0, 0.4), (0, 0.3, 2.0, 1.0), (0, 1.2, 1.0, 3.1), (0, 2.0, 0.5, 2.2), (1, 0.6, 1.5, -0.7)];

    fn fit(prior: f64, cells: usize) -> Vec<f64> {
        let (mut grams, mut moments) = (vec![0.0; cells * 4], vec![0.0; cells * 2]);
        for (cell, x, v, y) in ROWS {
            for (at, entry) in [(0, 1.0), (2, x), (3, x * x)] {
                grams[cell * 4 + at] += v * entry;
            }
            moments[cell * 2] += v * y;
            moments[cell * 2 + 1] += v * x * y;
        }
        PooledRidge::new(&grams, 2, prior).solve_in_place(&mut moments);
        moments
    }

    #[test]
    fn the_weights_are_where_the_penalised_sum_of_squares_is_flat() {
        let λ = 0.7;
        let w = fit(λ, 3);
        let objective = |w: &[f64], m: &[f64]| {
            let squares: f64 = ROWS.iter().map(|&(c, x, v, y)| v * (y - w[2 * c] - w[2 * c + 1] * x).powi(2)).sum();
            let apart: f64 = w.chunks_exact(2).map(|w| (w[0] - m[0]).powi(2) + (w[1] - m[1]).powi(2)).sum();
            squares + λ * apart + λ / 10.0 * m[1] * m[1]
        };
        // A cell without rows stands at the centre.
        let m = w[4..].to_vec();
        let best = objective(&w, &m);
        for j in 0..8 {
            for step in [-1e-3, 1e-3] {
                let (mut w, mut m) = (w.clone(), m.clone());
                *(if j < 6 { &mut w[j] } else { &mut m[j - 6] }) += step;
                assert!(objective(&w, &m) > best, "coordinate {j}, step {step}");
            }
        }
    }

    #[test]
    fn with_many_rows_or_a_small_prior_cells_are_on_their_own() {
        let w = fit(1e-9, 2);
        // Weighted least squares of the first four rows by hand: Σv = 4.5, Σvx = 1.8, Σvx² = 4.62, Σvy = 6.6, Σvxy = 6.12.
        let det = 4.5 * 4.62 - 1.8 * 1.8;
        let expected = [(4.62 * 6.6 - 1.8 * 6.12) / det, (4.5 * 6.12 - 1.8 * 6.6) / det];
        assert!((w[0] - expected[0]).abs() < 1e-6 && (w[1] - expected[1]).abs() < 1e-6, "{w:?} and {expected:?}");
    }
}
