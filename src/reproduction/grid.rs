//! The paper's figures and tables as lists of cells: declared, not coded.

use super::{Cell, Learner, Method, PaperWorld, RegretScale, SemiSynthetic, Split, Study, Synthetic};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
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
    /// `fig:regret`, beyond the paper: what is lost to the best fair policy, against N and against an error in the means.
    Regret,
}

impl Label {
    /// What a full run does, in the order of the report: the paper's figures and tables, and what its theorems are about.
    pub const PAPER: [Self; 5] = [Self::SimAll, Self::Regret, Self::Semi, Self::RealData, Self::RealActionPercentage];
    /// Every one there is.
    pub const EVERY: [Self; 6] =
        [Self::SimAll, Self::Regret, Self::Semi, Self::RealData, Self::RealActionPercentage, Self::Learners];
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SimAll => "fig:sim_all",
            Self::Semi => "fig:semi",
            Self::RealData => "table:real_data",
            Self::RealActionPercentage => "fig:real_action_percentage",
            Self::Learners => "table:learners",
            Self::Regret => "fig:regret",
        })
    }
}

/// A name that is no label.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a label; the labels are fig:sim_all, fig:semi, table:real_data, fig:real_action_percentage, table:learners, fig:regret"
)]
pub struct UnknownLabel(pub String);

impl FromStr for Label {
    type Err = UnknownLabel;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::EVERY.into_iter().find(|label| label.to_string() == name).ok_or_else(|| UnknownLabel(name.into()))
    }
}

impl Serialize for Label {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Label {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Labels at a scale: everything that decides which cells there are. Files of results carry theirs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    labels: Vec<Label>,
    scale: Scale,
    studies: Vec<String>,
}

impl Grid {
    /// Some labels; those on data are about these studies.
    pub fn new(labels: &[Label], scale: Scale, studies: &[Study]) -> Self {
        let mut labels = labels.to_vec();
        labels.sort_unstable();
        labels.dedup();
        // Studies that no label speaks of are no part of the grid.
        let named = studies.iter().filter(|study| labels.iter().any(|label| label.speaks_of(study)));
        let mut studies: Vec<String> = named.map(|study| study.name().to_string()).collect();
        studies.sort();
        Self { labels, scale, studies }
    }

    /// The labels, each once, in the order of the report.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// The sizes.
    pub fn scale(&self) -> &Scale {
        &self.scale
    }

    /// The names of the studies that its cells are about.
    pub fn studies(&self) -> impl Iterator<Item = &str> {
        self.studies.iter().map(String::as_str)
    }

    /// All cells, in canonical order, each once. Studies that the grid does not name have no part in it.
    pub fn cells(&self, studies: &[Study]) -> Vec<Cell> {
        self.scale.cells_about(&self.labels, &self.own(studies))
    }

    /// The cells of one of its labels; none for another.
    pub fn cells_of(&self, label: Label, studies: &[Study]) -> Vec<Cell> {
        if self.labels.contains(&label) { self.scale.cells_about(&[label], &self.own(studies)) } else { Vec::new() }
    }

    fn own<'a>(&self, studies: &'a [Study]) -> Vec<&'a Study> {
        studies.iter().filter(|study| self.studies().any(|name| name == study.name())).collect()
    }
}

impl Label {
    /// Whether the label has cells about this study.
    fn speaks_of(self, study: &Study) -> bool {
        match self {
            Self::SimAll | Self::Learners | Self::Regret => false,
            Self::Semi => study.is_simulated(),
            Self::RealData | Self::RealActionPercentage => true,
        }
    }
}

/// How large a reproduction is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    /// Sizes of `fig:regret`.
    #[serde(default)]
    pub regret: RegretScale,
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
            regret: RegretScale::default(),
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
            regret: RegretScale::quick(),
            ..Self::paper()
        }
    }

    /// The cells of some labels, in canonical order, each once. `studies` are those that the labels on data refer to.
    pub fn cells(&self, labels: &[Label], studies: &[Study]) -> Vec<Cell> {
        self.cells_about(labels, &studies.iter().collect::<Vec<_>>())
    }

    fn cells_about(&self, labels: &[Label], studies: &[&Study]) -> Vec<Cell> {
        let mut cells = Vec::new();
        for label in labels {
            match label {
                Label::SimAll => cells.extend(self.sim_all()),
                Label::Learners => cells.extend(self.learners()),
                Label::Regret => cells.extend(self.regret.cells(self)),
                Label::Semi | Label::RealData | Label::RealActionPercentage => {
                    for study in studies.iter().filter(|study| label.speaks_of(study)) {
                        cells.extend(if *label == Label::Semi { self.semi(study) } else { self.real_data(study) });
                    }
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
        for world in [PaperWorld::Linear, PaperWorld::Nonlinear] {
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
    use std::collections::BTreeSet;

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
    fn a_grid_names_the_studies_that_its_labels_speak_of_and_is_read_back() {
        let studies = [Study::stand_in()];
        let scale = Scale { seeds: 2, splits: 3, ..Scale::quick() };
        let grid = |labels: &[Label]| Grid::new(labels, scale.clone(), &studies);
        assert_eq!(grid(&[Label::SimAll]).studies().count(), 0);
        let both = grid(&[Label::RealData, Label::Semi, Label::RealData]);
        assert_eq!(
            (both.labels(), both.studies().collect::<Vec<_>>()),
            (&[Label::Semi, Label::RealData][..], vec!["stand-in"])
        );
        assert_eq!(both.cells(&studies).len(), 4 * 3 * 2 + 4 * 3, "attributes by shifts by seeds, and by splits");
        assert_eq!(both.cells_of(Label::RealData, &studies).len(), 4 * 3);
        assert!(both.cells_of(Label::SimAll, &studies).is_empty());
        assert!(grid(&[Label::SimAll]).cells_of(Label::SimAll, &studies).len() > 20);
        let text = serde_json::to_string(&both).expect("a grid");
        assert_eq!(serde_json::from_str::<Grid>(&text).expect("our own text"), both);
    }

    #[test]
    fn the_semi_synthetic_figure_is_about_simulated_studies_alone() {
        let drawn = Study::stand_in();
        let name = drawn.attributes().next().expect("an attribute").to_string();
        let (attribute, panel) =
            (drawn.attribute(&name).expect("its own").clone(), drawn.panel(&name).expect("its own"));
        let observed = Study::new("observed", crate::reproduction::Origin::File, "", &[], vec![attribute], panel);
        let studies = [drawn, observed];
        let grid =
            Grid::new(&[Label::Semi, Label::RealData], Scale { seeds: 1, splits: 1, ..Scale::quick() }, &studies);
        let about = |label| -> BTreeSet<String> {
            grid.cells_of(label, &studies).iter().filter_map(|cell| cell.study().map(String::from)).collect()
        };
        assert_eq!(about(Label::Semi), BTreeSet::from(["stand-in".to_string()]));
        assert_eq!(about(Label::RealData), BTreeSet::from(["observed".to_string(), "stand-in".to_string()]));
    }

    /// Whatever is changed in a cell of any figure, its key changes: a journal that took one for the other would hand on wrong results.
    #[test]
    fn a_cell_with_anything_else_in_it_has_another_key() {
        let studies = [Study::stand_in()];
        let scale = Scale { seeds: 1, splits: 1, learner_seeds: 1, ..Scale::quick() };
        for label in [Label::SimAll, Label::Semi, Label::RealData, Label::Regret] {
            let cell = scale.cells(&[label], &studies).swap_remove(0);
            let text = serde_json::to_value(&cell).expect("a cell");
            let mut changed = 0;
            for (field, value) in text.as_object().expect("fields").iter().filter(|(field, _)| *field != "kind") {
                let other = match value {
                    serde_json::Value::Array(methods) => methods[1..].into(),
                    serde_json::Value::Number(n) => match n.as_u64() {
                        Some(n) => (n + 1).into(),
                        None => (n.as_f64().expect("a number") + 0.25).into(),
                    },
                    serde_json::Value::String(name) if name == "linear" => "nonlinear".into(),
                    serde_json::Value::String(_) if field == "learner" => "neural".into(),
                    serde_json::Value::String(name) => format!("{name}-2").into(),
                    _ => continue,
                };
                let mut text = text.clone();
                text[field] = other;
                let other: Cell = serde_json::from_value(text).expect("a cell");
                assert_ne!(other.key(), cell.key(), "{label}: {field}");
                changed += 1;
            }
            assert!(changed >= 5, "{label}: {changed} fields");
        }
    }

    #[test]
    fn every_label_is_read_back_from_its_name() {
        for label in Label::EVERY {
            assert_eq!(label.to_string().parse(), Ok(label));
        }
        assert!(Label::PAPER.iter().all(|label| *label != Label::Learners), "networks are slow: only on request");
    }
}
