//! People of a check, as a panel.

use crate::kernel::people::{Labels, Panel, PanelBuilder, Person};

/// What is recorded of one person.
pub(crate) struct Recorded {
    pub level: u32,
    pub states: Vec<f64>,
    pub actions: Vec<u32>,
    pub rewards: Vec<f64>,
}

/// A panel with so many levels, actions and coordinates of a state, all of them and the people numbered.
///
/// # Panics
/// If a person does not fit, or has a number that is not finite.
pub(crate) fn panel_of(
    levels: usize,
    actions: usize,
    state_dim: usize,
    people: impl IntoIterator<Item = Recorded>,
) -> Panel {
    let [levels, actions] = [levels, actions].map(Labels::numbered);
    let mut builder = PanelBuilder::new(levels, actions, state_dim).expect("levels, actions and states");
    for (i, Recorded { level, states, actions, rewards }) in people.into_iter().enumerate() {
        let (id, states, actions, rewards) = (i.to_string(), &states[..], &actions[..], &rewards[..]);
        builder.push(Person { id: &id, level, states, actions, rewards }).expect("a person who fits");
    }
    builder.finish()
}
