//! Features, Bellman operators, fitted Q iteration and policies.

mod action_value;
mod agent;
mod choice_sums;
pub mod features;
mod fitted_q;
mod fitted_q_pass;
mod policy;
mod regressions;

pub use action_value::{ActionValue, LinearQ, decision_values};
pub use agent::{Agent, AgentMemory, Deployed};
pub use fitted_q::{Clipping, FittedQ, FittedQError, Outcome, Settings, fitted_q_iteration};
pub use policy::{Behaviour, Greedy, Policy, UniformlyRandom};

pub use fitted_q::check;
pub use fitted_q_pass::{Backup, Sweep};
pub use regressions::{Progress, Regressions, Stopping, divergence_limit};
