//! An action value on disk.

use super::Program;
use crate::fair::Features;
use crate::kernel::learn::features::FeatureMap;
use crate::kernel::learn::{ActionValue, Agent, Deployed, Greedy, LinearQ};
use crate::kernel::preprocess::{Preprocessor, StateOnly};
use crate::nets::{NeuralQ, QNet};
use serde::{Deserialize, Serialize};

/// An action value as it is stored, or what stands in its place.
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
    /// No value at all but a program that chooses by itself. It is in no file, so that reading a file never starts anything.
    #[serde(skip)]
    Program(Program),
}

impl StoredQ {
    pub(super) fn inputs(&self) -> usize {
        match self {
            Self::Linear { features, .. } => features.inputs(),
            Self::Neural(net) => net.inputs(),
            Self::Program(program) => program.width(),
        }
    }

    /// The first thing that does not fit `actions` actions, if any.
    pub(super) fn problem(&self, actions: usize) -> Option<String> {
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
            Self::Program(program) if program.actions() != actions => {
                Some(format!("a program for {} actions, not {actions}", program.actions()))
            }
            Self::Neural(_) | Self::Program(_) => None,
        }
    }

    pub(super) fn greedy<P: Preprocessor + 'static>(&self, preprocessor: P, actions: usize) -> Box<dyn Agent> {
        match self.clone() {
            Self::Linear { features, weights } => {
                Box::new(Deployed::new(preprocessor, Greedy(LinearQ::new(features, actions, weights))))
            }
            Self::Neural(net) => Box::new(Deployed::new(preprocessor, Greedy(NeuralQ::new(net)))),
            Self::Program(program) => Box::new(Deployed::new(preprocessor, program)),
        }
    }

    /// By itself, for a reader that does not mind which view its numbers are; a program has no values.
    pub(super) fn by_itself(&self, actions: usize) -> Option<Box<dyn ActionValue<StateOnly>>> {
        match self.clone() {
            Self::Linear { features, weights } => Some(Box::new(LinearQ::new(features, actions, weights))),
            Self::Neural(net) => Some(Box::new(NeuralQ::new(net))),
            Self::Program(_) => None,
        }
    }
}
