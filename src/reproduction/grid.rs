//! The paper's figures and tables as lists of cells: declared, not coded.

use super::summary::of_one_grid;
use super::{Cell, Learner, Method, Record, SemiSynthetic, Setting, Split, Study, Synthetic};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// A figure or table, by the label it has in the source document; those that go beyond it follow the same pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    /// `fig:sim_all`, with the lines that go beyond it.
    SimAll,
    /// `fig:semi`.
    Semi,
    /// `table:real_data`.
    RealData,
    /// `fig:real_action_percentage`; the same cells as `table:real_data`.
    RealActionPercentage,
    /// `table:learners`, beyond the paper: some cells of `fig:sim_all` by least squares and by the paper's networks.
    Learners,
}

impl Label {
    /// Those of the paper, in the order of the report.
    pub const PAPER: [Self; 4] = [Self::SimAll, Self::Semi, Self::RealData, Self::RealActionPercentage];
    /// Every one there is.
    pub const EVERY: [Self; 5] = [Self::SimAll, Self::Semi, Self::RealData, Self::RealActionPercentage, Self::Learners];
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SimAll => "fig:sim_all",
            Self::Semi => "fig:semi",
            Self::RealData => "table:real_data",
            Self::RealActionPercentage => "fig:real_action_percentage",
            Self::Learners => "table:learners",
        })
    }
}

/// A name that is no label.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a label; the labels are fig:sim_all, fig:semi, table:real_data, fig:real_action_percentage, table:learners"
)]
pub struct UnknownLabel(pub String);

impl FromStr for Label {
    type Err = UnknownLabel;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::EVERY.into_iter().find(|label| label.to_string() == name).ok_or_else(|| UnknownLabel(name.into()))
    }
}

/// How large a reproduction is.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// N of panels a and d.
    pub sizes: Vec<usize>,
    /// N of panels c and f, and of what goes beyond the paper.
    pub size: usize,
    /// δ of panels c and f.
    pub strengths: Vec<f64>,
    /// δ of panels a, b, d and e.
    pub strength: f64,
    /// T of the data.
    pub horizon: usize,
    /// People followed to evaluate a policy.
    pub evaluation_people: usize,
    /// Decisions they are followed for, as in the paper.
    pub evaluation_horizon: usize,
    /// Decisions after which γᵗ is out of sight, so that values can be held against J*.
    pub long_horizon: usize,
    /// Weights of the mixtures of Full and Ours.
    pub weights: Vec<f64>,
    /// η of `fig:semi`, of both signs: the source document does not say which group it moves, and the answer depends on it.
    pub shifts: Vec<f64>,
    /// N of `fig:semi`.
    pub semi_people: usize,
    /// T of `fig:semi`.
    pub semi_horizon: usize,
    /// N of `table:learners`.
    pub learner_sizes: Vec<usize>,
    /// Replicates of `table:learners`: networks take a hundred times as long as least squares.
    pub learner_seeds: u64,
    /// Replicates of the simulations.
    pub seeds: u64,
    /// Splits of a study.
    pub splits: u64,
    /// How means and action values are fitted.
    pub learner: Learner,
}

impl Scale {
    /// The paper's sizes.
    pub fn paper() -> Self {
        Self {
            sizes: vec![100, 200, 500, 1000, 2000],
            size: 1000,
            strengths: vec![0.0, 0.5, 1.0, 1.5, 2.0],
            strength: 1.0,
            horizon: 10,
            evaluation_people: 10_000,
            evaluation_horizon: 20,
            long_horizon: 100,
            weights: vec![0.1, 0.25, 0.5, 0.75, 0.9],
            shifts: vec![-2.0, -1.0, 0.0, 1.0, 2.0],
            semi_people: 1000,
            semi_horizon: 12,
            learner_sizes: vec![100, 1000],
            learner_seeds: 10,
            seeds: 100,
            splits: 10,
            learner: Learner::LeastSquares,
        }
    }

    /// Small enough for a minute on two cores: fewer seeds, fewer people followed, the same laws.
    pub fn quick() -> Self {
        Self {
            sizes: vec![100, 200, 500, 1000],
            strengths: vec![0.0, 1.0, 2.0],
            evaluation_people: 2000,
            shifts: vec![-2.0, 0.0, 2.0],
            semi_people: 500,
            learner_seeds: 2,
            seeds: 6,
            splits: 3,
            ..Self::paper()
        }
    }

    /// The paper's scale with sizes, seeds, splits, people followed and learner read off results, for those that were only joined. Where
    /// there are several grids, those of [`of_one_grid`] by the first learner are meant.
    pub fn covering(records: &[Record]) -> Self {
        let learner = records.iter().map(|record| record.cell.learner()).min().unwrap_or(Learner::LeastSquares);
        let mut scale = Self { seeds: 0, splits: 0, learner, ..Self::paper() };
        let (mut sizes, mut strengths, mut shifts) = (BTreeSet::new(), Vec::new(), Vec::new());
        for record in of_one_grid(records, learner) {
            match &record.cell {
                Cell::Synthetic(c) => {
                    scale.seeds = scale.seeds.max(c.seed);
                    scale.evaluation_people = c.evaluation_people;
                    sizes.insert(c.people);
                    strengths.push(c.strength);
                }
                Cell::SemiSynthetic(c) => {
                    scale.seeds = scale.seeds.max(c.seed);
                    scale.semi_people = c.people;
                    shifts.push(c.shift);
                }
                Cell::Split(c) => scale.splits = scale.splits.max(c.seed),
            }
        }
        let distinct = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values.dedup();
            values
        };
        (scale.sizes, scale.strengths, scale.shifts) =
            (sizes.into_iter().collect(), distinct(strengths), distinct(shifts));
        scale
    }

    /// The cells of some labels, in canonical order, each once. `studies` are those that the labels on data refer to.
    pub fn cells(&self, labels: &[Label], studies: &[Study]) -> Vec<Cell> {
        let mut cells = Vec::new();
        for label in labels {
            match label {
                Label::SimAll => cells.extend(self.sim_all()),
                Label::Learners => cells.extend(self.learners()),
                Label::Semi => studies.iter().filter(|s| s.is_simulated()).for_each(|s| cells.extend(self.semi(s))),
                Label::RealData | Label::RealActionPercentage => {
                    studies.iter().for_each(|study| cells.extend(self.real_data(study)));
                }
            }
        }
        cells.sort_by_cached_key(Cell::key);
        cells.dedup();
        cells
    }

    /// `fig:sim_all` a–f; those of a, b, d and e over a long horizon too.
    fn sim_all(&self) -> Vec<Cell> {
        let paper: Vec<Method> = Method::PAPER.into_iter().chain([Method::TrueMeans]).collect();
        let over_size: Vec<Method> = paper.iter().copied().chain([Method::KnownForm]).collect();
        let with_mixtures: Vec<Method> =
            over_size.iter().copied().chain(self.weights.iter().map(|&w| Method::Mixture(w))).collect();
        let mut cells = Vec::new();
        for world in [Setting::Linear, Setting::Nonlinear] {
            for seed in 1..=self.seeds {
                let mut push = |people, strength, long_horizon, methods: &[Method]| {
                    cells.push(Cell::Synthetic(Synthetic {
                        world,
                        strength,
                        people,
                        horizon: self.horizon,
                        evaluation_people: self.evaluation_people,
                        evaluation_horizon: self.evaluation_horizon,
                        long_horizon,
                        methods: methods.to_vec(),
                        learner: self.learner,
                        seed,
                    }));
                };
                for &people in &self.sizes {
                    let methods = if people == self.size { &with_mixtures } else { &over_size };
                    push(people, self.strength, Some(self.long_horizon), methods);
                }
                let on_both = |strength: f64| strength == self.strength && self.sizes.contains(&self.size);
                for &strength in self.strengths.iter().filter(|s| !on_both(**s)) {
                    let methods = if strength == self.strength { &with_mixtures } else { &paper };
                    push(self.size, strength, None, methods);
                }
            }
        }
        cells
    }

    /// `table:learners`: cells that `fig:sim_all` has too, by both learners, so that nothing is done twice in one folder.
    fn learners(&self) -> Vec<Cell> {
        let by = |learner| Self { seeds: self.learner_seeds, learner, ..self.clone() }.sim_all();
        let wanted = |cell: &Cell| {
            let Cell::Synthetic(c) = cell else { return false };
            c.strength == self.strength && self.learner_sizes.contains(&c.people)
        };
        [Learner::LeastSquares, Learner::Neural].into_iter().flat_map(by).filter(wanted).collect()
    }

    /// `fig:semi`, one panel an attribute.
    fn semi(&self, study: &Study) -> Vec<Cell> {
        let mut cells = Vec::new();
        for attribute in study.attributes() {
            for &shift in &self.shifts {
                for seed in 1..=self.seeds {
                    cells.push(Cell::SemiSynthetic(SemiSynthetic {
                        study: study.name().into(),
                        attribute: attribute.into(),
                        shift,
                        people: self.semi_people,
                        horizon: self.semi_horizon,
                        evaluation_people: self.evaluation_people,
                        evaluation_horizon: self.evaluation_horizon,
                        methods: vec![Method::Full, Method::Unaware, Method::Oracle, Method::Random, Method::Ours],
                        learner: self.learner,
                        seed,
                    }));
                }
            }
        }
        cells
    }

    /// `table:real_data`, one column an attribute.
    fn real_data(&self, study: &Study) -> Vec<Cell> {
        let methods = vec![Method::Full, Method::Random, Method::Unaware, Method::Ours];
        let split = |attribute: &str, seed| {
            let (study, attribute) = (study.name().to_string(), attribute.to_string());
            Cell::Split(Split { study, attribute, methods: methods.clone(), learner: self.learner, seed })
        };
        study
            .attributes()
            .flat_map(|attribute| (1..=self.splits).map(move |seed| (attribute, seed)))
            .map(|(attribute, seed)| split(attribute, seed))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_the_learners_are_cells_of_the_figure_by_both() {
        let scale = Scale { learner_seeds: 2, ..Scale::paper() };
        let keys = |learner, seeds, label: &[Label]| -> BTreeSet<String> {
            Scale { learner, seeds, ..scale.clone() }.cells(label, &[]).iter().map(Cell::key).collect()
        };
        let both = keys(Learner::LeastSquares, 100, &[Label::Learners]);
        assert_eq!(both.len(), 2 * 2 * 2 * 2, "two worlds, sizes, seeds and learners");
        let figure: BTreeSet<String> = [Learner::LeastSquares, Learner::Neural]
            .map(|l| keys(l, 2, &[Label::SimAll]))
            .into_iter()
            .flatten()
            .collect();
        assert!(both.is_subset(&figure));
    }

    #[test]
    fn a_scale_read_off_results_is_that_of_the_first_learner() {
        let scale = Scale { seeds: 7, learner_seeds: 3, ..Scale::quick() };
        let cells = scale.cells(&[Label::SimAll, Label::Learners], &[]);
        let records: Vec<Record> = cells.into_iter().map(|cell| Record { cell, results: vec![] }).collect();
        let read = Scale::covering(&records);
        assert_eq!((read.learner, read.seeds, read.evaluation_people), (Learner::LeastSquares, 7, 2000));
        assert_eq!((read.sizes, read.strengths), (scale.sizes, scale.strengths));
        let neural: Vec<Record> = records.into_iter().filter(|r| r.cell.learner() == Learner::Neural).collect();
        let read = Scale::covering(&neural);
        assert_eq!((read.learner, read.seeds, read.sizes), (Learner::Neural, 3, vec![100, 1000]));
    }

    #[test]
    fn every_label_is_read_back_from_its_name() {
        for label in Label::EVERY {
            assert_eq!(label.to_string().parse(), Ok(label));
        }
        assert!(Label::PAPER.iter().all(|label| *label != Label::Learners), "networks are slow: only on request");
    }
}
