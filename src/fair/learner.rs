//! A learner: settings in, a policy out.

use super::policy::Parts;
use super::recorded_steps::Values;
use super::{
    Error, Manifest, Method, People, Policy, Preprocessed, Preprocessing, Seen, StoredQ, preprocess, reservation,
    warnings,
};
use crate::audit::{Stability, stability};
use crate::estimate::stable_q::{Coordinates, StableQ, StableSettings, stable_fitted_q};
use crate::estimate::{Certificate, FitError, FitSettings, RefitError, Refitter, fit};
use crate::fair::Features;
use crate::kernel::learn::features::Polynomial;
use crate::kernel::learn::{ActionValue, FittedQ, LinearQ, Outcome, Settings, decision_values, fitted_q_iteration};
use crate::kernel::numeric::Stream;
use crate::kernel::people::Panel;
use crate::kernel::preprocess::{Experience, Full, Preprocessor, Sequential, Unaware, View, batch};
use crate::nets::{NeuralQ, NeuralSettings, neural_fitted_q_iteration};

/// How a policy is learned: what it may read, how counterfactual states are made, and how action values are fitted.
///
/// # Example
/// ```
/// use counterfair::prelude::*;
/// # use counterfair::kernel::{model::{Exogenous, simulate, worlds::Linear}, numeric::Stream};
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
    /// How counterfactual states are made, and what the policy's certificate is made with.
    pub preprocessing: Preprocessing,
    /// The class of action values.
    pub values: ValueClass,
    /// γ.
    pub discount: f64,
    /// How many refits with resampled people the policy file keeps, so that its unfairness can be judged; 0 keeps none.
    pub replicates: usize,
    /// How many times the people are halved to see how stable the policy is; 0 does not look.
    pub splits: usize,
    /// The seed of whatever is random.
    pub seed: u64,
}

/// Classes of action values.
#[derive(Debug, Clone, PartialEq)]
pub enum ValueClass {
    /// Penalised quadratics in coordinates that all worlds share: stable where data are few. Its discount is the learner's.
    Stable(StableSettings),
    /// Polynomials of a total degree by plain least squares, as in the paper's experiments. Its discount is the learner's.
    Polynomial {
        /// The degree.
        degree: usize,
        /// Iterations and when to stop.
        iteration: Settings,
    },
    /// A net with supplement F.1's settings.
    Neural {
        /// B.
        iterations: usize,
        /// Starting weights.
        stream: Stream,
    },
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
    /// Largest condition number of the regressions, where they are plain.
    pub condition: Option<f64>,
    /// The degree of the differences between actions, where it was chosen; 0 treats everybody alike.
    pub contrast_degree: Option<usize>,
    /// How much of the policy would be another one had other people been recorded.
    #[doc(hidden)]
    pub stability: Option<Stability>,
    /// What should be known before the policy is used, one line each.
    pub warnings: Vec<String>,
}

/// An action value and how it was found.
struct Fit<V> {
    q: ActionValues<V>,
    outcome: Outcome,
    condition: Option<f64>,
    contrast_degree: Option<usize>,
}

impl Learner {
    /// The default learner of a method: noise models chosen by held-out people, penalised action values, a certificate.
    pub fn new(method: Method) -> Self {
        Self {
            method,
            preprocessing: Preprocessing::default(),
            values: ValueClass::Stable(StableSettings::default()),
            discount: 0.9,
            replicates: 200,
            splits: 3,
            seed: 1,
        }
    }

    /// The settings of the paper's experiments: additive noise, plain quadratics, nothing kept for later.
    pub fn of_the_paper(method: Method) -> Self {
        let preprocessing = Preprocessing { mechanism: FitSettings::default(), ..Preprocessing::default() };
        let values = ValueClass::Polynomial { degree: 2, iteration: Settings::default() };
        Self { preprocessing, values, replicates: 0, splits: 0, ..Self::new(method) }
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
        let mut notes = Vec::new();
        let mut reservations = reservation::about_data(panel)?;
        let (mechanism, level_weights, fit) = match self.method {
            Method::Ours => {
                let done = preprocess(panel, &self.preprocessing, watch)?;
                notes.extend(done.warnings(people));
                reservations.extend(reservation::of_mechanism(&done.mechanism, &Values::of(panel)?, people));
                let Preprocessed { mechanism, level_weights, experience, .. } = done;
                watch("fitted Q iteration");
                let fit = self.fit(&experience, panel, &level_weights)?.stored(&experience);
                (Some(mechanism), level_weights, fit)
            }
            Method::Full => {
                watch("fitted Q iteration");
                let experience = batch(&Full { state_dim }, panel)?;
                (None, panel.level_shares(), self.fit(&experience, panel, &[])?.stored(&experience))
            }
            Method::Unaware => {
                watch("fitted Q iteration");
                let experience = batch(&Unaware { state_dim }, panel)?;
                (None, panel.level_shares(), self.fit(&experience, panel, &[])?.stored(&experience))
            }
        };
        let Stored { q, seen, outcome, condition, contrast_degree, transitions } = fit;
        notes.extend(warnings::of_outcome(outcome, panel));
        let stability = match (self.splits > 0).then(|| self.stability(panel, watch)).transpose() {
            Err(Error::Fit(FitError::EmptyLevel { level })) => {
                notes.push(format!(
                    "half of the people leave nobody in group {level}: how much of the policy would change with other people is not known"
                ));
                None
            }
            found => found?,
        };
        notes.extend(stability.iter().flat_map(|s| warnings::of_stability(s, contrast_degree)));
        let mut policy = Policy::new(Parts {
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
                discount: self.discount,
                transitions,
                outcome: outcome.to_string(),
                ended: Some(outcome),
            },
        });
        policy = policy.with_reservations(reservations);
        if self.replicates > 0 {
            watch("refitting with resampled people");
            match self.certificate(panel) {
                Ok(certificate) => policy = policy.with_certificate(certificate),
                Err(reason) => notes.push(format!("no certificate of unfairness is kept: {reason}")),
            }
        }
        Ok(Learned { policy, outcome, condition, contrast_degree, stability, warnings: notes })
    }

    /// `alg:cf:2` on what a preprocessor makes of a panel: the step that every method shares.
    ///
    /// # Errors
    /// [`Error`].
    #[doc(hidden)]
    pub fn action_values<P: Preprocessor>(
        &self,
        preprocessor: &P,
        panel: &Panel,
    ) -> Result<(ActionValues<P::View>, Outcome), Error> {
        let fit = self.fit(&batch(preprocessor, panel)?, panel, &self.preprocessing.weights_for(panel)?)?;
        Ok((fit.q, fit.outcome))
    }

    /// Refits of the mechanism that the learning data do not tell apart.
    fn certificate(&self, panel: &Panel) -> Result<Certificate, RefitError> {
        self.certificate_by(&self.refitter(panel)?, panel)
    }

    /// What these people's mechanism is refitted by.
    pub(super) fn refitter(&self, panel: &Panel) -> Result<Refitter, RefitError> {
        Refitter::new(panel, &self.preprocessing.mechanism)
    }

    /// The certificate that [`learn`](Self::learn) keeps, by the people's own refitter.
    pub(super) fn certificate_by(&self, refitter: &Refitter, panel: &Panel) -> Result<Certificate, RefitError> {
        Certificate::new(refitter, panel, self.replicates, self.seed)
    }

    /// Everything learned anew on halves of the people, and compared at the recorded decisions of all.
    fn stability(&self, panel: &Panel, watch: &mut dyn FnMut(&str)) -> Result<Stability, Error> {
        watch("learning from halves of the people");
        let state_dim = panel.state_dim();
        stability(panel, self.seed, self.splits, |half| match self.method {
            Method::Ours => {
                let weights = self.preprocessing.weights_for(half)?;
                let mechanism = fit(half, &self.preprocessing.mechanism)?;
                self.values_along(&Sequential::new(mechanism, weights), half, panel)
            }
            Method::Full => self.values_along(&Full { state_dim }, half, panel),
            Method::Unaware => self.values_along(&Unaware { state_dim }, half, panel),
        })
    }

    /// Action values learned from some people, at every decision of others.
    fn values_along<P: Preprocessor>(&self, preprocessor: &P, from: &Panel, along: &Panel) -> Result<Vec<f64>, Error> {
        let (q, _) = self.action_values(preprocessor, from)?;
        Ok(decision_values(&q, &batch(preprocessor, along)?))
    }

    /// Fits the action value; `worlds` are the weights of levels, which a view of all worlds is read with.
    fn fit<V: View>(&self, experience: &Experience<V>, panel: &Panel, worlds: &[f64]) -> Result<Fit<V>, Error> {
        // With a single level its code is constant, and the indicators of the other levels are none.
        let levels = if V::READS_LEVEL { panel.levels().len().max(2) } else { 1 };
        let discount = self.discount;
        match &self.values {
            ValueClass::Stable(settings) => {
                let coordinates = match V::READS_WORLDS {
                    true => Coordinates::Worlds { weights: worlds },
                    false => Coordinates::States { levels },
                };
                let settings = StableSettings { discount, ..*settings };
                let StableQ { q, outcome, contrast_degree, .. } = stable_fitted_q(experience, coordinates, &settings)?;
                let features = Features::Winsorised(q.features().clone());
                let q = ActionValues::Linear(LinearQ::new(features, q.actions(), q.weights().to_vec()));
                Ok(Fit { q, outcome, condition: None, contrast_degree: Some(contrast_degree) })
            }
            ValueClass::Neural { iterations, stream } => {
                let settings = NeuralSettings { discount, iterations: *iterations, ..NeuralSettings::default() };
                let (q, outcome) = neural_fitted_q_iteration(experience, levels, &settings, *stream)?;
                Ok(Fit { q: ActionValues::Neural(q), outcome, condition: None, contrast_degree: None })
            }
            ValueClass::Polynomial { degree, iteration } => {
                let coordinates = experience.width() - usize::from(V::READS_LEVEL);
                let features = Polynomial::for_rows(experience.views(), coordinates, levels, *degree)?;
                let settings = Settings { discount, ..*iteration };
                let FittedQ { q, outcome, condition, .. } = fitted_q_iteration(experience, &features, settings)?;
                let q = LinearQ::new(Features::Polynomial(features), q.actions(), q.weights().to_vec());
                Ok(Fit { q: ActionValues::Linear(q), outcome, condition: Some(condition), contrast_degree: None })
            }
        }
    }
}

/// A fit as a policy file keeps it.
struct Stored {
    q: StoredQ,
    seen: Seen,
    outcome: Outcome,
    condition: Option<f64>,
    contrast_degree: Option<usize>,
    transitions: usize,
}

impl<V: View> Fit<V> {
    fn stored(self, experience: &Experience<V>) -> Stored {
        let Self { q, outcome, condition, contrast_degree } = self;
        let q = match q {
            ActionValues::Linear(q) => {
                StoredQ::Linear { features: q.features().clone(), weights: q.weights().to_vec() }
            }
            ActionValues::Neural(q) => StoredQ::Neural(q.net().clone()),
        };
        let seen = Seen::of(experience.views(), experience.width());
        Stored { q, seen, outcome, condition, contrast_degree, transitions: experience.transitions() }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::people::{Labels, PanelBuilder, Person};

    #[test]
    fn people_who_share_their_level_with_nobody_are_learned_from_and_warned_about() {
        let mut builder = PanelBuilder::new(Labels::numbered(6), Labels::numbered(2), 1).unwrap();
        for i in 0..6u32 {
            let wave = |t: u32| (1.7 * f64::from(7 * i + t)).sin() + 0.3 * f64::from(i);
            let states: Vec<f64> = (0..9).map(wave).collect();
            let actions: Vec<u32> = (0..8).map(|t| (t + i) % 2).collect();
            let rewards: Vec<f64> = (0..8).map(|t| 0.5 * wave(t) + 0.2 * f64::from(actions[t as usize])).collect();
            let person = Person { id: &i.to_string(), level: i, states: &states, actions: &actions, rewards: &rewards };
            builder.push(person).unwrap();
        }
        let people = People::from(builder.finish());
        let learned =
            Learner { replicates: 0, ..Learner::new(Method::Ours) }.learn_watched(&people, &mut |_| {}).unwrap();
        assert_eq!(learned.stability, None);
        for (lines, part) in [
            (learned.warnings, "half of the people leave nobody in group"),
            (people.remarks(), "6 of 6 groups have fewer than 10 people"),
        ] {
            assert!(lines.iter().any(|line| line.contains(part)), "{part}: {lines:?}");
        }
    }
}
