//! Finite structural worlds: everything about histories, counterfactuals and policies can be listed.
//!
//! Not a `FiniteWorld`, whose noise is added to numbers: here noise is any bijection at each (z, s, a), and statements are about lists of histories.

use super::tabular::Tabular;
use crate::kernel::numeric::{Stream, uniform_index};
use std::fmt;

/// A decision process with finitely many levels, states, noises and actions; S′ = step(z, s, a, u), one to one in u.
#[derive(Debug, Clone)]
pub struct Finite {
    pub levels: usize,
    pub states: usize,
    pub noises: usize,
    pub actions: usize,
    /// P(Z = z).
    pub level_law: Vec<f64>,
    /// P(U = u), the same at every time.
    pub noise_law: Vec<f64>,
    initial: Vec<usize>,
    step: Vec<usize>,
    reward: Vec<f64>,
}

/// What happened to a person apart from the level: u₁, then (a₁, u₂), (a₂, u₃), ….
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    pub first: usize,
    pub steps: Vec<(usize, usize)>,
}

/// A history as it is observed: the level, the states and the actions. Rewards are functions of these here.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct History {
    pub level: usize,
    pub states: Vec<usize>,
    pub actions: Vec<usize>,
}

impl Finite {
    /// A random world in which noise can be read off: for each (z, s, a) the noises lead to different states.
    ///
    /// Rewards and probabilities are eighths, so that a world can be written down and computed with by hand.
    pub fn random(levels: usize, states: usize, noises: usize, actions: usize, stream: Stream) -> Self {
        assert!(noises <= states, "different noises need different states");
        let mut rng = stream.rng();
        let mut distinct = |count: usize| -> Vec<usize> {
            let mut all: Vec<usize> = (0..states).collect();
            (0..count).map(|_| all.swap_remove(uniform_index(&mut rng, all.len()))).collect()
        };
        let initial = (0..levels).flat_map(|_| distinct(noises)).collect();
        let step = (0..levels * states * actions).flat_map(|_| distinct(noises)).collect();
        let reward = (0..levels * states * actions).map(|_| (uniform_index(&mut rng, 17) as f64 - 8.0) / 8.0).collect();
        let mut law = |count: usize| -> Vec<f64> {
            let mut eighths = vec![1.0; count];
            (count..8).for_each(|_| eighths[uniform_index(&mut rng, count)] += 1.0);
            eighths.iter().map(|k| k / 8.0).collect()
        };
        let (level_law, noise_law) = (law(levels), law(noises));
        Self { levels, states, noises, actions, level_law, noise_law, initial, step, reward }
    }

    /// S₁ at level z.
    pub fn start(&self, z: usize, u: usize) -> usize {
        self.initial[z * self.noises + u]
    }

    /// S′ at level z.
    pub fn next(&self, z: usize, s: usize, a: usize, u: usize) -> usize {
        self.step[((z * self.states + s) * self.actions + a) * self.noises + u]
    }

    /// R at level z.
    pub fn reward(&self, z: usize, s: usize, a: usize) -> f64 {
        self.reward[(z * self.states + s) * self.actions + a]
    }

    /// Forgets the difference between two noises: the world in which `asm:unique` fails.
    pub fn without_unique_noise(mut self) -> Self {
        for row in self.step.chunks_exact_mut(self.noises) {
            row[1] = row[0];
        }
        self
    }

    /// Two levels that mirror each other: S₁ = z ⊕ u, S′ = s ⊕ a ⊕ u, R = (1 + z)·1{a = s ⊕ z}, P(Z = 1) = ¾, fair noise.
    ///
    /// The smallest world with everything in it: s ⊕ z is the same in both worlds, the unlabelled set {S⁰, S¹} is always {0, 1},
    /// past actions matter, and the best fair policy, a = s ⊕ z, is paid ¼·1 + ¾·2 = 1.75 a step.
    pub fn mirror() -> Self {
        let (levels, states, noises, actions) = (2, 2, 2, 2);
        Self {
            levels,
            states,
            noises,
            actions,
            level_law: vec![0.25, 0.75],
            noise_law: vec![0.5; 2],
            initial: (0..4).map(|k| (k >> 1) ^ (k & 1)).collect(),
            step: (0..16).map(|k: usize| (k >> 2 & 1) ^ (k >> 1 & 1) ^ (k & 1)).collect(),
            reward: (0..8)
                .map(|k: usize| if k & 1 == (k >> 1 & 1) ^ (k >> 2) { 1.0 + (k >> 2) as f64 } else { 0.0 })
                .collect(),
        }
    }

    /// Two levels that want the opposite: S = u at all times, R = 1{a = z}, P(Z = 1) = ¾, fair noise.
    ///
    /// The best fair policy plays a = 1 and is paid ¾ a step; with weights that favour level 0 one would play a = 0 and be paid ¼.
    pub fn opposed() -> Self {
        Self {
            initial: vec![0, 1, 0, 1],
            step: [0, 1].repeat(8),
            reward: (0..8).map(|k: usize| f64::from(u8::from(k & 1 == k >> 2))).collect(),
            ..Self::mirror()
        }
    }

    /// Every path with t − 1 decisions.
    pub fn paths(&self, decisions: usize) -> Vec<Path> {
        let mut paths: Vec<Path> = (0..self.noises).map(|first| Path { first, steps: vec![] }).collect();
        for _ in 0..decisions {
            paths = paths
                .into_iter()
                .flat_map(|path| {
                    (0..self.actions * self.noises).map(move |k| {
                        let mut longer = path.clone();
                        longer.steps.push((k / self.noises, k % self.noises));
                        longer
                    })
                })
                .collect();
        }
        paths
    }

    /// The history that a path makes at level z.
    pub fn observe(&self, z: usize, path: &Path) -> History {
        let mut states = vec![self.start(z, path.first)];
        for &(a, u) in &path.steps {
            states.push(self.next(z, states[states.len() - 1], a, u));
        }
        History { level: z, states, actions: path.steps.iter().map(|step| step.0).collect() }
    }

    /// Pearl's first step, from what is observed alone: the first noise that explains each state.
    pub fn abduct(&self, history: &History) -> Option<Path> {
        let z = history.level;
        let first = (0..self.noises).find(|&u| self.start(z, u) == history.states[0])?;
        let steps = history.actions.iter().enumerate().map(|(t, &a)| {
            let u = (0..self.noises).find(|&u| self.next(z, history.states[t], a, u) == history.states[t + 1])?;
            Some((a, u))
        });
        Some(Path { first, steps: steps.collect::<Option<_>>()? })
    }

    /// The history the same person would have at another level.
    pub fn counterfactual(&self, history: &History, level: usize) -> Option<History> {
        Some(self.observe(level, &self.abduct(history)?))
    }

    /// The labelled augmented history: states and rewards of every level, and the actions.
    pub fn augment(&self, history: &History) -> Option<(Vec<Vec<usize>>, Vec<usize>)> {
        let path = self.abduct(history)?;
        Some(((0..self.levels).map(|k| self.observe(k, &path).states).collect(), history.actions.clone()))
    }

    /// Σ_z P(z) R at level z, at the end of a path, for one more action.
    pub fn mean_reward(&self, path: &Path, action: usize, weights: &[f64]) -> f64 {
        let at = |z: usize| *self.observe(z, path).states.last().expect("a first state");
        (0..self.levels).map(|z| weights[z] * self.reward(z, at(z), action)).sum()
    }

    /// The best Σ γ^{t−1} E R over T decisions by any fair policy: a choice of action for every path, by listing them.
    pub fn best_fair(&self, horizon: usize, discount: f64) -> f64 {
        let start = |u: usize| Path { first: u, steps: vec![] };
        (0..self.noises).map(|u| self.noise_law[u] * self.best_from(&start(u), horizon, discount)).sum()
    }

    fn best_from(&self, path: &Path, left: usize, discount: f64) -> f64 {
        if left == 0 {
            return 0.0;
        }
        (0..self.actions).map(|a| self.worth(path, a, left, discount)).fold(f64::NEG_INFINITY, f64::max)
    }

    fn worth(&self, path: &Path, action: usize, left: usize, discount: f64) -> f64 {
        let mut worth = self.mean_reward(path, action, &self.level_law);
        if left > 1 {
            let mut longer = path.clone();
            longer.steps.push((action, 0));
            for (u, p) in self.noise_law.iter().enumerate() {
                longer.steps.last_mut().expect("just pushed").1 = u;
                worth += discount * p * self.best_from(&longer, left - 1, discount);
            }
        }
        worth
    }

    /// The action an optimal fair policy takes at the end of a path.
    pub fn best_action(&self, path: &Path, left: usize, discount: f64) -> usize {
        let worth: Vec<f64> = (0..self.actions).map(|a| self.worth(path, a, left, discount)).collect();
        (1..self.actions).fold(0, |best, a| if worth[a] > worth[best] { a } else { best })
    }

    /// E Σ γ^{t−1} R over T decisions of a rule on observed histories, by listing levels and noises in the original process.
    pub fn value_of(&self, horizon: usize, discount: f64, rule: &dyn Fn(&History) -> usize) -> f64 {
        let mut total = 0.0;
        for z in 0..self.levels {
            for code in 0..self.noises.pow(horizon as u32) {
                let noise = |t: usize| code / self.noises.pow(t as u32) % self.noises;
                let mut history = History { level: z, states: vec![self.start(z, noise(0))], actions: vec![] };
                let (mut p, mut sum) = (self.level_law[z], 0.0);
                for t in 0..horizon {
                    p *= self.noise_law[noise(t)];
                    let s = *history.states.last().expect("a state");
                    let a = rule(&history);
                    sum += discount.powi(t as i32) * self.reward(z, s, a);
                    history.actions.push(a);
                    if t + 1 < horizon {
                        history.states.push(self.next(z, s, a, noise(t + 1)));
                    }
                }
                total += p * sum;
            }
        }
        total
    }

    /// The augmented process: states are the tuples (s¹, …, sᴷ) that can occur together, rewards are weighted over levels.
    ///
    /// Returns it with the law of its first state and the tuples in order.
    pub fn augmented(&self, discount: f64, weights: &[f64]) -> (Tabular, Vec<f64>, Vec<Vec<usize>>) {
        let mut tuples: Vec<Vec<usize>> = Vec::new();
        let index = |tuple: Vec<usize>, tuples: &mut Vec<Vec<usize>>| {
            tuples.iter().position(|t| *t == tuple).unwrap_or_else(|| {
                tuples.push(tuple);
                tuples.len() - 1
            })
        };
        let first: Vec<usize> = (0..self.noises)
            .map(|u| index((0..self.levels).map(|z| self.start(z, u)).collect(), &mut tuples))
            .collect();
        let (mut moves, mut rewards, mut done) = (Vec::new(), Vec::new(), 0);
        while done < tuples.len() {
            let tuple = tuples[done].clone();
            for a in 0..self.actions {
                rewards.push((0..self.levels).map(|z| weights[z] * self.reward(z, tuple[z], a)).sum());
                for u in 0..self.noises {
                    let next = (0..self.levels).map(|z| self.next(z, tuple[z], a, u)).collect();
                    moves.push(index(next, &mut tuples));
                }
            }
            done += 1;
        }
        let states = tuples.len();
        let mut transitions = vec![0.0; states * self.actions * states];
        for (k, &next) in moves.iter().enumerate() {
            transitions[k / self.noises * states + next] += self.noise_law[k % self.noises];
        }
        let mut law = vec![0.0; states];
        for (u, &s) in first.iter().enumerate() {
            law[s] += self.noise_law[u];
        }
        (Tabular { states, actions: self.actions, discount, rewards, transitions }, law, tuples)
    }
}

/// The whole world in numbers: by level, rows of states, in them actions, in them noises.
impl fmt::Display for Finite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (levels, states, noises, actions) = (0..self.levels, 0..self.states, 0..self.noises, 0..self.actions);
        let start: Vec<Vec<usize>> =
            levels.clone().map(|z| noises.clone().map(|u| self.start(z, u)).collect()).collect();
        let by_pair = |z: usize| states.clone().flat_map(move |s| (0..self.actions).map(move |a| (z, s, a)));
        let moves: Vec<Vec<Vec<usize>>> = levels
            .clone()
            .map(|z| by_pair(z).map(|(z, s, a)| noises.clone().map(|u| self.next(z, s, a, u)).collect()).collect())
            .collect();
        let rewards: Vec<Vec<f64>> =
            levels.map(|z| by_pair(z).map(|(z, s, a)| self.reward(z, s, a)).collect()).collect();
        write!(
            f,
            "P(Z) = {:?}, P(U) = {:?}, S₁[z][u] = {start:?}, S′[z][(s,a) = (0,0), (0,1), …][u] = {moves:?}, R[z][(s,a)] = {rewards:?} with {} actions",
            self.level_law,
            self.noise_law,
            actions.len()
        )
    }
}
