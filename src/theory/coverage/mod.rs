//! Coverage: whether intervals hold the truth as often as they say, in worlds where the truth is known.

mod bed;
mod policies;
pub mod unfairness;
mod values;

pub use bed::{Bed, Leaving};
pub use policies::{FixedPolicy, always, policies, rule};
pub use values::{CONFIDENCES, DISCOUNT, HEADER, Tallies, Tally, Trial, Which};
