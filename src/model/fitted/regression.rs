//! Least-squares mechanisms: one table of coefficients a level and action.

use super::basis::StateBasis;
use super::terms::{Block, blocks};
use super::{FitError, LevelCode, Pooling};
use crate::data::Panel;
use crate::numeric::least_squares;
use serde::{Deserialize, Serialize};

/// Coefficients of next state and reward on the functions of the state, resolved for every level and action.
///
/// However actions and levels interact in the regression, at a given level and action it is linear in the functions of the state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// One basis a level, or a single one for all.
    pub(super) bases: Vec<StateBasis>,
    /// `coefficients[level][action]`: p + 1 outputs, each with the basis's number of coefficients.
    pub(super) coefficients: Vec<Vec<Vec<f64>>>,
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
    /// Residual standard deviation of each state coordinate, then of the reward (rows minus rank in the denominator).
    pub residual_sd: Vec<f64>,
}

impl Table {
    pub(super) fn basis(&self, level: usize) -> &StateBasis {
        &self.bases[if self.bases.len() == 1 { 0 } else { level }]
    }

    /// Whether the parts fit a mechanism of this shape.
    pub(super) fn is_consistent(&self, p: usize, levels: usize, actions: usize) -> bool {
        (self.bases.len() == 1 || self.bases.len() == levels)
            && self.bases.iter().all(|basis| basis.coordinates() == p)
            && self.coefficients.len() == levels
            && self.coefficients.iter().enumerate().all(|(level, by_action)| {
                let size = (p + 1).checked_mul(self.basis(level).count());
                by_action.len() == actions
                    && by_action.iter().all(|c| Some(c.len()) == size && c.iter().all(|x| x.is_finite()))
            })
    }

    /// μ̂ at one level for a block of rows.
    pub(super) fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        let basis = self.basis(level);
        let (p, q) = (basis.coordinates(), basis.count());
        let mut functions = vec![0.0; q];
        let rows = states.chunks_exact(p).zip(actions).zip(next.chunks_exact_mut(p)).zip(rewards);
        for (((state, &action), next), reward) in rows {
            basis.fill(state, &mut functions);
            let mut outputs = self.coefficients[level][action as usize].chunks_exact(q);
            let mut output = || outputs.next().map_or(0.0, |c| c.iter().zip(&functions).map(|(c, f)| c * f).sum());
            for s in next {
                *s = output();
            }
            *reward = output();
        }
    }
}

/// Fits next states and rewards on the given bases: one of them when pooled, one a level otherwise.
pub(super) fn fit_table(
    panel: &Panel,
    bases: Vec<StateBasis>,
    pooling: Pooling,
    code: LevelCode,
    values: &[f64],
) -> Result<(Table, Vec<RegressionReport>), FitError> {
    let (p, levels, actions) = (panel.state_dim(), panel.levels().len(), panel.action_names().len());
    let mut coefficients = vec![vec![Vec::new(); actions]; levels];
    let mut reports = Vec::new();
    for (group, basis) in bases.iter().enumerate() {
        let only = (pooling == Pooling::PerLevel).then_some(group);
        let blocks = blocks(basis, pooling, code, actions, levels);
        let design = Design { panel, basis, blocks: &blocks, values, only };
        let (solution, report) = design.fit()?;
        reports.push(report);
        for level in only.map_or(0..levels, |k| k..k + 1) {
            for (action, resolved) in coefficients[level].iter_mut().enumerate() {
                *resolved = resolve(&solution, &blocks, basis.count(), p + 1, |block| {
                    block.factor(action, level, values[level])
                });
            }
        }
    }
    Ok((Table { bases, coefficients }, reports))
}

/// The coefficients on the basis's functions at one action and level: each block's, times its factor there.
pub(super) fn resolve(
    solution: &[f64],
    blocks: &[Block],
    q: usize,
    outputs: usize,
    factor: impl Fn(&Block) -> f64,
) -> Vec<f64> {
    let columns: usize = blocks.iter().map(|b| b.functions).sum();
    let mut resolved = vec![0.0; q * outputs];
    for (resolved, solution) in resolved.chunks_exact_mut(q).zip(solution.chunks_exact(columns)) {
        let mut start = 0;
        for block in blocks {
            let factor = factor(block);
            for (r, c) in resolved.iter_mut().zip(&solution[start..start + block.functions]) {
                *r += factor * c;
            }
            start += block.functions;
        }
    }
    resolved
}

/// The number behind each level: its name when levels enter as numbers, its code otherwise.
pub(super) fn level_values(panel: &Panel, code: LevelCode) -> Result<Vec<f64>, FitError> {
    let names = panel.levels().names().iter().enumerate();
    names
        .map(|(k, name)| match code {
            LevelCode::Indicator => Ok(k as f64),
            LevelCode::Number => name
                .trim()
                .parse()
                .ok()
                .filter(|x: &f64| x.is_finite())
                .ok_or_else(|| FitError::LevelIsNoNumber { level: name.clone() }),
        })
        .collect()
}

/// The regression of one group of people.
struct Design<'a> {
    panel: &'a Panel,
    basis: &'a StateBasis,
    blocks: &'a [Block],
    values: &'a [f64],
    only: Option<usize>,
}

impl Design<'_> {
    /// Rewards are fitted on every decision, next states on those whose next state is known. When these are the same rows, as
    /// in most panels, one factorisation serves both.
    fn fit(&self) -> Result<(Vec<f64>, RegressionReport), FitError> {
        let p = self.panel.state_dim();
        let columns: usize = self.blocks.iter().map(|b| b.functions).sum();
        let (with_next, without_next) = self.rows();
        let rows = with_next.reward.len();
        if rows + without_next.reward.len() == 0 {
            return Err(FitError::EmptyLevel { level: self.level_name() });
        }
        let degrees = |rows: usize, rank: usize| rows.saturating_sub(rank).max(1) as f64;
        let sd = |rss: &[f64], rows: usize, rank: usize| -> Vec<f64> {
            rss.iter().map(|rss| (rss / degrees(rows, rank)).sqrt()).collect()
        };
        let mut report =
            RegressionReport { level: self.only, rows, columns, rank: columns, residual_sd: vec![0.0; p + 1] };
        let mut coefficients = vec![0.0; columns * (p + 1)];
        if without_next.reward.is_empty() {
            let targets: Vec<f64> = with_next
                .next
                .chunks_exact(p)
                .zip(&with_next.reward)
                .flat_map(|(s, r)| s.iter().chain([r]).copied())
                .collect();
            let fit = least_squares(&with_next.design, &targets, columns, p + 1)?;
            report.rank = fit.rank;
            report.residual_sd = sd(&fit.residual_sum_of_squares, rows, fit.rank);
            coefficients = fit.coefficients;
        } else {
            if rows > 0 {
                let fit = least_squares(&with_next.design, &with_next.next, columns, p)?;
                report.rank = fit.rank;
                report.residual_sd[..p].copy_from_slice(&sd(&fit.residual_sum_of_squares, rows, fit.rank));
                coefficients[..columns * p].copy_from_slice(&fit.coefficients);
            }
            let design = [with_next.design, without_next.design].concat();
            let rewards = [with_next.reward, without_next.reward].concat();
            let fit = least_squares(&design, &rewards, columns, 1)?;
            report.rank = report.rank.min(fit.rank);
            report.residual_sd[p] = sd(&fit.residual_sum_of_squares, rewards.len(), fit.rank)[0];
            coefficients[columns * p..].copy_from_slice(&fit.coefficients);
        }
        Ok((coefficients, report))
    }

    fn level_name(&self) -> String {
        self.only.map_or_else(|| "(all)".into(), |k| self.panel.levels().name(k).to_string())
    }

    fn rows(&self) -> (Rows, Rows) {
        let (p, q) = (self.panel.state_dim(), self.basis.count());
        let mut functions = vec![0.0; q];
        let (mut with_next, mut without_next) = (Rows::default(), Rows::default());
        for person in self.panel.iter().filter(|person| self.only.is_none_or(|k| k == person.level as usize)) {
            let level = person.level as usize;
            for (t, (&action, &reward)) in person.actions.iter().zip(person.rewards).enumerate() {
                let next = person.states.get((t + 1) * p..(t + 2) * p);
                let rows = if next.is_some() { &mut with_next } else { &mut without_next };
                self.basis.fill(&person.states[t * p..(t + 1) * p], &mut functions);
                for block in self.blocks {
                    let factor = block.factor(action as usize, level, self.values[level]);
                    rows.design.extend(functions[..block.functions].iter().map(|f| factor * f));
                }
                rows.next.extend_from_slice(next.unwrap_or(&[]));
                rows.reward.push(reward);
            }
        }
        (with_next, without_next)
    }
}

/// Design and targets, row-major.
#[derive(Default)]
struct Rows {
    design: Vec<f64>,
    next: Vec<f64>,
    reward: Vec<f64>,
}
