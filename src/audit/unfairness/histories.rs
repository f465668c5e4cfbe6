//! Recorded histories laid out once, so that a policy can be asked along them in many worlds that were made elsewhere.

use super::super::cross_section::CrossSections;
use super::super::panel_audit::level_states;
use crate::audit::PanelDraws;
use crate::kernel::evaluate::BLOCK;
use crate::kernel::evaluate::Disagreement;
use crate::kernel::learn::{Agent, AgentMemory};
use crate::kernel::people::Panel;
use crate::kernel::preprocess::StateOverflow;

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

/// Those who still decide at a time: what was done before, and the draws behind what an agent does.
struct CrossSection {
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
                let mut before = vec![];
                if t > 0 {
                    people.actions(members, t - 1, &mut before);
                }
                let uniforms = members.iter().map(|&i| draws.uniforms[panel.decisions_of(i).start + t]).collect();
                times.push(CrossSection { before, uniforms });
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

    /// Asks an agent in worlds that were made elsewhere: rows [s¹, …, sᴷ], one for each state row of the panel.
    pub fn disagreement_in(
        &self,
        worlds: &[f64],
        levels: usize,
        agent: &dyn Agent,
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
                view.clear();
                for &i in &self.order[block.first..block.first + n] {
                    let row = self.panel.states_of(i).start + t;
                    view.extend_from_slice(&worlds[row * levels * p..(row + 1) * levels * p]);
                }
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
