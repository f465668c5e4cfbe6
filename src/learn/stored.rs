//! A policy on disk: everything deployment needs, in one versioned JSON file.

use super::features::{FeatureMap, Features};
use super::{Agent, Deployed, Greedy, LinearQ, NeuralQ, QNet};
use crate::data::{Columns, Labels, RowConvention};
use crate::model::Mechanism;
use crate::model::fitted::Fitted;
use crate::preprocess::{Full, Preprocessor, Sequential, Unaware};
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
    /// The action value whose largest entry is taken.
    pub q: StoredQ,
    /// How it came to be.
    pub manifest: Manifest,
}

/// An action value as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoredQ {
    /// Q(s, a) = wₐᵀ φ(s).
    Linear {
        /// φ.
        features: Features,
        /// w, d numbers for each action in turn.
        weights: Vec<f64>,
    },
    /// A net.
    Neural(QNet),
}

impl StoredQ {
    fn inputs(&self) -> usize {
        match self {
            Self::Linear { features, .. } => features.inputs(),
            Self::Neural(net) => net.inputs(),
        }
    }

    /// The first thing that does not fit `actions` actions, if any.
    fn problem(&self, actions: usize) -> Option<String> {
        match self {
            Self::Linear { features, weights } => {
                let d = features.count();
                if d.checked_mul(actions) != Some(weights.len()) {
                    return Some(format!("{} weights for {actions} actions with {d} features each", weights.len()));
                }
                weights.iter().find(|w| !w.is_finite()).map(|w| format!("a weight is {w}"))
            }
            Self::Neural(net) if !net.is_consistent() => Some("the net's parts do not fit together".into()),
            Self::Neural(net) if net.actions() != actions => {
                Some(format!("a net with {} outputs for {actions} actions", net.actions()))
            }
            Self::Neural(_) => None,
        }
    }

    fn greedy<P: Preprocessor + 'static>(&self, preprocessor: P, actions: usize) -> Box<dyn Agent> {
        match self.clone() {
            Self::Linear { features, weights } => {
                Box::new(Deployed::new(preprocessor, Greedy(LinearQ::new(features, actions, weights))))
            }
            Self::Neural(net) => Box::new(Deployed::new(preprocessor, Greedy(NeuralQ::new(net)))),
        }
    }
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
    /// The action value.
    pub q: StoredQ,
    /// How it came to be.
    pub manifest: Manifest,
}

impl StoredPolicy {
    /// A policy ready to be written.
    pub fn new(parts: Parts) -> Self {
        let Parts { method, levels, actions, state_dim, columns, rows, level_weights, mechanism, q, manifest } = parts;
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
            q,
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
        if k == 0 || a == 0 || p == 0 {
            return Some(format!("{k} levels, {a} actions and {p} state coordinates; each must be at least one"));
        }
        if self.levels != Labels::new(self.levels.names().iter().cloned()) {
            return Some(format!("level names {:?} are not sorted and distinct", self.levels.names()));
        }
        if self.actions != Labels::new(self.actions.names().iter().cloned()) {
            return Some(format!("action names {:?} are not sorted and distinct", self.actions.names()));
        }
        if Some(self.q.inputs()) != width {
            return Some(format!("the action value reads {} numbers, the method shows {width:?}", self.q.inputs()));
        }
        if let Some(problem) = self.q.problem(a) {
            return Some(problem);
        }
        if let Some(w) = self.level_weights.iter().find(|w| !w.is_finite()) {
            return Some(format!("a level weight is {w}"));
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
        let (state_dim, actions) = (self.state_dim, self.actions.len());
        match self.method {
            Method::Ours => {
                let mechanism = self.mechanism.clone().expect("validated: Ours has a mechanism");
                self.q.greedy(Sequential::new(mechanism, self.level_weights.clone()), actions)
            }
            Method::Full => self.q.greedy(Full { state_dim }, actions),
            Method::Unaware => self.q.greedy(Unaware { state_dim }, actions),
        }
    }
}
