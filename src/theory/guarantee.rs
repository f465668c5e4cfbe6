//! `thm:regret`, corrected, with constants that can be computed; and beside it what it says in print and what happened.
//!
//! # Equation
//! ```text
//! ‖Q* − f̂_B‖∞ ≤ ξ = (e_stat + e_pert)/(1−γ) + γᴮV,   regret ≤ 2ξ/(1−γ)
//! e_stat = R₂V/√(na)·[√d + √(2x + 2d log(1 + 4R₂√(n/λ₀))) + 2γ],   e_pert = R₂[(ε_r + γL_f ε_s + L₂‖w_f‖ε_s)/√c + L₂ε_s V/c]
//! ```
//! with na = λ_min(A), nc = λ_min(C), ‖w_f‖ = V/√a and L_f = L₂V/√c. With population constants a = λ₀/2 and c = λ₀/4; in the certificate both are those
//! of the data at hand.

use crate::kernel::learn::Clipping;
use crate::kernel::numeric::{Stream, small, uniform_index};
use crate::kernel::people::{Labels, PanelBuilder, Person};
use crate::kernel::preprocess::{Experience, Sequential, StateOnly, Unaware, batch};
use crate::theory::beds::{Circle, Harmonics};

/// Steps of fitted Q iteration: 0.7⁴⁰ is below one part in a million.
const STEPS: usize = 40;
/// T: a tuple is taken at one of these times of each person.
const HORIZON: usize = 6;
/// d.
const FEATURES: usize = 12;

/// One data set of the circle bed, what was learned from it, and what two forms of `thm:regret` had promised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// n, tuples.
    pub tuples: usize,
    /// ε_s, how far states were disturbed.
    pub state_error: f64,
    /// ε_r, how far rewards were disturbed.
    pub reward_error: f64,
    /// ‖f̂ − Q*‖∞.
    pub error: f64,
    /// J* − J(π̂).
    pub regret: f64,
    /// The regret bound as printed, with its constant C and its κ set to 1.
    pub printed: f64,
    /// The corrected regret bound 2ξ/(1−γ) with the constants of the population.
    pub population: f64,
    /// The corrected regret bound with the constants of the data set.
    pub certificate: f64,
}

/// Sizes n = 500 … 32 000 with exact states and rewards, and errors up to the largest that the corrected theorem allows at n = 8000.
pub fn bounds() -> Vec<Bounds> {
    let sizes = [500, 2000, 8000, 32_000].map(|n| (n, 0.0));
    let errors = [0.1, 0.3, 1.0].map(|share| (8000, share));
    sizes.into_iter().chain(errors).map(|(n, share)| bounds_at(n, share, Stream::new(64))).collect()
}

/// n tuples, disturbed by a share of the largest state error allowed and of a reward error of 0.05.
pub(crate) fn bounds_at(n: usize, share: f64, stream: Stream) -> Bounds {
    let bed = Circle::default();
    let (λ0, γ, r) = (bed.coverage(HORIZON), bed.discount, bed.reward_bound());
    // The corrected theorem asks 8R₂L₂ε_s ≤ λ₀.
    let ε_s = share * λ0 / (8.0 * Harmonics::SIZE * Harmonics::STEEPEST);
    let sample = Sample::draw(&bed, n, ε_s, 0.05 * share, stream.index(n as u64).index((100.0 * share) as u64));
    let weights =
        bed.learn(&sample.experience, STEPS, Clipping::Rewards(r)).expect("both actions are seen in both blocks");
    let best = bed.optimum();
    let corrected = |a, c| 2.0 * sample.error_bound(&bed, a, c) / (1.0 - γ);
    // In print: C dLRε/(λ₀(λ₀ − 4dLε)(1−γ)³) + C dRκ log n/(λ₀√n(1−γ)³) + γᴮR/(1−γ)², with L = 2 for a feature of the circle.
    let (d, l, ε, n_f, horizon) = (FEATURES as f64, 2.0, ε_s.max(sample.reward_error), n as f64, (1.0 - γ).powi(3));
    let printed = d * l * r * ε / (λ0 * (λ0 - 4.0 * d * l * ε) * horizon)
        + d * r * n_f.ln() / (λ0 * n_f.sqrt() * horizon)
        + γ.powi(STEPS as i32) * r / (1.0 - γ).powi(2);
    Bounds {
        tuples: n,
        state_error: ε_s,
        reward_error: sample.reward_error,
        error: bed.sup_distance(&best, &weights),
        regret: (bed.start_value(&best) - bed.value_of_greedy(&weights)).max(0.0),
        printed,
        population: corrected(λ0 / 2.0, λ0 / 4.0),
        certificate: corrected(sample.coverage(&sample.truth), sample.coverage(&sample.read)),
    }
}

/// Independent tuples of pairs of counterfactual states, as they are and as they were read.
struct Sample {
    /// (s₀, s₁) before the decision.
    truth: Vec<[f64; 2]>,
    read: Vec<[f64; 2]>,
    actions: Vec<u32>,
    state_error: f64,
    reward_error: f64,
    /// What is learned from: read states and rewards, one tuple per person.
    experience: Experience<StateOnly>,
}

impl Sample {
    /// One tuple of each of n people, at a time drawn from 1 … T, with states off by up to `state_error` and rewards by `reward_error`.
    fn draw(bed: &Circle, n: usize, state_error: f64, reward_error: f64, stream: Stream) -> Self {
        let panel = bed.simulate(n, HORIZON, stream);
        let exact = batch(&Sequential::new(bed.truth(), bed.level_law().to_vec()), &panel).expect("finite states");
        let mut rng = stream.named("times").rng();
        let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(2), 2).expect("a panel with states");
        let (mut truth, mut read, mut actions) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..n {
            let t = uniform_index(&mut rng, HORIZON);
            let (row, k) = (exact.views_of(i).start + t, exact.decisions_of(i).start + t);
            let at = |row: usize| [exact.views()[2 * row], exact.views()[2 * row + 1]];
            let misread = |pair: [f64; 2]| pair.map(|s| s + state_error * wave(s));
            let (now, then) = (misread(at(row)), misread(at(row + 1)));
            let reward = exact.rewards()[k] + reward_error * wave(at(row)[0]).signum();
            let (id, action) = (i.to_string(), exact.actions()[k]);
            let states = [now, then].concat();
            let person = Person { id: &id, level: 0, states: &states, actions: &[action], rewards: &[reward] };
            builder.push(person).expect("finite numbers");
            truth.push(at(row));
            read.push(now);
            actions.push(action);
        }
        let experience = batch(&Unaware { state_dim: 2 }, &builder.finish()).expect("finite states");
        Self { truth, read, actions, state_error, reward_error, experience }
    }

    /// λ_min of Σφφᵀ/n over the actions.
    fn coverage(&self, pairs: &[[f64; 2]]) -> f64 {
        let least = |action: u32| {
            let mut gram = [0.0; 36];
            for ([s0, s1], _) in pairs.iter().zip(&self.actions).filter(|(_, a)| **a == action) {
                let φ = Harmonics::at(*s0, *s1);
                (0..36).for_each(|k| gram[k] += φ[k / 6] * φ[k % 6]);
            }
            small::symmetric_eigenvalues(&gram, 6)[0] / pairs.len() as f64
        };
        least(0).min(least(1))
    }

    /// ξ at x = log n.
    fn error_bound(&self, bed: &Circle, a: f64, c: f64) -> f64 {
        let (γ, n, d, λ0) = (bed.discount, self.actions.len() as f64, FEATURES as f64, bed.coverage(HORIZON));
        let (r2, l2, limit) = (Harmonics::SIZE, Harmonics::STEEPEST, bed.reward_bound() / (1.0 - bed.discount));
        let net = (2.0 * n.ln() + 2.0 * d * (1.0 + 4.0 * r2 * (n / λ0).sqrt()).ln()).sqrt();
        let e_stat = r2 * limit / (n * a).sqrt() * (d.sqrt() + net + 2.0 * γ);
        let (ε_s, ε_r, weight, steepest) =
            (self.state_error, self.reward_error, limit / a.sqrt(), l2 * limit / c.sqrt());
        let e_pert = r2 * ((ε_r + γ * steepest * ε_s + l2 * weight * ε_s) / c.sqrt() + l2 * ε_s * limit / c);
        (e_stat + e_pert) / (1.0 - γ) + γ.powi(STEPS as i32) * limit
    }
}

/// A smooth error of sup-norm 1.
fn wave(s: f64) -> f64 {
    (3.0 * s + 0.5).sin()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corrected_bounds_grow_with_errors_while_the_printed_one_shrinks() {
        let at = |share| bounds_at(500, share, Stream::new(64));
        let (exact, disturbed) = (at(0.0), at(1.0));
        assert!(disturbed.population > exact.population && disturbed.certificate > exact.certificate);
        // λ₀ − 4dLε is negative here, and with it the printed term in ε.
        assert!(disturbed.printed < exact.printed, "{exact:?} {disturbed:?}");
    }

    #[test]
    fn the_coverage_of_a_sample_tends_to_that_of_the_population() {
        let bed = Circle::default();
        let sample = Sample::draw(&bed, 20_000, 0.0, 0.0, Stream::new(65));
        let (found, right) = (sample.coverage(&sample.truth), bed.coverage(HORIZON));
        assert!((found / right - 1.0).abs() < 0.1, "{found} and {right}");
        assert_eq!(found, sample.coverage(&sample.read));
    }
}
