//! A policy together with the preprocessing that feeds it: what one deploys.

use super::Policy;
use crate::preprocess::{Memory, Preprocessor};

/// What an agent remembers of a cross-section of people.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentMemory {
    /// One memory for each preprocessor involved.
    pub parts: Vec<Memory>,
    /// One uniform draw a person, for what is decided once an episode.
    pub coins: Vec<f64>,
    /// The memories of agents that this one is made of.
    pub inner: Vec<AgentMemory>,
    /// One action a person that the agent keeps in mind, where it keeps one.
    pub noted: Vec<u32>,
}

impl AgentMemory {
    /// Forgets everybody but the first `people`, as when the others' recorded histories have ended.
    pub fn truncate(&mut self, people: usize) {
        self.parts.iter_mut().for_each(|part| part.truncate(people));
        self.inner.iter_mut().for_each(|memory| memory.truncate(people));
        self.coins.truncate(people);
        self.noted.truncate(people);
    }
}

/// Something that takes decisions for people as time goes by.
pub trait Agent: Send + Sync {
    /// |A|.
    fn actions(&self) -> usize;

    /// Meets people for the first time. `coins` are uniform draws, one a person, for what is decided once an episode.
    fn begin(&self, levels: &[u32], states: &[f64], coins: &[f64]) -> AgentMemory;

    /// Learns which actions were taken (not always its own) and where they led.
    fn advance(&self, memory: &mut AgentMemory, actions: &[u32], states: &[f64]);

    /// The probability of each action for each person now, |A| numbers a person.
    fn probabilities(&self, memory: &mut AgentMemory, out: &mut [f64]);

    /// One action a person, decided by the uniform draws.
    fn act(&self, memory: &mut AgentMemory, uniforms: &[f64], out: &mut [u32]);

    /// Whether actions do not depend on the uniform draws.
    fn is_deterministic(&self) -> bool;
}

/// A preprocessor and a policy that reads what it makes. A mismatch of views does not compile:
///
/// ```compile_fail
/// use counterfair_kernel::learn::{Agent, Deployed, Greedy, LinearQ, features::Polynomial};
/// use counterfair_kernel::preprocess::{Augmented, Unaware};
/// let q = LinearQ::<Augmented, _>::new(Polynomial::new(1, 1).unwrap(), 2, vec![0.0; 4]);
/// let agent: &dyn Agent = &Deployed::new(Unaware { state_dim: 1 }, Greedy(q));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Deployed<P, Rule> {
    preprocessor: P,
    policy: Rule,
}

impl<P: Preprocessor, Rule: Policy<P::View>> Deployed<P, Rule> {
    /// The agent that reads through the preprocessor and decides by the policy.
    ///
    /// # Panics
    /// If the policy reads another number of coordinates than the preprocessor shows. Parts that come from outside, a file say, are
    /// checked at the front door (`counterfair::fair::Policy`), where this is an error.
    pub fn new(preprocessor: P, policy: Rule) -> Self {
        if let Some(inputs) = policy.inputs() {
            assert_eq!(inputs, preprocessor.width(), "numbers that the policy reads, and that a view has");
        }
        Self { preprocessor, policy }
    }

    /// What the policy reads through.
    pub fn preprocessor(&self) -> &P {
        &self.preprocessor
    }

    /// The policy.
    pub fn policy(&self) -> &Rule {
        &self.policy
    }
}

impl<P: Preprocessor, Rule: Policy<P::View>> Agent for Deployed<P, Rule> {
    fn actions(&self) -> usize {
        self.policy.actions()
    }

    fn begin(&self, levels: &[u32], states: &[f64], coins: &[f64]) -> AgentMemory {
        let parts = vec![self.preprocessor.begin(levels, states)];
        AgentMemory { parts, coins: coins.to_vec(), ..AgentMemory::default() }
    }

    fn advance(&self, memory: &mut AgentMemory, actions: &[u32], states: &[f64]) {
        self.preprocessor.advance(&mut memory.parts[0], actions, states);
    }

    fn probabilities(&self, memory: &mut AgentMemory, out: &mut [f64]) {
        self.policy.probabilities(&memory.parts[0].view, self.preprocessor.width(), out);
    }

    fn act(&self, memory: &mut AgentMemory, uniforms: &[f64], out: &mut [u32]) {
        self.policy.act(&memory.parts[0].view, self.preprocessor.width(), uniforms, out);
    }

    fn is_deterministic(&self) -> bool {
        self.policy.is_deterministic()
    }
}
