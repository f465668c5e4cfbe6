//! Rates of the deployed policy in both of the paper's worlds: what theorems promise, what the law of a margin says, and what is so.
//!
//! Reading order: `grid` (the runs, made once for all rows), `measured` (what is read from them), `oracle`, then the rows: the linear world, the
//! non-linear one.

mod grid;
mod linear;
mod measured;
mod nonlinear;
mod oracle;

use super::{Claim, Limit, Quotation};

/// The four checks first, then what else is measured in either world.
pub(super) const ROOMS: [&[Claim]; 4] = [linear::CHECKS, &[ORACLE], linear::CLAIMS, nonlinear::CLAIMS];

/// What the document says of these rates.
mod words {
    use super::Quotation;

    pub const REGRET_FALLS: Option<Quotation> = Quotation::at(387, r"which approaches zero as $n$ increases");
    pub const REGRET_GROWS: Option<Quotation> = Quotation::at(387, r"The first term is proportional to $\epsilon$");
    pub const METRIC_FALLS: Option<Quotation> =
        Quotation::at(421, r"the CF metric of our approach decreases with increasing sample size $N$");
    pub const METRIC_GROWS: Option<Quotation> =
        Quotation::at(401, r"The second term is related to the estimation error of counterfactual states");
    pub const ORACLE_IS_IDEAL: Option<Quotation> =
        Quotation::at(407, r"an idealized policy that used concatenations of counterfactual states");
}

/// Where means and action values err by N^−½, Theorem 3 bounds regret by a multiple of it, and Theorem 4 unfairness at α = 1.
const AT_LEAST_ROOT: Limit = Limit::SlopeAtMost { slope: -0.5 };
/// The same against an error ε of the means.
const AT_LEAST_LINEAR: Limit = Limit::SlopeAtLeast { slope: 1.0 };

/// Against N, at the paper's δ = 1.
const OVER_SIZE: Claim = Claim {
    control: "single-stage preprocessing (FLAP) in place of alg:cf:1",
    runs: "estimate::fit, kernel::preprocess::Sequential, kernel::learn::fitted_q_iteration, theory::RegretMeter",
    ..Claim::LEMMA
};

/// Against an error of the means.
const OVER_ERROR: Claim = Claim {
    control: "an error of 0.4 that stays, in addition to ε",
    runs: "kernel::preprocess::Sequential, theory::BestRule, theory::RegretMeter",
    ..Claim::LEMMA
};

/// The fourth check.
const ORACLE: Claim = Claim {
    label: "alg:cf:1",
    says: "with true means: the Oracle's states, rewards, weights of f̂ and actions, number by number",
    assumes: &["both of the paper's worlds, δ = 1", "400 people, 10 decisions", "true P(Z)"],
    limit: Limit::Equal,
    check: oracle::agreement,
    control: "fitted means",
    runs: "kernel::preprocess::{Sequential, Oracle}, kernel::learn::fitted_q_iteration",
    source: words::ORACLE_IS_IDEAL,
    proved_by: &["algorithm1_is_exact", "algorithm1_is_augmentation"],
    ..Claim::HEADLINE
};
