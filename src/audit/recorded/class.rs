//! Which functions of a history stand for action values: as rich as the rows can carry.

use super::followed::Followed;
use crate::kernel::numeric::{Monomials, column_moments};
use serde::Serialize;

/// The functions that stand for the action values of one policy, a set of them for each level and action.
///
/// The action value of a policy that reads (s, z) is a function of (s, z). One that reads the states of all levels has a value that
/// depends on them too: how far ŝᵏ is from ŝᶻ = s depends on the actions so far, and with it what the policy will do. For
/// such a policy the differences dₖ = ŝᵏ⁺¹ − ŝᵏ stand beside s: together they determine every ŝᵏ, and none of them is
/// a copy of s, as ŝᶻ would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FunctionClass {
    /// Total degree of the polynomials in the state.
    pub state_degree: usize,
    /// How the differences between worlds enter, if they do.
    pub differences: Differences,
    /// Coefficients for each pair of level and action.
    pub coefficients: usize,
}

/// How the differences between the worlds' states enter an action value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Differences {
    /// They do not: the policy does not read them, or there are too few rows.
    Absent,
    /// Linearly, beside the polynomial in the state.
    Linear,
    /// Linearly and times each coordinate of the state.
    Products,
    /// As further coordinates of the polynomial.
    Joint,
}

/// What the caller wants of a class.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Asked {
    /// The highest total degree in the state.
    pub degree: Option<usize>,
    /// How differences enter.
    pub differences: Option<Differences>,
}

/// Rows per coefficient below which a class is too rich. Cells lend each other strength, so few are enough; at 15 three levels with three
/// actions at N = 100, T = 4 were left with constants, and 28 to 42 % of the intervals of learned policies missed.
const ROWS_PER_COEFFICIENT: usize = 5;

/// Rows per coefficient from which cubic terms pay: in the paper's non-linear world (N = 2000, T = 8) they brought the mean error of a rule's value
/// from 0.055 to 0.023, of a half-width of 0.18.
const ROWS_PER_CUBIC_COEFFICIENT: usize = 60;

/// Rows per coefficient from which squares of differences pay. In the linear world (N = 400) half-widths for Ours were 0.98 with them, 0.81 with
/// products alone and 0.79 with linear terms, whose mean error was 0.10 ± 0.02, at T = 8; at T = 20 (317 rows per coefficient of squares) 3.4 with
/// them and 1.5 with products, with errors of standard deviation 1.2 and 0.8.
const ROWS_PER_JOINT_COEFFICIENT: usize = 1000;

impl FunctionClass {
    fn new(state_degree: usize, differences: Differences, p: usize, extra: usize) -> Option<Self> {
        let count = |coordinates: usize| Some(Monomials::new(coordinates, state_degree).ok()?.count());
        let coefficients = match differences {
            Differences::Absent => count(p)?,
            Differences::Linear => count(p)? + extra,
            Differences::Products => count(p)? + extra * (1 + p),
            Differences::Joint => count(p + extra)?,
        };
        Some(Self { state_degree, differences, coefficients })
    }

    /// Whether something that the values depend on had to be left out for want of rows.
    pub fn is_poor(&self, reads_worlds: bool) -> bool {
        self.state_degree < 2 || (reads_worlds && self.differences == Differences::Absent)
    }

    /// The richest class that `rows` can carry in `cells` pairs of level and action, of at most the given degree.
    pub(super) fn choose(rows: usize, cells: usize, p: usize, extra: usize, asked: Asked) -> Self {
        use Differences::{Absent, Joint, Linear, Products};
        let ladder: &[(usize, Differences)] = match extra {
            0 => &[(3, Absent), (2, Absent), (1, Absent)],
            _ => &[(2, Joint), (2, Products), (2, Linear), (1, Linear), (1, Absent)],
        };
        let carried = |&(degree, differences): &(usize, Differences)| {
            let per = match (degree, differences) {
                (_, Joint) => ROWS_PER_JOINT_COEFFICIENT,
                (3, _) | (_, Products) => ROWS_PER_CUBIC_COEFFICIENT,
                _ => ROWS_PER_COEFFICIENT,
            };
            Self::new(degree, differences, p, extra).filter(|class| class.coefficients * cells * per <= rows)
        };
        let constant = Self { state_degree: 0, differences: Absent, coefficients: 1 };
        let allowed = |(degree, differences): &&(usize, Differences)| {
            asked.degree.is_none_or(|most| *degree <= most)
                && (extra == 0 || asked.differences.is_none_or(|only| only == *differences))
        };
        ladder.iter().filter(allowed).find_map(carried).unwrap_or(constant)
    }

    /// The values of these functions at every row, row-major: standardised coordinates, so that columns are on a scale of 1.
    pub(super) fn features(&self, people: &Followed, states: &[f64], worlds: Option<&[f64]>) -> Vec<f64> {
        let rows = people.sources.len();
        let p = states.len() / rows.max(1);
        let mut columns: Vec<Vec<f64>> = (0..p).map(|j| column(states, p, j)).collect();
        if let (Some(worlds), true) = (worlds, self.differences != Differences::Absent) {
            let width = p * people.level_count;
            for j in 0..width - p {
                let (here, there) = (column(worlds, width, j), column(worlds, width, j + p));
                columns.push(there.iter().zip(&here).map(|(t, h)| t - h).collect());
            }
        }
        columns.iter_mut().for_each(|column| standardise(column));
        let inputs = if self.differences == Differences::Joint { columns.len() } else { p };
        let monomials = Monomials::new(inputs, self.state_degree).expect("a class that was counted");
        let mut out = Vec::with_capacity(rows * self.coefficients);
        for row in 0..rows {
            let first = out.len();
            out.push(1.0);
            for &(parent, factor) in &monomials.steps()[1..] {
                out.push(out[first + parent] * columns[factor][row]);
            }
            for difference in &columns[inputs..] {
                out.push(difference[row]);
                if self.differences == Differences::Products {
                    out.extend(columns[..p].iter().map(|state| state[row] * difference[row]));
                }
            }
        }
        out
    }
}

/// The j-th of `width` numbers of every row.
pub(super) fn column(rows: &[f64], width: usize, j: usize) -> Vec<f64> {
    rows.iter().skip(j).step_by(width).copied().collect()
}

/// (x − mean) / sd; a column that does not vary becomes 0.
pub(super) fn standardise(column: &mut [f64]) {
    let (mean, variance) = column_moments(column, 1, 1);
    let (mean, sd) = (mean[0], variance[0].sqrt());
    let varies = sd > f64::EPSILON * mean.abs().max(f64::MIN_POSITIVE);
    column.iter_mut().for_each(|x| *x = if varies { (*x - mean) / sd } else { 0.0 });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_rows_carry_a_poorer_class() {
        let class = |rows, extra| FunctionClass::choose(rows, 4, 1, extra, Asked::default());
        assert_eq!((class(960, 0).state_degree, class(959, 0).state_degree), (3, 2));
        assert_eq!((class(60, 0).state_degree, class(59, 0).state_degree), (2, 1));
        assert_eq!(class(39, 0).coefficients, 1);
        assert_eq!(class(24_000, 1).differences, Differences::Joint);
        assert_eq!(
            class(23_999, 1),
            FunctionClass { state_degree: 2, differences: Differences::Products, coefficients: 5 }
        );
        assert_eq!(
            class(1199, 1),
            FunctionClass { state_degree: 2, differences: Differences::Linear, coefficients: 4 }
        );
        assert_eq!(class(45, 1), FunctionClass { state_degree: 1, differences: Differences::Absent, coefficients: 2 });
    }

    #[test]
    fn a_standardised_column_has_mean_zero_and_spread_one_unless_it_is_constant() {
        let mut x = vec![2.0, 4.0, 9.0];
        standardise(&mut x);
        assert!(x.iter().sum::<f64>().abs() < 1e-14 && (x.iter().map(|x| x * x).sum::<f64>() - 3.0).abs() < 1e-14);
        let mut same = vec![0.1; 3];
        standardise(&mut same);
        assert_eq!(same, [0.0; 3]);
    }
}
