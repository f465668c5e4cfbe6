//! The front door, for a program or a script: `use counterfair::prelude::*;`. What notebooks need besides is in `counterfair::notebook::prelude`.

pub use crate::fair::{
    Audit, AuditSettings, Decision, Deployment, Error, Learned, Learner, Method, People, Policy, Preprocessed,
    Preprocessing, Request, Sensitivity, ValueClass, preprocess,
};
pub use crate::files::{Columns, MissingRepair, ReadOptions, RowConvention};
pub use crate::kernel::people::Panel;
