//! Mixtures of two agents: the paper's weighted combination of Full and Ours, in its two readings.

use crate::kernel::learn::{Agent, AgentMemory};
use crate::kernel::model::worlds::draw_action;
use std::sync::Arc;

/// One coin an episode: with probability w a person is treated by `second` throughout, otherwise by `first`.
///
/// Its value is exactly (1 − w) J(first) + w J(second).
#[derive(Clone)]
pub struct EpisodeMixture {
    /// The agent of the people whose coin is at least w.
    pub first: Arc<dyn Agent>,
    /// The agent of the people whose coin is below w.
    pub second: Arc<dyn Agent>,
    /// w.
    pub weight: f64,
}

/// One coin a decision: π = (1 − w) π_first + w π_second at every step. Its value is not linear in w.
#[derive(Clone)]
pub struct StepMixture {
    /// The agent with weight 1 − w.
    pub first: Arc<dyn Agent>,
    /// The agent with weight w.
    pub second: Arc<dyn Agent>,
    /// w.
    pub weight: f64,
}

fn advance_both(first: &dyn Agent, second: &dyn Agent, memory: &mut AgentMemory, actions: &[u32], states: &[f64]) {
    first.advance(&mut memory.inner[0], actions, states);
    second.advance(&mut memory.inner[1], actions, states);
}

/// The probabilities of both agents.
fn probabilities_of_both(first: &dyn Agent, second: &dyn Agent, memory: &mut AgentMemory, out: &mut [f64]) -> Vec<f64> {
    let mut other = vec![0.0; out.len()];
    first.probabilities(&mut memory.inner[0], out);
    second.probabilities(&mut memory.inner[1], &mut other);
    other
}

impl Agent for EpisodeMixture {
    fn actions(&self) -> usize {
        self.first.actions()
    }

    fn begin(&self, levels: &[u32], states: &[f64], coins: &[f64]) -> AgentMemory {
        // Given which side it fell on, a coin is still uniform once stretched back to [0, 1). Handed on as it is, it would tie the
        // choices of a mixture inside this one to the choice made here: of three agents at ½ and ½ one would never be played.
        let w = self.weight;
        let of_first: Vec<f64> = coins.iter().map(|coin| ((coin - w) / (1.0 - w)).max(0.0)).collect();
        let of_second: Vec<f64> = coins.iter().map(|coin| coin / w).collect();
        let both = vec![self.first.begin(levels, states, &of_first), self.second.begin(levels, states, &of_second)];
        AgentMemory { coins: coins.to_vec(), inner: both, ..AgentMemory::default() }
    }

    fn advance(&self, memory: &mut AgentMemory, actions: &[u32], states: &[f64]) {
        advance_both(&*self.first, &*self.second, memory, actions, states);
    }

    fn probabilities(&self, memory: &mut AgentMemory, out: &mut [f64]) {
        let other = probabilities_of_both(&*self.first, &*self.second, memory, out);
        let k = self.actions();
        for ((row, other), &coin) in out.chunks_exact_mut(k).zip(other.chunks_exact(k)).zip(&memory.coins) {
            if coin < self.weight {
                row.copy_from_slice(other);
            }
        }
    }

    fn act(&self, memory: &mut AgentMemory, uniforms: &[f64], out: &mut [u32]) {
        let mut other = vec![0; out.len()];
        self.first.act(&mut memory.inner[0], uniforms, out);
        self.second.act(&mut memory.inner[1], uniforms, &mut other);
        for ((action, other), &coin) in out.iter_mut().zip(other).zip(&memory.coins) {
            if coin < self.weight {
                *action = other;
            }
        }
    }

    fn is_deterministic(&self) -> bool {
        self.first.is_deterministic() && self.second.is_deterministic()
    }
}

impl Agent for StepMixture {
    fn actions(&self) -> usize {
        self.first.actions()
    }

    fn begin(&self, levels: &[u32], states: &[f64], coins: &[f64]) -> AgentMemory {
        let both = vec![self.first.begin(levels, states, coins), self.second.begin(levels, states, coins)];
        AgentMemory { coins: coins.to_vec(), inner: both, ..AgentMemory::default() }
    }

    fn advance(&self, memory: &mut AgentMemory, actions: &[u32], states: &[f64]) {
        advance_both(&*self.first, &*self.second, memory, actions, states);
    }

    fn probabilities(&self, memory: &mut AgentMemory, out: &mut [f64]) {
        let other = probabilities_of_both(&*self.first, &*self.second, memory, out);
        for (p, q) in out.iter_mut().zip(other) {
            *p = (1.0 - self.weight) * *p + self.weight * q;
        }
    }

    fn act(&self, memory: &mut AgentMemory, uniforms: &[f64], out: &mut [u32]) {
        let k = self.actions();
        let mut probabilities = vec![0.0; out.len() * k];
        self.probabilities(memory, &mut probabilities);
        for ((action, row), &uniform) in out.iter_mut().zip(probabilities.chunks_exact(k)).zip(uniforms) {
            *action = draw_action(row, uniform);
        }
    }

    fn is_deterministic(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::learn::{Deployed, Policy};
    use crate::kernel::preprocess::{StateOnly, Unaware};

    /// Three actions: a tenth of each coordinate of the state in this order, and what is left.
    struct Tenths([usize; 2]);

    impl Policy<StateOnly> for Tenths {
        fn actions(&self) -> usize {
            3
        }
        fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]) {
            for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(3)) {
                let [a, b] = self.0.map(|j| row[j] / 10.0);
                out.copy_from_slice(&[a, b, 1.0 - a - b]);
            }
        }
        fn is_deterministic(&self) -> bool {
            false
        }
    }

    fn agents() -> [Arc<dyn Agent>; 2] {
        [[0, 1], [1, 0]].map(|order| Arc::new(Deployed::new(Unaware { state_dim: 2 }, Tenths(order))) as Arc<dyn Agent>)
    }

    /// Two people at (1, 2) and (3, 4), who then go to (5, 1) and (2, 6).
    fn probabilities(agent: &dyn Agent, coins: &[f64]) -> ([f64; 6], [f64; 6], AgentMemory) {
        let mut memory = agent.begin(&[0, 1], &[1.0, 2.0, 3.0, 4.0], coins);
        let (mut now, mut then) = ([0.0; 6], [0.0; 6]);
        agent.probabilities(&mut memory, &mut now);
        agent.advance(&mut memory, &[0, 2], &[5.0, 1.0, 2.0, 6.0]);
        agent.probabilities(&mut memory, &mut then);
        (now, then, memory)
    }

    fn assert_close(found: [f64; 6], expected: [f64; 6]) {
        found.iter().zip(expected).for_each(|(x, y)| assert!((x - y).abs() < 1e-15, "{found:?} and {expected:?}"));
    }

    #[test]
    fn a_coin_a_decision_mixes_the_distributions() {
        let [first, second] = agents();
        let mixture = StepMixture { first, second, weight: 0.3 };
        let (now, then, mut memory) = probabilities(&mixture, &[0.1, 0.9]);
        // 0.7 · (0.1, 0.2) + 0.3 · (0.2, 0.1), and so on: coins of the episode have no say.
        assert_close(now, [0.13, 0.17, 0.7, 0.33, 0.37, 0.3]);
        assert_close(then, [0.38, 0.22, 0.4, 0.32, 0.48, 0.2]);
        for (uniforms, actions) in [([0.37, 0.33], [0, 1]), ([0.39, 0.79], [1, 1]), ([0.61, 0.81], [2, 2])] {
            let mut taken = [9; 2];
            mixture.act(&mut memory, &uniforms, &mut taken);
            assert_eq!(taken, actions, "{uniforms:?}");
        }
    }

    #[test]
    fn a_coin_an_episode_chooses_the_agent_for_good() {
        let [first, second] = agents();
        let mixture = EpisodeMixture { first, second, weight: 0.3 };
        let (now, then, mut memory) = probabilities(&mixture, &[0.29, 0.31]);
        assert_close(now, [0.2, 0.1, 0.7, 0.3, 0.4, 0.3]);
        assert_close(then, [0.1, 0.5, 0.4, 0.2, 0.6, 0.2]);
        // At 0.45 the second agent, with probabilities 0.1 and 0.5, takes action 1; the first, with 0.5, would take 0.
        let mut taken = [9; 2];
        mixture.act(&mut memory, &[0.45, 0.1], &mut taken);
        assert_eq!(taken, [1, 0]);
        // A coin at the weight itself belongs to the first agent, whose probabilities these are.
        let (_, then, mut memory) = probabilities(&mixture, &[0.3, 0.0]);
        assert_close(then, [0.5, 0.1, 0.4, 0.6, 0.2, 0.2]);
        mixture.act(&mut memory, &[0.45, 0.45], &mut taken);
        assert_eq!(taken, [0, 0]);
    }

    #[test]
    fn a_mixture_inside_a_mixture_tosses_a_coin_of_its_own() {
        let [a, b] = agents();
        let alone = |agent: &Arc<dyn Agent>| probabilities(&**agent, &[0.5; 2]).0;
        let inner = || -> Arc<dyn Agent> {
            Arc::new(EpisodeMixture { first: Arc::clone(&a), second: Arc::clone(&b), weight: 0.5 })
        };
        let first_person = |mixture: &EpisodeMixture, coin: f64| probabilities(mixture, &[coin, 0.0]).0[..3].to_vec();
        // Coins in [0.4, 1) are the inner mixture's, half of them for each of its agents; then coins in [0, 0.4).
        let outside = EpisodeMixture { first: inner(), second: Arc::clone(&a), weight: 0.4 };
        let inside = EpisodeMixture { first: Arc::clone(&a), second: inner(), weight: 0.4 };
        for (mixture, coin, agent) in [
            (&outside, 0.39, &a),
            (&outside, 0.41, &b),
            (&outside, 0.69, &b),
            (&outside, 0.71, &a),
            (&inside, 0.01, &b),
            (&inside, 0.19, &b),
            (&inside, 0.21, &a),
            (&inside, 0.41, &a),
        ] {
            assert_eq!(first_person(mixture, coin), alone(agent)[..3], "coin {coin}");
        }
    }
}
