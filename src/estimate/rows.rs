//! The rows of regressions: kept where people are in memory, made anew from each block where they are on disk.

use super::design::Design;
use super::groups::Group;
use super::{FitError, FittedNoise};
use crate::kernel::people::{Panel, People, try_each};
use rayon::prelude::*;

/// The rows of one regression that a block's people have.
#[derive(Default)]
pub(super) struct RegressionRows {
    /// Columns of the design, row after row.
    pub regressors: Vec<f64>,
    /// p numbers of the next state, not known everywhere, then the reward.
    pub targets: Vec<f64>,
    /// What each row is about.
    pub decisions: Vec<Decision>,
}

/// A decision of a block.
#[derive(Clone, Copy)]
pub(super) struct Decision {
    /// The place of the person in the block.
    pub person: usize,
    /// The place of the decision in the block.
    pub at: usize,
    pub has_next: bool,
}

impl RegressionRows {
    pub fn of(design: &Design, block: &Panel) -> Self {
        let p = design.state_dim;
        let mut rows = Self::default();
        let mut functions = vec![0.0; design.basis.count()];
        for (i, person) in design.people(block) {
            for (t, at) in block.decisions_of(i).enumerate() {
                let (state, next) = (&person.states[t * p..(t + 1) * p], person.states.get((t + 1) * p..(t + 2) * p));
                let (level, action) = (person.level as usize, person.actions[t]);
                design.push_row(level, state, action, &mut functions, &mut rows.regressors);
                // Where nothing was recorded after the last decision its own state stands in, and is never read.
                rows.targets.extend_from_slice(next.unwrap_or(state));
                rows.targets.push(person.rewards[t]);
                rows.decisions.push(Decision { person: i, at, has_next: next.is_some() });
            }
        }
        rows
    }

    /// Each decision with its regressors, of which there are `columns`, and its p + 1 targets.
    pub fn each(&self, columns: usize) -> impl Iterator<Item = (Decision, &[f64], &[f64])> {
        let outputs = self.targets.len() / self.decisions.len().max(1);
        let targets = self.targets.chunks_exact(outputs.max(1));
        let each = self.decisions.iter().zip(self.regressors.chunks_exact(columns)).zip(targets);
        each.map(|((decision, row), targets)| (*decision, row, targets))
    }
}

/// A block's rows, and what they count for.
pub(super) struct BlockRows<'a> {
    /// Those of each group; without rows where none were asked for.
    pub groups: &'a [RegressionRows],
    /// 1/σ² of every decision of the block, for outputs whose spread varies.
    precisions: Vec<Option<Vec<f64>>>,
}

impl BlockRows<'_> {
    /// The weight of a row in the regression of one output, or of several that have no precisions.
    pub fn weight(&self, decision: Decision, output: usize) -> f64 {
        let precision = self.precisions.get(output).and_then(Option::as_ref);
        precision.map_or(1.0, |precision| precision[decision.at])
    }
}

/// Where the rows of some groups come from.
#[derive(Clone, Copy)]
pub(super) struct RowSource<'a> {
    pub people: &'a dyn People,
    pub groups: &'a [Group],
    /// The rows of all people, where they were kept.
    pub kept: Option<&'a [RegressionRows]>,
}

impl RowSource<'_> {
    /// The rows of people in memory, which are made once.
    pub fn kept(people: &dyn People, groups: &[Group]) -> Option<Vec<RegressionRows>> {
        let panel = people.in_memory()?;
        Some(groups.par_iter().map(|group| RegressionRows::of(&group.design, panel)).collect())
    }

    /// Visits the rows of the groups that are asked for, block by block; `precise` is noise whose spread varies, for regressions that weigh decisions
    /// with its precision 1/σ².
    ///
    /// # Errors
    /// Those of the visit, and of people on disk.
    pub fn each(
        &self,
        precise: Option<&FittedNoise>,
        is_asked_for: &[bool],
        mut visit: impl FnMut(&BlockRows) -> Result<(), FitError>,
    ) -> Result<(), FitError> {
        try_each(self.people, |block| {
            let precisions = precise.map_or_else(Vec::new, |law| law.precisions(block));
            if let Some(groups) = self.kept {
                return visit(&BlockRows { groups, precisions });
            }
            let rows = |(group, asked): (&Group, &bool)| match asked {
                true => RegressionRows::of(&group.design, block),
                false => RegressionRows::default(),
            };
            let groups: Vec<RegressionRows> = self.groups.par_iter().zip(is_asked_for).map(rows).collect();
            visit(&BlockRows { groups: &groups, precisions })
        })
    }
}
