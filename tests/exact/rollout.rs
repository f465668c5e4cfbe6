//! Value, CF metric, total variation and action rates of a policy followed in a known world.

use crate::fixture::*;
use crate::oracle;
use crate::oracle::{Exact, explore};
use counterfair::kernel::evaluate::{Evaluation, evaluate};
use counterfair::kernel::learn::{Agent, AgentMemory, Deployed, UniformlyRandom};
use counterfair::kernel::model::{Exogenous, World};
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::preprocess::{Full, Sequential, Unaware};

fn full_agent() -> impl Agent {
    Deployed::new(Full { state_dim: 1 }, Rule { rule: |x: &[usize]| full_rule(x[0], x[1]), deterministic: false })
}

#[track_caller]
fn assert_exact(found: &Evaluation, exact: &Exact, people: usize) {
    assert_same(found.value.mean, exact.value);
    let variance = exact.square - exact.value * exact.value;
    assert_same(found.value.standard_error, (variance / (people as f64 - 1.0)).sqrt());
    assert_eq!(found.value.count, people);
    for ((pair, estimate), (expected_pair, expected)) in found.unfairness.pairs.iter().zip(&exact.differ) {
        assert_eq!(pair, expected_pair);
        assert_same(estimate.mean, *expected);
    }
    assert_same(found.unfairness.metric.mean, exact.metric());
    assert_same(found.unfairness.total_variation.mean, exact.total_variation());
    let worst = exact.differ.iter().find(|(pair, _)| *pair == found.unfairness.pair);
    assert_same(worst.map_or(0.0, |(_, x)| *x), exact.metric());
    assert_eq!(found.rates.horizon(), exact.rates.len());
    for z in 0..LEVELS {
        for a in 0..ACTIONS {
            let mut mean = 0.0;
            for (t, rates) in exact.rates.iter().enumerate() {
                assert_same(found.rates.at(t, z, a).unwrap().mean, rates[z][a]);
                mean += rates[z][a] / exact.rates.len() as f64;
            }
            assert_same(found.rates.overall(z, a).unwrap().mean, mean);
        }
    }
}

#[test]
fn a_random_policy_on_state_and_level_has_its_enumerated_value_unfairness_and_rates() {
    let world = noisy();
    let census = world.census(2, 4, 1).unwrap();
    let exact = explore(&world, &oracle::full, &oracle::full, 2, DISCOUNT);
    assert!(
        exact.metric() > exact.total_variation() + 0.01,
        "the coupling by inverse distribution functions is not maximal here"
    );
    assert_exact(&evaluate(&world, &full_agent(), &census, DISCOUNT), &exact, census.people());
}

#[test]
fn three_decisions_of_a_deterministic_unaware_policy_are_enumerated_exactly() {
    let world = plain();
    let census = world.census(3, 1, 1).unwrap();
    let agent =
        Deployed::new(Unaware { state_dim: 1 }, Rule { rule: |x: &[usize]| unaware_choice(x[0]), deterministic: true });
    let exact = explore(&world, &oracle::unaware, &oracle::unaware, 3, DISCOUNT);
    let found = evaluate(&world, &agent, &census, DISCOUNT);
    assert_exact(&found, &exact, census.people());
    assert_eq!(found.unfairness.metric, found.unfairness.total_variation);
    assert!(found.unfairness.metric.mean > 0.1);
}

#[test]
fn a_random_policy_on_counterfactual_states_is_fair_and_has_its_enumerated_value() {
    let world = noisy();
    let census = world.census(2, 4, 1).unwrap();
    let rule = |z: usize, states: &[usize], actions: &[usize]| {
        fair_rule(&oracle::counterfactual_states(&noisy(), z, states, actions))
    };
    let weights = world.level_probabilities().to_vec();
    let agent = Deployed::new(Sequential::new(&world, weights), Rule { rule: fair_rule, deterministic: false });
    let exact = explore(&world, &rule, &rule, 2, DISCOUNT);
    let found = evaluate(&world, &agent, &census, DISCOUNT);
    assert_exact(&found, &exact, census.people());
    assert_eq!((found.unfairness.metric.mean, found.unfairness.total_variation.mean), (0.0, 0.0));
}

/// An agent whose worlds do not share the uniform draw: each level shifts it.
struct Unshared<A>(A);

impl<A: Agent> Agent for Unshared<A> {
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
        let levels = &memory.parts[0].levels;
        let shifted: Vec<f64> = uniforms.iter().zip(levels).map(|(u, z)| (u + 0.5 * f64::from(*z)).fract()).collect();
        self.0.act(memory, &shifted, out);
    }

    fn is_deterministic(&self) -> bool {
        self.0.is_deterministic()
    }
}

#[test]
fn draws_that_are_not_shared_between_worlds_are_seen_in_the_metric_and_not_in_total_variation() {
    let world = plain();
    let census = world.census(2, 6, 1).unwrap();
    let random = || Deployed::new(Full { state_dim: 1 }, UniformlyRandom { actions: ACTIONS });
    let shared = evaluate(&world, &random(), &census, DISCOUNT).unfairness;
    let unshared = evaluate(&world, &Unshared(random()), &census, DISCOUNT).unfairness;
    assert_eq!((shared.metric.mean, shared.total_variation.mean), (0.0, 0.0));
    // A shift by ½ leaves no sixth in its third.
    assert_eq!((unshared.metric.mean, unshared.total_variation.mean), (1.0, 0.0));
}

#[test]
fn drawn_people_give_the_enumerated_numbers_within_their_errors() {
    let world = noisy();
    let drawn = Exogenous::draw(&world, 20_000, 2, Stream::new(11).named("rollout"));
    let exact = explore(&world, &oracle::full, &oracle::full, 2, DISCOUNT);
    let found = evaluate(&world, &full_agent(), &drawn, DISCOUNT);
    assert!((found.value.mean - exact.value).abs() < ALARM * found.value.standard_error);
    for ((_, estimate), (_, expected)) in found.unfairness.pairs.iter().zip(&exact.differ) {
        assert!((estimate.mean - expected).abs() < ALARM * estimate.standard_error);
    }
    for (t, rates) in exact.rates.iter().enumerate() {
        for z in 0..LEVELS {
            for a in 0..ACTIONS {
                let estimate = found.rates.at(t, z, a).unwrap();
                assert!((estimate.mean - rates[z][a]).abs() < ALARM * estimate.standard_error.max(1e-9));
            }
        }
    }
    // The wrong answer of forgetting the discount is far outside.
    assert!(
        (evaluate(&world, &full_agent(), &drawn, 1.0).value.mean - exact.value).abs()
            > ALARM * found.value.standard_error
    );
}

#[test]
fn more_people_than_a_block_are_each_counted_once() {
    let world = plain();
    let stream = Stream::new(5).named("blocks");
    let all = Exogenous::draw(&world, 2500, 3, stream);
    let take = |range: std::ops::Range<usize>| {
        let of = |rows: &dyn Fn(usize) -> Vec<f64>, times: usize| {
            (0..times).flat_map(|t| rows(t)[range.clone()].to_vec()).collect::<Vec<f64>>()
        };
        Exogenous::given(
            all.levels()[range.clone()].to_vec(),
            all.coins()[range.clone()].to_vec(),
            of(&|t| all.states(t).to_vec(), 4),
            of(&|t| all.rewards(t).to_vec(), 3),
            of(&|t| all.uniforms(t).to_vec(), 3),
            1,
        )
    };
    let whole = evaluate(&world, &full_agent(), &all, DISCOUNT);
    let parts: Vec<Evaluation> = [0..1100, 1100..2500]
        .into_iter()
        .map(|range| evaluate(&world, &full_agent(), &take(range), DISCOUNT))
        .collect();
    let pooled = |of: &dyn Fn(&Evaluation) -> f64| (1100.0 * of(&parts[0]) + 1400.0 * of(&parts[1])) / 2500.0;
    assert_same(whole.value.mean, pooled(&|e| e.value.mean));
    for pair in 0..3 {
        assert_same(whole.unfairness.pairs[pair].1.mean, pooled(&|e| e.unfairness.pairs[pair].1.mean));
    }
}
