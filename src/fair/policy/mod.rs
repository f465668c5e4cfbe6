//! A policy on disk: everything deployment needs, in one versioned JSON file.

use super::file::{self, FileError, Header};
use super::{Deployment, Error, Method, People, Program, ProgramError, Reservation, Seen, StoredQ, reservation};
use crate::estimate::{Certificate, Fitted};
use crate::files::{Columns, MissingRepair, ReadOptions, RowConvention, privately};
use crate::kernel::learn::{ActionValue, Agent, Outcome};
use crate::kernel::model::Mechanism;
use crate::kernel::people::Labels;
use crate::kernel::preprocess::{Full, Sequential, StateOnly, Unaware};
use serde::{Deserialize, Serialize};
use std::path::Path;

#[cfg(test)]
pub(super) mod tests;

/// The version of the file format this build writes for a policy with reservations, and the newest it reads.
pub const VERSION: u32 = 2;

/// The version of a policy without reservations. Programs that know no other would serve one with reservations in silence.
const PLAIN: u32 = 1;

/// What the file says it is.
pub(super) const FORMAT: &str = "counterfair policy";

/// How a policy came to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the program.
    pub program: String,
    /// The command that made it.
    pub command: String,
    /// The seed.
    pub seed: u64,
    /// γ.
    pub discount: f64,
    /// n, the tuples learned from.
    pub transitions: usize,
    /// How fitted Q iteration ended, in words.
    pub outcome: String,
    /// The same as a value; files written by hand may lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Outcome>,
}

/// A policy: what it reads, how it values actions, and where it comes from. What is saved is what is here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// Always `counterfair policy`.
    format: String,
    /// The version of the format.
    version: u32,
    /// What it reads.
    pub method: Method,
    /// The names of the levels, in the order of the codes.
    pub levels: Labels,
    /// The names of the actions, in the order of the codes.
    pub actions: Labels,
    /// p.
    pub state_dim: usize,
    /// The columns it was learned from.
    pub columns: Columns,
    /// The row convention of that file.
    pub rows: RowConvention,
    /// P(Z = z⁽ᵏ⁾) that weighted the rewards.
    pub level_weights: Vec<f64>,
    /// The mechanism behind counterfactual states; only Ours has one.
    pub mechanism: Option<Fitted>,
    /// The action value whose largest entry is taken.
    #[doc(hidden)]
    pub q: StoredQ,
    /// What the learning data say about its unfairness, for whoever judges it on other people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) certificate: Option<Certificate>,
    /// The range of what it learned from, in the coordinates that the action value reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seen: Option<Seen>,
    /// What must be said wherever it goes; see [`reservations`](Self::reservations).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reservations: Vec<Reservation>,
    /// How it came to be.
    pub manifest: Manifest,
}

/// What [`Policy::new`] puts together.
pub(crate) struct Parts {
    /// What it reads.
    pub method: Method,
    /// Level names.
    pub levels: Labels,
    /// Action names.
    pub actions: Labels,
    /// p.
    pub state_dim: usize,
    /// Columns of the file.
    pub columns: Columns,
    /// Its row convention.
    pub rows: RowConvention,
    /// P(Z).
    pub level_weights: Vec<f64>,
    /// The mechanism of Ours.
    pub mechanism: Option<Fitted>,
    /// The action value.
    pub q: StoredQ,
    /// What it learned from.
    pub seen: Option<Seen>,
    /// How it came to be.
    pub manifest: Manifest,
}

impl Policy {
    /// A policy made of parts that fit.
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { method, levels, actions, state_dim, columns, rows, level_weights, mechanism, q, seen, manifest } =
            parts;
        Self {
            format: FORMAT.into(),
            version: PLAIN,
            method,
            levels,
            actions,
            state_dim,
            columns,
            rows,
            level_weights,
            mechanism,
            q,
            certificate: None,
            seen,
            reservations: vec![],
            manifest,
        }
    }

    /// The same policy with what must be said wherever it goes.
    pub(super) fn with_reservations(self, reservations: Vec<Reservation>) -> Self {
        let version = if reservations.is_empty() { PLAIN } else { VERSION };
        Self { version, reservations, ..self }
    }

    /// What must be said wherever the policy goes: why nothing could be learned from its data, or why its unfairness is not known.
    ///
    /// Files of version 1 do not say it of themselves; of them this is that a state is kept, which their mechanism tells.
    pub fn reservations(&self) -> Vec<Reservation> {
        if !self.reservations.is_empty() {
            return self.reservations.clone();
        }
        let numbered = || (1..=self.state_dim).map(|j| format!("state{j}")).collect();
        let states = if self.columns.states.is_empty() { numbered() } else { self.columns.states.clone() };
        let outputs: Vec<String> = states.into_iter().chain([self.columns.reward.clone()]).collect();
        self.mechanism.as_ref().and_then(|mechanism| reservation::accepted(mechanism, &outputs)).into_iter().collect()
    }

    /// The same policy with a certificate.
    #[doc(hidden)]
    pub fn with_certificate(self, certificate: Certificate) -> Self {
        Self { certificate: Some(certificate), ..self }
    }

    /// Reads a policy file.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let (text, file) = file::bytes(path.as_ref())?;
        Self::from_json(&text, &file)
    }

    /// Writes the policy file that [`load`](Self::load) and `counterfair decide` read; whole or not at all, and a new file for its owner alone.
    ///
    /// # Errors
    /// [`Error::Write`]; [`Error::Program`] for a program, which is in no file.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        if self.program().is_some() {
            return Err(ProgramError::NotSaved.into());
        }
        Ok(privately(path.as_ref(), |out| Ok(serde_json::to_writer_pretty(out, self)?))?)
    }

    /// [`read_people_with`](Self::read_people_with), with a repair and otherwise as the file shows itself.
    ///
    /// # Errors
    /// [`Error::Data`], or [`Error::StateColumns`].
    pub fn read_people(&self, path: impl AsRef<Path>, missing: MissingRepair) -> Result<People, Error> {
        self.read_people_with(path, &ReadOptions { missing, ..ReadOptions::default() })
    }

    /// Reads people to judge the policy on, from a file with the columns and rows of the one it was learned from; a level or an action that
    /// the policy does not know is an error. Of `how`, format, step and repair are used.
    ///
    /// # Errors
    /// [`Error::Data`], or [`Error::StateColumns`].
    pub fn read_people_with(&self, path: impl AsRef<Path>, how: &ReadOptions) -> Result<People, Error> {
        self.of_its_kind(People::read_with(path, &self.reading(how))?)
    }

    /// [`read_people_with`](Self::read_people_with) by [`People::read_within`]: a sample, where not everybody can be judged in `memory` bytes.
    ///
    /// # Errors
    /// As [`read_people_with`](Self::read_people_with).
    pub fn read_people_within(
        &self,
        path: impl AsRef<Path>,
        how: &ReadOptions,
        memory: u64,
        seed: u64,
    ) -> Result<People, Error> {
        self.of_its_kind(People::read_within(path, &self.reading(how), memory, seed)?)
    }

    fn reading(&self, how: &ReadOptions) -> ReadOptions {
        ReadOptions {
            columns: self.columns.clone(),
            rows: self.rows,
            levels: Some(self.levels.clone()),
            actions: Some(self.actions.clone()),
            ..how.clone()
        }
    }

    fn of_its_kind(&self, people: People) -> Result<People, Error> {
        let found = people.panel().state_dim();
        if found != self.state_dim {
            return Err(Error::StateColumns { file: people.name().into(), found, needed: self.state_dim });
        }
        Ok(people)
    }

    /// The policy at work: it has met nobody yet.
    pub fn deploy(self) -> Deployment {
        Deployment::new(self)
    }

    /// Parses and validates the contents of a policy file called `file`.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn from_json(text: &[u8], file: &str) -> Result<Self, FileError> {
        const EXPECTED: &str = "not a counterfair policy";
        let Header { format, version } = file::parse(text, file, EXPECTED)?;
        if format != FORMAT || !(PLAIN..=VERSION).contains(&version) {
            let reads = format!("{FORMAT:?}, versions {PLAIN} to {VERSION}");
            return Err(FileError::Version { file: file.into(), format, version, reads });
        }
        let policy: Self = file::parse(text, file, EXPECTED)?;
        let problem = policy.problem();
        file::fitting(policy, file, problem)
    }

    /// The first thing that does not fit, if any.
    pub(super) fn problem(&self) -> Option<String> {
        let (k, a, p) = (self.levels.len(), self.actions.len(), self.state_dim);
        let width = self.method.width(k, p);
        if k == 0 || a == 0 || p == 0 {
            return Some(format!("{k} levels, {a} actions and {p} state coordinates; each must be at least one"));
        }
        if self.levels != Labels::new(self.levels.names().iter().cloned()) {
            return Some(format!("level names {:?} are not sorted and distinct", self.levels.names()));
        }
        if self.actions != Labels::new(self.actions.names().iter().cloned()) {
            return Some(format!("action names {:?} are not sorted and distinct", self.actions.names()));
        }
        if (self.version == PLAIN) != self.reservations.is_empty() {
            return Some(format!("version {} with {} reservations", self.version, self.reservations.len()));
        }
        if self.q.inputs() != width {
            return Some(format!("the action value reads {} numbers, the method shows {width}", self.q.inputs()));
        }
        if let Some(problem) = self.q.problem(a) {
            return Some(problem);
        }
        if let Some(w) = self.level_weights.iter().find(|w| !w.is_finite()) {
            return Some(format!("a level weight is {w}"));
        }
        if self.level_weights.len() != k {
            return Some(format!("{} level weights for {k} levels", self.level_weights.len()));
        }
        if let Some(problem) = self.certificate.as_ref().and_then(|c| self.certificate_problem(c)) {
            return Some(problem);
        }
        if let Some(problem) = self.seen.as_ref().and_then(|seen| seen.problem(self.q.inputs())) {
            return Some(problem);
        }
        match (&self.mechanism, self.method) {
            (None, Method::Ours) => Some("a policy on counterfactual states without a mechanism".into()),
            (Some(m), _) if !m.is_consistent() => Some("the mechanism's parts do not fit together".into()),
            (Some(m), _) if (m.levels(), m.actions(), m.state_dim()) != (k, a, p) => Some(format!(
                "the mechanism has {} levels, {} actions and {} coordinates; the policy {k}, {a} and {p}",
                m.levels(),
                m.actions(),
                m.state_dim()
            )),
            _ => None,
        }
    }

    fn certificate_problem(&self, certificate: &Certificate) -> Option<String> {
        let of = |m: &Fitted| (m.levels(), m.actions(), m.state_dim());
        let (found, expected) = (of(certificate.mechanism()), (self.levels.len(), self.actions.len(), self.state_dim));
        if !certificate.is_consistent() {
            return Some("the certificate's parts do not fit together".into());
        }
        (found != expected).then(|| {
            format!("the certificate is of (levels, actions, coordinates) {found:?}, the policy has {expected:?}")
        })
    }

    /// The program that decides, where one does.
    #[doc(hidden)]
    pub fn program(&self) -> Option<&Program> {
        match &self.q {
            StoredQ::Program(program) => Some(program),
            StoredQ::Linear { .. } | StoredQ::Neural(_) => None,
        }
    }

    /// Whether a program that decides has answered every question so far; a policy from a file always has.
    ///
    /// # Errors
    /// [`ProgramError`], what went wrong first. Probabilities and actions that its [`agent`](Self::agent) gave since are void.
    pub fn answered(&self) -> Result<(), ProgramError> {
        self.program().and_then(Program::failure).map_or(Ok(()), Err)
    }

    /// The action value by itself, for a reader that does not mind which view its numbers are; a program has none.
    pub(super) fn action_value(&self) -> Option<Box<dyn ActionValue<StateOnly>>> {
        self.q.by_itself(self.actions.len())
    }

    /// The agent to deploy.
    ///
    /// # Panics
    /// If the policy was put together by hand from parts that do not fit; one that was read from a file always fits.
    pub fn agent(&self) -> Box<dyn Agent> {
        let (state_dim, actions) = (self.state_dim, self.actions.len());
        match self.method {
            Method::Ours => {
                let mechanism = self.mechanism.clone().expect("validated: Ours has a mechanism");
                self.q.greedy(Sequential::new(mechanism, self.level_weights.clone()), actions)
            }
            Method::Full => self.q.greedy(Full { state_dim }, actions),
            Method::Unaware => self.q.greedy(Unaware { state_dim }, actions),
        }
    }
}
