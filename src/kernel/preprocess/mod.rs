//! What a policy may see: from a history to the numbers a decision rule reads.
//!
//! There is one stepwise form with explicit [`Memory`], which deployment uses, and [`batch()`], which folds the same steps over a
//! panel. The view is a type: a policy that reads [`Augmented`] rows cannot be given [`StateOnly`] ones.

mod batch;
mod cross_fit;
pub mod diagnostics;
mod distance;
mod memory;
pub mod noise_check;
mod observed;
mod oracle;
mod sequential;
mod single_stage;
mod stored;
mod view;

pub use batch::{Experience, StateOverflow, batch};
pub use cross_fit::{CrossFitError, cross_fitted_batch, folds};
pub use distance::distance_by_time;
pub use memory::Memory;
pub use observed::{Full, Unaware};
pub use oracle::Oracle;
pub use sequential::Sequential;
pub use single_stage::SingleStage;
pub use stored::{ExperienceRows, StoredExperience, StoringError, stored_batch};
pub use view::{Augmented, Observed, Preprocessor, StateAndLevel, StateOnly, View};
