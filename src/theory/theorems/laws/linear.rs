//! The linear world, whose means are in the class of splines that is fitted.

use super::measured::{Quantity, against_error, against_large_errors, against_n};
use super::{AT_LEAST_LINEAR, AT_LEAST_ROOT, OVER_ERROR, OVER_SIZE, words};
use crate::theory::optimum::PaperWorld::Linear;
use crate::theory::theorems::{Claim, Expected, Found, Limit, Rank, Run};

const SIZE: Claim = Claim {
    assumes: &[
        "linear world, δ = 1, γ = 0.9, 10 decisions per person",
        "N = 125 to 4000, 100 panels each",
        "splines for means, quadratics for action values",
    ],
    ..OVER_SIZE
};

const ERROR: Claim = Claim {
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
        check: |run| in_error(Quantity::Regret, run),
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
        label: "rate:n",
        says: "linear world: regret J*CF − Ṽ falls like N^−1, the law of a margin with α = 1",
        limit: Limit::Law { slope: -1.0 },
        check: |run| falls(Quantity::Regret, run),
        proved_by: &["fast_rate_of_the_fair_value"],
        source: words::REGRET_FALLS,
        ..SIZE
    },
    Claim {
        label: "rate:gained",
        says: "linear world: |J − Ṽ|, what is gained by unfairness, falls at least like N^−½ (margin, α = 1)",
        limit: AT_LEAST_ROOT,
        check: |run| falls(Quantity::Gained, run),
        proved_by: &["gained_under_margin"],
        ..SIZE
    },
    Claim {
        label: "rate:gained",
        says: "linear world: |J − Ṽ|, what is gained by unfairness, falls like N^−½",
        limit: Limit::Law { slope: -0.5 },
        check: |run| falls(Quantity::Gained, run),
        proved_by: &["gained_under_margin"],
        ..SIZE
    },
    Claim {
        label: "rate:cf_metric",
        says: "linear world: the CF metric falls like N^−½",
        limit: Limit::Law { slope: -0.5 },
        check: |run| falls(Quantity::Metric, run),
        proved_by: &["cf_metric_is_controlled"],
        source: words::METRIC_FALLS,
        ..SIZE
    },
    Claim {
        label: "rate:oracle",
        says: "linear world: |J − J of the Oracle| falls like N^−½, because J − Ṽ is part of it",
        limit: Limit::Law { slope: -0.5 },
        check: |run| against_n(Linear, Quantity::ValueFromOracle, run.pick(|runs| runs.ours, |runs| runs.unaware)),
        control: "the policy that is unaware of the level in place of ours",
        proved_by: &["regret_of_the_deployed_rule_under_margin"],
        source: words::ORACLE_IS_IDEAL,
        ..SIZE
    },
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
        label: "rate:oracle",
        says: "linear world: |Ṽ − Ṽ of the Oracle| falls like N^−1",
        limit: Limit::Law { slope: -1.0 },
        check: |run| falls(Quantity::FairValueFromOracle, run),
        proved_by: &["fast_rate_of_the_fair_value"],
        source: words::ORACLE_IS_IDEAL,
        ..SIZE
    },
    Claim {
        label: "rate:epsilon",
        says: "linear world: regret grows like ε², the law of a margin with α = 1",
        limit: Limit::Law { slope: 2.0 },
        check: |run| in_error(Quantity::Regret, run),
        proved_by: &["fast_rate_of_the_fair_value"],
        source: words::REGRET_GROWS,
        ..ERROR
    },
    Claim {
        label: "rate:epsilon",
        says: "linear world: regret grows like ε² where ε is 0.05 to 0.4 and positive: errors are too large for the law",
        limit: Limit::Law { slope: 2.0 },
        check: |run| match run {
            Run::Stated => against_large_errors(Linear, Quantity::Regret),
            Run::Control => in_error(Quantity::Regret, Run::Stated),
        },
        control: "ε of either sign, from 0.4 down to 0.0125",
        expected: Expected::Outside,
        source: words::REGRET_GROWS,
        ..ERROR
    },
    Claim {
        label: "rate:epsilon",
        says: "linear world: |J − Ṽ| grows like ε",
        limit: Limit::Law { slope: 1.0 },
        check: |run| in_error(Quantity::Gained, run),
        proved_by: &["gained_under_margin"],
        ..ERROR
    },
    Claim {
        label: "rate:epsilon",
        says: "linear world: the CF metric grows like ε",
        limit: Limit::Law { slope: 1.0 },
        check: |run| in_error(Quantity::Metric, run),
        proved_by: &["cf_metric_is_controlled"],
        source: words::METRIC_GROWS,
        ..ERROR
    },
];

fn falls(quantity: Quantity, run: Run) -> Found {
    against_n(Linear, quantity, run.pick(|runs| runs.ours, |runs| runs.single_stage))
}

fn in_error(quantity: Quantity, run: Run) -> Found {
    against_error(Linear, quantity, run.pick(&[|runs| runs.above, |runs| runs.below], &[|runs| runs.stays]))
}
