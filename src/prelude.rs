//! What a script or a notebook needs: `use counterfair::prelude::*;`.

pub use crate::estimate::{Basis, FitSettings, Fitted, OutputSet, Pooling, fit};
pub use crate::fair::{
    Audit, AuditSettings, Decision, Deployment, Learner, Method, People, Policy, Preprocessed, Preprocessing, Request,
    Sensitivity, ValueClass, preprocess,
};
pub use crate::files::{Columns, MissingRepair, ReadOptions, RowConvention};
pub use crate::kernel::evaluate::{Evaluation, evaluate};
pub use crate::kernel::model::worlds::{Bandit, Linear, Nonlinear, ThreeLevels};
pub use crate::kernel::model::{Exogenous, Mechanism, World, abduct, predict, simulate};
pub use crate::kernel::numeric::{Estimate, Stream};
pub use crate::kernel::people::Panel;
pub use crate::kernel::preprocess::{
    Experience, Full, Memory, Oracle, Preprocessor, Sequential, SingleStage, Unaware, batch,
};
pub use crate::theory::rules::distance_by_time;

/// What notebooks add: policies followed in known worlds, the paper's runs, the claims, and results that show themselves.
#[cfg(feature = "report")]
mod notebook {
    #[doc(hidden)]
    pub use crate::fair::ActionValues;
    pub use crate::kernel::learn::features::Polynomial;
    pub use crate::kernel::learn::{
        ActionValue, Agent, Behaviour, Deployed, FittedQ, Greedy, Settings, UniformlyRandom, fitted_q_iteration,
    };
    pub use crate::kernel::model::worlds::{skewed, spread_by_level, spread_by_state};
    pub use crate::report::notebook::*;
    pub use crate::report::plot::{Axis, Chart, Ink, Series, Span};
    pub use crate::report::{Figure, Section, Table, sim_all};
    pub use crate::reproduction::{Cell, Context, DISCOUNT, Label, Record, Scale, Study};
    pub use crate::theory::beds::Hat;
    pub use crate::theory::errata::{ErratumRow, errata, recompute};
    pub use crate::theory::optimum::{Optimum, PaperWorld, optimum};
    #[doc(hidden)]
    pub use crate::theory::rules::Replay;
    #[doc(hidden)]
    pub use crate::theory::rules::{Alternatives, Paths, StrictUnfairness, paths, strict_unfairness};
    pub use crate::theory::theorems::{Claim, Row, examine, theorems};
    pub use crate::theory::{Bounds, bounds};
}
#[cfg(feature = "report")]
pub use notebook::*;
