//! A policy on disk: everything deployment needs, in one versioned JSON file.

use super::{Deployment, Error, People, Program, ProgramError, Seen};
use crate::kernel::data::{Columns, Labels, MissingRepair, ReadOptions, RowConvention, atomically};
use crate::kernel::learn::features::{FeatureMap, Features};
use crate::kernel::learn::{ActionValue, Agent, Deployed, Greedy, LinearQ, NeuralQ, Outcome, QNet};
use crate::kernel::model::Mechanism;
use crate::kernel::model::fitted::{Certificate, Fitted};
use crate::kernel::preprocess::{Full, Preprocessor, Sequential, StateOnly, Unaware};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the file format this build writes and reads.
pub const VERSION: u32 = 1;

/// What the file says it is.
pub(super) const FORMAT: &str = "counterfair policy";

/// What a policy reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Counterfactual states of all levels, by `alg:cf:1`: fair.
    Ours,
    /// State and level: not fair.
    Full,
    /// State alone: not fair either, since the level has shaped the state.
    Unaware,
}

/// A name that is no method.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is none of ours, full, unaware")]
pub struct UnknownMethod(pub String);

impl std::str::FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, UnknownMethod> {
        match name {
            "ours" => Ok(Self::Ours),
            "full" => Ok(Self::Full),
            "unaware" => Ok(Self::Unaware),
            _ => Err(UnknownMethod(name.into())),
        }
    }
}

impl Method {
    /// How many numbers it shows of `levels` worlds with `state_dim` coordinates each.
    pub(super) fn width(self, levels: usize, state_dim: usize) -> usize {
        match self {
            Self::Ours => levels.saturating_mul(state_dim),
            Self::Full => state_dim.saturating_add(1),
            Self::Unaware => state_dim,
        }
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Ours => "ours",
            Self::Full => "full",
            Self::Unaware => "unaware",
        })
    }
}

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
    /// How it came to be.
    pub manifest: Manifest,
}

/// An action value as it is stored, or what stands in its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoredQ {
    /// Q(s, a) = wₐᵀ φ(s).
    Linear {
        /// φ.
        features: Features,
        /// w, d numbers for each action in turn.
        weights: Vec<f64>,
    },
    /// A net.
    Neural(QNet),
    /// No value at all but a program that chooses by itself. It is in no file, so that reading a file never starts anything.
    #[serde(skip)]
    Program(Program),
}

impl StoredQ {
    pub(super) fn inputs(&self) -> usize {
        match self {
            Self::Linear { features, .. } => features.inputs(),
            Self::Neural(net) => net.inputs(),
            Self::Program(program) => program.width(),
        }
    }

    /// The first thing that does not fit `actions` actions, if any.
    fn problem(&self, actions: usize) -> Option<String> {
        match self {
            Self::Linear { features, weights } => {
                let d = features.count();
                if d.checked_mul(actions) != Some(weights.len()) {
                    return Some(format!("{} weights for {actions} actions with {d} features each", weights.len()));
                }
                weights.iter().find(|w| !w.is_finite()).map(|w| format!("a weight is {w}"))
            }
            Self::Neural(net) if !net.is_consistent() => Some("the net's parts do not fit together".into()),
            Self::Neural(net) if net.actions() != actions => {
                Some(format!("a net with {} outputs for {actions} actions", net.actions()))
            }
            Self::Program(program) if program.actions() != actions => {
                Some(format!("a program for {} actions, not {actions}", program.actions()))
            }
            Self::Neural(_) | Self::Program(_) => None,
        }
    }

    fn greedy<P: Preprocessor + 'static>(&self, preprocessor: P, actions: usize) -> Box<dyn Agent> {
        match self.clone() {
            Self::Linear { features, weights } => {
                Box::new(Deployed::new(preprocessor, Greedy(LinearQ::new(features, actions, weights))))
            }
            Self::Neural(net) => Box::new(Deployed::new(preprocessor, Greedy(NeuralQ::new(net)))),
            Self::Program(program) => Box::new(Deployed::new(preprocessor, program)),
        }
    }
}

/// Why a policy file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PolicyFileError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// Not JSON of the right shape; line and column are inside the message.
    #[error("{file}: not a counterfair policy: {source}")]
    Json {
        /// The file.
        file: String,
        /// Where and why.
        source: serde_json::Error,
    },
    /// A version this build does not know.
    #[error("{file}: format {format:?}, version {version}; this build reads {FORMAT:?}, version {VERSION}")]
    Version {
        /// The file.
        file: String,
        /// What it says it is.
        format: String,
        /// Its version.
        version: u32,
    },
    /// Parts that do not fit together.
    #[error("{file}: {problem}")]
    Inconsistent {
        /// The file.
        file: String,
        /// What does not fit.
        problem: String,
    },
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
            version: VERSION,
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
            manifest,
        }
    }

    /// The same policy with a certificate.
    #[doc(hidden)]
    pub fn with_certificate(self, certificate: Certificate) -> Self {
        Self { certificate: Some(certificate), ..self }
    }

    /// Reads a policy file.
    ///
    /// # Errors
    /// [`PolicyFileError`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, PolicyFileError> {
        let path = path.as_ref();
        let file = path.display().to_string();
        let text = std::fs::read(path).map_err(|source| PolicyFileError::Io { file: file.clone(), source })?;
        Self::from_json(&text, &file)
    }

    /// Writes the policy file that [`load`](Self::load) and `counterfair decide` read; whole or not at all.
    ///
    /// # Errors
    /// [`Error::Write`]; [`Error::Program`] for a program, which is in no file.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        if self.program().is_some() {
            return Err(ProgramError::NotSaved.into());
        }
        Ok(atomically(path.as_ref(), |out| Ok(serde_json::to_writer_pretty(out, self)?))?)
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
    /// [`PolicyFileError`].
    pub fn from_json(text: &[u8], file: &str) -> Result<Self, PolicyFileError> {
        /// Read first, so that a newer file is called newer and not malformed.
        #[derive(Deserialize)]
        struct Header {
            format: String,
            version: u32,
        }
        let file = file.to_string();
        let json = |source| PolicyFileError::Json { file: file.clone(), source };
        let Header { format, version } = serde_json::from_slice(text).map_err(json)?;
        if format != FORMAT || version != VERSION {
            return Err(PolicyFileError::Version { file, format, version });
        }
        let policy: Self = serde_json::from_slice(text).map_err(json)?;
        match policy.problem() {
            None => Ok(policy),
            Some(problem) => Err(PolicyFileError::Inconsistent { file, problem }),
        }
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
        match self.q.clone() {
            StoredQ::Linear { features, weights } => {
                Some(Box::new(LinearQ::new(features, self.actions.len(), weights)))
            }
            StoredQ::Neural(net) => Some(Box::new(NeuralQ::new(net))),
            StoredQ::Program(_) => None,
        }
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::kernel::data::{Panel, PanelBuilder, Person};
    use crate::kernel::learn::features::Polynomial;
    use crate::kernel::learn::{NeuralSettings, neural_fitted_q_iteration};
    use crate::kernel::model::fitted::{Basis, FitSettings, Pooling, fit};
    use crate::kernel::numeric::Stream;
    use crate::kernel::preprocess::batch;

    /// People without noise, at levels f and m, from (1, −½) and (3, ¼) and around, one decision each:
    ///
    /// ```text
    /// s′ = (s₁/2 + s₂/4 + (0, 1, −2)ₐ + z,  (½, 0, 1)ₐ − s₂/2 − ¾ z s₁)
    /// ```
    fn panel() -> Panel {
        let (levels, actions) = (Labels::new(["f", "m"]), Labels::new(["high", "low", "none"]));
        let mut builder = PanelBuilder::new(levels, actions, 2).unwrap();
        for (z, m) in [[1.0, -0.5], [3.0, 0.25]].iter().enumerate() {
            for (i, e) in
                [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [1.0, 1.0], [-1.0, -1.0]].iter().enumerate()
            {
                for a in 0..3 {
                    let (s, level) = ([m[0] + e[0], m[1] + e[1]], z as f64);
                    let next = [
                        s[0] / 2.0 + s[1] / 4.0 + [0.0, 1.0, -2.0][a] + level,
                        [0.5, 0.0, 1.0][a] - s[1] / 2.0 - 0.75 * level * s[0],
                    ];
                    let (id, states) = (format!("{z} {i} {a}"), [s, next].concat());
                    let person =
                        Person { id: &id, level: z as u32, states: &states, actions: &[a as u32], rewards: &[s[0]] };
                    builder.push(person).unwrap();
                }
            }
        }
        builder.finish()
    }

    /// Values linear in what each method shows: of `high` a first coordinate, of `low` a second, of `none` ¾.
    pub(in crate::fair) fn policy(method: Method) -> Policy {
        let panel = panel();
        let settings = FitSettings { basis: Basis::Linear, pooling: Pooling::PerLevel, ..FitSettings::default() };
        let (width, high, low): (usize, &[f64], &[f64]) = match method {
            // The first coordinate in the world of f, the second in that of m.
            Method::Ours => (4, &[0.0, 1.0, 0.0, 0.0, 0.0], &[0.0, 0.0, 0.0, 0.0, 1.0]),
            Method::Full => (3, &[0.0, 1.0, 0.0, 0.0], &[0.0, 0.0, 1.0, 2.0]),
            Method::Unaware => (2, &[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0]),
        };
        let mut weights = [high, low, &vec![0.0; width + 1]].concat();
        weights[2 * (width + 1)] = 0.75;
        Policy::new(Parts {
            method,
            levels: panel.levels().clone(),
            actions: panel.action_names().clone(),
            state_dim: 2,
            columns: Columns::default(),
            rows: RowConvention::Outgoing,
            level_weights: vec![0.4, 0.6],
            mechanism: (method == Method::Ours).then(|| fit(&panel, &settings).unwrap()),
            q: StoredQ::Linear { features: Features::Polynomial(Polynomial::new(width, 1).unwrap()), weights },
            seen: None,
            manifest: Manifest {
                program: "0".into(),
                command: "learn".into(),
                seed: 3,
                discount: 0.9,
                transitions: 36,
                outcome: "converged".into(),
                ended: Some(Outcome::Converged { iterations: 1 }),
            },
        })
    }

    fn neural(method: Method) -> Policy {
        let experience = batch(&Unaware { state_dim: 2 }, &panel()).unwrap();
        let settings = NeuralSettings { iterations: 1, steps: 1, hidden: vec![4], ..NeuralSettings::default() };
        let (q, _) = neural_fitted_q_iteration(&experience, 1, &settings, Stream::new(2)).unwrap();
        Policy { q: StoredQ::Neural(q.net().clone()), ..policy(method) }
    }

    fn labels(names: &str) -> Labels {
        serde_json::from_str(names).unwrap()
    }

    #[test]
    fn what_was_written_is_read_back() {
        let all = [policy(Method::Ours), policy(Method::Full), policy(Method::Unaware), neural(Method::Unaware)];
        for policy in all {
            let text = serde_json::to_vec(&policy).unwrap();
            assert_eq!(Policy::from_json(&text, "p").unwrap(), policy);
        }
    }

    #[test]
    fn a_certificate_goes_with_the_policy_and_is_checked_with_it() {
        let settings = FitSettings { basis: Basis::Linear, pooling: Pooling::PerLevel, ..FitSettings::default() };
        let certificate = |panel: &Panel| {
            let refitter = crate::kernel::model::fitted::Refitter::new(panel, &settings).unwrap();
            Certificate::new(&refitter, panel, 3, 1).unwrap()
        };
        let with = policy(Method::Ours).with_certificate(certificate(&panel()));
        let text = serde_json::to_vec(&with).unwrap();
        assert_eq!(Policy::from_json(&text, "p").unwrap(), with);
        // A file without one says nothing about it, as files before there were certificates.
        assert!(!serde_json::to_string(&policy(Method::Ours)).unwrap().contains("certificate"));
        let text = String::from_utf8(text).unwrap().replace("\"replicates\":3", "\"replicates\":4");
        let error = Policy::from_json(text.as_bytes(), "p").unwrap_err();
        assert_eq!(error.to_string(), "p: the certificate's parts do not fit together");
        let two = |z| Person { id: ["a", "b"][z], level: z as u32, states: &[0.5], actions: &[0], rewards: &[0.0] };
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(1), 1).unwrap();
        (0..2).for_each(|z| builder.push(two(z)).unwrap());
        let other = policy(Method::Full).with_certificate(certificate(&builder.finish()));
        let error = Policy::from_json(&serde_json::to_vec(&other).unwrap(), "p").unwrap_err();
        assert_eq!(
            error.to_string(),
            "p: the certificate is of (levels, actions, coordinates) (2, 1, 1), the policy has (2, 3, 2)"
        );
    }

    #[test]
    fn a_file_is_read_from_where_it_is_and_missed_where_it_is_not() {
        let path = std::env::temp_dir().join(format!("counterfair-stored-{}.json", std::process::id()));
        let stored = policy(Method::Full);
        std::fs::write(&path, serde_json::to_vec(&stored).unwrap()).unwrap();
        let read = Policy::load(&path);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(read.unwrap(), stored);
        assert!(
            matches!(Policy::load(&path), Err(PolicyFileError::Io { file, .. }) if file == path.display().to_string())
        );
    }

    #[test]
    fn another_format_or_version_is_named_before_anything_else_is_read() {
        for (text, format, version) in [
            (r#"{"format": "counterfair policy", "version": 2}"#, "counterfair policy", 2),
            (r#"{"format": "fairness", "version": 1}"#, "fairness", 1),
        ] {
            match Policy::from_json(text.as_bytes(), "p") {
                Err(PolicyFileError::Version { file, format: f, version: v }) => {
                    assert_eq!((file.as_str(), f.as_str(), v), ("p", format, version));
                }
                other => panic!("{other:?}"),
            }
        }
        let headless = Policy::from_json(br#"{"format": "counterfair policy", "version": 1}"#, "p");
        assert!(matches!(headless, Err(PolicyFileError::Json { file, .. }) if file == "p"));
    }

    #[test]
    fn a_file_whose_parts_do_not_fit_is_refused() {
        let mut stored = policy(Method::Full);
        stored.level_weights.push(0.0);
        match Policy::from_json(&serde_json::to_vec(&stored).unwrap(), "p") {
            Err(PolicyFileError::Inconsistent { file, problem }) => {
                assert_eq!((file.as_str(), problem.as_str()), ("p", "3 level weights for 2 levels"));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_first_part_that_does_not_fit_is_named() {
        let problem = |method, change: &dyn Fn(&mut Policy)| {
            let mut stored = policy(method);
            assert_eq!(stored.problem(), None);
            change(&mut stored);
            stored.problem().unwrap_or_default()
        };
        let (ours, full) = (Method::Ours, Method::Full);
        let each = "each must be at least one";
        assert!(problem(full, &|p| p.levels = labels("[]")).starts_with("0 levels, 3 actions"));
        assert!(problem(full, &|p| p.actions = labels("[]")).starts_with("2 levels, 0 actions"));
        assert!(problem(full, &|p| p.state_dim = 0).ends_with(each));
        let unsorted = problem(full, &|p| p.levels = labels(r#"["m", "f"]"#));
        assert_eq!(unsorted, r#"level names ["m", "f"] are not sorted and distinct"#);
        let repeated = problem(full, &|p| p.actions = labels(r#"["high", "low", "low"]"#));
        assert_eq!(repeated, r#"action names ["high", "low", "low"] are not sorted and distinct"#);
        let reads = problem(full, &|p| p.q = policy(Method::Unaware).q);
        assert_eq!(reads, "the action value reads 2 numbers, the method shows 3");
        let reads = problem(ours, &|p| p.q = policy(Method::Unaware).q);
        assert_eq!(reads, "the action value reads 2 numbers, the method shows 4");
        let short = problem(full, &|p| p.actions = labels(r#"["high", "low"]"#));
        assert_eq!(short, "12 weights for 2 actions with 4 features each");
        let infinite = problem(full, &|p| match &mut p.q {
            StoredQ::Linear { weights, .. } => weights[5] = f64::INFINITY,
            StoredQ::Neural(_) | StoredQ::Program(_) => {}
        });
        assert_eq!(infinite, "a weight is inf");
        assert_eq!(problem(full, &|p| p.level_weights[1] = f64::NEG_INFINITY), "a level weight is -inf");
        let without = problem(ours, &|p| p.mechanism = None);
        assert_eq!(without, "a policy on counterfactual states without a mechanism");
    }

    #[test]
    fn a_net_and_a_mechanism_must_fit_the_policy() {
        assert_eq!(neural(Method::Unaware).problem(), None);
        let two = Policy { actions: labels(r#"["high", "low"]"#), ..neural(Method::Unaware) };
        assert_eq!(two.problem().unwrap(), "a net with 3 outputs for 2 actions");
        // A net that takes a level code has more inputs than this one.
        let mut text = serde_json::to_value(neural(Method::Unaware)).unwrap();
        text["q"]["neural"]["levels"] = 2.into();
        let coded: Policy = serde_json::from_value(text).unwrap();
        assert_eq!(Policy { method: Method::Full, ..coded }.problem().unwrap(), "the net's parts do not fit together");

        let mechanism = policy(Method::Ours).mechanism;
        let spare = Policy { mechanism: mechanism.clone(), ..policy(Method::Unaware) };
        assert_eq!(spare.problem(), None);
        let third = Policy { levels: Labels::numbered(3), level_weights: vec![0.2; 3], ..spare.clone() };
        let differ = "the mechanism has 2 levels, 3 actions and 2 coordinates; the policy 3, 3 and 2";
        assert_eq!(third.problem().unwrap(), differ);
        let mut text = serde_json::to_value(&mechanism).unwrap();
        text["initial"][1] = serde_json::json!([0.5]);
        let broken = Policy { mechanism: serde_json::from_value(text).unwrap(), ..spare };
        assert_eq!(broken.problem().unwrap(), "the mechanism's parts do not fit together");
    }

    #[test]
    fn the_agent_takes_the_largest_value_of_what_its_method_shows() {
        let decide = |policy: &Policy, level: u32, state: [f64; 2]| {
            let agent = policy.agent();
            assert_eq!((agent.actions(), agent.is_deterministic()), (3, true));
            let (mut memory, mut action) = (agent.begin(&[level], &state, &[0.5]), [9]);
            agent.act(&mut memory, &[0.5], &mut action);
            action[0]
        };
        // The state (2.5, 1) of m is (0.5, 0.25) in the world of f: values 0.5, 1 and 0.75. As one of f it is (4.5, 1.75) in that of m.
        assert_eq!([0, 1].map(|z| decide(&policy(Method::Ours), z, [2.5, 1.0])), [0, 1]);
        // 2.5, 1 + 2z and 0.75; then 2.5, 1 and 0.75.
        assert_eq!([0, 1].map(|z| decide(&policy(Method::Full), z, [2.5, 1.0])), [0, 1]);
        assert_eq!([0, 1].map(|z| decide(&policy(Method::Unaware), z, [2.5, 1.0])), [0, 0]);
        assert_eq!(decide(&policy(Method::Unaware), 1, [0.5, 0.6]), 2);
        // A net without hidden layers: −s₁, s₁ − 1 and 0 at any level.
        let mut text = serde_json::to_value(neural(Method::Unaware)).unwrap();
        text["q"]["neural"]["scale"] = serde_json::json!({ "mean": [0.0, 0.0], "deviation": [1.0, 1.0] });
        let network = crate::kernel::numeric::network::Network::from_values(
            vec![2, 3],
            vec![-1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0],
        );
        text["q"]["neural"]["network"] = serde_json::to_value(network.unwrap()).unwrap();
        let net: Policy = serde_json::from_value(text).unwrap();
        assert_eq!([-1.0, 0.25, 2.0].map(|s| decide(&net, 1, [s, 0.6])), [0, 2, 1]);
    }
}
