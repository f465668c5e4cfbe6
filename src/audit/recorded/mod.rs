//! Values over the recorded horizon, with intervals that cover.
//!
//! The question is what people would have received, over the decisions that were recorded, had a policy decided for them:
//!
//! ```text
//! J(π) = N⁻¹ Σᵢ E_π[ Σ_{t ≤ Tᵢ} γ^{t−1} Rₜ | sᵢ₁, zᵢ ]
//! ```
//!
//! | estimate | how | interval |
//! |---|---|---|
//! | fitted Q evaluation (the main one) | the h-th iterate from 0 is the action value with h decisions to go; a person with T decisions is valued by iterate T | people resampled, everything refitted |
//! | doubly robust (beside it) | the same Q, corrected by weighted surprises; Q and propensities from other people | per person, where enough effective people are left |
//! | differences | policy minus what people received, minus Random, minus every other policy | paired: the same resampled people on both sides |
//!
//! The endless horizon is an extrapolation beyond the record: [`fitted_q_evaluation`](super::fitted_q_evaluation).
//!
//! # Assumptions
//! Given what the regressions read (state, level, and the states of other worlds for policies that read them) the next state and reward depend on
//! the action alone, at all times alike; every action that the policy takes was taken by some people like that; and
//! horizons were fixed beforehand, or [`Dropout::Weighted`] models who left. [`WeightDiagnostics`], [`StayingModel`] and the calibration table
//! show how far the data carry these.

mod behaviour;
mod class;
mod followed;
mod iterates;
mod logistic;
mod pooled_ridge;
mod resampled;
mod settings;
mod stationarity;
mod staying;
mod values;
mod weighting;

pub use resampled::Resampled;
pub use settings::{Dropout, NoValue, RecordedSettings};
pub use values::{RecordedValue, RecordedValues};

pub use behaviour::CalibrationBin;
pub use class::{Differences, FunctionClass};
pub use settings::{PolicyAlong, RecordedError};
pub use staying::StayingModel;
pub use values::{Difference, PropensityDiagnostics, recorded_values};
pub use weighting::WeightDiagnostics;
