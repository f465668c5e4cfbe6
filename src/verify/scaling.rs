//! Rates: slopes of log means over at least 64-fold ranges, with bootstrap intervals over seeds.
//!
//! A law is refuted when the 99 % percentile interval of the slope misses the target: by chance once in a hundred laws, were
//! the target exactly the slope of the means at these sizes. Seeds are fixed, so a law that holds keeps holding. Means are
//! averaged before logarithms are taken, because regret is often exactly zero.

use super::beds::{Disturbance, hat, learn};
use super::search::Equalities;
use super::{Budget, Claim, Expected, Verdict, Witness};
use crate::learn::Clipping;
use crate::model::beds::Hat;
use crate::numeric::quadrature::normal_cdf;
use crate::numeric::small::sup;
use crate::numeric::{SlopeFit, Stream, log_log_slope};
use rayon::prelude::*;

pub(super) const CLAIMS: &[Claim] = &[
    Claim::corrected(
        "rate:n",
        "‖f̂ − Q*‖∞ falls like n^{−1/2}",
        &["bed:hat", "exact states and rewards"],
        Expected::NotRefuted,
        |budget| in_sample_size(budget, Disturbance::NONE, sup_error, -0.5),
        |budget| in_sample_size(budget, BIASED, sup_error, -0.5),
    ),
    Claim::corrected(
        "rate:n",
        "regret falls like n^{−(1+α)/2} = n^{−1} at a fixed instance with margin α = 1",
        &["bed:hat", "one crossing of the two action values"],
        Expected::NotRefuted,
        |budget| in_sample_size(budget, Disturbance::NONE, regret, -1.0),
        |budget| in_sample_size(budget, BIASED, regret, -1.0),
    ),
    Claim::corrected(
        "rate:epsilon",
        "|f̂(ε) − f̂(0)| grows like ε on the same data",
        &["bed:hat", "state and reward errors of size ε"],
        Expected::NotRefuted,
        |budget| in_error(budget, 1.0),
        |budget| in_error(budget, 0.5),
    ),
    Claim::corrected(
        "rate:minimax",
        "worst-case regret is of order n^{−1/2}: a family of two arms with gap c/√n has slope exactly −1/2",
        &["normal rewards", "gap shrinks with n"],
        Expected::Exact,
        |_| shrinking_gap(0.5),
        |_| shrinking_gap(0.0),
    ),
    Claim::corrected(
        "rate:minimax",
        "worst-case regret is of order ε: two arms with gap 1.9ε have slope exactly 1",
        &["reward errors ±ε"],
        Expected::Exact,
        |_| swapped_by_error(1.0),
        |_| swapped_by_error(0.5),
    ),
];

/// Reward errors that do not fall with n: a mechanism that is wrong and stays wrong.
const BIASED: Disturbance = Disturbance { states: 0.0, rewards: 0.1, scale: 1.0 };

/// Share of bootstrap slopes in the interval; one law in a hundred is refuted by chance.
const CONFIDENCE: f64 = 0.99;
const RESAMPLES: usize = 999;

/// Whether the interval of the slope holds the target.
pub(super) fn judge(sizes: &[f64], samples: &[Vec<f64>], target: f64, stream: Stream) -> Verdict {
    let means: Vec<String> =
        samples.iter().map(|s| format!("{:.2e}", s.iter().sum::<f64>() / s.len() as f64)).collect();
    match log_log_slope(sizes, samples, CONFIDENCE, RESAMPLES, stream) {
        Err(error) => Verdict::Inconclusive { reason: error.to_string() },
        Ok(SlopeFit { slope, interval: (low, high), .. }) if target < low || high < target => Verdict::Refuted {
            witness: Witness {
                text: format!(
                    "slope {slope:.2} in [{low:.2}, {high:.2}] over sizes {sizes:?}, means {}",
                    means.join(" ")
                ),
                left: slope,
                right: target,
            },
        },
        Ok(SlopeFit { slope, interval: (low, high), .. }) => {
            let half = if slope > target { slope - low } else { high - slope };
            Verdict::NotRefuted {
                trials: samples.iter().map(Vec::len).sum(),
                worst_ratio: (slope - target).abs() / half,
            }
        }
    }
}

fn seeds(budget: Budget) -> u64 {
    budget.pick(60, 200)
}

/// One law on the hat bed: n from 250 to 16 000, every size with its own seeds.
fn in_sample_size(budget: Budget, by: Disturbance, statistic: fn(&Hat, &[f64]) -> f64, target: f64) -> Verdict {
    let bed = hat();
    let sizes: Vec<f64> = (0..7).map(|k| 250.0 * f64::from(1 << k)).collect();
    let samples: Vec<Vec<f64>> = sizes
        .iter()
        .map(|&n| {
            (0..seeds(budget))
                .into_par_iter()
                .map(|seed| {
                    let stream = Stream::new(71).index(n as u64).index(seed);
                    statistic(
                        &bed,
                        &learn(&bed, n as usize, 50, by, Clipping::Rewards(bed.reward_bound()), stream).weights,
                    )
                })
                .collect()
        })
        .collect();
    judge(&sizes, &samples, target, Stream::new(72))
}

fn sup_error(bed: &Hat, weights: &[f64]) -> f64 {
    sup(&bed.optimum().iter().zip(weights).map(|(q, w)| q - w).collect::<Vec<_>>())
}

fn regret(bed: &Hat, weights: &[f64]) -> f64 {
    bed.regret(&bed.greedy(weights)).max(0.0)
}

/// Errors ε^power in states and rewards, ε from 10⁻⁵ to 6.4·10⁻⁴, against the undisturbed fit on the same tuples.
fn in_error(budget: Budget, power: f64) -> Verdict {
    let bed = hat();
    let sizes: Vec<f64> = (0..7).map(|k| 1e-5 * f64::from(1 << k)).collect();
    let samples: Vec<Vec<f64>> = sizes
        .iter()
        .enumerate()
        .map(|(k, ε)| {
            (0..seeds(budget))
                .into_par_iter()
                .map(|seed| {
                    let stream = Stream::new(73).index(k as u64).index(seed);
                    let size = ε.powf(power);
                    let fit = |by: Disturbance| learn(&bed, 1000, 50, by, Clipping::Off, stream).weights;
                    let (made, clean) =
                        (fit(Disturbance { states: size, rewards: size, scale: 1.0 }), fit(Disturbance::NONE));
                    sup(&made.iter().zip(&clean).map(|(a, b)| a - b).collect::<Vec<_>>())
                })
                .collect()
        })
        .collect();
    judge(&sizes, &samples, 1.0, Stream::new(74))
}

/// Regret of the better of two sample means, n normal rewards each, gap n^{−power}: gap·Φ(−gap√(n/2)).
fn shrinking_gap(power: f64) -> Verdict {
    let regret = |n: f64| {
        let gap = n.powf(-power);
        gap * normal_cdf(-gap * (n / 2.0).sqrt())
    };
    let mut equal = Equalities::new();
    for k in 0..6 {
        let (n, more) = (100.0 * 2f64.powi(k), 100.0 * 2f64.powi(k + 1));
        let slope = (regret(more).ln() - regret(n).ln()) / 2f64.ln();
        // erfc is good to a dozen digits, and the logarithm of 2 divides.
        equal.case(slope, -0.5, 1e-10, || {
            format!(
                "two arms, unit normal rewards, gap n^−{power}, n = {n} and {more}: regret {:.4e} and {:.4e}",
                regret(n),
                regret(more)
            )
        });
    }
    equal.verdict()
}

/// r = (1.9ε, 0), r̂ = (0.9ε, ε): the wrong arm for ever, regret 1.9ε^power/(1−γ).
fn swapped_by_error(power: f64) -> Verdict {
    let mut equal = Equalities::new();
    let regret = |ε: f64| {
        let error = ε.powf(power);
        let (truth, estimate) = ([1.9 * error, 0.0], [0.9 * error, error]);
        let chosen = usize::from(estimate[1] > estimate[0]);
        (truth[0] - truth[chosen]) / (1.0 - 0.9)
    };
    for k in 0..6 {
        let (ε, more) = (1e-3 * 2f64.powi(k), 1e-3 * 2f64.powi(k + 1));
        let slope = (regret(more).ln() - regret(ε).ln()) / 2f64.ln();
        equal.case(slope, 1.0, 1e-10, || {
            format!("errors ε^{power}, ε = {ε} and {more}: regret {:.4e} and {:.4e}", regret(ε), regret(more))
        });
    }
    equal.verdict()
}
