//! The linear world, whose means are in the class of splines that is fitted: three of the four checks, and two laws that do not hold.

use super::measured::{Quantity, against_large_errors, against_n, in_error};
use super::{AT_LEAST_LINEAR, AT_LEAST_ROOT, OVER_ERROR, OVER_SIZE, words};
use crate::theory::optimum::PaperWorld::Linear;
use crate::theory::theorems::{Claim, Expected, Found, Limit, Rank, Run};

pub(super) const SIZE: Claim = Claim {
    assumes: &[
        "linear world, δ = 1, γ = 0.9, 10 decisions per person",
        "N = 125 to 4000, 100 panels each",
        "splines for means, quadratics for action values",
    ],
    ..OVER_SIZE
};

pub(super) const ERROR: Claim = Claim {
    assumes: &[
        "linear world, δ = 1, γ = 0.9",
        "the best fair rule, with true means but for ±ε at one level",
        "ε = 0.4 to 0.0125, 40 crowds",
    ],
    ..OVER_ERROR
};

/// Checks (a), (b) and (c).
pub(super) const CHECKS: &[Claim] = &[
    Claim {
        label: "rate:n",
        says: "regret J*CF − Ṽ of the deployed policy falls at least like N^−½ (Theorem 3), linear world",
        limit: AT_LEAST_ROOT,
        check: |run| falls(Quantity::Regret, run),
        proved_by: &["fair_value_at_least"],
        rank: Rank::Headline,
        source: words::REGRET_FALLS,
        ..SIZE
    },
    Claim {
        label: "rate:epsilon",
        says: "regret grows at least like the error ε of the means (Theorem 3), linear world",
        limit: AT_LEAST_LINEAR,
        check: |run| in_error(Linear, Quantity::Regret, run),
        proved_by: &["fair_value_at_least"],
        rank: Rank::Headline,
        source: words::REGRET_GROWS,
        ..ERROR
    },
    Claim {
        label: "rate:cf_metric",
        says: "the CF metric of the deployed policy falls at least like N^−½ (Theorem 4, α = 1), linear world",
        limit: AT_LEAST_ROOT,
        check: |run| falls(Quantity::Metric, run),
        proved_by: &["cf_metric_is_controlled"],
        rank: Rank::Headline,
        source: words::METRIC_FALLS,
        ..SIZE
    },
];

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        label: "rate:oracle",
        says: "linear world: |J − J of the Oracle| falls like N^−1: it does not",
        limit: Limit::Law { slope: -1.0 },
        check: |run| {
            let quantity = run.pick(Quantity::ValueFromOracle, Quantity::FairValueFromOracle);
            against_n(Linear, quantity, |runs| runs.ours)
        },
        control: "fair values Ṽ in place of values J",
        expected: Expected::Outside,
        source: words::ORACLE_IS_IDEAL,
        ..SIZE
    },
    Claim {
        label: "rate:epsilon",
        says: "linear world: regret grows like ε² where ε is 0.05 to 0.4 and positive: errors are too large for the law",
        limit: Limit::Law { slope: 2.0 },
        check: |run| match run {
            Run::Stated => against_large_errors(Linear, Quantity::Regret),
            Run::Control => in_error(Linear, Quantity::Regret, Run::Stated),
        },
        control: "ε of either sign, from 0.4 down to 0.0125",
        expected: Expected::Outside,
        source: words::REGRET_GROWS,
        ..ERROR
    },
];

fn falls(quantity: Quantity, run: Run) -> Found {
    against_n(Linear, quantity, run.pick(|runs| runs.ours, |runs| runs.single_stage))
}
