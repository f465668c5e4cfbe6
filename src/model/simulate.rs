//! Data as the behaviour policy of a world would have collected them.

use super::{Exogenous, World, worlds::draw_action};
use crate::data::{Labels, Panel, PanelBuilder, PanelError, Person};

/// [`try_simulate`] for worlds that are known to stay finite.
///
/// # Panics
/// If a state or reward leaves the finite numbers, as in a linear world beyond its stable strengths.
pub fn simulate(world: &(impl World + ?Sized), exogenous: &Exogenous) -> Panel {
    try_simulate(world, exogenous).expect("a world that stays finite")
}

/// The panel that a world's behaviour policy makes of the exogenous variables: T decisions and T + 1 states a person.
///
/// # Errors
/// [`PanelError::NotFinite`] when a state or reward leaves the finite numbers.
pub fn try_simulate(world: &(impl World + ?Sized), exogenous: &Exogenous) -> Result<Panel, PanelError> {
    let (n, horizon, p) = (exogenous.people(), exogenous.horizon(), world.state_dim());
    let mut builder = PanelBuilder::new(Labels::numbered(world.levels()), Labels::numbered(world.actions()), p)
        .expect("a world has levels, actions and states");
    let mut probabilities = vec![0.0; world.actions()];
    let (mut states, mut actions, mut rewards) = (vec![0.0; (horizon + 1) * p], vec![0; horizon], vec![0.0; horizon]);
    let mut next = vec![0.0; p];
    for i in 0..n {
        let level = exogenous.levels()[i] as usize;
        let noise = |t: usize| &exogenous.states(t)[i * p..(i + 1) * p];
        for ((s, m), u) in states[..p].iter_mut().zip(world.initial_mean(level)).zip(noise(0)) {
            *s = m + u;
        }
        for t in 0..horizon {
            let state = &states[t * p..(t + 1) * p];
            world.behaviour(level, state, &mut probabilities);
            actions[t] = draw_action(&probabilities, exogenous.uniforms(t)[i]);
            world.mean(level, state, &actions[t..=t], &mut next, &mut rewards[t..=t]);
            rewards[t] += exogenous.rewards(t)[i];
            for j in 0..p {
                states[(t + 1) * p + j] = next[j] + noise(t + 1)[j];
            }
        }
        let id = (i + 1).to_string();
        let person = Person { id: &id, level: level as u32, states: &states, actions: &actions, rewards: &rewards };
        builder.push(person)?;
    }
    Ok(builder.finish())
}
