//! Features, Bellman operators, fitted Q iteration and policies.

mod action_value;
mod agent;
mod choice_sums;
pub mod features;
mod fitted_q;
mod fitted_q_pass;
mod mixture;
mod neural_q;
mod policy;
mod regressions;
mod replay;
mod stability;
mod stable_q;

pub use action_value::{ActionValue, LinearQ};
pub use agent::{Agent, AgentMemory, Deployed};
pub use fitted_q::{Clipping, FittedQ, FittedQError, Outcome, Settings, fitted_q_iteration};
pub use policy::{Behaviour, Greedy, Policy, UniformlyRandom};
pub use stable_q::StableSettings;

pub(crate) use fitted_q::check;
pub(crate) use fitted_q_pass::{Backup, Sweep};
pub(crate) use regressions::{Progress, Regressions, Stopping};
pub(crate) use stable_q::{StoredChart, stable_fitted_q_stored};

/// What this package's own command, tests and benches reach beyond the promise above. No promise: it may change with any release.
#[doc(hidden)]
pub mod internals {
    pub use super::mixture::{EpisodeMixture, StepMixture};
    pub use super::neural_q::{NeuralQ, NeuralQError, NeuralSettings, QNet, neural_fitted_q_iteration};
    pub use super::replay::Replay;
    pub use super::stability::{Stability, decision_values, stability};
    pub use super::stable_q::{Contrast, Coordinates, Group, Penalties, StableQ, stable_fitted_q};
}
pub(crate) use internals::*;
