//! Least-squares mechanisms: one table of coefficients per level and action.

use super::basis::StateBasis;
use super::design::Design;
use super::piecewise::Cubics;
use serde::{Deserialize, Serialize};

/// Coefficients of next state and reward on the functions of the state, resolved for every level and action.
///
/// However actions and levels interact in the regression, at a given level and action it is linear in the functions of the state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Coefficients", into = "Coefficients")]
pub struct MeanTable {
    stored: Coefficients,
    /// Splines by level and action, piece by piece; `None` for other bases.
    cubics: Vec<Option<Vec<Cubics>>>,
}

/// What a table is made of, and all that is stored of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Coefficients {
    /// One basis per level, or a single one for all.
    bases: Vec<StateBasis>,
    /// `coefficients[level][action]`: p + 1 outputs, each with the basis's number of coefficients.
    coefficients: Vec<Vec<Vec<f64>>>,
}

impl Coefficients {
    /// All 0, for regressions of one level each or of all levels together.
    pub(super) fn zero<'a>(designs: impl Iterator<Item = &'a Design>) -> Self {
        let (mut bases, mut coefficients) = (Vec::new(), Vec::new());
        for design in designs {
            let size = (design.state_dim + 1) * design.basis.count();
            coefficients.extend(design.levels().map(|_| vec![vec![0.0; size]; design.actions]));
            bases.push(design.basis.clone());
        }
        Self { bases, coefficients }
    }

    fn basis(&self, level: usize) -> Option<&StateBasis> {
        self.bases.get(if self.bases.len() == 1 { 0 } else { level })
    }

    /// Writes the solution of a regression for one output, at every level and action it speaks of.
    pub(super) fn write(&mut self, design: &Design, output: usize, solution: &[f64]) {
        let own = output * design.basis.count()..(output + 1) * design.basis.count();
        for level in design.levels() {
            for (action, coefficients) in self.coefficients[level].iter_mut().enumerate() {
                coefficients[own.clone()].copy_from_slice(&design.resolve(solution, level, action));
            }
        }
    }
}

impl From<Coefficients> for MeanTable {
    fn from(stored: Coefficients) -> Self {
        let cubics = stored.coefficients.iter().enumerate().map(|(level, by_action)| match stored.basis(level) {
            Some(StateBasis::Spline(splines)) => Some(by_action.iter().map(|c| Cubics::new(splines, c)).collect()),
            _ => None,
        });
        let cubics = cubics.collect();
        Self { stored, cubics }
    }
}

impl From<MeanTable> for Coefficients {
    fn from(table: MeanTable) -> Self {
        table.stored
    }
}

/// One regression: which people's decisions it saw and what it found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RegressionReport {
    /// The level fitted, or `None` when levels are pooled.
    pub level: Option<usize>,
    /// Rows with a next state.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Independent columns.
    pub rank: usize,
    /// Degrees of freedom of each output: its rank, or less where it was smoothed.
    pub degrees: Vec<f64>,
    /// Residual standard deviation of each state coordinate, then of the reward (rows minus degrees of freedom in the denominator).
    pub residual_sd: Vec<f64>,
}

impl MeanTable {
    pub(super) fn basis(&self, level: usize) -> &StateBasis {
        self.stored.basis(level).expect("a basis for every level")
    }

    /// `coefficients[level][action]`: p + 1 outputs, each with the basis's number of coefficients.
    pub(super) fn coefficients(&self) -> &[Vec<Vec<f64>>] {
        &self.stored.coefficients
    }

    /// The same functions with other coefficients.
    pub(super) fn with_coefficients(&self, coefficients: Vec<Vec<Vec<f64>>>) -> Self {
        Coefficients { bases: self.stored.bases.clone(), coefficients }.into()
    }

    /// Whether the parts fit a mechanism of this shape.
    pub(super) fn is_consistent(&self, p: usize, levels: usize, actions: usize) -> bool {
        let Coefficients { bases, coefficients } = &self.stored;
        (bases.len() == 1 || bases.len() == levels)
            && bases.iter().all(|basis| basis.coordinates() == p)
            && coefficients.len() == levels
            && coefficients.iter().enumerate().all(|(level, by_action)| {
                let size = (p + 1).checked_mul(self.basis(level).count());
                by_action.len() == actions
                    && by_action.iter().all(|c| Some(c.len()) == size && c.iter().all(|x| x.is_finite()))
            })
    }

    /// What coordinate `j` at x adds to the next state; false, and nothing, where functions of the state are no splines.
    pub(super) fn along(&self, level: usize, action: u32, j: usize, x: f64, next: &mut [f64]) -> bool {
        self.cubics[level].as_ref().is_some_and(|cubics| {
            cubics[action as usize].fill_along(j, x, next);
            true
        })
    }

    /// μ̂ at one level for a block of rows.
    pub(super) fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        let basis = self.basis(level);
        let (p, q) = (basis.coordinates(), basis.count());
        let rows = states.chunks_exact(p).zip(actions).zip(next.chunks_exact_mut(p)).zip(rewards);
        if let Some(cubics) = &self.cubics[level] {
            let mut outputs = vec![0.0; p + 1];
            for (((state, &action), next), reward) in rows {
                cubics[action as usize].fill(state, &mut outputs);
                next.copy_from_slice(&outputs[..p]);
                *reward = outputs[p];
            }
            return;
        }
        let mut functions = vec![0.0; q];
        for (((state, &action), next), reward) in rows {
            basis.fill(state, &mut functions);
            let mut outputs = self.stored.coefficients[level][action as usize].chunks_exact(q);
            let mut output = || outputs.next().map_or(0.0, |c| c.iter().zip(&functions).map(|(c, f)| c * f).sum());
            for s in next {
                *s = output();
            }
            *reward = output();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two coordinates, two levels, three actions, and a linear basis for each level.
    fn coefficients() -> Coefficients {
        let bases = vec![StateBasis::Linear { coordinates: 2 }; 2];
        Coefficients { bases, coefficients: vec![vec![vec![0.5; 9]; 3]; 2] }
    }

    #[test]
    fn a_table_fits_its_own_shape_alone() {
        let with = |change: &dyn Fn(&mut Coefficients)| {
            let mut stored = coefficients();
            change(&mut stored);
            MeanTable::from(stored).is_consistent(2, 2, 3)
        };
        assert!(with(&|_| {}) && with(&|c| c.bases.truncate(1)), "one basis per level, or one for all");
        assert!(!with(&|c| c.bases.push(StateBasis::Linear { coordinates: 2 })));
        assert!(!with(&|c| c.bases[1] = StateBasis::Polynomial(crate::kernel::numeric::Monomials::new(1, 2).unwrap())));
        assert!(!with(&|c| c.coefficients.truncate(1)));
        assert!(!with(&|c| c.coefficients[1].truncate(2)));
        assert!(!with(&|c| c.coefficients[0][2].truncate(8)));
        assert!(!with(&|c| c.coefficients[1][0][4] = f64::INFINITY));
    }
}
