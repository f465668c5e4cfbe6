//! A decision process on angles, complete with twelve features, on which the whole method runs end to end.

mod arc;
mod fit;
mod law;
mod learn;
mod value;

pub use fit::CircleFit;
pub use law::Reader;
pub use learn::Harmonics;

use crate::kernel::numeric::Stream;
use crate::kernel::people::{Labels, Panel, PanelBuilder, Person};
use rand::{Rng, RngExt};
use std::f64::consts::PI;

/// Two levels, two actions, an angle as state; the second action turns level 1 by an extra half turn.
///
/// # Equation
/// ```text
/// S₁ = m_Z + U₁,   S′ = S + c_A + Zβ_A + U,   R = ρ_{Z,A}·(1, cos S, sin S) + noise,   U ~ (1 + κ cos u)/2π on [−π, π]
/// ```
/// with β = (0, π) and m₁ − m₀ = π. The difference of the two worlds' states stays in {0, π} mod 2π, and the noise sees only
/// the mean and the first harmonic of a function: E h(y + U) = h₀ + (κ/2)(h_c cos y + h_s sin y). So Bellman images of any
/// bounded function are spanned by onehot(a) ⊗ {(1 ± cos(s₁ − s₀))/2} ⊗ {1, cos s₀, sin s₀}.
/// States are real numbers and never wrapped: the model is additive on the line, and features are periodic.
#[derive(Debug, Clone, PartialEq)]
pub struct Circle {
    /// γ.
    pub discount: f64,
    /// κ ∈ (0, 1].
    pub concentration: f64,
    /// P(Z = 1).
    pub level_share: f64,
    /// P(A = 1 | Z = z) of the behaviour policy.
    pub treated: [f64; 2],
    /// Bound of the uniform reward noise.
    pub reward_noise: f64,
    initial: [[f64; 1]; 2],
    turn: [f64; 2],
    /// ρ by level and action.
    rewards: [[[f64; 3]; 2]; 2],
}

/// Extra turn of level 1 under each action.
const EXTRA: [f64; 2] = [0.0, PI];

/// Weights of an action value: by action, by block (difference 0, difference π), of 1, cos s₀, sin s₀.
pub type Weights = [[[f64; 3]; 2]; 2];

impl Default for Circle {
    /// Constants off every special point, with the boundary of the optimal rule inside both blocks.
    fn default() -> Self {
        Self {
            discount: 0.7,
            concentration: 0.8,
            level_share: 0.4,
            treated: [0.35, 0.6],
            reward_noise: 0.3,
            initial: [[0.4], [0.4 + PI]],
            turn: [0.9, -0.5],
            rewards: [[[0.1, 0.5, -0.2], [0.0, -0.3, 0.4]], [[-0.1, 0.3, 0.3], [0.15, 0.2, -0.5]]],
        }
    }
}

impl Circle {
    /// A bed in which both actions are always worth the same: `asm:margin` fails with every exponent.
    ///
    /// Rewards and turns do not depend on the action, and those of level 1 not on the state, so that an extra half turn is worth nothing.
    pub fn tied() -> Self {
        let (first, second) = ([0.1, 0.5, -0.2], [-0.1, 0.0, 0.0]);
        Self { turn: [0.9; 2], rewards: [[first; 2], [second; 2]], ..Self::default() }
    }

    /// P(Z = z).
    pub fn level_law(&self) -> [f64; 2] {
        [1.0 - self.level_share, self.level_share]
    }

    /// R, the bound of rewards.
    pub fn reward_bound(&self) -> f64 {
        let largest = |ρ: &[f64; 3]| ρ[0].abs() + ρ[1].hypot(ρ[2]);
        self.rewards.iter().flatten().map(largest).fold(0.0, f64::max) + self.reward_noise
    }

    /// N people with T decisions and T + 1 states, by the behaviour policy.
    pub fn simulate(&self, people: usize, horizon: usize, stream: Stream) -> Panel {
        let mut rng = stream.rng();
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).expect("a panel with a state");
        let (mut states, mut actions, mut rewards) = (vec![0.0; horizon + 1], vec![0; horizon], vec![0.0; horizon]);
        for i in 0..people {
            let z = usize::from(rng.random::<f64>() < self.level_share);
            states[0] = self.initial[z][0] + self.noise(&mut rng);
            for t in 0..horizon {
                let a = usize::from(rng.random::<f64>() < self.treated[z]);
                let s = states[t];
                actions[t] = a as u32;
                rewards[t] = self.reward(z, a, s) + self.reward_noise * (2.0 * rng.random::<f64>() - 1.0);
                states[t + 1] = s + self.turn[a] + z as f64 * EXTRA[a] + self.noise(&mut rng);
            }
            let id = i.to_string();
            let person = Person { id: &id, level: z as u32, states: &states, actions: &actions, rewards: &rewards };
            builder.push(person).expect("finite states");
        }
        builder.finish()
    }

    fn reward(&self, z: usize, a: usize, s: f64) -> f64 {
        let ρ = self.rewards[z][a];
        ρ[0] + ρ[1] * s.cos() + ρ[2] * s.sin()
    }

    /// U by rejection from the uniform law.
    fn noise(&self, rng: &mut impl Rng) -> f64 {
        loop {
            let u = PI * (2.0 * rng.random::<f64>() - 1.0);
            if rng.random::<f64>() * (1.0 + self.concentration) < 1.0 + self.concentration * u.cos() {
                return u;
            }
        }
    }

    /// The true means, in the form of a fit.
    pub fn truth(&self) -> CircleFit {
        let increments = [0.0, 1.0].map(|z| [0, 1].map(|a| self.turn[a] + z * EXTRA[a]));
        CircleFit { initial: self.initial, increments, rewards: self.rewards }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A few roundings of numbers below four.
    const CLOSE: f64 = 1e-14;

    #[test]
    fn the_tied_bed_keeps_the_rewards_of_the_first_action() {
        let (bed, tied) = (Circle::default(), Circle::tied());
        for action in 0..2 {
            assert_eq!(tied.rewards[0][action], bed.rewards[0][0]);
            assert_eq!(tied.rewards[1][action], [bed.rewards[1][0][0], 0.0, 0.0]);
            assert_eq!(tied.turn[action], bed.turn[0]);
        }
    }

    #[test]
    fn laws_bounds_and_means_are_those_of_the_constants() {
        let bed = Circle::default();
        assert_eq!(bed.level_law(), [0.6, 0.4]);
        let truth = bed.truth();
        for (made, expected) in truth.increments.as_flattened().iter().zip([0.9, -0.5, 0.9, PI - 0.5]) {
            assert!((made - expected).abs() < CLOSE, "{:?}", truth.increments);
        }
        let largest = |bed: &Circle| {
            let angles = (0..20_000).map(|k| f64::from(k) * PI / 10_000.0);
            angles
                .flat_map(|s| bed.rewards.into_iter().flatten().map(move |ρ| ρ[0] + ρ[1] * s.cos() + ρ[2] * s.sin()))
                .fold(0.0, |most: f64, r| most.max(r.abs()))
        };
        // The grid misses a maximum by at most half the square of half a step, times the amplitude.
        assert!((bed.reward_bound() - largest(&bed) - 0.3).abs() < 1e-7, "{}", bed.reward_bound());
        let mut other = bed.clone();
        other.rewards[1][0] = [-0.7, 0.4, -0.9];
        assert!((other.reward_bound() - largest(&other) - 0.3).abs() < 1e-7, "{}", other.reward_bound());
    }

    #[test]
    fn simulated_people_obey_the_equation() {
        let bed = Circle::default();
        let (people, horizon) = (4000, 3);
        let panel = bed.simulate(people, horizon, Stream::new(31));
        // Sums and numbers: levels, treatment by level, and noise.
        let (mut levels, mut treated, mut trials) = (0.0, [0.0; 2], [0.0; 2]);
        let (mut cosine, mut sine, mut lowest, mut highest) = (0.0, 0.0, 0.0f64, 0.0f64);
        let mut noise = |u: f64| {
            // A state of size ten carries rounding of a few 10⁻¹⁵.
            assert!(u.abs() <= PI + CLOSE, "{u}");
            cosine += u.cos();
            sine += u.sin();
        };
        for person in panel.iter() {
            let z = person.level as usize;
            levels += z as f64;
            noise(person.states[0] - [0.4, 0.4 + PI][z]);
            for t in 0..horizon {
                let (s, a) = (person.states[t], person.actions[t] as usize);
                treated[z] += a as f64;
                trials[z] += 1.0;
                let step = if a == 0 { 0.9 } else { -0.5 + [0.0, PI][z] };
                noise(person.states[t + 1] - s - step);
                let ρ = bed.rewards[z][a];
                let left = person.rewards[t] - (ρ[0] + ρ[1] * s.cos() + ρ[2] * s.sin());
                assert!(left.abs() <= 0.3 + CLOSE, "{left}");
                (lowest, highest) = (lowest.min(left), highest.max(left));
            }
        }
        // Missed with probability 0.95^12000.
        assert!(lowest < -0.27 && highest > 0.27, "{lowest}, {highest}");
        // Hoeffding for shares of at least 4000 trials: 2 exp(−2 · 4000 · 0.06²) = 6e-13 each.
        assert!((levels / people as f64 - 0.4).abs() < 0.06, "{levels}");
        assert!(
            (treated[0] / trials[0] - 0.35).abs() < 0.06 && (treated[1] / trials[1] - 0.6).abs() < 0.06,
            "{treated:?}"
        );
        // E cos U = κ/2 and E sin U = 0. Hoeffding for 16 000 numbers on [−1, 1]: 2 exp(−16000 · 0.06²/2) = 6e-13 each.
        let draws = (people * (horizon + 1)) as f64;
        assert!((cosine / draws - 0.4).abs() < 0.06 && (sine / draws).abs() < 0.06, "{cosine}, {sine}");
    }
}
