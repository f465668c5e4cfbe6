//! The paper's figures and tables as grids of cells, and the runner that does them.
//!
//! A cell is (world, N, T, δ, methods, learner, seed), or its like for a study: everything its numbers depend on. One cell learns all of its
//! methods from one panel and follows them on the same draws, so that what differs between them is the method.
//!
//! | question | file |
//! |---|---|
//! | which cells make a figure? | [`Grid`]: a label at a [`Scale`] |
//! | which results belong to which grid, and what is missing? | [`select`], [`missing`] |
//! | what is in a cell, and which random numbers are its own? | [`Cell`] |
//! | how is it done in parallel, resumed, split and joined? | [`run`], [`merge`], [`Shard`] |
//! | what is in the file? | [`journal`] |
//! | means over seeds, rates in N | [`summary`] |
//! | whose data? | [`Study`] |
//! | is its noise additive? | [`Study::additivity`] |
//! | a file of people whose truth is known? | [`WeeklyCalls`] |

mod additivity;
mod cell;
mod context;
mod fingerprint;
mod generative;
mod grid;
pub mod journal;
mod method;
mod policies;
mod record;
mod regret;
mod regret_scale;
mod runner;
mod selection;
mod shard;
mod split;
mod study;
pub mod summary;
mod synthetic;
mod weekly_calls;

pub use crate::theory::optimum::PaperWorld;
pub use cell::{Cell, Learner, SemiSynthetic, Split, Synthetic, UnknownLearner};
pub use context::{CellError, Context};
pub use generative::Generative;
pub use grid::{Grid, Label, Scale, UnknownLabel};
pub use method::{Method, UnknownMethod};
pub use policies::{Candidate, MethodLearner, NotLearned, Stages};
pub use record::{Learning, Measured, MethodOutcome, MethodResult, Record};
pub use regret::{METRIC_DECISIONS, RegretCell};
pub use regret_scale::{Floor, RegretScale};
pub use runner::{Finished, Merged, Plan, Progress, RunError, merge, read_results, run};
pub use selection::{Selection, missing, select};
pub use shard::{NotAShard, Shard};
pub use study::{Attribute, Origin, StarError, Study};
pub use synthetic::DISCOUNT;
pub use weekly_calls::{CallEffect, ScoreScale, WeeklyCalls, WeeklyRow};
