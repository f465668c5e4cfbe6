//! The regression of one group of people: its rows, and how much a solution bends.

use super::FitError;
use super::basis::StateBasis;
use super::terms::Block;
use crate::kernel::people::{Panel, Person};

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
pub(super) struct Design<'a> {
    pub panel: &'a Panel,
    pub basis: &'a StateBasis,
    pub blocks: &'a [Block],
    /// The number behind each level.
    pub values: &'a [f64],
    /// The one level it is about, or `None` when levels are pooled.
    pub only: Option<usize>,
}

impl<'a> Design<'a> {
    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.blocks.iter().map(|b| b.functions).sum()
    }

    /// Makes sure that there is room and time for the fit, before anything is allocated for it.
    ///
    /// # Errors
    /// [`FitError::TooLarge`], [`FitError::TooLong`].
    pub fn check_size(&self) -> Result<(), FitError> {
        let (columns, rows) = (self.columns(), self.people().map(|(_, person)| person.actions.len()).sum::<usize>());
        let width = (columns + self.panel.state_dim() + 1) as u128;
        let bytes = 8 * width * (SQUARES * width + rows as u128);
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

    /// The people it is about, each with their place in the panel.
    pub fn people(&self) -> impl Iterator<Item = (usize, Person<'a>)> + use<'a> {
        let only = self.only;
        self.panel.iter().enumerate().filter(move |(_, person)| only.is_none_or(|k| k == person.level as usize))
    }

    /// The levels it speaks of.
    pub fn levels(&self) -> std::ops::Range<usize> {
        self.only.map_or(0..self.values.len(), |k| k..k + 1)
    }

    /// Appends the regressors of one decision; `functions` is room for the basis.
    pub fn push_row(&self, level: usize, state: &[f64], action: u32, functions: &mut [f64], out: &mut Vec<f64>) {
        self.basis.fill(state, functions);
        for block in self.blocks {
            let factor = block.factor(action as usize, level, self.values[level]);
            out.extend(functions[..block.functions].iter().map(|f| factor * f));
        }
    }

    /// Rows L, flat, with ‖Lb‖² the roughness ∫ f″² of the fitted functions, summed over actions, levels and coordinates.
    ///
    /// Summing over the functions themselves, not over the blocks that make them up, leaves no action or level special.
    pub fn roughness(&self) -> Vec<f64> {
        let StateBasis::Spline(splines) = self.basis else { return vec![] };
        let mut rows = Vec::new();
        for level in self.levels() {
            for action in 0..self.panel.action_names().len() {
                let mut start = 1;
                for spline in splines {
                    for bend in spline.roughness_rows() {
                        for block in self.blocks {
                            let factor = block.factor(action, level, self.values[level]);
                            let at = |k: usize| k.checked_sub(start).and_then(|k| bend.get(k)).copied().unwrap_or(0.0);
                            rows.extend((0..block.functions).map(|k| factor * at(k)));
                        }
                    }
                    start += spline.count();
                }
            }
        }
        rows
    }

    /// The level's name, for errors.
    pub fn name(&self) -> String {
        self.only.map_or_else(|| "(all)".into(), |k| self.panel.levels().name(k).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::super::spline::NaturalSpline;
    use super::super::terms::LevelFactor;
    use super::*;
    use crate::kernel::people::{Labels, PanelBuilder};

    fn panel() -> Panel {
        let mut builder = PanelBuilder::new(Labels::new(["north", "south"]), Labels::numbered(3), 2).unwrap();
        let states = [0.5, 0.1, 1.0, -0.3];
        builder.push(Person { id: "a", level: 0, states: &states, actions: &[2], rewards: &[0.7] }).unwrap();
        builder.finish()
    }

    #[test]
    fn each_coordinate_bends_by_its_own_coefficients() {
        let panel = panel();
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
        let blocks = [Block { action: None, level: LevelFactor::One, functions: basis.count() }];
        let b: Vec<f64> = [5.0].into_iter().chain(first).chain(second).collect();
        // The same function at each of three actions, at both levels when they are pooled and at one when they are not.
        for (only, times) in [(None, 6.0), (Some(1), 3.0)] {
            let design = Design { panel: &panel, basis: &basis, blocks: &blocks, values: &[0.0, 1.0], only };
            let rows = design.roughness();
            let found: f64 =
                rows.chunks_exact(8).map(|l| l.iter().zip(&b).map(|(l, b)| l * b).sum::<f64>().powi(2)).sum();
            approx::assert_relative_eq!(found, times * expected, max_relative = 1e-12);
        }
    }

    #[test]
    fn a_design_is_called_by_its_level() {
        let (panel, basis) = (panel(), StateBasis::Linear { coordinates: 2 });
        let name = |only| Design { panel: &panel, basis: &basis, blocks: &[], values: &[0.0, 1.0], only }.name();
        assert_eq!((name(None), name(Some(1))), ("(all)".to_string(), "south".to_string()));
    }
}
