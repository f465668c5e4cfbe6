//! D3 and D22: from one-step errors to the error of the last iterate, and from there to regret.

use crate::kernel::numeric::Stream;
use crate::theory::claims::search::{Search, between, signed};
use crate::theory::claims::shipped::{Transition, fitted_q};
use crate::theory::claims::tabular::{Tabular, distance};
use crate::theory::claims::{Budget, Claim, Expected, Verdict};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::printed(
        "D3",
        "‖Q* − f̂_B‖ ≤ Σ γᵗ‖f̂_{B−t} − T f̂_{B−t−1}‖ + γᴮ R/(1−γ), f̂₀ arbitrary in [−V, V]",
        &["|r| ≤ R", "V = R/(1−γ)"],
        Expected::Refuted,
        |budget| propagation(budget, Start::Anywhere, 1.0),
        |budget| propagation(budget, Start::Zero, 1.0),
    )
    .at(702, r"\|\hat{f}_{B-t} - \mathcal{T} \hat{f}_{B-t-1}\|_\infty + \frac{\gamma^B R_{max}}{1-\gamma}"),
    Claim::ours(
        "D3",
        "the same with f̂₀ = 0",
        &["|r| ≤ R", "f̂₀ = 0"],
        Expected::NotRefuted,
        |budget| propagation(budget, Start::Zero, 1.0),
        |budget| propagation(budget, Start::Zero, 0.5),
    )
    .at(702, r"\|\hat{f}_{B-t} - \mathcal{T} \hat{f}_{B-t-1}\|_\infty + \frac{\gamma^B R_{max}}{1-\gamma}"),
    Claim::implied(
        "D22",
        "regret of the greedy policy ≤ ‖Q* − f̂‖/(1−γ), as the third terms of lines 807 and 840 together say",
        &["π̂ greedy for f̂ on true states"],
        Expected::Refuted,
        |budget| greedy_regret(budget, 1.0),
        |budget| greedy_regret(budget, 2.0),
    )
    .at(805, r"we have the bound for regret")
    .under("X5"),
    Claim::ours(
        "D22",
        "regret of the greedy policy ≤ 2‖Q* − f̂‖/(1−γ)",
        &["π̂ greedy for f̂ on true states"],
        Expected::NotRefuted,
        |budget| greedy_regret(budget, 2.0),
        |budget| greedy_regret(budget, 1.0),
    )
    .at(805, r"we have the bound for regret"),
    Claim::printed(
        "X5",
        "initialisation costs at most γᴮ R/(1−γ)² of regret",
        &["ε = 0 and n → ∞, so that only the third term is left", "f̂₀ = 0"],
        Expected::Refuted,
        |_| lookahead(1.0),
        |_| lookahead(2.0),
    )
    .at(381, r"\frac{\gamma^B R_{\max}}{(1-\gamma)^2}")
    .runs("kernel::learn::fitted_q_iteration"),
    Claim::ours(
        "X5",
        "initialisation costs at most 2γᴮ R/(1−γ)² of regret",
        &["exact iterates from f̂₀ = 0"],
        Expected::NotRefuted,
        |_| lookahead(2.0),
        |_| lookahead(1.0),
    )
    .at(381, r"\frac{\gamma^B R_{\max}}{(1-\gamma)^2}")
    .runs("kernel::learn::fitted_q_iteration"),
];

#[derive(Clone, Copy, PartialEq)]
enum Start {
    Zero,
    Anywhere,
}

/// Iterates with arbitrary one-step errors; the last term is scaled by `factor`.
fn propagation(budget: Budget, start: Start, factor: f64) -> Verdict {
    let mut search = Search::new();
    // One state, one action, r = 1, γ = 0.9: Q* = 10 and exact iterates f̂_B = 10 + γᴮ(f̂₀ − 10).
    let begin = if start == Start::Zero { 0.0 } else { -10.0 };
    for iterations in [1, 3, 10] {
        let shrink = 0.9f64.powi(iterations);
        search.case(shrink * (10.0 - begin), factor * shrink * 10.0, || {
            format!(
                "one state, r = 1, γ = 0.9, f̂₀ = {begin}, exact iterates, B = {iterations}: |10 − f̂_B| = γᴮ(10 − f̂₀)"
            )
        });
    }
    for i in 0..budget.pick(300, 20_000) {
        let stream = Stream::new(3).named("D3").index(i);
        let mdp = Tabular::drawn(stream);
        let mut rng = stream.named("errors").rng();
        let (γ, q_star) = (mdp.discount, mdp.optimum());
        let limit = 1.0 / (1.0 - γ);
        let size = if i % 3 == 0 { 0.0 } else { between(&mut rng, 0.0, 0.3 * limit) };
        let iterations = 1 + (i % 7) as i32;
        let mut f: Vec<f64> = match start {
            Start::Zero => vec![0.0; q_star.len()],
            // The far corner of the box is the worst start.
            Start::Anywhere => q_star.iter().map(|q| -q.signum() * limit).collect(),
        };
        let mut right = factor * γ.powi(iterations) * limit;
        for b in 1..=iterations {
            let mut next = mdp.bellman(&f);
            let image = next.clone();
            next.iter_mut().for_each(|x| *x += size * signed(&mut rng));
            right += γ.powi(iterations - b) * distance(&next, &image);
            f = next;
        }
        let left = distance(&q_star, &f);
        search.case(left, right, || format!("{mdp}; B = {iterations}, f̂_B = {f:?}"));
    }
    search.verdict()
}

/// Greedy policies of perturbed action values; the bound is factor · ‖Q* − f̂‖/(1−γ).
fn greedy_regret(budget: Budget, factor: f64) -> Verdict {
    let mut search = Search::new();
    // One state; f̂ prefers the action that is worse by 2ξ, both estimates off by ξ: the regret is 2ξ a step.
    let (γ, ξ) = (0.7, 0.1);
    search.case(1.999 * ξ / (1.0 - γ), factor * ξ / (1.0 - γ), || {
        "one state, γ = 0.7, r = (0.1999, 0), Q* = r + γ·0.1999/(1−γ); f̂ = Q* ∓ 0.1 prefers the second action for ever".into()
    });
    for i in 0..budget.pick(300, 20_000) {
        let stream = Stream::new(3).named("D22").index(i);
        let mdp = Tabular::drawn(stream);
        let q_star = mdp.optimum();
        let mut rng = stream.named("errors").rng();
        let ξ = between(&mut rng, 0.0, 1.0);
        // Lower the best action, raise the others: the most harmful error of a given size.
        let best = mdp.greedy(&q_star);
        let harm = i % 2 == 0;
        let f: Vec<f64> = q_star
            .iter()
            .enumerate()
            .map(|(k, q)| {
                let towards = if best[k / mdp.actions] == k % mdp.actions { -1.0 } else { 1.0 };
                q + ξ * if harm { towards } else { signed(&mut rng) }
            })
            .collect();
        let right = factor * distance(&q_star, &f) / (1.0 - mdp.discount);
        let regret = mdp.regret(&mdp.greedy(&f));
        search.case(regret, right, || format!("{mdp}; f̂ = {f:?}"));
    }
    search.verdict()
}

/// A fork whose branches differ only after B steps: B iterates cannot tell them apart.
fn lookahead(factor: f64) -> Verdict {
    let mut search = Search::new();
    for γ in [0.1, 0.3, 0.45, 0.6, 0.8, 0.9] {
        for steps in [1, 2, 3, 5] {
            // State 0 is the fork; 1..=B−1 and B..=2B−2 lead to the two absorbing states, worth −1 and +1 a step.
            let (bad, good) = (2 * steps - 1, 2 * steps);
            let states = 2 * steps + 1;
            let mut mdp = Tabular {
                states,
                actions: 2,
                discount: γ,
                rewards: vec![0.0; states * 2],
                transitions: vec![0.0; states * 2 * states],
            };
            let mut seen: Vec<Transition> = vec![];
            let mut go = |s: usize, a: usize, to: usize| {
                mdp.transitions[(s * 2 + a) * states + to] = 1.0;
                let pays = f64::from(u8::from(s == good)) - f64::from(u8::from(s == bad));
                seen.push((s, a as u32, pays, to));
            };
            let entry = |branch: usize| if steps == 1 { [bad, good][branch] } else { 1 + branch * (steps - 1) };
            (0..2).for_each(|a| go(0, a, entry(a)));
            for branch in 0..2 {
                for k in 0..steps - 1 {
                    let s = 1 + branch * (steps - 1) + k;
                    let to = if k + 2 == steps { [bad, good][branch] } else { s + 1 };
                    (0..2).for_each(|a| go(s, a, to));
                }
            }
            [bad, good].iter().for_each(|&s| (0..2).for_each(|a| go(s, a, s)));
            for (s, r) in [(bad, -1.0), (good, 1.0)] {
                (mdp.rewards[s * 2], mdp.rewards[s * 2 + 1]) = (r, r);
            }
            let f = fitted_q(states, &seen, γ, steps);
            let regret = mdp.regret(&mdp.greedy(&f));
            search.case(regret, factor * γ.powi(steps as i32) / (1.0 - γ).powi(2), || {
                format!("γ = {γ}, B = {steps}, R = 1: two branches pay 0 for {steps} steps, then −1 or +1 for ever; f̂_B ties and picks the bad one, regret 2γᴮ/(1−γ)")
            });
        }
    }
    search.verdict()
}
