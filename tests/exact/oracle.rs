//! Every path of a finite world, listed from its tables.

use crate::fixture::{ACTIONS, LEVELS};
use counterfair::theory::FiniteWorld;

/// π(· | z, s₁ … sₜ, a₁ … aₜ₋₁).
pub type History<'a> = &'a dyn Fn(usize, &[usize], &[usize]) -> [f64; ACTIONS];

/// What is true of `asked` along the histories that `acting` makes.
#[derive(Debug, Clone, Default)]
pub struct Exact {
    /// E Σ γ^{t−1} Rₜ of `acting`.
    pub value: f64,
    /// E (Σ γ^{t−1} Rₜ)².
    pub square: f64,
    /// Mean over t of P(A^k ≠ A^l), one uniform draw behind both, by pair k < l.
    pub differ: Vec<((usize, usize), f64)>,
    /// Mean over t of E ½‖π^k − π^l‖₁.
    pub variation: Vec<((usize, usize), f64)>,
    /// P(A^Z_t = a | Z = z) of `asked`, by time, level and action.
    pub rates: Vec<[[f64; ACTIONS]; LEVELS]>,
}

impl Exact {
    pub fn metric(&self) -> f64 {
        self.differ.iter().fold(0.0, |most, (_, x)| most.max(*x))
    }

    pub fn total_variation(&self) -> f64 {
        self.variation.iter().fold(0.0, |most, (_, x)| most.max(*x))
    }
}

/// The states that noise and actions make at one level.
pub fn states_under(world: &FiniteWorld, level: usize, noise: &[usize], actions: &[usize]) -> Vec<usize> {
    let tables = world.tables();
    let mut states = vec![tables.initial[level] as usize + noise[0]];
    for (t, a) in actions.iter().enumerate() {
        let cell = (level * tables.points + states[t]) * tables.actions + a;
        states.push(tables.next[cell] as usize + noise[t + 1]);
    }
    states
}

/// μᵣ(s, a, z).
pub fn reward(world: &FiniteWorld, level: usize, s: usize, a: usize) -> f64 {
    let tables = world.tables();
    tables.reward[(level * tables.points + s) * tables.actions + a]
}

/// Values with their probabilities.
pub fn law(counts: impl Iterator<Item = u32> + Clone) -> Vec<f64> {
    let all: u32 = counts.clone().sum();
    counts.map(|count| f64::from(count) / f64::from(all)).collect()
}

/// The length of the set of u ∈ [0, 1) at which two inverse distribution functions differ.
pub fn coupled_difference(p: &[f64], q: &[f64]) -> f64 {
    let cumulative = |p: &[f64]| -> Vec<f64> {
        p.iter()
            .scan(0.0, |sum, x| {
                *sum += x;
                Some(*sum)
            })
            .collect()
    };
    let (p, q) = (cumulative(p), cumulative(q));
    let mut cuts: Vec<f64> =
        p.iter().chain(&q).copied().chain([0.0, 1.0]).filter(|x| (0.0..=1.0).contains(x)).collect();
    cuts.sort_by(f64::total_cmp);
    let action = |cumulative: &[f64], u: f64| cumulative.iter().filter(|c| **c <= u).count();
    cuts.windows(2)
        .filter(|cut| action(&p, (cut[0] + cut[1]) / 2.0) != action(&q, (cut[0] + cut[1]) / 2.0))
        .map(|cut| cut[1] - cut[0])
        .sum()
}

/// Lists all paths of `horizon` decisions.
pub fn explore(world: &FiniteWorld, acting: History, asked: History, horizon: usize, discount: f64) -> Exact {
    let pairs: Vec<(usize, usize)> = (0..LEVELS).flat_map(|k| (k + 1..LEVELS).map(move |l| (k, l))).collect();
    let mut exact = Exact {
        differ: pairs.iter().map(|pair| (*pair, 0.0)).collect(),
        variation: pairs.iter().map(|pair| (*pair, 0.0)).collect(),
        rates: vec![[[0.0; ACTIONS]; LEVELS]; horizon],
        ..Exact::default()
    };
    for (level, p) in law(world.tables().levels.iter().copied()).into_iter().enumerate() {
        let mut walk = Walk { world, acting, asked, horizon, discount, level, level_probability: p, exact: &mut exact };
        walk.meet(&mut vec![], &mut vec![], p, 0.0);
    }
    exact
}

struct Walk<'a> {
    world: &'a FiniteWorld,
    acting: History<'a>,
    asked: History<'a>,
    horizon: usize,
    discount: f64,
    level: usize,
    level_probability: f64,
    exact: &'a mut Exact,
}

impl Walk<'_> {
    /// Draws the next state noise; `p` is the probability of the path so far and `sum` its discounted reward.
    fn meet(&mut self, noise: &mut Vec<usize>, actions: &mut Vec<usize>, p: f64, sum: f64) {
        for (u, q) in law(self.world.tables().noise.iter().copied()).into_iter().enumerate() {
            noise.push(u);
            self.decide(noise, actions, p * q, sum);
            noise.pop();
        }
    }

    fn decide(&mut self, noise: &mut Vec<usize>, actions: &mut Vec<usize>, p: f64, sum: f64) {
        let (t, share) = (actions.len(), p / self.horizon as f64);
        let asked: Vec<_> =
            (0..LEVELS).map(|k| (self.asked)(k, &states_under(self.world, k, noise, actions), actions)).collect();
        for ((k, l), x) in &mut self.exact.differ {
            *x += share * coupled_difference(&asked[*k], &asked[*l]);
        }
        for ((k, l), x) in &mut self.exact.variation {
            *x += share * 0.5 * asked[*k].iter().zip(&asked[*l]).map(|(p, q)| (p - q).abs()).sum::<f64>();
        }
        for (rate, q) in self.exact.rates[t][self.level].iter_mut().zip(asked[self.level]) {
            *rate += p / self.level_probability * q;
        }
        let states = states_under(self.world, self.level, noise, actions);
        let distribution = (self.acting)(self.level, &states, actions);
        let rewards = self.world.tables().reward_noise.clone();
        let reward_law = law(rewards.iter().map(|(_, count)| *count));
        for (a, q) in distribution.into_iter().enumerate().filter(|(_, q)| *q > 0.0) {
            for ((u, _), v) in rewards.iter().zip(&reward_law) {
                let reward = reward(self.world, self.level, states[t], a) + u;
                let (p, sum) = (p * q * v, sum + self.discount.powi(t as i32) * reward);
                if t + 1 == self.horizon {
                    self.exact.value += p * sum;
                    self.exact.square += p * sum * sum;
                    continue;
                }
                // The metric and the rates do not depend on reward noise; its branches add up to the same probability.
                actions.push(a);
                self.meet(noise, actions, p, sum);
                actions.pop();
            }
        }
    }
}

/// The full rule as a rule on histories.
pub fn full(z: usize, states: &[usize], _actions: &[usize]) -> [f64; ACTIONS] {
    crate::fixture::full_rule(*states.last().unwrap(), z)
}

/// The unaware choice as a rule on histories.
pub fn unaware(_z: usize, states: &[usize], _actions: &[usize]) -> [f64; ACTIONS] {
    crate::fixture::unaware_choice(*states.last().unwrap())
}

/// The behaviour policy of the world as a rule on histories.
pub fn behaviour(z: usize, states: &[usize], _actions: &[usize]) -> [f64; ACTIONS] {
    let favourite = (states.last().unwrap() + z) % 3;
    std::array::from_fn(|a| if a == favourite { 0.5 } else { 0.25 })
}

/// [s¹, s², s³] at the end of a history, by abduction on the tables.
pub fn counterfactual_states(world: &FiniteWorld, z: usize, states: &[usize], actions: &[usize]) -> Vec<usize> {
    let mut noise = vec![states[0] - world.tables().initial[z] as usize];
    for (t, a) in actions.iter().enumerate() {
        let cell = (z * world.tables().points + states[t]) * world.tables().actions + a;
        noise.push(states[t + 1] - world.tables().next[cell] as usize);
    }
    (0..LEVELS).map(|k| *states_under(world, k, &noise, actions).last().unwrap()).collect()
}
