//! What counterfactual fairness is and which rules have it: `thm:cf`, `def:cf_policy`, `eq:cf_metric`.

use super::listed::{AnyRule, Reads, changed, told, world};
use super::{Claim, Found, Limit, Quotation, Run, Worst, counterfactual_fairness};
use crate::kernel::evaluate::evaluate;
use crate::kernel::learn::{Agent, AgentMemory, Deployed, Policy, UniformlyRandom};
use crate::kernel::model::worlds::{World, draw_action};
use crate::kernel::model::{Exogenous, Mechanism, abduct, simulate};
use crate::kernel::numeric::Stream;
use crate::kernel::people::Person;
use crate::kernel::preprocess::{Preprocessor, Sequential, StateOnly, Unaware};
use crate::theory::FiniteWorld;
use std::collections::BTreeMap;

const LISTED: &str = "finite worlds: every level, noise and past action is listed";
const UNIQUE: &str = "asm:unique, by additive noise with known means";

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        label: "thm:cf",
        says: "a rule on the states of all worlds is counterfactually fair, whatever the rule",
        assumes: &[UNIQUE, LISTED, "40 worlds, 5 rules on each, three decisions"],
        limit: Limit::Equal,
        check: |run| asked(run.pick(Reads::Worlds, Reads::State), true),
        control: "the rule reads the observed state alone (Unaware)",
        runs: "kernel::preprocess::Sequential, kernel::learn::Deployed",
        source: Quotation::at(290, r"$\pi_t$ satisfies CF if it admits the following functional form that"),
        proved_by: &["reading_all_worlds_is_fair", "reading_algorithm1_is_fair"],
        ..Claim::HEADLINE
    },
    Claim {
        label: "def:cf_policy",
        says: "a rule that randomises on the states of all worlds has equal probabilities at h and every counterfactual of h",
        assumes: &[UNIQUE, LISTED, "40 worlds, 5 rules on each, three decisions"],
        limit: Limit::Equal,
        check: |run| asked(run.pick(Reads::Worlds, Reads::StateAndLevel), false),
        control: "the rule reads the state and the level (Full)",
        runs: "kernel::preprocess::Sequential, kernel::learn::Deployed",
        source: Quotation::at(268, r"CF requires that $\pi_t$ must assign the same action $a$"),
        proved_by: &["fair_in_law_iff_reads_all_worlds"],
        ..Claim::LEMMA
    },
    Claim {
        label: "M-TXT4",
        says: "no fair rule lies outside thm:cf's class: of all 65 536 rules of a second decision just the functions of what alg:cf:1 returns are fair",
        assumes: &[UNIQUE, LISTED, "two levels, noises and actions; 6 worlds"],
        limit: Limit::Equal,
        check: |run| all_rules(run == Run::Stated),
        control: "functions of the observed states and actions instead",
        runs: "kernel::preprocess::Sequential",
        source: Quotation::at(473, r"Do there exist CF policies outside this class that can achieve higher value?"),
        proved_by: &["fair_iff_reads_all_worlds", "every_fair_rule_reads_algorithm1"],
        ..Claim::LEMMA
    },
    Claim {
        label: "asm:unique",
        says: "abduction returns the noise that made the history, of states and rewards, at t = 1 too",
        assumes: &["additive noise with known means", "everybody of 20 finite worlds, two decisions"],
        limit: Limit::Equal,
        check: |run| abducted(run.pick(0, 1)),
        control: "the level is taken for the next one",
        runs: "kernel::model::abduct",
        source: Quotation::at(253, r"are deterministic functions of $H_t$"),
        proved_by: &["noise_is_a_function_of_the_history", "every_history_has_its_noise"],
        ..Claim::LEMMA
    },
    Claim {
        label: "eq:cf_metric",
        says: "the metric is the share of decisions that differ in a world of another level with the same noise and the factual past actions",
        assumes: &["everybody of 20 finite worlds, four decisions", "rules that read the state, or state and level"],
        limit: Limit::Equal,
        check: |run| by_definition(run == Run::Stated),
        control: "in each world the past actions are the rule's own there",
        runs: "kernel::evaluate::evaluate",
        source: Quotation::at(411, r"\frac{1}{NT} \sum_{i=1}^N \sum_{t=1}^{T} \mathbf{I}"),
        ..Claim::LEMMA
    },
    Claim {
        label: "X15",
        says: "a policy that draws its actions without looking has CF metric 0 when worlds share the draw",
        assumes: &["everybody of 10 finite worlds, two decisions"],
        limit: Limit::Equal,
        check: |run| random_policy(run.pick(0.0, 0.5)),
        control: "each world has draws of its own",
        runs: "kernel::evaluate::evaluate",
        source: Quotation::at(407, r"\textit{Random} policies naturally satisfy CF"),
        ..Claim::LEMMA
    },
];

/// A few rules in many worlds, asked everywhere.
fn asked(reads: Reads, certain: bool) -> Found {
    let mut worst = Worst::default();
    for i in 0..40 {
        let world = world(i);
        for k in 0..5 {
            let rule = AnyRule { actions: 2, certain, stream: Stream::new(211).index(i).index(k) };
            let found = counterfactual_fairness(&world, &*reads.deployed(&world, rule), 3).found;
            worst.equal(found.left, 0.0, found.right, || found.text);
        }
    }
    worst.found()
}

/// The second decision of a world with two levels, noises and actions has 16 histories, hence 2¹⁶ rules. How many of them are fair and no function of
/// what is read, or the other way round? Fair: equal at histories with the same noise and action.
fn all_rules(worlds: bool) -> Found {
    let mut worst = Worst::default();
    for i in (0..12).filter(|i| i % 2 == 0) {
        let world = world(i);
        let reader = Sequential::new(world.clone(), world.level_probabilities().to_vec());
        let listed: Vec<[usize; 4]> = (0..16).map(|k| [8, 4, 2, 1].map(|bit| usize::from(k & bit > 0))).collect();
        let read = listed.iter().map(|&[z, u, a, u2]| {
            let first = world.initial_mean(z)[0] as usize + u;
            let second = world.next_point(z, first, a) + u2;
            if worlds {
                views(&reader, z, first, a, second)
            } else {
                views(&Unaware { state_dim: 1 }, z, first, a, second)
            }
        });
        let read: Vec<Vec<f64>> = read.collect();
        let pairs: Vec<(usize, usize)> = (0..16).flat_map(|k| (0..k).map(move |l| (k, l))).collect();
        let of = |same: &dyn Fn(usize, usize) -> bool| pairs.iter().copied().filter(|&(k, l)| same(k, l)).collect();
        let reads_alike: Vec<(usize, usize)> = of(&|k, l| read[k] == read[l]);
        let counterfactual: Vec<(usize, usize)> = of(&|k, l| listed[k][1..] == listed[l][1..]);
        let constant = |rule: u32, pairs: &[(usize, usize)]| pairs.iter().all(|&(k, l)| rule >> k & 1 == rule >> l & 1);
        let apart = (0..1u32 << 16).filter(|&rule| constant(rule, &reads_alike) != constant(rule, &counterfactual));
        let apart = apart.count() as f64;
        worst.equal(apart, 0.0, 0.0, || format!("{}: {apart} rules are one and not the other", told(&world)));
    }
    worst.found()
}

/// What a policy reads before and after its first action, and that action.
fn views<P: Preprocessor>(reader: &P, level: usize, first: usize, action: usize, second: usize) -> Vec<f64> {
    let mut memory = reader.begin(&[level as u32], &[first as f64]);
    let before = memory.view.clone();
    reader.advance(&mut memory, &[action as u32], &[second as f64]);
    [before, vec![action as f64], memory.view].concat()
}

/// The noise of everybody against what abduction makes of their history, the level told as the one `later`.
fn abducted(later: u32) -> Found {
    let mut worst = Worst::default();
    for i in 0..20 {
        let world = world(i);
        let all = world.census(2, 4, 1).expect("a small world");
        let (panel, levels) = (simulate(&world, &all), world.levels() as u32);
        for (i, person) in panel.iter().enumerate() {
            let noise = abduct(&world, Person { level: (person.level + later) % levels, ..person });
            let states = noise.states.iter().enumerate().map(|(t, u)| (*u, all.states(t)[i]));
            let rewards = noise.rewards.iter().enumerate().map(|(t, u)| (*u, all.rewards(t)[i]));
            for (found, drawn) in states.chain(rewards) {
                // Rewards are eighths: nothing is rounded.
                worst.equal(found, drawn, 0.0, || format!("person {} of {}: {found} for {drawn}", i + 1, told(&world)));
            }
        }
    }
    worst.found()
}

/// The metric of rules on what is observed, by the kernel and by walking through the tables.
fn by_definition(factual: bool) -> Found {
    let mut worst = Worst::default();
    for i in 0..20 {
        // Reward noise, which these rules do not see, would only repeat everybody.
        let world = changed(&world(i), |tables| tables.reward_noise = vec![(0.0, 1)]);
        let all = world.census(4, 1, 1).expect("a small world");
        for reads in [Reads::State, Reads::StateAndLevel] {
            let rule = AnyRule { actions: 2, certain: true, stream: Stream::new(212).index(i) };
            let decide = |level: usize, state: usize| {
                let row = [state as f64, level as f64];
                let row = if reads == Reads::State { &row[..1] } else { &row };
                let mut odds = [0.0; 2];
                Policy::<StateOnly>::probabilities(&rule, row, row.len(), &mut odds);
                usize::from(odds[1] == 1.0)
            };
            let metric = evaluate(&world, &*reads.deployed(&world, rule), &all, 0.9).unfairness.metric.mean;
            let listed = listed_metric(&world, &all, &decide, factual);
            worst.equal(metric, listed, 1e-12, || {
                format!("{}; {reads:?}, rule {:?}: metric {metric}, listed {listed}", told(&world), rule.stream)
            });
        }
    }
    worst.found()
}

/// `eq:cf_metric` by its definition; if not `factual`, each world follows the rule's own actions there.
fn listed_metric(world: &FiniteWorld, all: &Exogenous, decide: &dyn Fn(usize, usize) -> usize, factual: bool) -> f64 {
    let mut differ: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (i, &z) in all.levels().iter().enumerate() {
        let noise = |t: usize| all.states(t)[i] as usize;
        let mut states: Vec<usize> =
            (0..world.levels()).map(|k| world.initial_mean(k)[0] as usize + noise(0)).collect();
        for t in 0..all.horizon() {
            let chosen: Vec<usize> = states.iter().enumerate().map(|(k, s)| decide(k, *s)).collect();
            for (k, l) in (0..chosen.len()).flat_map(|k| (0..k).map(move |l| (k, l))) {
                *differ.entry((k, l)).or_default() += usize::from(chosen[k] != chosen[l]);
            }
            for (k, s) in states.iter_mut().enumerate() {
                *s = world.next_point(k, *s, chosen[if factual { z as usize } else { k }]) + noise(t + 1);
            }
        }
    }
    differ.values().max().copied().unwrap_or(0) as f64 / (all.people() * all.horizon()) as f64
}

fn random_policy(apart: f64) -> Found {
    let mut worst = Worst::default();
    for i in 0..10 {
        let world = world(i);
        let all = world.census(2, 4, 1).expect("a small world");
        let agent = Apart(Deployed::new(Unaware { state_dim: 1 }, UniformlyRandom { actions: 2 }), apart);
        let metric = evaluate(&world, &agent, &all, 0.9).unfairness.metric.mean;
        worst.equal(metric, 0.0, 0.0, || format!("draws of level z moved by {apart}z: metric {metric}"));
    }
    worst.found()
}

/// An agent whose uniform draws are moved by this number times the level, around the circle.
struct Apart<A>(A, f64);

impl<A: Agent> Agent for Apart<A> {
    fn actions(&self) -> usize {
        self.0.actions()
    }
    fn begin(&self, levels: &[u32], states: &[f64], coins: &[f64]) -> AgentMemory {
        self.0.begin(levels, states, coins)
    }
    fn advance(&self, memory: &mut AgentMemory, actions: &[u32], states: &[f64]) {
        self.0.advance(memory, actions, states);
    }
    fn probabilities(&self, memory: &mut AgentMemory, out: &mut [f64]) {
        self.0.probabilities(memory, out);
    }
    fn act(&self, memory: &mut AgentMemory, uniforms: &[f64], out: &mut [u32]) {
        let mut odds = vec![0.0; uniforms.len() * self.actions()];
        self.0.probabilities(memory, &mut odds);
        let people = odds.chunks_exact(self.actions()).zip(uniforms).zip(&memory.parts[0].levels);
        for (action, ((odds, u), &z)) in out.iter_mut().zip(people) {
            *action = draw_action(odds, (u + self.1 * f64::from(z)).fract());
        }
    }
    fn is_deterministic(&self) -> bool {
        self.0.is_deterministic()
    }
}
