//! The front door: one way from a file to a decision.
//!
//! A [`Learner`] is a value with settings. [`learn`](Learner::learn) takes [`People`] and gives a [`Policy`], which can be saved, loaded,
//! [audited](Policy::audit) on other people and [deployed](Policy::deploy). Whatever goes wrong on the way is one [`Error`], which
//! carries the place and the value of what was wrong below. The command line, the paper's runs and the notebooks take this way too.
//!
//! | step | file |
//! |---|---|
//! | people followed over time, from a file or from memory | [`People`] |
//! | people who do not fit in memory, on disk; or some of them | [`LargePeople`]; [`Sample`] |
//! | `alg:cf:1` on them | [`preprocess`], [`Preprocessing`] |
//! | then `alg:cf:2` | [`Learner`] |
//! | what is learned, in memory and on disk | [`Policy`] |
//! | how good and how fair it is | [`Audit`] |
//! | whether learning ended well enough to be served | [`Policy::fitness`] |
//! | any other learner's policy, as a program | [`FittedPreprocessing`], [`ProgramCommand`], [`Program`] |
//! | everything for one's own file: checks, policies side by side, a verdict | [`study`] |
//! | at work | [`Deployment`], [`Request`], [`Decision`] |
//! | what is remembered of people, and where | [`MemoryStore`]: [`InProcess`], [`MemoryFile`] |

mod audit;
mod deployment;
mod error;
mod fingerprint;
mod fitness;
mod fitted_preprocessing;
mod large;
mod learner;
mod people;
mod policy;
mod preprocessing;
mod program;
mod remarks;
mod sample;
mod seen;
mod sensitivity;
pub mod study;
mod warnings;

pub use audit::{Audit, AuditSettings, JUDGED};
#[cfg(feature = "durable")]
pub use deployment::{About, HISTORY, MemoryFile};
pub use deployment::{
    Answered, Codes, Decision, Deployment, Explain, Explanation, InProcess, LineError, MemoryError, MemoryStore,
    Migrated, OnError, Remembered, Request, RequestError, migrate,
};
pub use error::Error;
pub use fitness::{SETTLED_CHANGE, Unfit};
pub use fitted_preprocessing::{FittedPreprocessing, PreprocessingFileError};
pub use large::{LargePeople, Memory};
pub use learner::{ActionValues, Learned, Learner, ValueClass};
pub use people::People;
pub use policy::{Manifest, Method, Policy, PolicyFileError, StoredQ, UnknownMethod, VERSION};
pub use preprocessing::{Preprocessed, Preprocessing, preprocess};
pub use program::{PROGRAM_VERSION, Program, ProgramCommand, ProgramError, UnclosedQuote};
pub use sample::Sample;
pub use seen::Seen;
pub use sensitivity::Sensitivity;
