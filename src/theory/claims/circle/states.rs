//! The error of a counterfactual state on the circle, which does not depend on the state.

use super::HORIZON;
use crate::kernel::model::{Mechanism, abduct, predict};
use crate::kernel::numeric::Stream;
use crate::kernel::preprocess::{Sequential, batch};
use crate::theory::beds::{Circle, CircleFit};
use crate::theory::claims::search::{EQUAL, Equalities};
use crate::theory::claims::{Budget, Claim, Expected, Verdict};

pub(super) const CLAIMS: &[Claim] = &[Claim::ours(
    "alg:cf:1",
    "the error of a counterfactual state on the circle is |δm₁−δm₀| + Σ|δθ₁−δθ₀|, independent of the state",
    &["bed:circle", "asm:additive"],
    Expected::Exact,
    |budget| state_errors(budget, 0.0),
    |budget| state_errors(budget, 0.2),
)
.at(338, r"\hat{\mu}(\hat{s}_{i,t-1}^{z'},a_{i,t-1},z')")
.runs("kernel::preprocess::Sequential")];

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

impl Mechanism for Wavy {
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
