//! A finite additive world: integers plus noise in {0, 1}, where everything can be enumerated.

use crate::kernel::model::Mechanism;
use crate::kernel::numeric::Stream;
use crate::kernel::people::{Labels, Panel, PanelBuilder, Person};
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

    /// Random worlds, most with other shares than those of [`Lattice::random`]; all are multiples of 1/8.
    fn worlds() -> impl Iterator<Item = Lattice> {
        let shares = [(0.375, [0.25, 0.625]), (0.75, [0.625, 0.875]), (0.125, [0.75, 0.125]), (0.625, [0.125, 0.375])];
        (0..24u64).map(move |i| {
            let (level_share, treated) = shares[i as usize % 4];
            Lattice { level_share, treated, ..Lattice::random(Stream::new(15).index(i)) }
        })
    }

    /// A world whose tables are easy to read: every number different where it can be.
    fn by_hand() -> Lattice {
        Lattice {
            level_share: 0.375,
            treated: [0.25, 0.625],
            initial: [[1.0], [2.0]],
            means: [[[0.0, 1.0], [2.0, 0.0], [1.0, 2.0], [2.0, 1.0]], [[1.0, 0.0], [0.0, 2.0], [2.0, 1.0], [0.0, 1.0]]],
            rewards: [
                [[0.5, 0.25], [-0.75, 1.0], [1.5, -0.5], [0.125, 2.0]],
                [[-1.0, 0.75], [0.375, -0.25], [1.25, 0.625], [-1.5, 1.75]],
            ],
        }
    }

    #[test]
    fn pairs_move_as_the_two_worlds_do_with_shared_noise() {
        for bed in worlds() {
            let process = bed.augmented();
            let n = process.pairs.len();
            assert!((1..n).all(|i| !process.pairs[..i].contains(&process.pairs[i])), "{:?}", process.pairs);
            let moved = |means: [f64; 2], u: f64| means.map(|m| (m + u) as usize);
            // P(pair) after the given means: half for each value of the bit.
            let law = |means: [f64; 2]| -> Vec<f64> {
                let one = |pair: &[usize; 2]| {
                    [0.0, 1.0].into_iter().filter(|u| moved(means, *u) == *pair).count() as f64 / 2.0
                };
                process.pairs.iter().map(one).collect()
            };
            assert_eq!(process.first, law([bed.initial[0][0], bed.initial[1][0]]));
            for (i, &[s0, s1]) in process.pairs.iter().enumerate() {
                for a in 0..2 {
                    let row = &process.transitions[(2 * i + a) * n..][..n];
                    assert_eq!(row, law([bed.means[0][s0][a], bed.means[1][s1][a]]), "({s0}, {s1}), {a}");
                    let (r0, r1) = (bed.rewards[0][s0][a], bed.rewards[1][s1][a]);
                    let mean = r0 + bed.level_share * (r1 - r0);
                    // Three roundings of numbers below one.
                    assert!((process.rewards[2 * i + a] - mean).abs() < 4.0 * f64::EPSILON, "({s0}, {s1}), {a}");
                }
            }
        }
    }

    /// Adds the probabilities of all paths of `left` decisions of somebody of level z from `pair` to the visits.
    fn walk(
        bed: &Lattice,
        z: usize,
        pair: [f64; 2],
        weight: f64,
        left: usize,
        visits: &mut Vec<([f64; 2], usize, f64)>,
    ) {
        if left == 0 {
            return;
        }
        for a in 0..2 {
            let here = weight * if a == 1 { bed.treated[z] } else { 1.0 - bed.treated[z] };
            match visits.iter_mut().find(|v| v.0 == pair && v.1 == a) {
                Some(v) => v.2 += here,
                None => visits.push((pair, a, here)),
            }
            for u in [0.0, 1.0] {
                let next = [0, 1].map(|z: usize| bed.means[z][pair[z] as usize][a] + u);
                walk(bed, z, next, here / 2.0, left - 1, visits);
            }
        }
    }

    #[test]
    fn coverage_is_the_rarest_pair_and_action_over_all_paths() {
        // Dyadic probabilities: the sums are exact, and the division rounds once.
        let mut positive = 0;
        for bed in worlds() {
            for horizon in [3, 5] {
                let mut visits = Vec::new();
                for (z, p) in [(0, 1.0 - bed.level_share), (1, bed.level_share)] {
                    for u in [0.0, 1.0] {
                        walk(&bed, z, [bed.initial[0][0] + u, bed.initial[1][0] + u], p / 2.0, horizon, &mut visits);
                    }
                }
                let all = visits.len() == 2 * bed.augmented().pairs.len();
                let rarest = visits.iter().map(|v| v.2).fold(f64::INFINITY, f64::min) / horizon as f64;
                assert_eq!(bed.coverage(horizon), if all { rarest } else { 0.0 });
                positive += usize::from(all);
            }
        }
        assert!(positive >= 12, "{positive}");
    }

    #[test]
    fn simulated_people_obey_the_equation_and_the_shares() {
        let bed = by_hand();
        let (people, horizon) = (3000, 3);
        let panel = bed.simulate(people, horizon, Stream::new(16));
        // Counts of (successes, trials): levels, treatment by level, the noise bit.
        let mut shares = [(0.0, 0.0); 4];
        let mut count = |k: usize, bit: f64| {
            assert!(bit == 0.0 || bit == 1.0, "{bit}");
            shares[k] = (shares[k].0 + bit, shares[k].1 + 1.0);
        };
        for person in panel.iter() {
            let z = person.level as usize;
            count(0, z as f64);
            assert_eq!((person.states.len(), person.actions.len()), (horizon + 1, horizon));
            count(3, person.states[0] - bed.initial[z][0]);
            for t in 0..horizon {
                let (s, a) = (person.states[t] as usize, person.actions[t] as usize);
                count(1 + z, a as f64);
                assert_eq!(person.rewards[t], bed.rewards[z][s][a]);
                count(3, person.states[t + 1] - bed.means[z][s][a]);
            }
        }
        // Hoeffding: at least 3000 trials each, so 2 exp(−2 · 3000 · 0.06²) = 8e-10 a share.
        for ((found, trials), share) in shares.into_iter().zip([0.375, 0.25, 0.625, 0.5]) {
            assert!(trials >= 3000.0 && (found / trials - share).abs() < 0.06, "{found} of {trials}, and {share}");
        }
    }

    #[test]
    fn a_fit_holds_the_averages_of_its_cells() {
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).expect("a panel with a state");
        let mut push = |id: &str, level: u32, states: &[f64], actions: &[u32], rewards: &[f64]| {
            builder.push(Person { id, level, states, actions, rewards }).expect("finite states");
        };
        push("a", 0, &[1.0, 2.0, 1.0, 3.0], &[1, 0, 1], &[0.5, 0.25, -1.0]);
        push("b", 0, &[2.0, 0.0, 2.0, 1.0], &[0, 1, 0], &[1.0, 0.75, 2.5]);
        push("c", 0, &[0.0, 3.0, 2.0, 2.0], &[1, 1, 1], &[0.375, -0.5, 1.5]);
        push("d", 1, &[3.0, 1.0, 3.0, 0.0], &[0, 0, 0], &[2.0, -0.25, 1.0]);
        push("e", 1, &[2.0, 3.0, 2.0, 1.0], &[0, 0, 0], &[0.5, 0.125, 4.0]);
        let fit = Lattice::fit(&builder.finish());
        // Level 0, action 0: only state 2 is met, three times. Action 1: 0 twice, 1 twice, 2 once, 3 once; all are met.
        // Level 1, action 0: 1 once, 2 twice, 3 three times, and 0 keeps the mean of all six. Action 1 never.
        let thirds = |x: f64| x / 3.0;
        let expected = Lattice {
            level_share: 0.4,
            treated: [0.0; 2],
            initial: [[1.0], [2.5]],
            means: [
                [[thirds(2.0), 2.5], [thirds(2.0), 2.5], [thirds(2.0), 2.0], [thirds(2.0), 2.0]],
                [[10.0 / 6.0, 0.0], [3.0, 0.0], [2.0, 0.0], [1.0, 0.0]],
            ],
            rewards: [
                [[1.25, 0.5625], [1.25, -0.25], [1.25, 1.5], [1.25, -0.5]],
                [[7.375 / 6.0, 0.0], [-0.25, 0.0], [2.25, 0.0], [3.125 / 3.0, 0.0]],
            ],
        };
        // Sums of dyadic numbers are exact; each division rounds once, on both sides alike.
        assert_eq!(fit, expected);
    }

    #[test]
    fn means_are_interpolated_between_points_and_held_beyond() {
        let bed = by_hand();
        assert_eq!((bed.state_dim(), bed.levels(), bed.actions()), (1, 2, 2));
        assert_eq!((bed.initial_mean(0), bed.initial_mean(1)), (&[1.0][..], &[2.0][..]));
        let places = [-1.5, 0.25, 1.5, 2.75, 3.0, 7.0];
        for (level, action, next, reward) in [
            (0, 0, [0.0, 0.5, 1.5, 1.75, 2.0, 2.0], [0.5, 0.1875, 0.375, 0.46875, 0.125, 0.125]),
            (1, 1, [0.0, 0.5, 1.5, 1.0, 1.0, 1.0], [0.75, 0.5, 0.1875, 1.46875, 1.75, 1.75]),
        ] {
            let (mut s, mut r) = ([0.0; 6], [0.0; 6]);
            bed.mean(level, &places, &[action; 6], &mut s, &mut r);
            assert_eq!((s, r), (next, reward), "level {level}, action {action}");
        }
    }

    #[test]
    fn the_steepest_step_is_found_in_either_level_and_a_bias_moves_level_one_alone() {
        let bed = by_hand();
        assert_eq!(bed.lipschitz(), 2.0);
        let mut steep = bed.clone();
        steep.means[0][2][1] = -4.5;
        // From 0 to −4.5 and from there to 1.
        assert_eq!(steep.lipschitz(), 5.5);
        let biased = bed.clone().biased(0.25);
        assert_eq!((biased.means[0], biased.initial), (bed.means[0], bed.initial));
        assert_eq!(biased.means[1], [[1.25, 0.25], [0.25, 2.25], [2.25, 1.25], [0.25, 1.25]]);
    }
}
