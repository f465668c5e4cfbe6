//! The theory the method stands on, made checkable: exact optima, worlds that can be listed, theorems as checks, and errata.

mod circle;
pub mod errata;
mod finite_mdp;
pub mod finite_world;
mod guarantee;
mod mistaken;
pub mod optimum;
mod plain;
mod regret;
pub mod rules;
mod slope;
pub mod theorems;

pub use finite_mdp::FiniteMdp;
pub use finite_world::FiniteWorld;
pub use guarantee::{Bounds, bounds};
pub use mistaken::Mistaken;
pub use plain::plain_policy;
pub use regret::{BestRule, Regret, RegretMeter};
pub use slope::{SlopeError, SlopeFit, log_log_slope};
