//! `def:cf_policy_strict` and M-TXT3: does strict fairness cost value? Not when a policy is followed from the start.

use super::finite::{Finite, History, Path};
use super::search::{EQUAL, Equalities, Search};
use super::{Budget, Claim, Expected, Verdict};
use crate::kernel::learn::features::Polynomial;
use crate::kernel::learn::{Deployed, Greedy, LinearQ};
use crate::kernel::model::worlds::ThreeLevels;
use crate::kernel::model::{Exogenous, Mechanism};
use crate::kernel::numeric::Stream;
use crate::kernel::preprocess::Oracle;
use crate::theory::rules::Replay;

pub(super) const CLAIMS: &[Claim] = &[
    Claim::printed(
        "M-TXT3",
        "the best strictly fair policy is worth less than the best fair policy",
        &["asm:unique", "policies are followed from t = 1"],
        Expected::Refuted,
        |budget| strictly_less(budget, false),
        |budget| strictly_less(budget, true),
    )
    .at(471, r"is therefore stricter than Definition~\ref{def:cf_policy} and will result in a lower optimal value"),
    Claim::ours(
        "def:cf_policy_strict",
        "sup over strictly fair policies = sup over fair policies: all 16 384 strictly fair rules of three decisions",
        &["asm:unique", "policies are followed from t = 1"],
        Expected::Exact,
        |budget| suprema(budget, false),
        |budget| suprema(budget, true),
    )
    .at(559, r"a decision rule $\pi_t$ is strictly counterfactually fair at time $t$"),
    Claim::ours(
        "def:cf_policy_strict",
        "the replay of an optimal fair policy has its value and is unmoved by any (z′, ā′), T = 4",
        &["asm:unique", "policies are followed from t = 1"],
        Expected::Exact,
        |budget| replay(budget, true),
        |budget| replay(budget, false),
    )
    .at(559, r"a decision rule $\pi_t$ is strictly counterfactually fair at time $t$"),
    Claim::ours(
        "def:cf_policy_strict",
        "the library's Replay earns what the policy it replays earns, person by person",
        &["asm:additive", "the mechanism is known"],
        Expected::Exact,
        |budget| library(budget, 1.0),
        |budget| library(budget, 0.9),
    )
    .at(559, r"a decision rule $\pi_t$ is strictly counterfactually fair at time $t$")
    .runs("kernel::learn::Replay"),
];

/// A power of two divides it, as it does all probabilities and rewards of these worlds: values are computed without rounding.
const DISCOUNT: f64 = 0.75;

/// The mirror first, because it can be followed by hand; then random worlds.
fn world(i: u64) -> Finite {
    if i == 0 {
        return Finite::mirror();
    }
    Finite::random(2, 3, 2, 2, Stream::new(5).named("strict").index(i))
}

/// An action from the time, the noise so far and the actions so far.
type Choice<'a> = dyn Fn(usize, &[usize], &[usize]) -> usize + 'a;

/// The best value of three decisions: (fair, strictly fair). With `logged`, the first action was a coin's and not the policy's.
///
/// A strictly fair rule is a function g of the noise; there are 2 + 4 + 8 noises seen by then, hence 2¹⁴ rules.
fn optima(world: &Finite, logged: bool) -> (f64, f64) {
    let horizon = 3;
    let slot = |t: usize, noise: &[usize]| [0, 2, 6][t] + noise[..=t].iter().fold(0, |code, u| 2 * code + u);
    let earned = |choose: &Choice<'_>| {
        let mut total = 0.0;
        for code in 0..8usize {
            let noise = [code >> 2 & 1, code >> 1 & 1, code & 1];
            let p: f64 = noise.iter().map(|&u| world.noise_law[u]).product();
            for coin in 0..if logged { 2 } else { 1 } {
                let mut path = Path { first: noise[0], steps: vec![] };
                let mut actions = vec![];
                for t in 0..horizon {
                    let a = if logged && t == 0 { coin } else { choose(t, &noise, &actions) };
                    // Rewards before the policy takes over are not its own.
                    let counts = if logged && t == 0 { 0.0 } else { 1.0 };
                    let weight = p * DISCOUNT.powi(t as i32) * counts * if logged { 0.5 } else { 1.0 };
                    total += weight * world.mean_reward(&path, a, &world.level_law);
                    actions.push(a);
                    if t + 1 < horizon {
                        path.steps.push((a, noise[t + 1]));
                    }
                }
            }
        }
        total
    };
    let strict = (0..1usize << 14)
        .map(|rule| earned(&|t, noise, _| rule >> slot(t, noise) & 1))
        .fold(f64::NEG_INFINITY, f64::max);
    let best = |noise: &[usize], actions: &[usize], t: usize| {
        let steps = actions.iter().copied().zip(noise[1..].iter().copied()).collect();
        world.best_action(&Path { first: noise[0], steps }, horizon - t, DISCOUNT)
    };
    let fair = earned(&|t, noise, actions| best(noise, actions, t));
    (fair, strict)
}

/// The best strictly fair value against the best fair value, both exact: "lower" means less. After a logged action it is, in the mirror if not in
/// every world.
fn strictly_less(budget: Budget, logged: bool) -> Verdict {
    let mut search = Search::new();
    for i in 0..if logged { 1 } else { budget.pick(2, 20) } {
        let world = world(i);
        let (fair, strict) = optima(&world, logged);
        search.less(strict, fair, || {
            format!("{world}; T = 3, γ = ¾: the best fair policy is worth {fair}, the best of the 2¹⁴ strictly fair rules {strict}, without rounding")
        });
    }
    search.verdict()
}

fn suprema(budget: Budget, logged: bool) -> Verdict {
    let mut equal = Equalities::new();
    for i in 0..budget.pick(2, 20) {
        let world = world(i);
        let (fair, strict) = optima(&world, logged);
        let when = if logged { "after a first action drawn by a coin" } else { "from the start" };
        equal.case(strict, fair, EQUAL, || {
            format!("{world}; T = 3, γ = ¾, {when}: best strictly fair value {strict:.6}, best fair value {fair:.6}")
        });
    }
    equal.verdict()
}

/// The canonical action: what the policy would do now had it been followed on this noise.
fn canonical(world: &Finite, noise: &[usize], horizon: usize) -> usize {
    let mut path = Path { first: noise[0], steps: vec![] };
    for (t, &u) in noise.iter().enumerate().skip(1) {
        let a = world.best_action(&path, horizon + 1 - t, DISCOUNT);
        path.steps.push((a, u));
    }
    world.best_action(&path, horizon + 1 - noise.len(), DISCOUNT)
}

/// Value of the replay, and invariance of its action under every level and every past; if not `replayed`, of the policy itself.
fn replay(budget: Budget, replayed: bool) -> Verdict {
    let mut equal = Equalities::new();
    let horizon = 4;
    for i in 0..budget.pick(2, 10) {
        let world = world(i);
        let rule = |history: &History| {
            let path = world.abduct(history).expect("asm:unique holds here");
            if replayed {
                let noise: Vec<usize> =
                    std::iter::once(path.first).chain(path.steps.iter().map(|step| step.1)).collect();
                canonical(&world, &noise, horizon)
            } else {
                world.best_action(&path, horizon - path.steps.len(), DISCOUNT)
            }
        };
        let (value, best) = (world.value_of(horizon, DISCOUNT, &rule), world.best_fair(horizon, DISCOUNT));
        equal.case(value, best, EQUAL, || {
            format!("{world}; T = 4, γ = ¾: value {value:.12} against the best fair value {best:.12}")
        });
        for decisions in 0..3 {
            let mut chosen = std::collections::BTreeMap::new();
            for path in world.paths(decisions) {
                for z in 0..world.levels {
                    let noise: Vec<usize> = std::iter::once(path.first).chain(path.steps.iter().map(|s| s.1)).collect();
                    let history = world.observe(z, &path);
                    let action = rule(&history);
                    let before = *chosen.entry(noise.clone()).or_insert(action);
                    equal.case(action as f64, before as f64, 0.0, || {
                        format!("{world}: noise {noise:?}, {history:?} gets action {action}, the same noise with another past got {before}")
                    });
                }
            }
        }
    }
    equal.verdict()
}

/// A world with its mechanism's drift scaled, for a replay that knows it wrongly.
struct Scaled(ThreeLevels, f64);

impl Mechanism for Scaled {
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
        self.0.initial_mean(level)
    }
    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        self.0.mean(level, states, actions, next, rewards);
        next.iter_mut().for_each(|x| *x *= self.1);
    }
}

/// The library's two agents on the same people: Oracle with a greedy rule, and its replay with the mechanism scaled by `scale`.
fn library(budget: Budget, scale: f64) -> Verdict {
    let world = ThreeLevels::new(1.0);
    let people = budget.pick(200, 5000);
    let exogenous = Exogenous::draw(&world, people, 6, Stream::new(8).named("replay"));
    let features = Polynomial::new(6, 1).expect("six inputs, degree one");
    let weights = (0..21).map(|k| ((k * 7 % 11) as f64 - 5.0) / 7.0).collect();
    let policy = Greedy(LinearQ::new(features, 3, weights));
    let oracle = Deployed::new(Oracle::new(world.clone(), vec![0.5, 0.3, 0.2]), policy.clone());
    let replay = Replay::new(Scaled(world.clone(), scale), policy);
    let [a, b] = [&oracle as &dyn crate::kernel::learn::Agent, &replay]
        .map(|agent| crate::kernel::evaluate::evaluate(&world, agent, &exogenous, DISCOUNT).value.mean);
    let mut equal = Equalities::new();
    // The two compute the same states in different order; a boundary would have to fall into the last bits to matter.
    equal.case(a, b, EQUAL, || {
        format!("ThreeLevels at δ = 1, {people} people, T = 6: value {a:.6}, replay {b:.6}, mechanism times {scale}")
    });
    equal.verdict()
}
