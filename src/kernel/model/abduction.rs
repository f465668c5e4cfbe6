//! The noise of everybody in a panel.

use super::Mechanism;
use super::noise::{Step, first_noise};
use crate::people::Panel;

/// The noise of every recorded state and of every decision's reward, laid out as in the panel.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelNoise {
    /// U₁, U₂, … of the states, `state_dim` numbers per state row.
    pub states: Vec<f64>,
    /// Uᴿ₁, Uᴿ₂, … of the rewards, one number per decision.
    pub rewards: Vec<f64>,
}

/// [`abduct`](super::abduct) for everybody: the people of one level go through the mechanism as one block.
pub fn abduct_panel(mechanism: &(impl Mechanism + ?Sized), panel: &Panel) -> PanelNoise {
    let p = panel.state_dim();
    let mut noise = PanelNoise { states: panel.states().to_vec(), rewards: panel.rewards().to_vec() };
    let mut step = Step::default();
    for level in 0..panel.levels().len() {
        let (mut before, mut actions) = (vec![], vec![]);
        let (mut decided, mut reached) = (vec![], vec![]);
        for i in (0..panel.people()).filter(|&i| panel.level_codes()[i] as usize == level) {
            let rows = panel.states_of(i);
            first_noise(mechanism, level, &mut noise.states[rows.start * p..(rows.start + 1) * p]);
            for (t, decision) in panel.decisions_of(i).enumerate() {
                let row = rows.start + t;
                before.extend_from_slice(&panel.states()[row * p..(row + 1) * p]);
                actions.push(panel.actions()[decision]);
                decided.push(decision);
                reached.push((row + 1 < rows.end).then_some(row + 1));
            }
        }
        step.prepare(mechanism, level, &before, &actions);
        let mut rewards: Vec<f64> = decided.iter().map(|&decision| panel.rewards()[decision]).collect();
        step.reward_noise(mechanism, level, &mut rewards);
        decided.iter().zip(rewards).for_each(|(&decision, u)| noise.rewards[decision] = u);
        // Where nothing was recorded after the last decision its own state stands in, and the result is thrown away.
        let mut states: Vec<f64> = Vec::with_capacity(before.len());
        for (now, next) in before.chunks_exact(p).zip(&reached) {
            states.extend_from_slice(next.map_or(now, |row| &panel.states()[row * p..(row + 1) * p]));
        }
        step.state_noise(mechanism, level, &mut states);
        for (u, row) in states.chunks_exact(p).zip(&reached) {
            if let Some(row) = row {
                noise.states[row * p..(row + 1) * p].copy_from_slice(u);
            }
        }
    }
    noise
}

/// A mechanism's means alone: noise abducted from it are residuals, outcomes minus their means.
pub struct Means<'a, M: ?Sized>(pub &'a M);

impl<M: Mechanism + ?Sized> Mechanism for Means<'_, M> {
    fn state_dim(&self) -> usize {
        self.0.state_dim()
    }
    fn levels(&self) -> usize {
        self.0.levels()
    }
    fn actions(&self) -> usize {
        self.0.actions()
    }
    fn initial_mean(&self, level: usize) -> &[f64] {
        self.0.initial_mean(level)
    }
    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        self.0.mean(level, states, actions, next, rewards);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::worlds::by_name;
    use crate::model::{Exogenous, abduct, simulate};
    use crate::numeric::Stream;
    use crate::people::{PanelBuilder, Person};

    /// People of a world whose noise is more than added, every third without the last state.
    fn people() -> (Box<dyn crate::model::World>, Panel) {
        let world = by_name("spread-by-state", 1.0).unwrap();
        let whole = simulate(&*world, &Exogenous::draw(&*world, 30, 4, Stream::new(6)));
        let p = whole.state_dim();
        let mut builder = PanelBuilder::new(whole.levels().clone(), whole.action_names().clone(), p).unwrap();
        for (i, person) in whole.iter().enumerate() {
            let rows = person.actions.len() + usize::from(i % 3 != 0);
            builder.push(Person { states: &person.states[..rows * p], ..person }).unwrap();
        }
        (world, builder.finish())
    }

    #[test]
    fn a_panels_noise_is_that_of_its_people_one_by_one() {
        let (world, panel) = people();
        let noise = abduct_panel(&*world, &panel);
        let p = panel.state_dim();
        for (i, person) in panel.iter().enumerate() {
            let (rows, own) = (panel.states_of(i), abduct(&&*world, person));
            assert_eq!(noise.states[rows.start * p..rows.end * p], own.states);
            assert_eq!(noise.rewards[panel.decisions_of(i)], own.rewards);
        }
    }

    #[test]
    fn around_means_alone_noise_is_what_is_left_of_the_outcome() {
        let (world, panel) = people();
        let (noise, residuals) = (abduct_panel(&*world, &panel), abduct_panel(&Means(&*world), &panel));
        assert_ne!(noise, residuals);
        let (person, rows) = (panel.person(4), panel.states_of(4));
        let (mut next, mut reward) = (vec![0.0; panel.state_dim()], [0.0]);
        let z = person.level as usize;
        world.mean(z, &person.states[..panel.state_dim()], &person.actions[..1], &mut next, &mut reward);
        assert_eq!(residuals.rewards[panel.decisions_of(4).start], person.rewards[0] - reward[0]);
        let at = (rows.start + 1) * panel.state_dim();
        assert_eq!(residuals.states[at], person.states[panel.state_dim()] - next[0]);
        assert_eq!(residuals.states[at - panel.state_dim()], person.states[0] - world.initial_mean(z)[0]);
    }
}
