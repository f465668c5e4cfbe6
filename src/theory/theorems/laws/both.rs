//! The laws that both worlds keep, asked where the class of means that is fitted holds the truth: splines in the linear world, sine and cosine in the
//! non-linear one.

use super::measured::{Quantity, against_n, in_error};
use super::{AT_LEAST_ROOT, linear, nonlinear, words};
use crate::theory::optimum::PaperWorld;
use crate::theory::theorems::{Claim, Limit};

/// The rows of one world. `$means` are the runs of policies learned through the means that are asked about; `$learned` and `$misread` name the place in
/// rows against N and in rows against ε, `$size` and `$error` are what those rows share.
macro_rules! laws {
    ($world:expr, $means:ident, $learned:literal, $size:expr, $misread:literal, $error:expr) => {
        &[
            Claim {
                label: "rate:n",
                says: concat!($learned, ": regret J*CF − Ṽ falls like N^−1, the law of a margin with α = 1"),
                limit: Limit::Law { slope: -1.0 },
                check: |run| {
                    against_n($world, Quantity::Regret, run.pick(|runs| runs.$means, |runs| runs.single_stage))
                },
                proved_by: &["fast_rate_of_the_fair_value"],
                source: words::REGRET_FALLS,
                ..$size
            },
            Claim {
                label: "rate:gained",
                says: concat!($learned, ": |J − Ṽ|, what is gained by unfairness, falls at least like N^−½ (margin, α = 1)"),
                limit: AT_LEAST_ROOT,
                check: |run| {
                    against_n($world, Quantity::Gained, run.pick(|runs| runs.$means, |runs| runs.single_stage))
                },
                proved_by: &["gained_under_margin"],
                ..$size
            },
            Claim {
                label: "rate:gained",
                says: concat!($learned, ": |J − Ṽ|, what is gained by unfairness, falls like N^−½"),
                limit: Limit::Law { slope: -0.5 },
                check: |run| {
                    against_n($world, Quantity::Gained, run.pick(|runs| runs.$means, |runs| runs.single_stage))
                },
                proved_by: &["gained_under_margin"],
                ..$size
            },
            Claim {
                label: "rate:cf_metric",
                says: concat!($learned, ": the CF metric falls like N^−½"),
                limit: Limit::Law { slope: -0.5 },
                check: |run| {
                    against_n($world, Quantity::Metric, run.pick(|runs| runs.$means, |runs| runs.single_stage))
                },
                proved_by: &["cf_metric_is_controlled"],
                source: words::METRIC_FALLS,
                ..$size
            },
            Claim {
                label: "rate:oracle",
                says: concat!($learned, ": |J − J of the Oracle| falls like N^−½, because J − Ṽ is part of it"),
                limit: Limit::Law { slope: -0.5 },
                check: |run| {
                    against_n($world, Quantity::ValueFromOracle, run.pick(|runs| runs.$means, |runs| runs.unaware))
                },
                control: "the policy that is unaware of the level in place of ours",
                proved_by: &["regret_of_the_deployed_rule_under_margin"],
                source: words::ORACLE_IS_IDEAL,
                ..$size
            },
            Claim {
                label: "rate:oracle",
                says: concat!($learned, ": |Ṽ − Ṽ of the Oracle| falls like N^−1"),
                limit: Limit::Law { slope: -1.0 },
                check: |run| {
                    against_n($world, Quantity::FairValueFromOracle, run.pick(|runs| runs.$means, |runs| runs.single_stage))
                },
                proved_by: &["fast_rate_of_the_fair_value"],
                source: words::ORACLE_IS_IDEAL,
                ..$size
            },
            Claim {
                label: "rate:epsilon",
                says: concat!($misread, ": regret grows like ε², the law of a margin with α = 1"),
                limit: Limit::Law { slope: 2.0 },
                check: |run| in_error($world, Quantity::Regret, run),
                proved_by: &["fast_rate_of_the_fair_value"],
                source: words::REGRET_GROWS,
                ..$error
            },
            Claim {
                label: "rate:epsilon",
                says: concat!($misread, ": |J − Ṽ| grows like ε"),
                limit: Limit::Law { slope: 1.0 },
                check: |run| in_error($world, Quantity::Gained, run),
                proved_by: &["gained_under_margin"],
                ..$error
            },
            Claim {
                label: "rate:epsilon",
                says: concat!($misread, ": the CF metric grows like ε"),
                limit: Limit::Law { slope: 1.0 },
                check: |run| in_error($world, Quantity::Metric, run),
                proved_by: &["cf_metric_is_controlled"],
                source: words::METRIC_GROWS,
                ..$error
            },
        ]
    };
}

/// Means as splines.
pub(super) const LINEAR: &[Claim] =
    laws!(PaperWorld::Linear, ours, "linear world", linear::SIZE, "linear world", linear::ERROR);

/// Means in a class that holds the truth.
pub(super) const NONLINEAR: &[Claim] = laws!(
    PaperWorld::Nonlinear,
    known_form,
    "non-linear world, means of known form",
    nonlinear::KNOWN_FORM,
    "non-linear world",
    nonlinear::ERROR
);
