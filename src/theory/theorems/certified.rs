//! What recorded data can say of the unfairness of a deployed policy: certificates, parity gaps, noises that are not the same in all worlds.

use super::listed::linear_rule;
use super::search::signed;
use super::{Claim, Found, Limit, Quotation, Run, Worst};
use crate::audit::{Judged, PanelDraws, UnfairnessLaw, Yardstick, parity_gap, unfairness};
use crate::estimate::{Basis, Certificate, FitSettings, Refitter};
use crate::fair::Method;
use crate::kernel::evaluate::evaluate;
use crate::kernel::learn::{Agent, Deployed};
use crate::kernel::model::worlds::{Linear, spread_by_level};
use crate::kernel::model::{Exogenous, Mechanism, World, simulate};
use crate::kernel::numeric::quadrature::normal_cdf;
use crate::kernel::numeric::{Stream, fill_standard_normal};
use crate::kernel::people::{Labels, Panel, PanelBuilder, Person};
use crate::kernel::preprocess::{Preprocessor, Sequential, Unaware};
use crate::theory::{Mistaken, plain_policy};

const METRIC: Option<Quotation> = Quotation::at(411, r"\frac{1}{NT} \sum_{i=1}^N \sum_{t=1}^{T} \mathbf{I}");

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        label: "eq:cf_metric",
        says: "the certificate's bounds at 50, 90 and 95 % hold that often",
        assumes: &[
            "asm:additive",
            "N = 200, T = 5, linear world, linear means; 60 studies",
            "3.29 sd of the count: a false alarm in a thousand",
        ],
        limit: Limit::AtMost,
        check: |run| match run {
            Run::Stated => certificate(&Linear::new(1.0), 60),
            Run::Control => certificate(&spread_by_level(1.0), 12),
        },
        control: "noise that spreads by level",
        runs: "estimate::Certificate, audit::unfairness",
        source: METRIC,
        ..Claim::LEMMA
    },
    Claim {
        label: "eq:cf_metric",
        says: "θ ≤ sup over a confidence set of θ_N(μ) + √(log(1/α₂)/2N) in 95 % of studies, and on average",
        assumes: &[
            "asm:additive",
            "400 people learned from, 1500 others judged, T = 5; 20 studies",
            "3.29 sd of the count: a false alarm in a thousand",
        ],
        limit: Limit::AtMost,
        check: |run| match run {
            Run::Stated => finite_sample(&Linear::new(1.0), 20),
            Run::Control => finite_sample(&spread_by_level(1.0), 6),
        },
        control: "noise that spreads by level",
        runs: "audit::unfairness",
        source: METRIC,
        proved_by: &["finite_sample_certificate", "hoeffding"],
        ..Claim::LEMMA
    },
    Claim {
        label: "eq:cf_metric",
        says: "unfairness is at least the parity gap: |p₀ − p₁| ≤ θ₁, and the lower end of the gap's 95 % interval is above θ₁ in 2.5 % of panels at most",
        assumes: &[
            "Z is a root",
            "two actions, t = 1; 200 panels of 400 people",
            "3.29 sd of the count: a false alarm in a thousand",
        ],
        limit: Limit::AtMost,
        check: |run| parity(run == Run::Stated),
        control: "Z is the sign of the noise: a fair rule, whose groups differ all the same",
        runs: "audit::parity_gap, audit::audit",
        source: METRIC,
        proved_by: &["parity_gap_bounds_unfairness", "parity_bounds_are_sharp"],
        ..Claim::LEMMA
    },
    Claim {
        label: "eq:cf_metric",
        says: "if the noises of a person's worlds differ by at most Γ, decisions differ only where gap_f̂ ≤ 2L_f̂ eₜ, eₜ₊₁ = ℓeₜ + 2η + Γ",
        assumes: &["e₁ = 2η₁ + Γ", "linear world, ℓ = 0.8, η = η₁ = 0.05, Γ = 0.5; 1000 people, T = 5"],
        limit: Limit::AtMost,
        check: |run| tube(run.pick(0.5, 0.0)),
        control: "Γ left out of e",
        runs: "kernel::preprocess::Sequential",
        source: METRIC,
        ..Claim::LEMMA
    },
];

const HORIZON: usize = 5;

/// Standard deviations beyond which a count is no chance: one in a thousand.
const FAR: f64 = 3.29;

fn recorded(world: &dyn World, people: usize, stream: Stream) -> Panel {
    simulate(world, &Exogenous::draw(world, people, HORIZON, stream))
}

/// Our policy learned from people with additive linear means, what is said about it on `judged` others (or on them, if 0), and the truth: the CF
/// metric of the policy followed with 2000 more in the world itself.
fn study<W: World>(world: &W, learned: usize, judged: usize, stream: Stream) -> (UnfairnessLaw, f64) {
    let panel = recorded(world, learned, stream.named("learned"));
    let settings = FitSettings { basis: Basis::Linear, ..FitSettings::default() };
    let refitter = Refitter::new(&panel, &settings).expect("both levels have people");
    let certificate = Certificate::new(&refitter, &panel, 60, 1).expect("refits with positive weights");
    let agent = plain_policy(Method::Ours, &panel, refitter.fitted());
    let others = (judged > 0).then(|| recorded(world, judged, stream.named("judged")));
    let people = others.as_ref().unwrap_or(&panel);
    let (draws, yardstick) = (PanelDraws::draw(people, stream.named("draws")), Yardstick::Certificate(&certificate));
    let judged = Judged { agent: &*agent, panel: people, draws: &draws, yardstick, scales: &[] };
    let law = unfairness(&[judged], 0.95).map(|found| found.law);
    let truth = evaluate(world, &*agent, &Exogenous::draw(world, 2000, HORIZON, stream.named("truth")), 1.0);
    (law.expect("histories that stay finite"), truth.unfairness.metric.mean)
}

fn mean_of(found: &[(UnfairnessLaw, f64)], of: impl Fn(&(UnfairnessLaw, f64)) -> f64) -> f64 {
    found.iter().map(of).sum::<f64>() / found.len() as f64
}

/// How often the truth is below the bound of each level, against a binomial count.
fn certificate<W: World>(world: &W, studies: u64) -> Found {
    let found: Vec<_> = (0..studies).map(|i| study(world, 200, 0, Stream::new(267).index(i))).collect();
    let (mut worst, n) = (Worst::default(), studies as f64);
    for level in [0.5, 0.9, 0.95] {
        let held = found.iter().filter(|(law, truth)| *truth <= law.upper(level)).count() as f64;
        worst.at_most((held - n * level).abs(), FAR * (n * level * (1.0 - level)).sqrt(), || {
            let (bound, truth) = (mean_of(&found, |(law, _)| law.upper(level)), mean_of(&found, |(_, truth)| *truth));
            format!("{} world, {studies} studies: the {level} bound holds in {held}; mean bound {bound:.4}, mean truth {truth:.4}", world.name())
        });
    }
    worst.found()
}

/// How often the truth is above the finite-sample bound, against 5 %, and the mean of the truth against that of the bound, which shows the slack.
fn finite_sample<W: World>(world: &W, studies: u64) -> Found {
    let found: Vec<_> = (0..studies).map(|i| study(world, 400, 1500, Stream::new(268).index(i))).collect();
    let bound = |law: &UnfairnessLaw| law.finite_sample_bound.expect("the judged were not learned from");
    let missed = found.iter().filter(|(law, truth)| *truth > bound(law)).count() as f64;
    let (mut worst, n) = (Worst::default(), studies as f64);
    let means = (mean_of(&found, |(_, truth)| *truth), mean_of(&found, |(law, _)| bound(law)));
    let text = format!(
        "{} world, {studies} studies: the bound fails in {missed}; mean truth {:.4}, mean bound {:.4}",
        world.name(),
        means.0,
        means.1
    );
    worst.at_most(means.0, means.1, || text.clone());
    worst.at_most(missed, 0.05 * n + FAR * (n * 0.05 * 0.95).sqrt(), || text);
    worst.found()
}

/// S₁ = −0.3 + z + U and the rule 1{s > 0}, so that worlds part where −0.7 < U < 0.3. If not `root`, the level is the sign of U, and a rule on what
/// alg:cf:1 makes is fair although the groups differ.
fn parity(root: bool) -> Found {
    let world = Linear::new(1.0);
    let unaware = Deployed::new(Unaware { state_dim: 1 }, linear_rule(vec![0.0, 0.0, 0.0, 1.0]));
    let fair =
        Deployed::new(Sequential::new(world.clone(), vec![0.5, 0.5]), linear_rule(vec![0.0, 0.0, 0.0, 0.3, 1.0, 0.0]));
    let (agent, θ): (&dyn Agent, f64) =
        if root { (&unaware, normal_cdf(0.3) - normal_cdf(-0.7)) } else { (&fair, 0.0) };
    let mut worst = Worst::default();
    // With U kept in both worlds, as here, θ₁ is the gap itself: the bound is attained.
    if root {
        worst.equal(normal_cdf(0.7) - normal_cdf(-0.3), θ, 1e-12, || "|p₀ − p₁| against θ₁".into());
    }
    let (panels, mut missed) = (200u64, 0.0);
    for i in 0..panels {
        let mut noise = vec![0.0; 400];
        fill_standard_normal(&mut Stream::new(269).index(i).rng(), &mut noise);
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).expect("a panel with a state");
        for (j, u) in noise.iter().enumerate() {
            let level = if root { (j % 2) as u32 } else { u32::from(*u > 0.0) };
            let (id, state) = (j.to_string(), [world.initial_mean(level as usize)[0] + u]);
            let person = Person { id: &id, level, states: &state, actions: &[0], rewards: &[0.0] };
            builder.push(person).expect("finite states");
        }
        let gap = parity_gap(&builder.finish(), agent, &vec![0.5; 400], 0.95);
        missed += f64::from(u8::from(gap.interval.0 > θ));
    }
    let n = panels as f64;
    worst.at_most(missed, 0.025 * n + FAR * (n * 0.025 * 0.975).sqrt(), || {
        format!("{panels} panels of 400 people, θ₁ = {θ:.4}: the lower end of the parity gap's interval is above it in {missed}")
    });
    worst.found()
}

/// Two worlds of a person whose noises are at most 0.5 apart, read through alg:cf:1 with means off by 0.05; `allowed` is the Γ in the recursion. Where
/// decisions differ, the larger gap of the two worlds against its bound.
fn tube(allowed: f64) -> Found {
    let (world, η, apart) = (Linear::new(1.0), 0.05, 0.5);
    // Off by as much as they may be, and in opposite directions.
    let method = Sequential::new(Mistaken::at_each_level(world.clone(), vec![-η, η]), vec![0.5, 0.5]);
    let mut worst = Worst::default();
    for i in 0..1000 {
        let mut rng = Stream::new(270).index(i).rng();
        let weights: Vec<[f64; 3]> = (0..2).map(|_| [0, 1, 2].map(|_| signed(&mut rng))).collect();
        let value = |view: &[f64], a: usize| weights[a][0] + weights[a][1] * view[0] + weights[a][2] * view[1];
        let lipschitz = weights.iter().map(|w| w[1].abs() + w[2].abs()).fold(0.0, f64::max);
        let mut noise = [0.0; HORIZON];
        fill_standard_normal(&mut rng, &mut noise);
        let first = |z: usize, u: f64| [world.initial_mean(z)[0] + u];
        let mut other = || noise_apart(&mut rng, apart);
        let mut states = [first(0, noise[0]), first(1, noise[0] + other())];
        let mut memories = [method.begin(&[0], &states[0]), method.begin(&[1], &states[1])];
        let mut e = 2.0 * η + allowed;
        for t in 0..HORIZON {
            let gaps = [0, 1].map(|z| value(&memories[z].view, 1) - value(&memories[z].view, 0));
            let largest = if (gaps[0] > 0.0) != (gaps[1] > 0.0) { gaps[0].abs().max(gaps[1].abs()) } else { 0.0 };
            worst.at_most(largest, 2.0 * lipschitz * e, || {
                format!("f̂ = (1, ŝ⁰, ŝ¹)·w with w = {weights:.4?} by action, t = {}: views {:.4?} and {:.4?}, Γ = {allowed} in eₜ = {e:.4}", t + 1, memories[0].view, memories[1].view)
            });
            if t + 1 < HORIZON {
                let action = [(i as usize + t) as u32 % 2];
                let shift = [0.0, other()];
                for z in 0..2 {
                    let (mut next, mut reward) = ([0.0], [0.0]);
                    world.mean(z, &states[z], &action, &mut next, &mut reward);
                    states[z] = [next[0] + noise[t + 1] + shift[z]];
                    method.advance(&mut memories[z], &action, &states[z]);
                }
                e = 0.8 * e + 2.0 * η + allowed;
            }
        }
    }
    worst.found()
}

/// A difference of noises of at most `apart`, at its largest half of the time.
fn noise_apart(rng: &mut impl rand::Rng, apart: f64) -> f64 {
    let x = signed(rng);
    apart * if x.abs() > 0.5 { x.signum() } else { x }
}
