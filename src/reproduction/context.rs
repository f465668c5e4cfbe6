//! What cells refer to by name: studies, and the generative models fitted to them.

use super::generative::Generative;
use super::journal::Header;
use super::policies::Stages;
use super::regret::Meters;
use super::synthetic::Comparison;
use super::{Cell, Record, Shard, Study};
use crate::estimate::FitError;
use crate::kernel::numeric::Stream;
use crate::kernel::people::Panel;
use crate::theory::optimum::OptimumError;
use rayon::prelude::*;
use std::sync::OnceLock;

/// A study seen through one of its attributes; the generative model is fitted when it is first asked for.
#[derive(Debug)]
struct Aspect {
    study: String,
    attribute: String,
    panel: Panel,
    model: OnceLock<Result<Generative, FitError>>,
}

/// The studies that cells may name.
#[derive(Debug, Default)]
pub struct Context {
    studies: Vec<Study>,
    aspects: Vec<Aspect>,
    meters: Meters,
}

/// A cell that cannot be done, whatever its seed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CellError {
    /// No such study, or no such attribute of it.
    #[error("there is no study `{study}` with an attribute `{attribute}`")]
    Unknown {
        /// The study asked for.
        study: String,
        /// The attribute asked for.
        attribute: String,
    },
    /// The generative model of a study cannot be fitted.
    #[error("study `{study}`, attribute `{attribute}`: {reason}")]
    Model {
        /// The study.
        study: String,
        /// The attribute.
        attribute: String,
        /// Why.
        reason: FitError,
    },
    /// The best fair policy of a world cannot be computed.
    #[error(transparent)]
    Optimum(#[from] OptimumError),
}

impl Context {
    /// These studies.
    pub fn new(studies: Vec<Study>) -> Self {
        let aspects = studies.iter().flat_map(|study| {
            study.attributes().map(|attribute| Aspect {
                study: study.name().into(),
                attribute: attribute.into(),
                panel: study.panel(attribute).expect("an attribute of the study"),
                model: OnceLock::new(),
            })
        });
        let aspects = aspects.collect();
        Self { studies, aspects, meters: Meters::default() }
    }

    /// All studies.
    pub fn studies(&self) -> &[Study] {
        &self.studies
    }

    /// The header of files of results made with these studies.
    pub fn header(&self, shard: Shard) -> Header {
        Header::new(&self.studies, shard)
    }

    /// Fits the generative models and solves for the optima that some cells will ask for.
    ///
    /// It is done before cells run side by side: a thread that waits inside a fit may take up another cell, and that cell must not wait for
    /// the same fit.
    ///
    /// # Errors
    /// [`CellError`].
    pub fn prepare(&self, cells: &[&Cell]) -> Result<(), CellError> {
        let mut names: Vec<(&str, &str)> = cells
            .iter()
            .filter_map(|cell| match cell {
                Cell::Synthetic(_) | Cell::Regret(_) => None,
                Cell::SemiSynthetic(c) => Some((c.study.as_str(), c.attribute.as_str())),
                Cell::Split(c) => Some((c.study.as_str(), c.attribute.as_str())),
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        for cell in cells {
            if let Cell::Regret(c) = cell {
                self.meters.at(c.world, c.strength)?;
            }
        }
        names.into_par_iter().try_for_each(|(study, attribute)| self.aspect(study, attribute).map(|_| ()))
    }

    /// Does a cell.
    ///
    /// # Errors
    /// [`CellError`].
    pub fn run(&self, cell: &Cell) -> Result<(Record, Stages), CellError> {
        let (results, stages) = match cell {
            Cell::Synthetic(synthetic) => synthetic.run(),
            Cell::Regret(c) => c.run(&self.meters.at(c.world, c.strength)?),
            Cell::SemiSynthetic(c) => {
                let (_, model) = self.aspect(&c.study, &c.attribute)?;
                let comparison = Comparison {
                    data: (c.people, c.horizon),
                    evaluation: (c.evaluation_people, c.evaluation_horizon),
                    long_horizon: None,
                    methods: &c.methods,
                    learner: c.learner,
                    stream: c.stream(),
                };
                comparison.run(&model.shifted(c.shift))
            }
            Cell::Split(c) => {
                let (panel, model) = self.aspect(&c.study, &c.attribute)?;
                c.run(panel, model)
            }
        };
        Ok((Record { cell: cell.clone(), results }, stages))
    }

    /// Does cells side by side and keeps nothing but their records, in the order of the cells: for grids of a size that one waits for.
    ///
    /// # Errors
    /// [`CellError`].
    pub fn run_all(&self, cells: &[Cell]) -> Result<Vec<Record>, CellError> {
        self.prepare(&cells.iter().collect::<Vec<_>>())?;
        cells.par_iter().with_max_len(1).map(|cell| Ok(self.run(cell)?.0)).collect()
    }

    /// The panel of a study seen through an attribute, and its generative model, whose one fit depends on no seed of a cell.
    fn aspect(&self, study: &str, attribute: &str) -> Result<(&Panel, &Generative), CellError> {
        let name = || (study.to_string(), attribute.to_string());
        let found = self.aspects.iter().find(|a| a.study == study && a.attribute == attribute).ok_or_else(|| {
            let (study, attribute) = name();
            CellError::Unknown { study, attribute }
        })?;
        let stream = Stream::new(0).named("generative").named(study).named(attribute);
        let model = found.model.get_or_init(|| Generative::fit(&found.panel, stream));
        model.as_ref().map(|model| (&found.panel, model)).map_err(|reason| {
            let (study, attribute) = name();
            CellError::Model { study, attribute, reason: reason.clone() }
        })
    }
}
