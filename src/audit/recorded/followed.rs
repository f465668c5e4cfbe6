//! People in the order of their ids, with their rows in flat arrays: what every estimator here reads.

use crate::kernel::numeric::Stream;
use crate::kernel::people::Panel;
use rand::Rng;
use std::ops::Range;

/// A panel in the order of ids, so that no digit depends on the order of rows in a file.
#[derive(Debug, Clone)]
pub(super) struct Followed {
    /// The place in the panel of each person.
    pub order: Vec<usize>,
    /// Person i owns the state rows `starts[i]..starts[i + 1]`.
    pub starts: Vec<usize>,
    /// The state row of the panel that each row is.
    pub sources: Vec<usize>,
    /// Tᵢ, the decisions recorded.
    pub decisions: Vec<usize>,
    /// The decisions a person is valued over: Tᵢ, or the planned horizon.
    pub horizons: Vec<usize>,
    /// The level of each person.
    pub levels: Vec<u32>,
    /// The person of each row.
    pub owners: Vec<u32>,
    /// The action decided at each row, |A| where none was.
    pub actions: Vec<u32>,
    /// The reward of that decision, 0 where there was none.
    pub rewards: Vec<f64>,
    /// |A|.
    pub action_count: usize,
    /// K.
    pub level_count: usize,
}

impl Followed {
    /// Everybody with at least one decision; `planned` replaces the recorded horizons.
    pub fn new(panel: &Panel, planned: Option<usize>) -> Self {
        let mut order: Vec<usize> = (0..panel.people()).filter(|&i| !panel.decisions_of(i).is_empty()).collect();
        order.sort_by(|&i, &j| panel.ids()[i].cmp(&panel.ids()[j]));
        let action_count = panel.action_names().len();
        let mut found = Self {
            starts: vec![0],
            sources: Vec::with_capacity(panel.state_rows()),
            decisions: order.iter().map(|&i| panel.decisions_of(i).len()).collect(),
            horizons: order.iter().map(|&i| planned.unwrap_or(panel.decisions_of(i).len())).collect(),
            levels: order.iter().map(|&i| panel.level_codes()[i]).collect(),
            owners: Vec::with_capacity(panel.state_rows()),
            actions: Vec::with_capacity(panel.state_rows()),
            rewards: Vec::with_capacity(panel.state_rows()),
            action_count,
            level_count: panel.levels().len(),
            order,
        };
        for (person, &i) in found.order.iter().enumerate() {
            let decisions = panel.decisions_of(i);
            for (t, row) in panel.states_of(i).enumerate() {
                let decision = (t < decisions.len()).then(|| decisions.start + t);
                found.sources.push(row);
                found.owners.push(person as u32);
                found.actions.push(decision.map_or(action_count as u32, |at| panel.actions()[at]));
                found.rewards.push(decision.map_or(0.0, |at| panel.rewards()[at]));
            }
            found.starts.push(found.sources.len());
        }
        found
    }

    /// N.
    pub fn people(&self) -> usize {
        self.order.len()
    }

    /// The state rows of a person.
    pub fn rows_of(&self, person: usize) -> Range<usize> {
        self.starts[person]..self.starts[person + 1]
    }

    /// The rows of a person at which something was decided.
    pub fn decided(&self, person: usize) -> Range<usize> {
        self.starts[person]..self.starts[person] + self.decisions[person]
    }

    /// Whether a row is a decision whose next state is known.
    pub fn moves(&self, row: usize) -> bool {
        (self.actions[row] as usize) < self.action_count && self.owners.get(row + 1) == Some(&self.owners[row])
    }

    /// The longest horizon that anybody is valued over.
    pub fn horizon(&self) -> usize {
        self.horizons.iter().copied().max().unwrap_or(0)
    }

    /// `width` numbers per state row of the panel, brought into the order of these rows.
    pub fn gather(&self, table: &[f64], width: usize) -> Vec<f64> {
        self.sources.iter().flat_map(|&row| &table[row * width..(row + 1) * width]).copied().collect()
    }

    /// Smallest and largest recorded reward.
    pub fn reward_range(&self) -> (f64, f64) {
        let decided = self.rewards.iter().zip(&self.actions).filter(|(_, a)| (**a as usize) < self.action_count);
        decided.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (r, _)| (low.min(*r), high.max(*r)))
    }
}

/// The fold of each person: a hash of (seed, id), whatever the order of people and whoever else is there.
pub(super) fn folds(panel: &Panel, people: &Followed, folds: usize, seed: u64) -> Vec<usize> {
    let stream = Stream::new(seed).named("fold");
    let fold = |&i: &usize| {
        let draw = stream.named(&panel.ids()[i]).rng().next_u64();
        ((u128::from(draw) * folds as u128) >> 64) as usize
    };
    people.order.iter().map(fold).collect()
}
