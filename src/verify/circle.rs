//! Rates of the whole method, from `alg:cf:1` through `alg:cf:2`, on the circle bed.

use super::scaling::{Runs, doubling, seeds};
use super::search::{EQUAL, Equalities};
use super::{Budget, Claim, Expected, Verdict};
use crate::learn::features::FeatureMap;
use crate::learn::{Clipping, Settings, fitted_q_iteration};
use crate::model::beds::{Circle, CircleFit};
use crate::model::{abduct, predict};
use crate::numeric::Stream;
use crate::preprocess::{Sequential, batch};
use std::sync::OnceLock;

pub(super) const CLAIMS: &[Claim] = &[
    Claim::corrected(
        "rate:end-to-end",
        "the error of counterfactual states falls like N^{−1/2}",
        &["bed:circle", "means by level and action"],
        Expected::NotRefuted,
        |budget| law(budget, false, 0, -0.5),
        |budget| law(budget, true, 0, -0.5),
    ),
    Claim::corrected(
        "rate:end-to-end",
        "‖f̂ − Q*‖∞ of weights falls like N^{−1/2} with estimated states and rewards",
        &["bed:circle"],
        Expected::NotRefuted,
        |budget| law(budget, false, 1, -0.5),
        |budget| law(budget, true, 1, -0.5),
    ),
    Claim::corrected(
        "rate:end-to-end",
        "regret falls like N^{−1} (margin α = 1)",
        &["bed:circle"],
        Expected::NotRefuted,
        |budget| law(budget, false, 2, -1.0),
        |budget| law(budget, true, 2, -1.0),
    ),
    Claim::corrected(
        "rate:end-to-end",
        "unfairness at t = 1 falls like N^{−1/2}",
        &["bed:circle", "closed form under the true law"],
        Expected::NotRefuted,
        |budget| law(budget, false, 3, -0.5),
        |budget| law(budget, true, 3, -0.5),
    ),
    Claim::corrected(
        "alg:cf:1",
        "the error of a counterfactual state on the circle is |δm₁−δm₀| + Σ|δθ₁−δθ₀|, independent of the state",
        &["bed:circle", "asm:additive"],
        Expected::Exact,
        |budget| state_errors(budget, 0.0),
        |budget| state_errors(budget, 0.2),
    ),
];

/// (1 ± cos(s₁ − s₀))/2 ⊗ (1, cos s₀, sin s₀): six features an action.
#[derive(Debug, Clone, Copy)]
struct Harmonics;

impl FeatureMap for Harmonics {
    fn inputs(&self) -> usize {
        2
    }

    fn count(&self) -> usize {
        6
    }

    fn fill(&self, rows: &[f64], out: &mut [f64]) {
        let n = rows.len() / 2;
        for (i, row) in rows.chunks_exact(2).enumerate() {
            let near = (1.0 + (row[1] - row[0]).cos()) / 2.0;
            let (sin, cos) = row[0].sin_cos();
            for (block, weight) in [near, 1.0 - near].into_iter().enumerate() {
                for (k, v) in [1.0, cos, sin].into_iter().enumerate() {
                    out[(block * 3 + k) * n + i] = weight * v;
                }
            }
        }
    }
}

const HORIZON: usize = 6;

/// (ε_s, ‖ŵ − w*‖∞, regret, unfairness at t = 1) of one data set; `biased` makes the means of level 1 wrong for ever.
fn replicate(bed: &Circle, people: usize, biased: bool, stream: Stream) -> Option<[f64; 4]> {
    let panel = bed.simulate(people, HORIZON, stream);
    let mut fit = CircleFit::from_panel(&panel)?;
    if biased {
        fit.initial[1][0] += 0.3;
        fit.increments[1][1] += 0.3;
    }
    let ones = panel.level_codes().iter().filter(|z| **z == 1).count() as f64 / people as f64;
    let experience = batch(&Sequential::new(fit.clone(), vec![1.0 - ones, ones]), &panel).ok()?;
    let settings = Settings {
        discount: bed.discount,
        // γ²⁵ is one part in seven thousand.
        iterations: 25,
        tolerance: 0.0,
        clipping: Clipping::Rewards(bed.reward_bound()),
    };
    let learned = fitted_q_iteration(&experience, &Harmonics, settings).ok()?;
    let best = bed.optimum();
    let mut weights = best;
    let mut error: f64 = 0.0;
    for (k, x) in learned.q.weights().iter().enumerate() {
        let (a, block, j) = (k / 6, k / 3 % 2, k % 3);
        weights[a][block][j] = *x;
        error = error.max((x - best[a][block][j]).abs());
    }
    let regret = (bed.start_value(&best) - bed.value_of_greedy(&weights)).max(0.0);
    Some([fit.state_error(&bed.truth(), HORIZON), error, regret, bed.first_unfairness(&weights, &fit)])
}

fn law(budget: Budget, control: bool, statistic: usize, target: f64) -> Verdict {
    people(budget, control).judge(statistic, target, Stream::new(PEOPLE))
}

/// Seed of the resamples of [`people`].
pub(super) const PEOPLE: u64 = 82;

/// The four statistics of [`replicate`], N from 50 to 3200.
pub(super) fn people(budget: Budget, control: bool) -> &'static Runs<4> {
    static RUNS: [OnceLock<Runs<4>>; 4] = [const { OnceLock::new() }; 4];
    RUNS[budget.pick(0, 2) + usize::from(control)].get_or_init(|| {
        let bed = Circle::default();
        Runs::make(doubling(50.0), seeds(budget, control), |n, seed| {
            replicate(&bed, n as usize, control, Stream::new(81).index(n as u64).index(seed))
        })
    })
}

/// The states that alg:cf:1 makes with wrong means, less the true counterfactuals, against the formula along each person's actions.
///
/// With a `wave` on top of the estimated increments the error does depend on the state and the formula fails.
fn state_errors(budget: Budget, wave: f64) -> Verdict {
    let bed = Circle::default();
    let truth = bed.truth();
    let panel = bed.simulate(budget.pick(50, 1000), HORIZON, Stream::new(83));
    let mut wrong = truth.clone();
    wrong.initial[0][0] += 0.02;
    wrong.initial[1][0] -= 0.03;
    wrong.increments[0][1] += 0.01;
    wrong.increments[1][0] -= 0.05;
    let method = Sequential::new(Wavy(wrong.clone(), wave), vec![0.5, 0.5]);
    let experience = batch(&method, &panel).expect("finite states");
    let mut equal = Equalities::new();
    for i in 0..panel.people() {
        let person = panel.person(i);
        let (z, k) = (person.level as usize, 1 - person.level as usize);
        let world = predict(&truth, &abduct(&truth, person), person.actions, k);
        let error = |level: usize, a: usize| wrong.increments[level][a] - truth.increments[level][a];
        let mut expected = (wrong.initial[k][0] - truth.initial[k][0]) - (wrong.initial[z][0] - truth.initial[z][0]);
        for (t, row) in experience.views_of(i).enumerate() {
            if t > 0 {
                let a = person.actions[t - 1] as usize;
                expected += error(k, a) - error(z, a);
            }
            let made = experience.views()[row * 2 + k] - world.states[t];
            // States grow to about ten over six steps, and their sums carry a dozen roundings.
            equal.case(made, expected, 10.0 * EQUAL, || {
                format!("person {i}, level {z}, t = {}: error {made:.6}, formula {expected:.6}", t + 1)
            });
        }
    }
    equal.verdict()
}

/// A fit whose increments also depend on the state.
struct Wavy(CircleFit, f64);

impl crate::model::Mechanism for Wavy {
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
        self.0.initial_mean(level)
    }
    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        self.0.mean(level, states, actions, next, rewards);
        for (x, s) in next.iter_mut().zip(states) {
            *x += self.1 * s.sin();
        }
    }
}
