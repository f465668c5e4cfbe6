//! What a policy may see: from a history to the numbers a decision rule reads.
//!
//! There is one stepwise form with explicit [`Memory`], which deployment uses, and [`batch()`], which folds the same steps over a
//! panel. The view is a type: a policy that reads [`Augmented`] rows cannot be given [`StateOnly`] ones.

mod batch;
mod cross_fit;
#[doc(hidden)]
pub mod diagnostics;
mod distance;
mod memory;
#[doc(hidden)]
pub mod noise_check;
mod observed;
mod oracle;
mod sequential;
mod single_stage;
mod stored;
mod view;

pub use batch::{Experience, StateOverflow, batch};
pub use distance::distance_by_time;
pub use memory::Memory;
pub use observed::{Full, Unaware};
pub use oracle::Oracle;
pub use sequential::Sequential;
pub use single_stage::SingleStage;
pub use view::{Augmented, Preprocessor, StateAndLevel, StateOnly, View};

pub(crate) use cross_fit::cross_fitted_batch;
pub(crate) use stored::{ExperienceRows, StoredExperience, stored_batch};

/// What this package's own command, tests and benches reach beyond the promise above. No promise: it may change with any release.
#[doc(hidden)]
pub mod internals {
    pub use super::cross_fit::CrossFitError;
    pub use super::stored::StoringError;
    pub use super::view::Observed;
}
pub(crate) use internals::*;
