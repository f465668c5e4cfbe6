//! What a notebook needs: the front door, the kernel's objects, the paper's runs, the claims, and results that show themselves.

pub use super::{
    Captioned, Check, Content, Followed, Gallery, OrStop, Picture, Rule, Show, advantage, against_correlation,
    comparison, dependence, fairness, follow, followers, largest_difference, noise_models, rates, rates_over_size,
    shares, slope_panels, support, treated, unfairness_by_strength, worlds, worth,
};
pub use crate::estimate::{Basis, FitSettings, Fitted, OutputSet, Pooling, fit};
pub use crate::fair::ActionValues;
pub use crate::kernel::evaluate::{Evaluation, evaluate};
pub use crate::kernel::learn::features::Polynomial;
pub use crate::kernel::learn::{
    ActionValue, Agent, Behaviour, Deployed, FittedQ, Greedy, Policy as DecisionRule, Settings, UniformlyRandom,
    fitted_q_iteration,
};
pub use crate::kernel::model::worlds::{
    Bandit, Linear, Nonlinear, ThreeLevels, skewed, spread_by_level, spread_by_state,
};
pub use crate::kernel::model::{Exogenous, Mechanism, World, abduct, predict, simulate};
pub use crate::kernel::numeric::{Estimate, Stream};
pub use crate::kernel::preprocess::{
    Augmented, Experience, Full, Memory, Oracle, Preprocessor, Sequential, SingleStage, Unaware, batch,
};
pub use crate::prelude::*;
pub use crate::report::plot::{Axis, Chart, Ink, Series, Span};
pub use crate::report::{Figure, Rate, Section, Table, sim_all};
pub use crate::reproduction::{Cell, Context, DISCOUNT, Label, Record, Scale, Study};
pub use crate::theory::errata::{ErratumRow, errata, recompute};
pub use crate::theory::optimum::{Optimum, PaperWorld, optimum};
pub use crate::theory::rules::{
    Alternatives, Paths, Replay, StrictUnfairness, distance_by_time, paths, strict_unfairness,
};
pub use crate::theory::theorems::{Claim, Limit, Row, Slope, examine, theorems};
pub use crate::theory::{BestRule, Bounds, Mistaken, Regret, RegretMeter, bounds};
pub use std::sync::Arc;
