//! A learner: settings in, a policy out.

use super::{
    Error, Manifest, Method, People, Policy, Preprocessed, Preprocessing, Seen, StoredQ, policy::Parts, preprocess,
    warnings,
};
use crate::kernel::data::Panel;
use crate::kernel::learn::features::{Features, Polynomial};
use crate::kernel::learn::{
    ActionValue, FittedQ, LinearQ, NeuralQ, NeuralSettings, Outcome, Settings, fitted_q_iteration,
    neural_fitted_q_iteration,
};
use crate::kernel::numeric::Stream;
use crate::kernel::preprocess::{Experience, Full, Preprocessor, Unaware, View, batch};

/// How a policy is learned: what it may read, how counterfactual states are made, and how action values are fitted.
///
/// # Example
/// ```
/// use counterfair::prelude::*;
/// let world = Linear::new(1.0);
/// let people = People::from(simulate(&world, &Exogenous::draw(&world, 100, 5, Stream::new(1))));
/// let policy = Learner::new(Method::Ours).learn(&people)?;
/// assert_eq!(policy.method, Method::Ours);
/// # Ok::<(), counterfair::fair::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Learner {
    /// What the policy reads.
    pub method: Method,
    /// How counterfactual states are made; Ours alone needs them.
    pub preprocessing: Preprocessing,
    /// The class of action values.
    pub values: ValueClass,
    /// γ, B and when to stop.
    pub iteration: Settings,
    /// The seed, as the policy file will say.
    pub seed: u64,
}

/// Classes of action values.
#[derive(Debug, Clone, PartialEq)]
pub enum ValueClass {
    /// Polynomials of a total degree, by least squares.
    Polynomial {
        /// The degree.
        degree: usize,
    },
    /// A net with supplement F.1's settings.
    Neural(Stream),
}

/// A fitted action value of either class, on views of one kind.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionValues<V> {
    /// Q(s, a) = wₐᵀ φ(s).
    Linear(LinearQ<V, Features>),
    /// A net.
    Neural(NeuralQ<V>),
}

/// A policy, and what is known about how it was learned.
#[derive(Debug, Clone)]
pub struct Learned {
    /// The policy.
    pub policy: Policy,
    /// How fitted Q iteration ended.
    pub outcome: Outcome,
    /// Largest condition number of the regressions; nets have none.
    pub condition: Option<f64>,
    /// What should be known before the policy is used, one line each.
    pub warnings: Vec<String>,
}

/// What a policy takes from fitted Q iteration.
struct Fit {
    q: StoredQ,
    seen: Seen,
    outcome: Outcome,
    condition: Option<f64>,
    transitions: usize,
}

impl Learner {
    /// The default learner of a method.
    pub fn new(method: Method) -> Self {
        Self {
            method,
            preprocessing: Preprocessing::default(),
            values: ValueClass::Polynomial { degree: 2 },
            iteration: Settings::default(),
            seed: 1,
        }
    }

    /// Learns a policy.
    ///
    /// # Errors
    /// [`Error`]. Not converging, a deficient rank and divergence are no errors: see [`Learned::outcome`].
    pub fn learn(&self, people: &People) -> Result<Policy, Error> {
        Ok(self.learn_watched(people, &mut |_| {})?.policy)
    }

    /// Learns a policy and tells how it went; `watch` hears the name of each stage when it begins.
    ///
    /// # Errors
    /// Those of [`learn`](Self::learn).
    pub fn learn_watched(&self, people: &People, watch: &mut dyn FnMut(&str)) -> Result<Learned, Error> {
        let panel = people.panel();
        let state_dim = panel.state_dim();
        let (mechanism, level_weights, fit, mut notes) = match self.method {
            Method::Ours => {
                let done = preprocess(panel, &self.preprocessing, watch)?;
                watch("fitted Q iteration");
                let notes = done.warnings(panel);
                let Preprocessed { mechanism, level_weights, experience, .. } = done;
                (Some(mechanism), level_weights, self.fit_stored(&experience, panel)?, notes)
            }
            Method::Full => {
                watch("fitted Q iteration");
                let fit = self.fit_stored(&batch(&Full { state_dim }, panel)?, panel)?;
                (None, panel.level_shares(), fit, Vec::new())
            }
            Method::Unaware => {
                watch("fitted Q iteration");
                let fit = self.fit_stored(&batch(&Unaware { state_dim }, panel)?, panel)?;
                (None, panel.level_shares(), fit, Vec::new())
            }
        };
        let Fit { q, seen, outcome, condition, transitions } = fit;
        notes.extend(warnings::of_outcome(outcome, panel));
        let policy = Policy::new(Parts {
            method: self.method,
            levels: panel.levels().clone(),
            actions: panel.action_names().clone(),
            state_dim,
            columns: people.columns(),
            rows: people.rows(),
            level_weights,
            mechanism,
            q,
            seen: Some(seen),
            manifest: Manifest {
                program: format!("counterfair {}", env!("CARGO_PKG_VERSION")),
                command: String::new(),
                seed: self.seed,
                discount: self.iteration.discount,
                transitions,
                outcome: outcome.to_string(),
                ended: Some(outcome),
            },
        });
        Ok(Learned { policy, outcome, condition, warnings: notes })
    }

    /// `alg:cf:2` on what a preprocessor makes of a panel: the step that every method shares.
    ///
    /// # Errors
    /// [`Error`].
    pub fn action_values<P: Preprocessor>(
        &self,
        preprocessor: &P,
        panel: &Panel,
    ) -> Result<(ActionValues<P::View>, Outcome), Error> {
        let (q, outcome, _) = self.fit(&batch(preprocessor, panel)?, panel.levels().len())?;
        Ok((q, outcome))
    }

    /// The action value, how the iteration ended, and the condition number of its regressions.
    fn fit<V: View>(
        &self,
        experience: &Experience<V>,
        levels: usize,
    ) -> Result<(ActionValues<V>, Outcome, Option<f64>), Error> {
        // With a single level its code is constant, and the indicators of the other levels are none.
        let levels = if V::READS_LEVEL { levels.max(2) } else { 1 };
        let coordinates = experience.width() - usize::from(V::READS_LEVEL);
        match &self.values {
            ValueClass::Neural(stream) => {
                let Settings { discount, iterations, .. } = self.iteration;
                let settings = NeuralSettings { discount, iterations, ..NeuralSettings::default() };
                let (q, outcome) = neural_fitted_q_iteration(experience, levels, &settings, *stream)?;
                Ok((ActionValues::Neural(q), outcome, None))
            }
            ValueClass::Polynomial { degree } => {
                let features = Polynomial::for_rows(experience.views(), coordinates, levels, *degree)?;
                let FittedQ { q, outcome, condition, .. } = fitted_q_iteration(experience, &features, self.iteration)?;
                let q = LinearQ::new(Features::Polynomial(features), q.actions(), q.weights().to_vec());
                Ok((ActionValues::Linear(q), outcome, Some(condition)))
            }
        }
    }

    fn fit_stored<V: View>(&self, experience: &Experience<V>, panel: &Panel) -> Result<Fit, Error> {
        let (q, outcome, condition) = self.fit(experience, panel.levels().len())?;
        let q = match q {
            ActionValues::Linear(q) => {
                StoredQ::Linear { features: q.features().clone(), weights: q.weights().to_vec() }
            }
            ActionValues::Neural(q) => StoredQ::Neural(q.net().clone()),
        };
        let seen = Seen::of(experience.views(), experience.width());
        Ok(Fit { q, seen, outcome, condition, transitions: experience.transitions() })
    }
}

impl<V: View> ActionValue<V> for ActionValues<V> {
    fn inputs(&self) -> usize {
        match self {
            Self::Linear(q) => q.inputs(),
            Self::Neural(q) => q.inputs(),
        }
    }

    fn actions(&self) -> usize {
        match self {
            Self::Linear(q) => q.actions(),
            Self::Neural(q) => q.actions(),
        }
    }

    fn values(&self, rows: &[f64], out: &mut [f64]) {
        match self {
            Self::Linear(q) => q.values(rows, out),
            Self::Neural(q) => q.values(rows, out),
        }
    }
}
