//! Where a statement of the source document is examined when no claim, no erratum and no slip bears its label, or why it is not.

/// Labels and where their content is, or the reason why there is nothing to check.
pub const ELSEWHERE: &[(&str, &str)] = &[
    // Definitions, assumptions and remarks of the text.
    ("M-A1", "is asm:unmeasured_confounders"),
    ("M-A3", "is asm:unique"),
    ("M-A4", "is asm:additive"),
    ("M-D2", "is def:cf_policy with one decision"),
    ("M-D3", "is def:cf_policy"),
    ("M-MET", "is eq:cf_metric, and X15 for the convention on draws"),
    ("M-T1", "is thm:cf"),
    ("M-T2", "is thm:sr_policy"),
    ("asm:hypothesis", "a definition; what its unspecified norm costs is D4, D19 and X3"),
    ("asm:unmeasured_confounders", "an assumption; the control of C2 is a world without it"),
    ("def:cf_policy_cb", "is def:cf_policy with one decision"),
    // Names that the audit has for findings with a label of their own.
    ("X6", "is D20"),
    ("X8", "is thm:cf_metric, with E7, E8, E10, E11 and E12"),
    ("X9", "is M-TXT3"),
    ("X10", "is thm:cf, corrected, and M-TXT4"),
    ("X11", "is thm:sr_policy"),
    ("X12", "is asm:markov"),
    // The proof of thm:sr_policy.
    ("C3", "the induction hypothesis; the induction is superfluous, see C2"),
    ("C4", "the base of the induction; see C2"),
    ("C6", "repeated use of C5; its content is C2"),
    ("C8", "a definition, R̃ = Σ pₖℝᵏ; used in C12"),
    ("C13", "is thm:sr_policy in print"),
    // The algorithms.
    ("ALG1-c", "is alg:cf:1: exact with the true means"),
    ("ALG1-d", "is alg:cf:1: the component of a person's own level is the observed state"),
    ("ALG1-e", "is alg:cf:1: the bound of its error"),
    ("ALG1-f", "is alg:cf:1: estimated weights are a term of that bound"),
    ("ALG2-b", "is D3"),
    // The proof of thm:regret.
    ("D-A1", "is asm:hypothesis"),
    ("D-A2", "is asm:completeness"),
    ("D-A3", "is asm:coverage"),
    ("D-A4", "is asm:lipschitz"),
    ("D-A5", "is asm:bounded_reward"),
    ("D-iid", "is X4"),
    ("asm:coverage", "a definition; that λ₀ ≤ 1 holds because the trace bounds the least eigenvalue"),
    ("D1", "is D2 with exact states"),
    (
        "D2",
        "the normal equations of least squares, a textbook fact; the kernel's fit stands beside certified values of NIST",
    ),
    ("D5", "an identity of matrices"),
    ("D8", "the definition of the spectral norm"),
    ("D10", "elementary, and superseded by lemma:P"),
    ("D11", "Weyl's inequality, a textbook fact"),
    ("D12", "D11 and D10 together"),
    ("D15", "D14 and the bound of targets together"),
    ("D17", "quoted from elsewhere; too loose for any of our data to contradict it"),
    // The proof of thm:cf_metric.
    ("E-A6", "is asm:margin"),
    ("E-extra", "is eq:cf_metric: exact states make unfairness 0"),
    ("E1", "the triangle inequality"),
    ("E2", "the triangle inequality twice"),
    ("E5", "holds; proved as greedy_is_stable, and a step of thm:cf_metric"),
    ("E6", "is E5 in other words"),
    // The simulations.
    ("F-1", "a value: the first means of the linear world are δ apart"),
    ("F-2", "is X13"),
    ("F-4", "values of expit; printed in the witness of X13"),
    ("F-5", "a choice of the simulation: rewards have no noise, which asm:additive allows"),
    ("F-6", "is X14 and asm:bounded_reward"),
];
