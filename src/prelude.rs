//! What a script or a notebook needs: `use counterfair::prelude::*;`.

pub use crate::fair::{
    Audit, AuditSettings, Decision, Deployment, Learner, Method, People, Policy, Preprocessing, Request, ValueClass,
};
pub use crate::kernel::data::{Columns, MissingRepair, Panel, ReadOptions, RowConvention};
pub use crate::kernel::model::fitted::{Basis, FitSettings, Pooling};
pub use crate::kernel::model::worlds::{Linear, Nonlinear, ThreeLevels};
pub use crate::kernel::model::{Exogenous, Mechanism, World, abduct, predict, simulate};
pub use crate::kernel::numeric::{Estimate, Stream};
