//! Estimators, agents and preprocessing against answers that are finite sums.
//!
//! `fixture` holds a small world that stands off the special points (three unequal levels, three actions, γ = 0.7) and the
//! policies followed in it; `oracle` lists every path of that world from its tables alone. Neither uses what it is to check.

// Tables are indexed by level, point and action, as the formulas are.
#![allow(clippy::needless_range_loop)]

mod agents;
mod audit;
mod finite;
mod fitted_evaluation;
mod fixture;
mod oracle;
mod preprocess;
mod recorded;
mod rollout;
mod strict;
