//! Decision problems with finitely many states, solved exactly: the oracle beside everything that is fitted.

use crate::kernel::model::{Mechanism, World};
use crate::kernel::numeric::sequential::solve_square;
use crate::theory::FiniteWorld;
use faer::{Col, Mat};
use std::collections::HashMap;

/// A Markov decision process on states 0 … n − 1, with what each state means and where people start.
#[derive(Debug, Clone, PartialEq)]
pub struct FiniteMdp {
    actions: usize,
    /// What a policy reads in each state.
    points: Vec<Vec<f64>>,
    /// P(S₁ = s).
    initial: Vec<f64>,
    /// The successors of (s, a) and their probabilities, at `s * actions + a`.
    next: Vec<Vec<(usize, f64)>>,
    /// E(R | s, a), laid out as `next`.
    reward: Vec<f64>,
}

impl FiniteMdp {
    /// A process written down: P(S₁ = s), and for (s, a), at `s * actions + a`, the successors with their probabilities and E(R | s, a).
    /// What a policy reads is the number of the state.
    ///
    /// # Panics
    /// If there is not one list of successors and one reward for each state and action.
    pub fn listed(actions: usize, initial: Vec<f64>, next: Vec<Vec<(usize, f64)>>, reward: Vec<f64>) -> Self {
        let pairs = initial.len() * actions;
        assert_eq!((next.len(), reward.len()), (pairs, pairs), "one list of successors and one reward for each pair");
        let points = (0..initial.len()).map(|s| vec![s as f64]).collect();
        Self { actions, points, initial, next, reward }
    }

    /// The process as observed: states are (s, z), as [`Full`](crate::kernel::preprocess::Full) shows them. Its optimum is that of
    /// a policy free to use the level.
    pub fn observed(world: &FiniteWorld) -> Self {
        let reward_noise = mean_reward_noise(world);
        Builder::default().close(
            world.actions(),
            (0..world.levels()).flat_map(|z| {
                let (m, p) = (world.initial_mean(z)[0] as usize, world.level_probabilities()[z]);
                world.noise_law().map(move |(u, q)| (vec![m + u, z], p * q))
            }),
            |state, a| {
                let (s, z) = (state[0], state[1]);
                let mean = world.next_point(z, s, a);
                let next = world.noise_law().map(|(u, q)| (vec![mean + u, z], q)).collect();
                (next, world.mean_reward(z, s, a) + reward_noise)
            },
        )
    }

    /// The process of counterfactual states 𝕊 = [s¹, …, sᴷ], which share their noise, with rewards Σₖ P(Z = k) Rᵏ. Its
    /// optimum is the best fair value (`thm:sr_policy`).
    pub fn augmented(world: &FiniteWorld) -> Self {
        let (levels, reward_noise) = (world.levels(), mean_reward_noise(world));
        let start: Vec<usize> = (0..levels).map(|k| world.initial_mean(k)[0] as usize).collect();
        Builder::default().close(
            world.actions(),
            world.noise_law().map(|(u, q)| (start.iter().map(|m| m + u).collect(), q)),
            |state, a| {
                let mean: Vec<usize> = (0..levels).map(|k| world.next_point(k, state[k], a)).collect();
                let next = world.noise_law().map(|(u, q)| (mean.iter().map(|m| m + u).collect(), q)).collect();
                let rewards = (0..levels).map(|k| world.level_probabilities()[k] * world.mean_reward(k, state[k], a));
                (next, rewards.sum::<f64>() + reward_noise)
            },
        )
    }

    /// How many states can be reached.
    pub fn states(&self) -> usize {
        self.points.len()
    }

    /// |A|.
    pub fn actions(&self) -> usize {
        self.actions
    }

    /// What a policy reads in each state: rows for [`OneHot`](crate::kernel::learn::features::OneHot), for instance.
    pub fn points(&self) -> &[Vec<f64>] {
        &self.points
    }

    /// The successors of (s, a) and their probabilities, at `s * actions + a`.
    pub fn successors(&self) -> &[Vec<(usize, f64)>] {
        &self.next
    }

    /// E(R | s, a), at `s * actions + a`.
    pub fn rewards(&self) -> &[f64] {
        &self.reward
    }

    /// E V(S₁).
    pub fn initial_value(&self, values: &[f64]) -> f64 {
        self.initial.iter().zip(values).map(|(p, v)| p * v).sum()
    }

    /// Q(s, a) = E(R | s, a) + γ E(V(S′) | s, a), |A| numbers a state.
    pub fn action_values(&self, values: &[f64], discount: f64) -> Vec<f64> {
        let next = self.next.iter().map(|next| next.iter().map(|(s, p)| p * values[*s]).sum::<f64>());
        self.reward.iter().zip(next).map(|(r, next)| r + discount * next).collect()
    }

    /// V(s) = Σₐ π(a | s) Q(s, a).
    pub fn expectation(&self, policy: &[f64], action_values: &[f64]) -> Vec<f64> {
        let rows = policy.chunks_exact(self.actions).zip(action_values.chunks_exact(self.actions));
        rows.map(|(π, q)| π.iter().zip(q).map(|(π, q)| π * q).sum()).collect()
    }

    /// V over `horizon` decisions of a policy π(a | s), |A| numbers a state, by backward induction.
    pub fn values_over(&self, policy: &[f64], discount: f64, horizon: usize) -> Vec<f64> {
        (0..horizon).fold(vec![0.0; self.states()], |v, _| self.expectation(policy, &self.action_values(&v, discount)))
    }

    /// V of a policy π(a | s) for ever: the solution of V = R_π + γ P_π V by LU.
    ///
    /// # Panics
    /// If γ ∉ [0, 1) or there is not one probability for each state and action.
    pub fn values(&self, policy: &[f64], discount: f64) -> Vec<f64> {
        assert!((0.0..1.0).contains(&discount), "discount {discount} is outside [0, 1)");
        assert_eq!(policy.len(), self.reward.len(), "one probability for each state and action");
        let n = self.states();
        let mut matrix = Mat::<f64>::identity(n, n);
        for (cell, next) in self.next.iter().enumerate() {
            for (s, p) in next {
                matrix[(cell / self.actions, *s)] -= discount * policy[cell] * p;
            }
        }
        let rewards = self.expectation(policy, &self.reward);
        let solution = solve_square(matrix, Col::from_fn(n, |s| rewards[s]));
        crate::kernel::numeric::vector_state::clear_upper_vector_state();
        solution.iter().copied().collect()
    }

    /// T^B 0: Q after B sweeps of value iteration from zero, which fitted Q iteration on indicators performs.
    pub fn value_iteration(&self, discount: f64, sweeps: usize) -> Vec<f64> {
        let mut q = vec![0.0; self.reward.len()];
        for _ in 0..sweeps {
            let best: Vec<f64> =
                q.chunks_exact(self.actions).map(|q| q.iter().copied().fold(f64::MIN, f64::max)).collect();
            q = self.action_values(&best, discount);
        }
        q
    }

    /// Q*, by Howard's policy iteration: exact up to the rounding of one linear solve.
    pub fn optimum(&self, discount: f64) -> Vec<f64> {
        let mut policy = self.greedy(&self.reward);
        loop {
            let values = self.values(&policy, discount);
            let q = self.action_values(&values, discount);
            // An improvement must exceed what rounding can do, or two equally good actions would take turns for ever.
            let scale = q.iter().fold(1.0f64, |m, q| m.max(q.abs()));
            let slack = self.states() as f64 * crate::kernel::numeric::tolerance::EPSILON * scale / (1.0 - discount);
            let better = self.greedy(&q);
            let (old, new) = (self.expectation(&policy, &q), self.expectation(&better, &q));
            if old.iter().zip(&new).all(|(old, new)| new - old <= slack) {
                return q;
            }
            policy = better;
        }
    }

    /// The policy that takes the first best action, as probabilities.
    pub fn greedy(&self, action_values: &[f64]) -> Vec<f64> {
        let mut policy = vec![0.0; action_values.len()];
        for (q, π) in action_values.chunks_exact(self.actions).zip(policy.chunks_exact_mut(self.actions)) {
            let best = (1..q.len()).fold(0, |best, a| if q[a] > q[best] { a } else { best });
            π[best] = 1.0;
        }
        policy
    }
}

fn mean_reward_noise(world: &FiniteWorld) -> f64 {
    let law = &world.tables().reward_noise;
    let all: f64 = law.iter().map(|(_, count)| f64::from(*count)).sum();
    law.iter().map(|(value, count)| value * f64::from(*count)).sum::<f64>() / all
}

/// The states met so far, numbered in the order in which they were found.
#[derive(Default)]
struct Builder {
    number: HashMap<Vec<usize>, usize>,
    found: Vec<Vec<usize>>,
}

impl Builder {
    fn number(&mut self, state: Vec<usize>) -> usize {
        *self.number.entry(state).or_insert_with_key(|state| {
            self.found.push(state.clone());
            self.found.len() - 1
        })
    }

    /// Everything that can be reached from the initial law: breadth first, so that numbering does not depend on hashing.
    fn close(
        mut self,
        actions: usize,
        initial: impl Iterator<Item = (Vec<usize>, f64)>,
        step: impl Fn(&[usize], usize) -> (Vec<(Vec<usize>, f64)>, f64),
    ) -> FiniteMdp {
        let start: Vec<(usize, f64)> = initial.map(|(state, p)| (self.number(state), p)).collect();
        let (mut next, mut reward) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < self.found.len() {
            for a in 0..actions {
                let (successors, r) = step(&self.found[at], a);
                next.push(successors.into_iter().map(|(state, p)| (self.number(state), p)).collect());
                reward.push(r);
            }
            at += 1;
        }
        let mut initial = vec![0.0; self.found.len()];
        for (state, p) in start {
            initial[state] += p;
        }
        let points = self.found.iter().map(|state| state.iter().map(|&x| x as f64).collect()).collect();
        FiniteMdp { actions, points, initial, next, reward }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sweeps_of_value_iteration_by_hand() {
        // From state 0 action 0 stays for 1 and action 1 goes on for 0; from state 1 both go back, for 2 and 3.
        let next = [0, 1, 0, 0].map(|s| vec![(s, 1.0)]).to_vec();
        let mdp = FiniteMdp::listed(2, vec![0.4, 0.6], next, vec![1.0, 0.0, 2.0, 3.0]);
        let q = mdp.value_iteration(0.5, 2);
        // After one sweep the rewards; the best of them are 1 and 3.
        assert_eq!(q, [1.0 + 0.5, 0.5 * 3.0, 2.0 + 0.5, 3.0 + 0.5]);
        assert_eq!(mdp.value_iteration(0.5, 0), [0.0; 4]);
    }
}
