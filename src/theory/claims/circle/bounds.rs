//! `thm:cf_metric′` and the fast rate of `thm:regret′` on what the method learned.

use super::{HORIZON, Learned, learn};
use crate::kernel::numeric::Stream;
use crate::theory::beds::Circle;
use crate::theory::claims::search::Search;
use crate::theory::claims::{Budget, Claim, Expected, Verdict};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::ours(
        "thm:cf_metric",
        "P(π̂(ŝ′) ≠ π̂(ŝ″)) ≤ P(gap ≤ 2(ξ + L_Q ε_s)) ≤ C_m·2(ξ + L_Q ε_s), from alg:cf:1 to fitted Q iteration (slack about 5; the control divides by 8)",
        &["bed:circle", "t = 1", "ξ = ‖Q* − f̂‖∞ and f̂ = Q* as well", "α = 1"],
        Expected::NotRefuted,
        |budget| unfairness_bound(budget, 1.0),
        |budget| unfairness_bound(budget, 0.125),
    )
    .at(396, r"is no more than $2^{\alpha+1} \xi^\alpha +2^\alpha (L\epsilon)^\alpha$")
    .runs("Sequential, fitted_q_iteration"),
    Claim::ours(
        "thm:regret",
        "regret ≤ C_m(2ξ)²/(1−γ), from alg:cf:1 to fitted Q iteration (slack about 45; the control divides by 50)",
        &["bed:circle", "ξ = ‖Q* − f̂‖∞", "α = 1 under every policy's law"],
        Expected::NotRefuted,
        |budget| regret_bound(budget, 1.0),
        |budget| regret_bound(budget, 0.02),
    )
    .at(381, r"\frac{ C dLR_{\max}\epsilon}{\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)^3}")
    .runs("Sequential, fitted_q_iteration"),
];

/// Runs of several sizes, and what the method made of them.
fn runs(budget: Budget) -> impl Iterator<Item = (usize, u64, Learned)> {
    let bed = Circle::default();
    let each = move |(n, seed): (usize, u64)| {
        learn(&bed, n, false, Stream::new(84).index(n as u64).index(seed)).map(|learned| (n, seed, learned))
    };
    [100, 400, 1600].into_iter().flat_map(move |n| (0..budget.pick(6, 60)).map(move |seed| (n, seed))).filter_map(each)
}

/// Theorem 4′ at t = 1: the closed form of unfairness against `factor` times both right sides.
///
/// With f̂ = Q* the readings are all that is wrong, ξ = 0, and the bound is closest: a level's own reading is exact, so the worlds are
/// ε_s apart and not 2ε_s, and the gap is less steep than 2L_Q.
fn unfairness_bound(budget: Budget, factor: f64) -> Verdict {
    let bed = Circle::default();
    let best = bed.optimum();
    let (lipschitz, margin) = (bed.lipschitz(&best), bed.first_margin(&best));
    let mut search = Search::new();
    for (n, seed, Learned { fit, weights, .. }) in runs(budget) {
        // At t = 1 a counterfactual state is off by this much, and by nothing in a person's own world.
        let ε = fit.state_error(&bed.truth(), 1);
        for (name, w) in [("Q*", &best), ("learned", &weights)] {
            let ξ = bed.sup_distance(&best, w);
            let reach = 2.0 * (ξ + lipschitz * ε);
            let unfairness = bed.first_unfairness(w, &fit);
            let text = || {
                format!(
                    "circle bed, N = {n}, T = {HORIZON}, seed {seed}, f̂ {name}: ε_s = {ε:.5}, ξ = {ξ:.5}, L_Q = {lipschitz:.4}, C_m = {margin:.4}, weights {w:.5?} by action, block, (1, cos, sin); right side times {factor}"
                )
            };
            search.case(unfairness, factor * bed.first_gap_mass(&best, reach), text);
            search.case(bed.first_gap_mass(&best, reach), margin * reach, text);
        }
    }
    search.verdict()
}

/// Theorem 5: regret of the greedy rule on true states against `factor` times its bound.
fn regret_bound(budget: Budget, factor: f64) -> Verdict {
    let bed = Circle::default();
    let best = bed.optimum();
    let (margin, optimum) = (bed.margin(&best), bed.start_value(&best));
    let mut search = Search::new();
    for (n, seed, Learned { weights, .. }) in runs(budget) {
        let ξ = bed.sup_distance(&best, &weights);
        let regret = (optimum - bed.value_of_greedy(&weights)).max(0.0);
        search.case(regret, factor * margin * (2.0 * ξ).powi(2) / (1.0 - bed.discount), || {
            format!("circle bed, N = {n}, T = {HORIZON}, seed {seed}: ξ = {ξ:.5}, C_m = {margin:.4}, γ = {}, weights {weights:.5?}; right side times {factor}", bed.discount)
        });
    }
    search.verdict()
}
