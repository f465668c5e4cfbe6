//! `thm:regret`, in print and corrected, beside what happened: numbers for those who want to see how much room a bound leaves.

use super::theorem::{STEPS, guarantee, largest_state_error};
use crate::kernel::learn::Clipping;
use crate::kernel::numeric::Stream;
use crate::kernel::numeric::small;
use crate::theory::claims::beds::{Disturbance, hat, learn};

/// One data set of the hat bed, what was learned from it, and what two forms of `thm:regret` had promised.
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
    sizes.into_iter().chain(errors).map(|(n, share)| at(n, share)).collect()
}

/// n tuples, disturbed by a share of the largest error allowed.
fn at(n: usize, share: f64) -> Bounds {
    let bed = hat();
    let by = Disturbance { states: share * largest_state_error(&bed), rewards: 0.05 * share, scale: 1.0 };
    let stream = Stream::new(64).index(n as u64).index((100.0 * share) as u64);
    let fit = learn(&bed, n, STEPS as usize, by, Clipping::Rewards(bed.reward_bound()), stream);
    let error = small::sup(&bed.optimum().iter().zip(&fit.weights).map(|(q, w)| q - w).collect::<Vec<_>>());
    let regret_bound = |certificate| 2.0 * guarantee(&bed, &fit, &by, certificate).ξ / (1.0 - bed.discount());

    // In print: C dLRε/(λ₀(λ₀ − 4dLε)(1−γ)³) + C dRκ log n/(λ₀√n(1−γ)³) + γᴮR/(1−γ)², L the slope of a hat.
    let (d, l, r, λ0) = (fit.weights.len() as f64, bed.cells() as f64, bed.reward_bound(), bed.coverage(0.5));
    let (γ, ε, n_f) = (bed.discount(), by.states.max(by.rewards), n as f64);
    let horizon = (1.0 - γ).powi(3);
    let printed = d * l * r * ε / (λ0 * (λ0 - 4.0 * d * l * ε) * horizon)
        + d * r * n_f.ln() / (λ0 * n_f.sqrt() * horizon)
        + γ.powi(STEPS) * r / (1.0 - γ).powi(2);
    Bounds {
        tuples: n,
        state_error: by.states,
        reward_error: by.rewards,
        error,
        regret: bed.regret(&bed.greedy(&fit.weights)).max(0.0),
        printed,
        population: regret_bound(false),
        certificate: regret_bound(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corrected_bounds_hold_and_grow_with_errors_while_the_printed_one_shrinks() {
        let (exact, disturbed) = (at(500, 0.0), at(500, 1.0));
        for found in [exact, disturbed] {
            assert!(found.regret <= found.certificate && found.regret <= found.population, "{found:?}");
        }
        assert!(disturbed.population > exact.population && disturbed.certificate > exact.certificate);
        // λ₀ − 4dLε is negative here, and with it the printed term in ε.
        assert!(disturbed.printed < exact.printed, "{exact:?} {disturbed:?}");
    }
}
