//! The theory the method stands on, made checkable: exact optima, worlds that can be listed, theorems as checks, and errata.

pub mod beds;
pub mod coverage;
pub mod errata;
mod finite_mdp;
pub mod finite_world;
mod guarantee;
mod mistaken;
pub mod optimum;
mod regret;
pub mod rules;
pub mod theorems;

pub use finite_mdp::FiniteMdp;
pub use finite_world::FiniteWorld;
pub use guarantee::{Bounds, bounds};
pub use mistaken::Mistaken;
pub use regret::{BestRule, Regret, RegretMeter};
