//! `thm:sr_policy`, C12, C13 and `asm:markov`: when is a stationary fair policy as good as any fair policy?

use super::finite::Finite;
use super::search::{EQUAL, Equalities, Search, climb};
use super::{Budget, Claim, Expected, Verdict};
use crate::kernel::numeric::Stream;
use crate::kernel::numeric::small::dot;
use std::collections::BTreeMap;

pub(super) const CLAIMS: &[Claim] = &[
    Claim::printed(
        "thm:sr_policy",
        "in a stationary CMDP (its kernels do not change) some stationary fair policy is as good as any fair policy",
        &[
            "asm:markov",
            "asm:unique",
            "the transition kernel, which \"can vary by time in general\" (line 200), does not",
        ],
        Expected::Refuted,
        |budget| coupling(budget, [-1.0, -1.0, 1.0, 1.0]),
        |budget| coupling(budget, [1.0; 4]),
    )
    .at(305, r"Under a stationary CMDP, there exists some $\pi^{opt} \in \text{SCF}$ such that"),
    Claim::ours(
        "thm:sr_policy",
        "the best fair policy, by listing histories, is worth what the best stationary one is",
        &["asm:unique", "the structural model itself is constant in time", "bounded rewards"],
        Expected::Exact,
        |budget| listed(budget, true),
        |budget| listed(budget, false),
    )
    .at(305, r"Under a stationary CMDP, there exists some $\pi^{opt} \in \text{SCF}$ such that"),
    Claim::assumption(
        "asm:markov",
        "independence of {Sⱼ, Rⱼ₋₁, Aⱼ}ⱼ≤ₜ₋₁ given (Sₜ, Aₜ) is enough for thm:sr_policy",
        &["the index set as printed: Rₜ₋₁ is missing"],
        Expected::Refuted,
        |_| sign_memory(false),
        |_| sign_memory(true),
    )
    .at(208, r"\{S_j,R_{j-1},A_j\}_{j\leq t-1}"),
    Claim::printed(
        "C12",
        "with weights P(Z = k) the augmented value is the value in the original process with observed rewards",
        &["fair policy", "asm:unique"],
        Expected::Exact,
        |budget| two_values(budget, true),
        |budget| two_values(budget, false),
    )
    .at(645, r"If $p_k$ match the distribution of $P(Z=z_k)$ in the target population"),
];

/// The world of C13. Worlds z = 1 and z = 0 carry signs (X, W); W′ = σₜ(z)U with σₜ(1) = 1 and σₜ(0) = `sign[t mod 4]`.
/// "Renew" sets X′ = W′ at a cost of ½; otherwise X stays and one may guess (paid by the mean of X over worlds) or be safe (0.3).
///
/// Given Z = z the kernel of (X, W) is the same at all times: W′ is a fresh sign. Only how the two worlds hang together changes.
fn coupling(budget: Budget, sign: [f64; 4]) -> Verdict {
    let γ = 0.9;
    // What a fair policy sees of (X⁰, X¹, W⁰, W¹) up to a common sign: do the X agree, and do the W? Paid: 1 or 0.3.
    let pay = |agree: bool| if agree { 1.0 } else { 0.3 };
    // Any fair policy: dynamic programming over (phase, X agree), the best that knows the time.
    let mut best = [[0.0f64; 2]; 4];
    for _ in 0..2000 {
        let before = best;
        for (phase, row) in best.iter_mut().enumerate() {
            let next = (phase + 1) % 4;
            let renewed = usize::from(sign[next] > 0.0);
            for (agree, value) in row.iter_mut().enumerate() {
                *value = (pay(agree == 1) + γ * before[next][agree]).max(-0.5 + γ * before[next][renewed]);
            }
        }
    }
    // Start: X₁ = W₁, phase 0.
    let any = best[0][usize::from(sign[0] > 0.0)];
    let start = sign[0] > 0.0;
    let mut stationary = f64::NEG_INFINITY;
    let mut best_rule = vec![];
    let mut consider = |rule: &[f64]| {
        let value = stationary_value(rule, sign, γ, start);
        if value > stationary {
            (stationary, best_rule) = (value, rule.to_vec());
        }
        value
    };
    for corner in 0..1usize << RULE {
        consider(&(0..RULE).map(|k| (corner >> k & 1) as f64).collect::<Vec<f64>>());
    }
    for k in 0..budget.pick(10, 100) {
        climb(RULE, 400, Stream::new(14).index(k), &mut |x| {
            consider(&x.iter().map(|x| (0.5 + 0.5 * x).clamp(0.0, 1.0)).collect::<Vec<f64>>())
        });
    }
    // 200 sweeps leave γ²⁰⁰·10 < 10⁻⁸ in the stationary values.
    let mut search = Search::new();
    search.case(any, stationary + 1e-7, || {
        format!("γ = 0.9, W′ = σ(z)U, σ(1) = 1, σ(0) = {sign:?} in turn, X₁ = W₁; renew costs ½ and sets X′ = W′; guess pays X, safe 0.3. Knowing the time: 0.3 − 0.45 + 8.1 = {any:.4}; the best stationary rule, randomised ones among them, earns {stationary:.4}: 0.3 + 0.9(½·8.5 + ½·7.95), renewing where X and W both differ between worlds and W¹ ≠ X¹, or where W agrees")
    });
    search.verdict()
}

/// What a stationary rule may depend on while the X differ: the sign of X¹, and (W agree or not, W¹ = X¹ or not).
const RULE: usize = 8;

/// The value of renewing with chance `rule[4·[X¹ > 0] + 2·[W agree] + [W¹ ≠ X¹]]` while the X differ.
///
/// Where the X agree one is paid 1 for ever by staying, which is the most there is, so that no rule gains by renewing there. All that a stationary fair
/// rule sees is (X⁰, X¹, W⁰, W¹): eight chances are all of them. In `proofs/Clock.v` the bound is proved for every randomised one.
fn stationary_value(rule: &[f64], sign: [f64; 4], γ: f64, agree: bool) -> f64 {
    let settled = 1.0 / (1.0 - γ);
    if agree {
        return settled;
    }
    // Values while the X differ, by phase and what is seen; the phase says whether the W agree.
    let mut value = [[0.0f64; RULE]; 4];
    for _ in 0..200 {
        let before = value;
        for (phase, row) in value.iter_mut().enumerate() {
            let next = (phase + 1) % 4;
            let together = usize::from(sign[next] > 0.0);
            // X′ = W′: the worlds agree, or differ with W¹ = X¹ and either sign.
            let renewed = if together == 1 { settled } else { (before[next][0] + before[next][4]) / 2.0 };
            for (seen, v) in row.iter_mut().enumerate() {
                let kept = 4 * (seen / 4) + 2 * together;
                let stayed = (before[next][kept] + before[next][kept + 1]) / 2.0;
                *v = rule[seen] * (-0.5 + γ * renewed) + (1.0 - rule[seen]) * (0.3 + γ * stayed);
            }
        }
    }
    // Start: X₁ = W₁ with either sign.
    (value[0][0] + value[0][4]) / 2.0
}

/// The discount is small so that ten decisions leave little: γ^T/(1−γ) bounds what comes after.
const DISCOUNT: f64 = 0.2;

/// Any fair policy, by listing all histories of T decisions, against the stationary optimum of the augmented process.
///
/// If not `right_weights`, the stationary optimum is taken for other weights than P(Z): the value it then has is lower.
fn listed(budget: Budget, right_weights: bool) -> Verdict {
    let mut equal = Equalities::new();
    let horizon = budget.pick(8, 10);
    for i in 0..budget.pick(3, 10) {
        let world = match i {
            0 => Finite::opposed(),
            1 => Finite::mirror(),
            _ => Finite::random(2, 3, 2, 2, Stream::new(13).named("stationary").index(i)),
        };
        let any = world.best_fair(horizon, DISCOUNT);
        let weights = if right_weights { world.level_law.clone() } else { vec![0.97, 0.03] };
        let (learned, law, _) = world.augmented(DISCOUNT, &weights);
        let (truth, _, _) = world.augmented(DISCOUNT, &world.level_law);
        let rule = learned.greedy(&learned.optimum());
        let stationary = dot(&law, &truth.value_of(&rule));
        // |R| ≤ 1: both numbers are within γ^T/(1−γ) of what they stand for.
        let tail = 2.0 * DISCOUNT.powi(horizon as i32) / (1.0 - DISCOUNT);
        equal.case(any, stationary, tail, || {
            format!("{world}; γ = {DISCOUNT}, weights {weights:.2?}: best over all histories of {horizon} decisions {any:.6}, stationary {stationary:.6}")
        });
    }
    equal.verdict()
}

/// Sₜ₊₁ = 1{sign Rₜ₋₁ = Aₜ}, Rₜ = Sₜ + 10Uᴿₜ with fair signs, actions by a coin: S₁ and S₂ by a coin.
///
/// With `whole_past`, Rₜ₋₁ belongs to the conditioned past as it should, and the process is no counterexample because it is
/// not Markov; otherwise independence is checked as printed and the two values are compared.
fn sign_memory(whole_past: bool) -> Verdict {
    // The joint law of t = 3: bits s₁ s₂ a₂ r₁ r₂ a₃ u₃, all fair; s₃ and s₄ follow.
    let mut joint: BTreeMap<(u32, u32, u32), f64> = BTreeMap::new();
    for bits in 0u32..128 {
        let bit = |k: u32| bits >> k & 1;
        let (s1, s2, a2, r1, r2, a3, u3) = (bit(0), bit(1), bit(2), bit(3), bit(4), bit(5), bit(6));
        let (s3, s4) = (u32::from(r1 == a2), u32::from(r2 == a3));
        let given = s3 * 2 + a3;
        let past = s1 + 2 * s2 + 4 * a2 + 8 * r1 + if whole_past { 16 * r2 } else { 0 };
        *joint.entry((given, past, s4 * 2 + u3)).or_default() += 1.0 / 128.0;
    }
    let marginal = |keep: &dyn Fn(&(u32, u32, u32)) -> bool| -> f64 {
        joint.iter().filter(|(k, _)| keep(k)).map(|(_, p)| p).sum()
    };
    let dependence = joint
        .iter()
        .map(|(&(g, past, f), p)| {
            let of_given = marginal(&|k| k.0 == g);
            (p * of_given - marginal(&|k| k.0 == g && k.1 == past) * marginal(&|k| k.0 == g && k.2 == f)).abs()
        })
        .fold(0.0, f64::max);
    let mut search = Search::new();
    if dependence > EQUAL {
        // The assumption fails, so the theorem does not speak about this process.
        search.case(0.0, 1.0, String::new);
        return search.verdict();
    }
    let γ = 0.9f64;
    // Aₜ = sign Rₜ₋₁ from t = 2 on makes Sₜ = 1 from t = 3 on; a stationary rule meets a fresh sign each time.
    let any = 0.5 + γ * 0.5 + γ * γ / (1.0 - γ);
    let stationary = 0.5 / (1.0 - γ);
    search.case(any, stationary, || {
        format!("Sₜ₊₁ = 1{{sign Rₜ₋₁ = Aₜ}}, Rₜ = Sₜ + 10Uᴿ, γ = 0.9; printed independence holds (largest deviation {dependence:.0e} over all 128 outcomes at t = 3), yet acting on Rₜ₋₁ earns ½ + 0.45 + 8.1 = {any:.2} and no function of Sₜ more than {stationary:.2}")
    });
    search.verdict()
}

/// J in the augmented process with given weights against E Σ γ^{t−1}R in the original one, T = 5, for an optimal fair rule.
fn two_values(budget: Budget, right_weights: bool) -> Verdict {
    let mut equal = Equalities::new();
    let (horizon, γ) = (5, 0.8);
    for i in 0..budget.pick(10, 100) {
        let world = if i == 0 {
            Finite::mirror()
        } else {
            Finite::random(2 + (i % 2) as usize, 3, 2, 2, Stream::new(12).named("values").index(i))
        };
        let weights =
            if right_weights { world.level_law.clone() } else { vec![1.0 / world.levels as f64; world.levels] };
        let (process, law, tuples) = world.augmented(γ, &weights);
        let rule = process.greedy(&process.optimum());
        let mut value = vec![0.0; process.states];
        for _ in 0..horizon {
            let q = process.backup(&value);
            value = (0..process.states).map(|s| q[s * process.actions + rule[s]]).collect();
        }
        let augmented = dot(&law, &value);
        let original = world.value_of(horizon, γ, &|history| {
            let (states, _) = world.augment(history).expect("asm:unique holds here");
            let tuple: Vec<usize> = states.iter().map(|s| *s.last().expect("a state")).collect();
            rule[tuples.iter().position(|t| *t == tuple).expect("a reachable tuple")]
        });
        equal.case(augmented, original, EQUAL, || {
            format!("{world}; T = {horizon}, γ = {γ}, weights {weights:.3?}, rule a = greedy of the augmented process: augmented {augmented:.6}, original {original:.6}")
        });
    }
    equal.verdict()
}
