//! Policies, deployed agents and mixtures of them.

use crate::fixture::*;
use counterfair::kernel::evaluate::{Evaluation, evaluate};
use counterfair::kernel::learn::LinearQ;
use counterfair::kernel::learn::features::Polynomial;
use counterfair::kernel::learn::{Agent, Behaviour, Deployed, Greedy, Policy, UniformlyRandom};
use counterfair::kernel::model::World;
use counterfair::kernel::model::worlds::{ThreeLevels, draw_action};
use counterfair::kernel::preprocess::{Full, Sequential, StateOnly, Unaware};
use counterfair::theory::FiniteWorld;
use counterfair::theory::rules::{EpisodeMixture, StepMixture};
use std::sync::Arc;

fn full_agent() -> Arc<dyn Agent> {
    let rule = Rule { rule: |x: &[usize]| full_rule(x[0], x[1]), deterministic: false };
    Arc::new(Deployed::new(Full { state_dim: 1 }, rule))
}

fn fair_agent() -> Arc<dyn Agent> {
    let world = plain();
    let weights = world.level_probabilities().to_vec();
    Arc::new(Deployed::new(Sequential::new(world, weights), Rule { rule: fair_choice, deterministic: true }))
}

fn unaware_agent() -> Arc<dyn Agent> {
    Arc::new(Deployed::new(
        Unaware { state_dim: 1 },
        Rule { rule: |x: &[usize]| unaware_choice(x[0]), deterministic: true },
    ))
}

/// Two decisions, draws in quarters, eight coins.
fn run(world: &FiniteWorld, agent: &dyn Agent) -> Evaluation {
    evaluate(world, agent, &world.census(2, 4, 8).unwrap(), DISCOUNT)
}

#[test]
fn an_episode_mixture_has_the_mixed_value_exactly_and_no_more_than_the_mixed_unfairness() {
    let world = plain();
    let (full, fair) = (run(&world, &*full_agent()), run(&world, &*fair_agent()));
    assert_differs(full.value.mean, fair.value.mean);
    for eighths in 0..=8 {
        let w = f64::from(eighths) / 8.0;
        let mixture = EpisodeMixture { first: full_agent(), second: fair_agent(), weight: w };
        assert_eq!((mixture.actions(), mixture.is_deterministic()), (ACTIONS, false));
        let found = run(&world, &mixture);
        assert_same(found.value.mean, (1.0 - w) * full.value.mean + w * fair.value.mean);
        let mixed = |of: fn(&Evaluation) -> f64| (1.0 - w) * of(&full) + w * of(&fair);
        // The factual actions differ between the two only through the coin, on which both sides are averaged.
        assert_same(found.unfairness.total_variation.mean, mixed(|e| e.unfairness.total_variation.mean));
        assert!(found.unfairness.metric.mean <= mixed(|e| e.unfairness.metric.mean) + SUMMATION);
        for z in 0..LEVELS {
            let rate = |e: &Evaluation| e.rates.at(1, z, 2).unwrap().mean;
            assert_same(rate(&found), (1.0 - w) * rate(&full) + w * rate(&fair));
        }
    }
}

#[test]
fn a_mixture_inside_a_mixture_draws_its_own_coin() {
    let world = plain();
    let inner = Arc::new(EpisodeMixture { first: full_agent(), second: fair_agent(), weight: 0.5 });
    let values: Vec<f64> =
        [full_agent(), fair_agent(), unaware_agent()].iter().map(|a| run(&world, &**a).value.mean).collect();
    let inside_first = EpisodeMixture { first: inner.clone(), second: unaware_agent(), weight: 0.5 };
    assert_same(run(&world, &inside_first).value.mean, 0.25 * values[0] + 0.25 * values[1] + 0.5 * values[2]);
    let inside_second = EpisodeMixture { first: unaware_agent(), second: inner, weight: 0.25 };
    assert_same(run(&world, &inside_second).value.mean, 0.125 * values[0] + 0.125 * values[1] + 0.75 * values[2]);
}

#[test]
fn a_step_mixture_mixes_probabilities_and_not_values() {
    let world = plain();
    let mixture = StepMixture { first: full_agent(), second: fair_agent(), weight: 0.5 };
    assert_eq!((mixture.actions(), mixture.is_deterministic()), (ACTIONS, false));
    let found = evaluate(&world, &mixture, &world.census(2, 8, 1).unwrap(), DISCOUNT);
    // The rule on histories, listed.
    let rule = |z: usize, s: &[usize], a: &[usize]| {
        let (p, q) =
            (full_rule(*s.last().unwrap(), z), fair_choice(&crate::oracle::counterfactual_states(&plain(), z, s, a)));
        std::array::from_fn(|a| 0.5 * p[a] + 0.5 * q[a])
    };
    let exact = crate::oracle::explore(&world, &rule, &rule, 2, DISCOUNT);
    assert_same(found.value.mean, exact.value);
    assert_same(found.unfairness.metric.mean, exact.metric());
    assert_same(found.unfairness.total_variation.mean, exact.total_variation());
    let (full, fair) = (run(&world, &*full_agent()), run(&world, &*fair_agent()));
    assert!((found.value.mean - 0.5 * (full.value.mean + fair.value.mean)).abs() > 1e-3);
    for (w, agent) in [(0.0, full_agent()), (1.0, fair_agent())] {
        let end = StepMixture { first: full_agent(), second: fair_agent(), weight: w };
        assert_eq!(run(&world, &end).value, run(&world, &*agent).value);
    }
}

#[test]
fn two_deterministic_agents_mixed_by_episode_stay_deterministic() {
    let mixture = EpisodeMixture { first: fair_agent(), second: unaware_agent(), weight: 0.3 };
    assert!(mixture.is_deterministic());
    assert!(!EpisodeMixture { first: full_agent(), ..mixture.clone() }.is_deterministic());
    assert!(!EpisodeMixture { second: full_agent(), ..mixture }.is_deterministic());
}

#[test]
fn memories_of_agents_forget_from_the_end() {
    let mixture = EpisodeMixture { first: full_agent(), second: fair_agent(), weight: 0.5 };
    let states = [0.0, 1.0, 2.0];
    let mut memory = mixture.begin(&[0, 1, 2], &states, &[0.2, 0.9, 0.4]);
    memory.truncate(2);
    assert_eq!(memory, mixture.begin(&[0, 1], &states[..2], &[0.2, 0.9]));
    let replay = counterfair::theory::rules::Replay::new(plain(), Rule { rule: fair_choice, deterministic: true });
    let mut memory = replay.begin(&[0, 1, 2], &states, &[0.2, 0.9, 0.4]);
    memory.truncate(1);
    assert_eq!(memory, replay.begin(&[0], &states[..1], &[0.2]));
}

#[test]
fn greedy_takes_the_best_action_and_of_equals_the_first() {
    // Q(s, ·) = (1, s, 2 − s): the first wins at s = 1 (all equal), the last at 0, the second at 3; at 2 the second.
    let q = LinearQ::<StateOnly, _>::new(Polynomial::new(1, 1).unwrap(), 3, vec![1.0, 0.0, 0.0, 1.0, 2.0, -1.0]);
    let greedy = Greedy(q);
    let rows = [1.0, 0.0, 3.0, 2.0, 0.5];
    let mut actions = [9; 5];
    greedy.act(&rows, 1, &[], &mut actions);
    assert_eq!(actions, [0, 2, 1, 1, 2]);
    let mut p = [0.5; 15];
    greedy.probabilities(&rows, 1, &mut p);
    for (row, a) in p.chunks_exact(3).zip(actions) {
        assert_eq!(row.iter().sum::<f64>(), 1.0);
        assert_eq!(row[a as usize], 1.0);
    }
    assert!(Policy::<StateOnly>::is_deterministic(&greedy));
    assert_eq!(Policy::<StateOnly>::actions(&greedy), 3);
    greedy.act(&[], 1, &[], &mut []);
}

#[test]
fn random_and_behaviour_policies_have_their_probabilities() {
    let random = UniformlyRandom { actions: 4 };
    let mut p = [0.0; 8];
    Policy::<StateOnly>::probabilities(&random, &[1.0, 2.0], 1, &mut p);
    assert_eq!(p, [0.25; 8]);
    let mut actions = [0; 4];
    Policy::<StateOnly>::act(&random, &[0.0; 4], 1, &[0.0, 0.25, 0.6, 0.999], &mut actions);
    assert_eq!(actions, [0, 1, 2, 3]);
    assert!(!Policy::<StateOnly>::is_deterministic(&random));
    assert!(Policy::<StateOnly>::is_deterministic(&UniformlyRandom { actions: 1 }));

    let behaviour = Behaviour(ThreeLevels::new(1.0));
    let mut p = [0.0; 6];
    behaviour.probabilities(&[0.3, -1.0, 2.0, 5.0, 5.0, 1.0], 3, &mut p);
    assert_eq!(p, [0.2, 0.2, 0.6, 0.3, 0.4, 0.3]);
    assert_eq!((behaviour.actions(), behaviour.is_deterministic()), (3, false));
}

#[test]
fn draws_invert_the_distribution_function() {
    let p = [0.25, 0.0, 0.5, 0.25];
    let found: Vec<u32> = [0.0, 0.2499, 0.25, 0.7499, 0.75, 0.9999].iter().map(|u| draw_action(&p, *u)).collect();
    assert_eq!(found, [0, 0, 2, 2, 3, 3]);
    // A sum a little below one: the last action with any probability takes what is left.
    assert_eq!(draw_action(&[0.5, 0.4999, 0.0], 0.99999), 1);
}

#[test]
fn an_agent_shows_what_it_was_made_of() {
    let agent = Deployed::new(Unaware { state_dim: 2 }, UniformlyRandom { actions: 3 });
    assert_eq!((agent.preprocessor(), agent.policy()), (&Unaware { state_dim: 2 }, &UniformlyRandom { actions: 3 }));
    assert_eq!((agent.actions(), agent.is_deterministic()), (3, false));
    let memory = agent.begin(&[0, 1], &[1.0, 2.0, 3.0, 4.0], &[0.1, 0.2]);
    assert_eq!(
        (memory.parts[0].view.as_slice(), memory.coins.as_slice()),
        (&[1.0, 2.0, 3.0, 4.0][..], &[0.1, 0.2][..])
    );
}
