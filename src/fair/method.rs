//! What a policy may read.

use serde::{Deserialize, Serialize};

/// What a policy reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Counterfactual states of all levels, by `alg:cf:1`: fair.
    Ours,
    /// State and level: not fair.
    Full,
    /// State alone: not fair either, since the level has shaped the state.
    Unaware,
}

/// A name that is no method.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is none of ours, full, unaware")]
pub struct UnknownMethod(pub String);

impl std::str::FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, UnknownMethod> {
        match name {
            "ours" => Ok(Self::Ours),
            "full" => Ok(Self::Full),
            "unaware" => Ok(Self::Unaware),
            _ => Err(UnknownMethod(name.into())),
        }
    }
}

impl Method {
    /// How many numbers it shows of `levels` worlds with `state_dim` coordinates each.
    pub(super) fn width(self, levels: usize, state_dim: usize) -> usize {
        match self {
            Self::Ours => levels.saturating_mul(state_dim),
            Self::Full => state_dim.saturating_add(1),
            Self::Unaware => state_dim,
        }
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Ours => "ours",
            Self::Full => "full",
            Self::Unaware => "unaware",
        })
    }
}
