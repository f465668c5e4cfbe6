//! Slips of index, sign or letter in the source document. They count towards nothing.

use super::at;
use crate::theory::theorems::Quotation;

/// A slip of index, sign or letter: what stands there and what is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slip {
    /// The label of the display.
    pub label: &'static str,
    /// Its words, and their line.
    pub source: Quotation,
    /// What is meant.
    pub meant: &'static str,
}

const fn slip(label: &'static str, source: Quotation, meant: &'static str) -> Slip {
    Slip { label, source, meant }
}

/// Slips of index, sign or letter, in the order of the source document.
pub const SLIPS: &[Slip] = &[
    slip("M-A2", at(212, r"given the current state $X_t$"), "Sₜ"),
    slip("M-RT", at(287, r"(\bar{U}_t(h_{t+1}))"), "Ūₜ₊₁(hₜ₊₁): the noise of Rₜ is read off one step later"),
    slip("M-J", at(307, r"\sum_{t=0}^\infty \gamma^t R_t"), "Σ_{t≥1} γ^{t−1}Rₜ, as in the proofs; data begin at t = 1"),
    slip("ALG1-a", at(335, r"\hat{\E}(S_1|Z=z)"), "Z = zᵢ"),
    slip(
        "ALG1-b",
        at(343, r"t=1,\dots,T\}$"),
        "t = 1 … T − 1, or a state s_{i,T+1} besides: the last decision has no next state",
    ),
    slip("ALG1-b", at(375, r"i.e., $n = NT$"), "n = N(T − 1), likewise"),
    slip(
        "C1",
        at(578, r"R_{t}^{Z\leftarrow z^{(k)}}\left(\bar{U}_t\left(H_t\right)\right)"),
        "Ūₜ₊₁(Hₜ₊₁): Hₜ does not tell the noise of Rₜ",
    ),
    slip("C2", at(596, r"the Markov property holds for $\mathbb{X}_{t}$"), "𝕊ₜ"),
    slip("C5", at(615, r"S_{2}^{Z\leftarrow z^{(k)}}(\bar{U}_{t-1}(H_{t-1}))"), "Ū₂(H₂)"),
    slip("C7", at(628, r"\mathbb{S}_{j}^{t-1}"), "the state of world k at t − 1"),
    slip("C9", at(636, r"j=2,\dots,t-2"), "j = 1 … t − 2, and R̃ₜ₋₂ among what is conditioned away"),
    slip("C11", at(640, r"P(\mathbb{S}_1=x) ds"), "P(𝕊₁ = s) ds"),
    slip("C11", at(641, r"\tilde{\mathbb{R}}_t^k"), "ℝₜᵏ without the tilde"),
    slip(
        "D7",
        at(729, r"P(\lambda_{\min}(A) \geq n\lambda_0/2) \leq"),
        "P(λ_min(A) < nλ₀/2) ≤ …; what is left then is X3",
    ),
    slip("D14", at(764, r"f(s_i^\prime,a_i^\prime)"), "f(s′, a′), which the maximum runs over"),
    slip(
        "D21",
        at(803, r"\leq 1 - n^{-\kappa} - d\exp(-n\lambda_0/8)"),
        "≥: a bound that holds with at least this probability",
    ),
    slip("D22", at(808, r"\leq 1 - n^{-\kappa} - d\exp(-n\lambda_0/8)"), "≥, likewise"),
    slip("E8", at(861, r"= &\int_x"), "∫ over s"),
];
