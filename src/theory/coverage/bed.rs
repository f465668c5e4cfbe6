//! Worlds in which the truth is known, with what records of real people have: spreads that differ by level, habits, people who leave.

use crate::kernel::learn::Agent;
use crate::kernel::model::Exogenous;
use crate::kernel::model::worlds::{Linear, Nonlinear, ThreeLevels, World, draw_action};
use crate::kernel::numeric::{Estimate, Stream, fill_uniform};
use crate::kernel::people::{Labels, Panel, PanelBuilder, Person};
use crate::theory::finite_world::{FiniteWorld, Tables};

/// A world and how people in it are recorded.
pub struct Bed {
    /// Its name in tables.
    pub name: &'static str,
    /// Means, noise and the behaviour policy.
    pub world: Box<dyn World>,
    /// The factor on state noise at each level.
    pub spread: Vec<f64>,
    /// Log-odds that are added to the previous action: 0 for behaviour that forgets.
    pub habit: f64,
    /// How people leave; `None` when all stay.
    pub leaving: Option<Leaving>,
    /// An action that is never taken at a level.
    pub withheld: Option<(usize, u32)>,
    /// What is added to the reward of action 1 at each further decision: 0 in a world that stays as it is.
    pub drift: f64,
}

/// logit P(leave after a decision) = constant + state · s′₁ + level · z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leaving {
    /// Log-odds at state and level 0.
    pub constant: f64,
    /// Per unit of the first coordinate of the state a decision led to.
    pub state: f64,
    /// Per level code.
    pub level: f64,
}

impl Bed {
    fn plain(name: &'static str, world: Box<dyn World>) -> Self {
        let spread = vec![1.0; world.levels()];
        Self { name, world, spread, habit: 0.0, leaving: None, withheld: None, drift: 0.0 }
    }

    /// The paper's linear world at δ = 1.
    pub fn linear() -> Self {
        Self::plain("linear", Box::new(Linear::new(1.0)))
    }

    /// The paper's non-linear world at δ = 1.
    pub fn nonlinear() -> Self {
        Self::plain("nonlinear", Box::new(Nonlinear::new(1.0)))
    }

    /// Three levels, two coordinates, three actions.
    pub fn three_levels() -> Self {
        Self::plain("three-levels", Box::new(ThreeLevels::new(0.7)))
    }

    /// Linear means, noise of standard deviation 0.6 and 1.2.
    pub fn spread() -> Self {
        Self { spread: vec![0.6, 1.2], ..Self::plain("spread", Box::new(Linear::new(1.0))) }
    }

    /// The linear world, where about four in ten people leave within eight decisions, who depends on state and level.
    pub fn dropout() -> Self {
        let leaving = Some(Leaving { constant: -3.0, state: -0.7, level: 0.5 });
        Self { leaving, ..Self::plain("dropout", Box::new(Linear::new(1.0))) }
    }

    /// Four states, two unequal levels, behaviour that tends to repeat itself.
    pub fn finite() -> Self {
        let tables = Tables {
            points: 4,
            actions: 2,
            levels: vec![3, 2],
            noise: vec![5, 3],
            reward_noise: vec![(-0.5, 1), (0.5, 1)],
            initial: vec![0, 1],
            // By level, state and action.
            next: vec![0, 1, 0, 2, 1, 2, 1, 2, 0, 2, 1, 1, 1, 2, 2, 2],
            reward: vec![0.2, -0.3, 0.4, 0.1, 0.5, 0.9, 0.3, 1.2, -0.1, 0.3, 0.6, -0.2, 0.4, 0.8, 0.9, 0.2],
            behaviour: vec![7, 3, 6, 4, 5, 5, 4, 6, 5, 5, 4, 6, 6, 4, 3, 7],
        };
        let world = FiniteWorld::new(tables).expect("tables that fit");
        Self { habit: 1.2, ..Self::plain("finite", Box::new(world)) }
    }

    /// Control: action 1 is never taken at level 0, so nothing is known of it there.
    pub fn withheld() -> Self {
        Self { withheld: Some((0, 1)), ..Self::plain("control: withheld", Box::new(Linear::new(1.0))) }
    }

    /// Control: action 1 pays more at each further decision, so that decisions are not alike at all times.
    pub fn drifting() -> Self {
        Self { drift: 0.4, ..Self::plain("control: drifting", Box::new(Linear::new(1.0))) }
    }

    /// The behaviour of a person who did `before` last.
    fn behaviour(&self, level: usize, state: &[f64], before: Option<u32>, out: &mut [f64]) {
        self.world.behaviour(level, state, out);
        if let Some(before) = before {
            out[before as usize] *= self.habit.exp();
        }
        if let Some((_, action)) = self.withheld.filter(|(at, _)| *at == level) {
            out[action as usize] = 0.0;
        }
        let sum: f64 = out.iter().sum();
        out.iter_mut().for_each(|p| *p /= sum);
    }

    /// What people's records look like: T + 1 states and T decisions each, fewer for those who leave.
    pub fn panel(&self, people: usize, horizon: usize, stream: Stream) -> Panel {
        self.record(people, horizon, stream, self.leaving)
    }

    /// The same people, of whom nobody leaves.
    pub fn complete_panel(&self, people: usize, horizon: usize, stream: Stream) -> Panel {
        self.record(people, horizon, stream, None)
    }

    fn record(&self, people: usize, horizon: usize, stream: Stream, leaving: Option<Leaving>) -> Panel {
        let (world, p) = (&*self.world, self.world.state_dim());
        let exogenous = Exogenous::draw(world, people, horizon, stream);
        let mut staying = vec![0.0; people * horizon];
        fill_uniform(&mut stream.named("staying").rng(), &mut staying);
        let (levels, actions) = (Labels::numbered(world.levels()), Labels::numbered(world.actions()));
        let mut builder = PanelBuilder::new(levels, actions, p).expect("a world has levels, actions and states");
        let mut odds = vec![0.0; world.actions()];
        let mut next = vec![0.0; p];
        for i in 0..people {
            let level = exogenous.levels()[i] as usize;
            let noise = |t: usize, j: usize| self.spread[level] * exogenous.states(t)[i * p + j];
            let mut states: Vec<f64> = (0..p).map(|j| world.initial_mean(level)[j] + noise(0, j)).collect();
            let (mut actions, mut rewards): (Vec<u32>, Vec<f64>) = (vec![], vec![]);
            for t in 0..horizon {
                let state = &states[t * p..];
                self.behaviour(level, state, actions.last().copied(), &mut odds);
                let action = draw_action(&odds, exogenous.uniforms(t)[i]);
                let mut reward = [0.0];
                world.mean(level, state, &[action], &mut next, &mut reward);
                actions.push(action);
                rewards.push(reward[0] + exogenous.rewards(t)[i] + self.drift_at(t, action));
                states.extend((0..p).map(|j| next[j] + noise(t + 1, j)));
                let gone = leaving.is_some_and(|leave| {
                    let score = leave.constant + leave.state * states[(t + 1) * p] + leave.level * level as f64;
                    staying[i * horizon + t] < 1.0 / (1.0 + (-score).exp())
                });
                if gone {
                    break;
                }
            }
            let id = format!("{:06}", i + 1);
            let person = Person { id: &id, level: level as u32, states: &states, actions: &actions, rewards: &rewards };
            builder.push(person).expect("a world that stays finite");
        }
        builder.finish()
    }

    fn drift_at(&self, t: usize, action: u32) -> f64 {
        if action == 1 { self.drift * t as f64 } else { 0.0 }
    }

    /// The value of an agent over `horizon` decisions, by following it with people who do not leave; mean rewards, which have less noise.
    pub fn truth(&self, agent: &dyn Agent, people: usize, horizon: usize, discount: f64, stream: Stream) -> Estimate {
        let (world, p) = (&*self.world, self.world.state_dim());
        let mut returns = Vec::with_capacity(people);
        // Blocks keep the memories of an agent in cache.
        for (block, first) in (0..people).step_by(BLOCK).enumerate() {
            let n = BLOCK.min(people - first);
            let exogenous = Exogenous::draw(world, n, horizon, stream.index(block as u64));
            let levels = exogenous.levels();
            let noise = |t: usize, i: usize, j: usize| self.spread[levels[i] as usize] * exogenous.states(t)[i * p + j];
            let mut states: Vec<f64> = (0..n * p)
                .map(|at| world.initial_mean(levels[at / p] as usize)[at % p] + noise(0, at / p, at % p))
                .collect();
            let mut memory = agent.begin(levels, &states, exogenous.coins());
            let (mut actions, mut sums, mut next, mut reward) = (vec![0; n], vec![0.0; n], vec![0.0; p], [0.0]);
            for t in 0..horizon {
                agent.act(&mut memory, exogenous.uniforms(t), &mut actions);
                for i in 0..n {
                    let state = &mut states[i * p..(i + 1) * p];
                    world.mean(levels[i] as usize, state, &actions[i..=i], &mut next, &mut reward);
                    sums[i] += discount.powi(t as i32) * (reward[0] + self.drift_at(t, actions[i]));
                    state.iter_mut().enumerate().for_each(|(j, s)| *s = next[j] + noise(t + 1, i, j));
                }
                agent.advance(&mut memory, &actions, &states);
            }
            returns.extend(sums);
        }
        Estimate::of(&returns)
    }

    /// What people receive on average over `horizon` decisions when nobody leaves.
    pub fn received(&self, people: usize, horizon: usize, discount: f64, stream: Stream) -> Estimate {
        let blocks = (0..people.div_ceil(BLOCK) as u64).flat_map(|block| {
            let panel = self.complete_panel(BLOCK, horizon, stream.index(block));
            let returns = panel.iter().map(|who| who.rewards.iter().rev().fold(0.0, |later, r| r + discount * later));
            returns.collect::<Vec<f64>>()
        });
        Estimate::of(&blocks.collect::<Vec<f64>>())
    }
}

/// People followed at a time.
const BLOCK: usize = 2000;
