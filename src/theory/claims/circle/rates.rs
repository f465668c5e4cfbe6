//! Rates of the whole method, and of its distance from the Oracle.

use super::{HORIZON, Learned, learn};
use crate::kernel::numeric::Stream;
use crate::theory::beds::Circle;
use crate::theory::claims::scaling::{Runs, doubling, seeds};
use crate::theory::claims::{Budget, Claim, Expected, Verdict};
use std::sync::OnceLock;

pub(super) const CLAIMS: &[Claim] = &[
    Claim::ours(
        "rate:end-to-end",
        "the error of counterfactual states falls like N^{−1/2}",
        &["bed:circle", "means by level and action"],
        Expected::NotRefuted,
        |budget| law(budget, Setting::Sound, STATES, -0.5),
        |budget| law(budget, Setting::Biased, STATES, -0.5),
    )
    .at(387, r"which measures the \textit{estimation error of counterfactual states and rewards}")
    .runs("Sequential, fitted_q_iteration"),
    Claim::ours(
        "rate:end-to-end",
        "‖f̂ − Q*‖∞ falls like N^{−1/2} with estimated states and rewards",
        &["bed:circle"],
        Expected::NotRefuted,
        |budget| law(budget, Setting::Sound, VALUES, -0.5),
        |budget| law(budget, Setting::Biased, VALUES, -0.5),
    )
    .at(387, r"which measures the \textit{estimation error of counterfactual states and rewards}")
    .runs("Sequential, fitted_q_iteration"),
    Claim::ours(
        "rate:end-to-end",
        "regret falls like N^{−1} (margin α = 1)",
        &["bed:circle"],
        Expected::NotRefuted,
        |budget| law(budget, Setting::Sound, REGRET, -1.0),
        |budget| law(budget, Setting::Biased, REGRET, -1.0),
    )
    .at(387, r"which measures the \textit{estimation error of counterfactual states and rewards}")
    .runs("Sequential, fitted_q_iteration"),
    Claim::ours(
        "rate:end-to-end",
        "unfairness at t = 1 falls like N^{−1/2}",
        &["bed:circle", "closed form under the true law"],
        Expected::NotRefuted,
        |budget| law(budget, Setting::Sound, UNFAIRNESS, -0.5),
        |budget| law(budget, Setting::Biased, UNFAIRNESS, -0.5),
    )
    .at(387, r"which measures the \textit{estimation error of counterfactual states and rewards}")
    .runs("Sequential, fitted_q_iteration"),
    Claim::ours(
        "rate:oracle",
        "Ours approaches the Oracle in action values: ‖f̂ − f̂ of true states‖∞ on the same data falls like N^{−1/2}",
        &["bed:circle"],
        Expected::NotRefuted,
        |budget| law(budget, Setting::Sound, FROM_ORACLE, -0.5),
        |budget| law(budget, Setting::Biased, FROM_ORACLE, -0.5),
    )
    .at(407, r"an idealized policy that used concatenations of counterfactual states")
    .runs("Sequential, fitted_q_iteration"),
    Claim::ours(
        "rate:oracle",
        "Ours approaches the Oracle in value: |J − J of the Oracle| falls like N^{−1}",
        &["bed:circle", "margin α = 1"],
        Expected::NotRefuted,
        |budget| law(budget, Setting::Sound, VALUE_FROM_ORACLE, -1.0),
        |budget| law(budget, Setting::Biased, VALUE_FROM_ORACLE, -1.0),
    )
    .at(407, r"an idealized policy that used concatenations of counterfactual states")
    .runs("Sequential, fitted_q_iteration"),
    Claim::ours(
        "rate:oracle",
        "Ours approaches the Oracle in action: the share of first decisions that differ falls like N^{−1/2}; where actions tie it does not",
        &["bed:circle", "asm:margin, which the control's world lacks"],
        Expected::NotRefuted,
        |budget| law(budget, Setting::Sound, ACTS_FROM_ORACLE, -0.5),
        |budget| law(budget, Setting::Tied, ACTS_FROM_ORACLE, -0.5),
    )
    .at(407, r"an idealized policy that used concatenations of counterfactual states")
    .runs("Sequential, fitted_q_iteration"),
];

/// The bed and the mechanism of a run.
#[derive(Clone, Copy, PartialEq)]
enum Setting {
    /// Means estimated in a class that holds the truth.
    Sound,
    /// The same, off by a constant at level 1 for ever.
    Biased,
    /// A bed in which both actions are worth the same.
    Tied,
}

/// Statistics of a run, by place.
const STATES: usize = 0;
const VALUES: usize = 1;
const REGRET: usize = 2;
const UNFAIRNESS: usize = 3;
const FROM_ORACLE: usize = 4;
const VALUE_FROM_ORACLE: usize = 5;
const ACTS_FROM_ORACLE: usize = 6;

/// All statistics of one run.
fn replicate(bed: &Circle, people: usize, biased: bool, stream: Stream) -> Option<[f64; 7]> {
    let Learned { fit, weights, oracle } = learn(bed, people, biased, stream)?;
    let best = bed.optimum();
    let (value, oracle_value) = (bed.value_of_greedy(&weights), bed.value_of_greedy(&oracle));
    let acts = |z: usize| bed.first_disagreement(&bed.method(&weights, &fit, z), &bed.oracle(&oracle));
    Some([
        fit.state_error(&bed.truth(), HORIZON),
        bed.sup_distance(&best, &weights),
        (bed.start_value(&best) - value).max(0.0),
        bed.first_unfairness(&weights, &fit),
        bed.sup_distance(&weights, &oracle),
        (value - oracle_value).abs(),
        (0..2).map(|z| bed.level_law()[z] * acts(z)).sum(),
    ])
}

/// One law, N from 50 to 3200.
fn law(budget: Budget, setting: Setting, statistic: usize, target: f64) -> Verdict {
    static RUNS: [OnceLock<Runs<7>>; 6] = [const { OnceLock::new() }; 6];
    let runs = RUNS[budget.pick(0, 3) + setting as usize].get_or_init(|| {
        let bed = if setting == Setting::Tied { Circle::tied() } else { Circle::default() };
        Runs::make("N", doubling(50.0), seeds(budget, setting != Setting::Sound), |n, seed| {
            replicate(&bed, n as usize, setting == Setting::Biased, Stream::new(81).index(n as u64).index(seed))
        })
    });
    runs.judge(statistic, target, Stream::new(82))
}
