//! What a policy is worth and how fair it is, from recorded data; every number with its interval.
//!
//! | question | answer | needs |
//! |---|---|---|
//! | value over the recorded horizon, differences, intervals that cover | [`recorded::recorded_values`] | π along them |
//! | value over an endless horizon, by regression | [`fitted_q_evaluation`] | π along them, features |
//! | value and fair value by following the fitted mechanism | [`simulated_values`] | refits of a mechanism |
//! | CF metric and action rates on recorded histories | [`audit()`] | a mechanism fitted apart from the policy's |
//! | the same with an interval that knows the mechanism is estimated | [`unfairness()`] | a certificate, or the judged people |
//! | the same for policies that were learned fold by fold | [`cross_fitted_unfairness`] | the certificates of the folds |
//! | how much must be wrong? | [`sensitivity`] | the same |
//! | are the fitted means and noise believable? | [`diagnostics`], [`noise_check`] | the people fitted to |
//! | how much does the policy depend on who was followed? | [`stability()`] | a way to learn it again |

mod cross_section;
pub mod diagnostics;
mod fqe;
mod holm;
pub mod noise_check;
mod panel_audit;
pub mod recorded;
pub mod sensitivity;
mod simulated;
mod stability;
mod unfairness;

pub use fqe::{EvaluationError, EvaluationSettings, FittedEvaluation, fitted_q_evaluation};
pub(crate) use holm::holm;
pub use panel_audit::{AuditError, PanelAudit, PanelDraws, audit, probabilities_along};
pub use simulated::{Refitted, SimulatedValue, Simulation, SimulationError, simulated_values};
pub use stability::{Stability, stability};
pub(crate) use unfairness::wilson;
pub use unfairness::{
    Carried, CrossFitted, HeldOut, ParityGap, UnfairnessError, UnfairnessLaw, Yardstick, cross_fitted_unfairness,
    parity_gap, parity_gap_of, unfairness,
};
