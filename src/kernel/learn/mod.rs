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
mod propensity;
mod regressions;
mod replay;
mod stability;
mod stable_q;

pub use action_value::{ActionValue, LinearQ};
pub use agent::{Agent, AgentMemory, Deployed};
pub(crate) use fitted_q::check;
pub use fitted_q::{Clipping, FittedQ, FittedQError, Outcome, Settings, fitted_q_iteration};
pub(crate) use fitted_q_pass::{Backup, Sweep};
pub use mixture::{EpisodeMixture, StepMixture};
pub use neural_q::{NeuralQ, NeuralQError, NeuralSettings, QNet, neural_fitted_q_iteration};
pub use policy::{Behaviour, Greedy, Policy, UniformlyRandom};
pub use propensity::{PropensityError, PropensityFit, PropensityOutcome, Softmax, fit_propensity};
pub(crate) use regressions::{Progress, Regressions, Stopping};
pub use replay::Replay;
pub use stability::{Stability, decision_values, stability};
pub use stable_q::{
    Contrast, Coordinates, Group, Penalties, StableQ, StableSettings, StoredChart, stable_fitted_q,
    stable_fitted_q_stored,
};
