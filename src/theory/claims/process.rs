//! M-D1, M-J, C1, C2 and C11: what the proof of `thm:sr_policy` says about the process itself, on worlds that can be listed.

use super::finite::{Finite, History};
use super::search::{EQUAL, Equalities};
use super::tabular::Tabular;
use super::{Budget, Claim, Expected, Verdict};
use crate::kernel::numeric::Stream;
use std::collections::BTreeMap;

pub(super) const CLAIMS: &[Claim] = &[
    Claim::implied(
        "M-D1",
        "M(c) = (Pᶜ, Rᶜ), without a law of the first state, determines the value of a policy",
        &[],
        Expected::Refuted,
        |_| two_starts(1),
        |_| two_starts(0),
    )
    .at(190, r"$\mathcal{M}(c) = (P^c,R^c)$"),
    Claim::implied(
        "M-J",
        "Σ_{t≥0} γᵗRₜ with R₀ = 0 is the sum that the proofs and the data have, Σ_{t≥1} γ^{t−1}Rₜ",
        &["data begin at t = 1"],
        Expected::Refuted,
        |_| two_sums(1.0),
        |_| two_sums(0.9),
    )
    .at(307, r"\sum_{t=0}^\infty \gamma^t R_t"),
    Claim::printed(
        "C1",
        "ℝₜᵏ is a function of Ūₜ(Hₜ), as 𝓡ₜ is in thm:cf",
        &["rewards have noise"],
        Expected::Refuted,
        |_| reward_noise(false),
        |_| reward_noise(true),
    )
    .at(578, r"\mathbb{R}_t^k &= R_{t}^{Z\leftarrow z^{(k)}}\left(\bar{U}_t\left(H_t\right)\right)"),
    Claim::printed(
        "C2",
        "given (𝕊ₜ, Aₜ), the next 𝕊ₜ₊₁ is independent of the past: behaviour may depend on Z",
        &["asm:unmeasured_confounders: Uₜ₊₁ is independent of (Hₜ, Aₜ)", "asm:unique"],
        Expected::Exact,
        |budget| markov(budget, false),
        |budget| markov(budget, true),
    )
    .at(594, r"\mathbb{S}_{t+1} \ind \{\mathbb{S}_j, A_j\}_{1\leq j\leq t-1} \mid \mathbb{S}_t, A_t"),
    Claim::implied(
        "C11",
        "(Ū, Ā) is independent of Z under a fair policy, as the third line of J's chain needs; not under others",
        &["def:cf_policy", "asm:unique"],
        Expected::Exact,
        |budget| independence(budget, fair),
        |budget| independence(budget, unaware),
    )
    .at(642, r"\mid \mathbb{S}_1=s,Z = z_k \right] p_k P(\mathbb{S}_1=s) ds"),
];

/// Two states that never change and pay 0 and 1: the value when one starts in the first, and in the other.
fn two_starts(other: usize) -> Verdict {
    let process = Tabular {
        states: 2,
        actions: 1,
        discount: 0.5,
        rewards: vec![0.0, 1.0],
        transitions: vec![1.0, 0.0, 0.0, 1.0],
    };
    let value = process.value_of(&[0, 0]);
    let mut equal = Equalities::new();
    equal.case(value[0], value[other], EQUAL, || {
        format!(
            "{process}: started in state 0 the value is {}, started in state {other} it is {}",
            value[0], value[other]
        )
    });
    equal.verdict()
}

/// Rewards ≡ 1, γ = 0.9: 0 + γ + γ² + … against `factor`·(1 + γ + …).
fn two_sums(factor: f64) -> Verdict {
    let γ = 0.9;
    let mut equal = Equalities::new();
    let (from_zero, from_one) = (γ / (1.0 - γ), 1.0 / (1.0 - γ));
    equal.case(from_zero, factor * from_one, 10.0 * EQUAL, || {
        format!(
            "R₀ = 0, Rₜ = 1 for t ≥ 1, γ = 0.9: Σ_{{t≥0}} γᵗRₜ = {from_zero:.1}, Σ_{{t≥1}} γ^(t−1)Rₜ = {from_one:.1}"
        )
    });
    equal.verdict()
}

/// S₁ = U₁, R₁ = Z + Uᴿ₁ with bits U₁, Uᴿ₁: the counterfactual reward by U₁ alone, or by (U₁, Uᴿ₁), which H₂ reveals.
fn reward_noise(later: bool) -> Verdict {
    let mut equal = Equalities::new();
    let mut known: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for code in 0..4usize {
        let (u, u_reward) = (code >> 1, code & 1);
        let reward = 1.0 + u_reward as f64;
        let before = *known.entry((u, if later { u_reward } else { 0 })).or_insert(reward);
        equal.case(reward, before, 0.0, || {
            format!("S₁ = U₁, R₁ = Z + Uᴿ₁: H₁ reveals U₁ = {u} only, and ℝ₁¹ is {before} or {reward} by the bit Uᴿ₁")
        });
    }
    equal.verdict()
}

/// The mirror first, because it can be followed by hand; then random worlds.
fn world(i: u64) -> Finite {
    if i == 0 { Finite::mirror() } else { Finite::random(2, 3, 2, 2, Stream::new(6).named("process").index(i)) }
}

/// P(𝕊₃ | 𝕊₂, A₂, 𝕊₁, A₁) against P(𝕊₃ | 𝕊₂, A₂) with P(A = 1 | z, s) = (1 + z + s)/5; if `confounded`, U₃ repeats U₂.
fn markov(budget: Budget, confounded: bool) -> Verdict {
    type Pair = (usize, usize);
    type Steps = (Pair, usize, Pair, usize, Pair);
    let mut equal = Equalities::new();
    for i in 0..budget.pick(4, 40) {
        let world = world(i);
        let mut joint: BTreeMap<Steps, f64> = BTreeMap::new();
        for code in 0..64usize {
            let bit = |k: usize| code >> k & 1;
            let (z, u1, a1, u2, a2) = (bit(0), bit(1), bit(2), bit(3), bit(4));
            let u3 = if confounded { u2 } else { bit(5) };
            let starts = (world.start(0, u1), world.start(1, u1));
            let step = |s: Pair, a: usize, u: usize| (world.next(0, s.0, a, u), world.next(1, s.1, a, u));
            let second = step(starts, a1, u2);
            let third = step(second, a2, u3);
            let chance = |s: Pair, a: usize| {
                let one = (1 + z + if z == 0 { s.0 } else { s.1 }) as f64 / 5.0;
                if a == 1 { one } else { 1.0 - one }
            };
            let noise: f64 = world.noise_law[u1] * world.noise_law[u2] * world.noise_law[bit(5)];
            let p = world.level_law[z] * noise * chance(starts, a1) * chance(second, a2);
            *joint.entry((starts, a1, second, a2, third)).or_default() += p;
        }
        let total =
            |keep: &dyn Fn(&Steps) -> bool| -> f64 { joint.iter().filter(|(k, _)| keep(k)).map(|(_, p)| p).sum() };
        for &(s1, a1, s2, a2, s3) in joint.keys() {
            let whole = total(&|k| *k == (s1, a1, s2, a2, s3)) / total(&|k| (k.0, k.1, k.2, k.3) == (s1, a1, s2, a2));
            let short = total(&|k| (k.2, k.3, k.4) == (s2, a2, s3)) / total(&|k| (k.2, k.3) == (s2, a2));
            equal.case(whole, short, EQUAL, || {
                format!("{world}; P(A = 1 | z, s) = (1 + z + s)/5, confounded: {confounded}; P(𝕊₃ = {s3:?} | 𝕊₂ = {s2:?}, A₂ = {a2}) = {short:.6}, given 𝕊₁ = {s1:?}, A₁ = {a1} as well {whole:.6}")
            });
        }
    }
    equal.verdict()
}

fn unaware(_: &Finite, history: &History) -> usize {
    history.states.last().copied().unwrap_or(0) % 2
}

fn fair(world: &Finite, history: &History) -> usize {
    let (states, _) = world.augment(history).expect("asm:unique holds here");
    states.iter().filter_map(|s| s.last()).sum::<usize>() / 2 % 2
}

/// The actions of two steps given the noise, in the two worlds: noise is independent of Z, so equal actions are what is needed.
fn independence(budget: Budget, rule: fn(&Finite, &History) -> usize) -> Verdict {
    let mut equal = Equalities::new();
    for i in 0..budget.pick(4, 40) {
        let world = world(i);
        for code in 0..4usize {
            let (u1, u2) = (code >> 1, code & 1);
            let acted = |z: usize| {
                let first = History { level: z, states: vec![world.start(z, u1)], actions: vec![] };
                let a1 = rule(&world, &first);
                let states = vec![first.states[0], world.next(z, first.states[0], a1, u2)];
                [a1, rule(&world, &History { level: z, states, actions: vec![a1] })]
            };
            let (here, there) = (acted(0), acted(1));
            equal.case(f64::from(u8::from(here == there)), 1.0, 0.0, || {
                format!("{world}; (U₁, U₂) = ({u1}, {u2}): actions {here:?} if Z = 0 and {there:?} if Z = 1, so P(Ā | Ū, Z) depends on Z")
            });
        }
    }
    equal.verdict()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fair_rule_is_not_constant() {
        let world = world(1);
        let acted: std::collections::BTreeSet<usize> = world
            .paths(1)
            .iter()
            .flat_map(|path| (0..2).map(|z| fair(&world, &world.observe(z, path))).collect::<Vec<_>>())
            .collect();
        assert_eq!(acted.len(), 2, "a constant rule would be fair for no reason");
    }
}
