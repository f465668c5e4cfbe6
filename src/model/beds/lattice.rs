//! A finite additive world: integers plus noise in {0, 1}, where everything can be enumerated.

use super::super::Mechanism;
use crate::data::{Labels, Panel, PanelBuilder, Person};
use crate::numeric::Stream;
use rand::RngExt;

/// Two levels, two actions, states {0, 1, 2, 3}: S₁ = m_Z + U₁, S′ = μ(S, A, Z) + U with m, μ ∈ {0, 1, 2} and U a fair bit.
///
/// All probabilities are multiples of 1/8, so that laws over a few steps are exact in binary arithmetic.
#[derive(Debug, Clone, PartialEq)]
pub struct Lattice {
    /// P(Z = 1).
    pub level_share: f64,
    /// P(A = 1 | Z = z).
    pub treated: [f64; 2],
    initial: [[f64; 1]; 2],
    /// μ by level, state, action.
    means: [[[f64; 2]; 4]; 2],
    rewards: [[[f64; 2]; 4]; 2],
}

/// Number of states.
const STATES: usize = 4;

/// The augmented process of a lattice: pairs (s⁰, s¹) that can occur together, and how they move.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairs {
    /// The pairs, in order of discovery.
    pub pairs: Vec<[usize; 2]>,
    /// The law of the first pair.
    pub first: Vec<f64>,
    /// P(pair′ | pair, a), one row a pair and action.
    pub transitions: Vec<f64>,
    /// Mean rewards over levels, two a pair.
    pub rewards: Vec<f64>,
}

impl Lattice {
    /// A world drawn by the stream.
    pub fn random(stream: Stream) -> Self {
        let mut rng = stream.rng();
        let mut third = |_: usize| f64::from((3.0 * rng.random::<f64>()) as u8);
        let initial = [[third(0)], [third(1)]];
        let means = [0, 1].map(|_| [0, 1, 2, 3].map(|_| [third(0), third(1)]));
        let rewards = [0, 1].map(|_| [0, 1, 2, 3].map(|_| [rng.random::<f64>(), rng.random::<f64>()]));
        Self { level_share: 0.375, treated: [0.25, 0.625], initial, means, rewards }
    }

    /// The pairs reachable with shared noise.
    pub fn augmented(&self) -> Pairs {
        let law = [1.0 - self.level_share, self.level_share];
        let mut pairs: Vec<[usize; 2]> = Vec::new();
        let place = |pair: [usize; 2], pairs: &mut Vec<[usize; 2]>| {
            pairs.iter().position(|p| *p == pair).unwrap_or_else(|| {
                pairs.push(pair);
                pairs.len() - 1
            })
        };
        let starts = [0, 1].map(|u| place([0, 1].map(|z| self.initial[z][0] as usize + u), &mut pairs));
        let (mut moves, mut rewards, mut done) = (Vec::new(), Vec::new(), 0);
        while done < pairs.len() {
            let pair = pairs[done];
            for a in 0..2 {
                rewards.push((0..2).map(|z| law[z] * self.rewards[z][pair[z]][a]).sum());
                for u in 0..2 {
                    moves.push(place([0, 1].map(|z| self.means[z][pair[z]][a] as usize + u), &mut pairs));
                }
            }
            done += 1;
        }
        let n = pairs.len();
        let mut transitions = vec![0.0; 2 * n * n];
        for (k, next) in moves.iter().enumerate() {
            transitions[k / 2 * n + next] += 0.5;
        }
        let mut first = vec![0.0; n];
        starts.iter().for_each(|s| first[*s] += 0.5);
        Pairs { pairs, first, transitions, rewards }
    }

    /// λ₀ of one-hot features: the rarest (pair, action) in the law averaged over t = 1 … T, exact.
    pub fn coverage(&self, horizon: usize) -> f64 {
        let process = self.augmented();
        let n = process.pairs.len();
        let mut visits = vec![0.0; 2 * n];
        for (z, weight) in [1.0 - self.level_share, self.level_share].into_iter().enumerate() {
            let share = [1.0 - self.treated[z], self.treated[z]];
            let mut law = process.first.clone();
            for _ in 0..horizon {
                let mut next = vec![0.0; n];
                for (pair, p) in law.iter().enumerate() {
                    for a in 0..2 {
                        visits[2 * pair + a] += weight * p * share[a];
                        for (to, q) in process.transitions[(2 * pair + a) * n..][..n].iter().enumerate() {
                            next[to] += p * share[a] * q;
                        }
                    }
                }
                law = next;
            }
        }
        visits.into_iter().fold(f64::INFINITY, f64::min) / horizon as f64
    }

    /// N people with T decisions and T + 1 states, by the behaviour policy. Rewards carry no noise.
    pub fn simulate(&self, people: usize, horizon: usize, stream: Stream) -> Panel {
        let mut rng = stream.rng();
        let mut bit = |share: f64| usize::from(rng.random::<f64>() < share);
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).expect("a panel with a state");
        let (mut states, mut actions, mut rewards) = (vec![0.0; horizon + 1], vec![0; horizon], vec![0.0; horizon]);
        for i in 0..people {
            let z = bit(self.level_share);
            states[0] = self.initial[z][0] + bit(0.5) as f64;
            for t in 0..horizon {
                let (a, s) = (bit(self.treated[z]), states[t] as usize);
                actions[t] = a as u32;
                rewards[t] = self.rewards[z][s][a];
                states[t + 1] = self.means[z][s][a] + bit(0.5) as f64;
            }
            let id = i.to_string();
            let person = Person { id: &id, level: z as u32, states: &states, actions: &actions, rewards: &rewards };
            builder.push(person).expect("finite states");
        }
        builder.finish()
    }

    /// The means as averages over cells of a panel; a cell that nobody visited keeps the mean of its level and action.
    pub fn fit(panel: &Panel) -> Self {
        let mut fit = Self {
            level_share: 0.0,
            treated: [0.0; 2],
            initial: [[0.0]; 2],
            means: [[[0.0; 2]; STATES]; 2],
            rewards: [[[0.0; 2]; STATES]; 2],
        };
        let mut counts = [[[0.0; 2]; STATES]; 2];
        let mut people = [0.0; 2];
        for person in (0..panel.people()).map(|i| panel.person(i)) {
            let z = person.level as usize;
            people[z] += 1.0;
            fit.initial[z][0] += person.states[0];
            for (t, &a) in person.actions.iter().enumerate() {
                let (s, a) = (person.states[t] as usize, a as usize);
                counts[z][s][a] += 1.0;
                fit.means[z][s][a] += person.states[t + 1];
                fit.rewards[z][s][a] += person.rewards[t];
            }
        }
        for z in 0..2 {
            fit.initial[z][0] /= f64::max(people[z], 1.0);
            for a in 0..2 {
                let total: f64 = (0..STATES).map(|s| counts[z][s][a]).sum();
                let mean =
                    |sums: &[[f64; 2]; STATES]| (0..STATES).map(|s| sums[s][a]).sum::<f64>() / f64::max(total, 1.0);
                let (next, reward) = (mean(&fit.means[z]), mean(&fit.rewards[z]));
                for (s, row) in counts[z].iter().enumerate() {
                    let n = row[a];
                    fit.means[z][s][a] = if n > 0.0 { fit.means[z][s][a] / n } else { next };
                    fit.rewards[z][s][a] = if n > 0.0 { fit.rewards[z][s][a] / n } else { reward };
                }
            }
        }
        fit.level_share = people[1] / (people[0] + people[1]);
        fit
    }

    /// ℓ, the Lipschitz constant of the interpolated means.
    pub fn lipschitz(&self) -> f64 {
        let steps = self.means.iter().flat_map(|level| level.windows(2));
        steps.flat_map(|pair| [0, 1].map(|a| (pair[1][a] - pair[0][a]).abs())).fold(0.0, f64::max)
    }

    /// Every mean of level 1 moved by `by`: a mechanism that stays wrong.
    pub fn biased(mut self, by: f64) -> Self {
        self.means[1].iter_mut().flatten().for_each(|m| *m += by);
        self
    }
}

/// Between lattice points means are interpolated, beyond them held.
impl Mechanism for Lattice {
    fn state_dim(&self) -> usize {
        1
    }

    fn levels(&self) -> usize {
        2
    }

    fn actions(&self) -> usize {
        2
    }

    fn initial_mean(&self, level: usize) -> &[f64] {
        &self.initial[level]
    }

    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        for (((&s, &a), next), r) in states.iter().zip(actions).zip(next).zip(rewards) {
            let (a, x) = (a as usize, s.clamp(0.0, (STATES - 1) as f64));
            let below = (x as usize).min(STATES - 2);
            let share = x - below as f64;
            let between = |table: &[[f64; 2]; STATES]| (1.0 - share) * table[below][a] + share * table[below + 1][a];
            *next = between(&self.means[level]);
            *r = between(&self.rewards[level]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_of_pairs_add_up_to_one_without_rounding() {
        let bed = Lattice::random(Stream::new(14));
        let process = bed.augmented();
        assert_eq!(process.first.iter().sum::<f64>(), 1.0);
        for row in process.transitions.chunks_exact(process.pairs.len()) {
            assert_eq!(row.iter().sum::<f64>(), 1.0);
        }
        assert!(bed.coverage(6) >= 0.0);
    }
}
