//! The regression of one group of people: its rows, and how much a solution bends.

use super::basis::StateBasis;
use super::terms::Block;
use crate::data::{Panel, Person};

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
