//! The test bed with a continuous state: a decision process in which every assumption of the theory holds exactly and every constant can be computed.
//!
//! States of [`Circle`] are angles of two worlds, whose difference moves on a finite set, and the noise has rank three, so that a few trigonometric
//! features hold the Bellman image of every function. Exact are Q*, J*, the states of `alg:cf:1`, and unfairness.

mod circle;

pub use circle::{Circle, CircleFit, Harmonics, Reader, Weights};
