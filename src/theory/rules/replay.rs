//! The replay policy: strictly fair, and worth exactly as much as the policy it replays.

use crate::kernel::learn::{Agent, AgentMemory, Policy};
use crate::kernel::model::Mechanism;
use crate::kernel::model::noise::{Step, first_noise, first_state};
use crate::kernel::preprocess::{Augmented, Memory};

/// Plays the actions a policy would have taken had it been followed from the start, by running its augmented chain on the noise alone.
///
/// # Equation
/// ```text
/// Ûₜ = sₜ − μ(sₜ₋₁, aₜ₋₁, z),   cᵏₜ = μ(cᵏₜ₋₁, π(cₜ₋₁), k) + Ûₜ,   Aₜ = π(cₜ)
/// ```
/// written here for additive noise; other noise is abducted and put back by its law.
/// The rule is a function of the noise only, so neither the level nor the past actions change it: it is strictly fair
/// (`def:cf_policy_strict`). Deployed from the first step it takes the same actions as π, hence has the same value; the claim that
/// strict fairness costs value is false.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay<M, Rule> {
    mechanism: M,
    policy: Rule,
}

impl<M: Mechanism, Rule: Policy<Augmented>> Replay<M, Rule> {
    /// Replays a deterministic policy on augmented states.
    ///
    /// # Panics
    /// If the policy is not deterministic: there would be no canonical action to replay.
    pub fn new(mechanism: M, policy: Rule) -> Self {
        assert!(policy.is_deterministic(), "only a deterministic policy can be replayed");
        Self { mechanism, policy }
    }

    fn width(&self) -> usize {
        self.mechanism.state_dim() * self.mechanism.levels()
    }

    fn decide(&self, memory: &mut AgentMemory) {
        let people = memory.parts[0].people();
        memory.noted.resize(people, 0);
        // Any draws do: the policy does not depend on them, but a policy without an `act` of its own counts people by them.
        self.policy.act(&memory.parts[0].view, self.width(), &vec![0.5; people], &mut memory.noted);
    }
}

impl<M: Mechanism, Rule: Policy<Augmented>> Agent for Replay<M, Rule> {
    fn actions(&self) -> usize {
        self.policy.actions()
    }

    fn begin(&self, levels: &[u32], states: &[f64], coins: &[f64]) -> AgentMemory {
        let p = self.mechanism.state_dim();
        let mut view = Vec::with_capacity(levels.len() * self.width());
        for (state, &z) in states.chunks_exact(p).zip(levels) {
            let mut noise = state.to_vec();
            first_noise(&self.mechanism, z as usize, &mut noise);
            for k in 0..self.mechanism.levels() {
                let start = view.len();
                view.extend_from_slice(&noise);
                first_state(&self.mechanism, k, &mut view[start..]);
            }
        }
        let chain = Memory::new(levels, states, view);
        let mut memory = AgentMemory { parts: vec![chain], coins: coins.to_vec(), ..AgentMemory::default() };
        self.decide(&mut memory);
        memory
    }

    fn advance(&self, memory: &mut AgentMemory, actions: &[u32], states: &[f64]) {
        let (p, width) = (self.mechanism.state_dim(), self.width());
        let (mut step, mut noise) = (Step::default(), vec![0.0; p]);
        let chain = &mut memory.parts[0];
        for i in 0..chain.people() {
            let z = chain.levels[i] as usize;
            let (before, after) = (&chain.states[i * p..(i + 1) * p], &states[i * p..(i + 1) * p]);
            step.prepare(&self.mechanism, z, before, &actions[i..=i]);
            noise.copy_from_slice(after);
            step.state_noise(&self.mechanism, z, &mut noise);
            for k in 0..self.mechanism.levels() {
                let world = &mut chain.view[i * width + k * p..i * width + (k + 1) * p];
                step.prepare(&self.mechanism, k, world, &memory.noted[i..=i]);
                world.copy_from_slice(&noise);
                step.states(&self.mechanism, k, world);
            }
        }
        chain.states.copy_from_slice(states);
        self.decide(memory);
    }

    fn probabilities(&self, memory: &mut AgentMemory, out: &mut [f64]) {
        out.fill(0.0);
        for (row, &action) in out.chunks_exact_mut(self.actions()).zip(&memory.noted) {
            row[action as usize] = 1.0;
        }
    }

    fn act(&self, memory: &mut AgentMemory, _uniforms: &[f64], out: &mut [u32]) {
        out.copy_from_slice(&memory.noted);
    }

    fn is_deterministic(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: [[f64; 2]; 2] = [[0.5, -0.25], [1.5, 0.75]];

    /// Two levels, two coordinates, two actions.
    struct Small;

    fn step(level: usize, s: [f64; 2], action: u32) -> [f64; 2] {
        let (z, a) = (level as f64, f64::from(action));
        [0.5 * s[0] + s[1] + a - z, 0.25 * s[1] - 2.0 * a * z + 0.125 * s[0]]
    }

    impl Mechanism for Small {
        fn state_dim(&self) -> usize {
            2
        }
        fn levels(&self) -> usize {
            2
        }
        fn actions(&self) -> usize {
            2
        }
        fn initial_mean(&self, level: usize) -> &[f64] {
            &START[level]
        }
        fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
            for ((s, &a), next) in states.chunks_exact(2).zip(actions).zip(next.chunks_exact_mut(2)) {
                next.copy_from_slice(&step(level, [s[0], s[1]], a));
            }
            rewards.fill(0.0);
        }
    }

    fn rule(view: [[f64; 2]; 2]) -> u32 {
        u32::from(view[0][0] - view[0][1] + 2.0 * view[1][0] + 0.5 * view[1][1] > 1.0)
    }

    struct Rule;

    impl Policy<Augmented> for Rule {
        fn actions(&self) -> usize {
            2
        }
        fn probabilities(&self, rows: &[f64], _: usize, out: &mut [f64]) {
            for (row, out) in rows.chunks_exact(4).zip(out.chunks_exact_mut(2)) {
                out[1] = f64::from(rule([[row[0], row[1]], [row[2], row[3]]]));
                out[0] = 1.0 - out[1];
            }
        }
        fn is_deterministic(&self) -> bool {
            true
        }
        fn act(&self, rows: &[f64], width: usize, _: &[f64], out: &mut [u32]) {
            for (row, out) in rows.chunks_exact(width).zip(out) {
                *out = rule([[row[0], row[1]], [row[2], row[3]]]);
            }
        }
    }

    /// Noise of three people before each of four decisions.
    fn noise(person: usize, t: usize) -> [f64; 2] {
        let x = (3 * person + 5 * t) as f64;
        [(1.3 * x + 0.4).sin(), (0.7 * x - 1.1).cos()]
    }

    fn plus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
        [a[0] + b[0], a[1] + b[1]]
    }

    #[test]
    fn the_actions_are_those_of_the_policy_on_the_noise_whatever_was_done_instead() {
        let agent = Replay::new(Small, Rule);
        let levels = [1u32, 0, 1];
        // What the policy does in worlds made from the noise alone: neither a level nor a past action is read.
        let canonical: Vec<Vec<u32>> = (0..3)
            .map(|i| {
                let mut worlds = START.map(|mean| plus(mean, noise(i, 0)));
                (1..=4)
                    .map(|t| {
                        let action = rule(worlds);
                        worlds = [0, 1].map(|k| plus(step(k, worlds[k], action), noise(i, t)));
                        action
                    })
                    .collect()
            })
            .collect();
        assert!(canonical.iter().all(|c| c.contains(&0) && c.contains(&1)), "{canonical:?} tells nothing apart");
        let mut states: Vec<[f64; 2]> = (0..3).map(|i| plus(START[levels[i] as usize], noise(i, 0))).collect();
        let mut memory = agent.begin(&levels, states.as_flattened(), &[0.5; 3]);
        let by_time = (0..4).map(|t| [0, 1, 2].map(|i| canonical[i][t]));
        for (t, expected) in by_time.enumerate() {
            let (mut taken, mut odds) = ([9; 3], [0.5; 6]);
            agent.act(&mut memory, &[0.5; 3], &mut taken);
            agent.probabilities(&mut memory, &mut odds);
            assert_eq!(taken, expected, "decision {t}");
            for i in 0..3 {
                assert_eq!(odds[2 * i..2 * i + 2], if taken[i] == 1 { [0.0, 1.0] } else { [1.0, 0.0] });
            }
            // The opposite of what it wanted is done.
            let done = taken.map(|a| 1 - a);
            for i in 0..3 {
                states[i] = plus(step(levels[i] as usize, states[i], done[i]), noise(i, t + 1));
            }
            agent.advance(&mut memory, &done, states.as_flattened());
        }
    }
}
