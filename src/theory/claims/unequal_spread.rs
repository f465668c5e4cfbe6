//! What `alg:cf:1` does where noise is not added but scaled, S = μ + σ_z U, in closed form: an error that no number of people removes.
//!
//! # Equation
//! ```text
//! ŝ₁ᵏ − S₁ᵏ = (σ_z − σ_k) U₁,    ŝₜ₊₁ᵏ − Sₜ₊₁ᵏ = b_k(aₜ)(ŝₜᵏ − Sₜᵏ) + (σ_z − σ_k) Uₜ₊₁        for μ_k(s, a) = c + b_k(a) s
//! θ₁ = |Φ(c̃/(|W|σ₀)) − Φ(c̃/(|W|σ₁))|,    c̃ = c + w₀m₀ + w₁m₁,  W = w₀ + w₁            for the rule 1{c + w₀ŝ⁰ + w₁ŝ¹ > 0}
//! ```

use super::search::{EQUAL, Equalities, Search};
use super::shipped::linear_rule;
use super::{Budget, Claim, Expected, Verdict};
use crate::audit::{PanelDraws, audit};
use crate::kernel::learn::{Agent, Deployed};
use crate::kernel::model::worlds::{Linear, spread_by_level};
use crate::kernel::model::{Exogenous, Mechanism, simulate};
use crate::kernel::numeric::Stream;
use crate::kernel::numeric::quadrature::normal_cdf;
use crate::kernel::preprocess::{Preprocessor, Sequential};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::ours(
        "asm:additive",
        "where noise is scaled by level the additive method errs by b_k(a)·(error before) + (σ_z − σ_k)U, however many people it learned from",
        &["linear means, known", "σ = 0.6 and 1.2 by level"],
        Expected::Exact,
        |budget| error_of_states(budget, 1.0),
        |budget| error_of_states(budget, 0.0),
    )
    .at(320, r"are additive to $S_t$ and $R_t$")
    .runs("kernel::preprocess::Sequential"),
    Claim::ours(
        "asm:additive",
        "its CF metric at t = 1 is |Φ(c̃/(|W|σ₀)) − Φ(c̃/(|W|σ₁))| = 0.115; that of a method that knows the spreads is 0",
        &["linear means, known", "the rule 1{0.7ŝ⁰ + 0.4ŝ¹ > 0.5}", "four standard errors: a false alarm in 1e-4"],
        Expected::NotRefuted,
        |budget| first_metric(budget, false),
        |budget| first_metric(budget, true),
    )
    .at(320, r"are additive to $S_t$ and $R_t$")
    .runs("kernel::evaluate::audit"),
];

const SPREADS: [f64; 2] = [0.6, 1.2];

/// μ_k(s, a).
fn mean(world: &Linear, level: usize, s: f64, action: u32) -> f64 {
    let (mut next, mut reward) = ([0.0], [0.0]);
    world.mean(level, &[s], &[action], &mut next, &mut reward);
    next[0]
}

/// What the additive method makes of each person's other world, less the truth, against the recursion with the difference of spreads times `factor`.
fn error_of_states(budget: Budget, factor: f64) -> Verdict {
    let (means, world) = (Linear::new(1.0), spread_by_level(1.0));
    let panel = simulate(&world, &Exogenous::draw(&world, budget.pick(200, 5000), 6, Stream::new(121)));
    let additive = Sequential::new(means.clone(), vec![0.5, 0.5]);
    let exact = Sequential::new(world, vec![0.5, 0.5]);
    let mut equal = Equalities::new();
    for person in panel.iter() {
        let (z, k) = (person.level as usize, 1 - person.level as usize);
        let apart = factor * (SPREADS[z] - SPREADS[k]);
        let state = |t: usize| &person.states[t..=t];
        let (mut made, mut truth) = (additive.begin(&[person.level], state(0)), exact.begin(&[person.level], state(0)));
        let mut expected = apart * (person.states[0] - means.initial_mean(z)[0]) / SPREADS[z];
        for t in 0..person.actions.len() {
            let error = made.view[k] - truth.view[k];
            // Six steps on states below ten.
            equal.case(error, expected, 100.0 * EQUAL, || {
                format!("linear means, σ = {SPREADS:?}, person {}, z = {z}, t = {}: ŝ − S = {error:.6} in the other world, formula {expected:.6}", person.id, t + 1)
            });
            let a = person.actions[t];
            let slope = mean(&means, k, 1.0, a) - mean(&means, k, 0.0, a);
            let noise = (person.states[t + 1] - mean(&means, z, person.states[t], a)) / SPREADS[z];
            expected = slope * expected + apart * noise;
            additive.advance(&mut made, &[a], state(t + 1));
            exact.advance(&mut truth, &[a], state(t + 1));
        }
    }
    equal.verdict()
}

/// The library's metric at the first decision against the closed form; with `aware`, of a method that carries noise by its spread.
fn first_metric(budget: Budget, aware: bool) -> Verdict {
    let (means, world) = (Linear::new(1.0), spread_by_level(1.0));
    let (c, w) = (-0.5, [0.7, 0.4]);
    let rule = linear_rule(vec![0.0, 0.0, 0.0, c, w[0], w[1]]);
    let agent: Box<dyn Agent> = if aware {
        Box::new(Deployed::new(Sequential::new(world.clone(), vec![0.5, 0.5]), rule))
    } else {
        Box::new(Deployed::new(Sequential::new(means.clone(), vec![0.5, 0.5]), rule))
    };
    let people = budget.pick(20_000, 400_000);
    let panel = simulate(&world, &Exogenous::draw(&world, people, 1, Stream::new(122)));
    let draws = PanelDraws::draw(&panel, Stream::new(123));
    let metric = audit(&panel, &world, &*agent, &draws).expect("finite states").unfairness.metric.mean;
    let level = c + w[0] * means.initial_mean(0)[0] + w[1] * means.initial_mean(1)[0];
    let [low, high] = SPREADS.map(|σ| normal_cdf(level / ((w[0] + w[1]) * σ)));
    let θ = (low - high).abs();
    let mut search = Search::new();
    search.case((metric - θ).abs(), 4.0 * (θ * (1.0 - θ) / people as f64).sqrt(), || {
        format!("linear means, σ = {SPREADS:?}, rule 1{{0.7ŝ⁰ + 0.4ŝ¹ > 0.5}}, {people} people: metric {metric:.4}, closed form {θ:.4}")
    });
    search.verdict()
}
