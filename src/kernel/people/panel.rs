//! The panel: people, their sensitive level, states, actions and rewards, in flat arrays.

use super::{Labels, Shape};
use std::ops::Range;

/// N people followed over time, validated once.
///
/// Person i has level zᵢ, states s₁ … and Tᵢ decisions (aₜ, rₜ). The number of states is Tᵢ, or Tᵢ + 1 when the state after
/// the last decision was recorded. Horizons may differ between people. Everything is stored flat, person after person, so
/// that a block of rows is a slice.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    pub(super) shape: Shape,
    ids: Vec<String>,
    level: Vec<u32>,
    /// Person i owns the state rows `state_start[i]..state_start[i + 1]`.
    state_start: Vec<usize>,
    /// Person i owns the decisions `decision_start[i]..decision_start[i + 1]`.
    decision_start: Vec<usize>,
    states: Vec<f64>,
    actions: Vec<u32>,
    rewards: Vec<f64>,
}

/// One person of a panel, by reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Person<'a> {
    /// The name of the person.
    pub id: &'a str,
    /// The code of the sensitive level.
    pub level: u32,
    /// States s₁, s₂, … one after another, `state_dim` numbers each.
    pub states: &'a [f64],
    /// Actions a₁ … a_T.
    pub actions: &'a [u32],
    /// Rewards r₁ … r_T.
    pub rewards: &'a [f64],
}

/// Why a person cannot join a panel.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PanelError {
    /// A panel needs at least one sensitive level, one action and one state coordinate.
    #[error("a panel needs levels, actions and state coordinates, found {levels}, {actions} and {state_dim}")]
    EmptyShape {
        /// Number of levels.
        levels: usize,
        /// Number of actions.
        actions: usize,
        /// Number of state coordinates.
        state_dim: usize,
    },
    /// level ≥ K.
    #[error("person {id}: level code {level} is outside 0..{levels}")]
    UnknownLevel {
        /// The person.
        id: String,
        /// The code given.
        level: u32,
        /// The number of levels.
        levels: usize,
    },
    /// action ≥ |A|.
    #[error("person {id}, decision {t}: action code {action} is outside 0..{actions}")]
    UnknownAction {
        /// The person.
        id: String,
        /// The decision, counted from 1.
        t: usize,
        /// The code given.
        action: u32,
        /// The number of actions.
        actions: usize,
    },
    /// The lengths do not make T states (or T + 1), T actions and T rewards.
    #[error(
        "person {id}: {states} state numbers of dimension {state_dim}, {actions} actions and {rewards} rewards do not form a trajectory"
    )]
    Shape {
        /// The person.
        id: String,
        /// Numbers in the state slice.
        states: usize,
        /// State coordinates.
        state_dim: usize,
        /// Actions given.
        actions: usize,
        /// Rewards given.
        rewards: usize,
    },
    /// A number that is infinite or not a number.
    #[error("person {id}, time {t}: {what} is {value}, not a finite number")]
    NotFinite {
        /// The person.
        id: String,
        /// Time, counted from 1.
        t: usize,
        /// `state coordinate j` or `reward`.
        what: String,
        /// The offending value.
        value: f64,
    },
    /// The same id was pushed twice.
    #[error("person {0} appears twice")]
    DuplicateId(String),
}

/// Collects people into a [`Panel`].
#[derive(Debug, Clone)]
pub struct PanelBuilder {
    panel: Panel,
    seen: std::collections::HashSet<String>,
}

impl PanelBuilder {
    /// An empty panel over the given levels, actions and state dimension.
    ///
    /// # Errors
    /// [`PanelError::EmptyShape`] when any of the three is empty.
    pub fn new(levels: Labels, actions: Labels, state_dim: usize) -> Result<Self, PanelError> {
        if levels.is_empty() || actions.is_empty() || state_dim == 0 {
            return Err(PanelError::EmptyShape { levels: levels.len(), actions: actions.len(), state_dim });
        }
        let panel = Panel {
            shape: Shape { levels, actions, state_dim },
            ids: Vec::new(),
            level: Vec::new(),
            state_start: vec![0],
            decision_start: vec![0],
            states: Vec::new(),
            actions: Vec::new(),
            rewards: Vec::new(),
        };
        Ok(Self { panel, seen: std::collections::HashSet::new() })
    }

    /// Adds a person; on error the panel is as it was.
    ///
    /// # Errors
    /// Any [`PanelError`] about a person: code out of range, lengths that do not fit, a number that is not finite, an id seen before.
    pub fn push(&mut self, person: Person<'_>) -> Result<(), PanelError> {
        let Person { id, level, states, actions, rewards } = person;
        let panel = &mut self.panel;
        let p = panel.shape.state_dim;
        if level as usize >= panel.shape.levels.len() {
            return Err(PanelError::UnknownLevel { id: id.into(), level, levels: panel.shape.levels.len() });
        }
        let rows = states.len() / p;
        let fits = states.len() % p == 0 && rows >= 1 && rewards.len() == actions.len();
        if !fits || !(rows == actions.len() || rows == actions.len() + 1) {
            return Err(PanelError::Shape {
                id: id.into(),
                states: states.len(),
                state_dim: p,
                actions: actions.len(),
                rewards: rewards.len(),
            });
        }
        if let Some(j) = states.iter().position(|x| !x.is_finite()) {
            let what = format!("state coordinate {}", j % p + 1);
            return Err(PanelError::NotFinite { id: id.into(), t: j / p + 1, what, value: states[j] });
        }
        if let Some(t) = rewards.iter().position(|x| !x.is_finite()) {
            return Err(PanelError::NotFinite { id: id.into(), t: t + 1, what: "reward".into(), value: rewards[t] });
        }
        if let Some(t) = actions.iter().position(|&a| a as usize >= panel.shape.actions.len()) {
            let (action, actions) = (actions[t], panel.shape.actions.len());
            return Err(PanelError::UnknownAction { id: id.into(), t: t + 1, action, actions });
        }
        if !self.seen.insert(id.to_string()) {
            return Err(PanelError::DuplicateId(id.into()));
        }
        panel.ids.push(id.to_string());
        panel.level.push(level);
        panel.states.extend_from_slice(states);
        panel.actions.extend_from_slice(actions);
        panel.rewards.extend_from_slice(rewards);
        panel.state_start.push(panel.states.len() / p);
        panel.decision_start.push(panel.actions.len());
        Ok(())
    }

    /// The finished panel.
    pub fn finish(self) -> Panel {
        self.panel
    }
}

/// The arrays of a panel that was validated before it was stored: lengths by person instead of places.
#[derive(Debug, Default)]
pub struct Stored {
    /// Ids.
    pub ids: Vec<String>,
    /// Level codes.
    pub level: Vec<u32>,
    /// States of each person.
    pub state_rows: Vec<usize>,
    /// Decisions of each person.
    pub decisions: Vec<usize>,
    /// States, person after person.
    pub states: Vec<f64>,
    /// Actions, person after person.
    pub actions: Vec<u32>,
    /// Rewards, person after person.
    pub rewards: Vec<f64>,
}

impl Panel {
    /// A panel that was validated before it was stored.
    pub fn restored(shape: Shape, stored: Stored) -> Self {
        let places = |lengths: &[usize]| {
            let ends = lengths.iter().scan(0, |end, length| {
                *end += length;
                Some(*end)
            });
            std::iter::once(0).chain(ends).collect()
        };
        let (state_start, decision_start) = (places(&stored.state_rows), places(&stored.decisions));
        let Stored { ids, level, states, actions, rewards, .. } = stored;
        Self { shape, ids, level, state_start, decision_start, states, actions, rewards }
    }

    /// The sensitive levels z⁽¹⁾ … z⁽ᴷ⁾.
    pub fn levels(&self) -> &Labels {
        &self.shape.levels
    }

    /// The actions, by name.
    pub fn action_names(&self) -> &Labels {
        &self.shape.actions
    }

    /// p, the number of state coordinates.
    pub fn state_dim(&self) -> usize {
        self.shape.state_dim
    }

    /// N, the number of people.
    pub fn people(&self) -> usize {
        self.ids.len()
    }

    /// Σ Tᵢ, the number of decisions.
    pub fn decisions(&self) -> usize {
        self.actions.len()
    }

    /// The number of tuples (sₜ, aₜ, rₜ, sₜ₊₁) whose next state is known.
    pub fn transitions(&self) -> usize {
        self.state_rows() - self.people()
    }

    /// The number of recorded states over all people.
    pub fn state_rows(&self) -> usize {
        self.states.len() / self.shape.state_dim
    }

    /// The longest horizon maxᵢ Tᵢ.
    pub fn horizon(&self) -> usize {
        (0..self.people()).map(|i| self.decisions_of(i).len()).max().unwrap_or(0)
    }

    /// The rows of the state array that belong to person i.
    pub fn states_of(&self, i: usize) -> Range<usize> {
        self.state_start[i]..self.state_start[i + 1]
    }

    /// The entries of the action and reward arrays that belong to person i.
    pub fn decisions_of(&self, i: usize) -> Range<usize> {
        self.decision_start[i]..self.decision_start[i + 1]
    }

    /// The person to whom a row of the state array belongs: the i with `states_of(i)` ∋ row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn owner_of(&self, row: usize) -> usize {
        assert!(row < self.state_rows(), "row {row} of a panel with {} state rows", self.state_rows());
        self.state_start.partition_point(|&start| start <= row) - 1
    }

    /// Person i.
    pub fn person(&self, i: usize) -> Person<'_> {
        let (rows, decisions) = (self.states_of(i), self.decisions_of(i));
        Person {
            id: &self.ids[i],
            level: self.level[i],
            states: &self.states[rows.start * self.state_dim()..rows.end * self.state_dim()],
            actions: &self.actions[decisions.clone()],
            rewards: &self.rewards[decisions],
        }
    }

    /// Everybody, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Person<'_>> + Clone {
        (0..self.people()).map(|i| self.person(i))
    }

    /// The ids, in order.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// The level code of each person.
    pub fn level_codes(&self) -> &[u32] {
        &self.level
    }

    /// All states, row-major, person after person.
    pub fn states(&self) -> &[f64] {
        &self.states
    }

    /// All actions, person after person.
    pub fn actions(&self) -> &[u32] {
        &self.actions
    }

    /// All rewards, person after person.
    pub fn rewards(&self) -> &[f64] {
        &self.rewards
    }

    /// P̂(Z = z⁽ᵏ⁾), the share of people at each level.
    pub fn level_shares(&self) -> Vec<f64> {
        let mut counts = vec![0usize; self.shape.levels.len()];
        for &z in &self.level {
            counts[z as usize] += 1;
        }
        counts.iter().map(|&c| c as f64 / self.people().max(1) as f64).collect()
    }

    /// The panel of the people at the given positions, in that order.
    ///
    /// # Panics
    /// If a position is out of range or repeated.
    pub fn select(&self, people: &[usize]) -> Panel {
        let Shape { levels, actions, state_dim } = self.shape.clone();
        let mut builder =
            PanelBuilder::new(levels, actions, state_dim).expect("the shape of an existing panel is valid");
        for &i in people {
            builder.push(self.person(i)).expect("a person of an existing panel is valid, and selected once");
        }
        builder.finish()
    }
}

impl Person<'_> {
    /// Whether the state after the last decision was recorded.
    pub fn has_final_state(&self, state_dim: usize) -> bool {
        self.states.len() / state_dim == self.actions.len() + 1
    }
}
