//! Finite decision processes on which everything can be computed: Q*, Q^π, regret.
//!
//! In plain loops; `FiniteMdp` is derived from a world instead.

use crate::kernel::numeric::small;

/// A finite Markov decision process. Entries of (s, a) sit at `s * actions + a`.
#[derive(Debug, Clone)]
pub struct Tabular {
    pub states: usize,
    pub actions: usize,
    pub discount: f64,
    pub rewards: Vec<f64>,
    /// P(s′ | s, a), `states` numbers a pair.
    pub transitions: Vec<f64>,
}

impl Tabular {
    /// The first best action in every state.
    pub fn greedy(&self, q: &[f64]) -> Vec<usize> {
        q.chunks_exact(self.actions)
            .map(|row| (1..row.len()).fold(0, |best, a| if row[a] > row[best] { a } else { best }))
            .collect()
    }

    /// r + γ P v.
    pub fn backup(&self, value: &[f64]) -> Vec<f64> {
        let next = self.transitions.chunks_exact(self.states).map(|row| small::dot(row, value));
        self.rewards.iter().zip(next).map(|(r, v)| r + self.discount * v).collect()
    }

    /// V^π of a deterministic stationary rule, by one solve.
    pub fn value_of(&self, rule: &[usize]) -> Vec<f64> {
        let n = self.states;
        let mut matrix = vec![0.0; n * n];
        let mut right = vec![0.0; n];
        for s in 0..n {
            let pair = s * self.actions + rule[s];
            right[s] = self.rewards[pair];
            for next in 0..n {
                let diagonal = f64::from(u8::from(s == next));
                matrix[s * n + next] = diagonal - self.discount * self.transitions[pair * n + next];
            }
        }
        small::solve(&matrix, &right).expect("I − γP is invertible for γ < 1")
    }

    /// Q*, by policy iteration: exact up to the rounding of one solve.
    pub fn optimum(&self) -> Vec<f64> {
        let mut rule = vec![0; self.states];
        loop {
            let q = self.backup(&self.value_of(&rule));
            let mut improved = rule.clone();
            for (s, row) in q.chunks_exact(self.actions).enumerate() {
                for (a, &x) in row.iter().enumerate() {
                    // A rounding error is no improvement; without this two tied rules would alternate for ever.
                    if x > row[improved[s]] + super::search::EQUAL {
                        improved[s] = a;
                    }
                }
            }
            if improved == rule {
                return q;
            }
            rule = improved;
        }
    }
}

/// The whole process in numbers, every digit of them.
impl std::fmt::Display for Tabular {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { states, actions, discount, rewards, transitions } = self;
        write!(
            f,
            "{states} states, {actions} actions, γ = {discount}, r by (s, a) = {rewards:?}, P(s′|s, a) by (s, a, s′) = {transitions:?}"
        )
    }
}
