//! `eq:cf_metric` of the whole method in the paper's linear world falls with N, because noise is additive and means are in the class.
//!
//! The metric is computed here from its definition, in worlds whose noise may be scaled by the level:
//!
//! ```text
//! S₁ = m(z) + σ_z U₁,   Sₜ₊₁ = μ(Sₜ, Aₜ, z) + σ_z Uₜ₊₁        additive if and only if σ₀ = σ₁
//! ```
//! `alg:cf:1` abducts S − μ̂ and adds it in the other world as it is; with σ₀ ≠ σ₁ that is the wrong noise, however many data.

use super::preprocessing::Biased;
use super::scaling::{Runs, doubling, seeds};
use super::search::{EQUAL, Equalities};
use super::{Budget, Claim, Expected, Verdict};
use crate::estimate::{Basis, FitSettings, fit};
use crate::kernel::evaluate::evaluate;
use crate::kernel::learn::features::Polynomial;
use crate::kernel::learn::{Agent, Deployed, Greedy, LinearQ, Settings, fitted_q_iteration};
use crate::kernel::model::worlds::{Linear, World, draw_action};
use crate::kernel::model::{Exogenous, Mechanism};
use crate::kernel::numeric::Stream;
use crate::kernel::people::{Labels, Panel, PanelBuilder, Person};
use crate::kernel::preprocess::{Sequential, Unaware, batch};
use std::sync::OnceLock;

pub(super) const CLAIMS: &[Claim] = &[
    Claim::ours(
        "eq:cf_metric",
        "the library's metric is the share of (person, time) at which the two worlds' actions differ, by the definition",
        &["linear world", "an unaware rule, whose metric is not 0"],
        Expected::Exact,
        |budget| by_definition(budget, ADDITIVE),
        |budget| by_definition(budget, SCALED),
    )
    .at(411, r"\frac{1}{NT} \sum_{i=1}^N \sum_{t=1}^{T} \mathbf{I}")
    .runs("kernel::evaluate::evaluate"),
    Claim::ours(
        "rate:cf_metric",
        "the CF metric of Ours falls like N^{−1/2}; with means that stay wrong, or noise that is not additive, it does not",
        &["linear world, δ = 1", "linear means, a class that holds the truth", "asm:additive"],
        Expected::NotRefuted,
        |budget| rate(budget, Setting::Sound),
        either_control,
    )
    .at(421, r"the CF metric of our approach decreases with increasing sample size $N$")
    .runs("Sequential, fitted_q_iteration"),
];

/// σ by level.
type Scales = [f64; 2];

const ADDITIVE: Scales = [1.0, 1.0];
/// Noise of level 1 is half as large again: no longer additive.
const SCALED: Scales = [1.0, 1.5];

/// Decisions a person, in data and in evaluation.
const HORIZON: usize = 5;
/// People in evaluation.
const JUDGED: usize = 1000;

#[derive(Clone, Copy, PartialEq)]
enum Setting {
    Sound,
    Biased,
    NotAdditive,
}

/// One step of everybody at one level.
fn step(world: &Linear, level: usize, states: &mut [f64], actions: &[u32], noise: &[f64], scale: f64) {
    let (mut next, mut rewards) = (vec![0.0; states.len()], vec![0.0; states.len()]);
    world.mean(level, states, actions, &mut next, &mut rewards);
    for ((s, mean), u) in states.iter_mut().zip(next).zip(noise) {
        *s = mean + scale * u;
    }
}

/// First states of everybody at one level.
fn start(world: &Linear, level: usize, noise: &[f64], scale: f64) -> Vec<f64> {
    noise.iter().map(|u| world.initial_mean(level)[0] + scale * u).collect()
}

/// `eq:cf_metric` from its definition: both worlds with the same noise and the factual actions, the agent asked in each.
fn metric(world: &Linear, agent: &dyn Agent, exogenous: &Exogenous, scales: Scales) -> f64 {
    let (n, levels) = (exogenous.people(), exogenous.levels());
    let mut states = [0, 1].map(|z| start(world, z, exogenous.states(0), scales[z]));
    let mut memories = [0, 1].map(|z| agent.begin(&vec![z as u32; n], &states[z], exogenous.coins()));
    let mut chosen = [vec![0; n], vec![0; n]];
    let mut differ = 0;
    for t in 0..exogenous.horizon() {
        for (memory, chosen) in memories.iter_mut().zip(&mut chosen) {
            agent.act(memory, exogenous.uniforms(t), chosen);
        }
        differ += chosen[0].iter().zip(&chosen[1]).filter(|(a, b)| a != b).count();
        let taken: Vec<u32> = levels.iter().enumerate().map(|(i, &z)| chosen[z as usize][i]).collect();
        for z in 0..2 {
            step(world, z, &mut states[z], &taken, exogenous.states(t + 1), scales[z]);
            agent.advance(&mut memories[z], &taken, &states[z]);
        }
    }
    differ as f64 / (n * exogenous.horizon()) as f64
}

/// Data of the behaviour policy.
fn simulate(world: &Linear, exogenous: &Exogenous, scales: Scales) -> Panel {
    let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).expect("a panel with a state");
    for (i, &level) in exogenous.levels().iter().enumerate() {
        let z = level as usize;
        let mut states = start(world, z, &exogenous.states(0)[i..=i], scales[z]);
        let (mut actions, mut rewards) = (vec![], vec![]);
        for t in 0..exogenous.horizon() {
            let (mut chances, mut now) = ([0.0; 2], [states[t]]);
            world.behaviour(z, &now, &mut chances);
            actions.push(draw_action(&chances, exogenous.uniforms(t)[i]));
            let (mut next, mut reward) = ([0.0], [0.0]);
            world.mean(z, &now, &actions[t..=t], &mut next, &mut reward);
            rewards.push(reward[0]);
            step(world, z, &mut now, &actions[t..=t], &exogenous.states(t + 1)[i..=i], scales[z]);
            states.push(now[0]);
        }
        let id = i.to_string();
        let person = Person { id: &id, level, states: &states, actions: &actions, rewards: &rewards };
        builder.push(person).expect("finite states");
    }
    builder.finish()
}

/// The CF metric of Ours learned from N people: linear means by level, `alg:cf:1`, fitted Q iteration on linear features.
fn replicate(people: usize, setting: Setting, stream: Stream) -> Option<f64> {
    let world = Linear::new(1.0);
    let scales = if setting == Setting::NotAdditive { SCALED } else { ADDITIVE };
    let draw = |n: usize, role: &str| Exogenous::draw(&world, n, HORIZON, stream.named(role));
    let panel = simulate(&world, &draw(people, "train"), scales);
    let means = fit(&panel, &FitSettings { basis: Basis::Linear, ..FitSettings::default() }).ok()?;
    let bias = if setting == Setting::Biased { 0.3 } else { 0.0 };
    let method = Sequential::new(std::sync::Arc::new(Biased::new(means, bias)), panel.level_shares());
    let experience = batch(&method, &panel).ok()?;
    let features = Polynomial::for_rows(experience.views(), 2, 1, 1).ok()?;
    // γ⁵⁰ is one part in two hundred, far below the differences between actions.
    let learned =
        fitted_q_iteration(&experience, &features, Settings { iterations: 50, ..Settings::default() }).ok()?;
    let agent = Deployed::new(method, Greedy(learned.q));
    Some(metric(&world, &agent, &draw(JUDGED, "test"), scales))
}

/// N from 100 to 6400.
fn rate(budget: Budget, setting: Setting) -> Verdict {
    static RUNS: [OnceLock<Runs<1>>; 6] = [const { OnceLock::new() }; 6];
    let runs = RUNS[budget.pick(0, 3) + setting as usize].get_or_init(|| {
        Runs::make("N", doubling(100.0), seeds(budget, setting != Setting::Sound), |n, seed| {
            let stream = Stream::new(85).index(n as u64).index(seed);
            replicate(n as usize, setting, stream).map(|metric| [metric])
        })
    });
    runs.judge(0, -0.5, Stream::new(86))
}

/// Refuted only if both controls are: means that stay wrong, and noise that is not additive.
fn either_control(budget: Budget) -> Verdict {
    match rate(budget, Setting::Biased) {
        wrong @ Verdict::Refuted { .. } => match rate(budget, Setting::NotAdditive) {
            Verdict::Refuted { .. } => wrong,
            standing => standing,
        },
        standing => standing,
    }
}

/// The library's metric against the definition, for the rule a = 1{s > 0} on the observed state.
fn by_definition(budget: Budget, scales: Scales) -> Verdict {
    let world = Linear::new(1.0);
    let exogenous = Exogenous::draw(&world, budget.pick(500, 10_000), HORIZON, Stream::new(87));
    let features = Polynomial::new(1, 1).expect("one input, degree one");
    let agent = Deployed::new(Unaware { state_dim: 1 }, Greedy(LinearQ::new(features, 2, vec![0.0, 0.0, 0.0, 1.0])));
    let library = evaluate(&world, &agent, &exogenous, 0.9).unfairness.metric.mean;
    let defined = metric(&world, &agent, &exogenous, scales);
    let mut equal = Equalities::new();
    equal.case(library, defined, EQUAL, || {
        format!("linear world, δ = 1, a = 1{{s > 0}}, {} people, T = {HORIZON}: {library} by the library, {defined} by the definition with noise scaled by {scales:?}", exogenous.people())
    });
    // A metric of 0 would agree with anything that is fair.
    equal.case(f64::from(u8::from(library > 0.1)), 1.0, 0.0, || {
        format!("the metric of an unaware rule is only {library}")
    });
    equal.verdict()
}
