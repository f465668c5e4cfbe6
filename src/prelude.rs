//! What a script or a notebook needs: `use counterfair::prelude::*;`.

pub use crate::fair::{
    Audit, AuditSettings, Decision, Deployment, Learner, Method, People, Policy, Preprocessed, Preprocessing, Request,
    Sensitivity, ValueClass, preprocess,
};
pub use crate::kernel::data::{Columns, MissingRepair, Panel, ReadOptions, RowConvention};
pub use crate::kernel::evaluate::{Evaluation, evaluate};
pub use crate::kernel::model::fitted::{Basis, FitSettings, Fitted, OutputSet, Pooling, fit};
pub use crate::kernel::model::worlds::{Bandit, Linear, Nonlinear, ThreeLevels};
pub use crate::kernel::model::{Exogenous, Mechanism, World, abduct, predict, simulate};
pub use crate::kernel::numeric::{Estimate, Stream};
pub use crate::kernel::preprocess::{
    Experience, Full, Memory, Oracle, Preprocessor, Sequential, SingleStage, Unaware, batch, distance_by_time,
};

/// What notebooks add: policies followed in known worlds, the paper's runs, the claims, and results that show themselves.
#[cfg(feature = "report")]
mod notebook {
    #[doc(hidden)]
    pub use crate::fair::internals::ActionValues;
    #[doc(hidden)]
    pub use crate::kernel::evaluate::internals::{Alternatives, Paths, StrictUnfairness, paths, strict_unfairness};
    pub use crate::kernel::learn::features::Polynomial;
    #[doc(hidden)]
    pub use crate::kernel::learn::internals::Replay;
    pub use crate::kernel::learn::{
        ActionValue, Agent, Behaviour, Deployed, FittedQ, Greedy, Settings, UniformlyRandom, fitted_q_iteration,
    };
    pub use crate::kernel::model::worlds::{skewed, spread_by_level, spread_by_state};
    pub use crate::report::notebook::*;
    pub use crate::report::plot::{Axis, Chart, Ink, Series, Span};
    pub use crate::report::{Figure, Section, Table, sim_all};
    pub use crate::reproduction::{Cell, Context, DISCOUNT, Label, Record, Scale, Study};
    pub use crate::theory::beds::Hat;
    pub use crate::theory::optimum::{Optimum, PaperWorld, optimum};
    pub use crate::theory::{Bounds, Budget, Kind, Row, bounds};
}
#[cfg(feature = "report")]
pub use notebook::*;
