//! How good and how fair a policy is; every number with its standard error.
//!
//! | question | answer | needs |
//! |---|---|---|
//! | value, CF metric, action rates in a known world | [`evaluate()`] | a world |
//! | does the level reach the decision directly, or through the state? | [`paths()`] | states of all worlds |
//! | would other past actions change the decision? | [`strict_unfairness`] | a world |
//! | CF metric and action rates on recorded histories | [`audit`] | a mechanism fitted apart from the policy's |
//! | value over the recorded horizon, differences, intervals that cover | [`recorded::recorded_values`] | π along them |
//! | value over an endless horizon, by regression | [`fitted_q_evaluation`] | π along them, features |
//! | value from recorded histories, by weighting | [`OffPolicy`] | π and the propensities along them |
//!
//! All of them are tested on censuses of finite worlds ([`FiniteWorld::census`](crate::theory::FiniteWorld::census)), where
//! the right answer is a finite sum.

mod action_rates;
mod cross_section;
mod disagreement;
mod fqe;
mod importance;
mod panel_audit;
mod paths;
pub mod recorded;
mod rollout;
mod side;
mod strict;

pub use action_rates::ActionRates;
pub use disagreement::{Disagreement, Unfairness};
pub use fqe::{EvaluationError, EvaluationSettings, FittedEvaluation, fitted_q_evaluation};
pub use importance::{NobodyFollows, OffPolicy, OffPolicyError, Overlap};
pub use panel_audit::{AuditError, PanelAudit, PanelDraws, audit, probabilities_along};
pub use paths::{Paths, paths};
pub use rollout::{Evaluation, evaluate};
pub use strict::{Alternatives, PASTS_LIMIT, StrictUnfairness, TooManyPasts, strict_unfairness};
