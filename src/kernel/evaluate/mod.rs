//! How good and how fair a policy is in a known world; every number with its standard error.
//!
//! | question | answer | needs |
//! |---|---|---|
//! | value, CF metric, action rates in a known world | [`evaluate()`] | a world |
//! | what of the value is gained by unfairness? | [`fair_value()`] | a world |
//! | both, and the value over a longer horizon, for several policies | [`follow()`] | a world, people by level |
//!
//! All of them are tested on censuses of finite worlds, where the right answer is a finite sum.

mod action_rates;
mod disagreement;
mod fair_value;
mod follow;
mod one_world;
mod rollout;

pub use action_rates::ActionRates;
pub use disagreement::Unfairness;
pub use one_world::OneWorld;
pub use rollout::{BLOCK, Evaluation, evaluate};

pub use disagreement::Disagreement;

pub use disagreement::PairShare;
pub use fair_value::{FairValue, Reading, fair_value, fair_value_by_person, follow_readings};
pub use follow::{Cohorts, Followed, follow};
