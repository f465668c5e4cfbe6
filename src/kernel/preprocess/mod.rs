//! What a policy may see: from a history to the numbers a decision rule reads.
//!
//! There is one stepwise form with explicit [`Memory`], which deployment uses, and [`batch()`], which folds the same steps over a
//! panel. The view is a type: a policy that reads [`Augmented`] rows cannot be given [`StateOnly`] ones.

mod batch;
mod memory;
mod observed;
mod oracle;
mod rows;
mod sequential;
mod single_stage;
mod view;

pub use batch::{Experience, StateOverflow, batch};
pub use memory::Memory;
pub use observed::{Full, Unaware};
pub use oracle::Oracle;
pub use rows::ExperienceRows;
pub use sequential::Sequential;
pub use single_stage::SingleStage;
pub use view::{Augmented, Preprocessor, StateAndLevel, StateOnly, View};

pub use view::Observed;
