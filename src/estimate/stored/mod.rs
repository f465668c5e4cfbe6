//! Mechanisms fitted to people who do not fit in memory: each step is a pass over blocks of them.
//!
//! | pass | what it finds |
//! |---|---|
//! | 1 | initial means, counts, ranges, a sample of states |
//! | 2 to 3 | knots: exact quantiles of the states |
//! | 4 | products of columns for each fold, from which smoothness and pooling are chosen |
//! | 5, 6 | the regressions, and their residuals |
//! | some dozens | noise that is more than added: its spread by scoring, a pass a step, its shape by quantiles |
//!
//! # Precision
//! Initial means, knots, folds and the choice of smoothness and pooling have the digits of [`fit`](super::fit). Regressions differ from it in the
//! order of some sums alone: by a few units in the last place times their condition number.

mod census;
mod regressions;

use super::cross_validation::{FoldSums, choose_by, knot_ranks};
use super::design::Design;
use super::gain::gain_at;
use super::groups::{self, Group};
use super::noise::StoredNoise;
use super::regression::level_values;
use super::spline::NaturalSpline;
use super::terms::blocks;
use super::{Basis, FitError, FitSettings, Fitted, FittedNoise, Means, NoiseChoice, Pooling, StateBasis};
use crate::estimate::bends::Bends;
use crate::estimate::ranks::order_statistics;
use crate::files::StoredPanel;
use crate::kernel::people::Panel;
use census::Census;
use rayon::prelude::*;

/// Visits all people in blocks.
pub(super) fn pass(panel: &StoredPanel, mut visit: impl FnMut(&Panel)) -> Result<(), FitError> {
    let failed = |error: crate::files::DataError| FitError::Scratch(error.to_string());
    for block in panel.blocks().map_err(failed)? {
        visit(&block.map_err(failed)?);
    }
    Ok(())
}

/// [`fit`](super::fit) for people on disk; `room` is how many numbers may be held at once.
///
/// # Errors
/// [`FitError`]: as [`fit`](super::fit), and [`FitError::InMemory`] for nets.
pub fn fit_stored(panel: &StoredPanel, settings: &FitSettings, room: usize) -> Result<Fitted, FitError> {
    let FitSettings { basis, pooling, code, stream, noise, keep } = *settings;
    let refused = |what| Err(FitError::InMemory { what, people: panel.people() });
    if basis == Basis::Neural {
        return refused("training a net");
    }
    let shape = panel.empty();
    let values = level_values(&shape, code)?;
    let census = Census::of(panel)?;
    let initial = census.initial_means(&shape)?;
    let fit = Fit { panel, shape: &shape, values: &values, census: &census, settings, room };
    let (_, groups) = fit.groups(pooling)?;
    let (table, reports) = regressions::fit_table(&fit, &groups)?;
    let mut fitted = Fitted::new(&shape, initial, Means::Table(table), reports);
    if noise != NoiseChoice::Additive || !keep.is_empty() {
        let around = |means: &Fitted, old: Option<&FittedNoise>| {
            let noise_of = StoredNoise { panel, means, stream, room };
            old.map_or_else(|| noise_of.choose(noise, keep), |old| noise_of.refit(old))
        };
        let mut law = around(&fitted, None)?;
        let is_weighed = law.precisions(&shape).iter().any(Option::is_some);
        if let (Means::Table(table), true) = (&fitted.means, is_weighed) {
            fitted.means = Means::Table(regressions::reweigh(&fit, &groups, table.clone(), &law)?);
            law = around(&fitted, Some(&law))?;
        }
        fitted.noise = Some(law);
    }
    fitted.gain = gain_at(&fitted, (&census.low, &census.high), &census.sample);
    Ok(fitted)
}

/// What every step reads.
struct Fit<'a> {
    panel: &'a StoredPanel,
    /// Levels, actions and states without people.
    shape: &'a Panel,
    values: &'a [f64],
    census: &'a Census,
    settings: &'a FitSettings,
    room: usize,
}

impl<'a> Fit<'a> {
    fn design<'d>(&self, panel: &'d Panel, group: &'d Group, blocks: &'d [super::terms::Block]) -> Design<'d>
    where
        'a: 'd,
    {
        Design { panel, basis: &group.basis, blocks, values: self.values, only: group.only }
    }

    fn blocks(&self, group: &Group) -> Vec<super::terms::Block> {
        let pooling = if group.only.is_some() { Pooling::PerLevel } else { Pooling::Pooled };
        let (actions, levels) = (self.shape.action_names().len(), self.shape.levels().len());
        blocks(&group.basis, pooling, self.settings.code, actions, levels)
    }

    /// Whom to fit together, on which functions and how smoothly.
    fn groups(&self, pooling: Pooling) -> Result<(Pooling, Vec<Group>), FitError> {
        let apart = || (0..self.shape.levels().len()).map(Some);
        let members: Vec<Option<usize>> = match pooling {
            Pooling::Pooled => vec![None],
            Pooling::PerLevel => apart().collect(),
            Pooling::Chosen | Pooling::Cautious => apart().chain([None]).collect(),
        };
        let bases = self.bases(&members)?;
        let groups = members.into_iter().zip(bases);
        let mut groups: Vec<Group> = groups.map(|(only, basis)| Group { only, basis, smoothing: vec![] }).collect();
        self.smooth(&mut groups)?;
        if !matches!(pooling, Pooling::Chosen | Pooling::Cautious) {
            return Ok((pooling, groups));
        }
        let together = groups.split_off(groups.len() - 1);
        let are_together =
            groups::pooled(pooling, &self.census.spreads(), self.census.transitions(None), &together, &groups);
        Ok(if are_together { (Pooling::Pooled, together) } else { (Pooling::PerLevel, groups) })
    }

    fn bases(&self, members: &[Option<usize>]) -> Result<Vec<StateBasis>, FitError> {
        let p = self.shape.state_dim();
        if let Some(basis) = groups::basis_without_knots(self.settings.basis, p)? {
            return Ok(vec![basis; members.len()]);
        }
        let quantiles = order_statistics(
            members.len() * p,
            |_, n| knot_ranks(n),
            self.room,
            |see| {
                pass(self.panel, |block| {
                    for person in block.iter() {
                        for state in person.states.chunks_exact(p).take(person.actions.len()) {
                            for (g, only) in members.iter().enumerate() {
                                if only.is_none_or(|k| k == person.level as usize) {
                                    state.iter().enumerate().for_each(|(j, s)| see(g * p + j, *s));
                                }
                            }
                        }
                    }
                })
            },
        )?;
        let splines: Vec<NaturalSpline> = quantiles.into_iter().map(NaturalSpline::through).collect();
        Ok(splines.chunks_exact(p).map(|splines| StateBasis::Spline(splines.to_vec())).collect())
    }

    /// The smoothness of every group by cross-validation, from one pass.
    fn smooth(&self, groups: &mut [Group]) -> Result<(), FitError> {
        let terms: Vec<_> = groups.iter().map(|group| self.blocks(group)).collect();
        let mut sums = Vec::new();
        for (group, blocks) in groups.iter().zip(&terms) {
            let design = self.design(self.shape, group, blocks);
            design.check_size()?;
            let rows = self.census.transitions(group.only);
            sums.push(Bends::new(&design).map(|bends| (FoldSums::new(&design, &bends, rows), bends)));
        }
        let mut counter = self.census.bunches.counter();
        pass(self.panel, |block| {
            let folds: Vec<usize> = block.level_codes().iter().map(|&z| counter.next(z)).collect();
            sums.par_iter_mut().zip(&*groups).zip(&terms).for_each(|((sums, group), blocks)| {
                let Some((sums, bends)) = sums else { return };
                let design = self.design(block, group, blocks);
                design.people().for_each(|(i, person)| sums.add(&design, bends, folds[i], &person));
            });
        })?;
        for ((group, blocks), sums) in groups.iter_mut().zip(&terms).zip(sums) {
            let design =
                Design { panel: self.shape, basis: &group.basis, blocks, values: self.values, only: group.only };
            let sums = sums.map(|(sums, bends)| (sums.finish(&bends), bends));
            group.smoothing = choose_by(&design, sums);
        }
        Ok(())
    }
}
