//! Rates: slopes of log means over at least 64-fold ranges, with bootstrap intervals over seeds.
//!
//! A law is refuted when the 99 % percentile interval of the slope misses the target: by chance once in a hundred laws, were
//! the target exactly the slope of the means at these sizes. Seeds are fixed, so a law that holds keeps holding. Means are
//! averaged before logarithms are taken, because regret is often exactly zero.

use super::beds::{Disturbance, hat, hat_far_from_ties, learn};
use super::search::Equalities;
use super::{Budget, Claim, Expected, Law, Verdict, Witness};
use crate::kernel::learn::Clipping;
use crate::kernel::numeric::quadrature::normal_cdf;
use crate::kernel::numeric::small::sup;
use crate::kernel::numeric::{Estimate, SlopeFit, Stream, log_log_slope};
use rayon::prelude::*;

pub(super) const CLAIMS: &[Claim] = &[
    Claim::ours(
        "rate:n",
        "‖f̂ − Q*‖∞ falls like n^{−1/2}",
        &["bed:hat", "exact states and rewards"],
        Expected::NotRefuted,
        |budget| in_sample_size(budget, false, Falling::Error, -0.5),
        |budget| in_sample_size(budget, true, Falling::Error, -0.5),
    )
    .runs("kernel::learn::fitted_q_iteration"),
    Claim::ours(
        "rate:n",
        "regret falls like n^{−(1+α)/2} = n^{−1} at a fixed instance with margin α = 1",
        &["bed:hat", "the two action values cross, and are 0.3 apart at every node", "n ≥ 500"],
        Expected::NotRefuted,
        |budget| in_sample_size(budget, false, Falling::Regret, -1.0),
        |budget| in_sample_size(budget, true, Falling::Regret, -1.0),
    )
    .runs("kernel::learn::fitted_q_iteration"),
    Claim::ours(
        "rate:epsilon",
        "|f̂(ε) − f̂(0)| grows like ε on the same data",
        &["bed:hat", "state and reward errors of size ε"],
        Expected::NotRefuted,
        |budget| in_error(budget, 1.0),
        |budget| in_error(budget, 0.5),
    )
    .runs("kernel::learn::fitted_q_iteration"),
    Claim::ours(
        "rate:minimax",
        "worst-case regret is of order n^{−1/2}: a family of two arms with gap c/√n has slope exactly −1/2",
        &["normal rewards", "gap shrinks with n"],
        Expected::Exact,
        |_| shrinking_gap(0.5),
        |_| shrinking_gap(0.0),
    ),
    Claim::ours(
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
fn judge(axis: &'static str, sizes: &[f64], samples: &[Vec<f64>], target: f64, stream: Stream) -> Verdict {
    let SlopeFit { slope, intercept, interval: (low, high), confidence } =
        match log_log_slope(sizes, samples, CONFIDENCE, RESAMPLES, stream) {
            Ok(fit) => fit,
            Err(error) => return Verdict::Inconclusive { reason: error.to_string() },
        };
    let estimates: Vec<Estimate> = samples.iter().map(|values| Estimate::of(values)).collect();
    let runs = samples.iter().map(Vec::len).sum();
    let law = Some(Box::new(Law {
        axis: axis.into(),
        sizes: sizes.to_vec(),
        means: estimates.iter().map(|e| e.mean).collect(),
        standard_errors: estimates.iter().map(|e| e.standard_error).collect(),
        runs,
        slope,
        intercept,
        interval: (low, high),
        confidence,
        target,
    }));
    if target < low || high < target {
        let text = format!("the slope {slope:.3} has the interval [{low:.3}, {high:.3}]");
        return Verdict::Refuted { witness: Witness { text, left: slope, right: target, law } };
    }
    let half = if slope > target { slope - low } else { high - slope };
    Verdict::NotRefuted { trials: runs, worst_ratio: (slope - target).abs() / half, law }
}

/// Steps of fitted Q iteration: γ⁴⁰ is one part in seven thousand.
const STEPS: usize = 40;

/// Several statistics of replicates at several sizes, made once for all laws that read them.
pub(super) struct Runs<const K: usize> {
    axis: &'static str,
    sizes: Vec<f64>,
    values: Vec<Vec<[f64; K]>>,
}

impl<const K: usize> Runs<K> {
    /// `replicate(size, seed)` for all seeds at all sizes; a replicate without data enough is left out.
    ///
    /// Runs are made on a pool of their own, behind a plain thread: a worker of the shared pool that waited for its part would
    /// pick up another law meanwhile, which would wait for the same runs.
    pub(super) fn make(
        axis: &'static str,
        sizes: Vec<f64>,
        seeds: u64,
        replicate: impl Fn(f64, u64) -> Option<[f64; K]> + Sync,
    ) -> Self {
        let at = |n: f64| (0..seeds).into_par_iter().filter_map(|seed| replicate(n, seed)).collect();
        let all = || sizes.iter().map(|&n| at(n)).collect();
        let values = std::thread::scope(|scope| {
            let pool = rayon::ThreadPoolBuilder::new().build().expect("threads can be started");
            scope.spawn(move || pool.install(all)).join().expect("a replicate does not panic")
        });
        Self { axis, sizes, values }
    }

    /// Whether one statistic follows the law.
    pub(super) fn judge(&self, statistic: usize, target: f64, stream: Stream) -> Verdict {
        let samples: Vec<Vec<f64>> =
            self.values.iter().map(|at| at.iter().map(|values| values[statistic]).collect()).collect();
        judge(self.axis, &self.sizes, &samples, target, stream.index(statistic as u64))
    }
}

/// Seven sizes, each twice the one before: a 64-fold range.
pub(super) fn doubling(first: f64) -> Vec<f64> {
    (0..7).map(|k| first * f64::from(1 << k)).collect()
}

/// Seeds a size; a control shows a slope that is far off and needs fewer.
pub(super) fn seeds(budget: Budget, control: bool) -> u64 {
    if control { budget.pick(15, 60) } else { budget.pick(60, 200) }
}

/// What is looked at for growing n.
#[derive(Clone, Copy, PartialEq)]
enum Falling {
    Error,
    Regret,
}

/// ‖f̂ − Q*‖∞ on the hat bed, or regret on the one without near ties, over a 64-fold range of n.
///
/// Regret starts where errors are well below the distance of the nodes from a tie; from n = 125 on its slope is −1.1.
fn in_sample_size(budget: Budget, control: bool, falling: Falling, target: f64) -> Verdict {
    let by = if control { BIASED } else { Disturbance::NONE };
    let (bed, first) = match falling {
        Falling::Error => (hat(), 125.0),
        Falling::Regret => (hat_far_from_ties(), 500.0),
    };
    let best = bed.optimum();
    // Regret has draws of its own: those of the error were seen when its bed was chosen.
    let draws = Stream::new(if falling == Falling::Error { 71 } else { 75 });
    let runs = Runs::make("n", doubling(first), seeds(budget, control), |n, seed| {
        let stream = draws.index(n as u64).index(seed);
        let fit = learn(&bed, n as usize, STEPS, by, Clipping::Rewards(bed.reward_bound()), stream);
        Some([match falling {
            Falling::Error => sup(&best.iter().zip(&fit.weights).map(|(q, w)| q - w).collect::<Vec<_>>()),
            Falling::Regret => bed.regret(&bed.greedy(&fit.weights)).max(0.0),
        }])
    });
    runs.judge(0, target, Stream::new(72).index(falling as u64))
}

/// Errors ε^power in states and rewards, ε from 10⁻⁵ to 6.4·10⁻⁴, against the undisturbed fit on the same 400 tuples.
fn in_error(budget: Budget, power: f64) -> Verdict {
    let bed = hat();
    let runs = Runs::make("ε", doubling(1e-5), seeds(budget, power != 1.0), |ε, seed| {
        let stream = Stream::new(73).index((ε * 1e5).round() as u64).index(seed);
        let size = ε.powf(power);
        let fit = |by: Disturbance| learn(&bed, 400, STEPS, by, Clipping::Off, stream).weights;
        let (made, clean) = (fit(Disturbance { states: size, rewards: size, scale: 1.0 }), fit(Disturbance::NONE));
        Some([sup(&made.iter().zip(&clean).map(|(a, b)| a - b).collect::<Vec<_>>())])
    });
    runs.judge(0, 1.0, Stream::new(74))
}

/// Slopes of closed forms: erfc is good to a dozen digits, and the logarithm of 2 divides.
const CLOSED_FORM: f64 = 1e-10;

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
        equal.case(slope, -0.5, CLOSED_FORM, || {
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
        equal.case(slope, 1.0, CLOSED_FORM, || {
            format!("errors ε^{power}, ε = {ε} and {more}: regret {:.4e} and {:.4e}", regret(ε), regret(more))
        });
    }
    equal.verdict()
}
