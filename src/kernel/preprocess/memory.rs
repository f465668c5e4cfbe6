//! The paper's memory buffer: what must be kept of each person between two decisions.

use crate::model::noise::Step;

/// One memory for a cross-section of people: their levels, their last observed states and the views made of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Memory {
    /// The level of each person.
    pub levels: Vec<u32>,
    /// The last observed states, row-major.
    pub states: Vec<f64>,
    /// What the policy reads, row-major.
    pub view: Vec<f64>,
    /// Working space of the preprocessor, kept so that a step allocates nothing.
    pub(super) scratch: Scratch,
}

/// Buffers reused from step to step.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Scratch {
    /// Steps since the first state, for those whose reading depends on the time.
    pub time: usize,
    /// The states of one level, row-major.
    pub level_states: Vec<f64>,
    /// Mean next states of one level.
    pub next: Vec<f64>,
    /// Mean rewards of one level.
    pub reward: Vec<f64>,
    /// Mean next states of all levels, laid out as the view.
    pub all_next: Vec<f64>,
    /// Mean rewards of all levels, K a row.
    pub all_reward: Vec<f64>,
    /// Spreads of next states, laid out as the view; empty where noise is additive.
    pub all_next_spread: Vec<f64>,
    /// Spreads of rewards, K a row; empty where noise is additive.
    pub all_reward_spread: Vec<f64>,
    /// Means and spreads of one step, for those who take people one by one.
    pub step: Step,
}

impl Memory {
    /// A memory of people at these levels, with these last states and these views of them.
    pub fn new(levels: &[u32], states: &[f64], view: Vec<f64>) -> Self {
        Self { levels: levels.to_vec(), states: states.to_vec(), view, scratch: Scratch::default() }
    }

    /// How many people it remembers.
    pub fn people(&self) -> usize {
        self.levels.len()
    }

    /// Forgets everybody but the first `people`.
    pub fn truncate(&mut self, people: usize) {
        if people >= self.people() {
            return;
        }
        let before = self.people();
        self.states.truncate(self.states.len() / before * people);
        self.view.truncate(self.view.len() / before * people);
        self.levels.truncate(people);
    }
}
