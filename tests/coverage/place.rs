//! Places whose truth is known: people are drawn with everything random about them, recorded as they were treated, or followed as a policy
//! would treat them, in the worlds of all levels at once.

use counterfair::kernel::learn::Agent;
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::people::{Labels, Panel, PanelBuilder, Person};
use rayon::prelude::*;
use std::ops::Range;

/// γ everywhere, the paper's.
pub const DISCOUNT: f64 = 0.9;

/// Where people come from.
pub trait Place: Sync {
    fn levels(&self) -> Labels;
    fn actions(&self) -> Labels;
    fn state_dim(&self) -> usize;
    /// P(Z = z⁽ᵏ⁾).
    fn shares(&self) -> Vec<f64>;
    /// Whether the record has the state that the last decision led to.
    fn records_the_last_state(&self) -> bool {
        true
    }
    /// New people, drawn for this many decisions.
    fn draw(&self, people: usize, horizon: usize, stream: Stream) -> Box<dyn Population + '_>;
}

/// People with everything random about them: whatever is done for them, and whatever level they are given, what follows is determined.
pub trait Population: Sync {
    /// The level of each person.
    fn levels(&self) -> &[u32];
    fn horizon(&self) -> usize;
    /// A uniform draw per person.
    fn coins(&self) -> &[f64];
    /// The uniform draws behind the actions of decision t (from 0), one per person.
    fn uniforms(&self, t: usize) -> &[f64];
    /// S₁ of person i, were they of this level.
    fn first(&self, i: usize, level: usize, state: &mut [f64]);
    /// The reward of decision t; the state becomes the one it leads to.
    fn step(&self, i: usize, level: usize, t: usize, action: u32, state: &mut [f64]) -> f64;
    /// What was done for person i, who is in this state and received `before` last.
    fn received(&self, i: usize, t: usize, state: &[f64], before: Option<u32>) -> u32;
    /// Whether person i is gone after decision t, which led to this state.
    fn leaves(&self, i: usize, t: usize, state: &[f64]) -> bool;
    /// Puts a state as the record has it.
    fn recorded(&self, _state: &mut [f64]) {}
}

/// Until when people are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Their own last decision.
    TheyLeave,
    /// The last decision that was planned.
    TheEnd,
}

/// Whose actions lead people on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Led {
    /// Those of the policy: the CF metric of deployment.
    ByThePolicy,
    /// Those that people received: the CF metric along recorded histories.
    AsRecorded,
}

/// The record of these people.
pub fn record(place: &dyn Place, people: &dyn Population, until: Until) -> Panel {
    let p = place.state_dim();
    let mut builder = PanelBuilder::new(place.levels(), place.actions(), p).expect("levels, actions and states");
    for (i, &level) in people.levels().iter().enumerate() {
        let mut state = vec![0.0; p];
        people.first(i, level as usize, &mut state);
        let (mut states, mut actions, mut rewards) = (vec![], vec![], vec![]);
        for t in 0..people.horizon() {
            push_recorded(people, &state, &mut states);
            let action = people.received(i, t, &state, actions.last().copied());
            rewards.push(people.step(i, level as usize, t, action, &mut state));
            actions.push(action);
            if until == Until::TheyLeave && people.leaves(i, t, &state) {
                break;
            }
        }
        if place.records_the_last_state() {
            push_recorded(people, &state, &mut states);
        }
        let id = format!("{:06}", i + 1);
        builder
            .push(Person { id: &id, level, states: &states, actions: &actions, rewards: &rewards })
            .expect("a place that stays finite");
    }
    builder.finish()
}

fn push_recorded(people: &dyn Population, state: &[f64], states: &mut Vec<f64>) {
    let first = states.len();
    states.extend_from_slice(state);
    people.recorded(&mut states[first..]);
}

/// Σₜ γ^{t−1} rₜ, averaged over people.
pub fn mean_return(panel: &Panel) -> f64 {
    let returns = panel.iter().map(|who| who.rewards.iter().rev().fold(0.0, |later, r| r + DISCOUNT * later));
    returns.sum::<f64>() / panel.people() as f64
}

/// What following a policy shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Followed {
    /// J = E Σₜ γ^{t−1} Rₜ.
    pub value: f64,
    /// Ṽ = E Σₜ γ^{t−1} Σₖ pₖ Rₜᵏ: the rewards of all worlds along the decisions taken.
    pub fair: f64,
    /// `eq:cf_metric`.
    pub metric: f64,
    /// The same at the first decision alone.
    pub metric_at_first: f64,
    /// The share of decisions about people of the first level that are action 1.
    pub treated: f64,
}

/// Sums over people; those over pairs of levels in the order (0, 1), (0, 2), …, (1, 2), ….
struct Tally {
    value: f64,
    fair: f64,
    decisions: f64,
    differ: Vec<f64>,
    differ_at_first: Vec<f64>,
    first_level: f64,
    treated: f64,
}

/// People followed at a time: memories of all worlds stay in cache.
const BLOCK: usize = 500;

/// Follows an agent: in the world of each person's own level, and beside it in those of the other levels with the same noise and the same actions,
/// where the agent is asked what it would do.
pub fn follow(place: &dyn Place, people: &dyn Population, agent: &dyn Agent, led: Led, until: Until) -> Followed {
    follow_at(place, people, people.levels(), agent, led, until)
}

/// J and Ṽ with everybody followed at each level in turn, so that a rule that looks at nobody gains exactly nothing.
pub fn fair_value(place: &dyn Place, people: &dyn Population, agent: &dyn Agent) -> (f64, f64) {
    let at = |level: usize| {
        let levels = vec![level as u32; people.levels().len()];
        follow_at(place, people, &levels, agent, Led::ByThePolicy, Until::TheEnd)
    };
    place
        .shares()
        .iter()
        .enumerate()
        .map(|(level, share)| (share, at(level)))
        .fold((0.0, 0.0), |sum, (share, found)| (sum.0 + share * found.value, sum.1 + share * found.fair))
}

/// Follows people as if these were their levels.
fn follow_at(
    place: &dyn Place,
    people: &dyn Population,
    levels: &[u32],
    agent: &dyn Agent,
    led: Led,
    until: Until,
) -> Followed {
    let n = levels.len();
    let block = |first: usize| {
        let who = first..(first + BLOCK).min(n);
        follow_block(place, people, &levels[who.clone()], agent, led, until, who)
    };
    let blocks: Vec<Tally> = (0..n).into_par_iter().step_by(BLOCK).map(block).collect();
    let sum = |of: &dyn Fn(&Tally) -> f64| blocks.iter().map(of).sum::<f64>();
    let largest = |of: &dyn Fn(&Tally) -> &[f64]| {
        (0..of(&blocks[0]).len()).map(|pair| sum(&|tally| of(tally)[pair])).fold(0.0, f64::max)
    };
    Followed {
        value: sum(&|tally| tally.value) / n as f64,
        fair: sum(&|tally| tally.fair) / n as f64,
        metric: largest(&|tally| &tally.differ) / sum(&|tally| tally.decisions),
        metric_at_first: largest(&|tally| &tally.differ_at_first) / n as f64,
        treated: sum(&|tally| tally.treated) / sum(&|tally| tally.first_level),
    }
}

fn follow_block(
    place: &dyn Place,
    people: &dyn Population,
    own: &[u32],
    agent: &dyn Agent,
    led: Led,
    until: Until,
    who: Range<usize>,
) -> Tally {
    let (p, m, shares) = (place.state_dim(), who.len(), place.shares());
    let levels = shares.len();
    let pairs: Vec<(usize, usize)> = (0..levels).flat_map(|a| (a + 1..levels).map(move |b| (a, b))).collect();
    let mut tally = Tally {
        value: 0.0,
        fair: 0.0,
        decisions: 0.0,
        differ: vec![0.0; pairs.len()],
        differ_at_first: vec![0.0; pairs.len()],
        first_level: 0.0,
        treated: 0.0,
    };
    let seen = |states: &[f64]| {
        let mut seen = states.to_vec();
        seen.chunks_exact_mut(p).for_each(|state| people.recorded(state));
        seen
    };
    let mut worlds: Vec<Vec<f64>> = vec![vec![0.0; m * p]; levels];
    for (level, states) in worlds.iter_mut().enumerate() {
        states.chunks_exact_mut(p).zip(who.clone()).for_each(|(state, i)| people.first(i, level, state));
    }
    let mut memories: Vec<_> = worlds
        .iter()
        .enumerate()
        .map(|(level, states)| agent.begin(&vec![level as u32; m], &seen(states), &people.coins()[who.clone()]))
        .collect();
    let mut there = vec![true; m];
    let mut chosen = vec![vec![0u32; m]; levels];
    let mut taken: Vec<Option<u32>> = vec![None; m];
    for t in 0..people.horizon() {
        for (memory, chosen) in memories.iter_mut().zip(&mut chosen) {
            agent.act(memory, &people.uniforms(t)[who.clone()], chosen);
        }
        for (j, i) in who.clone().enumerate() {
            if !there[j] {
                continue;
            }
            let level = own[j] as usize;
            for (pair, &(a, b)) in pairs.iter().enumerate() {
                let differ = f64::from(u8::from(chosen[a][j] != chosen[b][j]));
                tally.differ[pair] += differ;
                tally.differ_at_first[pair] += if t == 0 { differ } else { 0.0 };
            }
            tally.decisions += 1.0;
            if level == 0 {
                tally.first_level += 1.0;
                tally.treated += f64::from(u8::from(chosen[0][j] == 1));
            }
            let action = match led {
                Led::ByThePolicy => chosen[level][j],
                Led::AsRecorded => people.received(i, t, &worlds[level][j * p..(j + 1) * p], taken[j]),
            };
            taken[j] = Some(action);
            for (k, states) in worlds.iter_mut().enumerate() {
                let reward = people.step(i, k, t, action, &mut states[j * p..(j + 1) * p]);
                let weight = DISCOUNT.powi(t as i32);
                tally.value += if k == level { weight * reward } else { 0.0 };
                tally.fair += weight * shares[k] * reward;
            }
            there[j] = until == Until::TheEnd || !people.leaves(i, t, &worlds[level][j * p..(j + 1) * p]);
        }
        if t + 1 < people.horizon() {
            let actions: Vec<u32> =
                taken.iter().map(|action| action.expect("everybody has a first decision")).collect();
            for (memory, states) in memories.iter_mut().zip(&worlds) {
                agent.advance(memory, &actions, &seen(states));
            }
        }
    }
    tally
}
