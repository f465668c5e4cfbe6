//! Least-squares mechanisms: one table of coefficients a level and action.

use super::basis::StateBasis;
use super::bends::Bends;
use super::cross_validation::Smoothing;
use super::design::Design;
use super::groups::Group;
use super::piecewise::Cubics;
use super::terms::{Block, blocks};
use super::{FitError, LevelCode, Pooling};
use crate::kernel::numeric::least_squares;
use crate::kernel::numeric::ridge_path::RidgePath;
use crate::kernel::people::Panel;
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
    /// One basis a level, or a single one for all.
    bases: Vec<StateBasis>,
    /// `coefficients[level][action]`: p + 1 outputs, each with the basis's number of coefficients.
    coefficients: Vec<Vec<Vec<f64>>>,
}

impl Coefficients {
    /// Bases, one a level or one for all, and `coefficients[level][action]`.
    pub(super) fn new(bases: Vec<StateBasis>, coefficients: Vec<Vec<Vec<f64>>>) -> Self {
        Self { bases, coefficients }
    }

    fn basis(&self, level: usize) -> Option<&StateBasis> {
        self.bases.get(if self.bases.len() == 1 { 0 } else { level })
    }

    /// Writes other coefficients of one output at a level and action.
    pub(super) fn replace(&mut self, level: usize, action: usize, output: usize, coefficients: &[f64]) {
        let q = coefficients.len();
        self.coefficients[level][action][output * q..(output + 1) * q].copy_from_slice(coefficients);
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

/// Fits next states and rewards: one group when pooled, one a level otherwise.
pub(super) fn fit_table(
    panel: &Panel,
    groups: &[Group],
    pooling: Pooling,
    code: LevelCode,
    values: &[f64],
) -> Result<(MeanTable, Vec<RegressionReport>), FitError> {
    let (p, levels, actions) = (panel.state_dim(), panel.levels().len(), panel.action_names().len());
    let mut coefficients = vec![vec![Vec::new(); actions]; levels];
    let mut reports = Vec::new();
    for Group { only, basis, smoothing } in groups {
        let blocks = blocks(basis, pooling, code, actions, levels);
        let design = Design { panel, basis, blocks: &blocks, values, only: *only };
        let (solution, report) = regress(&design, smoothing)?;
        reports.push(report);
        for level in design.levels() {
            for (action, resolved) in coefficients[level].iter_mut().enumerate() {
                *resolved = resolve(&solution, &blocks, basis.count(), p + 1, |block| {
                    block.factor(action, level, values[level])
                });
            }
        }
    }
    let bases = groups.iter().map(|group| group.basis.clone()).collect();
    Ok((Coefficients { bases, coefficients }.into(), reports))
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

/// Rewards are fitted on every decision, next states on those whose next state is known. When these are the same rows, as in most
/// panels, one factorisation serves both, unless their smoothness differs.
fn regress(design: &Design, smoothing: &[Smoothing]) -> Result<(Vec<f64>, RegressionReport), FitError> {
    let p = design.panel.state_dim();
    let columns = design.columns();
    let (with_next, without_next) = rows(design);
    let rows = with_next.reward.len();
    if rows + without_next.reward.len() == 0 {
        return Err(FitError::EmptyLevel { level: design.name() });
    }
    let solve = Solver { design };
    let outputs: Vec<Output> = if without_next.reward.is_empty() {
        let targets: Vec<f64> = with_next
            .next
            .chunks_exact(p)
            .zip(&with_next.reward)
            .flat_map(|(s, r)| s.iter().chain([r]).copied())
            .collect();
        solve.outputs(&with_next.design, &targets, p + 1, smoothing)?
    } else {
        let mut outputs = vec![Output::unknown(columns); if rows > 0 { 0 } else { p }];
        if rows > 0 {
            outputs.extend(solve.outputs(&with_next.design, &with_next.next, p, &smoothing[..p])?);
        }
        let all = [with_next.design, without_next.design].concat();
        let rewards = [with_next.reward, without_next.reward].concat();
        outputs.extend(solve.outputs(&all, &rewards, 1, &smoothing[p..])?);
        outputs
    };
    let report = RegressionReport {
        level: design.only,
        rows,
        columns,
        rank: outputs.iter().map(|o| o.rank).min().unwrap_or(columns),
        degrees: outputs.iter().map(|o| o.degrees).collect(),
        residual_sd: outputs.iter().map(|o| o.residual_sd).collect(),
    };
    Ok((outputs.into_iter().flat_map(|o| o.coefficients).collect(), report))
}

/// What was found for one output.
#[derive(Clone)]
struct Output {
    coefficients: Vec<f64>,
    rank: usize,
    degrees: f64,
    residual_sd: f64,
}

impl Output {
    /// An output nobody has data on.
    fn unknown(columns: usize) -> Self {
        Self { coefficients: vec![0.0; columns], rank: columns, degrees: columns as f64, residual_sd: 0.0 }
    }
}

/// min ‖y − Xb‖² + λ n ‖Lb‖².
struct Solver<'a> {
    design: &'a Design<'a>,
}

impl Solver<'_> {
    /// Every output of row-major targets, smoothed as told.
    fn outputs(
        &self,
        design: &[f64],
        targets: &[f64],
        outputs: usize,
        smoothing: &[Smoothing],
    ) -> Result<Vec<Output>, FitError> {
        let columns = self.design.columns();
        if smoothing.iter().all(|s| s.penalty == 0.0) {
            let fit = least_squares(design, targets, columns, outputs)?;
            let degrees = fit.rank as f64;
            let output = |j: usize| Output {
                coefficients: fit.output(j).to_vec(),
                rank: fit.rank,
                degrees,
                residual_sd: residual_sd(fit.residual_sum_of_squares[j], degrees, &column(targets, j, outputs)),
            };
            return Ok((0..outputs).map(output).collect());
        }
        let penalties: Vec<f64> = smoothing.iter().map(|s| s.penalty).collect();
        let fits = penalised(self.design, design, targets, &penalties)?;
        let output = |(j, (coefficients, rank)): (usize, (Vec<f64>, usize))| {
            let fitted = |row: &[f64]| row.iter().zip(&coefficients).map(|(x, b)| x * b).sum::<f64>();
            let missed = design.chunks_exact(columns).zip(targets.chunks_exact(outputs)).map(|(x, y)| y[j] - fitted(x));
            let squares = missed.map(|r| r * r).sum::<f64>();
            let degrees = smoothing[j].degrees;
            Output {
                residual_sd: residual_sd(squares, degrees, &column(targets, j, outputs)),
                coefficients,
                rank,
                degrees,
            }
        };
        Ok(fits.into_iter().enumerate().map(output).collect())
    }
}

/// min ‖y − Xb‖² + λ n ‖Lb‖² and its rank for each output of row-major targets, each with its λ: one reduction serves them all.
///
/// Where straight functions depend on each other, or nearly do: ordinary least squares with √(λn) L as further rows whose targets are 0.
pub(super) fn penalised(
    design: &Design,
    rows: &[f64],
    targets: &[f64],
    penalties: &[f64],
) -> Result<Vec<(Vec<f64>, usize)>, FitError> {
    let (columns, outputs) = (design.columns(), penalties.len());
    let n = targets.len() / outputs;
    let path = Bends::new(design).and_then(|bends| {
        let mut turned = Vec::with_capacity(n * (columns + outputs));
        for (row, target) in rows.chunks_exact(columns).zip(targets.chunks_exact(outputs)) {
            bends.push(row, &mut turned);
            turned.extend_from_slice(target);
        }
        Some((RidgePath::of_rows(&turned, columns + outputs, bends.free(), outputs)?, bends))
    });
    if let Some((path, bends)) = path {
        let wanted: Vec<(usize, f64)> = penalties.iter().map(|λ| λ * n as f64).enumerate().collect();
        let found = path.solutions(&wanted);
        return Ok(found.chunks_exact(columns).map(|b| (bends.to_design(b), columns)).collect());
    }
    let bends = design.roughness();
    let smooth = |(j, penalty): (usize, &f64)| {
        let weight = (penalty * n as f64).sqrt();
        let mut target = column(targets, j, outputs);
        target.resize(n + bends.len() / columns, 0.0);
        let mut rows = rows.to_vec();
        rows.extend(bends.iter().map(|l| weight * l));
        let fit = least_squares(&rows, &target, columns, 1)?;
        Ok((fit.coefficients, fit.rank))
    };
    penalties.iter().enumerate().map(smooth).collect()
}

/// One output of row-major targets.
fn column(targets: &[f64], j: usize, outputs: usize) -> Vec<f64> {
    targets.iter().skip(j).step_by(outputs).copied().collect()
}

/// √(RSS / (n − degrees of freedom)), and no more than the spread of the output itself: where a level has about as many rows as the fit has
/// degrees of freedom, the first is a large number divided by a small one (122 was seen where people spread by 33).
fn residual_sd(sum_of_squares: f64, degrees: f64, observed: &[f64]) -> f64 {
    let rows = observed.len() as f64;
    let mean = observed.iter().sum::<f64>() / rows;
    residual_sd_of(sum_of_squares, degrees, rows, observed.iter().map(|y| (y - mean).powi(2)).sum())
}

/// [`residual_sd`] from the sum of squares around the mean.
pub(super) fn residual_sd_of(sum_of_squares: f64, degrees: f64, rows: f64, around_mean: f64) -> f64 {
    let residual = (sum_of_squares / (rows - degrees).max(1.0)).sqrt();
    let raw = (around_mean / (rows - 1.0)).sqrt();
    if rows > 1.0 { residual.min(raw) } else { residual }
}

fn rows(design: &Design) -> (Rows, Rows) {
    let p = design.panel.state_dim();
    let mut functions = vec![0.0; design.basis.count()];
    let (mut with_next, mut without_next) = (Rows::default(), Rows::default());
    for (_, person) in design.people() {
        for (t, (&action, &reward)) in person.actions.iter().zip(person.rewards).enumerate() {
            let next = person.states.get((t + 1) * p..(t + 2) * p);
            let rows = if next.is_some() { &mut with_next } else { &mut without_next };
            let state = &person.states[t * p..(t + 1) * p];
            design.push_row(person.level as usize, state, action, &mut functions, &mut rows.design);
            rows.next.extend_from_slice(next.unwrap_or(&[]));
            rows.reward.push(reward);
        }
    }
    (with_next, without_next)
}

/// Design and targets, row-major.
#[derive(Default)]
struct Rows {
    design: Vec<f64>,
    next: Vec<f64>,
    reward: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::super::{Basis, FitSettings, Fitted, fit};
    use super::*;
    use crate::kernel::model::Mechanism;
    use crate::kernel::people::{Labels, PanelBuilder, Person};

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
        assert!(with(&|_| {}) && with(&|c| c.bases.truncate(1)), "a basis a level, or one for all");
        assert!(!with(&|c| c.bases.push(StateBasis::Linear { coordinates: 2 })));
        assert!(!with(&|c| c.bases[1] = StateBasis::Polynomial(crate::kernel::numeric::Monomials::new(1, 2).unwrap())));
        assert!(!with(&|c| c.coefficients.truncate(1)));
        assert!(!with(&|c| c.coefficients[1].truncate(2)));
        assert!(!with(&|c| c.coefficients[0][2].truncate(8)));
        assert!(!with(&|c| c.coefficients[1][0][4] = f64::INFINITY));
    }

    const NEXT: fn(f64, f64) -> f64 = |s, a| 0.2 + 0.5 * s - 0.1 * a;
    const REWARD: fn(f64, f64) -> f64 = |s, a| 1.0 - s + 0.3 * a * s;

    /// Twelve people who decide `decisions` times and of whom as many states are known: the last next state is not.
    fn unfinished(decisions: usize) -> Fitted {
        let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(2), 1).unwrap();
        for i in 0..12usize {
            let actions: Vec<u32> = (0..decisions).map(|t| ((i + i * t / 2) % 2) as u32).collect();
            let mut states = vec![2.0 * (1.7 * i as f64).sin()];
            for t in 1..decisions {
                states.push(NEXT(states[t - 1], f64::from(actions[t - 1])));
            }
            let rewards: Vec<f64> = states.iter().zip(&actions).map(|(s, a)| REWARD(*s, f64::from(*a))).collect();
            let id = i.to_string();
            builder.push(Person { id: &id, level: 0, states: &states, actions: &actions, rewards: &rewards }).unwrap();
        }
        let settings = FitSettings { basis: Basis::Linear, pooling: Pooling::PerLevel, ..FitSettings::default() };
        fit(&builder.finish(), &settings).unwrap()
    }

    #[test]
    fn rewards_are_fitted_on_every_decision_and_next_states_where_they_are_known() {
        for (decisions, rows) in [(1, 0), (2, 12), (3, 24)] {
            let fitted = unfinished(decisions);
            let report = &fitted.reports()[0];
            assert_eq!((report.rows, report.columns, report.rank), (rows, 4, 4));
            for (s, a) in [(0.7, 0), (-1.2, 1)] {
                let (mut next, mut reward) = ([9.0], [9.0]);
                fitted.mean(0, &[s], &[a], &mut next, &mut reward);
                // Without a single next state nothing is known of them, and the mean is 0.
                let expected = if rows == 0 { 0.0 } else { NEXT(s, f64::from(a)) };
                // Two dozen rows of size one.
                assert!((next[0] - expected).abs() < 1e-12, "{decisions}: {next:?} and {expected}");
                assert!((reward[0] - REWARD(s, f64::from(a))).abs() < 1e-12, "{decisions}: {reward:?}");
            }
        }
    }

    #[test]
    fn a_residual_spread_is_never_larger_than_the_raw_one() {
        let observed = [10.0, 40.0, -25.0, 60.0, 20.0];
        // Raw: mean 21, sum of squares 4120, four degrees of freedom.
        let raw = (4120.0f64 / 4.0).sqrt();
        // Plenty of rows left: as textbooks have it.
        assert_eq!(residual_sd(300.0, 2.0, &observed), 10.0);
        // A smoother that used up its degrees of freedom and explained next to nothing.
        assert_eq!(residual_sd(4000.0, 4.9, &observed), raw);
    }
}
