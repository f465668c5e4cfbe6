//! The noise around the means: how far it spreads and what shape it has, level by level.
//!
//! | rung | model | value in the world of level k |
//! |---|---|---|
//! | additive | S = μ(x, z) + U | μ_k + (s − μ_z) |
//! | scale | S = μ(x, z) + σ(x, z) U | μ_k + σ_k (s − μ_z)/σ_z |
//! | rank | S = μ(x, z) + σ(x, z) G_z⁻¹(U) | μ_k + σ_k G_k⁻¹(G_z((s − μ_z)/σ_z)) |
//!
//! where x is the previous state, in each world its own, and the action. A mechanism that is silent about its noise is additive.

mod step;

pub use step::{Step, first_noise, first_state};

use serde::{Deserialize, Serialize};

/// What noise enters: a coordinate of the first state, a coordinate of a later state, or the reward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// A coordinate of S₁.
    First(usize),
    /// A coordinate of Sₜ₊₁.
    Next(usize),
    /// Rₜ.
    Reward,
}

/// The rung of one coordinate's noise; a later rung contains the earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// μ + U.
    Additive,
    /// μ + σ U.
    Scale,
    /// μ + σ G⁻¹(U).
    Rank,
}

impl std::fmt::Display for Rung {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Additive => "additive",
            Self::Scale => "scale",
            Self::Rank => "rank",
        })
    }
}

/// Spread and shape of the noise of a mechanism whose noise is more than added.
///
/// # Equation
/// ```text
/// S = μ(x, z) + σ(x, z) e,   e = G_z⁻¹(U),   U = G_z(e) common to all levels
/// ```
/// One U serves all worlds of a person (`asm:unique`): abduction is U = G_z((s − μ_z)/σ_z), prediction puts it back at another level.
pub trait NoiseLaw: Send + Sync {
    /// σ of the first state at one level, one number a coordinate, all positive.
    fn initial_spread(&self, level: usize) -> &[f64];

    /// σ of next state and reward at one level for a block of rows, laid out as in [`Mechanism::mean`](super::Mechanism::mean); all positive.
    fn spread(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]);

    /// U = G_z(e), increasing in e.
    fn to_common(&self, _output: Output, _level: usize, noise: f64) -> f64 {
        noise
    }

    /// e = G_z⁻¹(U), the inverse of [`to_common`](Self::to_common).
    fn of_common(&self, _output: Output, _level: usize, common: f64) -> f64 {
        common
    }

    /// Whether the output has in every world the value that was observed: it is unaffected by the level, or differences in it are accepted.
    fn is_kept(&self, _output: Output) -> bool {
        false
    }
}
