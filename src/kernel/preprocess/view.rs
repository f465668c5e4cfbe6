//! The three things a policy can be allowed to read, as types.

use super::Memory;

/// What a policy reads. The only implementors are [`StateOnly`], [`StateAndLevel`] and [`Augmented`].
pub trait View: Send + Sync + 'static + sealed::Sealed {
    /// Whether the last number of a view is the code of the person's level.
    const READS_LEVEL: bool;
    /// Whether a view is the states of all levels.
    const READS_WORLDS: bool;
}

/// The state as observed, without the sensitive level: Unaware.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateOnly {}

/// The state as observed, then the code of the sensitive level: Full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateAndLevel {}

/// The states of all levels at once, [ŝ⁽¹⁾, …, ŝ⁽ᴷ⁾]: Oracle and Ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Augmented {}

/// Views that hold nothing but what is observed now, so that a policy on them needs no memory.
pub trait Observed: View {}

impl Observed for StateOnly {}
impl Observed for StateAndLevel {}

impl View for StateOnly {
    const READS_LEVEL: bool = false;
    const READS_WORLDS: bool = false;
}

impl View for StateAndLevel {
    const READS_LEVEL: bool = true;
    const READS_WORLDS: bool = false;
}

impl View for Augmented {
    const READS_LEVEL: bool = false;
    const READS_WORLDS: bool = true;
}

mod sealed {
    #[allow(unnameable_types)] // that is its purpose
    pub trait Sealed {}
    impl Sealed for super::StateOnly {}
    impl Sealed for super::StateAndLevel {}
    impl Sealed for super::Augmented {}
}

/// Turns histories into views, a whole cross-section of people at a time, one step after another.
pub trait Preprocessor: Send + Sync {
    /// What comes out.
    type View: View;

    /// How many numbers a view has.
    fn width(&self) -> usize;

    /// Starts a memory for people seen for the first time: their levels and first states.
    fn begin(&self, levels: &[u32], states: &[f64]) -> Memory;

    /// Moves the memory one step on: the actions just taken and the states they led to.
    fn advance(&self, memory: &mut Memory, actions: &[u32], states: &[f64]);

    /// The reward a learner should see for a step from the memory's present view: `rewards` are observed and overwritten.
    ///
    /// Full and Unaware learn from the reward as it is; alg:cf:1 replaces it by the level-weighted counterfactual reward.
    fn reward(&self, memory: &mut Memory, actions: &[u32], rewards: &mut [f64]);

    /// [`reward`](Self::reward), then [`advance`](Self::advance): one whole step of the data. Overridden where the two share work.
    fn step(&self, memory: &mut Memory, actions: &[u32], rewards: &mut [f64], states: &[f64]) {
        self.reward(memory, actions, rewards);
        self.advance(memory, actions, states);
    }
}
