//! The regression of one group of people: its columns, and how much a solution bends.

use super::basis::StateBasis;
use super::terms::{Term, terms};
use super::{FitError, LevelCode, Pooling};
use crate::kernel::people::{Panel, Person, Shape};

/// Memory that a fit may take at once, in bytes: 4 GiB.
const MOST_BYTES: u128 = 4 << 30;

/// Time that one fit may take, in minutes on one core. A study has several, and bootstrap refits besides.
const MOST_MINUTES: f64 = 10.0;

/// Seconds per cubed column and per row and squared column: 200 to 500 state columns on one core of a server of 2024. Between machines it
/// differs by a factor of three; between a fit that ends and one that does not, by far more.
const SECONDS_PER_CUBE: f64 = 5e-9;
const SECONDS_PER_ROW_SQUARE: f64 = 4e-10;

/// Square matrices of a fit that are held at once: the sums of five folds, those without one of them, and two while these are reduced.
const SQUARES: u128 = 8;

/// Which people, which functions of their states, and how these stand beside actions and levels.
#[derive(Debug, Clone)]
pub(super) struct Design {
    pub basis: StateBasis,
    pub terms: Vec<Term>,
    /// The number behind each level.
    pub values: Vec<f64>,
    /// The one level it is about, or `None` when levels are pooled.
    pub only: Option<usize>,
    pub actions: usize,
    /// p, the number of state coordinates.
    pub state_dim: usize,
}

impl Design {
    /// The design of a basis for one level, or for all of them together.
    pub fn new(shape: &Shape, basis: StateBasis, only: Option<usize>, code: LevelCode, values: &[f64]) -> Self {
        let pooling = if only.is_some() { Pooling::PerLevel } else { Pooling::Pooled };
        let actions = shape.actions.len();
        let terms = terms(&basis, pooling, code, actions, shape.levels.len());
        Self { basis, terms, values: values.to_vec(), only, actions, state_dim: shape.state_dim }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.terms.iter().map(|term| term.functions).sum()
    }

    /// Makes sure that there is room and time for a fit to so many rows, before anything is allocated for it; on disk rows take no memory.
    ///
    /// # Errors
    /// [`FitError::TooLarge`], [`FitError::TooLong`].
    pub fn check_size(&self, rows: usize, are_in_memory: bool) -> Result<(), FitError> {
        let columns = self.columns();
        let width = (columns + self.state_dim + 1) as u128;
        let held = if are_in_memory { rows as u128 } else { 0 };
        let bytes = 8 * width * (SQUARES * width + held);
        if bytes > MOST_BYTES {
            let gibibytes = |bytes: u128| bytes as f64 / (1u64 << 30) as f64;
            return Err(FitError::TooLarge { columns, rows, needed: gibibytes(bytes), allowed: gibibytes(MOST_BYTES) });
        }
        let wide = columns as f64;
        let seconds = SECONDS_PER_CUBE * wide.powi(3) + SECONDS_PER_ROW_SQUARE * rows as f64 * wide.powi(2);
        if columns > rows && seconds > 60.0 * MOST_MINUTES {
            return Err(FitError::TooLong { columns, rows, minutes: seconds / 60.0, allowed: MOST_MINUTES });
        }
        Ok(())
    }

    /// The people of a panel that it is about, each with their place in the panel.
    pub fn people<'p>(&self, panel: &'p Panel) -> impl Iterator<Item = (usize, Person<'p>)> + use<'p> {
        let only = self.only;
        panel.iter().enumerate().filter(move |(_, person)| only.is_none_or(|k| k == person.level as usize))
    }

    /// The levels it speaks of.
    pub fn levels(&self) -> std::ops::Range<usize> {
        self.only.map_or(0..self.values.len(), |k| k..k + 1)
    }

    /// Appends the regressors of one decision; `functions` is room for the basis.
    pub fn push_row(&self, level: usize, state: &[f64], action: u32, functions: &mut [f64], out: &mut Vec<f64>) {
        self.basis.fill(state, functions);
        for term in &self.terms {
            let factor = self.factor(term, level, action as usize);
            out.extend(functions[..term.functions].iter().map(|f| factor * f));
        }
    }

    /// The factor of a term at a level and action.
    pub fn factor(&self, term: &Term, level: usize, action: usize) -> f64 {
        term.factor(action, level, self.values[level])
    }

    /// The coefficients of one output on the functions of the state at a level and action: those of each term, times its factor there.
    pub fn resolve(&self, solution: &[f64], level: usize, action: usize) -> Vec<f64> {
        let mut resolved = vec![0.0; self.basis.count()];
        let mut start = 0;
        for term in &self.terms {
            let factor = self.factor(term, level, action);
            for (r, c) in resolved.iter_mut().zip(&solution[start..start + term.functions]) {
                *r += factor * c;
            }
            start += term.functions;
        }
        resolved
    }

    /// Rows L, flat, with ‖Lb‖² the roughness ∫ f″² of the fitted functions, summed over actions, levels and coordinates.
    ///
    /// Summing over the functions themselves, not over the terms that make them up, leaves no action or level special.
    pub fn roughness(&self) -> Vec<f64> {
        let StateBasis::Spline(splines) = &self.basis else { return vec![] };
        let mut rows = Vec::new();
        for level in self.levels() {
            for action in 0..self.actions {
                let mut start = 1;
                for spline in splines {
                    for bend in spline.roughness_rows() {
                        for term in &self.terms {
                            let factor = self.factor(term, level, action);
                            let at = |k: usize| k.checked_sub(start).and_then(|k| bend.get(k)).copied().unwrap_or(0.0);
                            rows.extend((0..term.functions).map(|k| factor * at(k)));
                        }
                    }
                    start += spline.count();
                }
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::super::spline::NaturalSpline;
    use super::super::terms::LevelFactor;
    use super::*;

    #[test]
    fn each_coordinate_bends_by_its_own_coefficients() {
        let splines = vec![
            NaturalSpline::new(vec![0.0, 1.0, 2.5, 4.0]).unwrap(),
            NaturalSpline::new(vec![-1.0, 0.5, 1.0, 3.0, 3.5]).unwrap(),
        ];
        let (first, second) = ([0.4, -0.7, 1.1], [0.3, 0.9, -0.2, 0.6]);
        let bend = |spline: &NaturalSpline, c: &[f64]| -> f64 {
            spline.roughness_rows().iter().map(|row| row.iter().zip(c).map(|(ρ, c)| ρ * c).sum::<f64>().powi(2)).sum()
        };
        let expected = bend(&splines[0], &first) + bend(&splines[1], &second);
        let basis = StateBasis::Spline(splines);
        let terms = vec![Term { action: None, level: LevelFactor::One, functions: basis.count() }];
        let b: Vec<f64> = [5.0].into_iter().chain(first).chain(second).collect();
        // The same function at each of three actions, at both levels when they are pooled and at one when they are not.
        for (only, times) in [(None, 6.0), (Some(1), 3.0)] {
            let (basis, terms) = (basis.clone(), terms.clone());
            let design = Design { basis, terms, values: vec![0.0, 1.0], only, actions: 3, state_dim: 2 };
            let rows = design.roughness();
            let found: f64 =
                rows.chunks_exact(8).map(|l| l.iter().zip(&b).map(|(l, b)| l * b).sum::<f64>().powi(2)).sum();
            approx::assert_relative_eq!(found, times * expected, max_relative = 1e-12);
        }
    }
}
