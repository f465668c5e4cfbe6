//! How good and how fair a policy is; every number with its standard error.
//!
//! | question | answer | needs |
//! |---|---|---|
//! | value, CF metric, action rates in a known world | [`evaluate()`] | a world |
//! | what of the value is gained by unfairness? | [`fair_value()`] | a world |
//! | both, and the value over a longer horizon, for several policies | [`follow()`] | a world, people by level |
//! | the same from recorded people, with a law | [`simulated_values`] | refits of a mechanism |
//! | does the level reach the decision directly, or through the state? | [`paths()`] | states of all worlds |
//! | would other past actions change the decision? | [`strict_unfairness`] | a world |
//! | CF metric and action rates on recorded histories | [`audit`] | a mechanism fitted apart from the policy's |
//! | the same with an interval that knows the mechanism is estimated | [`unfairness()`] | a certificate, or the judged people |
//! | the same for policies that were learned fold by fold | [`cross_fitted_unfairness`] | the certificates of the folds |
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
mod importance;
mod one_world;
mod panel_audit;
mod paths;
pub mod recorded;
mod rollout;
pub mod sensitivity;
mod simulated;
mod strict;
mod unfairness;

pub use action_rates::ActionRates;
pub use disagreement::{Disagreement, PairShare, Unfairness};
pub use fair_value::{FairValue, Reading, fair_value, follow_readings};
pub use follow::{Cohorts, Followed, follow};
pub use fqe::{EvaluationError, EvaluationSettings, FittedEvaluation, fitted_q_evaluation};
pub use importance::{NobodyFollows, OffPolicy, OffPolicyError, Overlap};
pub use panel_audit::{AuditError, PanelAudit, PanelDraws, audit, probabilities_along};
pub use paths::{Paths, paths};
pub use rollout::{Evaluation, evaluate};
pub use simulated::{Refitted, SimulatedValue, Simulation, SimulationError, simulated_values};
pub use strict::{Alternatives, PASTS_LIMIT, StrictUnfairness, TooManyPasts, strict_unfairness};
pub use unfairness::{
    Carried, CrossFitted, HeldOut, ParityGap, UnfairnessError, UnfairnessLaw, Yardstick, cross_fitted_unfairness,
    finite_sample_bound, parity_gap, parity_gap_of, unfairness,
};
