//! Decision rules and questions about them that only theory and notebooks ask.

mod distance;
mod mixture;
mod paths;
mod replay;
mod strict;

pub use distance::distance_by_time;
pub use mixture::{EpisodeMixture, StepMixture};
pub use paths::{Paths, paths};
pub use replay::Replay;
pub use strict::{Alternatives, StrictUnfairness, TooManyPasts, strict_unfairness};
