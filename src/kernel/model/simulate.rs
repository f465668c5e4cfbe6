//! Data as the behaviour policy of a world would have collected them.

use super::noise::{Step, first_state};
use super::{Exogenous, World, worlds::draw_action};
use crate::people::{Labels, Panel, PanelBuilder, PanelError, Person};

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
    let mut step = Step::default();
    for i in 0..n {
        let level = exogenous.levels()[i] as usize;
        let noise = |t: usize| &exogenous.states(t)[i * p..(i + 1) * p];
        states[..p].copy_from_slice(noise(0));
        first_state(world, level, &mut states[..p]);
        for t in 0..horizon {
            let state = &states[t * p..(t + 1) * p];
            world.behaviour(level, state, &mut probabilities);
            actions[t] = draw_action(&probabilities, exogenous.uniforms(t)[i]);
            step.prepare(world, level, state, &actions[t..=t]);
            rewards[t] = exogenous.rewards(t)[i];
            step.rewards(world, level, &mut rewards[t..=t]);
            let after = &mut states[(t + 1) * p..(t + 2) * p];
            after.copy_from_slice(noise(t + 1));
            step.states(world, level, after);
        }
        let id = (i + 1).to_string();
        let person = Person { id: &id, level: level as u32, states: &states, actions: &actions, rewards: &rewards };
        builder.push(person)?;
    }
    Ok(builder.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Mechanism;
    use crate::model::worlds::ThreeLevels;
    use crate::numeric::Stream;
    use crate::numeric::tolerance::{ROUNDING, close};

    #[test]
    fn states_and_rewards_are_means_plus_the_noise_of_their_person_and_time() {
        let (people, horizon) = (4, 3);
        let world = ThreeLevels::new(0.5);
        let exogenous = Exogenous::draw(&world, people, horizon, Stream::new(51));
        let panel = simulate(&world, &exogenous);
        assert_eq!(panel.ids(), ["1", "2", "3", "4"]);
        for (i, person) in panel.iter().enumerate() {
            let level = exogenous.levels()[i] as usize;
            assert_eq!(person.level as usize, level);
            let mut mean = world.initial_mean(level).to_vec();
            for t in 0..=horizon {
                let state = &person.states[2 * t..2 * t + 2];
                for j in 0..2 {
                    let noise = exogenous.states(t)[2 * i + j];
                    assert!(close(state[j], mean[j] + noise, ROUNDING), "person {i}, time {t}: {state:?}");
                }
                if t < horizon {
                    let mut reward = [0.0];
                    world.mean(level, state, &[person.actions[t]], &mut mean, &mut reward);
                    assert!(
                        close(person.rewards[t], reward[0] + exogenous.rewards(t)[i], ROUNDING),
                        "person {i}, time {t}"
                    );
                }
            }
        }
    }
}
