//! Means over seeds, with their intervals.

use super::{Cell, Learner, Measured, Method, Record};
use crate::kernel::numeric::{Estimate, SlopeError, SlopeFit, Stream, log_log_slope};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

/// Coverage of every interval that is shown.
pub const CONFIDENCE: f64 = 0.95;
/// Resamples behind the interval of a slope.
const RESAMPLES: usize = 2000;

/// A method at one point of a figure, over seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// N, δ, η or whatever the horizontal axis shows.
    pub at: f64,
    /// `eq:cf_metric`; seeds are the units.
    pub unfairness: Estimate,
    /// The value; seeds are the units.
    pub value: Estimate,
    /// The value over the long horizon; of no unit where there is none.
    pub long_value: Estimate,
    /// Standard deviations over seeds, of the CF metric and of the value: what `table:real_data` prints in brackets.
    pub deviations: (f64, f64),
    /// Seeds at which the method could not be learned.
    pub missing: usize,
}

/// What tells cells of different grids apart: one file may hold a quick run beside a full one, or two learners.
type Grid = (&'static str, Learner, Option<usize>);

fn grid(cell: &Cell) -> Grid {
    (cell.kind(), cell.learner(), cell.evaluation_people())
}

/// Of each kind of cell those of one grid, so that nothing is averaged that does not belong together: by the learner that is asked for, or
/// the first there is, and with the most people followed.
pub fn of_one_grid(records: &[Record], learner: Learner) -> Vec<Record> {
    let mut chosen: BTreeMap<&'static str, (bool, Learner, Reverse<Option<usize>>)> = BTreeMap::new();
    let rank = |cell: &Cell| (cell.learner() != learner, cell.learner(), Reverse(cell.evaluation_people()));
    for cell in records.iter().map(|record| &record.cell) {
        let best = chosen.entry(cell.kind()).or_insert_with(|| rank(cell));
        *best = (*best).min(rank(cell));
    }
    records.iter().filter(|record| chosen[record.cell.kind()] == rank(&record.cell)).cloned().collect()
}

/// How many cells are missing for every setting to have all seeds from 1 to the largest of its grid: what a shard that was lost or cut
/// off leaves behind.
pub fn missing_replicates(records: &[Record]) -> usize {
    let mut settings: BTreeMap<String, (Grid, HashSet<u64>)> = BTreeMap::new();
    let mut largest: BTreeMap<Grid, u64> = BTreeMap::new();
    for cell in records.iter().map(|record| &record.cell) {
        let key = cell.key();
        let setting = key.rsplit_once("/seed=").map_or(key.clone(), |(setting, _)| setting.to_string());
        settings.entry(setting).or_insert_with(|| (grid(cell), HashSet::new())).1.insert(cell.seed());
        let seed = largest.entry(grid(cell)).or_default();
        *seed = cell.seed().max(*seed);
    }
    settings.values().map(|(grid, seeds)| largest[grid] as usize - seeds.len()).sum()
}

/// The cells that a predicate picks, grouped by the number it gives them and summarised for one method; ascending.
pub fn curve(records: &[Record], method: Method, at: impl Fn(&Cell) -> Option<f64>) -> Vec<Point> {
    let mut groups: Vec<(f64, Vec<&Record>)> = Vec::new();
    for record in records {
        let Some(x) = at(&record.cell) else { continue };
        if !record.results.iter().any(|r| r.method == method) {
            continue;
        }
        match groups.iter_mut().find(|(at, _)| *at == x) {
            Some((_, group)) => group.push(record),
            None => groups.push((x, vec![record])),
        }
    }
    groups.sort_by(|a, b| a.0.total_cmp(&b.0));
    groups.into_iter().map(|(at, group)| point(at, method, &group)).collect()
}

fn point(at: f64, method: Method, group: &[&Record]) -> Point {
    let measured: Vec<&Measured> = group.iter().filter_map(|r| r.measured(method)).collect();
    let unfairness: Vec<f64> = measured.iter().map(|m| m.unfairness.mean).collect();
    let value: Vec<f64> = measured.iter().map(|m| m.value.mean).collect();
    let long: Vec<f64> = measured.iter().filter_map(|m| m.long_value.map(|v| v.mean)).collect();
    let deviation = |e: Estimate| if e.count > 1 { e.standard_error * (e.count as f64).sqrt() } else { 0.0 };
    let (unfairness, value) = (Estimate::of(&unfairness), Estimate::of(&value));
    let deviations = (deviation(unfairness), deviation(value));
    Point { at, unfairness, value, long_value: Estimate::of(&long), deviations, missing: group.len() - measured.len() }
}

/// The rate at which a method's CF metric falls: log mean against log of what `at` gives.
///
/// # Errors
/// [`SlopeError`] when there is nothing to take a logarithm of.
pub fn rate(records: &[Record], method: Method, at: impl Fn(&Cell) -> Option<f64>) -> Result<SlopeFit, SlopeError> {
    let mut groups: Vec<(f64, Vec<f64>)> = Vec::new();
    for record in records {
        let (Some(x), Some(measured)) = (at(&record.cell), record.measured(method)) else { continue };
        match groups.iter_mut().find(|(at, _)| *at == x) {
            Some((_, values)) => values.push(measured.unfairness.mean),
            None => groups.push((x, vec![measured.unfairness.mean])),
        }
    }
    groups.sort_by(|a, b| a.0.total_cmp(&b.0));
    let sizes: Vec<f64> = groups.iter().map(|(at, _)| *at).collect();
    let samples: Vec<Vec<f64>> = groups.into_iter().map(|(_, values)| values).collect();
    log_log_slope(&sizes, &samples, CONFIDENCE, RESAMPLES, Stream::new(0).named("rate"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduction::{Label, Scale};

    fn cells(scale: Scale, labels: &[Label]) -> Vec<Record> {
        scale.cells(labels, &[]).into_iter().map(|cell| Record { cell, results: vec![] }).collect()
    }

    /// A full run of three seeds, a quick one of two, and networks on one.
    fn three_grids() -> Vec<Record> {
        let mut all = cells(Scale { seeds: 3, ..Scale::paper() }, &[Label::SimAll]);
        all.extend(cells(Scale { seeds: 2, ..Scale::quick() }, &[Label::SimAll]));
        all.extend(cells(Scale { seeds: 1, learner: Learner::Neural, ..Scale::paper() }, &[Label::SimAll]));
        all
    }

    #[test]
    fn grids_in_one_file_are_told_apart() {
        let all = three_grids();
        let grids = |learner| -> Vec<(Learner, Option<usize>, usize)> {
            let found = of_one_grid(&all, learner);
            assert!(found.iter().all(|r| grid(&r.cell) == grid(&found[0].cell)));
            vec![(found[0].cell.learner(), found[0].cell.evaluation_people(), found.len())]
        };
        assert_eq!(grids(Learner::LeastSquares), [(Learner::LeastSquares, Some(10_000), 3 * 18)]);
        assert_eq!(grids(Learner::Neural), [(Learner::Neural, Some(10_000), 18)]);
        // Nobody has learned by the third: the first there is.
        assert_eq!(grids(Learner::Quadratic), [(Learner::LeastSquares, Some(10_000), 3 * 18)]);
    }

    #[test]
    fn seeds_are_missing_from_their_own_grid_only() {
        let mut all = three_grids();
        assert_eq!(missing_replicates(&all), 0);
        all.retain(|r| !(r.cell.seed() == 2 && r.cell.evaluation_people() == Some(10_000)));
        assert_eq!(missing_replicates(&all), 18);
    }
}
