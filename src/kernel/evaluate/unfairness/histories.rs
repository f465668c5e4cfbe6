//! Recorded histories laid out once, so that they can be followed under many mechanisms.

use super::super::Disagreement;
use super::super::cross_section::CrossSections;
use super::super::panel_audit::level_states;
use super::super::rollout::BLOCK;
use crate::kernel::data::Panel;
use crate::kernel::evaluate::PanelDraws;
use crate::kernel::learn::{Agent, AgentMemory};
use crate::kernel::model::Mechanism;
use crate::kernel::preprocess::{Preprocessor, Sequential, StateOverflow};

/// The people of a panel in blocks, each time a cross-section: what [`audit`](crate::kernel::evaluate::audit) gathers anew each time.
pub(in crate::kernel::evaluate) struct Histories<'a> {
    panel: &'a Panel,
    /// Everybody, longest record first.
    order: Vec<usize>,
    blocks: Vec<Block>,
}

struct Block {
    first: usize,
    own: Vec<u32>,
    coins: Vec<f64>,
    times: Vec<CrossSection>,
}

/// Those who still decide at a time: where they are, what was done before, and the draws behind what an agent does.
struct CrossSection {
    states: Vec<f64>,
    before: Vec<u32>,
    uniforms: Vec<f64>,
}

impl<'a> Histories<'a> {
    /// Gathers; `draws` are those of the panel.
    pub fn new(panel: &'a Panel, draws: &PanelDraws) -> Self {
        let people = CrossSections::new(panel, |i| panel.decisions_of(i).len());
        let order = people.order().to_vec();
        let block = |(block, members): (usize, &[usize])| {
            let mut times = Vec::new();
            for t in 0.. {
                let n = members.partition_point(|&i| panel.decisions_of(i).len() > t);
                if n == 0 {
                    break;
                }
                let members = &members[..n];
                let (mut states, mut before) = (vec![], vec![]);
                people.states(members, t, &mut states);
                if t > 0 {
                    people.actions(members, t - 1, &mut before);
                }
                let uniforms = members.iter().map(|&i| draws.uniforms[panel.decisions_of(i).start + t]).collect();
                times.push(CrossSection { states, before, uniforms });
            }
            let deciding = &members[..times.first().map_or(0, |at| at.uniforms.len())];
            let coins = deciding.iter().map(|&i| draws.coins[i]).collect();
            Block { first: block * BLOCK, own: people.levels(deciding), coins, times }
        };
        let blocks = order.chunks(BLOCK).enumerate().map(block).collect();
        Self { panel, order, blocks }
    }

    /// Numbers of people, one a person in the order of the panel, in the order of the histories.
    pub fn in_order(&self, of_people: &[f64]) -> Vec<f64> {
        self.order.iter().map(|&i| of_people[i]).collect()
    }

    /// Asks an agent in every world of a mechanism, as [`audit`](crate::kernel::evaluate::audit) does, and counts.
    pub fn disagreement(&self, mechanism: &dyn Mechanism, agent: &dyn Agent) -> Result<Disagreement, StateOverflow> {
        let (levels, actions, p) = (mechanism.levels(), agent.actions(), mechanism.state_dim());
        let worlds = Sequential::new(mechanism, vec![1.0; levels]);
        let mut counted = Disagreement::new(self.order.len(), levels, actions);
        let mut states = Vec::new();
        let (mut chosen, mut probabilities) = (vec![vec![]; levels], vec![]);
        if !agent.is_deterministic() {
            probabilities = vec![vec![]; levels];
        }
        for block in self.blocks.iter().filter(|block| !block.own.is_empty()) {
            let mut memory = worlds.begin(&block.own, &block.times[0].states);
            let mut agents: Vec<AgentMemory> = (0..levels)
                .map(|k| {
                    level_states(&memory.view, k, levels, p, &mut states);
                    agent.begin(&vec![k as u32; block.own.len()], &states, &block.coins)
                })
                .collect();
            for (t, at) in block.times.iter().enumerate() {
                let n = at.uniforms.len();
                if t > 0 {
                    memory.truncate(n);
                    worlds.advance(&mut memory, &at.before, &at.states);
                    for (k, remembered) in agents.iter_mut().enumerate() {
                        remembered.truncate(n);
                        level_states(&memory.view, k, levels, p, &mut states);
                        agent.advance(remembered, &at.before, &states);
                    }
                }
                self.check_finite(block.first, t, n, &memory.view)?;
                for (remembered, chosen) in agents.iter_mut().zip(&mut chosen) {
                    chosen.resize(n, 0);
                    agent.act(remembered, &at.uniforms, chosen);
                }
                for (remembered, probabilities) in agents.iter_mut().zip(&mut probabilities) {
                    probabilities.resize(n * actions, 0.0);
                    agent.probabilities(remembered, probabilities);
                }
                counted.count(block.first, &chosen, &probabilities);
            }
        }
        Ok(counted)
    }

    fn check_finite(&self, first: usize, t: usize, people: usize, view: &[f64]) -> Result<(), StateOverflow> {
        let Some(at) = view.iter().position(|x| !x.is_finite()) else { return Ok(()) };
        let person = self.order[first + at / (view.len() / people)];
        Err(StateOverflow { id: self.panel.ids()[person].clone(), t: t + 1, value: view[at] })
    }
}
