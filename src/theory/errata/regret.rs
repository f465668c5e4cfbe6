//! `thm:regret` and the displays D1 to D22 of its proof.

use super::{Erratum, Sides, Stands, Witness, against_every_constant, at};
use crate::kernel::numeric::small::{apply, norm, spectral_norm, sup, symmetric_eigenvalues};

pub(super) const ERRATA: &[Erratum] = &[
    Erratum {
        label: "X4",
        stands: Stands::Implied,
        source: at(375, r"the number of experience tuples in the dataset, i.e., $n = NT$"),
        says: "the probability d·exp(−nλ₀/8) is right for the n = NT tuples of N trajectories",
        why: "tuples of one person are not independent",
        right: "N in the exponent, λ₀ of the time-averaged law",
        witness: frozen_person,
        root: "X4",
        proved_by: &["a_frozen_chain_refutes_independence"],
    },
    Erratum {
        label: "X7",
        stands: Stands::Implied,
        source: at(
            378,
            r"the regret of the optimal policy estimated using Algorithm~\ref{alg:cf:1} and FQI is upper bounded by",
        ),
        says: "the bound holds for the regret J*CF − J of the policy as deployed, which reads ŝ (line 415)",
        why: "reading ŝ the policy is not exactly fair; where actions tie on average over levels, the least error decides for each level",
        right: "J*CF − Ṽ ≤ 2(ξ + L_Q ε_s)/(1−γ) for its fair value Ṽ; |J − Ṽ| is bounded by how often worlds part, and shrinks with ε under a margin that counts ties",
        witness: deployed_on_estimates,
        root: "X7",
        proved_by: &["deployed_regret_is_not_of_order_of_the_error", "ties_cost_or_earn_a_constant"],
    },
    Erratum {
        label: "X1",
        stands: Stands::Printed,
        source: at(381, r"\frac{ C dLR_{\max}\epsilon}{\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)^3}"),
        says: "for some C, the errors of states and rewards cost at most C·dLR_max·ε/(λ₀(λ₀−4dLε)(1−γ)³) of regret",
        why: "an error of rewards costs regret however small L and R_max are",
        right: "a term in ε_r without L or R_max: 4R₂ε_r/(√λ₀(1−γ)²)",
        witness: swapped_arms,
        root: "X1",
        proved_by: &["D16_fails_as_L_vanishes", "D16_is_not_homogeneous_in_rewards"],
    },
    Erratum {
        label: "X2",
        stands: Stands::Implied,
        source: at(381, r"\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)^3"),
        says: "the bound asks nothing of ε",
        why: "a hypothesis is missing, as the denominator shows",
        right: "λ₀ > 4dLε belongs to the hypotheses",
        witness: negative_bound,
        root: "X2",
        proved_by: &["D13_needs_coverage"],
    },
    Erratum {
        label: "X5",
        stands: Stands::Printed,
        source: at(381, r"\frac{\gamma^B R_{\max}}{(1-\gamma)^2}"),
        says: "stopping after B iterations costs at most γᴮR/(1−γ)² of regret",
        why: "a factor 2 is lost, which shows where γ < ½",
        right: "2γᴮR/(1−γ)² from f̂₀ = 0",
        witness: stopped_early,
        root: "X5",
        proved_by: &["D22_term_3_is_false"],
    },
    Erratum {
        label: "D20",
        stands: Stands::Implied,
        source: at(384, r"for any $\kappa > 0$, some positive constant $C>0$"),
        says: "P(error > C·R·κ·log n/√n) ≤ n^{−κ} for any κ > 0 with one C for all κ",
        why: "a small κ makes the bound smaller than any error can be. In the printed order, some C for each κ, it is not refuted; its use in the proof needs one C (line 797 asks for a large κ)",
        right: "√(κ log n + …) in place of κ log n, as in thm:regret′",
        witness: small_exponent,
        root: "D20",
        proved_by: &[],
    },
    Erratum {
        label: "asm:completeness",
        stands: Stands::Assumed,
        source: at(669, r"Assume for any $f \in \mathcal{F}$, $\mathcal{T} f \in \mathcal{F}$"),
        says: "some ball ‖w‖₂ ≤ 𝓑 is closed under the Bellman operator",
        why: "with one-hot features no 𝓑 will do once γ√d ≥ 1",
        right: "the ball ‖wᵀφ‖∞ ≤ R/(1−γ), where the span of φ holds the Bellman image of every bounded function",
        witness: open_ball,
        root: "asm:completeness",
        proved_by: &[],
    },
    Erratum {
        label: "asm:lipschitz",
        stands: Stands::Implied,
        source: at(682, r"\leq L\|s-s'\|"),
        says: "|φ(s) − φ(ŝ)| ≤ Lε with ε = ‖s − ŝ‖∞, whichever norm L belongs to",
        why: "a Lipschitz constant for the Euclidean norm is short by a factor √p in p dimensions",
        right: "L for the norm ‖·‖∞ of states",
        witness: other_norm,
        root: "asm:lipschitz",
        proved_by: &[],
    },
    Erratum {
        label: "D3",
        stands: Stands::Step,
        source: at(702, r"\frac{\gamma^B R_{max}}{1-\gamma}. \label{eq:q_bound}"),
        says: "‖Q* − f̂_B‖ ≤ Σ γᵗ‖f̂_{B−t} − T f̂_{B−t−1}‖ + γᴮR/(1−γ), for the random f̂₀ of alg:cf:2",
        why: "the first function may be as far from Q* as twice R/(1−γ)",
        right: "γᴮ‖Q* − f̂₀‖∞ as last term; γᴮR/(1−γ) from f̂₀ = 0",
        witness: far_start,
        root: "D3",
        proved_by: &["D3_is_false", "errors_propagate"],
    },
    Erratum {
        label: "D4",
        stands: Stands::Step,
        source: at(708, r"\|\hat{w}_f^\top - w_f^\top\|_\infty \cdot \|\phi\|_\infty"),
        says: "|φᵀΔw| ≤ ‖Δw‖∞ ‖φ‖∞",
        why: "the dual of one sup-norm is the 1-norm",
        right: "|φᵀΔw| ≤ ‖Δw‖₂ ‖φ‖₂",
        witness: dual_norms,
        root: "D4",
        proved_by: &["D4_is_false"],
    },
    Erratum {
        label: "D6",
        stands: Stands::Step,
        source: at(722, r"\left\|A^{-1}\right\|_2 \left\|\mathbf{b}-\mathbf{d}\right\|_\infty"),
        says: "‖A⁻¹v‖∞ ≤ ‖A⁻¹‖₂ ‖v‖∞ for positive definite A",
        why: "the spectral norm belongs to Euclidean lengths",
        right: "with a factor (1 + √d)/2, which is the least",
        witness: mixed_norms,
        root: "D6",
        proved_by: &["D6_is_false"],
    },
    Erratum {
        label: "X3",
        stands: Stands::Implied,
        source: at(729, r"d \exp(-n\lambda_0/8)"),
        says: "P(λ_min(A) < nλ₀/2) ≤ d·exp(−nλ₀/8) under ‖φ‖∞ ≤ 1, the sign of D7 repaired",
        why: "the inequality that is quoted asks for ‖φ‖₂ ≤ 1",
        right: "d·exp(−((1−ln 2)/2)·nλ₀/R₂²), R₂ = sup‖φ‖₂ ≤ √d",
        witness: too_few_rows,
        root: "X3",
        proved_by: &["hadamard_rows_refute_D7"],
    },
    Erratum {
        label: "D9",
        stands: Stands::Step,
        source: at(
            740,
            r"(\phi_k(s_i,a_i) - \phi_k(\hat{s}_i,a_i)) + (\phi_j(s_i,a_i) - \phi_j(\hat{s}_i,a_i))\right|",
        ),
        says: "|Σ φⱼ(φₖ−φ̂ₖ) + (φⱼ−φ̂ⱼ)φ̂ₖ| ≤ |Σ (φₖ−φ̂ₖ) + (φⱼ−φ̂ⱼ)|",
        why: "factors of size at most 1 are dropped inside an absolute value, where terms may cancel",
        right: "≤ Σ |φₖ−φ̂ₖ| + |φⱼ−φ̂ⱼ|, so the last line, 2nLε, stands",
        witness: cancelling_terms,
        root: "D9",
        proved_by: &["D9_is_false"],
    },
    Erratum {
        label: "D13",
        stands: Stands::Implied,
        source: at(758, r"\|C^{-1}\|_2 \leq \frac{2}{n\lambda_0 - 4ndL\epsilon}"),
        says: "the step asks nothing of ε",
        why: "the hypothesis of X2 is missing",
        right: "where nλ₀ > 4ndLε",
        witness: negative_norm,
        root: "X2",
        proved_by: &["D13_needs_coverage"],
    },
    Erratum {
        label: "D14",
        stands: Stands::Step,
        source: at(772, r"(1 + \gamma L + \frac{R_{\max}L}{1-\gamma}) n\epsilon"),
        says: "‖b − d‖∞ ≤ (1 + γL + LR/(1−γ)) nε",
        why: "f = wᵀφ is not L-Lipschitz: its constant is up to L‖w‖₁",
        right: "L_f in place of the first L",
        witness: steep_function,
        root: "D14",
        proved_by: &["D14_is_false"],
    },
    Erratum {
        label: "D4",
        stands: Stands::Implied,
        source: at(
            787,
            r"\frac{2\epsilon}{\lambda_0 - 4dL\epsilon} \left(1 + \gamma L + \frac{R_{\max}L}{1-\gamma}\right)",
        ),
        says: "‖ŵᵀφ − wᵀφ‖∞ ≤ 2ε/λ₀ when states are exact and L → 0, as lines 708 and 787 together give",
        why: "errors of rewards can line up with the signs of the features",
        right: "R₂ε_r/√λ with λ = λ_min(A)/n, which is attained",
        witness: aligned_errors,
        root: "D4",
        proved_by: &["perturbed_prediction"],
    },
    Erratum {
        label: "D16",
        stands: Stands::Step,
        source: at(788, r"\leq C_1 \frac{dLR_{\max}\epsilon}{\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)}"),
        says: "for some C₁, ‖ŵ − w‖∞ ≤ C₁dLRε/(λ₀(λ₀−4dLε)(1−γ))",
        why: "the 1 in 1 + γL + LR/(1−γ) is not of order dLR",
        right: "R₂ε_r/√λ + a term of order L₂V·ε_s, as in lemma:P",
        witness: weight_of_reward_error,
        root: "X1",
        proved_by: &["D16_fails_as_L_vanishes", "D16_is_not_homogeneous_in_rewards"],
    },
    Erratum {
        label: "D18",
        stands: Stands::Step,
        source: at(
            795,
            r"\geq \frac{C_1dLR_{\max}\epsilon}{\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)}\right) \leq d \exp(-n\lambda_0/8)",
        ),
        says: "for some C₁, sup‖ŵᵀφ − wᵀφ‖∞ ≥ C₁dLRε/(λ₀(λ₀−4dLε)(1−γ)) has probability at most d·exp(−nλ₀/8)",
        why: "as D16: the error is there for sure",
        right: "R₂ε_r/√λ when states are exact",
        witness: wrong_for_sure,
        root: "X1",
        proved_by: &[],
    },
    Erratum {
        label: "D19",
        stands: Stands::Assumed,
        source: at(797, r"\mathcal{B} < \frac{C^*R_{\max}}{1-\gamma}"),
        says: "weights are bounded by the function, ‖w‖ ≤ C*‖wᵀφ‖∞, with a universal C*",
        why: "features that are nearly collinear need large weights for small functions",
        right: "‖w‖₂ ≤ ‖wᵀφ‖∞/√λ₀, which is attained",
        witness: collinear_features,
        root: "D19",
        proved_by: &["D19_is_false"],
    },
    Erratum {
        label: "D22",
        stands: Stands::Implied,
        source: at(805, r"Lemma 13 in \citet{chen2019information}, we have the bound for regret"),
        says: "the regret of the greedy policy is at most ‖Q* − f̂‖∞/(1−γ), as the third terms of lines 807 and 840 together say",
        why: "the best action may be underrated by ξ and another overrated by ξ",
        right: "2‖Q* − f̂‖∞/(1−γ)",
        witness: swapped_twice,
        root: "X5",
        proved_by: &["regret_on_true_states"],
    },
    Erratum {
        label: "E3",
        stands: Stands::Step,
        source: at(834, r"$P(\mathcal{A}_0) \geq 1 - n^{-\kappa} - d\exp(-n\lambda_0/8)$"),
        says: "for some C₂, ‖Q* − f̂‖∞ ≤ ξ has probability at least 1 − n^{−κ} − d·exp(−nλ₀/8) with n = NT",
        why: "as X4: a person who never moves tells nothing of other states, however long",
        right: "N people in the exponent",
        witness: state_never_seen,
        root: "X4",
        proved_by: &["a_frozen_chain_refutes_independence"],
    },
    Erratum {
        label: "E4",
        stands: Stands::Step,
        source: at(840, r"\xi = \frac{ C_1 dLR_{\max}\epsilon}{\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)^2}"),
        says: "for some C₁, ‖Q* − f̂‖∞ ≤ C₁dLRε/(λ₀(λ₀−4dLε)(1−γ)²) when n and B are large",
        why: "as X1",
        right: "R₂ε_r/(√c(1−γ)) with c = λ_min(C)/n when states are exact, which is attained",
        witness: value_of_reward_error,
        root: "X1",
        proved_by: &[],
    },
];

/// (1 − ln 2)/2, the exponent of the matrix Chernoff bound at half the mean (Tropp 2012).
const CHERNOFF: f64 = (1.0 - std::f64::consts::LN_2) / 2.0;

fn frozen_person() -> Witness {
    let (n, λ0) = (1000.0, 0.5);
    Witness {
        text: "d = 2, φ one-hot in two equally likely states, N = 1 person who never moves, T = 1000, λ₀ = ½: one state is never seen, λ_min(A) = 0 < nλ₀/2 for sure".into(),
        printed: Sides::at_most(1.0, 2.0 * f64::exp(-n * λ0 / 8.0)),
        corrected: Sides::at_most(1.0, 2.0 * f64::exp(-CHERNOFF * λ0)),
    }
}

/// Levels 0 and 1 with probability ½, S = U ∈ {−1, 0, 1} with probabilities .1, .8, .1, R^z(s, a) = (2a − 1)(s − (2z − 1)), one decision; true means 0,
/// estimated ones (η, −η), f̂ = Q*. Returns (J*CF, Ṽ, J).
fn tied_on_average(η: f64) -> (f64, f64, f64) {
    let reward = |z: usize, s: f64, a: usize| (2.0 * a as f64 - 1.0) * (s - (2.0 * z as f64 - 1.0));
    let fair = |s: f64, a: usize| (reward(0, s, a) + reward(1, s, a)) / 2.0;
    let estimated = [η, -η];
    let (mut best, mut fair_value, mut value) = (0.0, 0.0, 0.0);
    for (s, p) in [(-1.0, 0.1), (0.0, 0.8), (1.0, 0.1)] {
        best += p * fair(s, 0).max(fair(s, 1));
        for z in 0..2 {
            // Q*(s⁰, s¹, a) = (2a − 1)·(s⁰ + s¹)/2 at the states that alg:cf:1 returns.
            let states = estimated.map(|mean| s - estimated[z] + mean);
            let action = usize::from(states[0] + states[1] > 0.0);
            fair_value += 0.5 * p * fair(s, action);
            value += 0.5 * p * reward(z, s, action);
        }
    }
    (best, fair_value, value)
}

fn deployed_on_estimates() -> Witness {
    // With states drawn afresh and γ = ½: φ = ((2a − 1)(s⁰ + s¹)/2, 1), d = 2, L = 1, λ₀ = E S² = 1/5, R_max = 2, ε = 2η; f̂ = Q*, so the bound's other
    // terms vanish with n and B.
    let γ: f64 = 0.5;
    let printed = |c: f64| {
        let η = 1e-4 / c;
        let (best, _, value) = tied_on_average(η);
        let (d, l, ε) = (2.0, 1.0, 2.0 * η);
        let bound = c * d * l * 2.0 * ε / (0.2 * (0.2 - 4.0 * d * l * ε) * (1.0 - γ).powi(3));
        Sides::at_most((best - value) / (1.0 - γ), bound)
    };
    let η = 0.01;
    let (best, fair_value, value) = tied_on_average(η);
    Witness {
        text: format!(
            "P(Z) = ½, S = U = −1, 0, 1 with probabilities .1, .8, .1 at every step, R^z(s, a) = (2a − 1)(s − (2z − 1)), true means 0, estimated ones (η, −η), f̂ = Q*: for every 0 < η < 1 a decision is worth {best:.1} under the best fair policy, Ṽ has {fair_value:.1} and J has {value:.1}, a loss of 4/5 at each of them, (4/5)/(1−γ) in all; for any C take η = 0.0001/C, γ = ½"
        ),
        printed: against_every_constant(printed),
        corrected: Sides::at_most(best - fair_value, 2.0 * 2.0 * η),
    }
}

fn swapped_arms() -> Witness {
    let (ε, γ, λ0, d) = (0.01, 0.5, 0.5, 2.0);
    let (rewards, estimates) = ([1.9 * ε, 0.0], [0.9 * ε, ε]);
    let chosen = usize::from(estimates[1] > estimates[0]);
    let regret = (rewards[0] - rewards[chosen]) / (1.0 - γ);
    // One state: φ does not depend on it, so every L > 0 is a Lipschitz constant; this one makes the bound half the regret.
    let of = |c: f64| {
        let half = regret * λ0 * f64::powi(1.0 - γ, 3) / 2.0;
        let l = half * λ0 / (c * d * ε + 4.0 * d * ε * half);
        Sides::at_most(regret, c * d * l * ε / (λ0 * (λ0 - 4.0 * d * l * ε) * f64::powi(1.0 - γ, 3)))
    };
    Witness {
        text: "one state, two arms, r = (1.9ε, 0), r̂ = (0.9ε, ε), ε = 0.01, one-hot φ, λ₀ = ½, γ = ½, R = 1: regret 1.9ε/(1−γ); φ does not depend on the state, so any L > 0 will do, and for each C one of them makes the bound half the regret; the other terms vanish with n and B".into(),
        printed: against_every_constant(of),
        corrected: Sides::at_most(regret, 4.0 * ε / (f64::sqrt(λ0) * f64::powi(1.0 - γ, 2))),
    }
}

fn negative_bound() -> Witness {
    let bound = |ε: f64| 2.0 * ε / (0.5 * (0.5 - 8.0 * ε) * f64::powi(1.0 - 0.9, 3));
    Witness {
        text: "d = 2, L = 1, λ₀ = ½, γ = 0.9, R = 1, ε = 0.1: the first term is −1333·C for every C > 0, and a regret is at least 0".into(),
        printed: Sides::at_most(0.0, bound(0.1)),
        corrected: Sides::at_most(0.0, bound(0.05)),
    }
}

fn stopped_early() -> Witness {
    // Root 0 leads by action 1 to nodes 1, 2 and then 3, which pays 1 for ever; by action 0, which pays 0.01 at once, to 4, 5 and 6, which pays −1 for ever.
    let (γ, steps) = (0.3, 3);
    let next = |s: usize, a: usize| if s == 0 { [4, 1][a] } else { [0, 2, 3, 3, 5, 6, 6][s] };
    let reward = |s: usize, a: usize| if s == 0 { [0.01, 0.0][a] } else { [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -1.0][s] };
    let backup = |v: [f64; 7]| [0, 1, 2, 3, 4, 5, 6].map(|s| [0, 1].map(|a| reward(s, a) + γ * v[next(s, a)]));
    let iterated = |steps: usize| (0..steps).fold([[0.0; 2]; 7], |q, _| backup(q.map(|q| f64::max(q[0], q[1]))));
    let (best, learned) = (iterated(200), iterated(steps));
    let greedy = usize::from(learned[0][1] > learned[0][0]);
    // Beyond the root all actions are alike.
    let regret = f64::max(best[0][0], best[0][1]) - best[0][greedy];
    let term = γ.powi(3) / f64::powi(1.0 - γ, 2);
    Witness {
        text: "γ = 0.3, B = 3, exact value iteration from 0: one action leads after three steps to reward 1 for ever, the other, with 0.01 at once, to −1 for ever; three iterations see 0.01 alone. Regret 2·0.027/0.7 − 0.01 = 0.0671, third term 0.027/0.49 = 0.0551; ε = 0, and the second term vanishes with n".into(),
        printed: Sides::at_most(regret, term),
        corrected: Sides::at_most(regret, 2.0 * term),
    }
}

fn small_exponent() -> Witness {
    // d = 1, γ = 0, φ = 1, R = 1: the mean of n signs, n odd, is at least 1/n away from 0.
    let n = 101.0f64;
    let within = |radius: f64| {
        let mut chance = 0.5f64.powi(101);
        let mut total = 0.0;
        for k in 0..=101 {
            total += if (n - 2.0 * f64::from(k)).abs() / n <= radius { chance } else { 0.0 };
            chance *= (n - f64::from(k)) / f64::from(k + 1);
        }
        total
    };
    let of = |c: f64| {
        let κ = 0.9 / (c * n.sqrt() * n.ln());
        Sides::at_least(within(c * κ * n.ln() / n.sqrt()), 1.0 - n.powf(-κ))
    };
    Witness {
        text: "d = 1, γ = 0, φ = 1, n = 101 rewards ±1; for any C take κ = 0.9/(C√n log n): the radius Cκ log n/√n is 0.9/n, and |mean| ≥ 1/n for sure, so a probability that is said to be positive is 0".into(),
        printed: against_every_constant(of),
        corrected: Sides::at_least(within((1.0 + f64::sqrt(2.0 * n.ln())) / n.sqrt()), 1.0 - 1.0 / n),
    }
}

fn open_ball() -> Witness {
    // 8 states, 2 actions, one-hot φ, r ≡ 1, all moves to the first state: T w = 1 + γ·max w(first state, ·) in all d coordinates.
    let (d, γ) = (16, 0.9);
    let image = |radius: f64| vec![1.0 + γ * radius; d];
    let v = 1.0 / (1.0 - γ);
    Witness {
        text: format!(
            "8 states, 2 actions, one-hot φ (d = {d}), r ≡ 1, all moves to the first state, γ = {γ}, w = (𝓑, 0, …): T w = 1 + γ𝓑 in every coordinate, ‖T w‖₂ = (1 + γ𝓑)√d > 𝓑 for every 𝓑"
        ),
        printed: against_every_constant(|ball| Sides::at_most(norm(&image(ball)) / ball, 1.0)),
        corrected: Sides::at_most(sup(&image(v)), v),
    }
}

fn other_norm() -> Witness {
    // φ(s) = (s₁ + s₂)/√2 has gradient (1, 1)/√2: L = 1 for ‖·‖₂ and √2 for ‖·‖∞.
    let (moved, ε) = ((0.1 + 0.1) / f64::sqrt(2.0), 0.1);
    Witness {
        text: "φ(s) = (s₁ + s₂)/√2, s − ŝ = (0.1, 0.1), so ε = 0.1; L = 1 in the Euclidean norm".into(),
        printed: Sides::at_most(moved, 1.0 * ε),
        corrected: Sides::at_most(moved, f64::sqrt(2.0) * ε),
    }
}

fn far_start() -> Witness {
    let (γ, steps) = (0.9, 10);
    let learned = (0..steps).fold(-10.0, |f, _| 1.0 + γ * f);
    let left = f64::powi(γ, steps);
    Witness {
        text: "one state, r = 1, γ = 0.9, Q* = 10, f̂₀ = −10, exact iterates, B = 10: |10 − f̂_B| = 20γᴮ".into(),
        printed: Sides::at_most(f64::abs(10.0 - learned), left * 10.0),
        corrected: Sides::at_most(f64::abs(10.0 - learned), left * 20.0),
    }
}

fn dual_norms() -> Witness {
    let (φ, w) = ([1.0, 1.0], [1.0, 1.0]);
    let product = f64::abs(φ[0] * w[0] + φ[1] * w[1]);
    Witness {
        text: "φ = Δw = (1, 1): 2 > 1".into(),
        printed: Sides::at_most(product, sup(&w) * sup(&φ)),
        corrected: Sides::at_most(product, norm(&w) * norm(&φ)),
    }
}

fn mixed_norms() -> Witness {
    let inverse = [2.01, 1.0, 1.0, 0.51];
    let (left, right) = (sup(&apply(&inverse, &[1.0, 1.0])), spectral_norm(&inverse, 2));
    Witness {
        text: "A⁻¹ = [2.01, 1; 1, 0.51], whose largest eigenvalue is 2.51, v = (1, 1): ‖A⁻¹v‖∞ = 3.01".into(),
        printed: Sides::at_most(left, right),
        corrected: Sides::at_most(left, right * (1.0 + f64::sqrt(2.0)) / 2.0),
    }
}

fn too_few_rows() -> Witness {
    // 63 of the 64 orthogonal rows at most: the Gram matrix is singular.
    let (d, n) = (64.0f64, 63.0);
    Witness {
        text: "d = 64, rows drawn uniformly from a Hadamard matrix (entries ±1, orthogonal), λ₀ = 1, n = 63: fewer rows than columns, λ_min(A) = 0 for sure".into(),
        printed: Sides::at_most(1.0, d * f64::exp(-n / 8.0)),
        corrected: Sides::at_most(1.0, d * f64::exp(-CHERNOFF * n / d)),
    }
}

fn cancelling_terms() -> Witness {
    // φⱼ is read without error; its signs keep the errors of φₖ from cancelling.
    let (j, k, k_hat) = ([1.0, -1.0], [0.5, 0.5], [0.4, 0.6]);
    let differences = [0, 1].map(|i: usize| k[i] - k_hat[i]);
    let left = f64::abs(j[0] * differences[0] + j[1] * differences[1]);
    Witness {
        text: "n = 2: φⱼ = φ̂ⱼ = (1, −1), φₖ = (0.5, 0.5), φ̂ₖ = (0.4, 0.6)".into(),
        printed: Sides::at_most(left, f64::abs(differences[0] + differences[1])),
        corrected: Sides::at_most(left, f64::abs(differences[0]) + f64::abs(differences[1])),
    }
}

fn negative_norm() -> Witness {
    // d = n = 1, φ(s) = s, L = 1, s = 0.7, so λ₀ = 0.49.
    let of = |read: f64| Sides::at_most(1.0 / (read * read), 2.0 / (0.49 - 4.0 * (0.7 - read)));
    Witness {
        text: "d = n = 1, φ(s) = s, L = 1, s = 0.7, λ₀ = 0.49, ŝ = 0.4: C = 0.16, and nλ₀ − 4ndLε = −0.71".into(),
        printed: of(0.4),
        corrected: of(0.65),
    }
}

fn steep_function() -> Witness {
    // d = n = 1, φ(s) = s, L = 1, f = wφ with w = V = R/(1−γ) = 10, so L_f = 10; r exact.
    let (γ, w, read, ε) = (0.9, 10.0, 0.99, 0.01);
    let left = f64::abs(1.0 + γ * w - read * (1.0 + γ * w * read));
    Witness {
        text: "d = n = 1, φ(s) = s, γ = 0.9, R = 1, w = 10, s = s′ = 1, ŝ = ŝ′ = 0.99, r = r̂ = 1".into(),
        printed: Sides::at_most(left, (1.0 + γ + 10.0) * ε),
        corrected: Sides::at_most(left, (1.0 + γ * w + 10.0) * ε),
    }
}

fn aligned_errors() -> Witness {
    // Hadamard rows (−1)^{bits of i ∧ j}, each once, and errors by the bent function i₁i₂ + i₃i₄ of the bits of i: all |Δwⱼ| are equal.
    let sign = |bits: u32| if bits.count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
    let bent = |i: u32| sign((i & i >> 1 & 1) + 2 * (i >> 2 & i >> 3 & 1));
    let ε = 0.01;
    // A/n = I, so Δw = Σᵢ φᵢ·error/n.
    let weights: Vec<f64> = (0..16).map(|j| (0..16).map(|i| sign(i & j) * ε * bent(i)).sum::<f64>() / 16.0).collect();
    let left: f64 = weights.iter().map(|w| w.abs()).sum();
    Witness {
        text: "d = 16: the rows of the Hadamard matrix (−1)^{bits of i∧j} once each, r̂ − r = ±0.01 by the bent function i₁i₂ + i₃i₄ of the bits of i; A/n = I, |Δwⱼ| = 0.01/4, φ* = the signs of Δw".into(),
        printed: Sides::at_most(left, 2.0 * ε),
        corrected: Sides::at_most(left, 4.0 * ε),
    }
}

/// One state, φ ≡ 1, d = λ₀ = R = 1, r ≡ 1 read as 1 + ε, γ = ½. For any C the L that makes C·LRε/((1−4Lε)(1−γ)^power) half of `error`; then the bound.
fn bound_by_lipschitz(c: f64, error: f64, ε: f64, power: i32) -> f64 {
    let γ: f64 = 0.5;
    let half = error * (1.0 - γ).powi(power) / 2.0;
    let l = half / (c * ε + 4.0 * ε * half);
    c * l * ε / ((1.0 - 4.0 * l * ε) * (1.0 - γ).powi(power))
}

const REWARD_ERROR: &str = "one state, φ ≡ 1, d = λ₀ = R = 1, r ≡ 1 read as 1 + ε, ε = 0.01, γ = ½; φ does not depend on the state, so any L > 0 will do, and for each C₁ one of them makes the bound half the error";

fn weight_of_reward_error() -> Witness {
    let ε = 0.01;
    Witness {
        text: format!("{REWARD_ERROR}: |ŵ − w| = ε"),
        printed: against_every_constant(|c| Sides::at_most(ε, bound_by_lipschitz(c, ε, ε, 1))),
        corrected: Sides::at_most(ε, ε),
    }
}

fn wrong_for_sure() -> Witness {
    let (ε, n) = (0.01, 100.0);
    let claimed = f64::exp(-n / 8.0);
    let of = |c: f64| Sides::at_most(if ε >= bound_by_lipschitz(c, ε, ε, 1) { 1.0 } else { 0.0 }, claimed);
    Witness {
        text: format!("{REWARD_ERROR}; n = 100: |ŵ − w| = ε for sure"),
        printed: against_every_constant(of),
        corrected: Sides::at_most(ε, ε),
    }
}

fn value_of_reward_error() -> Witness {
    let (ε, γ) = (0.01, 0.5);
    let error = (1.0 + ε) / (1.0 - γ) - 1.0 / (1.0 - γ);
    Witness {
        text: format!("{REWARD_ERROR}: |Q* − f̂| = ε/(1−γ)"),
        printed: against_every_constant(|c| Sides::at_most(error, bound_by_lipschitz(c, error, ε, 2))),
        corrected: Sides::at_most(error, ε / (1.0 - γ)),
    }
}

fn collinear_features() -> Witness {
    // Features (1, 1) and (1, 1 − 1/k), equally often; w = (−k, k) has values 0 and −1.
    let of = |k: f64| (norm(&[-k, k]), f64::max(f64::abs(-k + k), f64::abs(-k + k * (1.0 - 1.0 / k))));
    let k = 100.0;
    let (second, (weight, size)) = (1.0 - 1.0 / k, of(k));
    let moment = [1.0, (1.0 + second) / 2.0, (1.0 + second) / 2.0, (1.0 + second * second) / 2.0];
    let least = symmetric_eigenvalues(&moment, 2)[0];
    Witness {
        text: "features (1, 1) and (1, 1 − 1/k), w = (−k, k): values 0 and −1, ‖w‖₂ = k√2; for any C* take k = C* + 1"
            .into(),
        printed: against_every_constant(|c| Sides::at_most(of(c + 1.0).0, c)),
        corrected: Sides::at_most(weight, size / least.sqrt()),
    }
}

fn swapped_twice() -> Witness {
    let (γ, ξ, rewards) = (0.7, 0.1, [0.1999, 0.0]);
    let best = [0, 1].map(|a: usize| rewards[a] + γ * rewards[0] / (1.0 - γ));
    let learned = [best[0] - ξ, best[1] + ξ];
    let chosen = usize::from(learned[1] > learned[0]);
    let regret = (rewards[0] - rewards[chosen]) / (1.0 - γ);
    Witness {
        text: "one state, γ = 0.7, r = (0.1999, 0), f̂ = Q* ∓ 0.1 prefers the second action for ever".into(),
        printed: Sides::at_most(regret, ξ / (1.0 - γ)),
        corrected: Sides::at_most(regret, 2.0 * ξ / (1.0 - γ)),
    }
}

fn state_never_seen() -> Witness {
    // ξ = C₂·dRκ log n/(λ₀√n(1−γ)²) with κ = 1 and the other terms 0; the error is Q* = 2 for sure.
    let (d, λ0, γ) = (2.0, 0.5, 0.5f64);
    let of = |c: f64| {
        let n = 1e6 * c * c;
        let ξ = c * d * f64::ln(n) / (λ0 * n.sqrt() * (1.0 - γ).powi(2));
        let within = if 2.0 <= ξ { 1.0 } else { 0.0 };
        Sides::at_least(within, 1.0 - 1.0 / n - d * f64::exp(-n * λ0 / 8.0))
    };
    Witness {
        text: "one person in one of two states for ever, φ one-hot, λ₀ = ½, r ≡ 1, γ = ½, Q* = 2, κ = 1; least squares of least norm says 0 at the state never seen: the error is 2 for sure; for any C₂ take T = (1000·C₂)², which makes ξ < 2".into(),
        printed: against_every_constant(of),
        corrected: Sides::at_least(0.0, 1.0 - d * f64::exp(-CHERNOFF * λ0)),
    }
}
