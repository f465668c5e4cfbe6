//! Which results belong to which figure, by the grids that were asked for, and what is missing.

use super::{Cell, Grid, Label, Record, Scale, Study};
use std::collections::{BTreeMap, BTreeSet};

/// The results of one label.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// The label.
    pub label: Label,
    /// The scale at which it was asked for.
    pub scale: Scale,
    /// Its finished cells, in canonical order.
    pub records: Vec<Record>,
    /// How many cells it has in all.
    pub total: usize,
    /// How many other sizes of it were asked for too; the one with the most finished cells is taken.
    pub others: usize,
}

/// The results of every label that was asked for, in the order of the report; a label of which nothing is finished has none.
pub fn select(grids: &[Grid], records: &[Record], studies: &[Study]) -> Vec<Selection> {
    let by_key: BTreeMap<String, &Record> = records.iter().map(|record| (record.cell.key(), record)).collect();
    let mut selections = Vec::new();
    for label in Label::EVERY {
        let mut found: Vec<Selection> = Vec::new();
        for grid in grids.iter().filter(|grid| grid.labels().contains(&label)) {
            let cells = grid.cells_of(label, studies);
            let records: Vec<Record> =
                cells.iter().filter_map(|c| by_key.get(&c.key())).map(|r| (*r).clone()).collect();
            let known = found.iter_mut().find(|other| other.total == cells.len() && other.records == records);
            if !records.is_empty() && known.is_none() {
                found.push(Selection { label, scale: grid.scale().clone(), records, total: cells.len(), others: 0 });
            }
        }
        let others = found.len().saturating_sub(1);
        let largest = found.into_iter().max_by_key(|selection| selection.records.len());
        selections.extend(largest.map(|selection| Selection { others, ..selection }));
    }
    selections
}

/// The cells that grids ask for and records do not have, each with its position in the canonical order of its grid.
pub fn missing(grids: &[Grid], records: &[Record], studies: &[Study]) -> Vec<(usize, Cell)> {
    let known: BTreeSet<String> = records.iter().map(|record| record.cell.key()).collect();
    let mut missing: BTreeMap<String, (usize, Cell)> = BTreeMap::new();
    for grid in grids {
        for (position, cell) in grid.cells(studies).into_iter().enumerate().filter(|(_, c)| !known.contains(&c.key())) {
            missing.entry(cell.key()).or_insert((position, cell));
        }
    }
    missing.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduction::Learner;

    fn grid(scale: Scale, labels: &[Label]) -> (Grid, Vec<Record>) {
        let grid = Grid::new(labels, scale, &[]);
        let records = grid.cells(&[]).into_iter().map(|cell| Record { cell, results: vec![] }).collect();
        (grid, records)
    }

    /// A full run of three seeds and a quick one of two in one file, and both learners on one seed.
    fn three_grids() -> (Vec<Grid>, Vec<Record>) {
        let parts = [
            grid(Scale { seeds: 2, ..Scale::quick() }, &[Label::SimAll]),
            grid(Scale { seeds: 3, ..Scale::paper() }, &[Label::SimAll]),
            grid(Scale { learner_seeds: 1, ..Scale::paper() }, &[Label::Learners]),
        ];
        let (grids, records): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        (grids, records.concat())
    }

    #[test]
    fn every_label_gets_the_cells_that_were_asked_for_under_it() {
        let (grids, records) = three_grids();
        let found = select(&grids, &records, &[]);
        let counts: Vec<_> =
            found.iter().map(|s| (s.label, s.scale.seeds, s.records.len(), s.total, s.others)).collect();
        assert_eq!(counts, [(Label::SimAll, 3, 3 * 18, 3 * 18, 1), (Label::Learners, 100, 8, 8, 0)]);
        let learners = |label: Label| -> BTreeSet<Learner> {
            let of = found.iter().filter(|s| s.label == label).flat_map(|s| &s.records);
            of.map(|r| r.cell.learner()).collect()
        };
        assert_eq!(learners(Label::SimAll), [Learner::LeastSquares].into());
        assert_eq!(learners(Label::Learners), [Learner::LeastSquares, Learner::Neural].into());
        // The order in which they were asked for plays no part, nor does asking twice.
        let again: Vec<Grid> = grids.iter().rev().chain(&grids).cloned().collect();
        assert_eq!(select(&again, &records, &[]), found);
    }

    #[test]
    fn what_is_missing_is_named_with_its_place() {
        let (grids, mut records) = three_grids();
        assert_eq!(missing(&grids, &records, &[]), []);
        let gone = grids[1].cells(&[])[7].clone();
        records.retain(|record| record.cell != gone);
        assert_eq!(missing(&grids, &records, &[]), [(7, gone)]);
        assert_eq!(missing(&grids[..1], &records, &[]), [], "no other grid asks for it");
        let found = select(&grids, &records, &[]);
        assert_eq!((found[0].records.len(), found[0].total), (3 * 18 - 1, 3 * 18));
    }
}
