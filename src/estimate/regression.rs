//! The regressions of a mechanism: sums over rows, and the coefficients that they determine.
//!
//! A fit to people on disk is the same sums as one to people in memory: `rows` says where rows come from. Refits with weights on people have sums of
//! their own: `refit`.

use super::census::Census;
use super::groups::Group;
use super::mean_table::{Coefficients, RegressionReport};
use super::products::Products;
use super::rows::{BlockRows, RowSource};
use super::triangles::{Solution, Triangle};
use super::{FitError, FittedNoise};
use crate::kernel::people::Shape;
use rayon::prelude::*;
use std::ops::Range;

/// The regressions of next states and rewards on the people of each group.
#[derive(Clone, Copy)]
pub(super) struct Regressions<'a> {
    pub rows: RowSource<'a>,
    pub census: &'a Census,
}

/// Outputs of one group that are fitted on the same decisions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Share {
    /// The place of the group.
    pub at: usize,
    pub outputs: Range<usize>,
    /// Whether decisions whose next state is not known are among them.
    pub takes_all: bool,
    /// n, how many decisions.
    pub decisions: usize,
}

impl Share {
    /// Next states are fitted where they are known, rewards on every decision.
    ///
    /// # Errors
    /// [`FitError::EmptyLevel`].
    pub fn of_all(groups: &[Group], census: &Census, shape: &Shape) -> Result<Vec<Self>, FitError> {
        let mut shares = Vec::new();
        for (at, group) in groups.iter().enumerate() {
            let only = group.design.only;
            let (known, all, p) = (census.transitions(only), census.decisions(only), shape.state_dim);
            if all == 0 {
                let level = only.map_or_else(|| "(all)".into(), |level| shape.levels.name(level).to_string());
                return Err(FitError::EmptyLevel { level });
            }
            let share = |outputs, takes_all, decisions| Self { at, outputs, takes_all, decisions };
            match all > known {
                true => shares.extend([share(0..p, false, known), share(p..p + 1, true, all)]),
                false => shares.push(share(0..p + 1, false, all)),
            }
        }
        Ok(shares)
    }

    /// The share of one output alone, for those among `outputs` that it has.
    pub fn apart<'a>(&'a self, outputs: &'a [usize]) -> impl Iterator<Item = Self> + 'a {
        let own = outputs.iter().filter(|output| self.outputs.contains(output));
        own.map(|&output| Self { outputs: output..output + 1, ..self.clone() })
    }

    /// Whether a decision is among its own.
    pub fn takes(&self, has_next: bool) -> bool {
        has_next || self.takes_all
    }
}

impl Regressions<'_> {
    /// Fits next states and rewards of every group.
    ///
    /// # Errors
    /// [`FitError::EmptyLevel`], and those of sums and of least squares.
    pub fn fit(&self) -> Result<(Coefficients, Vec<RegressionReport>), FitError> {
        let mut coefficients = Coefficients::zero(self.rows.groups.iter().map(|group| &group.design));
        let mut reports: Vec<RegressionReport> = Vec::new();
        for system in self.solve(self.shares()?, None)? {
            system.write(&mut coefficients);
            let known = self.census.transitions(system.group.design.only);
            RegressionReport::push(&mut reports, system.group, known, system.share.at, system.findings());
        }
        Ok((coefficients, reports))
    }

    /// Fits some outputs again with the precisions of their noise, on the same functions and as smoothly as before.
    ///
    /// # Equation
    /// ```text
    /// min Σ w (y − f)² / σ² + λ (Σ w / σ²) ∫ f″²
    /// ```
    /// A common factor of weights changes nothing.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn weigh_again(
        &self,
        coefficients: &mut Coefficients,
        precise: &FittedNoise,
        outputs: &[usize],
    ) -> Result<(), FitError> {
        let shares = self.shares()?.iter().flat_map(|share| share.apart(outputs).collect::<Vec<_>>()).collect();
        self.solve(shares, Some(precise))?.iter().for_each(|system| system.write(coefficients));
        Ok(())
    }

    fn shares(&self) -> Result<Vec<Share>, FitError> {
        Share::of_all(self.rows.groups, self.census, self.rows.people.shape())
    }

    /// Every share's solution.
    fn solve(&self, shares: Vec<Share>, precise: Option<&FittedNoise>) -> Result<Vec<System<'_>>, FitError> {
        let system = |share: Share| System::new(&self.rows.groups[share.at], share);
        let mut systems: Vec<System> = shares.into_iter().map(system).collect();
        self.each(precise, &mut systems, |system, rows| system.add(rows))?;
        let solved = systems.par_iter_mut().map(System::solve);
        if !solved.collect::<Result<Vec<bool>, FitError>>()?.into_iter().all(|is_solved| is_solved) {
            // Straight functions that depend on each other, or nearly do: rows are folded instead of multiplied.
            self.each(precise, &mut systems, |system, rows| match system.found {
                Some(_) => Ok(()),
                None => system.add(rows),
            })?;
            systems.par_iter_mut().filter(|system| system.found.is_none()).try_for_each(|system| {
                system.solve()?;
                Ok::<(), FitError>(())
            })?;
        }
        if precise.is_none() {
            self.each(None, &mut systems, |system, rows| {
                system.look(rows);
                Ok(())
            })?;
        }
        Ok(systems)
    }

    /// Passes over rows once, with what each unsolved system, or each that was just solved, does with its own.
    fn each(
        &self,
        precise: Option<&FittedNoise>,
        systems: &mut [System],
        work: impl Fn(&mut System, &BlockRows) -> Result<(), FitError> + Sync,
    ) -> Result<(), FitError> {
        let all_are_solved = systems.iter().all(|system| system.found.is_some());
        let mut is_asked_for = vec![false; self.rows.groups.len()];
        for system in systems.iter().filter(|system| all_are_solved || system.found.is_none()) {
            is_asked_for[system.share.at] = true;
        }
        self.rows.each(precise, &is_asked_for, |rows| systems.par_iter_mut().try_for_each(|system| work(system, rows)))
    }
}

/// The outputs of a share, while rows are added up and once they are solved.
struct System<'a> {
    group: &'a Group,
    share: Share,
    sums: SystemSums,
    /// Σ w over the rows.
    weight: f64,
    /// Σ y, and later Σ (y − f̂)² and Σ (y − ȳ)², of each output.
    targets: Vec<f64>,
    missed: Vec<f64>,
    around_mean: Vec<f64>,
    found: Option<Vec<Solution>>,
}

enum SystemSums {
    /// In the coordinates of bends.
    Products(Products),
    /// In columns of the design.
    Triangles(Vec<Triangle>),
}

impl<'a> System<'a> {
    fn new(group: &'a Group, share: Share) -> Self {
        let zeros = vec![0.0; share.outputs.len()];
        let columns = group.design.columns();
        let sums = match &group.bends {
            Some(bends) if group.is_penalised(&share.outputs) => {
                let are_few = share.decisions < bends.penalised();
                SystemSums::Products(Products::new(columns + share.outputs.len(), are_few))
            }
            _ => triangles(group, &share),
        };
        let (targets, missed, around_mean) = (zeros.clone(), zeros.clone(), zeros);
        Self { group, share, sums, weight: 0.0, targets, missed, around_mean, found: None }
    }

    /// Adds a block's rows.
    fn add(&mut self, rows: &BlockRows) -> Result<(), FitError> {
        for (decision, row, targets) in rows.groups[self.share.at].each(self.group.design.columns()) {
            if !self.share.takes(decision.has_next) {
                continue;
            }
            let weight = rows.weight(decision, self.share.outputs.start);
            let targets = &targets[self.share.outputs.clone()];
            self.weight += weight;
            self.targets.iter_mut().zip(targets).for_each(|(sum, y)| *sum += y);
            match (&mut self.sums, &self.group.bends) {
                (SystemSums::Products(products), Some(bends)) => products.add(row, bends, targets, weight),
                (SystemSums::Products(_), None) => unreachable!("products are in the coordinates of bends"),
                (SystemSums::Triangles(triangles), _) => {
                    triangles.iter_mut().try_for_each(|triangle| triangle.add(row, targets, weight))?;
                }
            }
        }
        Ok(())
    }

    /// Whether the sums determine the solution; if they do not, rows are to be added once more.
    fn solve(&mut self) -> Result<bool, FitError> {
        let again = triangles(self.group, &self.share);
        self.found = match (std::mem::replace(&mut self.sums, again), &self.group.bends) {
            _ if self.weight == 0.0 => Some(vec![Solution::unknown(self.columns()); self.share.outputs.len()]),
            (SystemSums::Products(products), Some(bends)) => products.finish().path(bends).map(|path| {
                // The targets of the sums are the share's own.
                let wanted: Vec<(usize, f64)> =
                    self.share.outputs.clone().map(|output| self.penalty(output)).enumerate().collect();
                let found = path.solutions(&wanted);
                let solution = |found: &[f64]| Solution {
                    coefficients: bends.to_design(found),
                    rank: self.columns(),
                    squares: f64::NAN,
                    is_known: true,
                };
                found.chunks_exact(self.columns()).map(solution).collect()
            }),
            (SystemSums::Products(_), None) => None,
            (SystemSums::Triangles(triangles), _) => {
                let solved = triangles.into_iter().map(|triangle| {
                    let penalty = self.penalty(self.share.outputs.start + triangle.outputs.start);
                    triangle.solve(&self.group.design, penalty, |_| None)
                });
                Some(solved.collect::<Result<Vec<_>, FitError>>()?.concat())
            }
        };
        if self.found.is_none() {
            self.weight = 0.0;
            self.targets.fill(0.0);
        }
        Ok(self.found.is_some())
    }

    fn columns(&self) -> usize {
        self.group.design.columns()
    }

    /// λ Σ w.
    fn penalty(&self, output: usize) -> f64 {
        self.group.smoothing[output].penalty * self.weight
    }

    /// Adds up residuals, and how far outputs are from their means.
    fn look(&mut self, rows: &BlockRows) {
        let Some(found) = &self.found else { return };
        let means: Vec<f64> = self.targets.iter().map(|sum| sum / self.share.decisions as f64).collect();
        for (decision, row, targets) in rows.groups[self.share.at].each(self.group.design.columns()) {
            if !self.share.takes(decision.has_next) {
                continue;
            }
            for (j, y) in targets[self.share.outputs.clone()].iter().enumerate() {
                let fitted: f64 = row.iter().zip(&found[j].coefficients).map(|(x, b)| x * b).sum();
                self.missed[j] += (y - fitted).powi(2);
                self.around_mean[j] += (y - means[j]).powi(2);
            }
        }
    }

    fn write(&self, coefficients: &mut Coefficients) {
        coefficients.write_known(&self.group.design, &self.share.outputs, self.found.as_deref().unwrap_or(&[]));
    }

    /// Rank, degrees of freedom and residual standard deviation of each output.
    fn findings(&self) -> Vec<Finding> {
        let finding = |(j, (output, solution)): (usize, (usize, &Solution))| {
            let degrees = self.group.degrees(output, solution);
            let is_plain = self.group.smoothing[output].penalty == 0.0;
            let squares = if is_plain { solution.squares } else { self.missed[j] };
            let sd = residual_sd(squares, degrees, self.share.decisions as f64, self.around_mean[j]);
            Finding { rank: solution.rank, degrees, residual_sd: if solution.is_known { sd } else { 0.0 } }
        };
        self.share.outputs.clone().zip(self.found.iter().flatten()).enumerate().map(finding).collect()
    }
}

fn triangles(group: &Group, share: &Share) -> SystemSums {
    let is_penalised = group.is_penalised(&share.outputs);
    SystemSums::Triangles(Triangle::of(group.design.columns(), share.outputs.len(), is_penalised, false))
}

/// What a report says about one output.
pub(super) struct Finding {
    pub rank: usize,
    pub degrees: f64,
    pub residual_sd: f64,
}

/// √(RSS / (n − degrees of freedom)), and no more than the spread of the output itself: where a level has about as many rows as the fit has
/// degrees of freedom, the first is a large number divided by a small one (122 was seen where people spread by 33).
fn residual_sd(sum_of_squares: f64, degrees: f64, rows: f64, around_mean: f64) -> f64 {
    let residual = (sum_of_squares / (rows - degrees).max(1.0)).sqrt();
    let raw = (around_mean / (rows - 1.0)).sqrt();
    if rows > 1.0 { residual.min(raw) } else { residual }
}

#[cfg(test)]
mod tests {
    use super::super::{Basis, FitSettings, Fitted, Pooling, fit};
    use super::*;
    use crate::kernel::model::Mechanism;
    use crate::kernel::people::{Labels, PanelBuilder, Person};

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
        // 10, 40, −25, 60, 20: mean 21, sum of squares 4120, four degrees of freedom.
        let raw = (4120.0f64 / 4.0).sqrt();
        // Plenty of rows left: as textbooks have it.
        assert_eq!(residual_sd(300.0, 2.0, 5.0, 4120.0), 10.0);
        // A smoother that used up its degrees of freedom and explained next to nothing.
        assert_eq!(residual_sd(4000.0, 4.9, 5.0, 4120.0), raw);
    }
}
