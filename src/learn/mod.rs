//! Features, Bellman operators, fitted Q iteration, policies and exact optima.

mod action_value;
mod agent;
pub mod features;
mod fitted_q;
mod fitted_q_pass;
mod mixture;
mod neural_q;
pub mod optimum;
mod policy;
mod replay;
pub mod stored;

pub use action_value::{ActionValue, LinearQ};
pub use agent::{Agent, AgentMemory, Deployed};
pub use fitted_q::{Clipping, FittedQ, FittedQError, Outcome, Settings, fitted_q_iteration};
pub use mixture::{EpisodeMixture, StepMixture};
pub use neural_q::{NeuralQ, NeuralQError, NeuralSettings, QNet, neural_fitted_q_iteration};
pub use policy::{Behaviour, Greedy, Policy, UniformlyRandom};
pub use replay::Replay;
