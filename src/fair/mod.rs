//! The front door: one way from a file to a decision.
//!
//! A [`Learner`] is a value with settings. [`learn`](Learner::learn) takes [`People`] and gives a [`Policy`], which can be saved, loaded,
//! [audited](Policy::audit) on other people and [deployed](Policy::deploy). Whatever goes wrong on the way to a policy is one [`Error`],
//! which carries the place and the value of what was wrong below; a file that cannot be loaded, a request and a memory have errors of their own. The command line, the paper's runs and the notebooks take this way too.
//!
//! | step | file |
//! |---|---|
//! | people followed over time, from a file or from memory | [`People`] |
//! | people who do not fit in memory: on disk, or some of them | [`LargePeople`], [`Sample`] |
//! | `alg:cf:1` on them | [`preprocess`], [`Preprocessing`] |
//! | then `alg:cf:2` | [`Learner`] |
//! | what is learned, in memory and on disk | [`Policy`] |
//! | how good and how fair it is | [`Audit`] |
//! | whether learning ended well enough to be served, and what must be said with it | [`Policy::fitness`], [`Reservation`] |
//! | any other learner's policy, as a program | [`FittedPreprocessing`], [`ProgramCommand`], [`Program`] |
//! | everything for one's own file: checks, policies side by side, a verdict | [`study`] |
//! | at work | [`Deployment`], [`Request`], [`Decision`] |
//! | what is remembered of people, and where | [`MemoryStore`]: [`InProcess`], [`MemoryFile`] |

mod audit;
mod deployment;
mod error;
mod features;
mod file;
mod fingerprint;
mod fitness;
mod fitted_preprocessing;
mod large;
mod learner;
mod method;
mod people;
mod policy;
mod preprocessing;
mod program;
mod recorded_steps;
mod remarks;
mod reservation;
mod sample;
mod seen;
mod sensitivity;
mod stored_q;
pub mod study;
mod warnings;

pub use audit::{Audit, AuditSettings, JUDGED};
pub use deployment::{
    Decision, Deployment, Explain, Explanation, InProcess, MemoryError, MemoryStore, Remembered, Request, RequestError,
};
#[cfg(feature = "durable")]
pub use deployment::{HISTORY, MemoryFile};
pub use error::Error;
pub use file::FileError;
pub use fitness::{SETTLED_CHANGE, Unfit};
pub use fitted_preprocessing::FittedPreprocessing;
pub use large::{LargePeople, Memory};
pub use learner::{Learned, Learner, ValueClass};
pub use method::Method;
pub use people::People;
pub use policy::{Manifest, Policy, VERSION};
pub use preprocessing::{Preprocessed, Preprocessing, preprocess};
pub use program::{ProgramCommand, ProgramError};
pub use reservation::{About, Reservation};
pub use sample::Sample;
pub use sensitivity::Sensitivity;

pub(crate) use seen::Seen;

#[cfg(feature = "durable")]
pub use deployment::MemoryBasis;
pub use deployment::{Answered, LineError, OnError};
pub use features::Features;
pub use learner::ActionValues;
pub use method::UnknownMethod;
pub use program::{PROGRAM_VERSION, Program, UnclosedQuote};
pub use stored_q::StoredQ;
