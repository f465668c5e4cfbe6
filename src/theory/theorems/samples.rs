//! Finite processes, samples of them, and what the kernel's `alg:cf:2` learns from a sample.

use super::search::between;
use crate::kernel::learn::features::{FeatureMap, OneHot};
use crate::kernel::learn::{Clipping, Greedy, LinearQ, Policy, Settings, fitted_q_iteration};
use crate::kernel::numeric::{Stream, uniform_index};
use crate::kernel::people::{Labels, PanelBuilder, Person};
use crate::kernel::preprocess::{StateOnly, Unaware, batch};
use crate::theory::FiniteMdp;
use rand::{Rng, RngExt};

/// Absolute error put down to rounding for numbers of size one: 2⁻⁵² times a few thousand operations.
pub const DIGITS: f64 = 1e-12;

/// Transitions have probabilities k/8, so that a list of eight tuples per pair has them exactly.
const PARTS: usize = 8;

/// (s, a, r, s′).
#[derive(Debug, Clone)]
pub struct Tuple {
    pub state: Vec<f64>,
    pub action: u32,
    pub reward: f64,
    pub next: Vec<f64>,
}

/// B steps of `alg:cf:2` on tuples, each of which is one person's only decision.
///
/// # Panics
/// If there is no tuple, or an action is out of range.
pub fn fitted<F: FeatureMap + Clone>(
    tuples: &[Tuple],
    actions: usize,
    features: &F,
    settings: Settings,
) -> LinearQ<StateOnly, F> {
    let width = features.inputs();
    let mut builder =
        PanelBuilder::new(Labels::numbered(1), Labels::numbered(actions), width).expect("a state has a coordinate");
    for (i, tuple) in tuples.iter().enumerate() {
        let (id, states) = (i.to_string(), [&tuple.state[..], &tuple.next[..]].concat());
        let person = Person { id: &id, level: 0, states: &states, actions: &[tuple.action], rewards: &[tuple.reward] };
        builder.push(person).expect("finite numbers");
    }
    let experience = batch(&Unaware { state_dim: width }, &builder.finish()).expect("finite states");
    fitted_q_iteration(&experience, features, settings).expect("a sound call").q
}

/// Settings that run all B steps.
pub fn steps(discount: f64, iterations: usize, clipping: Clipping) -> Settings {
    Settings { discount, iterations, tolerance: 0.0, clipping }
}

/// Steps after which γᴮ is below rounding.
pub fn many(discount: f64) -> usize {
    if discount == 0.0 { 1 } else { (1e-16f64.ln() / discount.ln()).ceil() as usize }
}

/// A finite process with its discount.
#[derive(Debug, Clone)]
pub struct Process {
    pub mdp: FiniteMdp,
    pub discount: f64,
}

impl Process {
    /// Rewards k/8 on [−1, 1]; transitions k/8, from deterministic to spread out; γ up to 0.9.
    pub fn random(stream: Stream) -> Self {
        let mut rng = stream.rng();
        let (states, actions) = (2 + uniform_index(&mut rng, 4), 2 + uniform_index(&mut rng, 2));
        let discount = between(&mut rng, 0.05, 0.9);
        Self { mdp: random_mdp(states, actions, &mut rng), discount }
    }

    /// A process in which each pair (s, a) leads to one state: `to[s * actions + a]`.
    pub fn certain(discount: f64, actions: usize, to: &[usize], reward: Vec<f64>) -> Self {
        let states = to.len() / actions;
        let next = to.iter().map(|s| vec![(*s, 1.0)]).collect();
        Self { mdp: FiniteMdp::listed(actions, vec![1.0 / states as f64; states], next, reward), discount }
    }

    /// A tuple for each eighth of probability: its averages are the process's expectations. Rewards are off by `noise` upwards and downwards in turn.
    pub fn census(&self, noise: f64) -> Vec<Tuple> {
        let rewards = self.mdp.rewards();
        self.tuples(|pair, k| rewards[pair] + if k % 2 == 0 { noise } else { -noise })
    }

    /// The same with rewards that make fitted Q iteration converge to f: r = f − γ E maxₐ f(s′, a).
    pub fn leading_to(&self, f: &[f64]) -> Vec<Tuple> {
        let best = self.value(f);
        let backed_up = self.mdp.action_values(&best, self.discount);
        let rewards: Vec<f64> =
            f.iter().zip(&backed_up).zip(self.mdp.rewards()).map(|((f, q), r)| f - (q - r)).collect();
        self.tuples(|pair, _| rewards[pair])
    }

    fn tuples(&self, reward: impl Fn(usize, usize) -> f64) -> Vec<Tuple> {
        let mut tuples = Vec::new();
        for (pair, next) in self.mdp.successors().iter().enumerate() {
            let eighths = next.iter().flat_map(|(to, p)| std::iter::repeat_n(*to, (p * PARTS as f64).round() as usize));
            tuples.extend(eighths.enumerate().map(|(k, to)| self.tuple(pair, reward(pair, k), to)));
        }
        tuples
    }

    /// n tuples for each pair (s, a), with reward noise uniform on ±`noise`.
    pub fn draws(&self, n: usize, noise: f64, rng: &mut impl Rng) -> Vec<Tuple> {
        let mut tuples = Vec::new();
        for (pair, next) in self.mdp.successors().iter().enumerate() {
            for _ in 0..n {
                let mut left: f64 = rng.random();
                let to = next.iter().find(|(_, p)| {
                    left -= p;
                    left < 0.0
                });
                let reward = self.mdp.rewards()[pair] + noise * (2.0 * rng.random::<f64>() - 1.0);
                tuples.push(self.tuple(pair, reward, to.unwrap_or(&next[0]).0));
            }
        }
        tuples
    }

    fn tuple(&self, pair: usize, reward: f64, to: usize) -> Tuple {
        let (s, a) = (pair / self.mdp.actions(), pair % self.mdp.actions());
        Tuple { state: vec![s as f64], action: a as u32, reward, next: vec![to as f64] }
    }

    /// What B steps of `alg:cf:2` on indicators of the states make of a sample.
    pub fn learn(&self, sample: &[Tuple], iterations: usize, clipping: Clipping) -> Learned {
        let features = OneHot::new(self.mdp.points().to_vec()).expect("states are numbered");
        let settings = steps(self.discount, iterations, clipping);
        let q = fitted(sample, self.mdp.actions(), &features, settings);
        let (states, actions) = (self.mdp.states(), self.mdp.actions());
        let values = (0..states * actions).map(|k| q.weights()[k % actions * states + k / actions]).collect();
        let mut rule = vec![0.0; states * actions];
        Policy::<StateOnly>::probabilities(&Greedy(q), &self.mdp.points().concat(), 1, &mut rule);
        Learned { values, rule }
    }

    /// Q*.
    pub fn optimum(&self) -> Vec<f64> {
        self.mdp.optimum(self.discount)
    }

    /// maxₐ q(s, a).
    pub fn value(&self, q: &[f64]) -> Vec<f64> {
        q.chunks_exact(self.mdp.actions()).map(|q| q.iter().copied().fold(f64::MIN, f64::max)).collect()
    }

    /// T q.
    pub fn bellman(&self, q: &[f64]) -> Vec<f64> {
        self.mdp.action_values(&self.value(q), self.discount)
    }

    /// Best minus second best action value, state by state: 0 where the best is tied.
    pub fn gaps(&self, q: &[f64]) -> Vec<f64> {
        let gap = |row: &[f64]| {
            let mut sorted = row.to_vec();
            sorted.sort_by(f64::total_cmp);
            sorted[row.len() - 1] - sorted[row.len() - 2]
        };
        q.chunks_exact(self.mdp.actions()).map(gap).collect()
    }

    /// The largest V*(s) − V^π(s).
    pub fn regret(&self, rule: &[f64]) -> f64 {
        let own = self.mdp.values(rule, self.discount);
        self.value(&self.optimum()).iter().zip(own).map(|(best, own)| best - own).fold(0.0, f64::max)
    }

    /// V = R/(1−γ).
    pub fn limit(&self) -> f64 {
        crate::kernel::numeric::small::sup(self.mdp.rewards()) / (1.0 - self.discount)
    }
}

/// What was learned from a sample.
pub struct Learned {
    /// f̂(s, a), at `s * actions + a`.
    pub values: Vec<f64>,
    /// The kernel's greedy policy in it, as probabilities.
    pub rule: Vec<f64>,
}

fn random_mdp(states: usize, actions: usize, rng: &mut impl Rng) -> FiniteMdp {
    let pairs = states * actions;
    let rewards = (0..pairs).map(|_| (uniform_index(rng, 17) as f64 - 8.0) / 8.0).collect();
    let next = (0..pairs)
        .map(|_| {
            let mut counts = vec![0; states];
            match uniform_index(rng, 5) {
                0 | 1 => counts[uniform_index(rng, states)] = PARTS,
                _ => (0..PARTS).for_each(|_| counts[uniform_index(rng, states)] += 1),
            }
            let law = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            law.map(|(to, &count)| (to, count as f64 / PARTS as f64)).collect()
        })
        .collect();
    FiniteMdp::listed(actions, vec![1.0 / states as f64; states], next, rewards)
}

/// The process that a sample makes up: averages in place of expectations.
pub fn empirical(process: &Process, sample: &[Tuple]) -> Process {
    let (states, actions) = (process.mdp.states(), process.mdp.actions());
    let mut next = vec![Vec::new(); states * actions];
    let mut rewards = vec![0.0; states * actions];
    for (pair, (next, mean)) in next.iter_mut().zip(&mut rewards).enumerate() {
        let of_pair = |t: &&Tuple| t.state[0] as usize * actions + t.action as usize == pair;
        let rows: Vec<&Tuple> = sample.iter().filter(of_pair).collect();
        let share = 1.0 / rows.len() as f64;
        *mean = rows.iter().map(|t| t.reward * share).sum();
        *next = rows.iter().map(|t| (t.next[0] as usize, share)).collect();
    }
    let mdp = FiniteMdp::listed(actions, vec![1.0 / states as f64; states], next, rewards);
    Process { mdp, discount: process.discount }
}

/// ‖x − y‖∞.
pub fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_census_has_the_expectations_of_its_process() {
        let process = Process::random(Stream::new(1).named("census"));
        let same = empirical(&process, &process.census(0.25));
        assert!(distance(process.mdp.rewards(), same.mdp.rewards()) < DIGITS);
        let values: Vec<f64> = (0..process.mdp.states()).map(|s| (s * s) as f64 - 1.5).collect();
        let ahead = |p: &Process| p.mdp.action_values(&values, 0.7);
        assert!(distance(&ahead(&process), &ahead(&same)) < 10.0 * DIGITS);
    }

    #[test]
    fn rewards_can_be_made_to_lead_to_a_given_function() {
        let process = Process::random(Stream::new(2).named("leading"));
        let f: Vec<f64> = (0..process.mdp.rewards().len()).map(|k| (k as f64).sin()).collect();
        let learned = process.learn(&process.leading_to(&f), many(process.discount), Clipping::Off);
        assert!(distance(&learned.values, &f) < 10.0 * DIGITS);
        assert_eq!(learned.rule, process.mdp.greedy(&f));
    }

    #[test]
    fn regret_counts_the_worst_state() {
        // State 0 stays for 1 or 0; state 1 stays for 3 or 1.
        let process = Process::certain(0.5, 2, &[0, 0, 1, 1], vec![1.0, 0.0, 3.0, 1.0]);
        assert!((process.regret(&[0.0, 1.0, 0.0, 1.0]) - 4.0).abs() < DIGITS);
        assert_eq!(process.gaps(&process.optimum()), [1.0, 2.0]);
        assert!((process.limit() - 6.0).abs() < DIGITS);
    }
}
