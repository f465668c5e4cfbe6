//! X14, `asm:bounded_reward`, C10, F-3 and F-7: normal states have no largest error, no largest reward, and need a stable world.

use super::search::Search;
use super::{Budget, Claim, Expected, Verdict};
use crate::estimate::{Basis, FitSettings, Fitted, fit};
use crate::kernel::model::worlds::{Linear, Nonlinear};
use crate::kernel::model::{Exogenous, Mechanism, simulate};
use crate::kernel::numeric::Stream;
use crate::kernel::numeric::quadrature::normal_cdf;
use crate::kernel::preprocess::{Preprocessor, Sequential};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::assumption(
        "X14",
        "ε = max over states of |ŝ − s| is finite, below 1 say, in the simulations of supplement F.2",
        &["linear world, δ = 1, means fitted by least squares on N = 1000, T = 10"],
        Expected::Refuted,
        |_| mean_error(&[1.0, 10.0, 1e2, 1e4, 1e6]),
        |_| mean_error(&[0.1, 0.5, 1.0, 1.5]),
    )
    .at(378, r"\epsilon = \max_{s}\|\hat{s}-s\|_\infty")
    .runs("kernel::model::fitted::fit"),
    Claim::ours(
        "X14",
        "where states stay in [−6, 6], alg:cf:1 errs by at most 2η₁ℓ^{t−1} + 2η(1 + … + ℓ^{t−2}), η over [−6, 6]; far outside it does not",
        &["bounded states, or ε over the data only", "linear world, δ = 1, fitted means", "ℓ = 0.8"],
        Expected::NotRefuted,
        |budget| along_people(budget, 0.0),
        |budget| along_people(budget, 1e4),
    )
    .at(378, r"\epsilon = \max_{s}\|\hat{s}-s\|_\infty")
    .runs("kernel::preprocess::Sequential"),
    Claim::assumption(
        "asm:bounded_reward",
        "|R| ≤ R_max in the simulations of supplement F.2, R_max = 10 say",
        &["linear world, normal states"],
        Expected::Refuted,
        |_| reward_tail(f64::INFINITY),
        |_| reward_tail(10.0),
    )
    .at(688, r"such that $|r| \leq R_{\max}$"),
    Claim::ours(
        "C10",
        "rewards grow linearly and γ·max|∂μ/∂s| < 1 at δ ≤ 2, which is what unbounded rewards need",
        &["linear world", "γ = 0.9", "instead of bounded rewards"],
        Expected::NotRefuted,
        |_| gain(&[0.0, 1.0, 2.0], 0.9),
        |_| gain(&[4.0], 0.9),
    )
    .at(638, r"By applying Lemma 1 of")
    .runs("kernel::model::worlds"),
    Claim::ours(
        "F-7",
        "the linear world is stable for δ < 7/3: max|∂μ/∂s| = 0.65 + 0.15δ < 1",
        &["supplement F.2"],
        Expected::NotRefuted,
        |_| gain(&[0.0, 0.5, 1.0, 2.0, 2.3], 1.0),
        |_| gain(&[2.4], 1.0),
    )
    .at(907, r"0.3 \delta S_{t-1}(Z-0.5)")
    .runs("kernel::model::worlds"),
    Claim::implied(
        "F-3",
        "at δ = 0 the attribute has no effect in the non-linear world",
        &["supplement F.2"],
        Expected::Refuted,
        |_| first_means(&Nonlinear::new(0.0)),
        |_| first_means(&Linear::new(0.0)),
    )
    .at(418, r"$\delta$ denote the strength of impact of sensitive attribute $Z$")
    .runs("kernel::model::worlds"),
];

/// μ(s, a, z).
fn mean(mechanism: &dyn Mechanism, z: usize, s: f64, a: u32) -> f64 {
    let (mut next, mut reward) = ([0.0], [0.0]);
    mechanism.mean(z, &[s], &[a], &mut next, &mut reward);
    next[0]
}

/// The linear world at δ = 1, and means fitted to 1000 people with ten decisions each.
fn fitted_line() -> (Linear, Fitted) {
    let world = Linear::new(1.0);
    let panel = simulate(&world, &Exogenous::draw(&world, 1000, 10, Stream::new(28)));
    let settings = FitSettings { basis: Basis::Linear, ..FitSettings::default() };
    (world, fit(&panel, &settings).expect("both levels have people"))
}

/// |μ̂(s, 1, 1) − μ(s, 1, 1)| at ±`places` against 1.
fn mean_error(places: &[f64]) -> Verdict {
    let (world, fitted) = fitted_line();
    let off = |s: f64| mean(&fitted, 1, s, 1) - mean(&world, 1, s, 1);
    let mut search = Search::new();
    for s in places.iter().flat_map(|s| [*s, -s]) {
        search.case(off(s).abs(), 1.0, || {
            format!("μ̂(s, 1, 1) − μ(s, 1, 1) = {:.6} {:+.6}·s, at s = {s}", off(0.0), off(1.0) - off(0.0))
        });
    }
    search.verdict()
}

/// alg:cf:1 with fitted and with true means along other people while they stay in [−6, 6]; or with all their states moved out of it by `shift`.
fn along_people(budget: Budget, shift: f64) -> Verdict {
    let (world, fitted) = fitted_line();
    // Errors of lines are largest at an end.
    let ends = [-6.0, 6.0].into_iter().flat_map(|s| [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(z, a)| (s, z, a)));
    let η = ends.map(|(s, z, a)| (mean(&fitted, z, s, a) - mean(&world, z, s, a)).abs()).fold(0.0, f64::max);
    let first = |z: usize| (fitted.initial_mean(z)[0] - world.initial_mean(z)[0]).abs();
    let η1 = first(0).max(first(1));
    let panel = simulate(&world, &Exogenous::draw(&world, budget.pick(300, 5000), 6, Stream::new(29)));
    let made = Sequential::new(fitted, vec![0.5, 0.5]);
    let exact = Sequential::new(world, vec![0.5, 0.5]);
    let mut search = Search::new();
    for person in panel.iter() {
        let states: Vec<f64> = person.states.iter().map(|s| s + shift).collect();
        let (mut a, mut b) = (made.begin(&[person.level], &states[..1]), exact.begin(&[person.level], &states[..1]));
        let mut bound = 2.0 * η1;
        for t in 0..person.actions.len() {
            if shift == 0.0 && a.view.iter().chain(&b.view).any(|s| s.abs() > 6.0) {
                break;
            }
            let error = a.view.iter().zip(&b.view).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            search.case(error, bound, || {
                format!("linear world, δ = 1, person {}, states moved by {shift}, t = {}: η = {η:.4}, η₁ = {η1:.4}, ŝ = {:.4?} for {:.4?}", person.id, t + 1, a.view, b.view)
            });
            made.advance(&mut a, &person.actions[t..=t], &states[t + 1..t + 2]);
            exact.advance(&mut b, &person.actions[t..=t], &states[t + 1..t + 2]);
            bound = 0.8 * bound + 2.0 * η;
        }
    }
    search.verdict()
}

/// P(|R₁| > 10) at a = 1, z = 0, where R = 0.2 + s and s ~ N(−0.3, 1); rewards are clipped to ±`clip` first.
fn reward_tail(clip: f64) -> Verdict {
    let tail = if clip <= 10.0 { 0.0 } else { normal_cdf(-(10.0 - 0.1)) + normal_cdf(-(10.0 + 0.1)) };
    let mut search = Search::new();
    search.case(tail, 0.0, || {
        format!("linear world, δ = 1: R₁ = 0.2 + S₁ when A₁ = 1, Z = 0, S₁ ~ N(−0.3, 1), so P(|R₁| > 10) = Φ(−9.9) + Φ(−10.1) = {tail:.2e}")
    });
    search.verdict()
}

/// discount·max|∂μ/∂s| over levels and actions of the linear world against 1.
fn gain(strengths: &[f64], discount: f64) -> Verdict {
    let mut search = Search::new();
    for &δ in strengths {
        let world = Linear::new(δ);
        let slope = |z: usize, a: u32| mean(&world, z, 1.0, a) - mean(&world, z, 0.0, a);
        let most = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(z, a)| slope(z, a).abs()).into_iter().fold(0.0, f64::max);
        search.case(discount * most, 1.0, || {
            format!("linear world, δ = {δ}: max|∂μ/∂s| = 0.5 + 0.15 + 0.15δ = {most:.4}, times {discount}")
        });
    }
    search.verdict()
}

/// The distance of the first means of two levels against 0.
fn first_means(world: &dyn Mechanism) -> Verdict {
    let mut search = Search::new();
    let (here, there) = (world.initial_mean(0)[0], world.initial_mean(1)[0]);
    search.case((there - here).abs(), 0.0, || {
        format!("non-linear world, δ = 0: S₁ has mean {here:.1} at Z = 0 and {there:.1} at Z = 1, so the worlds start {:.1} apart", (there - here).abs())
    });
    search.verdict()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reward_is_the_one_the_tail_is_computed_for() {
        let world = Linear::new(1.0);
        for s in [-2.0, 0.0, 1.5] {
            let (mut next, mut reward) = ([0.0], [0.0]);
            world.mean(0, &[s], &[1], &mut next, &mut reward);
            assert!((reward[0] - (0.2 + s)).abs() < super::super::search::EQUAL);
        }
        assert_eq!(world.initial_mean(0), [-0.3]);
    }
}
