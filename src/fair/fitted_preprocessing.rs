//! Fitted preprocessing on disk: what a policy of any other learner needs to be judged and served.

use super::file::{self, FileError, Header};
use super::policy::Parts;
use super::{Error, Manifest, Method, People, Policy, Preprocessed, Program, ProgramCommand, Seen, StoredQ};
use crate::estimate::{Certificate, Fitted};
use crate::fair::Features;
use crate::files::{Columns, RowConvention, privately};
use crate::kernel::learn::features::Polynomial;
use crate::kernel::people::Labels;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the file format this build writes and reads.
const VERSION: u32 = 1;

/// What the file says it is.
const FORMAT: &str = "counterfair preprocessing";

/// A fitted mechanism with the names and columns of the people it was fitted to: `preprocess --save` writes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FittedPreprocessing {
    /// Always `counterfair preprocessing`.
    format: String,
    /// The version of the format.
    version: u32,
    /// The names of the levels, in the order of the codes.
    pub levels: Labels,
    /// The names of the actions, in the order of the codes.
    pub actions: Labels,
    /// p.
    pub state_dim: usize,
    /// The columns of the file it was fitted to.
    pub columns: Columns,
    /// The row convention of that file.
    pub rows: RowConvention,
    /// P(Z = z⁽ᵏ⁾) that weighted the rewards.
    pub level_weights: Vec<f64>,
    /// The mechanism behind counterfactual states; a policy file of Full or Unaware has none.
    pub mechanism: Option<Fitted>,
    /// n, the transitions it was fitted to.
    pub transitions: usize,
    /// The range of the states of all worlds that came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seen: Option<Seen>,
    /// The certificate and the discount of the policy file it was taken from, if it was.
    #[serde(skip)]
    taken: Option<(Option<Certificate>, f64)>,
}

impl FittedPreprocessing {
    /// The discount where no policy file names another.
    pub const DISCOUNT: f64 = 0.9;

    /// What was fitted to these people.
    pub fn of(people: &People, done: &Preprocessed) -> Self {
        let panel = people.panel();
        let seen = Seen::of(done.experience.views(), done.experience.width());
        Self {
            format: FORMAT.into(),
            version: VERSION,
            levels: panel.levels().clone(),
            actions: panel.action_names().clone(),
            state_dim: panel.state_dim(),
            columns: people.columns(),
            rows: people.rows(),
            level_weights: done.level_weights.clone(),
            mechanism: Some(done.mechanism.clone()),
            transitions: panel.transitions(),
            seen: Some(seen),
            taken: None,
        }
    }

    /// The preprocessing of a policy, with its certificate and its discount.
    pub fn of_policy(policy: &Policy) -> Self {
        Self {
            format: FORMAT.into(),
            version: VERSION,
            levels: policy.levels.clone(),
            actions: policy.actions.clone(),
            state_dim: policy.state_dim,
            columns: policy.columns.clone(),
            rows: policy.rows,
            level_weights: policy.level_weights.clone(),
            mechanism: policy.mechanism.clone(),
            transitions: policy.manifest.transitions,
            seen: policy.seen.clone().filter(|_| policy.method == Method::Ours),
            taken: Some((policy.certificate.clone(), policy.manifest.discount)),
        }
    }

    /// Writes it; whole or not at all, and a new file for its owner alone.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        Ok(privately(path.as_ref(), |out| Ok(serde_json::to_writer_pretty(out, self)?))?)
    }

    /// Reads a file that [`save`](Self::save) wrote, or the preprocessing of a policy file.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let (text, file) = file::bytes(path.as_ref())?;
        Self::from_json(&text, &file)
    }

    /// Parses and validates the contents of a file called `file`.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn from_json(text: &[u8], file: &str) -> Result<Self, Error> {
        const EXPECTED: &str = "neither fitted preprocessing nor a policy";
        let Header { format, version } = file::parse(text, file, EXPECTED)?;
        match (format.as_str(), version) {
            (FORMAT, VERSION) => {}
            (super::policy::FORMAT, _) => return Ok(Self::of_policy(&Policy::from_json(text, file)?)),
            _ => {
                let reads = format!("{FORMAT:?}, version {VERSION}, and policy files");
                return Err(FileError::Version { file: file.into(), format, version, reads }.into());
            }
        }
        let fitted: Self = file::parse(text, file, EXPECTED)?;
        let problem = fitted.problem();
        Ok(file::fitting(fitted, file, problem)?)
    }

    /// A policy that a program takes the decisions of. `reads` says what it is shown: with [`Method::Ours`] the states of all worlds and
    /// nothing else, which is fair by construction; with the others what was observed, and the CF metric tells how unfair that is.
    ///
    /// Its discount is that of the policy file the preprocessing came from, or [`DISCOUNT`](Self::DISCOUNT); it is public in the manifest.
    /// A certificate comes along too: it is about the mechanism and the people it was fitted to, not about who learned from them.
    ///
    /// # Errors
    /// [`Error::NoMechanism`]; [`ProgramError`](super::ProgramError) when the program does not start as it should.
    pub fn with_program(&self, reads: Method, command: &ProgramCommand) -> Result<Policy, Error> {
        if reads == Method::Ours && self.mechanism.is_none() {
            return Err(Error::NoMechanism);
        }
        let program = Program::start(command, reads, &self.levels, &self.actions, self.state_dim)?;
        let policy = self.policy(reads, StoredQ::Program(program));
        debug_assert_eq!(policy.problem(), None);
        Ok(policy)
    }

    /// The first thing that does not fit, if any: that of a policy that values nothing.
    fn problem(&self) -> Option<String> {
        let (k, a, p) = (self.levels.len(), self.actions.len(), self.state_dim);
        // Otherwise there are no features that read so many numbers.
        let width = Method::Ours.width(k, p);
        let Ok(features) = Polynomial::new(width.clamp(1, 1 << 20), 0) else {
            return Some(format!("views of {width} numbers cannot be read"));
        };
        let nothing = StoredQ::Linear { features: Features::Polynomial(features), weights: vec![0.0; a] };
        self.policy(Method::Ours, nothing).problem()
    }

    fn policy(&self, method: Method, q: StoredQ) -> Policy {
        let (certificate, discount) = self.taken.clone().unwrap_or((None, Self::DISCOUNT));
        let seen = self.seen.clone().filter(|_| method == Method::Ours);
        let manifest = Manifest {
            program: env!("CARGO_PKG_VERSION").into(),
            command: String::new(),
            seed: 0,
            discount,
            transitions: self.transitions,
            outcome: "learned elsewhere".into(),
            ended: None,
        };
        let mut policy = Policy::new(Parts {
            method,
            levels: self.levels.clone(),
            actions: self.actions.clone(),
            state_dim: self.state_dim,
            columns: self.columns.clone(),
            rows: self.rows,
            level_weights: self.level_weights.clone(),
            mechanism: self.mechanism.clone(),
            q,
            seen,
            manifest,
        });
        policy.certificate = certificate;
        policy
    }
}
