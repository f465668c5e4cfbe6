//! Recorded histories laid out once, so that they can be followed under many mechanisms.

use super::super::cross_section::CrossSections;
use super::super::panel_audit::level_states;
use crate::audit::PanelDraws;
use crate::kernel::evaluate::BLOCK;
use crate::kernel::evaluate::Disagreement;
use crate::kernel::learn::{Agent, AgentMemory};
use crate::kernel::model::Mechanism;
use crate::kernel::people::Panel;
use crate::kernel::preprocess::{Memory, Preprocessor, Sequential, StateOverflow};

/// The people of a panel in blocks, each time a cross-section: what [`audit`](crate::audit::audit) gathers anew each time.
pub(in crate::audit) struct Histories<'a> {
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

    /// Numbers in the order of the histories, one a person in the order of the panel.
    pub fn in_panel_order(&self, of_histories: &[f64]) -> Vec<f64> {
        let mut found = vec![0.0; self.order.len()];
        self.order.iter().zip(of_histories).for_each(|(&i, x)| found[i] = *x);
        found
    }

    /// Asks an agent in every world of a mechanism, as [`audit`](crate::audit::audit) does, and counts.
    pub fn disagreement(&self, mechanism: &dyn Mechanism, agent: &dyn Agent) -> Result<Disagreement, StateOverflow> {
        let worlds = Sequential::new(mechanism, vec![1.0; mechanism.levels()]);
        let mut memory = Memory::default();
        self.ask(mechanism.levels(), agent, |block, t, view| {
            let at = &block.times[t];
            if t == 0 {
                memory = worlds.begin(&block.own, &at.states);
            } else {
                memory.truncate(at.uniforms.len());
                worlds.advance(&mut memory, &at.before, &at.states);
            }
            view.clone_from(&memory.view);
        })
    }

    /// Asks an agent in worlds that were made elsewhere: rows [s¹, …, sᴷ], one for each state row of the panel.
    pub fn disagreement_in(
        &self,
        worlds: &[f64],
        levels: usize,
        agent: &dyn Agent,
    ) -> Result<Disagreement, StateOverflow> {
        let width = levels * self.panel.state_dim();
        self.ask(levels, agent, |block, t, view| {
            view.clear();
            for &i in &self.order[block.first..block.first + block.times[t].uniforms.len()] {
                let row = self.panel.states_of(i).start + t;
                view.extend_from_slice(&worlds[row * width..(row + 1) * width]);
            }
        })
    }

    /// The walk over blocks and times; `worlds` writes the states of all worlds of those who decide at a time.
    fn ask(
        &self,
        levels: usize,
        agent: &dyn Agent,
        mut worlds: impl FnMut(&Block, usize, &mut Vec<f64>),
    ) -> Result<Disagreement, StateOverflow> {
        let (actions, p) = (agent.actions(), self.panel.state_dim());
        let mut counted = Disagreement::new(self.order.len(), levels, actions);
        let (mut view, mut states) = (Vec::new(), Vec::new());
        let (mut chosen, mut probabilities) = (vec![vec![]; levels], vec![]);
        if !agent.is_deterministic() {
            probabilities = vec![vec![]; levels];
        }
        for block in self.blocks.iter().filter(|block| !block.own.is_empty()) {
            let mut memories: Vec<AgentMemory> = vec![];
            for (t, at) in block.times.iter().enumerate() {
                let n = at.uniforms.len();
                worlds(block, t, &mut view);
                self.check_finite(block.first, t, n, &view)?;
                for k in 0..levels {
                    level_states(&view, k, levels, p, &mut states);
                    if t == 0 {
                        memories.push(agent.begin(&vec![k as u32; n], &states, &block.coins));
                    } else {
                        memories[k].truncate(n);
                        agent.advance(&mut memories[k], &at.before, &states);
                    }
                }
                for (memory, chosen) in memories.iter_mut().zip(&mut chosen) {
                    chosen.resize(n, 0);
                    agent.act(memory, &at.uniforms, chosen);
                }
                for (memory, probabilities) in memories.iter_mut().zip(&mut probabilities) {
                    probabilities.resize(n * actions, 0.0);
                    agent.probabilities(memory, probabilities);
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
