//! The non-linear world. Splines approach its means, more slowly than N^−½; a class with sine and cosine holds them.
//!
//! Theorems and laws of N suppose means that err like N^−½, so that they are asked of the second; what becomes of the first stands beside them.

use super::measured::{Quantity, against_error, against_n};
use super::{AT_LEAST_LINEAR, AT_LEAST_ROOT, OVER_ERROR, OVER_SIZE, words};
use crate::theory::optimum::PaperWorld::Nonlinear;
use crate::theory::theorems::{Claim, Expected, Found, Limit, Run};

const SIZE: Claim = Claim {
    assumes: &[
        "non-linear world, δ = 1, γ = 0.9, 10 decisions per person",
        "N = 125 to 4000, 100 panels each",
        "splines for means, quadratics for action values",
    ],
    ..OVER_SIZE
};

const KNOWN_FORM: Claim = Claim {
    assumes: &[
        "non-linear world, δ = 1, γ = 0.9, 10 decisions per person",
        "N = 125 to 4000, 100 panels each",
        "means in a class that holds the truth, quadratics for action values",
    ],
    ..OVER_SIZE
};

const ERROR: Claim = Claim {
    assumes: &[
        "non-linear world, δ = 1, γ = 0.9",
        "the best fair rule, with true means but for ±ε at one level",
        "ε = 0.4 to 0.0125, 40 crowds",
    ],
    ..OVER_ERROR
};

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        label: "rate:n",
        says: "non-linear world, means as splines: regret J*CF − Ṽ falls at least like N^−½ (Theorem 3)",
        limit: AT_LEAST_ROOT,
        check: |run| against_n(Nonlinear, Quantity::Regret, run.pick(|runs| runs.ours, |runs| runs.single_stage)),
        proved_by: &["fair_value_at_least"],
        source: words::REGRET_FALLS,
        ..SIZE
    },
    Claim {
        label: "rate:n",
        says: "non-linear world, means of known form: regret J*CF − Ṽ falls like N^−1, the law of a margin with α = 1",
        limit: Limit::Law { slope: -1.0 },
        check: |run| falls(Quantity::Regret, run),
        proved_by: &["fast_rate_of_the_fair_value"],
        source: words::REGRET_FALLS,
        ..KNOWN_FORM
    },
    Claim {
        label: "rate:gained",
        says: "non-linear world, means of known form: |J − Ṽ|, what is gained by unfairness, falls at least like N^−½ (margin, α = 1)",
        limit: AT_LEAST_ROOT,
        check: |run| falls(Quantity::Gained, run),
        proved_by: &["gained_under_margin"],
        ..KNOWN_FORM
    },
    Claim {
        label: "rate:gained",
        says: "non-linear world, means of known form: |J − Ṽ|, what is gained by unfairness, falls like N^−½",
        limit: Limit::Law { slope: -0.5 },
        check: |run| falls(Quantity::Gained, run),
        proved_by: &["gained_under_margin"],
        ..KNOWN_FORM
    },
    Claim {
        label: "rate:cf_metric",
        says: "non-linear world, means as splines: the CF metric falls at least like N^−½; it falls more slowly, as such means do",
        limit: AT_LEAST_ROOT,
        check: |run| against_n(Nonlinear, Quantity::Metric, run.pick(|runs| runs.ours, |runs| runs.known_form)),
        control: "means in a class that holds the truth",
        expected: Expected::Outside,
        source: words::METRIC_FALLS,
        ..SIZE
    },
    Claim {
        label: "rate:cf_metric",
        says: "non-linear world, means of known form: the CF metric falls like N^−½",
        limit: Limit::Law { slope: -0.5 },
        check: |run| falls(Quantity::Metric, run),
        proved_by: &["cf_metric_is_controlled"],
        source: words::METRIC_FALLS,
        ..KNOWN_FORM
    },
    Claim {
        label: "rate:oracle",
        says: "non-linear world, means of known form: |J − J of the Oracle| falls like N^−½, because J − Ṽ is part of it",
        limit: Limit::Law { slope: -0.5 },
        check: |run| {
            against_n(Nonlinear, Quantity::ValueFromOracle, run.pick(|runs| runs.known_form, |runs| runs.unaware))
        },
        control: "the policy that is unaware of the level in place of ours",
        proved_by: &["regret_of_the_deployed_rule_under_margin"],
        source: words::ORACLE_IS_IDEAL,
        ..KNOWN_FORM
    },
    Claim {
        label: "rate:oracle",
        says: "non-linear world, means of known form: |Ṽ − Ṽ of the Oracle| falls like N^−1",
        limit: Limit::Law { slope: -1.0 },
        check: |run| falls(Quantity::FairValueFromOracle, run),
        proved_by: &["fast_rate_of_the_fair_value"],
        source: words::ORACLE_IS_IDEAL,
        ..KNOWN_FORM
    },
    Claim {
        label: "rate:epsilon",
        says: "non-linear world: regret grows at least like the error ε of the means (Theorem 3)",
        limit: AT_LEAST_LINEAR,
        check: |run| in_error(Quantity::Regret, run),
        proved_by: &["fair_value_at_least"],
        source: words::REGRET_GROWS,
        ..ERROR
    },
    Claim {
        label: "rate:epsilon",
        says: "non-linear world: regret grows like ε², the law of a margin with α = 1",
        limit: Limit::Law { slope: 2.0 },
        check: |run| in_error(Quantity::Regret, run),
        proved_by: &["fast_rate_of_the_fair_value"],
        source: words::REGRET_GROWS,
        ..ERROR
    },
    Claim {
        label: "rate:epsilon",
        says: "non-linear world: |J − Ṽ| grows like ε",
        limit: Limit::Law { slope: 1.0 },
        check: |run| in_error(Quantity::Gained, run),
        proved_by: &["gained_under_margin"],
        ..ERROR
    },
    Claim {
        label: "rate:epsilon",
        says: "non-linear world: the CF metric grows like ε",
        limit: Limit::Law { slope: 1.0 },
        check: |run| in_error(Quantity::Metric, run),
        proved_by: &["cf_metric_is_controlled"],
        source: words::METRIC_GROWS,
        ..ERROR
    },
];

fn falls(quantity: Quantity, run: Run) -> Found {
    against_n(Nonlinear, quantity, run.pick(|runs| runs.known_form, |runs| runs.single_stage))
}

fn in_error(quantity: Quantity, run: Run) -> Found {
    against_error(Nonlinear, quantity, run.pick(&[|runs| runs.above, |runs| runs.below], &[|runs| runs.stays]))
}
