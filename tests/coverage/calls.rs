//! The trial of weekly calls as a place.

use super::place::{Place, Population};
use counterfair::kernel::numeric::{Stream, fill_uniform};
use counterfair::kernel::people::Labels;
use counterfair::reproduction::{Participant, WeeklyCalls};

impl Place for WeeklyCalls {
    fn levels(&self) -> Labels {
        Labels::new(self.groups().map(|(name, _)| name))
    }

    fn actions(&self) -> Labels {
        Labels::new(Self::CALLS)
    }

    fn state_dim(&self) -> usize {
        2
    }

    fn shares(&self) -> Vec<f64> {
        let labels = Place::levels(self);
        let mut shares = vec![0.0; labels.len()];
        self.groups().for_each(|(name, share)| shares[code(&labels, name)] = share);
        shares
    }

    /// A row is the scores before a call, the call, and the reward that followed.
    fn records_the_last_state(&self) -> bool {
        false
    }

    fn draw(&self, people: usize, horizon: usize, stream: Stream) -> Box<dyn Population + '_> {
        let participants: Vec<Participant> =
            (0..people).map(|i| self.participant(horizon, stream.named("weekly calls").index(i as u64))).collect();
        let (levels, actions) = (Place::levels(self), Place::actions(self));
        let groups: Vec<&str> = self.groups().map(|(name, _)| name).collect();
        let group_of = |name: &String| groups.iter().position(|group| group == name).expect("one of the groups");
        let mut draws = vec![0.0; people * (horizon + 1)];
        fill_uniform(&mut stream.named("actions").rng(), &mut draws);
        Box::new(Callers {
            trial: self,
            levels: participants.iter().map(|who| code(&levels, groups[who.group]) as u32).collect(),
            group: levels.names().iter().map(group_of).collect(),
            call: actions.names().iter().map(|name| code_of_call(name)).collect(),
            action: Self::CALLS.iter().map(|name| code(&actions, name) as u32).collect(),
            participants,
            horizon,
            draws,
        })
    }
}

fn code(labels: &Labels, name: &str) -> usize {
    labels.code(name).expect("one of the names")
}

fn code_of_call(name: &str) -> usize {
    WeeklyCalls::CALLS.iter().position(|call| *call == name).expect("one of the calls")
}

/// Participants, whose groups and calls the record sorts by name.
struct Callers<'a> {
    trial: &'a WeeklyCalls,
    participants: Vec<Participant>,
    levels: Vec<u32>,
    /// The group of each level, the call of each action, and the action of each call.
    group: Vec<usize>,
    call: Vec<usize>,
    action: Vec<u32>,
    horizon: usize,
    draws: Vec<f64>,
}

impl Population for Callers<'_> {
    fn levels(&self) -> &[u32] {
        &self.levels
    }

    fn horizon(&self) -> usize {
        self.horizon
    }

    fn coins(&self) -> &[f64] {
        &self.draws[..self.levels.len()]
    }

    fn uniforms(&self, t: usize) -> &[f64] {
        let people = self.levels.len();
        &self.draws[(t + 1) * people..(t + 2) * people]
    }

    fn first(&self, i: usize, level: usize, state: &mut [f64]) {
        state.copy_from_slice(&self.trial.first(&self.participants[i], self.group[level]));
    }

    fn step(&self, i: usize, level: usize, t: usize, action: u32, state: &mut [f64]) -> f64 {
        let (who, call) = (&self.participants[i], self.call[action as usize]);
        let (reward, next) = self.trial.week(who, self.group[level], t, call, [state[0], state[1]]);
        state.copy_from_slice(&next);
        reward
    }

    fn received(&self, i: usize, t: usize, _state: &[f64], _before: Option<u32>) -> u32 {
        self.action[self.participants[i].call(t)]
    }

    fn leaves(&self, i: usize, t: usize, _state: &[f64]) -> bool {
        t + 1 >= self.participants[i].weeks
    }

    fn recorded(&self, state: &mut [f64]) {
        state.copy_from_slice(&self.trial.recorded([state[0], state[1]]));
    }
}
