//! `alg:cf:1`: exact with true means, factual states untouched by any means, and how errors of the means travel.

use super::search::{EQUAL, Equalities, Search, between, climb, signed};
use super::{Budget, Claim, Expected, Verdict};
use crate::kernel::model::worlds::ThreeLevels;
use crate::kernel::model::{Exogenous, Mechanism, World, abduct, predict, simulate};
use crate::kernel::numeric::{Stream, fill_standard_normal};
use crate::kernel::people::{Labels, PanelBuilder, Person};
use crate::kernel::preprocess::{Preprocessor, Sequential, SingleStage, batch};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::implied(
        "alg:cf:1",
        "with the true means, ŝᵏ and r̃ are the exact counterfactuals",
        &["asm:additive", "μ̂ = μ", "P̂(Z) = P(Z)"],
        Expected::Exact,
        |budget| exact(budget, 0.0),
        |budget| exact(budget, 0.01),
    )
    .at(338, r"\hat{\mu}(\hat{s}_{i,t-1}^{z'},a_{i,t-1},z')")
    .runs("kernel::preprocess::Sequential"),
    Claim::ours(
        "alg:cf:1",
        "ŝ^z of the own level z is the observed state, whatever the means",
        &[],
        Expected::Exact,
        |budget| factual(budget, 0),
        |budget| factual(budget, 1),
    )
    .at(338, r"\hat{\mu}(\hat{s}_{i,t-1}^{z'},a_{i,t-1},z')")
    .runs("kernel::preprocess::Sequential"),
    Claim::ours(
        "alg:cf:1",
        "|ŝₜᵏ − Sₜᵏ| ≤ 2η₁ℓ^{t−1} + 2η(1 + ℓ + … + ℓ^{t−2}), attained",
        &["|μ̂ − μ| ≤ η, |m̂ − m| ≤ η₁", "μ is ℓ-Lipschitz in the state"],
        Expected::NotRefuted,
        |budget| recursion(budget, 2.0),
        |budget| recursion(budget, 1.0),
    )
    .at(338, r"\hat{\mu}(\hat{s}_{i,t-1}^{z'},a_{i,t-1},z')")
    .runs("kernel::preprocess::Sequential"),
    Claim::ours(
        "alg:cf:1",
        "|r̃ − R̃| ≤ 2η_r + ℓ_r ε_s + R‖p̂ − p‖₁",
        &["|μ̂ᵣ − μᵣ| ≤ η_r", "μᵣ is ℓ_r-Lipschitz", "|R| ≤ R in every world"],
        Expected::NotRefuted,
        |budget| reward_error(budget, 1.0),
        |budget| reward_error(budget, 0.5),
    )
    .at(338, r"\hat{\mu}(\hat{s}_{i,t-1}^{z'},a_{i,t-1},z')")
    .runs("kernel::preprocess::Sequential"),
    Claim::printed(
        "M-FLAP",
        "x̃ = [x − Ê(X|z) + Ê(X|k)]ₖ is the same in every counterfactual world",
        &["group means of 100 people at each level"],
        Expected::Refuted,
        |_| single_stage(false),
        |_| single_stage(true),
    )
    .at(246, r"remains invariant across counterfactual values of $Z$")
    .runs("kernel::preprocess::SingleStage"),
    Claim::ours(
        "M-FLAP",
        "x̃ is the same in every world when m̂ − m is the same at all levels",
        &["asm:additive"],
        Expected::NotRefuted,
        |_| single_stage(true),
        |_| single_stage(false),
    )
    .at(246, r"remains invariant across counterfactual values of $Z$")
    .runs("kernel::preprocess::SingleStage"),
];

/// The world's means, all moved by `bias` times the level.
pub(super) struct Biased<W>(W, f64, Vec<Vec<f64>>);

impl<W: Mechanism> Biased<W> {
    pub(super) fn new(world: W, bias: f64) -> Self {
        let initial = (0..world.levels()).map(|z| world.initial_mean(z).iter().map(|m| m + bias * z as f64).collect());
        let initial = initial.collect();
        Self(world, bias, initial)
    }
}

impl<W: Mechanism> Mechanism for Biased<W> {
    fn state_dim(&self) -> usize {
        self.0.state_dim()
    }
    fn levels(&self) -> usize {
        self.0.levels()
    }
    fn actions(&self) -> usize {
        self.0.actions()
    }
    fn initial_mean(&self, level: usize) -> &[f64] {
        &self.2[level]
    }
    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        self.0.mean(level, states, actions, next, rewards);
        next.iter_mut().for_each(|x| *x += self.1 * level as f64);
        rewards.iter_mut().for_each(|x| *x += self.1 * level as f64);
    }
}

/// Rounding of T = 5 steps of a map with Lipschitz constant below 2 on states below 10.
const FIVE_STEPS: f64 = 100.0 * EQUAL;

/// The algorithm against abduction and prediction, over all people, times and levels.
fn exact(budget: Budget, bias: f64) -> Verdict {
    let world = ThreeLevels::new(1.0);
    let panel = simulate(&world, &Exogenous::draw(&world, budget.pick(100, 3000), 5, Stream::new(21)));
    let weights = world.level_probabilities().to_vec();
    let experience =
        batch(&Sequential::new(Biased::new(world.clone(), bias), weights.clone()), &panel).expect("finite states");
    let mut equal = Equalities::new();
    for i in 0..panel.people() {
        let person = panel.person(i);
        let noise = abduct(&world, person);
        let worlds: Vec<_> = (0..3).map(|k| predict(&world, &noise, person.actions, k)).collect();
        for (t, row) in experience.views_of(i).enumerate() {
            for (k, truth) in worlds.iter().enumerate() {
                for j in 0..2 {
                    let made = experience.views()[row * 6 + k * 2 + j];
                    equal.case(made, truth.states[t * 2 + j], FIVE_STEPS, || {
                        format!(
                            "ThreeLevels, person {}, t = {}, level {k}, coordinate {}: means off by {bias}·z",
                            i + 1,
                            t + 1,
                            j + 1
                        )
                    });
                }
            }
        }
        for (t, row) in experience.decisions_of(i).enumerate() {
            let mean: f64 = worlds.iter().zip(&weights).map(|(w, p)| p * w.rewards[t]).sum();
            equal.case(experience.rewards()[row], mean, FIVE_STEPS, || {
                format!("reward of person {}, t = {}", i + 1, t + 1)
            });
        }
    }
    equal.verdict()
}

/// The own level's component under heavily biased means; `told` is added to the level the algorithm is told.
fn factual(budget: Budget, told: u32) -> Verdict {
    let world = ThreeLevels::new(1.0);
    let exogenous = Exogenous::draw(&world, budget.pick(100, 3000), 5, Stream::new(22));
    let panel = simulate(&world, &exogenous);
    let method = Sequential::new(Biased::new(world, 3.7), vec![0.2, 0.5, 0.3]);
    let mut equal = Equalities::new();
    for i in 0..panel.people() {
        let person = panel.person(i);
        let z = person.level as usize;
        let mut memory = method.begin(&[(person.level + told) % 3], &person.states[..2]);
        for t in 0..=person.actions.len() {
            if t > 0 {
                method.advance(&mut memory, &person.actions[t - 1..t], &person.states[2 * t..2 * t + 2]);
            }
            for j in 0..2 {
                equal.case(memory.view[2 * z + j], person.states[2 * t + j], 0.0, || {
                    format!(
                        "person {}, level {z} told as {}, t = {}, means off by 3.7·z",
                        i + 1,
                        (person.level + told) % 3,
                        t + 1
                    )
                });
            }
        }
    }
    equal.verdict()
}

/// μ(s, a, z) = slope·s + intercept(z), with a bounded wave on top of the estimate: |μ̂ − μ| ≤ η by construction.
#[derive(Debug, Clone)]
struct Line {
    slope: f64,
    intercepts: [f64; 2],
    initial: [[f64; 1]; 2],
    /// Error of the estimate at each level: constant part and amplitude, frequency and phase of the wave.
    errors: [[f64; 4]; 2],
    reward: [f64; 3],
}

impl Line {
    fn error(&self, level: usize, s: f64) -> f64 {
        let [constant, amplitude, frequency, phase] = self.errors[level];
        constant + amplitude * (frequency * s + phase).sin()
    }

    fn truth(&self) -> Self {
        Self { errors: [[0.0; 4]; 2], ..self.clone() }
    }
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
        for (i, &s) in states.iter().enumerate() {
            let sign = if actions[i] == 0 { 1.0 } else { -1.0 };
            let error = self.error(level, s);
            next[i] = sign * self.slope * s + self.intercepts[level] + error;
            rewards[i] = self.reward[level] * s.clamp(-1.0, 1.0) * self.reward[2] + error;
        }
    }
}

/// One person through the algorithm with wrong means; the coordinates of `x` are errors and noise in units of their bounds.
fn recursion(budget: Budget, two: f64) -> Verdict {
    let mut search = Search::new();
    let mut case = |x: &[f64], slope: f64, horizon: usize| {
        let (η, η1) = (0.1, 0.05);
        let unit = |k: usize| x[k].clamp(-1.0, 1.0);
        let share =
            |k: usize| (unit(k) * η, (1.0 - unit(k).abs()) * η * unit(k + 1), 3.0 * unit(k + 2), 3.0 * unit(k + 3));
        let errors = [0, 4].map(|k| {
            let (constant, amplitude, frequency, phase) = share(k);
            [constant, amplitude, frequency, phase]
        });
        let truth = Line {
            slope,
            intercepts: [0.3, -0.4],
            initial: [[0.2], [-0.1]],
            errors: [[0.0; 4]; 2],
            reward: [1.0, 1.0, 1.0],
        };
        let initial = [[0.2 + η1 * unit(8)], [-0.1 + η1 * unit(9)]];
        let method = Sequential::new(Line { errors, initial, ..truth.clone() }, vec![0.5, 0.5]);
        let exact = Sequential::new(truth, vec![0.5, 0.5]);
        let mut state = [unit(10)];
        let (mut made, mut right) = (method.begin(&[0], &state), exact.begin(&[0], &state));
        let mut bound = two * η1;
        let mut worst: f64 = 0.0;
        for t in 1..=horizon {
            if t > 1 {
                state[0] = unit(10 + t);
                let action = [u32::from(x[10 + t] > 2.0)];
                method.advance(&mut made, &action, &state);
                exact.advance(&mut right, &action, &state);
                bound = slope * bound + two * η;
            }
            let error = (made.view[1] - right.view[1]).abs();
            worst = worst.max(search.case(error, bound, || {
                format!("μ = {slope}s + (0.3, −0.4)_z, m = (0.2, −0.1), η = {η}, η₁ = {η1}, errors c + b sin(fs + p) with (c, b, f, p) = {errors:.3?}, m̂ = {initial:.3?}, z = 0, states {:.3?}, t = {t}", &x[10..10 + t])
            }));
        }
        worst
    };
    for (k, slope) in [0.5, 1.0, 1.4].into_iter().enumerate() {
        // The extremal errors: constant, of opposite sign at the two levels.
        let extremal: Vec<f64> =
            [-1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0, 1.0].into_iter().chain([0.3; 8]).collect();
        case(&extremal, slope, 6);
        for start in 0..budget.pick(3, 30) {
            let stream = Stream::new(24).index(k as u64).index(start);
            climb(18, budget.pick(300, 5000), stream, &mut |x| case(x, slope, 6));
        }
    }
    search.verdict()
}

/// The reward of one person with wrong means and wrong weights at the second decision.
fn reward_error(budget: Budget, factor: f64) -> Verdict {
    let mut search = Search::new();
    for i in 0..budget.pick(3000, 100_000) {
        let mut rng = Stream::new(25).index(i).rng();
        let η = between(&mut rng, 0.0, 0.2);
        let mut corner = |size: f64| size * if i % 2 == 0 { signed(&mut rng).signum() } else { signed(&mut rng) };
        let wrong = Line {
            slope: corner(1.0),
            intercepts: [corner(0.5), corner(0.5)],
            initial: [[corner(0.5)], [corner(0.5)]],
            errors: [[corner(η), 0.0, 0.0, 0.0], [corner(η), 0.0, 0.0, 0.0]],
            reward: [1.0, 1.0, corner(1.0)],
        };
        let truth = wrong.truth();
        let (p, p_hat) = (0.5 + corner(0.3), 0.5 + corner(0.3));
        let (first, second, r) = ([corner(1.0)], [corner(1.0)], corner(1.0));
        let act = [(i % 2) as u32];
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
        let at = |level: usize, s: f64| truth.reward[level] * s.clamp(-1.0, 1.0) * truth.reward[2];
        let largest = r.abs().max((r - at(0, second[0]) + at(1, state)).abs());
        let bound = 2.0 * η + truth.reward[2].abs() * (made_state - state).abs() + largest * 2.0 * (p_hat - p).abs();
        search.case((made_reward - reward).abs(), factor * bound, || {
            format!(
                "μ(s, a, z) = ±slope·s + intercept_z, + for a = 0, and R = reward_z·reward₂·clamp(s, ±1), with {truth:?}; μ̂ and R̂ add the constants {:?} by level; z = 0, s₁ = {}, a₁ = {}, s₂ = {}, r₂ = {r}, p = {p}, p̂ = {p_hat}: r̃ = {made_reward} for {reward}; η_r = {η}, ℓ_r = {}, ε_s = {}, R = {largest}",
                wrong.errors.map(|e| e[0]),
                first[0],
                act[0],
                second[0],
                truth.reward[2].abs(),
                (made_state - state).abs()
            )
        });
    }
    search.verdict()
}

/// The library's single-stage preprocessing, fitted to 100 people at each level of X = z + U: what it makes of the same person in the two worlds.
///
/// With `shared` noise the group means are off by the same number at both levels.
fn single_stage(shared: bool) -> Verdict {
    let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(1), 1).expect("a panel with a state");
    let mut noise = vec![0.0; 200];
    fill_standard_normal(&mut Stream::new(27).rng(), &mut noise);
    for i in 0..200 {
        let level = (i % 2) as u32;
        let (id, state) = (i.to_string(), [f64::from(level) + noise[if shared { i / 2 } else { i }]]);
        builder.push(Person { id: &id, level, states: &state, actions: &[0], rewards: &[0.0] }).expect("finite states");
    }
    let method = SingleStage::fit(&builder.finish()).expect("both levels have people");
    let mut search = Search::new();
    for u in [-1.3, 0.4, 2.0] {
        let made = [0u32, 1].map(|z| method.begin(&[z], &[f64::from(z) + u]).view);
        let apart = (made[0][0] - made[1][0]).abs().max((made[0][1] - made[1][1]).abs());
        search.case(if apart < EQUAL { 0.0 } else { apart }, 0.0, || {
            format!("X = z + U, 100 people a level, U = {u}: x̃ = {:.4?} if Z = 0 and {:.4?} if Z = 1", made[0], made[1])
        });
    }
    search.verdict()
}
