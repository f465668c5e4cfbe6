//! A policy on disk: everything deployment needs, in one versioned JSON file.

use super::features::{FeatureMap, Features};
use super::{Agent, Deployed, Greedy, LinearQ};
use crate::data::{Columns, Labels, RowConvention};
use crate::model::Mechanism;
use crate::model::fitted::Fitted;
use crate::preprocess::{Augmented, Full, Observed, Sequential, Unaware};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the file format this build writes and reads.
pub const VERSION: u32 = 1;

/// What the file says it is.
const FORMAT: &str = "counterfair policy";

/// What a policy reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Counterfactual states of all levels, by `alg:cf:1`.
    Ours,
    /// State and level.
    Full,
    /// State alone.
    Unaware,
}

/// How a policy came to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the program.
    pub program: String,
    /// The command that made it.
    pub command: String,
    /// The seed.
    pub seed: u64,
    /// γ.
    pub discount: f64,
    /// n, the tuples learned from.
    pub transitions: usize,
    /// How fitted Q iteration ended, in words.
    pub outcome: String,
}

/// A policy as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredPolicy {
    /// Always `counterfair policy`.
    format: String,
    /// The version of the format.
    version: u32,
    /// What it reads.
    pub method: Method,
    /// The names of the levels, in the order of the codes.
    pub levels: Labels,
    /// The names of the actions, in the order of the codes.
    pub actions: Labels,
    /// p.
    pub state_dim: usize,
    /// The columns it was learned from.
    pub columns: Columns,
    /// The row convention of that file.
    pub rows: RowConvention,
    /// P(Z = z⁽ᵏ⁾) that weighted the rewards.
    pub level_weights: Vec<f64>,
    /// The mechanism behind counterfactual states; only Ours has one.
    pub mechanism: Option<Fitted>,
    /// φ.
    pub features: Features,
    /// w, d numbers for each action in turn.
    pub weights: Vec<f64>,
    /// How it came to be.
    pub manifest: Manifest,
}

/// Why a policy file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PolicyFileError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// Not JSON of the right shape; line and column are inside the message.
    #[error("{file}: not a counterfair policy: {source}")]
    Json {
        /// The file.
        file: String,
        /// Where and why.
        source: serde_json::Error,
    },
    /// A version this build does not know.
    #[error("{file}: format {format:?}, version {version}; this build reads {FORMAT:?}, version {VERSION}")]
    Version {
        /// The file.
        file: String,
        /// What it says it is.
        format: String,
        /// Its version.
        version: u32,
    },
    /// Parts that do not fit together.
    #[error("{file}: {problem}")]
    Inconsistent {
        /// The file.
        file: String,
        /// What does not fit.
        problem: String,
    },
}

/// What [`StoredPolicy::new`] puts together.
pub struct Parts {
    /// What it reads.
    pub method: Method,
    /// Level names.
    pub levels: Labels,
    /// Action names.
    pub actions: Labels,
    /// p.
    pub state_dim: usize,
    /// Columns of the file.
    pub columns: Columns,
    /// Its row convention.
    pub rows: RowConvention,
    /// P(Z).
    pub level_weights: Vec<f64>,
    /// The mechanism of Ours.
    pub mechanism: Option<Fitted>,
    /// φ.
    pub features: Features,
    /// w.
    pub weights: Vec<f64>,
    /// How it came to be.
    pub manifest: Manifest,
}

impl StoredPolicy {
    /// A policy ready to be written.
    pub fn new(parts: Parts) -> Self {
        let Parts {
            method,
            levels,
            actions,
            state_dim,
            columns,
            rows,
            level_weights,
            mechanism,
            features,
            weights,
            manifest,
        } = parts;
        Self {
            format: FORMAT.into(),
            version: VERSION,
            method,
            levels,
            actions,
            state_dim,
            columns,
            rows,
            level_weights,
            mechanism,
            features,
            weights,
            manifest,
        }
    }

    /// Reads a policy file.
    ///
    /// # Errors
    /// [`PolicyFileError`].
    pub fn read(path: &Path) -> Result<Self, PolicyFileError> {
        let file = path.display().to_string();
        let text = std::fs::read(path).map_err(|source| PolicyFileError::Io { file: file.clone(), source })?;
        Self::from_json(&text, &file)
    }

    /// Parses and validates the contents of a policy file called `file`.
    ///
    /// # Errors
    /// [`PolicyFileError`].
    pub fn from_json(text: &[u8], file: &str) -> Result<Self, PolicyFileError> {
        /// Read first, so that a newer file is called newer and not malformed.
        #[derive(Deserialize)]
        struct Header {
            format: String,
            version: u32,
        }
        let file = file.to_string();
        let json = |source| PolicyFileError::Json { file: file.clone(), source };
        let Header { format, version } = serde_json::from_slice(text).map_err(json)?;
        if format != FORMAT || version != VERSION {
            return Err(PolicyFileError::Version { file, format, version });
        }
        let policy: Self = serde_json::from_slice(text).map_err(json)?;
        match policy.problem() {
            None => Ok(policy),
            Some(problem) => Err(PolicyFileError::Inconsistent { file, problem }),
        }
    }

    /// The first thing that does not fit, if any.
    fn problem(&self) -> Option<String> {
        let (k, a, p) = (self.levels.len(), self.actions.len(), self.state_dim);
        let width = match self.method {
            Method::Ours => k.checked_mul(p),
            Method::Full => p.checked_add(1),
            Method::Unaware => Some(p),
        };
        let d = self.features.count();
        if k == 0 || a == 0 || p == 0 {
            return Some(format!("{k} levels, {a} actions and {p} state coordinates; each must be at least one"));
        }
        if self.levels != Labels::new(self.levels.names().iter().cloned()) {
            return Some(format!("level names {:?} are not sorted and distinct", self.levels.names()));
        }
        if self.actions != Labels::new(self.actions.names().iter().cloned()) {
            return Some(format!("action names {:?} are not sorted and distinct", self.actions.names()));
        }
        if Some(self.features.inputs()) != width {
            return Some(format!("features read {} numbers, the method shows {width:?}", self.features.inputs()));
        }
        if d.checked_mul(a) != Some(self.weights.len()) {
            return Some(format!("{} weights for {a} actions with {d} features each", self.weights.len()));
        }
        if let Some(w) = self.weights.iter().chain(&self.level_weights).find(|w| !w.is_finite()) {
            return Some(format!("a weight is {w}"));
        }
        if self.level_weights.len() != k {
            return Some(format!("{} level weights for {k} levels", self.level_weights.len()));
        }
        match (&self.mechanism, self.method) {
            (None, Method::Ours) => Some("a policy on counterfactual states without a mechanism".into()),
            (Some(m), _) if !m.is_consistent() => Some("the mechanism's parts do not fit together".into()),
            (Some(m), _) if (m.levels(), m.actions(), m.state_dim()) != (k, a, p) => Some(format!(
                "the mechanism has {} levels, {} actions and {} coordinates; the policy {k}, {a} and {p}",
                m.levels(),
                m.actions(),
                m.state_dim()
            )),
            _ => None,
        }
    }

    /// The agent to deploy.
    ///
    /// # Panics
    /// If the policy was put together by hand from parts that do not fit; one that was read from a file always fits.
    pub fn agent(&self) -> Box<dyn Agent> {
        let state_dim = self.state_dim;
        match self.method {
            Method::Ours => {
                let mechanism = self.mechanism.clone().expect("validated: Ours has a mechanism");
                let sequential = Sequential::new(mechanism, self.level_weights.clone());
                Box::new(Deployed::new(sequential, Greedy(self.q::<Augmented>())))
            }
            Method::Full => Box::new(Deployed::new(Full { state_dim }, Greedy(self.q::<Observed>()))),
            Method::Unaware => Box::new(Deployed::new(Unaware { state_dim }, Greedy(self.q::<Observed>()))),
        }
    }

    fn q<V: crate::preprocess::View>(&self) -> LinearQ<V, Features> {
        LinearQ::new(self.features.clone(), self.actions.len(), self.weights.clone())
    }
}
