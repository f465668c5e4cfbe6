//! The non-linear world. Splines approach its means, more slowly than N^−½; a class with sine and cosine holds them.
//!
//! Theorems and laws of N suppose means that err like N^−½, so that they are asked of the second; what becomes of the first stands beside them.

use super::measured::{Quantity, against_n, in_error};
use super::{AT_LEAST_LINEAR, AT_LEAST_ROOT, OVER_ERROR, OVER_SIZE, words};
use crate::theory::optimum::PaperWorld::Nonlinear;
use crate::theory::theorems::{Claim, Expected};

const SIZE: Claim = Claim {
    assumes: &[
        "non-linear world, δ = 1, γ = 0.9, 10 decisions per person",
        "N = 125 to 4000, 100 panels each",
        "splines for means, quadratics for action values",
    ],
    ..OVER_SIZE
};

pub(super) const KNOWN_FORM: Claim = Claim {
    assumes: &[
        "non-linear world, δ = 1, γ = 0.9, 10 decisions per person",
        "N = 125 to 4000, 100 panels each",
        "means in a class that holds the truth, quadratics for action values",
    ],
    ..OVER_SIZE
};

pub(super) const ERROR: Claim = Claim {
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
        label: "rate:epsilon",
        says: "non-linear world: regret grows at least like the error ε of the means (Theorem 3)",
        limit: AT_LEAST_LINEAR,
        check: |run| in_error(Nonlinear, Quantity::Regret, run),
        proved_by: &["fair_value_at_least"],
        source: words::REGRET_GROWS,
        ..ERROR
    },
];
