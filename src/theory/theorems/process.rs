//! The process that policies act in: stationarity, weights, the Markov property of what is preprocessed, and the paper's own worlds.

use super::listed::{AnyRule, Moved, Reads, changed, told, world};
use super::{Claim, Found, Limit, Quotation, Run, Worst};
use crate::kernel::evaluate::{Reading, evaluate, follow_readings};
use crate::kernel::learn::features::OneHot;
use crate::kernel::learn::{Agent, Deployed, Greedy, LinearQ, Policy};
use crate::kernel::model::worlds::Linear;
use crate::kernel::model::{Exogenous, Mechanism, World, simulate};
use crate::kernel::numeric::Stream;
use crate::kernel::preprocess::{Augmented, Sequential, batch};
use crate::theory::{FiniteMdp, FiniteWorld};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        label: "thm:sr_policy",
        says: "one stationary rule on counterfactual states earns what the best of all fair policies earns, up to γᵀ(max V* − min V*)",
        assumes: &[
            "asm:unique, by additive noise",
            "the structural equations do not change over time",
            "all histories of T = 8 decisions in 12 finite worlds, γ = 0.3",
        ],
        limit: Limit::AtMost,
        check: |run| stationary(run == Run::Stated),
        control: "rewards weighted otherwise than by P(Z)",
        runs: "kernel::evaluate::evaluate, kernel::preprocess::Sequential, theory::FiniteMdp",
        source: Quotation::at(305, r"Under a stationary CMDP, there exists some $\pi^{opt} \in \text{SCF}$ such that"),
        proved_by: &["supremum_over_fair_rules", "stationary_optimum", "additive_stationary_optimum"],
        ..Claim::HEADLINE
    },
    Claim {
        label: "C12",
        says: "for a fair rule, observed rewards and P(Z)-weighted counterfactual rewards have the same value",
        assumes: &[
            "asm:unique, by additive noise",
            "any randomised rule; everybody of 12 finite worlds, two decisions",
        ],
        limit: Limit::Equal,
        check: |run| two_values(run == Run::Stated),
        control: "all levels weighted alike",
        runs: "kernel::evaluate::evaluate, theory::FiniteMdp",
        source: Quotation::at(645, r"If $p_k$ match the distribution of $P(Z=z_k)$ in the target population"),
        proved_by: &["value_is_augmented_value"],
        ..Claim::LEMMA
    },
    Claim {
        label: "C11",
        says: "under a fair policy noise and actions are independent of Z: the same noise gets the same actions at all levels",
        assumes: &["asm:unique, by additive noise", "everybody of 20 finite worlds, four decisions"],
        limit: Limit::Equal,
        check: |run| same_actions(run.pick(Reads::Worlds, Reads::State)),
        control: "the rule reads the observed state alone (Unaware)",
        runs: "kernel::evaluate::follow_readings",
        source: Quotation::at(642, r"\mid \mathbb{S}_1=s,Z = z_k \right] p_k P(\mathbb{S}_1=s) ds"),
        ..Claim::LEMMA
    },
    Claim {
        label: "C2",
        says: "given counterfactual states and action, the next counterfactual states do not depend on the past, though behaviour depends on Z",
        assumes: &[
            "asm:unmeasured_confounders: Uₜ₊₁ is independent of the past",
            "known means",
            "everybody of 12 finite worlds",
        ],
        limit: Limit::Equal,
        check: |run| markov(0.0, run == Run::Control),
        control: "U₃ repeats U₂",
        runs: "kernel::preprocess::{Sequential, batch}",
        source: Quotation::at(
            594,
            r"\mathbb{S}_{t+1} \ind \{\mathbb{S}_j, A_j\}_{1\leq j\leq t-1} \mid \mathbb{S}_t, A_t",
        ),
        ..Claim::LEMMA
    },
    Claim {
        label: "M-TXT1",
        says: "preprocessed tuples form a decision process where the means are the true ones",
        assumes: &["asm:unmeasured_confounders", "everybody of 12 finite worlds"],
        limit: Limit::Equal,
        check: |run| markov(run.pick(0.0, 0.5), false),
        control: "estimated means, off by z/2 at level z",
        runs: "kernel::preprocess::{Sequential, batch}",
        source: Quotation::at(326, r"these preprocessed experience tuples naturally form a MDP"),
        proved_by: &["true_means_keep_these_states_markov"],
        ..Claim::LEMMA
    },
    Claim {
        label: "M-TXT2",
        says: "observed rewards regressed on (S̃, A) estimate the level-weighted reward where A does not depend on Z given S̃",
        assumes: &["known means", "everybody of 12 finite worlds, two decisions; behaviour by a coin"],
        limit: Limit::Equal,
        check: |run| observed_rewards(run == Run::Stated),
        control: "behaviour that depends on Z, as in supplement F.2",
        runs: "kernel::preprocess::{Sequential, batch}",
        source: Quotation::at(
            327,
            r"One can use preprocessed $\hat{s}_{it}$ and observed $r_{it}$ to learn a CF policy",
        ),
        ..Claim::LEMMA
    },
    Claim {
        label: "X13",
        says: "at δ = 0 the counterfactual states of all levels are equal in the linear world",
        assumes: &["supplement F.2", "300 people, ten decisions"],
        limit: Limit::Equal,
        check: |run| levels_apart(run.pick(0.0, 0.05)),
        control: "δ = 0.05",
        runs: "kernel::preprocess::{Sequential, batch}, kernel::model::worlds::Linear",
        source: Quotation::at(
            910,
            r"the state variables $\{S_t\}_{t\geq1}$ are independent of sensitive attribute $Z$",
        ),
        ..Claim::LEMMA
    },
    Claim {
        label: "F-7",
        says: "the linear world is stable for δ below 7/3: max|∂μ/∂s| = 0.65 + 0.15δ",
        assumes: &["supplement F.2", "δ = 0, 1/3, 2/3, …, 7/3"],
        limit: Limit::AtMost,
        check: |run| gain(1.0, run.pick(7, 8)),
        control: "δ = 8/3",
        runs: "kernel::model::worlds::Linear",
        source: Quotation::at(907, r"0.3 \delta S_{t-1}(Z-0.5)"),
        ..Claim::LEMMA
    },
    Claim {
        label: "C10",
        says: "rewards that grow linearly have a value where γ·max|∂μ/∂s| < 1: in the linear world at γ = 0.9 up to δ = 3",
        assumes: &["in the place of bounded rewards", "δ = 0, 1/3, 2/3, …, 3"],
        limit: Limit::AtMost,
        check: |run| gain(0.9, run.pick(9, 10)),
        control: "δ = 10/3",
        runs: "kernel::model::worlds::Linear",
        source: Quotation::at(638, r"By applying Lemma 1 of"),
        ..Claim::LEMMA
    },
];

/// Rounding of means over some thousand people of numbers of size one.
const ROUNDED: f64 = 1e-12;

/// Actions by the first best of these values at the states of the augmented process.
fn greedy_at(mdp: &FiniteMdp, values: &[f64]) -> Greedy<LinearQ<Augmented, OneHot>> {
    let (states, actions) = (mdp.states(), mdp.actions());
    let by_action = (0..actions * states).map(|k| values[k % states * actions + k / states]).collect();
    Greedy(LinearQ::new(OneHot::new(mdp.points().to_vec()).expect("points of one length"), actions, by_action))
}

/// The loss of the stationary rule, followed by the kernel, against every fair policy of T decisions.
fn stationary(right_weights: bool) -> Found {
    let (γ, horizon) = (0.3, 8);
    let mut worst = Worst::default();
    for i in 0..12 {
        // Without reward noise, which no policy here can see.
        let world = changed(&world(i), |tables| tables.reward_noise = vec![(0.0, 1)]);
        let taken_for = if right_weights {
            world.clone()
        } else {
            changed(&world, |tables| {
                tables.levels.iter_mut().enumerate().for_each(|(z, n)| *n = if z == 0 { 20 } else { 1 })
            })
        };
        let mdp = FiniteMdp::augmented(&taken_for);
        let rule = greedy_at(&mdp, &mdp.optimum(γ));
        let agent = Deployed::new(Sequential::new(world.clone(), world.level_probabilities().to_vec()), rule);
        let all = world.census(horizon, 1, 1).expect("a small world");
        let earned = evaluate(&world, &agent, &all, γ).value.mean;
        let any: f64 = world.noise_law().map(|(u, p)| p * best_from(&world, &first(&world, u), horizon, γ)).sum();
        // For ever the rule loses to nobody; what a policy of T decisions can gain is to end in the worst state and not in the best.
        let truth = FiniteMdp::augmented(&world);
        let best: Vec<f64> = truth.optimum(γ).chunks_exact(2).map(|q| q[0].max(q[1])).collect();
        let (low, high) = best.iter().fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(*v), high.max(*v)));
        let tail = γ.powi(horizon as i32) * (high - low);
        worst.at_most(any - earned, tail, || {
            format!(
                "{}; γ = {γ}, T = {horizon}: best over all histories {any:.9}, the stationary rule {earned:.9}",
                told(&world)
            )
        });
    }
    worst.found()
}

fn first(world: &FiniteWorld, noise: usize) -> Vec<usize> {
    (0..world.levels()).map(|k| world.initial_mean(k)[0] as usize + noise).collect()
}

/// The most a fair policy can still earn: every noise and every action to come is listed, so that a rule may depend on all of its past.
fn best_from(world: &FiniteWorld, states: &[usize], left: usize, discount: f64) -> f64 {
    if left == 0 {
        return 0.0;
    }
    let worth = |a: usize| {
        let rewards = states.iter().zip(world.level_probabilities()).enumerate();
        let now: f64 = rewards.map(|(k, (s, p))| p * world.mean_reward(k, *s, a)).sum();
        let later = world.noise_law().map(|(u, p)| {
            let next: Vec<usize> = states.iter().enumerate().map(|(k, s)| world.next_point(k, *s, a) + u).collect();
            p * best_from(world, &next, left - 1, discount)
        });
        now + discount * later.sum::<f64>()
    };
    (0..world.actions()).map(worth).fold(f64::MIN, f64::max)
}

/// J by following people and counting the rewards they receive, against the process of counterfactual states.
fn two_values(right_weights: bool) -> Found {
    let (γ, horizon) = (0.8, 2);
    let mut worst = Worst::default();
    for i in 0..12 {
        let world = world(i);
        let rule = AnyRule { actions: 2, certain: false, stream: Stream::new(231).index(i) };
        let all = world.census(horizon, 8, 1).expect("a small world");
        let observed = evaluate(&world, &*Reads::Worlds.deployed(&world, rule), &all, γ).value.mean;
        let weighted = if right_weights { world.clone() } else { changed(&world, |tables| tables.levels.fill(1)) };
        let mdp = FiniteMdp::augmented(&weighted);
        let mut odds = vec![0.0; mdp.states() * 2];
        Policy::<Augmented>::probabilities(&rule, &mdp.points().concat(), world.levels(), &mut odds);
        let augmented = mdp.initial_value(&mdp.values_over(&odds, γ, horizon));
        worst.equal(observed, augmented, ROUNDED, || {
            format!("{}; γ = {γ}, T = {horizon}: observed {observed:.9}, augmented {augmented:.9}", told(&world))
        });
    }
    worst.found()
}

/// The decisions for the same noise at each level, compared with those at level 0.
fn same_actions(reads: Reads) -> Found {
    let mut worst = Worst::default();
    for i in 0..20 {
        let world = changed(&world(i), |tables| tables.reward_noise = vec![(0.0, 1)]);
        let agent = reads.deployed(&world, AnyRule { actions: 2, certain: true, stream: Stream::new(232).index(i) });
        let all = world.census(4, 1, 1).expect("a small world");
        let (_, taken) = decisions(&world, &*agent, &all, 0.9);
        let differ = taken[1..].iter().flat_map(|of| of.iter().zip(&taken[0])).flat_map(|(a, b)| a.iter().zip(b));
        let differ = differ.filter(|(a, b)| a != b).count() as f64;
        worst.equal(differ, 0.0, 0.0, || format!("{}: {differ} decisions differ between levels", told(&world)));
    }
    worst.found()
}

/// J − Ṽ, and what an agent decides for the same people at each level: by level, time and person.
pub(super) fn decisions(
    world: &dyn World,
    agent: &dyn Agent,
    draws: &Exogenous,
    discount: f64,
) -> (f64, Vec<Vec<Vec<u32>>>) {
    let taken = Mutex::new(vec![vec![vec![0; draws.people()]; draws.horizon()]; world.levels()]);
    let (values, _) = follow_readings(world, agent, draws, discount, |first, z, reading: &Reading<'_>, _| {
        let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken[z][reading.t][first..first + reading.actions.len()].copy_from_slice(reading.actions);
    });
    (values.gained.mean, taken.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// P(s̃₃ | s̃₂, a₂, s̃₁, a₁) against P(s̃₃ | s̃₂, a₂), over everybody there is; the means are off by `off` times the level.
fn markov(off: f64, confounded: bool) -> Found {
    let mut worst = Worst::default();
    for i in 0..12 {
        let world = changed(&world(i), |tables| tables.reward_noise = vec![(0.0, 1)]);
        let mut all = world.census(2, 4, 1).expect("a small world");
        if confounded {
            all = repeating(&all);
        }
        let means = Moved::by_level(world.clone(), off);
        let made = batch(&Sequential::new(means, world.level_probabilities().to_vec()), &simulate(&world, &all))
            .expect("finite states");
        let seen = |row: usize| made.views()[row * made.width()..(row + 1) * made.width()].iter().map(|x| x.to_bits());
        type Key = Vec<u64>;
        let mut counts: BTreeMap<(Key, Key, Key), f64> = BTreeMap::new();
        for person in 0..made.people() {
            let (rows, acts) = (made.views_of(person), made.decisions_of(person));
            let action = |t: usize| u64::from(made.actions()[acts.start + t]);
            let now: Key = seen(rows.start + 1).chain([action(1)]).collect();
            let before: Key = seen(rows.start).chain([action(0)]).collect();
            *counts.entry((now, before, seen(rows.start + 2).collect())).or_default() += 1.0;
        }
        let total = |keep: &dyn Fn(&(Key, Key, Key)) -> bool| -> f64 {
            counts.iter().filter(|(k, _)| keep(k)).map(|(_, n)| n).sum()
        };
        for (now, before, next) in counts.keys() {
            let long =
                total(&|k| (&k.0, &k.1, &k.2) == (now, before, next)) / total(&|k| (&k.0, &k.1) == (now, before));
            let short = total(&|k| (&k.0, &k.2) == (now, next)) / total(&|k| &k.0 == now);
            worst.equal(long, short, ROUNDED, || {
                format!("{}; P(s̃₃ | s̃₂, a₂) = {short:.6}, given s̃₁ and a₁ as well {long:.6}", told(&world))
            });
        }
    }
    worst.found()
}

/// The same people, with the noise of the second state in the third as well.
fn repeating(all: &Exogenous) -> Exogenous {
    let times = |of: &dyn Fn(usize) -> Vec<f64>, count: usize| (0..count).flat_map(of).collect::<Vec<f64>>();
    Exogenous::given(
        all.levels().to_vec(),
        all.coins().to_vec(),
        times(&|t| all.states(t.min(1)).to_vec(), all.horizon() + 1),
        times(&|t| all.rewards(t).to_vec(), all.horizon()),
        times(&|t| all.uniforms(t).to_vec(), all.horizon()),
        1,
    )
}

/// Mean observed and mean preprocessed reward at each (s̃, a), over everybody there is.
fn observed_rewards(blind: bool) -> Found {
    let mut worst = Worst::default();
    for i in 0..12 {
        let world = if blind { changed(&world(i), |tables| tables.behaviour.fill(1)) } else { world(i) };
        let panel = simulate(&world, &world.census(2, 4, 1).expect("a small world"));
        let made = batch(&Sequential::new(world.clone(), world.level_probabilities().to_vec()), &panel)
            .expect("finite states");
        let mut sums: BTreeMap<Vec<u64>, [f64; 3]> = BTreeMap::new();
        for person in 0..panel.people() {
            for (row, decision) in made.views_of(person).zip(made.decisions_of(person)) {
                let view = made.views()[row * made.width()..(row + 1) * made.width()].iter().map(|x| x.to_bits());
                let sum = sums.entry(view.chain([u64::from(panel.actions()[decision])]).collect()).or_default();
                let more = [panel.rewards()[decision], made.rewards()[decision], 1.0];
                sum.iter_mut().zip(more).for_each(|(sum, x)| *sum += x);
            }
        }
        for [observed, weighted, people] in sums.into_values() {
            let (observed, weighted) = (observed / people, weighted / people);
            worst.equal(observed, weighted, ROUNDED, || {
                format!("{}: mean observed reward {observed:.6}, level-weighted {weighted:.6}", told(&world))
            });
        }
    }
    worst.found()
}

/// ŝ⁰ − ŝ¹ along 300 people of the linear world.
fn levels_apart(strength: f64) -> Found {
    let world = Linear::new(strength);
    let panel = simulate(&world, &Exogenous::draw(&world, 300, 10, Stream::new(233)));
    let made = batch(&Sequential::new(world, vec![0.5, 0.5]), &panel).expect("finite states");
    let mut worst = Worst::default();
    for (row, view) in made.views().chunks_exact(2).enumerate() {
        // Ten steps of a contraction on states below ten.
        worst.equal(view[0], view[1], 1e-13, || format!("δ = {strength}, row {row}: {view:?}"));
    }
    worst.found()
}

/// discount·max|∂μ/∂s| over levels and actions of the linear world against 1, at δ = k/3 for k up to `last`.
fn gain(discount: f64, last: u32) -> Found {
    let mut worst = Worst::default();
    for δ in (0..=last).map(|k| f64::from(k) / 3.0) {
        let world = Linear::new(δ);
        let at = |z: usize, a: u32, s: f64| {
            let (mut next, mut reward) = ([0.0], [0.0]);
            world.mean(z, &[s], &[a], &mut next, &mut reward);
            next[0]
        };
        for (z, a) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let slope = (at(z, a, 1.0) - at(z, a, 0.0)).abs();
            worst.at_most(discount * slope, 1.0, || format!("δ = {δ:.4}: |∂μ/∂s| = {slope:.4} at z = {z}, a = {a}"));
        }
    }
    worst.found()
}
