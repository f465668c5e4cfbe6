//! From a method's name and a panel to something that can be followed.

use super::{Learner, Learning, Method};
use crate::estimate::stable_q::StableSettings;
use crate::estimate::{Basis, FitSettings, Fitted, Pooling, fit};
use crate::fair;
use crate::kernel::learn::{Agent, Behaviour, Deployed, Greedy, Outcome, Settings, UniformlyRandom};
use crate::kernel::model::World;
use crate::kernel::numeric::Stream;
use crate::kernel::people::Panel;
use crate::kernel::preprocess::{Full, Oracle, Preprocessor, Sequential, Unaware};
use crate::theory::rules::EpisodeMixture;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Degree of the polynomials that stand for action values.
pub(super) const DEGREE: usize = 2;

/// Why a policy could not be learned from a panel.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NotLearned {
    /// The mathematics said no.
    #[error("{0}")]
    Refused(String),
    /// The method needs to know the world, and only data are there.
    #[error("{0} needs a known world")]
    NeedsWorld(Method),
}

impl From<crate::fair::Error> for NotLearned {
    fn from(error: crate::fair::Error) -> Self {
        Self::Refused(error.to_string())
    }
}

/// A policy ready to be followed, and how its learning ended.
#[derive(Clone)]
pub struct Candidate {
    /// The policy with its preprocessing.
    pub agent: Arc<dyn Agent>,
    /// `None` when nothing was learned.
    pub learning: Option<Learning>,
}

/// Where the time of a cell went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stages {
    /// Drawing noise and making data of it.
    pub simulate: Duration,
    /// Fitting means.
    pub fit: Duration,
    /// Preprocessing and fitted Q iteration.
    pub learn: Duration,
    /// Following policies, or fitted Q evaluation.
    pub evaluate: Duration,
}

impl std::ops::AddAssign for Stages {
    fn add_assign(&mut self, other: Self) {
        self.simulate += other.simulate;
        self.fit += other.fit;
        self.learn += other.learn;
        self.evaluate += other.evaluate;
    }
}

/// Runs a piece of work and adds what it took to `spent`.
pub(super) fn timed<T>(spent: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *spent += start.elapsed();
    result
}

/// Learns methods from one panel; what two of them share is made once.
///
/// # Example
/// ```
/// use counterfair::reproduction::{DISCOUNT, Learner, Method, MethodLearner};
/// use counterfair::kernel::model::{Exogenous, simulate, worlds::Linear};
/// use counterfair::kernel::numeric::Stream;
/// let world = Linear::new(1.0);
/// let panel = simulate(&world, &Exogenous::draw(&world, 100, 5, Stream::new(1)));
/// let mut learner = MethodLearner::new(&panel, Learner::LeastSquares, DISCOUNT, Stream::new(2));
/// let ours = learner.learn(Method::Ours)?;
/// assert!(ours.agent.is_deterministic());
/// # Ok::<(), counterfair::reproduction::NotLearned>(())
/// ```
pub struct MethodLearner<'a> {
    panel: &'a Panel,
    learner: fair::Learner,
    full: Option<Result<Candidate, NotLearned>>,
    ours: Option<Result<Candidate, NotLearned>>,
    means: Option<Result<Sequential<Arc<Fitted>>, NotLearned>>,
    pub(super) stages: Stages,
}

impl<'a> MethodLearner<'a> {
    /// `stream` feeds what is random about learning: starting weights of networks, batches.
    pub fn new(panel: &'a Panel, learner: Learner, discount: f64, stream: Stream) -> Self {
        Self {
            panel,
            learner: learner_of(learner, discount, stream),
            full: None,
            ours: None,
            means: None,
            stages: Stages::default(),
        }
    }

    /// A method that needs data only.
    ///
    /// # Errors
    /// [`NotLearned`].
    pub fn learn(&mut self, method: Method) -> Result<Candidate, NotLearned> {
        let (p, actions) = (self.panel.state_dim(), self.panel.action_names().len());
        match method {
            Method::Full => {
                if self.full.is_none() {
                    self.full = Some(self.through(Full { state_dim: p }));
                }
                self.full.clone().expect("just made")
            }
            Method::Unaware => self.through(Unaware { state_dim: p }),
            Method::Random => Ok(Candidate {
                agent: Arc::new(Deployed::new(Unaware { state_dim: p }, UniformlyRandom { actions })),
                learning: None,
            }),
            Method::Ours => {
                if self.ours.is_none() {
                    let preprocessor = self.preprocessor();
                    self.ours = Some(preprocessor.and_then(|preprocessor| self.through(preprocessor)));
                }
                self.ours.clone().expect("just made")
            }
            Method::Mixture(weight) => {
                let (first, second) = (self.learn(Method::Full)?.agent, self.learn(Method::Ours)?.agent);
                let agent = Arc::new(EpisodeMixture { first, second, weight });
                Ok(Candidate { agent, learning: None })
            }
            Method::Oracle | Method::TrueMeans | Method::KnownForm | Method::BestRule | Method::Behaviour => {
                Err(NotLearned::NeedsWorld(method))
            }
        }
    }

    /// Any method, in a world that is known.
    ///
    /// # Errors
    /// [`NotLearned`].
    pub fn learn_in<W: World + Clone + 'static>(&mut self, world: &W, method: Method) -> Result<Candidate, NotLearned> {
        let weights = world.level_probabilities().to_vec();
        match method {
            Method::Oracle => self.through(Oracle::new(world.clone(), weights)),
            Method::TrueMeans => self.through(Sequential::new(world.clone(), weights)),
            Method::KnownForm => {
                // 1, s, sin s and cos s, with action and level: both of the paper's worlds are made of these.
                let (basis, pooling) = (Basis::Trigonometric, Pooling::Pooled);
                self.ours(FitSettings { basis, pooling, ..FitSettings::default() })
            }
            Method::Behaviour => Ok(Candidate {
                agent: Arc::new(Deployed::new(Full { state_dim: world.state_dim() }, Behaviour(world.clone()))),
                learning: None,
            }),
            _ => self.learn(method),
        }
    }

    /// `alg:cf:1` with fitted means, then `alg:cf:2`.
    fn ours(&mut self, settings: FitSettings) -> Result<Candidate, NotLearned> {
        let preprocessor = self.fitted(settings)?;
        self.through(preprocessor)
    }

    /// `alg:cf:1` with the means that Ours has, fitted once.
    pub(super) fn preprocessor(&mut self) -> Result<Sequential<Arc<Fitted>>, NotLearned> {
        if self.means.is_none() {
            self.means = Some(self.fitted(self.learner.preprocessing.mechanism));
        }
        self.means.clone().expect("just made")
    }

    fn fitted(&mut self, settings: FitSettings) -> Result<Sequential<Arc<Fitted>>, NotLearned> {
        let panel = self.panel;
        let means = timed(&mut self.stages.fit, || fit(panel, &settings)).map_err(crate::fair::Error::from)?;
        Ok(Sequential::new(Arc::new(means), panel.level_shares()))
    }

    /// Fitted Q iteration on what a preprocessor makes of the panel.
    pub(super) fn through<P: Preprocessor + 'static>(&mut self, preprocessor: P) -> Result<Candidate, NotLearned> {
        let (panel, learner) = (self.panel, &self.learner);
        let (q, outcome) = timed(&mut self.stages.learn, || learner.action_values(&preprocessor, panel))?;
        let agent = Arc::new(Deployed::new(preprocessor, Greedy(q)));
        Ok(Candidate { agent, learning: Some(outcome.into()) })
    }
}

impl From<Outcome> for Learning {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Converged { .. } => Self::Converged,
            Outcome::IterationLimit { .. } => Self::IterationLimit,
            Outcome::RankDeficient { .. } => Self::RankDeficient,
            Outcome::Diverged { .. } => Self::Diverged,
        }
    }
}

/// The front door's learner with the settings of the paper's experiments: additive noise, quadratics.
fn learner_of(learner: Learner, discount: f64, stream: Stream) -> fair::Learner {
    let mut settings = fair::Learner { discount, ..fair::Learner::of_the_paper(fair::Method::Ours) };
    settings.preprocessing.mechanism = mean_settings(learner, stream.named("means"));
    match learner {
        Learner::LeastSquares | Learner::Quadratic => {}
        Learner::Neural => {
            settings.values = fair::ValueClass::Neural { iterations: 100, stream: stream.named("action values") };
        }
        Learner::Stable => settings.values = fair::ValueClass::Stable(StableSettings::default()),
        Learner::Quartic => {
            settings.values = fair::ValueClass::Polynomial { degree: 2 * DEGREE, iteration: Settings::default() };
        }
    }
    settings
}

/// How a learner fits means.
pub(super) fn mean_settings(learner: Learner, stream: Stream) -> FitSettings {
    let (basis, pooling) = match learner {
        Learner::LeastSquares | Learner::Stable | Learner::Quartic => (Basis::Spline, Pooling::Chosen),
        Learner::Quadratic => (Basis::Polynomial(2), Pooling::Pooled),
        Learner::Neural => (Basis::Neural, Pooling::PerLevel),
    };
    FitSettings { basis, pooling, stream, ..FitSettings::default() }
}
