//! The greedy policy of a solution, as a linear operator on functions of the means.

use super::solve::{NOISE_REACH, Solution};
use crate::kernel::numeric::quadrature::normal_pdf;

/// T H and the operator (P x)(m, d) = E x(means after π(s, d) in (s, d)), s = m + U, for the greedy π of H.
///
/// All grid points with the same d share one line of noise: its points, cut where π changes, serve each of them with
/// other Gaussian weights.
pub(super) struct GreedyOperator {
    /// T H on the grid.
    pub values: Vec<f64>,
    /// Line j has the points `ends[j]..ends[j + 1]`.
    ends: Vec<usize>,
    /// Where the means after each point fall in the grid: the first value of the panel, and the interpolation weights.
    firsts: Vec<usize>,
    stencils: Vec<f64>,
    /// For each grid point, the first point of its line within reach of the noise and the weights from there on.
    noise: Vec<(usize, Vec<f64>)>,
}

impl GreedyOperator {
    pub fn new(of: &Solution) -> Self {
        let (grid, pair) = (&of.grid, &of.pair);
        let places: Vec<f64> = (0..grid.m.len()).map(|column| grid.m.point(column)).collect();
        let mut greedy =
            Self { values: Vec::new(), ends: vec![0], firsts: Vec::new(), stencils: Vec::new(), noise: Vec::new() };
        for row in 0..grid.d.len() {
            let d = grid.d.point(row);
            let line = of.line(places[0], places[places.len() - 1], d);
            for m in &places {
                let first = line.partition_point(|c| c.s < m - NOISE_REACH);
                let within = line[first..].iter().take_while(|c| c.s <= m + NOISE_REACH);
                let weights: Vec<f64> = within.map(|c| c.weight * normal_pdf(c.s - m)).collect();
                greedy.values.push(line[first..].iter().zip(&weights).map(|(c, w)| w * c.value).sum());
                greedy.noise.push((first, weights));
            }
            for c in &line {
                let start = greedy.stencils.len();
                greedy.stencils.resize(start + grid.stencil_len(), 0.0);
                let (next, _) = pair.transition(c.s, d, c.action);
                greedy.firsts.push(grid.stencil(next, &mut greedy.stencils[start..]));
            }
            greedy.ends.push(greedy.firsts.len());
        }
        greedy
    }

    /// Writes γ P x into `y`.
    pub fn apply(&self, of: &Solution, x: &[f64], y: &mut [f64]) {
        let (grid, width, columns) = (&of.grid, of.grid.stencil_len(), of.grid.m.len());
        let mut along = Vec::new();
        for (row, ends) in self.ends.windows(2).enumerate() {
            let stencils = self.stencils[ends[0] * width..].chunks_exact(width);
            let places = self.firsts[ends[0]..ends[1]].iter().zip(stencils);
            along.clear();
            along.extend(places.map(|(&first, weights)| grid.interpolate(x, first, weights)));
            let nodes = row * columns..(row + 1) * columns;
            for (y, (first, weights)) in y[nodes.clone()].iter_mut().zip(&self.noise[nodes]) {
                *y = of.pair.discount * along[*first..].iter().zip(weights).map(|(x, w)| x * w).sum::<f64>();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::optimum::PaperWorld;
    use crate::theory::optimum::pair::Pair;
    use crate::theory::optimum::solve::Resolution;

    fn rough() -> Solution {
        let at = Resolution { reach: 4.0, m: (3.0, 8), d: (6.0, 6), line: (1.5, 12) };
        Solution::new(Pair::new(PaperWorld::Linear, 0.7, [0, 1], 0.8), &at, |_| 0.0)
    }

    #[test]
    fn a_constant_is_discounted_and_nothing_else() {
        let solution = rough();
        let greedy = GreedyOperator::new(&solution);
        let (ones, mut image) = (vec![1.0; solution.values.len()], vec![0.0; solution.values.len()]);
        greedy.apply(&solution, &ones, &mut image);
        // Twelve Gauss points on panels of 1.5 integrate the density to about 1e-12.
        assert!(image.iter().all(|y| (y - 0.8).abs() < 1e-11));
    }

    #[test]
    fn the_operator_carries_the_greedy_policy_of_the_solution() {
        // T is piecewise affine in H: T(H + εx) − T(H) = ε γ P x + O(ε²) with P of the greedy policy.
        let mut solution = rough();
        let greedy = GreedyOperator::new(&solution);
        let x: Vec<f64> = (0..solution.values.len()).map(|i| (0.01 * i as f64).sin()).collect();
        let mut expected = vec![0.0; x.len()];
        greedy.apply(&solution, &x, &mut expected);
        let ε = 1e-6;
        solution.values.iter_mut().zip(&x).for_each(|(h, x)| *h += ε * x);
        let moved = GreedyOperator::new(&solution);
        for ((before, after), expected) in greedy.values.iter().zip(&moved.values).zip(&expected) {
            assert!(((after - before) / ε - expected).abs() < 1e-5);
        }
    }
}
