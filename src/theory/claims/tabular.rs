//! Finite decision processes on which everything can be computed: Q*, Q^π, regret.
//!
//! Drawn at random by the thousand, in plain loops whose digits are the same everywhere; `FiniteMdp` is derived from a world instead.

use crate::kernel::numeric::small;
use crate::kernel::numeric::{Stream, uniform_index};
use rand::{Rng, RngExt};

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
    /// Rewards on [−1, 1]; transitions that range from deterministic to spread out.
    pub fn random(states: usize, actions: usize, discount: f64, rng: &mut impl Rng) -> Self {
        let pairs = states * actions;
        let rewards = (0..pairs).map(|_| super::search::signed(rng)).collect();
        let mut transitions = Vec::with_capacity(pairs * states);
        for _ in 0..pairs {
            let sharp = rng.random::<f64>() < 0.4;
            let target = uniform_index(rng, states);
            let weights: Vec<f64> = (0..states).map(|_| rng.random::<f64>().powi(3) + 1e-3).collect();
            let total: f64 = weights.iter().sum();
            let spread = |s: usize| if sharp { f64::from(u8::from(s == target)) } else { weights[s] / total };
            transitions.extend((0..states).map(spread));
        }
        Self { states, actions, discount, rewards, transitions }
    }

    /// A process of the stream's own size and discount.
    pub fn drawn(stream: Stream) -> Self {
        let mut rng = stream.rng();
        let (states, actions) = (2 + uniform_index(&mut rng, 4), 2 + uniform_index(&mut rng, 2));
        let discount = super::search::between(&mut rng, 0.05, 0.95);
        Self::random(states, actions, discount, &mut rng)
    }

    /// max_a q(s, a).
    pub fn value(&self, q: &[f64]) -> Vec<f64> {
        q.chunks_exact(self.actions).map(|row| row.iter().copied().fold(f64::NEG_INFINITY, f64::max)).collect()
    }

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

    /// T q, the Bellman optimality operator.
    pub fn bellman(&self, q: &[f64]) -> Vec<f64> {
        self.backup(&self.value(q))
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

    /// max_s V*(s) − V^π(s); a difference within rounding of two solves is 0.
    pub fn regret(&self, rule: &[usize]) -> f64 {
        let best = self.value(&self.optimum());
        let regret = best.iter().zip(self.value_of(rule)).map(|(b, v)| b - v).fold(0.0, f64::max);
        if regret < super::search::EQUAL { 0.0 } else { regret }
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

/// ‖x − y‖∞.
pub fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()))
}
