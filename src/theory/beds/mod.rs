//! The test bed with a continuous state: a decision process in which every assumption of the theory holds exactly and every constant can be computed.
//!
//! [`Circle`]: states are angles of two worlds. It is complete because their difference moves on a finite set and the noise has rank three; Q*, J*, the
//! states of `alg:cf:1` and unfairness are exact.

mod circle;

pub use circle::{Circle, CircleFit, Harmonics, Reader, Weights};
