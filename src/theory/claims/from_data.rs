//! Unfairness from data (`eq:cf_metric`): the certificate, the finite-sample bound, the parity gap, and the tube around unequal noises.
//!
//! Shares of bounds that hold are compared with what they should be by 3.29 standard deviations of a binomial count: a false alarm in a thousand.

use super::preprocessing::Biased;
use super::search::{Search, signed};
use super::shipped::linear_rule;
use super::{Budget, Claim, Expected, Verdict};
use crate::audit::{PanelDraws, UnfairnessLaw, Yardstick, audit, parity_gap, unfairness};
use crate::estimate::{Basis, Certificate, FitSettings, Refitter};
use crate::kernel::learn::{Agent, Deployed};
use crate::kernel::model::worlds::{Linear, World, spread_by_level};
use crate::kernel::model::{Exogenous, Mechanism, simulate};
use crate::kernel::numeric::quadrature::normal_cdf;
use crate::kernel::numeric::{Stream, fill_standard_normal};
use crate::kernel::people::{Labels, Panel, PanelBuilder, Person};
use crate::kernel::preprocess::{Preprocessor, Sequential, Unaware};
use crate::theory::coverage::unfairness::{Kind, plain_policy};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::ours(
        "eq:cf_metric",
        "the certificate's bounds at 50, 90 and 95 % hold that often; with unequal noise spread they do not",
        &["N = 200, T = 5, linear world, linear means", "asm:additive, which the control's world lacks"],
        Expected::NotRefuted,
        |budget| certificate(&Linear::new(1.0), budget.pick(60, 400)),
        |budget| certificate(&spread_by_level(1.0), budget.pick(12, 60)),
    )
    .at(411, r"\frac{1}{NT} \sum_{i=1}^N \sum_{t=1}^{T} \mathbf{I}")
    .runs("model::fitted::Certificate, evaluate::unfairness"),
    Claim::ours(
        "eq:cf_metric",
        "θ ≤ sup over a confidence set of θ_N(μ) + √(log(1/α₂)/2N) in 95 % of studies; with unequal noise spread it is not",
        &["400 people learned from, 1500 others judged, T = 5", "asm:additive, which the control's world lacks"],
        Expected::NotRefuted,
        |budget| finite_sample(&Linear::new(1.0), budget.pick(20, 200)),
        |budget| finite_sample(&spread_by_level(1.0), budget.pick(6, 40)),
    )
    .at(411, r"\frac{1}{NT} \sum_{i=1}^N \sum_{t=1}^{T} \mathbf{I}")
    .runs("evaluate::unfairness, finite_sample_bound"),
    Claim::ours(
        "eq:cf_metric",
        "|p₀ − p₁| ≤ θ₁ ≤ min(1, p₀ + p₁, 2 − p₀ − p₁) whatever joins the worlds, both attained, and the parity gap's interval holds |p₀ − p₁|",
        &["Z is a root, which it is not in the control", "two actions, t = 1"],
        Expected::NotRefuted,
        |budget| parity(budget, true),
        |budget| parity(budget, false),
    )
    .at(411, r"\frac{1}{NT} \sum_{i=1}^N \sum_{t=1}^{T} \mathbf{I}")
    .runs("kernel::evaluate::parity_gap"),
    Claim::ours(
        "eq:cf_metric",
        "if the noises of a person's worlds differ by at most Γ, decisions differ only where gap_f̂ ≤ 2L_f̂ eₜ, eₜ₊₁ = ℓeₜ + 2η + Γ",
        &["e₁ = 2η₁ + Γ", "linear world, ℓ = 0.8, η = η₁ = 0.05, Γ = 0.5"],
        Expected::NotRefuted,
        |budget| tube(budget, 0.5),
        |budget| tube(budget, 0.0),
    )
    .at(411, r"\frac{1}{NT} \sum_{i=1}^N \sum_{t=1}^{T} \mathbf{I}")
    .runs("kernel::preprocess::Sequential"),
];

const HORIZON: usize = 5;

/// Standard deviations beyond which a count is no chance: one in a thousand.
const FAR: f64 = 3.29;

fn recorded(world: &dyn World, people: usize, stream: Stream) -> Panel {
    simulate(world, &Exogenous::draw(world, people, HORIZON, stream))
}

/// Our policy learned from people with additive linear means, what is said about it on `judged` others (or on them, if 0), and the truth: the CF
/// metric along the histories of 2000 more under the world's own mechanism.
fn study<W: World>(world: &W, learned: usize, judged: usize, stream: Stream) -> (UnfairnessLaw, f64) {
    let panel = recorded(world, learned, stream.named("learned"));
    let settings = FitSettings { basis: Basis::Linear, ..FitSettings::default() };
    let refitter = Refitter::new(&panel, &settings).expect("both levels have people");
    let certificate = Certificate::new(&refitter, &panel, 60, 1).expect("refits with positive weights");
    let agent = plain_policy(Kind::Ours, &panel, refitter.fitted());
    let others = (judged > 0).then(|| recorded(world, judged, stream.named("judged")));
    let people = others.as_ref().unwrap_or(&panel);
    let draws = |panel: &Panel| PanelDraws::draw(panel, stream.named("draws"));
    let law = unfairness(&*agent, people, &Yardstick::Certificate(&certificate), &draws(people), 0.95);
    let followed = recorded(world, 2000, stream.named("truth"));
    let truth = audit(&followed, world, &*agent, &draws(&followed)).expect("histories that stay finite");
    (law.expect("histories that stay finite"), truth.unfairness.metric.mean)
}

/// How often the truth is below the bound of each level, against a binomial count.
fn certificate<W: World>(world: &W, studies: u64) -> Verdict {
    let found: Vec<_> = (0..studies).map(|i| study(world, 200, 0, Stream::new(111).index(i))).collect();
    let mut search = Search::new();
    for level in [0.5, 0.9, 0.95] {
        let held = found.iter().filter(|(law, truth)| *truth <= law.upper(level)).count() as f64;
        let n = studies as f64;
        let sd = (n * level * (1.0 - level)).sqrt();
        search.case((held - n * level).abs(), FAR * sd, || {
            let mean = |of: &dyn Fn(&(UnfairnessLaw, f64)) -> f64| found.iter().map(of).sum::<f64>() / n;
            format!(
                "{} world, {studies} studies of 200 people: the {level} bound holds in {held}; mean bound {:.4}, mean truth {:.4}",
                world.name(),
                mean(&|(law, _)| law.upper(level)),
                mean(&|(_, truth)| *truth)
            )
        });
    }
    search.verdict()
}

/// How often the truth is above the finite-sample bound, against 5 %.
fn finite_sample<W: World>(world: &W, studies: u64) -> Verdict {
    let found: Vec<_> = (0..studies).map(|i| study(world, 400, 1500, Stream::new(112).index(i))).collect();
    let bound = |law: &UnfairnessLaw| law.finite_sample_bound.expect("the judged were not learned from");
    let missed = found.iter().filter(|(law, truth)| *truth > bound(law)).count() as f64;
    let n = studies as f64;
    let mut search = Search::new();
    search.case(missed, 0.05 * n + FAR * (n * 0.05 * 0.95).sqrt(), || {
        let mean = |of: &dyn Fn(&(UnfairnessLaw, f64)) -> f64| found.iter().map(of).sum::<f64>() / n;
        format!(
            "{} world, {studies} studies: the bound fails in {missed}; mean bound {:.4}, mean truth {:.4}",
            world.name(),
            mean(&|(law, _)| bound(law)),
            mean(&|(_, truth)| *truth)
        )
    });
    search.verdict()
}

/// The rule a = 1{s > 0} on S₁ = −0.3 + z + U with U kept, turned over or drawn anew at the other level; if not `root`, the level is the sign of U and
/// the rule reads U through alg:cf:1, so that it is fair and the groups differ all the same.
fn parity(budget: Budget, root: bool) -> Verdict {
    let (p0, p1) = (normal_cdf(-0.3), normal_cdf(0.7));
    let mut search = Search::new();
    let upper = 1f64.min(p0 + p1).min(2.0 - p0 - p1);
    // Kept: different for −0.7 < U < 0.3. Turned over, S₁¹ = 0.7 − U: alike for 0.3 < U < 0.7.
    let kept = normal_cdf(0.3) - normal_cdf(-0.7);
    let turned = 1.0 - (normal_cdf(0.7) - normal_cdf(0.3));
    let anew = p0 * (1.0 - p1) + p1 * (1.0 - p0);
    for (name, θ) in [("kept", kept), ("turned over", turned), ("drawn anew", anew)] {
        search.case(p1 - p0, θ, || format!("U {name}: p₀ = {p0:.4}, p₁ = {p1:.4}, θ₁ = {θ:.4}"));
        search.case(θ, upper, || format!("U {name}: p₀ = {p0:.4}, p₁ = {p1:.4}, θ₁ = {θ:.4}, upper bound {upper:.4}"));
    }
    let world = Linear::new(1.0);
    let unaware = Deployed::new(Unaware { state_dim: 1 }, linear_rule(vec![0.0, 0.0, 0.0, 1.0]));
    let fair =
        Deployed::new(Sequential::new(world.clone(), vec![0.5, 0.5]), linear_rule(vec![0.0, 0.0, 0.0, 0.3, 1.0, 0.0]));
    let (agent, θ): (&dyn Agent, f64) = if root { (&unaware, kept) } else { (&fair, 0.0) };
    let studies = budget.pick(200u64, 2000);
    let mut missed = 0.0;
    for i in 0..studies {
        let mut noise = vec![0.0; 400];
        fill_standard_normal(&mut Stream::new(113).index(i).rng(), &mut noise);
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
    let n = studies as f64;
    search.case(missed, 0.025 * n + FAR * (n * 0.025 * 0.975).sqrt(), || {
        format!("{studies} panels of 400 people, θ₁ = {θ:.4}: the lower end of the parity gap's 95 % interval is above it in {missed}")
    });
    search.verdict()
}

/// Two worlds of a person whose noises are at most 0.5 apart, read through alg:cf:1 with means off by 0.05; `allowed` is the Γ in the recursion.
fn tube(budget: Budget, allowed: f64) -> Verdict {
    let (world, η, apart) = (Linear::new(1.0), 0.05, 0.5);
    let method = Sequential::new(Biased::new(world.clone(), η), vec![0.5, 0.5]);
    let mut search = Search::new();
    for i in 0..budget.pick(1000, 50_000) {
        let mut rng = Stream::new(114).index(i).rng();
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
            let differ = f64::from(u8::from((gaps[0] > 0.0) != (gaps[1] > 0.0)));
            let small = f64::from(u8::from(gaps[0].abs() <= 2.0 * lipschitz * e));
            search.case(differ, small, || {
                format!("linear world, δ = 1, f̂ = (1, ŝ⁰, ŝ¹)·w with w = {weights:.4?} by action, t = {}: views {:.4?} and {:.4?}, Γ = {allowed} in eₜ = {e:.4}", t + 1, memories[0].view, memories[1].view)
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
    search.verdict()
}

/// A difference of noises of at most `apart`, at its largest half of the time.
fn noise_apart(rng: &mut impl rand::Rng, apart: f64) -> f64 {
    let x = signed(rng);
    apart * if x.abs() > 0.5 { x.signum() } else { x }
}
