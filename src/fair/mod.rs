//! The front door: one way from a file to a decision.
//!
//! A [`Learner`] is a value with settings. [`learn`](Learner::learn) takes [`People`] and gives a [`Policy`], which can be saved, loaded,
//! [audited](Policy::audit) on other people and [deployed](Policy::deploy). Whatever goes wrong on the way is one [`Error`], which
//! carries the place and the value of what was wrong below. The command line, the paper's runs and the notebooks take this way too.
//!
//! | step | file |
//! |---|---|
//! | people followed over time, from a file or from memory | [`People`] |
//! | `alg:cf:1` on them | [`preprocess`], [`Preprocessing`] |
//! | then `alg:cf:2` | [`Learner`] |
//! | what is learned, in memory and on disk | [`Policy`] |
//! | how good and how fair it is | [`Audit`] |
//! | at work | [`Deployment`], [`Request`], [`Decision`] |

mod audit;
mod deployment;
mod error;
mod learner;
mod people;
mod policy;
mod preprocessing;
mod sensitivity;
mod warnings;

pub use audit::{Audit, AuditSettings, JUDGED};
pub use deployment::{Decision, Deployment, Request, RequestError};
pub use error::Error;
pub use learner::{ActionValues, Learned, Learner, ValueClass};
pub use people::People;
pub use policy::{Manifest, Method, Policy, PolicyFileError, StoredQ, UnknownMethod, VERSION};
pub use preprocessing::{Preprocessed, Preprocessing, preprocess};
pub use sensitivity::Sensitivity;
