//! Worlds small enough to list everybody who could live in them, and rules to try there: any rule at all, not only greedy ones.

use super::search::between;
use crate::kernel::learn::features::Polynomial;
use crate::kernel::learn::{Agent, Deployed, Greedy, LinearQ, Policy};
use crate::kernel::model::{Mechanism, World};
use crate::kernel::numeric::{Stream, uniform_index};
use crate::kernel::preprocess::{Full, Sequential, Unaware, View};
use crate::theory::FiniteWorld;
use crate::theory::finite_world::Tables;

/// The first can be followed by hand; the others are random, with two or three levels.
pub fn world(i: u64) -> FiniteWorld {
    if i == 0 {
        return by_hand();
    }
    random_world([2, 3][i as usize % 2], Stream::new(200).named("world").index(i))
}

/// Two levels, S₁ = z + U, S′ = (s + a + z mod 2) + U, R = (1 + z)·1{a = s + z mod 2}, fair noise, P(Z = 1) = ¾.
pub fn by_hand() -> FiniteWorld {
    let cells = || (0..2u32).flat_map(|z| (0..3u32).flat_map(move |s| (0..2u32).map(move |a| (z, s, a))));
    made(Tables {
        points: 3,
        actions: 2,
        levels: vec![1, 3],
        noise: vec![1, 1],
        reward_noise: vec![(0.0, 1)],
        initial: vec![0, 1],
        next: cells().map(|(z, s, a)| (s + a + z) % 2).collect(),
        reward: cells().map(|(z, s, a)| if a == (s + z) % 2 { f64::from(1 + z) } else { 0.0 }).collect(),
        behaviour: cells().map(|(z, _, a)| if a == z { 3 } else { 1 }).collect(),
    })
}

/// Means, rewards (in eighths, |R| ≤ 1) and laws at random; two actions, noise on {0, 1}, behaviour in quarters.
pub fn random_world(levels: usize, stream: Stream) -> FiniteWorld {
    let mut rng = stream.rng();
    let mut whole = |least: u32, most: u32| least + uniform_index(&mut rng, (most - least + 1) as usize) as u32;
    let (points, actions) = (4, 2);
    let rows = levels * points;
    made(Tables {
        points,
        actions,
        levels: (0..levels).map(|_| whole(1, 2)).collect(),
        noise: vec![whole(1, 2), 1],
        reward_noise: vec![(-0.5, 1), (0.5, 1)],
        initial: (0..levels).map(|_| whole(0, 2)).collect(),
        next: (0..rows * actions).map(|_| whole(0, 2)).collect(),
        reward: (0..rows * actions).map(|_| (f64::from(whole(0, 16)) - 8.0) / 8.0).collect(),
        behaviour: (0..rows).map(|_| whole(1, 3)).flat_map(|n| [n, 4 - n]).collect(),
    })
}

/// The same world with some of its tables changed.
pub fn changed(world: &FiniteWorld, change: impl FnOnce(&mut Tables)) -> FiniteWorld {
    let mut tables = world.tables().clone();
    change(&mut tables);
    made(tables)
}

pub fn made(tables: Tables) -> FiniteWorld {
    FiniteWorld::new(tables).expect("tables that fit")
}

/// The tables in words, for a witness that can be recomputed by hand.
pub fn told(world: &FiniteWorld) -> String {
    format!("{:?}", world.tables())
}

/// One of all rules there are on the numbers it reads: what it does at each row of numbers is drawn once, from the stream and the row.
#[derive(Debug, Clone, Copy)]
pub struct AnyRule {
    /// |A|.
    pub actions: usize,
    /// Whether it takes one action for certain; else the probabilities are eighths.
    pub certain: bool,
    /// Which rule it is.
    pub stream: Stream,
}

impl AnyRule {
    fn at(&self, row: &[f64], out: &mut [f64]) {
        // Numbers that agree to 1e-9 are the same number: worlds that are not whole numbers carry rounding.
        let place = row.iter().fold(self.stream, |stream, x| stream.index((x * 1e9).round() as i64 as u64));
        let mut rng = place.rng();
        let draws = if self.certain { 1 } else { 8 };
        out.fill(0.0);
        (0..draws).for_each(|_| out[uniform_index(&mut rng, self.actions)] += 1.0 / f64::from(draws));
    }
}

impl<V: View> Policy<V> for AnyRule {
    fn actions(&self) -> usize {
        self.actions
    }
    fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]) {
        rows.chunks_exact(width).zip(out.chunks_exact_mut(self.actions)).for_each(|(row, out)| self.at(row, out));
    }
    fn is_deterministic(&self) -> bool {
        self.certain
    }
}

/// What a rule reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reads {
    /// The states of all levels, as alg:cf:1 makes them with the true means.
    Worlds,
    /// The same with all means of level z off by this number times z.
    WrongWorlds(f64),
    /// The state: Unaware.
    State,
    /// The state and the level: Full.
    StateAndLevel,
}

impl Reads {
    /// The rule, reading this, in a world.
    pub fn deployed(self, world: &FiniteWorld, rule: AnyRule) -> Box<dyn Agent> {
        let weights = world.level_probabilities().to_vec();
        match self {
            Self::Worlds => Box::new(Deployed::new(Sequential::new(world.clone(), weights), rule)),
            Self::WrongWorlds(by) => {
                Box::new(Deployed::new(Sequential::new(Moved::by_level(world.clone(), by), weights), rule))
            }
            Self::State => Box::new(Deployed::new(Unaware { state_dim: 1 }, rule)),
            Self::StateAndLevel => Box::new(Deployed::new(Full { state_dim: 1 }, rule)),
        }
    }
}

/// A mechanism whose means are all moved by a number of their level: wrong means.
#[derive(Debug, Clone)]
pub struct Moved<M> {
    mechanism: M,
    by: Vec<f64>,
    initial: Vec<Vec<f64>>,
}

impl<M: Mechanism> Moved<M> {
    /// All means of level k moved by `by[k]`.
    pub fn new(mechanism: M, by: Vec<f64>) -> Self {
        let initial =
            by.iter().enumerate().map(|(k, by)| mechanism.initial_mean(k).iter().map(|m| m + by).collect()).collect();
        Self { mechanism, by, initial }
    }

    /// All means of level k moved by k times `by`.
    pub fn by_level(mechanism: M, by: f64) -> Self {
        let levels = mechanism.levels();
        Self::new(mechanism, (0..levels).map(|k| k as f64 * by).collect())
    }
}

impl<M: Mechanism> Mechanism for Moved<M> {
    fn state_dim(&self) -> usize {
        self.mechanism.state_dim()
    }
    fn levels(&self) -> usize {
        self.mechanism.levels()
    }
    fn actions(&self) -> usize {
        self.mechanism.actions()
    }
    fn initial_mean(&self, level: usize) -> &[f64] {
        &self.initial[level]
    }
    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        self.mechanism.mean(level, states, actions, next, rewards);
        next.iter_mut().chain(rewards).for_each(|x| *x += self.by[level]);
    }
    fn noise(&self) -> Option<&dyn crate::kernel::model::NoiseLaw> {
        self.mechanism.noise()
    }
}

/// The greedy rule of two action values that are linear in (1, what is read): the weights of action 0, then those of action 1.
pub fn linear_rule<V: View>(weights: Vec<f64>) -> Greedy<LinearQ<V, Polynomial>> {
    let features = Polynomial::new(weights.len() / 2 - 1, 1).expect("few inputs, degree one");
    Greedy(LinearQ::new(features, 2, weights))
}

/// A greedy rule on this many numbers, with weights at random.
pub fn greedy_rule<V: View>(inputs: usize, actions: usize, stream: Stream) -> Greedy<LinearQ<V, Polynomial>> {
    let features = Polynomial::new(inputs, 1).expect("few inputs, degree one");
    Greedy(LinearQ::new(features, actions, numbers((inputs + 1) * actions, stream)))
}

/// Some numbers in [−1, 1).
pub fn numbers(count: usize, stream: Stream) -> Vec<f64> {
    let mut rng = stream.rng();
    (0..count).map(|_| between(&mut rng, -1.0, 1.0)).collect()
}
