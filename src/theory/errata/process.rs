//! The statements about fairness, the augmented process and stationary policies (sections 2 to 3, supplements A to C).

use super::{Erratum, Sides, Stands, Witness, at};
use crate::theory::theorems::ROUNDING;

pub(super) const ERRATA: &[Erratum] = &[
    Erratum {
        label: "M-D1",
        stands: Stands::Implied,
        source: at(190, r"$\mathcal{M}(c) = (P^c,R^c)$"),
        says: "M(c) = (Pᶜ, Rᶜ), without a law of the first state, determines the value of a policy",
        why: "the value depends on where one starts",
        right: "M(c) = (Pᶜ, Rᶜ, law of S₁ given c)",
        witness: two_starts,
        root: "M-D1",
        proved_by: &[],
    },
    Erratum {
        label: "asm:markov",
        stands: Stands::Assumed,
        source: at(208, r"\{S_j,R_{j-1},A_j\}_{j\leq t-1}"),
        says: "independence of {Sⱼ, Rⱼ₋₁, Aⱼ}ⱼ≤ₜ₋₁, which leaves Rₜ₋₁ out, is enough for thm:sr_policy",
        why: "as printed it allows a process in which the last reward tells what to do next",
        right: "independence of {Sⱼ, Rⱼ, Aⱼ}ⱼ≤ₜ₋₁",
        witness: memory_of_a_sign,
        root: "asm:markov",
        proved_by: &[],
    },
    Erratum {
        label: "M-FLAP",
        stands: Stands::Printed,
        source: at(246, r"By construction, $\tilde{\bx}_i$ remains invariant across counterfactual values of $Z$"),
        says: "x̃ = [x − Ê(X|z) + Ê(X|k)]ₖ is the same in every counterfactual world",
        why: "estimated means differ from the true ones by amounts that differ between levels",
        right: "x̃ is invariant with the true means; with estimated ones worlds differ by the error of the difference of means",
        witness: estimated_means,
        root: "M-FLAP",
        proved_by: &["wrong_means_break_invariance"],
    },
    Erratum {
        label: "thm:sr_policy",
        stands: Stands::Implied,
        source: at(301, r"stationary CMDPs, where the system dynamics remain invariant over time"),
        says: "where the transition kernels of a CMDP do not change with time, some stationary fair policy is as good as any fair policy",
        why: "kernels fix the law of each world, not how worlds hang together. Where \"system dynamics\" means the structural equations the theorem holds, and this is no counterexample",
        right: "where the structural equations and the law of the noise do not change with time, or noise is additive",
        witness: couplings_in_turn,
        root: "thm:sr_policy",
        proved_by: &["kernels_are_stationary", "counting_steps_earns_more", "stationary_rules_earn_at_most"],
    },
    Erratum {
        label: "M-TXT1",
        stands: Stands::Printed,
        source: at(326, r"these preprocessed experience tuples naturally form a MDP"),
        says: "preprocessed tuples, made with estimated means, are a Markov decision process",
        why: "how far the estimated means are off depends on the level, and earlier states tell more of the level than the last one",
        right: "they are with the true means",
        witness: memory_of_the_level,
        root: "M-TXT1",
        proved_by: &["estimated_states_are_not_markov", "true_means_keep_these_states_markov"],
    },
    Erratum {
        label: "M-TXT3",
        stands: Stands::Printed,
        source: at(471, r"and will result in a lower optimal value"),
        says: "the best strictly fair policy is worth less than the best fair policy",
        why: "a strictly fair policy can replay what a fair one would have done, as a function of the noise",
        right: "the two are worth the same when policies are followed from t = 1; after logged decisions of others strict fairness can cost value",
        witness: replayed,
        root: "M-TXT3",
        proved_by: &["strict_fairness_costs_nothing"],
    },
];

fn two_starts() -> Witness {
    // Two states that never change and pay 0 and 1, γ = ½.
    let value = |reward: f64| reward / (1.0 - 0.5);
    Witness {
        text: "two states that never change and pay 0 and 1, γ = ½: the value is 0 from the first, 2 from the second"
            .into(),
        printed: Sides::equals(value(0.0), value(1.0)),
        corrected: Sides::equals(value(1.0), 2.0),
    }
}

/// Sₜ₊₁ = 1{sign Rₜ₋₁ = Aₜ}, Rₜ = Sₜ + 10Uᴿₜ with fair signs. How much S₄ depends on the past given (S₃, A₃): on the printed one, and with R₂.
fn dependence(with_last_reward: bool) -> f64 {
    // Seven fair bits s₁ s₂ a₂ r₁ r₂ a₃ u₃, where r is the sign of a reward; s₃ and s₄ follow. Behaviour is a coin.
    let outcomes: Vec<[u32; 3]> = (0u32..128)
        .map(|bits| {
            let [s1, s2, a2, r1, r2, a3, u3] = [0, 1, 2, 3, 4, 5, 6].map(|k| bits >> k & 1);
            let (s3, s4) = (u32::from(r1 == a2), u32::from(r2 == a3));
            let past = s1 + 2 * s2 + 4 * a2 + 8 * r1 + if with_last_reward { 16 * r2 } else { 0 };
            [2 * s3 + a3, past, 2 * s4 + u3]
        })
        .collect();
    let share = |keep: &dyn Fn(&[u32; 3]) -> bool| outcomes.iter().filter(|o| keep(o)).count() as f64 / 128.0;
    let off = |&[given, past, future]: &[u32; 3]| {
        let joint = share(&|o| *o == [given, past, future]) * share(&|o| o[0] == given);
        (joint - share(&|o| o[..2] == [given, past]) * share(&|o| (o[0], o[2]) == (given, future))).abs()
    };
    outcomes.iter().map(off).fold(0.0, f64::max)
}

fn memory_of_a_sign() -> Witness {
    let γ = 0.9f64;
    // Aₜ = sign Rₜ₋₁ from t = 2 on makes Sₜ = 1 from t = 3 on; a function of Sₜ meets a fresh sign each time.
    let (reading_rewards, reading_states) = (0.5 + γ * 0.5 + γ * γ / (1.0 - γ), 0.5 / (1.0 - γ));
    let allowed = dependence(false) <= ROUNDING;
    Witness {
        text: format!(
            "Sₜ₊₁ = 1{{sign Rₜ₋₁ = Aₜ}}, Rₜ = Sₜ + 10Uᴿₜ, γ = 0.9: the printed independence holds in all 128 outcomes at t = 3, yet acting on Rₜ₋₁ earns ½ + 0.45 + 8.1 = {reading_rewards:.2}, and no function of Sₜ more than {reading_states:.2}"
        ),
        printed: Sides::at_most(if allowed { reading_rewards } else { 0.0 }, reading_states),
        // With Rₜ₋₁ in the set this process is not Markov, and nothing is said of it.
        corrected: Sides::less(0.0, dependence(true)),
    }
}

fn estimated_means() -> Witness {
    // X = z + U; the noise of two people at either level.
    let noise = [[0.0, 0.2], [0.0, 0.0]];
    let estimated = [0, 1].map(|z| z as f64 + (noise[z][0] + noise[z][1]) / 2.0);
    let view = |means: [f64; 2], z: usize| [0, 1].map(|k| z as f64 - means[z] + means[k]);
    let apart = |means: [f64; 2]| (view(means, 0)[0] - view(means, 1)[0]).abs();
    Witness {
        text: format!(
            "X = Z + U, two people a level, U = 0 and 0.2 at level 0, U = 0 twice at level 1, so Ê = {estimated:?}: somebody with U = 0 has x̃ = {:?} if Z = 0 and {:?} if Z = 1",
            view(estimated, 0),
            view(estimated, 1)
        ),
        printed: Sides::equals(apart(estimated), 0.0),
        corrected: Sides::equals(apart([0.0, 1.0]), 0.0),
    }
}

/// Worlds z = 1 and z = 0 carry signs (X, W); W′ = σₜ(z)U with σₜ(1) = 1 and σₜ(0) = `sign[t mod 4]`, X₁ = W₁. "Renew" sets X′ = W′ at a cost of ½;
/// otherwise X stays, and the better is taken of guessing (paid by the mean of X over worlds) and 0.3. Given Z = z the kernel of (X, W) never changes.
///
/// The best fair policies, (any, stationary); γ = 0.9.
fn best_of_both(sign: [f64; 4]) -> (f64, f64) {
    let (γ, together) = (0.9, |phase: usize| usize::from(sign[phase % 4] > 0.0));
    let settled = 1.0 / (1.0 - γ);
    // Any policy sees the time, and whether the X agree; agreeing pays 1 for ever. 500 sweeps leave γ⁵⁰⁰·10 < 10⁻²¹.
    let mut apart = [0.0f64; 4];
    for _ in 0..500 {
        let before = apart;
        for (phase, value) in apart.iter_mut().enumerate() {
            let renewed = [before[(phase + 1) % 4], settled][together(phase + 1)];
            *value = (0.3 + γ * before[(phase + 1) % 4]).max(-0.5 + γ * renewed);
        }
    }
    let any = [apart[0], settled][together(0)];
    // A stationary one sees, while the X differ: the sign of X¹, whether the W agree, whether W¹ ≠ X¹. 2⁸ rules say where to renew.
    let of_rule = |rule: u32| {
        let mut value = [[0.0f64; 8]; 4];
        for _ in 0..500 {
            let before = value;
            for (phase, row) in value.iter_mut().enumerate() {
                let (next, agree) = ((phase + 1) % 4, together(phase + 1));
                for (seen, v) in row.iter_mut().enumerate() {
                    let (kept, fresh) = (4 * (seen / 4) + 2 * agree, (before[next][0] + before[next][4]) / 2.0);
                    let stayed = (before[next][kept] + before[next][kept + 1]) / 2.0;
                    let renew = rule >> seen & 1 == 1;
                    *v = if renew { -0.5 + γ * [fresh, settled][agree] } else { 0.3 + γ * stayed };
                }
            }
        }
        [(value[0][0] + value[0][4]) / 2.0, settled][together(0)]
    };
    (any, (0..256).map(of_rule).fold(f64::NEG_INFINITY, f64::max))
}

fn couplings_in_turn() -> Witness {
    let ((any, stationary), (one, other)) = (best_of_both([-1.0, -1.0, 1.0, 1.0]), best_of_both([1.0; 4]));
    Witness {
        text: format!(
            "γ = 0.9, W′ = σₜ(z)U, σ(1) = 1, σₜ(0) = −1, −1, 1, 1 in turn, X₁ = W₁; renewing costs ½ and sets X′ = W′, guessing pays X, else 0.3. Who knows the time earns 0.3 − 0.45 + 8.1 = {any:.4}, the best of the 2⁸ deterministic stationary fair rules {stationary:.4}; the proof has randomised ones too. With σ = 1 throughout both earn {one:.0}"
        ),
        printed: Sides::at_most(any, stationary),
        corrected: Sides::at_most(one, other),
    }
}

/// The largest |P(s̃₄ | s̃₃, s̃₂) − P(s̃₄ | s̃₃)| where all true means are 0, noise is 0 or 1 (tenths) and the estimated mean of level 1 is `off`.
fn memory_of_states(off: i32) -> f64 {
    let view = |z: i32, u: i32| [u - z * off, u - z * off + off];
    let paths: Vec<[[i32; 2]; 3]> = (0..16).map(|bits| [1, 2, 3].map(|t| view(bits & 1, bits >> t & 1))).collect();
    let count = |keep: &dyn Fn(&[[i32; 2]; 3]) -> bool| paths.iter().filter(|p| keep(p)).count() as f64;
    let mut most = 0.0f64;
    for &[second, third, _] in &paths {
        for &[_, _, fourth] in &paths {
            let long = count(&|p| *p == [second, third, fourth]) / count(&|p| p[..2] == [second, third]);
            let short = count(&|p| p[1..] == [third, fourth]) / count(&|p| p[1] == third);
            most = most.max((long - short).abs());
        }
    }
    most
}

fn memory_of_the_level() -> Witness {
    Witness {
        text: "two equally likely levels, one action, all true means 0, noise 0 or 1/10, μ̂ = 0 at level 0 and 1/10 at level 1: P(s̃₄ = (.1, .2) | s̃₃ = (0, .1)) is ¼; given s̃₂ as well it is ½ after (.1, .2) and 0 after (−.1, 0)".into(),
        printed: Sides::equals(memory_of_states(1), 0.0),
        corrected: Sides::equals(memory_of_states(0), 0.0),
    }
}

/// S₁ = z ⊕ u₁, Sₜ₊₁ = Sₜ ⊕ aₜ ⊕ uₜ₊₁, R = (1 + z)·1{a = s ⊕ z}, P(Z = 1) = ¾: the level-weighted reward after some noise and actions.
fn mirrored_reward(noise: &[usize], actions: &[usize], action: usize) -> f64 {
    let bits: usize = noise.iter().chain(actions).sum();
    [0.25, 0.75]
        .iter()
        .enumerate()
        .map(|(z, p)| {
            let state = (z + bits) % 2;
            p * (1 + z) as f64 * f64::from(u8::from(action == (state + z) % 2))
        })
        .sum()
}

/// The best fair and the best strictly fair value of three decisions, γ = ¾: powers of two, so without rounding.
fn fair_and_strict() -> (f64, f64) {
    fn best(noise: &[usize], actions: &[usize]) -> f64 {
        let after = |a: usize| {
            let more = [actions, &[a]].concat();
            let next = |u: usize| if noise.len() == 3 { 0.0 } else { best(&[noise, &[u]].concat(), &more) };
            mirrored_reward(noise, actions, a) + 0.75 * (next(0) + next(1)) / 2.0
        };
        after(0).max(after(1))
    }
    // A strictly fair rule is a function of the noise alone: 2 + 4 + 8 noises are seen by then, hence 2¹⁴ rules.
    let of_rule = |rule: usize| -> f64 {
        let along = |code: usize| {
            let (noise, mut actions) = ([2, 1, 0].map(|k| code >> k & 1), vec![]);
            (0..3)
                .map(|t| {
                    let seen = noise[..=t].iter().fold(0, |slot, u| 2 * slot + u);
                    let a = rule >> ([0, 2, 6][t] + seen) & 1;
                    let reward = 0.75f64.powi(t as i32) * mirrored_reward(&noise[..=t], &actions, a);
                    actions.push(a);
                    reward
                })
                .sum::<f64>()
        };
        (0..8).map(along).sum::<f64>() / 8.0
    };
    let fair = (best(&[0], &[]) + best(&[1], &[])) / 2.0;
    (fair, (0..1usize << 14).map(of_rule).fold(f64::NEG_INFINITY, f64::max))
}

fn replayed() -> Witness {
    let (fair, strict) = fair_and_strict();
    Witness {
        text: format!(
            "S₁ = Z ⊕ U₁, Sₜ₊₁ = Sₜ ⊕ Aₜ ⊕ Uₜ₊₁, R = (1 + Z)·1{{A = S ⊕ Z}}, P(Z = 1) = ¾, fair bits, three decisions, γ = ¾: the best fair policy is worth {fair}, the best of the 2¹⁴ strictly fair rules {strict}, without rounding"
        ),
        printed: Sides::less(strict, fair),
        corrected: Sides::equals(strict, fair),
    }
}
