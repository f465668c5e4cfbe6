//! The lattice bed: finite, additive, and recovered exactly once means are good enough.

use super::search::{EQUAL, Equalities};
use super::tabular::Tabular;
use super::{Budget, Claim, Expected, Verdict};
use crate::kernel::model::{abduct, predict};
use crate::kernel::numeric::Stream;
use crate::kernel::numeric::small::dot;
use crate::kernel::preprocess::{Sequential, batch};
use crate::theory::beds::Lattice;

pub(super) const CLAIMS: &[Claim] = &[
    Claim::ours(
        "bed:lattice",
        "J* of the pairs is the value, in the original process, of their greedy rule",
        &["all people, noises and levels enumerated over eight decisions, tail γ⁸/(1−γ)"],
        Expected::Exact,
        |budget| optimum(budget, false),
        |budget| optimum(budget, true),
    )
    .runs("theory::beds::Lattice"),
    Claim::ours(
        "bed:lattice",
        "counterfactual states rounded to integers are exactly right once errors are below one half",
        &["asm:additive", "cell means", "N = 12 800, T = 3"],
        Expected::Exact,
        |budget| recovery(budget, 0.0),
        |budget| recovery(budget, 0.6),
    )
    .runs("kernel::preprocess::Sequential"),
];

/// A lattice in which no reachable pair and action is rarer than one in sixty-four, worlds differ, and errors do not grow (ℓ ≤ 1).
fn bed() -> Lattice {
    let sound = |bed: &Lattice| {
        bed.coverage(HORIZON) > 1.0 / 64.0
            && bed.lipschitz() <= 1.0
            && bed.augmented().pairs.iter().any(|pair| pair[0] != pair[1])
    };
    (0..).map(|i| Lattice::random(Stream::new(91).index(i))).find(sound).expect("some lattice is sound")
}

const HORIZON: usize = 3;
const DISCOUNT: f64 = 0.3;

/// With `worst`, the rule that takes the other action everywhere: its value is not the optimum.
fn optimum(budget: Budget, worst: bool) -> Verdict {
    let decisions = budget.pick(8, 10);
    let bed = bed();
    let process = bed.augmented();
    let n = process.pairs.len();
    let tabular = Tabular {
        states: n,
        actions: 2,
        discount: DISCOUNT,
        rewards: process.rewards.clone(),
        transitions: process.transitions.clone(),
    };
    let q = tabular.optimum();
    let best = dot(&process.first, &tabular.value(&q));
    let rule: Vec<usize> = tabular.greedy(&q).into_iter().map(|a| if worst { 1 - a } else { a }).collect();
    // Every level and every noise sequence of the original process, the rule acting on pairs made by abduction.
    let mut value = 0.0;
    for z in 0..2 {
        let weight = if z == 1 { bed.level_share } else { 1.0 - bed.level_share };
        for code in 0..1usize << decisions {
            let noise = |t: usize| (code >> t & 1) as f64;
            value += weight * episode(&bed, &process.pairs, &rule, z, decisions, &noise) / (1 << decisions) as f64;
        }
    }
    let mut equal = Equalities::new();
    // Rewards are in [0, 1].
    let tail = DISCOUNT.powi(decisions) / (1.0 - DISCOUNT);
    equal.case(value, best, tail, || {
        format!("{n} pairs, γ = {DISCOUNT}, {decisions} decisions: value {value:.6}, optimum {best:.6}")
    });
    equal.verdict()
}

/// Discounted reward of one person at level z with the given noise.
fn episode(
    bed: &Lattice,
    pairs: &[[usize; 2]],
    rule: &[usize],
    z: usize,
    decisions: i32,
    noise: &dyn Fn(usize) -> f64,
) -> f64 {
    use crate::kernel::model::Mechanism;
    let mut worlds = [0, 1].map(|k| bed.initial_mean(k)[0] + noise(0));
    let mut total = 0.0;
    for t in 0..decisions {
        let pair = worlds.map(|s| s as usize);
        let action = rule[pairs.iter().position(|p| *p == pair).expect("a reachable pair")] as u32;
        let (mut next, mut reward) = ([0.0], [0.0]);
        for (k, world) in worlds.iter_mut().enumerate() {
            bed.mean(k, &[*world], &[action], &mut next, &mut reward);
            if k == z {
                total += DISCOUNT.powi(t) * reward[0];
            }
            if t + 1 < decisions {
                *world = next[0] + noise(t as usize + 1);
            }
        }
    }
    total
}

/// Largest error of a counterfactual state over people and times, before and after rounding.
fn errors(people: usize, bias: f64, stream: Stream) -> (f64, f64) {
    let bed = bed();
    let panel = bed.simulate(people, HORIZON, stream);
    let fit = Lattice::fit(&panel).biased(bias);
    let experience = batch(&Sequential::new(fit, vec![0.5, 0.5]), &panel).expect("finite states");
    let (mut error, mut rounded) = (0.0f64, 0.0f64);
    for i in 0..panel.people() {
        let person = panel.person(i);
        let other = 1 - person.level as usize;
        let world = predict(&bed, &abduct(&bed, person), person.actions, other);
        for (t, row) in experience.views_of(i).enumerate() {
            let made = experience.views()[row * 2 + other];
            error = error.max((made - world.states[t]).abs());
            rounded = rounded.max((made.round() - world.states[t]).abs());
        }
    }
    (error, rounded)
}

fn recovery(budget: Budget, bias: f64) -> Verdict {
    let mut equal = Equalities::new();
    for seed in 0..budget.pick(3, 30) {
        let (error, rounded) = errors(12_800, bias, Stream::new(92).index(seed));
        equal.case(rounded, 0.0, EQUAL, || {
            format!("seed {seed}, means of level 1 off by {bias}: largest error {error:.3} before rounding")
        });
    }
    equal.verdict()
}
