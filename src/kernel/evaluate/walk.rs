//! A policy followed through all worlds of a block of people: the one walk through time, for all who watch it.

use super::Disagreement;
use super::one_world::OneWorld;
use crate::learn::Agent;
use crate::model::{Exogenous, Mechanism};
use std::ops::Range;

/// Whose decisions are taken in all worlds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// Those for the person as they are: read_z at their own level z.
    Own,
    /// read_z at this level for everybody.
    At(usize),
}

/// For how many decisions worlds are followed, none longer than the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    /// The agent is asked in every world, and its answers are compared.
    pub compared: usize,
    /// All worlds are followed.
    pub worlds: usize,
    /// The world whose decisions are taken is followed.
    pub own: usize,
}

impl Lengths {
    /// All of it for so many decisions.
    pub fn all(horizon: usize) -> Self {
        Self { compared: horizon, worlds: horizon, own: horizon }
    }
}

/// One decision about a block of people.
pub struct Moment<'a> {
    /// t, from 0.
    pub t: usize,
    /// The block.
    pub people: Range<usize>,
    /// The actions taken, in all worlds.
    pub taken: &'a [u32],
    /// What the agent decides in each world; empty where answers are not compared.
    pub chosen: &'a [Vec<u32>],
    /// Its probabilities in each world, |A| per person; empty where answers are not compared, or the agent is deterministic.
    pub probabilities: &'a [Vec<f64>],
    /// Where people are in each world, and once it has walked what they received there.
    pub worlds: &'a [OneWorld],
}

/// Somebody who looks on.
pub trait Watch {
    /// Before the worlds walk.
    fn decided(&mut self, _moment: &Moment) {}

    /// After they have walked: rewards are those of this decision.
    fn walked(&mut self, _moment: &Moment) {}
}

/// A policy, the mechanism it is followed under, and the people with all that is random about them.
#[derive(Clone, Copy)]
pub struct Walk<'a> {
    /// What moves people.
    pub mechanism: &'a dyn Mechanism,
    /// What decides.
    pub agent: &'a dyn Agent,
    /// Everything random.
    pub draws: &'a Exogenous,
}

impl Walk<'_> {
    /// Follows some people, whose worlds of all levels run side by side: the same noise and, in all of them, the actions taken in one. The agent
    /// keeps a memory of its own in each world.
    ///
    /// # Panics
    /// With [`Taken::Own`], if answers are compared for fewer decisions than people are followed: their own worlds differ.
    pub fn follow(&self, people: Range<usize>, decisions: Taken, lengths: Lengths, watch: &mut dyn Watch) {
        let Self { mechanism, agent, draws } = *self;
        let Lengths { compared, worlds, own } = lengths;
        let (m, levels, actions) = (people.len(), mechanism.levels(), agent.actions());
        let owners = &draws.levels()[people.clone()];
        // How often the agent is asked in a world, and how long the world is followed.
        let (asked, followed) = match decisions {
            Taken::Own => {
                assert!(
                    compared == worlds && worlds == own,
                    "people's own worlds are compared as long as they are followed"
                );
                (vec![own; levels], vec![own; levels])
            }
            Taken::At(z) => {
                let longer = |others: usize| (0..levels).map(|k| if k == z { own } else { others }).collect();
                (longer(compared), longer(worlds))
            }
        };
        let begin = |k: usize| match asked[k] {
            0 => OneWorld::unseen(mechanism, draws, people.clone(), k),
            _ => OneWorld::begin(mechanism, agent, draws, people.clone(), k),
        };
        let mut sides: Vec<OneWorld> = (0..levels).map(begin).collect();
        let mut chosen = vec![vec![0u32; m]; levels];
        let random = if agent.is_deterministic() || compared == 0 { 0 } else { levels };
        let (mut probabilities, mut taken) = (vec![vec![0.0; m * actions]; random], vec![0u32; m]);
        for t in 0..own {
            let uniforms = &draws.uniforms(t)[people.clone()];
            for (k, (side, chosen)) in sides.iter_mut().zip(&mut chosen).enumerate() {
                if t < asked[k] {
                    agent.act(&mut side.memory, uniforms, chosen);
                }
            }
            let is_compared = t < compared;
            if is_compared {
                for (side, probabilities) in sides.iter_mut().zip(&mut probabilities) {
                    agent.probabilities(&mut side.memory, probabilities);
                }
            }
            match decisions {
                Taken::At(z) => taken.copy_from_slice(&chosen[z]),
                Taken::Own => {
                    taken.iter_mut().zip(owners).enumerate().for_each(|(i, (a, &z))| *a = chosen[z as usize][i]);
                }
            }
            let moment = |sides: &[OneWorld], watch: &mut dyn Watch, has_walked: bool| {
                let moment = Moment {
                    t,
                    people: people.clone(),
                    taken: &taken,
                    chosen: if is_compared { &chosen } else { &[] },
                    probabilities: if is_compared { &probabilities } else { &[] },
                    worlds: sides,
                };
                if has_walked { watch.walked(&moment) } else { watch.decided(&moment) }
            };
            moment(&sides, watch, false);
            for (k, side) in sides.iter_mut().enumerate().filter(|(k, _)| t < followed[*k]) {
                side.walk(mechanism, draws, t, &taken);
                if t + 1 < asked[k] {
                    side.see(agent, &taken);
                }
            }
            moment(&sides, watch, true);
        }
    }
}

impl Watch for Disagreement {
    fn decided(&mut self, moment: &Moment) {
        if !moment.chosen.is_empty() {
            self.count(moment.people.start, moment.chosen, moment.probabilities);
        }
    }
}
