//! `alg:cf:1` and what it stands on: exact with true means, how errors of the means travel, what it does where noise is not added.

use super::listed::{AnyRule, Moved, greedy_rule, linear_rule, told, world};
use super::search::{between, climb, signed};
use super::{Claim, Found, Limit, Quotation, Run, Worst};
use crate::audit::{PanelDraws, audit};
use crate::estimate::{Basis, FitSettings, fit};
use crate::kernel::learn::{Agent, Deployed, Policy};
use crate::kernel::model::worlds::{Linear, Nonlinear, ThreeLevels, spread_by_level, three_levels_mixed};
use crate::kernel::model::{Exogenous, Mechanism, World, abduct, predict, simulate};
use crate::kernel::numeric::quadrature::normal_cdf;
use crate::kernel::numeric::{Stream, fill_standard_normal};
use crate::kernel::people::{Labels, Panel, PanelBuilder, Person};
use crate::kernel::preprocess::{Augmented, Oracle, Preprocessor, Sequential, SingleStage, batch};

const LINE_7: Option<Quotation> = Quotation::at(338, r"\hat{\mu}(\hat{s}_{i,t-1}^{z'},a_{i,t-1},z')");
const ADDITIVE: Option<Quotation> = Quotation::at(320, r"are additive to $S_t$ and $R_t$");
const SEQUENTIAL: &str = "kernel::preprocess::Sequential";

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        label: "alg:cf:1",
        says: "|ŝₜᵏ − Sₜᵏ| ≤ 2η₁ℓ^{t−1} + 2η(1 + ℓ + … + ℓ^{t−2}), attained",
        assumes: &[
            "asm:additive",
            "|μ̂ − μ| ≤ η = 0.1, |m̂ − m| ≤ η₁ = 0.05",
            "μ is ℓ-Lipschitz in the state, ℓ = ½, 1, 1.4",
            "t ≤ 6; errors that depend on the state are searched for",
        ],
        limit: Limit::AtMost,
        check: |run| recursion(run.pick(2.0, 1.0)),
        control: "1 in the place of 2",
        runs: SEQUENTIAL,
        source: LINE_7,
        proved_by: &["counterfactual_state_error", "state_bound_is_attained"],
        ..Claim::HEADLINE
    },
    Claim {
        label: "alg:cf:1",
        says: "with the true means it gives the Oracle's states, rewards and actions, which are the true counterfactuals",
        assumes: &[
            "asm:unique with a known law of the noise; μ̂ = μ, P̂(Z) = P(Z)",
            "five worlds of two and three levels, one with noise that spreads by level; 200 people, five decisions",
        ],
        limit: Limit::Equal,
        check: |run| exact(run.pick(0.0, 0.001)),
        control: "all means of level z off by 0.001z",
        runs: "kernel::preprocess::{Sequential, Oracle}, kernel::model::{abduct, predict}",
        source: LINE_7,
        proved_by: &["algorithm1_is_exact", "algorithm1_returns_the_augmented_state"],
        ..Claim::HEADLINE
    },
    Claim {
        label: "alg:cf:1",
        says: "the component of a person's own level is the observed state bit for bit, whatever the means",
        assumes: &["means off by 3.7z at level z", "200 people of the world with three levels, five decisions"],
        limit: Limit::Equal,
        check: |run| factual(run.pick(0, 1)),
        control: "the algorithm is told the next level",
        runs: SEQUENTIAL,
        source: LINE_7,
        proved_by: &["algorithm1_keeps_the_facts"],
        ..Claim::LEMMA
    },
    Claim {
        label: "alg:cf:1",
        says: "|r̃ − R̃| ≤ 2η_r + ℓ_r ε_s + R‖p̂ − p‖₁",
        assumes: &[
            "|μ̂ᵣ − μᵣ| ≤ η_r",
            "μᵣ is ℓ_r-Lipschitz",
            "|R| ≤ R in every world",
            "second decisions of two levels are searched",
        ],
        limit: Limit::AtMost,
        check: |run| reward_error(run.pick(1.0, 0.5)),
        control: "half the right side",
        runs: SEQUENTIAL,
        source: LINE_7,
        proved_by: &["weighted_reward_error", "reward_bound_is_attained"],
        ..Claim::LEMMA
    },
    Claim {
        label: "asm:additive",
        says: "noise need not have mean zero: one constant added to the means of all levels changes nothing",
        assumes: &["200 people of the world with three levels, five decisions; 0.7 is added to all means"],
        limit: Limit::Equal,
        check: |run| shifted(run.pick([0.7, 0.7, 0.7], [0.0, 0.7, 1.4])),
        control: "0.7z is added at level z",
        runs: SEQUENTIAL,
        source: ADDITIVE,
        ..Claim::LEMMA
    },
    Claim {
        label: "asm:additive",
        says: "where noise is σ_z U the additive method errs by b_k(a)·(error before) + (σ_z − σ_k)U, however many people it learned from",
        assumes: &["linear means μ_k(s, a) = c + b_k(a)s, known", "σ = 0.6 and 1.2", "200 people, six decisions"],
        limit: Limit::Equal,
        check: |run| error_of_states(run.pick(1.0, 0.0)),
        control: "the formula without the difference of spreads",
        runs: SEQUENTIAL,
        source: ADDITIVE,
        proved_by: &["additive_method_with_unequal_spreads"],
        ..Claim::LEMMA
    },
    Claim {
        label: "asm:additive",
        says: "there its CF metric at t = 1 is |Φ(c̃/(|W|σ₀)) − Φ(c̃/(|W|σ₁))| = 0.115 and does not fall with N",
        assumes: &[
            "the rule 1{c + w₀ŝ⁰ + w₁ŝ¹ > 0} = 1{0.7ŝ⁰ + 0.4ŝ¹ > 0.5}; W = w₀ + w₁, c̃ = c + w₀m₀ + w₁m₁",
            "σ = 0.6 and 1.2, means known; 20 000 people",
            "four standard errors: a false alarm in 1e-4",
        ],
        limit: Limit::AtMost,
        check: |run| first_metric(run == Run::Control),
        control: "a method that knows the spreads, whose metric is 0",
        runs: "audit::audit, kernel::preprocess::Sequential",
        source: ADDITIVE,
        ..Claim::LEMMA
    },
    Claim {
        label: "M-FLAP",
        says: "x̃ = [x − m̂(z) + m̂(k)]ₖ is the same in every world where m̂ − m is the same at all levels",
        assumes: &["asm:additive", "group means of 100 people per level; three people"],
        limit: Limit::Equal,
        check: |run| single_stage(run == Run::Stated),
        control: "levels with noise of their own: m̂ − m differs",
        runs: "kernel::preprocess::SingleStage",
        source: Quotation::at(246, r"remains invariant across counterfactual values of $Z$"),
        proved_by: &["wrong_means_break_invariance"],
        ..Claim::LEMMA
    },
    Claim {
        label: "X14",
        says: "with fitted means alg:cf:1 errs by at most 2η₁ℓ^{t−1} + 2η(1 + … + ℓ^{t−2}) while states stay where |μ̂ − μ| ≤ η",
        assumes: &[
            "linear world, δ = 1, ℓ = 0.8; means fitted to 1000 people",
            "η is the largest error on [−6, 6]; 300 others while they stay there, six decisions",
        ],
        limit: Limit::AtMost,
        check: |run| along_people(run.pick(0.0, 1e4)),
        control: "states moved by 10 000: |μ̂ − μ| has no largest value",
        runs: "kernel::preprocess::Sequential, estimate::fit",
        source: Quotation::at(378, r"\epsilon = \max_{s}\|\hat{s}-s\|_\infty"),
        proved_by: &["counterfactual_state_error"],
        ..Claim::LEMMA
    },
];

/// Rounding of some steps of a map with Lipschitz constant below 2 on numbers below 10.
const STEPS: f64 = 1e-10;

fn exact(off: f64) -> Found {
    let mut worst = Worst::default();
    let mut case = |world: &dyn World, rule: &dyn Policy<Augmented>, name: &str| {
        let panel = simulate(world, &Exogenous::draw(world, 200, 5, Stream::new(241).named(name)));
        exact_in(world, off, &panel, rule, name, &mut worst);
    };
    let (two, three) = (greedy_rule(2, 2, Stream::new(242)), greedy_rule(6, 3, Stream::new(243)));
    case(&Linear::new(1.0), &two, "linear");
    case(&Nonlinear::new(1.0), &two, "non-linear");
    case(&ThreeLevels::new(1.0), &three, "three levels");
    case(&three_levels_mixed(1.0), &three, "three levels, spreads that differ");
    let finite = world(1);
    let any = AnyRule { actions: 2, certain: true, stream: Stream::new(244) };
    case(&finite, &any, &told(&finite));
    worst.found()
}

/// The algorithm against abduction and prediction, and against the Oracle, over all people, times and levels.
fn exact_in(world: &dyn World, off: f64, panel: &Panel, rule: &dyn Policy<Augmented>, name: &str, worst: &mut Worst) {
    let (p, levels, weights) = (world.state_dim(), world.levels(), world.level_probabilities().to_vec());
    let made = batch(&Sequential::new(Moved::by_level(world, off), weights.clone()), panel).expect("finite states");
    let oracle = batch(&Oracle::new(world, weights.clone()), panel).expect("finite states");
    let acted = [&made, &oracle].map(|experience| {
        let mut actions = vec![0; experience.views().len() / (p * levels)];
        let uniforms = vec![0.5; actions.len()];
        rule.act(experience.views(), p * levels, &uniforms, &mut actions);
        actions
    });
    let mut same = |left: f64, right: f64, what: &dyn Fn() -> String| {
        worst.equal(left, right, STEPS, || format!("{name}, {}: {left} and {right}", what()));
    };
    for (i, person) in panel.iter().enumerate() {
        let noise = abduct(&world, person);
        let truth: Vec<_> = (0..levels).map(|k| predict(&world, &noise, person.actions, k)).collect();
        for (t, row) in made.views_of(i).enumerate() {
            for (k, truth) in truth.iter().enumerate() {
                for j in 0..p {
                    let place = row * p * levels + k * p + j;
                    let what = || format!("person {}, t = {}, level {k}, coordinate {j}", i + 1, t + 1);
                    same(made.views()[place], truth.states[t * p + j], &what);
                    same(oracle.views()[place], truth.states[t * p + j], &what);
                }
            }
            same(f64::from(acted[0][row]), f64::from(acted[1][row]), &|| {
                format!("action {} of person {}", t + 1, i + 1)
            });
        }
        for (t, row) in made.decisions_of(i).enumerate() {
            let mean: f64 = truth.iter().zip(&weights).map(|(world, p)| p * world.rewards[t]).sum();
            let what = || format!("reward {} of person {}", t + 1, i + 1);
            same(made.rewards()[row], mean, &what);
            same(oracle.rewards()[row], mean, &what);
        }
    }
}

/// The own level's component under heavily wrong means; `later` is added to the level that the algorithm is told.
fn factual(later: u32) -> Found {
    let world = ThreeLevels::new(1.0);
    let panel = simulate(&world, &Exogenous::draw(&world, 200, 5, Stream::new(245)));
    let method = Sequential::new(Moved::by_level(world, 3.7), vec![0.2, 0.5, 0.3]);
    let mut worst = Worst::default();
    for person in panel.iter() {
        let z = person.level as usize;
        let mut memory = method.begin(&[(person.level + later) % 3], &person.states[..2]);
        for t in 0..=person.actions.len() {
            if t > 0 {
                method.advance(&mut memory, &person.actions[t - 1..t], &person.states[2 * t..2 * t + 2]);
            }
            for j in 0..2 {
                let (made, seen) = (memory.view[2 * z + j], person.states[2 * t + j]);
                worst.equal(made, seen, 0.0, || {
                    format!("person {}, level {z}, t = {}: {made} for {seen}", person.id, t + 1)
                });
            }
        }
    }
    worst.found()
}

/// μ(s, a, z) = ±slope·s + intercept(z), the sign by the action, with an error on top: |μ̂ − μ| ≤ η by construction.
#[derive(Debug, Clone)]
struct Line {
    slope: f64,
    intercepts: [f64; 2],
    initial: [[f64; 1]; 2],
    /// Error of the estimate at each level: constant part and amplitude, frequency and phase of a wave.
    errors: [[f64; 4]; 2],
    /// R = reward·clamp(s, ±1) at both levels.
    reward: f64,
}

impl Mechanism for Line {
    fn state_dim(&self) -> usize {
        1
    }
    fn levels(&self) -> usize {
        2
    }
    fn actions(&self) -> usize {
        2
    }
    fn initial_mean(&self, level: usize) -> &[f64] {
        &self.initial[level]
    }
    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        let [constant, amplitude, frequency, phase] = self.errors[level];
        for (i, &s) in states.iter().enumerate() {
            let sign = if actions[i] == 0 { 1.0 } else { -1.0 };
            let error = constant + amplitude * (frequency * s + phase).sin();
            next[i] = sign * self.slope * s + self.intercepts[level] + error;
            rewards[i] = self.reward * s.clamp(-1.0, 1.0) + error;
        }
    }
}

/// One person through the algorithm with wrong means; the coordinates of `x` are errors and noise in units of their bounds.
fn recursion(two: f64) -> Found {
    let mut worst = Worst::default();
    let mut case = |x: &[f64], slope: f64| {
        let (η, η1) = (0.1, 0.05);
        let unit = |k: usize| x[k].clamp(-1.0, 1.0);
        let errors = [0, 4]
            .map(|k| [unit(k) * η, (1.0 - unit(k).abs()) * η * unit(k + 1), 3.0 * unit(k + 2), 3.0 * unit(k + 3)]);
        let truth =
            Line { slope, intercepts: [0.3, -0.4], initial: [[0.2], [-0.1]], errors: [[0.0; 4]; 2], reward: 1.0 };
        let initial = [[0.2 + η1 * unit(8)], [-0.1 + η1 * unit(9)]];
        let method = Sequential::new(Line { errors, initial, ..truth.clone() }, vec![0.5, 0.5]);
        let exact = Sequential::new(truth, vec![0.5, 0.5]);
        let mut state = [unit(10)];
        let (mut made, mut right) = (method.begin(&[0], &state), exact.begin(&[0], &state));
        let (mut bound, mut highest) = (two * η1, 0.0f64);
        for t in 1..=6 {
            if t > 1 {
                state[0] = unit(10 + t);
                let action = [u32::from(x[10 + t] > 2.0)];
                method.advance(&mut made, &action, &state);
                exact.advance(&mut right, &action, &state);
                bound = slope * bound + two * η;
            }
            let error = (made.view[1] - right.view[1]).abs();
            highest = highest.max(worst.at_most(error, bound, || {
                format!("μ = {slope}s + (0.3, −0.4)_z, m = (0.2, −0.1), errors c + b sin(fs + p) with (c, b, f, p) = {errors:.3?}, m̂ = {initial:.3?}, z = 0, states {:.3?}, t = {t}", &x[10..10 + t])
            }));
        }
        highest
    };
    for (k, slope) in [0.5, 1.0, 1.4].into_iter().enumerate() {
        // The extremal errors: constant, of opposite sign at the two levels.
        let extremal: Vec<f64> =
            [-1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0, 1.0].into_iter().chain([0.3; 8]).collect();
        case(&extremal, slope);
        for start in 0..3 {
            climb(18, 300, Stream::new(246).index(k as u64).index(start), &mut |x| case(x, slope));
        }
    }
    worst.found()
}

/// The reward of one person with wrong means and wrong weights at the second decision.
fn reward_error(factor: f64) -> Found {
    let mut worst = Worst::default();
    for i in 0..6000 {
        let mut rng = Stream::new(247).index(i).rng();
        let η = between(&mut rng, 0.0, 0.2);
        // Half of the cases take every number at the end of its range.
        let mut corner = |size: f64| size * if i % 2 == 0 { signed(&mut rng).signum() } else { signed(&mut rng) };
        let wrong = Line {
            slope: corner(1.0),
            intercepts: [corner(0.5), corner(0.5)],
            initial: [[corner(0.5)], [corner(0.5)]],
            errors: [[corner(η), 0.0, 0.0, 0.0], [corner(η), 0.0, 0.0, 0.0]],
            reward: corner(1.0),
        };
        let truth = Line { errors: [[0.0; 4]; 2], ..wrong.clone() };
        let (p, p_hat) = (0.5 + corner(0.3), 0.5 + corner(0.3));
        let (first, second, r, act) = ([corner(1.0)], [corner(1.0)], corner(1.0), [(i % 2) as u32]);
        let run = |line: &Line, p: f64| {
            let method = Sequential::new(line.clone(), vec![p, 1.0 - p]);
            let mut memory = method.begin(&[0], &first);
            method.advance(&mut memory, &act, &second);
            let mut reward = [r];
            method.reward(&mut memory, &act, &mut reward);
            (memory.view[1], reward[0])
        };
        let ((state, reward), (made_state, made_reward)) = (run(&truth, p), run(&wrong, p_hat));
        // The rewards of the two worlds: r, and r moved by the true means.
        let at = |s: f64| truth.reward * s.clamp(-1.0, 1.0);
        let largest = r.abs().max((r - at(second[0]) + at(state)).abs());
        let bound = 2.0 * η + truth.reward.abs() * (made_state - state).abs() + largest * 2.0 * (p_hat - p).abs();
        worst.at_most((made_reward - reward).abs(), factor * bound, || {
            format!(
                "true means {truth:?}, errors {:?} by level; z = 0, s₁ = {}, a₁ = {}, s₂ = {}, r₂ = {r}, p = {p}, p̂ = {p_hat}: r̃ = {made_reward} for {reward}; η_r = {η}, ε_s = {}, R = {largest}",
                wrong.errors.map(|e| e[0]),
                first[0],
                act[0],
                second[0],
                (made_state - state).abs()
            )
        });
    }
    worst.found()
}

/// `alg:cf:1` with the true means and with means moved by a number of their level.
fn shifted(by: [f64; 3]) -> Found {
    let world = ThreeLevels::new(1.0);
    let panel = simulate(&world, &Exogenous::draw(&world, 200, 5, Stream::new(248)));
    let weights = vec![0.5, 0.3, 0.2];
    let made =
        batch(&Sequential::new(Moved::new(world.clone(), by.to_vec()), weights.clone()), &panel).expect("finite");
    let exact = batch(&Sequential::new(world, weights), &panel).expect("finite");
    let mut worst = Worst::default();
    let pairs = made.views().iter().zip(exact.views()).chain(made.rewards().iter().zip(exact.rewards()));
    for (k, (a, b)) in pairs.enumerate() {
        worst.equal(*a, *b, STEPS, || format!("means moved by {by:?}: number {k} is {a:.6} and was {b:.6}"));
    }
    worst.found()
}

const SPREADS: [f64; 2] = [0.6, 1.2];

/// μ_k(s, a).
fn mean(mechanism: &dyn Mechanism, level: usize, s: f64, action: u32) -> f64 {
    let (mut next, mut reward) = ([0.0], [0.0]);
    mechanism.mean(level, &[s], &[action], &mut next, &mut reward);
    next[0]
}

/// What the additive method makes of each person's other world, less the truth, against the recursion with the difference of spreads times `factor`.
fn error_of_states(factor: f64) -> Found {
    let (means, world) = (Linear::new(1.0), spread_by_level(1.0));
    let panel = simulate(&world, &Exogenous::draw(&world, 200, 6, Stream::new(249)));
    let additive = Sequential::new(means.clone(), vec![0.5, 0.5]);
    let exact = Oracle::new(world, vec![0.5, 0.5]);
    let mut worst = Worst::default();
    for person in panel.iter() {
        let (z, k) = (person.level as usize, 1 - person.level as usize);
        let apart = factor * (SPREADS[z] - SPREADS[k]);
        let state = |t: usize| &person.states[t..=t];
        let (mut made, mut truth) = (additive.begin(&[person.level], state(0)), exact.begin(&[person.level], state(0)));
        let mut expected = apart * (person.states[0] - means.initial_mean(z)[0]) / SPREADS[z];
        for t in 0..person.actions.len() {
            let error = made.view[k] - truth.view[k];
            worst.equal(error, expected, STEPS, || {
                format!(
                    "person {}, z = {z}, t = {}: ŝ − S = {error:.6} in the other world, formula {expected:.6}",
                    person.id,
                    t + 1
                )
            });
            let a = person.actions[t];
            let slope = mean(&means, k, 1.0, a) - mean(&means, k, 0.0, a);
            let noise = (person.states[t + 1] - mean(&means, z, person.states[t], a)) / SPREADS[z];
            expected = slope * expected + apart * noise;
            additive.advance(&mut made, &[a], state(t + 1));
            exact.advance(&mut truth, &[a], state(t + 1));
        }
    }
    worst.found()
}

/// The metric at the first decision against the closed form; with `aware`, of a method that carries noise by its spread.
fn first_metric(aware: bool) -> Found {
    let (means, world, people) = (Linear::new(1.0), spread_by_level(1.0), 20_000);
    let (c, w) = (-0.5, [0.7, 0.4]);
    let rule = linear_rule(vec![0.0, 0.0, 0.0, c, w[0], w[1]]);
    let agent: Box<dyn Agent> = if aware {
        Box::new(Deployed::new(Sequential::new(world.clone(), vec![0.5, 0.5]), rule))
    } else {
        Box::new(Deployed::new(Sequential::new(means.clone(), vec![0.5, 0.5]), rule))
    };
    let panel = simulate(&world, &Exogenous::draw(&world, people, 1, Stream::new(250)));
    let draws = PanelDraws::draw(&panel, Stream::new(251));
    let metric = audit(&panel, &world, &*agent, &draws).expect("finite states").unfairness.metric.mean;
    let level = c + w[0] * means.initial_mean(0)[0] + w[1] * means.initial_mean(1)[0];
    let [low, high] = SPREADS.map(|σ| normal_cdf(level / ((w[0] + w[1]) * σ)));
    let θ = (low - high).abs();
    let mut worst = Worst::default();
    worst.at_most((metric - θ).abs(), 4.0 * (θ * (1.0 - θ) / people as f64).sqrt(), || {
        format!("{people} people: metric {metric:.4}, closed form {θ:.4}")
    });
    worst.found()
}

/// Single-stage preprocessing fitted to 100 people per level of X = z + U: what it makes of the same person in the two worlds.
///
/// With `shared` noise the group means are off by the same number at both levels.
fn single_stage(shared: bool) -> Found {
    let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(1), 1).expect("a panel with a state");
    let mut noise = vec![0.0; 200];
    fill_standard_normal(&mut Stream::new(252).rng(), &mut noise);
    for i in 0..200 {
        let level = (i % 2) as u32;
        let (id, state) = (i.to_string(), [f64::from(level) + noise[if shared { i / 2 } else { i }]]);
        builder.push(Person { id: &id, level, states: &state, actions: &[0], rewards: &[0.0] }).expect("finite states");
    }
    let method = SingleStage::fit(&builder.finish()).expect("both levels have people");
    let mut worst = Worst::default();
    for u in [-1.3, 0.4, 2.0] {
        let [zero, one] = [0u32, 1].map(|z| method.begin(&[z], &[f64::from(z) + u]).view);
        for (here, there) in zero.iter().zip(&one) {
            worst.equal(*here, *there, 1e-12, || format!("U = {u}: x̃ = {zero:.4?} if Z = 0 and {one:.4?} if Z = 1"));
        }
    }
    worst.found()
}

/// alg:cf:1 with fitted and with true means along other people while they stay in [−6, 6]; or with all their states moved out of it by `shift`.
fn along_people(shift: f64) -> Found {
    let world = Linear::new(1.0);
    let panel = simulate(&world, &Exogenous::draw(&world, 1000, 10, Stream::new(253)));
    let fitted = fit(&panel, &FitSettings { basis: Basis::Linear, ..FitSettings::default() }).expect("two levels");
    // Errors of lines are largest at an end.
    let ends = [-6.0, 6.0].into_iter().flat_map(|s| [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(z, a)| (s, z, a)));
    let η = ends.map(|(s, z, a)| (mean(&fitted, z, s, a) - mean(&world, z, s, a)).abs()).fold(0.0, f64::max);
    let first = |z: usize| (fitted.initial_mean(z)[0] - world.initial_mean(z)[0]).abs();
    let η1 = first(0).max(first(1));
    let panel = simulate(&world, &Exogenous::draw(&world, 300, 6, Stream::new(254)));
    let made = Sequential::new(fitted, vec![0.5, 0.5]);
    let exact = Oracle::new(world, vec![0.5, 0.5]);
    let mut worst = Worst::default();
    for person in panel.iter() {
        let states: Vec<f64> = person.states.iter().map(|s| s + shift).collect();
        let (mut a, mut b) = (made.begin(&[person.level], &states[..1]), exact.begin(&[person.level], &states[..1]));
        let mut bound = 2.0 * η1;
        for t in 0..person.actions.len() {
            if shift == 0.0 && a.view.iter().chain(&b.view).any(|s| s.abs() > 6.0) {
                break;
            }
            let error = a.view.iter().zip(&b.view).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            worst.at_most(error, bound, || {
                format!(
                    "person {}, states moved by {shift}, t = {}: η = {η:.4}, η₁ = {η1:.4}, ŝ = {:.4?} for {:.4?}",
                    person.id,
                    t + 1,
                    a.view,
                    b.view
                )
            });
            made.advance(&mut a, &person.actions[t..=t], &states[t + 1..t + 2]);
            exact.advance(&mut b, &person.actions[t..=t], &states[t + 1..t + 2]);
            bound = 0.8 * bound + 2.0 * η;
        }
    }
    worst.found()
}
