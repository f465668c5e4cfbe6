//! Theorem 5: under a margin, regret falls with the power 1 + α of the error.
//!
//! # Equation
//! ```text
//! V*(s) − Q*(s, â) ≤ gap-or-more·1{gap(s) ≤ 2ξ} ≤ 2ξ·1{gap(s) ≤ 2ξ},  so  regret ≤ C_m (2ξ)^{1+α}/(1−γ)
//! ```
//! when P(gap ≤ x) ≤ C_m x^α under the discounted law of the states that the policy visits.

use super::search::{Search, between, signed};
use super::tabular::{Tabular, distance};
use super::{Budget, Claim, Expected, Verdict};
use crate::kernel::numeric::Stream;
use crate::kernel::numeric::small;
use crate::kernel::numeric::small::dot;

pub(super) const CLAIMS: &[Claim] = &[Claim::ours(
    "thm:regret",
    "regret ≤ C_m (2ξ)^{1+α}/(1−γ)",
    &["‖Q* − f̂‖∞ ≤ ξ", "P(gap ≤ x) ≤ C_m x^α under the policy's discounted law"],
    Expected::NotRefuted,
    |budget| fuzz(budget, 2.0),
    |budget| fuzz(budget, 1.0),
)
.at(381, r"\frac{ C dLR_{\max}\epsilon}{\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)^3}")];

fn fuzz(budget: Budget, two: f64) -> Verdict {
    let mut search = Search::new();
    // One state with gap just below 2ξ: α as large as one likes with C_m = gap^{−α}, and equality in the limit.
    for (γ, ξ, α) in [(0.9, 0.1, 1.0), (0.5, 0.02, 2.0), (0.7, 0.3, 0.5)] {
        let gap: f64 = 1.999 * ξ;
        search.case(gap / (1.0 - γ), gap.powf(-α) * (two * ξ).powf(1.0 + α) / (1.0 - γ), || {
            format!(
                "one state, r = ({gap:.4}, 0), f̂ = Q* ∓ {ξ}, γ = {γ}, α = {α}, C_m = gap^−α: the worse action for ever"
            )
        });
    }
    for i in 0..budget.pick(400, 20_000) {
        let stream = Stream::new(51).index(i);
        let mdp = Tabular::drawn(stream);
        let mut rng = stream.named("errors").rng();
        let q = mdp.optimum();
        let size = between(&mut rng, 0.01, 0.6);
        let best = mdp.greedy(&q);
        let harm = i % 2 == 0;
        let f: Vec<f64> = q
            .iter()
            .enumerate()
            .map(|(k, q)| {
                let towards = if best[k / mdp.actions] == k % mdp.actions { -1.0 } else { 1.0 };
                q + size * if harm { towards } else { signed(&mut rng) }
            })
            .collect();
        let rule = mdp.greedy(&f);
        // d = (1−γ)(I − γPᵀ)⁻¹ν with ν uniform.
        let n = mdp.states;
        let mut matrix = vec![0.0; n * n];
        for s in 0..n {
            let row = &mdp.transitions[(s * mdp.actions + rule[s]) * n..][..n];
            for (to, p) in row.iter().enumerate() {
                matrix[to * n + s] = f64::from(u8::from(to == s)) - mdp.discount * p;
            }
        }
        let visits = small::solve(&matrix, &vec![(1.0 - mdp.discount) / n as f64; n]).expect("γ < 1");
        let gaps: Vec<f64> = q
            .chunks_exact(mdp.actions)
            .map(|row| {
                let mut sorted = row.to_vec();
                sorted.sort_by(f64::total_cmp);
                sorted[mdp.actions - 1] - sorted[mdp.actions - 2]
            })
            .collect();
        let mass = |x: f64| -> f64 { visits.iter().zip(&gaps).filter(|(_, g)| **g <= x).map(|(p, _)| p).sum() };
        let uniform = vec![1.0 / n as f64; n];
        let regret = dot(&uniform, &mdp.value(&q)) - dot(&uniform, &mdp.value_of(&rule));
        let ξ = distance(&q, &f);
        for α in [0.5, 1.0, 2.0] {
            let constant = gaps.iter().map(|&g| mass(g) / g.powf(α)).fold(0.0, f64::max);
            let right = constant * (two * ξ).powf(1.0 + α) / (1.0 - mdp.discount);
            search.case(regret, right, || {
                format!("{mdp}; f̂ = {f:?}, start uniform, ξ = {ξ:.4}, α = {α}, C_m = {constant:.4}")
            });
        }
    }
    search.verdict()
}
