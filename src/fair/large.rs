//! People who do not fit in memory: read in blocks onto disk, then passed over.

use super::policy::Parts;
use super::recorded_steps::Values;
use super::{
    Error, Learned, Learner, Manifest, Method, People, Policy, Preprocessing, Seen, StoredQ, ValueClass, reservation,
    warnings,
};
use crate::estimate::stable_q::{Coordinates, StableQ, StableSettings, stable_fitted_q};
use crate::estimate::{FitError, Fitted, Views, fit as fit_mechanism, stored_batch};
use crate::fair::Features;
use crate::files::{LargeRead, ReadOptions, Scratch, StoredPanel, read_large, write_preprocessed_blocks};
use crate::kernel::learn::FittedQError;
use crate::kernel::preprocess::{Full, Preprocessor, Sequential, Unaware, View, batch};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How much memory may be used, and where there is room on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// Bytes.
    pub bytes: usize,
    /// The folder in which scratch files are laid down and removed again.
    pub scratch: PathBuf,
}

/// People on disk, with what is needed to write them back or to read more of their kind.
#[derive(Debug)]
pub struct LargePeople {
    read: LargeRead,
    /// Names, columns and remarks about the file; its panel is empty.
    people: People,
}

impl LargePeople {
    /// Reads a long file in blocks of people, by the rules of [`People::read_with`]. `keep` carries columns along that are not read, for
    /// [`preprocess`](Self::preprocess).
    ///
    /// # Errors
    /// [`Error::Data`], which names file, line, column and value.
    pub fn read(path: &Path, options: &ReadOptions, memory: &Memory, keep: bool) -> Result<Self, Error> {
        let scratch = Arc::new(Scratch::new(&memory.scratch)?);
        let read = read_large(path, options, memory.bytes, &scratch, keep)?;
        let people = People::without_rows(path, &read);
        Ok(Self { read, people })
    }

    /// [`People::naming_people`].
    pub fn naming_people(mut self, names_people: bool) -> Self {
        self.people = self.people.clone().naming_people(names_people);
        self
    }

    /// Names, columns and notes; its panel is empty.
    pub fn sketch(&self) -> &People {
        &self.people
    }

    /// The people.
    pub fn panel(&self) -> &StoredPanel {
        &self.read.panel
    }

    /// How many people were cut on request, and how many of them at a time that is not there.
    pub fn cuts(&self) -> (usize, usize) {
        self.read.cuts
    }

    /// Whether rows had to be sorted on disk.
    pub fn was_sorted(&self) -> bool {
        self.read.was_sorted()
    }

    fn mechanism(&self, settings: &Preprocessing) -> Result<(Fitted, Vec<f64>), Error> {
        if settings.folds.is_some() {
            return Err(FitError::InMemory { what: "cross-fitting (--folds)", people: self.panel().people() }.into());
        }
        let panel = self.panel();
        let weights = settings.weights_among(panel.levels(), panel.level_shares())?;
        Ok((fit_mechanism(panel, &settings.mechanism)?, weights))
    }

    /// `alg:cf:1`: fits the mechanism and writes the file back with counterfactual states and rewards, block by block.
    ///
    /// Rows come in the order of the file; where they had to be sorted, in the order of people and times.
    ///
    /// # Errors
    /// [`Error`]: as [`preprocess`](super::preprocess).
    pub fn preprocess(
        &self,
        settings: &Preprocessing,
        out: &Path,
        watch: &mut dyn FnMut(&str),
    ) -> Result<(Fitted, Vec<f64>), Error> {
        watch("fitting the mechanism");
        let (mechanism, weights) = self.mechanism(settings)?;
        watch("writing counterfactual states");
        let preprocessor = Sequential::new(&mechanism, weights.clone());
        let mut overflow = None;
        let written = write_preprocessed_blocks(out, &self.read, |panel| match batch(&preprocessor, panel) {
            Ok(experience) => Some((experience.views().to_vec(), experience.rewards().to_vec())),
            Err(error) => {
                overflow = Some(error);
                None
            }
        });
        match overflow {
            Some(error) => Err(error.into()),
            None => Ok(written.map(|()| (mechanism, weights))?),
        }
    }
}

impl Learner {
    /// [`learn_watched`](Self::learn_watched) for people on disk. Each iteration of fitted Q is a pass over what was laid down there.
    ///
    /// No certificate of unfairness is kept, and stability is not looked at: both refit on resampled people.
    ///
    /// # Errors
    /// Those of [`learn`](Self::learn), and where a step has no form for people on disk one that says so.
    pub fn learn_large(&self, people: &LargePeople, watch: &mut dyn FnMut(&str)) -> Result<Learned, Error> {
        let panel = people.panel();
        let state_dim = panel.state_dim();
        let ValueClass::Stable(settings) = &self.values else {
            return Err(FittedQError::InMemory("--learner least-squares or neural").into());
        };
        let settings = StableSettings { discount: self.discount, ..*settings };
        let (mechanism, level_weights, fit) = match self.method {
            Method::Ours => {
                watch("fitting the mechanism");
                let (mechanism, weights) = people.mechanism(&self.preprocessing)?;
                let preprocessor = Sequential::new(&mechanism, weights.clone());
                let coordinates = Coordinates::Worlds { weights: &weights };
                let fit = fit(&preprocessor, people, coordinates, &settings, watch)?;
                (Some(mechanism), weights, fit)
            }
            Method::Full => {
                let coordinates = Coordinates::States { levels: panel.levels().len().max(2) };
                (None, panel.level_shares(), fit(&Full { state_dim }, people, coordinates, &settings, watch)?)
            }
            Method::Unaware => {
                let coordinates = Coordinates::States { levels: 1 };
                (None, panel.level_shares(), fit(&Unaware { state_dim }, people, coordinates, &settings, watch)?)
            }
        };
        let Fit { q, seen, outcome, contrast_degree } = fit;
        let mut notes: Vec<String> = warnings::of_outcome(outcome, people.sketch().panel()).into_iter().collect();
        if self.replicates > 0 || self.splits > 0 {
            notes.push(format!(
                "no certificate of unfairness is kept, and how stable the policy is was not looked at: both refit on resampled people, and these \
                 {} are not in memory",
                panel.people()
            ));
        }
        let policy = Policy::new(Parts {
            method: self.method,
            levels: panel.levels().clone(),
            actions: panel.action_names().clone(),
            state_dim,
            columns: people.sketch().columns(),
            rows: people.sketch().rows(),
            level_weights,
            mechanism,
            q,
            seen: Some(seen),
            manifest: Manifest {
                program: format!("counterfair {}", env!("CARGO_PKG_VERSION")),
                command: String::new(),
                seed: self.seed,
                discount: self.discount,
                transitions: panel.transitions(),
                outcome: outcome.to_string(),
                ended: Some(outcome),
            },
        });
        let mut reservations = reservation::about_data(panel)?;
        if let Some(mechanism) = &policy.mechanism {
            reservations.extend(reservation::of_mechanism(mechanism, &Values::of(panel)?, people.sketch()));
        }
        let policy = policy.with_reservations(reservations);
        let contrast_degree = Some(contrast_degree);
        Ok(Learned { policy, outcome, condition: None, contrast_degree, stability: None, warnings: notes })
    }
}

/// An action value as a policy file keeps it.
struct Fit {
    q: StoredQ,
    seen: Seen,
    outcome: crate::kernel::learn::Outcome,
    contrast_degree: usize,
}

fn fit<P: Preprocessor>(
    preprocessor: &P,
    people: &LargePeople,
    coordinates: Coordinates<'_>,
    settings: &StableSettings,
    watch: &mut dyn FnMut(&str),
) -> Result<Fit, Error>
where
    P::View: View,
{
    watch("reconstructing counterfactual states");
    let experience = stored_batch(preprocessor, people.panel())?;
    watch("fitted Q iteration");
    let StableQ { q, outcome, contrast_degree, .. } = stable_fitted_q(&experience, coordinates, settings)?;
    let views = Views::from(&experience);
    let (features, weights) = (Features::Winsorised(q.features().clone()), q.weights().to_vec());
    Ok(Fit {
        q: StoredQ::Linear { features, weights },
        seen: Seen::at_ranks(views.rows(), &views.at_ranks(Seen::ranks)?),
        outcome,
        contrast_degree,
    })
}
