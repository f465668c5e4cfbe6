//! A pair solved twice, coarsely and finely: the second for the value, the difference for its error.

use super::Bounded;
use super::means::Means;
use super::pair::Pair;
use super::solve::{Resolution, Solution};

/// A solution with the value at the first step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Resolved {
    pub solution: Solution,
    pub value: Bounded,
}

/// Coarse and fine resolution. The fine one is finer in every respect, so that no source of error is common to both.
///
/// A kink that noise has smoothed needs, on a panel of half-width h with n points, an error of about 2 (h/2)ⁿ/√n!. Along d the
/// boundary between the actions moves by 0.1 per unit in the linear world, so panels there may be wide.
fn resolutions(means: &Means) -> [Resolution; 2] {
    match means {
        Means::Linear(_) => [
            Resolution { reach: 6.0, m: (3.0, 16), d: (10.0, 12), line: (1.5, 10) },
            Resolution { reach: 7.0, m: (3.0, 20), d: (8.0, 14), line: (1.5, 12) },
        ],
        Means::Nonlinear(_) => [
            Resolution { reach: 6.0, m: (2.0, 12), d: (2.0, 12), line: (1.5, 10) },
            Resolution { reach: 7.0, m: (2.0, 16), d: (2.0, 16), line: (1.5, 12) },
        ],
    }
}

impl Resolved {
    pub fn new(pair: Pair) -> Self {
        let [coarse, fine] = resolutions(&pair.means);
        let first = pair.initial();
        let coarse = Solution::new(pair.clone(), &coarse, |_| 0.0);
        let solution = Solution::new(pair, &fine, |means| coarse.at(means));
        let value = bounded(solution.value(first), coarse.value(first), solution.residual, solution.pair.discount);
        Self { solution, value }
    }
}

/// Rounding of sums of some hundred terms, relative to the value.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// The fine value with the error |fine − coarse| + residual/(1 − γ) + rounding: what the coarser solution is off by, what the
/// iteration has left, and what arithmetic loses.
fn bounded(fine: f64, coarse: f64, residual: f64, discount: f64) -> Bounded {
    Bounded { value: fine, error: (fine - coarse).abs() + residual / (1.0 - discount) + ROUNDING * fine.abs() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::optimum::PaperWorld;

    #[test]
    fn the_error_adds_up_resolution_iteration_and_rounding() {
        assert_eq!(bounded(0.0, 0.25, 0.0, 0.75), Bounded { value: 0.0, error: 0.25 });
        assert_eq!(bounded(0.0, 0.0, 0.25, 0.75), Bounded { value: 0.0, error: 1.0 });
        assert_eq!(bounded(-2.0, -2.0, 0.0, 0.75), Bounded { value: -2.0, error: 32.0 * f64::EPSILON });
        assert_eq!(bounded(0.5, 0.25, 0.25, 0.75).error, 0.25 + 1.0 + 8.0 * f64::EPSILON);
    }

    #[test]
    fn the_error_covers_what_a_much_finer_solution_changes() {
        let finest = |world| match world {
            PaperWorld::Linear => Resolution { reach: 8.0, m: (2.0, 20), d: (4.0, 14), line: (1.2, 16) },
            PaperWorld::Nonlinear => Resolution { reach: 8.0, m: (1.0, 14), d: (1.0, 14), line: (1.0, 16) },
        };
        for (world, delta, discount) in [
            (PaperWorld::Linear, 0.6, 0.9),
            (PaperWorld::Linear, -1.1, 0.7),
            (PaperWorld::Nonlinear, 1.4, 0.95),
            (PaperWorld::Nonlinear, -0.7, 0.8),
        ] {
            let pair = Pair::new(world, delta, [0, 1], discount);
            let finest = Solution::new(pair.clone(), &finest(world), |_| 0.0).value(pair.initial());
            let Bounded { value, error } = Resolved::new(pair).value;
            assert!((value - finest).abs() <= error, "{world:?} {delta}: {value} ± {error:e}, not {finest}");
            assert!(error < 1e-8, "{world:?} {delta}: error {error:e}");
        }
    }
}
