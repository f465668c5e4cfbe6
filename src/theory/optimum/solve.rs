//! The Bellman equation of a pair on a grid of means, solved by policy iteration.

use super::axis::Axis;
use super::gmres::gmres;
use super::greedy::GreedyOperator;
use super::grid::Grid;
use super::line::{Choice, choices};
use super::pair::Pair;
use super::region::region;
use crate::kernel::numeric::quadrature::{Rule, gauss_legendre, normal_pdf};

/// How finely H is held and integrated. Panels are given by their greatest width and their number of points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Resolution {
    /// Standard deviations of gathered noise around the means reached without noise.
    pub reach: f64,
    /// Chebyshev panels along m.
    pub m: (f64, usize),
    /// Chebyshev panels along d.
    pub d: (f64, usize),
    /// Gauss–Legendre panels along a line of noise.
    pub line: (f64, usize),
}

/// Noise beyond this many standard deviations has mass 2e-17.
pub(super) const NOISE_REACH: f64 = 8.5;

/// A residual of a few roundings of the largest value is as good as zero; ten are seen on the largest grids.
const SETTLED: f64 = 100.0 * f64::EPSILON;

/// Policy iteration converges quadratically, in five or six rounds; past a dozen only rounding moves.
const ROUNDS: usize = 12;

/// Relative accuracy of a round's linear solve, which leaves the rounds to square their error down to it.
const ROUND_TOLERANCE: f64 = 1e-5;

/// Dimensions of Krylov space in a round; under twenty are used at γ = 0.9.
const KRYLOV: usize = 80;

/// H at the points of a grid.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Solution {
    pub pair: Pair,
    pub grid: Grid,
    pub values: Vec<f64>,
    rule: Rule,
    line_panel: f64,
    /// max |T H − H| over the grid, T the right-hand side of the Bellman equation.
    pub residual: f64,
}

impl Solution {
    /// Policy iteration from the function `guess` of means.
    ///
    /// # Equation
    /// ```text
    /// H ← H + (I − γ P_π)⁻¹ (T H − H),   π greedy for H,
    /// ```
    /// which is Newton's method on T H − H = 0, and which needs each linear system only to the accuracy of a round.
    pub fn new(pair: Pair, at: &Resolution, guess: impl Fn([f64; 2]) -> f64) -> Self {
        let [m, d] = region(&pair, at.reach);
        let grid = Grid { m: Axis::new(m[0], m[1], at.m.0, at.m.1), d: Axis::new(d[0], d[1], at.d.0, at.d.1) };
        let values = (0..grid.len()).map(|index| guess(grid.place(index))).collect();
        let rule = gauss_legendre(at.line.1);
        let mut solution = Self { pair, grid, values, rule, line_panel: at.line.0, residual: f64::INFINITY };
        for _ in 0..ROUNDS {
            let greedy = GreedyOperator::new(&solution);
            let defect: Vec<f64> = greedy.values.iter().zip(&solution.values).map(|(th, h)| th - h).collect();
            solution.residual = largest(&defect);
            if solution.residual <= SETTLED * largest(&solution.values).max(1.0) {
                break;
            }
            let step = gmres(&defect, ROUND_TOLERANCE, KRYLOV, |x, y| greedy.apply(&solution, x, y));
            solution.values.iter_mut().zip(&step).for_each(|(h, step)| *h += step);
        }
        solution
    }

    /// H at the means (m, d).
    pub fn at(&self, means: [f64; 2]) -> f64 {
        self.grid.value(&self.values, means)
    }

    /// r(s, d, a) + γ H(means after a) for both actions: Q less the affine part.
    fn remainder(&self, s: f64, d: f64) -> [f64; 2] {
        [0, 1].map(|a| {
            let (next, reward) = self.pair.step(s, d, a);
            reward + self.pair.discount * self.at(next)
        })
    }

    /// Q(s, d, ·).
    pub fn q(&self, s: f64, d: f64) -> [f64; 2] {
        self.remainder(s, d).map(|q| q + self.pair.affine(s, d))
    }

    /// Quadrature points, each with its better action, for states at difference `d` whose mean is between `low` and `high`.
    pub fn line(&self, low: f64, high: f64, d: f64) -> Vec<Choice> {
        let (low, high) = (low - NOISE_REACH, high + NOISE_REACH);
        let panels = ((high - low) / self.line_panel).ceil();
        let breaks: Vec<f64> = (0..=panels as usize).map(|i| low + (high - low) * i as f64 / panels).collect();
        choices(&breaks, &self.rule, |s| self.remainder(s, d))
    }

    /// G at the means (m, d), by one more application of the Bellman equation: (m, d) may lie outside the grid.
    pub fn value(&self, [m, d]: [f64; 2]) -> f64 {
        let rest: f64 = self.line(m, m, d).iter().map(|c| c.weight * normal_pdf(c.s - m) * c.value).sum();
        self.pair.affine(m, d) + rest
    }
}

/// max |x|.
fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::optimum::PaperWorld;

    const ROUGH: Resolution = Resolution { reach: 4.0, m: (3.0, 8), d: (6.0, 6), line: (1.5, 8) };

    #[test]
    fn policy_iteration_ends_at_rounding_error() {
        for world in [PaperWorld::Linear, PaperWorld::Nonlinear] {
            let solution = Solution::new(Pair::new(world, 0.7, [0, 1], 0.8), &ROUGH, |_| 0.0);
            assert!(solution.residual <= SETTLED * largest(&solution.values).max(1.0), "{:e}", solution.residual);
        }
    }

    #[test]
    fn the_solution_does_not_depend_on_the_guess() {
        let solve = |guess: fn([f64; 2]) -> f64| {
            let pair = Pair::new(PaperWorld::Linear, 0.7, [0, 1], 0.8);
            Solution::new(pair, &ROUGH, guess).value([-0.3, 0.7])
        };
        // Residuals of 100 ε on values of size 10 grow by 1/(1 − γ) = 5 at most.
        assert!((solve(|_| 0.0) - solve(|[m, d]| 3.0 - m * d)).abs() < 1e-11);
    }

    #[test]
    fn values_do_not_change_when_a_state_is_integrated_in_a_longer_line() {
        let pair = Pair::new(PaperWorld::Nonlinear, 0.7, [0, 1], 0.8);
        let solution = Solution::new(pair, &ROUGH, |_| 0.0);
        let [m, d] = [-0.6, 0.9];
        let long: f64 =
            solution.line(m - 1.0, m + 2.0, d).iter().map(|c| c.weight * normal_pdf(c.s - m) * c.value).sum();
        // Eight Gauss points on panels of 1.5 integrate the density to about 1e-8.
        assert!((long - solution.value([m, d])).abs() < 1e-7);
        let line = solution.line(m, m, d);
        assert!(line[0].s > m - NOISE_REACH && line[0].s < m - NOISE_REACH + 0.1);
        // Twelve panels of at most 1.5, one of them cut where the better action changes.
        assert_eq!(line.len(), 13 * 8);
        assert!((line.iter().map(|c| c.weight).sum::<f64>() - 2.0 * NOISE_REACH).abs() < 1e-12);
    }
}
