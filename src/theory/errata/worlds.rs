//! The algorithms as printed, and the simulations (supplement F).

use super::{Erratum, Sides, Stands, Witness, against_every_constant, at};
use crate::estimate::{Basis, FitSettings, Fitted, fit};
use crate::kernel::model::worlds::{Linear, Nonlinear, World};
use crate::kernel::model::{Exogenous, Mechanism, simulate};
use crate::kernel::numeric::Stream;
use crate::kernel::numeric::quadrature::normal_cdf;

pub(super) const ERRATA: &[Erratum] = &[
    Erratum {
        label: "ALG1-g",
        stands: Stands::Implied,
        source: at(
            324,
            r"allows us to identify and estimate the counterfactual states and rewards using observed data",
        ),
        says: "data determine the counterfactual states, also where a level never saw an action",
        why: "μ̂ is evaluated at counterfactual states and the other level: without positivity that is extrapolation",
        right: "they do where each level has every action with positive probability at the states where μ̂ is evaluated",
        witness: unseen_action,
        root: "ALG1-g",
        proved_by: &[],
    },
    Erratum {
        label: "ALG2-a",
        stands: Stands::Implied,
        source: at(367, r"\arg \min_{f \in \mathcal{F}}"),
        says: "the argmin over the ball ‖w‖ ≤ 𝓑 in alg:cf:2 is the least-squares solution that the proof takes (line 694)",
        why: "the proof takes the solution without the ball, which may leave it",
        right: "least squares without a ball, with targets clipped to [−V, V]",
        witness: outside_the_ball,
        root: "ALG2-a",
        proved_by: &[],
    },
    Erratum {
        label: "X14",
        stands: Stands::Assumed,
        source: at(378, r"\epsilon = \max_{s}\|\hat{s}-s\|_\infty"),
        says: "ε = max over states of |ŝ − s| is finite in the simulations of supplement F.2",
        why: "states are normal, and any error of a slope grows without bound",
        right: "bounded noise or clipped states, or ε over the states of the data",
        witness: error_of_a_slope,
        root: "X14",
        proved_by: &[],
    },
    Erratum {
        label: "F-3",
        stands: Stands::Implied,
        source: at(418, r"$\delta$ denote the strength of impact of sensitive attribute $Z$"),
        says: "at δ = 0 the attribute has no effect in the non-linear world",
        why: "its first state depends on Z without δ",
        right: "there is an effect of the first state at every δ, and fairness has a price at δ = 0 too",
        witness: first_means,
        root: "F-3",
        proved_by: &[],
    },
    Erratum {
        label: "asm:bounded_reward",
        stands: Stands::Assumed,
        source: at(688, r"such that $|r| \leq R_{\max}$"),
        says: "some R_max bounds the rewards in the simulations of supplement F.2",
        why: "rewards are linear in normal states",
        right: "linear growth of rewards and γ·max|∂μ/∂s| < 1 are enough for a value; for the bound on regret rewards are clipped",
        witness: tail_of_rewards,
        root: "asm:bounded_reward",
        proved_by: &[],
    },
    Erratum {
        label: "X13",
        stands: Stands::Printed,
        source: at(910, r"the state variables $\{S_t\}_{t\geq1}$ are independent of sensitive attribute $Z$"),
        says: "at δ = 0 the states of the linear world are independent of Z",
        why: "the behaviour policy depends on Z, and states on actions",
        right: "at δ = 0 the counterfactual states of all levels are equal",
        witness: second_means,
        root: "X13",
        proved_by: &[],
    },
];

fn unseen_action() -> Witness {
    // m = 0 and μ = 0 but for μ(s, 1, 1) = jump; a person with z = 0, s₁ = 0, s₂ = 0.3.
    let counterfactual = |action: u32, jump: f64| 0.3 - 0.0 + if action == 1 { jump } else { 0.0 };
    Witness {
        text: "m = 0 and μ = 0 but for μ(s, a = 1, z = 1), which is 0 or 5; nobody at level 1 takes action 1, so both fit all data equally; for z = 0, a₁ = 1, s₁ = 0, s₂ = 0.3 they say ŝ₂¹ = 0.3 and 5.3".into(),
        printed: Sides::equals(counterfactual(1, 0.0), counterfactual(1, 5.0)),
        corrected: Sides::equals(counterfactual(0, 0.0), counterfactual(0, 5.0)),
    }
}

fn outside_the_ball() -> Witness {
    let (φ, y, ball) = (1.0, 2.0, 1.0);
    let free: f64 = φ * y / (φ * φ);
    Witness {
        text: "one tuple, φ = 1, y = 2, 𝓑 = 1: (y − w)² is least at w = 2, over |w| ≤ 1 at w = 1".into(),
        printed: Sides::equals(free.clamp(-ball, ball), free),
        corrected: Sides::equals(free, y),
    }
}

/// E(S′ | s, a = 1, z = 1).
fn mean(mechanism: &dyn Mechanism, s: f64) -> f64 {
    let (mut next, mut reward) = ([0.0], [0.0]);
    mechanism.mean(1, &[s], &[1], &mut next, &mut reward);
    next[0]
}

fn error_of_a_slope() -> Witness {
    let world = Linear::new(1.0);
    let panel = simulate(&world, &Exogenous::draw(&world, 1000, 10, Stream::new(28)));
    let settings = FitSettings { basis: Basis::Linear, ..FitSettings::default() };
    let fitted: Fitted = fit(&panel, &settings).expect("both levels have people");
    let off = |s: f64| mean(&fitted, s) - mean(&world, s);
    let (height, slope) = (off(0.0), off(1.0) - off(0.0));
    Witness {
        text: format!(
            "linear world, δ = 1, straight lines fitted to N = 1000, T = 10: μ̂(s, 1, 1) − μ(s, 1, 1) = {height:.6} {slope:+.6}·s, whose size exceeds any bound E at s = (2E + 1)/slope"
        ),
        printed: against_every_constant(|bound| Sides::at_most(off((2.0 * bound + 1.0) / slope).abs(), bound)),
        corrected: Sides::at_most(off(6.0).abs().max(off(-6.0).abs()), 1.0),
    }
}

fn first_means() -> Witness {
    let apart = |world: &dyn Mechanism| (world.initial_mean(1)[0] - world.initial_mean(0)[0]).abs();
    Witness {
        text: "non-linear world, δ = 0: S₁ has mean −0.7 at Z = 0 and 0.1 at Z = 1".into(),
        printed: Sides::equals(apart(&Nonlinear::new(0.0)), 0.0),
        corrected: Sides::equals(apart(&Linear::new(0.0)), 0.0),
    }
}

/// P(|R₁| > r) in the linear world at δ = 1, a = 1, z = 0, where R₁ = 0.2 + S₁ and S₁ ~ N(−0.3, 1).
fn reward_beyond(r: f64) -> f64 {
    normal_cdf(-(r + 0.1)) + normal_cdf(-(r - 0.1))
}

fn tail_of_rewards() -> Witness {
    let tails = [1.0, 3.0, 10.0, 30.0].map(|bound| Sides::at_most(reward_beyond(bound), 0.0));
    Witness {
        text: format!(
            "linear world, δ = 1, a = 1, z = 0: R₁ ~ N(−0.1, 1), so P(|R₁| > R) > 0 for every R; at R = 10 it is Φ(−9.9) + Φ(−10.1) = {:.2e}",
            reward_beyond(10.0)
        ),
        printed: *tails.iter().find(|tail| tail.hold()).unwrap_or(&tails[2]),
        // F-7: the slope of the means times γ = 0.9.
        corrected: Sides::less(0.9 * (0.5 + 0.15 + 0.15), 1.0),
    }
}

fn second_means() -> Witness {
    let world = Linear::new(0.0);
    let treated = |z: usize| {
        let mut p = [0.0; 2];
        world.behaviour(z, &[0.0], &mut p);
        p[1]
    };
    let next = |z: usize, s: f64, a: u32| {
        let (mut next, mut reward) = ([0.0], [0.0]);
        world.mean(z, &[s], &[a], &mut next, &mut reward);
        next[0]
    };
    // Means are linear in the state, so S₁ may be replaced by its mean.
    let second = |z: usize| {
        let s = world.initial_mean(z)[0];
        (1.0 - treated(z)) * next(z, s, 0) + treated(z) * next(z, s, 1)
    };
    Witness {
        text: format!(
            "linear world, δ = 0: S₁ has mean −0.3, P(A = 1 | Z) = {:.6} and {:.6}, so E(S₂ | Z = 1) − E(S₂ | Z = 0) = (their difference)·(0.4 + 0.3·(−0.3)) = {:.4}",
            treated(0),
            treated(1),
            second(1) - second(0)
        ),
        printed: Sides::equals(second(1), second(0)),
        corrected: Sides::equals(next(1, 0.7, 1), next(0, 0.7, 1)),
    }
}
