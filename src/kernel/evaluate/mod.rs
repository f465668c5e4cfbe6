//! How good and how fair a policy is; every number with its standard error.
//!
//! | question | answer | needs |
//! |---|---|---|
//! | value, CF metric, action rates in a known world | [`evaluate()`] | a world |
//! | what of the value is gained by unfairness? | [`fair_value()`] | a world |
//! | both, and the value over a longer horizon, for several policies | [`follow()`] | a world, people by level |
//! | the same from recorded people, with a law | `simulated_values` | refits of a mechanism |
//! | does the level reach the decision directly, or through the state? | [`paths()`] | states of all worlds |
//! | would other past actions change the decision? | [`strict_unfairness`] | a world |
//! | CF metric and action rates on recorded histories | [`audit`] | a mechanism fitted apart from the policy's |
//! | the same with an interval that knows the mechanism is estimated | [`unfairness()`] | a certificate, or the judged people |
//! | the same for policies that were learned fold by fold | `cross_fitted_unfairness` | the certificates of the folds |
//! | how much must be wrong? | [`sensitivity`] | the same |
//! | value over the recorded horizon, differences, intervals that cover | [`recorded::recorded_values`] | π along them |
//! | value over an endless horizon, by regression | [`fitted_q_evaluation`] | π along them, features |
//! | value from recorded histories, by weighting | [`OffPolicy`] | π and the propensities along them |
//!
//! All of them are tested on censuses of finite worlds ([`FiniteWorld::census`](crate::theory::FiniteWorld::census)), where
//! the right answer is a finite sum.

mod action_rates;
mod cross_section;
mod disagreement;
mod fair_value;
mod follow;
mod fqe;
mod one_world;
mod panel_audit;
mod paths;
pub mod recorded;
mod rollout;
#[doc(hidden)]
pub mod sensitivity;
mod simulated;
mod strict;
mod unfairness;

pub use action_rates::ActionRates;
pub use disagreement::Unfairness;
pub use rollout::{Evaluation, evaluate};
pub use unfairness::{ParityGap, UnfairnessLaw};

pub(crate) use disagreement::Disagreement;
pub(crate) use simulated::{Refitted, SimulatedValue, Simulation, simulated_values};
pub(crate) use unfairness::{CrossFitted, HeldOut, cross_fitted_unfairness, parity_gap_of};

/// What this package's own command, tests and benches reach beyond the promise above. No promise: it may change with any release.
#[doc(hidden)]
pub mod internals {
    pub use super::disagreement::PairShare;
    pub use super::fair_value::{FairValue, Reading, fair_value, follow_readings};
    pub use super::follow::{Cohorts, Followed, follow};
    pub use super::fqe::{EvaluationError, EvaluationSettings, FittedEvaluation, fitted_q_evaluation};
    pub use super::panel_audit::{AuditError, PanelAudit, PanelDraws, audit, probabilities_along};
    pub use super::paths::{Paths, paths};
    pub use super::strict::{Alternatives, StrictUnfairness, TooManyPasts, strict_unfairness};
    pub use super::unfairness::{Carried, UnfairnessError, Yardstick, parity_gap, unfairness};
}
pub(crate) use internals::*;
