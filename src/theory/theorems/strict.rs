//! Strict fairness (`def:cf_policy_strict`): what it asks, and that it costs nothing.

use super::listed::{AnyRule, Reads, random_world, told, world};
use super::{Claim, Found, Limit, Quotation, Run, Worst};
use crate::kernel::evaluate::evaluate;
use crate::kernel::learn::{Agent, AgentMemory, Deployed};
use crate::kernel::model::noise::{Step, first_noise};
use crate::kernel::model::worlds::ThreeLevels;
use crate::kernel::model::{Exogenous, Mechanism, World};
use crate::kernel::numeric::Stream;
use crate::kernel::preprocess::{Memory, Sequential};
use crate::theory::rules::{Alternatives, Replay, strict_unfairness};
use crate::theory::{FiniteMdp, FiniteWorld};

const STRICT: Option<Quotation> =
    Quotation::at(559, r"a decision rule $\pi_t$ is strictly counterfactually fair at time $t$");

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        label: "M-TXT3",
        says: "the best of all 16 384 strictly fair rules of three decisions earns what the best fair policy earns",
        assumes: &[
            "asm:unique, by additive noise",
            "policies are followed from t = 1",
            "fair noise on {0, 1}; 2 finite worlds",
        ],
        limit: Limit::Equal,
        check: |run| suprema(run == Run::Control),
        control: "a coin takes the first action, and policies take over at t = 2",
        runs: "kernel::evaluate::evaluate, kernel::model::noise",
        source: Quotation::at(
            471,
            r"is therefore stricter than Definition~\ref{def:cf_policy} and will result in a lower optimal value",
        ),
        proved_by: &["strict_fairness_costs_nothing", "strictly_fair_iff_reads_noise_alone"],
        ..Claim::LEMMA
    },
    Claim {
        label: "def:cf_policy_strict",
        says: "the replay of a fair rule acts alike under every level and every past",
        assumes: &[
            "asm:unique, by additive noise with known means",
            "everybody and every past of 10 finite worlds, four decisions",
        ],
        limit: Limit::Equal,
        check: |run| unmoved(run == Run::Stated),
        control: "the fair rule itself, which past actions move",
        runs: "theory::rules::{Replay, strict_unfairness}",
        source: STRICT,
        proved_by: &["replay_is_strictly_fair"],
        ..Claim::LEMMA
    },
    Claim {
        label: "def:cf_policy_strict",
        says: "the replay of a fair rule earns what the rule earns",
        assumes: &[
            "asm:unique, by additive noise",
            "the mechanism is known",
            "everybody of 10 finite worlds, and 300 people of the world with three levels",
        ],
        limit: Limit::Equal,
        check: |run| replayed(run.pick(1.0, 0.9)),
        control: "the replay believes means that are 0.9 times the true ones",
        runs: "theory::rules::Replay, kernel::evaluate::evaluate",
        source: STRICT,
        proved_by: &["replay_takes_the_same_actions"],
        ..Claim::LEMMA
    },
];

/// A power of two divides it, as it does all probabilities and rewards of these worlds.
const DISCOUNT: f64 = 0.75;

/// Rounding of a mean of some hundred returns below ten.
const ROUNDED: f64 = 1e-12;

/// A function of the noise so far, as its bits: every strictly fair rule on noise in {0, 1} is one of these. It is told states and abducts.
struct OfNoise<'a> {
    world: &'a FiniteWorld,
    rule: u32,
    /// The first action is decided by the person's coin.
    logged: bool,
}

impl OfNoise<'_> {
    /// Histories of noise are numbered 2, 3; 4, …, 7; 8, …, 15 by their binary digits behind a leading 1.
    fn note(memory: &mut AgentMemory, noise: &[f64]) {
        memory.parts[0].view.iter_mut().zip(noise).for_each(|(code, u)| *code = 2.0 * *code + u);
    }
}

impl Agent for OfNoise<'_> {
    fn actions(&self) -> usize {
        2
    }
    fn begin(&self, levels: &[u32], states: &[f64], coins: &[f64]) -> AgentMemory {
        let parts = vec![Memory::new(levels, states, vec![1.0; levels.len()])];
        let mut memory = AgentMemory { parts, coins: coins.to_vec(), ..AgentMemory::default() };
        let mut noise = states.to_vec();
        noise.iter_mut().zip(levels).for_each(|(u, &z)| first_noise(self.world, z as usize, std::slice::from_mut(u)));
        Self::note(&mut memory, &noise);
        memory
    }
    fn advance(&self, memory: &mut AgentMemory, actions: &[u32], states: &[f64]) {
        let (mut step, mut noise) = (Step::default(), states.to_vec());
        let before = &memory.parts[0];
        for (i, u) in noise.iter_mut().enumerate() {
            let z = before.levels[i] as usize;
            step.prepare(self.world, z, &before.states[i..=i], &actions[i..=i]);
            step.state_noise(self.world, z, std::slice::from_mut(u));
        }
        memory.parts[0].states.copy_from_slice(states);
        Self::note(memory, &noise);
    }
    fn probabilities(&self, memory: &mut AgentMemory, out: &mut [f64]) {
        let mut actions = vec![0; memory.coins.len()];
        self.act(memory, &[], &mut actions);
        out.chunks_exact_mut(2)
            .zip(actions)
            .for_each(|(odds, a)| odds.copy_from_slice([[1.0, 0.0], [0.0, 1.0]][a as usize].as_slice()));
    }
    fn act(&self, memory: &mut AgentMemory, _: &[f64], out: &mut [u32]) {
        for ((action, code), coin) in out.iter_mut().zip(&memory.parts[0].view).zip(&memory.coins) {
            let code = *code as u32;
            *action = if self.logged && code < 4 { u32::from(*coin > 0.5) } else { self.rule >> (code - 2) & 1 };
        }
    }
    fn is_deterministic(&self) -> bool {
        true
    }
}

/// The best of 2¹⁴ rules, each followed by the kernel, against the optimum of the process of counterfactual states.
fn suprema(logged: bool) -> Found {
    let mut worst = Worst::default();
    for world in [world(0), fair_noise(random_world(2, Stream::new(220)))] {
        let value = |rule: u32, decisions: usize| {
            let coins = if logged { 2 } else { 1 };
            let all = world.census(decisions, 1, coins).expect("a small world");
            evaluate(&world, &OfNoise { world: &world, rule, logged }, &all, DISCOUNT).value.mean
        };
        // What the coin earns does not count.
        let before = if logged { value(0, 1) } else { 0.0 };
        let strict = (0..1u32 << 14).map(|rule| value(rule, 3) - before).fold(f64::MIN, f64::max);
        let fair = best_fair(&world, logged);
        worst.equal(strict, fair, ROUNDED, || {
            format!("{}; T = 3, γ = ¾: best strictly fair {strict:.6}, best fair {fair:.6}", told(&world))
        });
    }
    worst.found()
}

fn fair_noise(world: FiniteWorld) -> FiniteWorld {
    super::listed::changed(&world, |tables| (tables.noise, tables.reward_noise) = (vec![1, 1], vec![(0.0, 1)]))
}

/// The best fair value of three decisions; if `logged`, of the last two of them, seen from t = 1.
fn best_fair(world: &FiniteWorld, logged: bool) -> f64 {
    let mdp = FiniteMdp::augmented(world);
    let over = |q: &[f64], of: fn(f64, f64) -> f64| -> Vec<f64> { q.chunks_exact(2).map(|q| of(q[0], q[1])).collect() };
    if !logged {
        return mdp.initial_value(&over(&mdp.value_iteration(DISCOUNT, 3), f64::max));
    }
    let then = over(&mdp.value_iteration(DISCOUNT, 2), f64::max);
    let (with, alone) = (mdp.action_values(&then, DISCOUNT), mdp.action_values(&vec![0.0; mdp.states()], DISCOUNT));
    let later: Vec<f64> = with.iter().zip(&alone).map(|(with, alone)| with - alone).collect();
    mdp.initial_value(&over(&later, |a, b| (a + b) / 2.0))
}

fn any_rule(i: u64) -> AnyRule {
    AnyRule { actions: 2, certain: true, stream: Stream::new(221).index(i) }
}

fn unmoved(replayed: bool) -> Found {
    let mut worst = Worst::default();
    for i in 0..10 {
        let (world, rule) = (world(i), any_rule(i));
        let without_reward_noise = super::listed::changed(&world, |tables| tables.reward_noise = vec![(0.0, 1)]);
        let all = without_reward_noise.census(4, 1, 1).expect("a small world");
        let fair = Reads::Worlds.deployed(&world, rule);
        let replay = Replay::new(world.clone(), rule);
        let agent: &dyn Agent = if replayed { &replay } else { &*fair };
        let found = strict_unfairness(&world, agent, &all, Alternatives::Every).expect("eight pasts");
        worst.equal(found.metric.mean, 0.0, 0.0, || {
            format!("{}: levels {:?}, past {:?}: {}", told(&world), found.levels, found.past, found.metric.mean)
        });
    }
    worst.found()
}

/// A world whose mechanism is believed to drift otherwise.
struct Scaled<M>(M, f64);

impl<M: Mechanism> Mechanism for Scaled<M> {
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

fn replayed(scale: f64) -> Found {
    let mut worst = Worst::default();
    let mut case = |world: &dyn World, all: &Exogenous, rule: &dyn Agent, replay: &dyn Agent, name: &str| {
        let [rule, replay] = [rule, replay].map(|agent| evaluate(world, agent, all, DISCOUNT).value.mean);
        worst.equal(rule, replay, ROUNDED, || format!("{name}: the rule earns {rule:.6}, its replay {replay:.6}"));
    };
    for i in 0..10 {
        let (world, rule) = (world(i), any_rule(i));
        let all = world.census(3, 1, 1).expect("a small world");
        let replay = Replay::new(Scaled(world.clone(), scale), rule);
        case(&world, &all, &*Reads::Worlds.deployed(&world, rule), &replay, &told(&world));
    }
    let (world, rule) = (ThreeLevels::new(1.0), AnyRule { actions: 3, ..any_rule(99) });
    // Rules that are drawn anew at each point would part at rounding: this one is a threshold.
    let policy = super::listed::greedy_rule(6, 3, rule.stream);
    let sequential = Deployed::new(Sequential::new(world.clone(), vec![0.5, 0.3, 0.2]), policy.clone());
    let all = Exogenous::draw(&world, 300, 6, Stream::new(222));
    case(&world, &all, &sequential, &Replay::new(Scaled(world.clone(), scale), policy), "three levels at δ = 1");
    worst.found()
}
