//! The rows of regressions: kept where people are in memory, made anew from each block where they are on disk.

use super::bends::Bends;
use super::design::Design;
use super::groups::Group;
use super::{FitError, FittedNoise};
use crate::kernel::people::{Panel, People, try_each};
use rayon::prelude::*;

/// The rows of one regression that a block's people have.
pub(super) struct RegressionRows {
    /// Regressors, row after row: columns of the design, or those of its bends.
    pub regressors: Vec<f64>,
    /// Whether regressors are in the coordinates of [`Bends`].
    pub are_turned: bool,
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
    fn of(design: &Design, block: &Panel) -> Self {
        let p = design.state_dim;
        let mut rows = Self { regressors: vec![], are_turned: false, targets: vec![], decisions: vec![] };
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

    /// The same rows in the coordinates of bends.
    pub fn turned(self, bends: Option<&Bends>, columns: usize) -> Self {
        let Some(bends) = bends else { return self };
        let mut regressors = Vec::with_capacity(self.regressors.len());
        self.regressors.chunks_exact(columns).for_each(|row| bends.push(row, &mut regressors));
        Self { regressors, are_turned: true, ..self }
    }
}

/// What each row counts for.
#[derive(Clone, Copy, Default)]
pub(super) struct Weights<'a> {
    /// One for each person, in the order of their source; without weights each counts once.
    pub people: Option<&'a [f64]>,
    /// Noise whose spread varies, for regressions that weigh decisions with its precision 1/σ².
    pub precise: Option<&'a FittedNoise>,
}

/// A block's rows with their weights.
pub(super) struct WeightedRows<'a> {
    /// Those of each group; without rows where none were asked for.
    pub groups: &'a [RegressionRows],
    /// The weight of each person of the block.
    people: Option<&'a [f64]>,
    /// 1/σ² of every decision of the block, for outputs whose spread varies.
    precisions: Vec<Option<Vec<f64>>>,
}

impl WeightedRows<'_> {
    /// The weight of a row in the regression of one output, or of several that have no precisions.
    pub fn weight(&self, decision: Decision, output: usize) -> f64 {
        let person = self.people.map_or(1.0, |weights| weights[decision.person]);
        let precision = self.precisions.get(output).and_then(Option::as_ref);
        precision.map_or(person, |precision| person * precision[decision.at])
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

impl<'a> RowSource<'a> {
    /// The rows of people in memory, which are made once.
    pub fn kept(people: &dyn People, groups: &[Group]) -> Option<Vec<RegressionRows>> {
        let panel = people.in_memory()?;
        Some(groups.par_iter().map(|group| RegressionRows::of(&group.design, panel)).collect())
    }

    /// The same rows as columns of the design: made anew where those that were kept are turned.
    pub fn of_designs(self) -> Self {
        let kept = self.kept.filter(|rows| rows.iter().all(|rows| !rows.are_turned));
        Self { kept, ..self }
    }

    /// Visits the rows of the groups that are asked for, block by block.
    ///
    /// # Errors
    /// Those of the visit, and of people on disk.
    pub fn each(
        &self,
        weights: &Weights,
        is_asked_for: &[bool],
        mut visit: impl FnMut(&WeightedRows) -> Result<(), FitError>,
    ) -> Result<(), FitError> {
        let mut first = 0;
        try_each(self.people, |block| {
            let people = weights.people.map(|weights| &weights[first..first + block.people()]);
            first += block.people();
            let precisions = weights.precise.map_or_else(Vec::new, |law| law.precisions(block));
            if let Some(groups) = self.kept {
                return visit(&WeightedRows { groups, people, precisions });
            }
            let none = || RegressionRows { regressors: vec![], are_turned: false, targets: vec![], decisions: vec![] };
            let rows = |(group, asked): (&Group, &bool)| {
                if *asked { RegressionRows::of(&group.design, block) } else { none() }
            };
            let groups: Vec<RegressionRows> = self.groups.par_iter().zip(is_asked_for).map(rows).collect();
            visit(&WeightedRows { groups: &groups, people, precisions })
        })
    }
}
