//! The strict CF metric, and the replay policy that makes it zero.

use crate::fixture::*;
use crate::oracle::{counterfactual_states, law, states_under};
use counterfair::kernel::evaluate::evaluate;
use counterfair::kernel::learn::LinearQ;
use counterfair::kernel::learn::features::OneHot;
use counterfair::kernel::learn::{Agent, Deployed, Greedy, UniformlyRandom};
use counterfair::kernel::model::worlds::ThreeLevels;
use counterfair::kernel::model::{Exogenous, World};
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::preprocess::{Augmented, Full, Oracle, Sequential, Unaware};
use counterfair::theory::FiniteMdp;
use counterfair::theory::FiniteWorld;
use counterfair::theory::rules::Replay;
use counterfair::theory::rules::TooManyPasts;
use counterfair::theory::rules::{Alternatives, strict_unfairness};

/// Every sequence of `length` numbers below `base`.
fn sequences(base: usize, length: usize) -> Vec<Vec<usize>> {
    (0..length).fold(vec![vec![]], |all, _| {
        all.iter().flat_map(|s| (0..base).map(move |a| [s.clone(), vec![a]].concat())).collect()
    })
}

/// The strict metric of a deterministic rule, by listing levels, noise and pasts; also the plain one.
fn listed(world: &FiniteWorld, rule: impl Fn(usize, &[usize], &[usize]) -> usize, horizon: usize) -> (f64, f64) {
    let (levels, noise) = (law(world.tables().levels.iter().copied()), law(world.tables().noise.iter().copied()));
    let act = |k: usize, u: &[usize], past: &[usize]| rule(k, &states_under(world, k, u, past), past);
    let mut strict = std::collections::HashMap::new();
    let mut plain = std::collections::HashMap::new();
    for z in 0..LEVELS {
        for u in sequences(noise.len(), horizon) {
            let p = levels[z] * u.iter().map(|u| noise[*u]).product::<f64>() / horizon as f64;
            let mut own = vec![];
            for t in 0..horizon {
                own.push(act(z, &u[..=t], &own));
            }
            for t in 0..horizon {
                for k in 0..LEVELS {
                    let factual = act(k, &u[..=t], &own[..t]);
                    for l in 0..LEVELS {
                        *plain.entry((k, l)).or_insert(0.0) +=
                            p * f64::from(u8::from(factual != act(l, &u[..=t], &own[..t])));
                        for past in sequences(ACTIONS, horizon - 1) {
                            let other = act(l, &u[..=t], &past[..t]);
                            *strict.entry((k, l, past)).or_insert(0.0) += p * f64::from(u8::from(factual != other));
                        }
                    }
                }
            }
        }
    }
    let largest = |values: &mut dyn Iterator<Item = &f64>| values.fold(0.0f64, |most, x| most.max(*x));
    let plain = largest(&mut plain.values());
    (largest(&mut strict.values()).max(plain), plain)
}

fn choose(row: [f64; ACTIONS]) -> usize {
    row.iter().position(|p| *p == 1.0).unwrap()
}

#[test]
fn the_strict_metric_of_deterministic_policies_is_the_listed_one() {
    let world = plain();
    let census = world.census(3, 1, 1).unwrap();
    let fair = Deployed::new(
        Sequential::new(&world, world.level_probabilities().to_vec()),
        Rule { rule: fair_choice, deterministic: true },
    );
    let rule = |z: usize, s: &[usize], a: &[usize]| choose(fair_choice(&counterfactual_states(&plain(), z, s, a)));
    let (strict, plain_metric) = listed(&world, rule, 3);
    let found = strict_unfairness(&world, &fair, &census, Alternatives::Every).unwrap();
    assert_same(found.metric.mean, strict);
    assert_eq!(found.tried, 10);
    assert_eq!((plain_metric, evaluate(&world, &fair, &census, DISCOUNT).unfairness.metric.mean), (0.0, 0.0));
    assert!(strict > 0.1, "fair is not strictly fair");
    assert_eq!(found.past.unwrap().len(), 2);

    let unaware =
        Deployed::new(Unaware { state_dim: 1 }, Rule { rule: |x: &[usize]| unaware_choice(x[0]), deterministic: true });
    let (strict, plain_metric) = listed(&world, |_, s, _| choose(unaware_choice(*s.last().unwrap())), 3);
    assert_same(strict_unfairness(&world, &unaware, &census, Alternatives::Every).unwrap().metric.mean, strict);
    assert_same(evaluate(&world, &unaware, &census, DISCOUNT).unfairness.metric.mean, plain_metric);
    assert!(strict > plain_metric);
}

#[test]
fn the_strict_metric_is_never_below_the_plain_one_and_equals_it_at_one_decision() {
    let world = plain();
    let full =
        Deployed::new(Full { state_dim: 1 }, Rule { rule: |x: &[usize]| full_rule(x[0], x[1]), deterministic: false });
    let census = world.census(1, 4, 1).unwrap();
    let strict = strict_unfairness(&world, &full, &census, Alternatives::Every).unwrap();
    let plain_metric = evaluate(&world, &full, &census, DISCOUNT).unfairness;
    assert_eq!(strict.metric.mean, plain_metric.metric.mean);
    let (z, other) = strict.levels;
    assert_eq!((z.min(other), z.max(other)), plain_metric.pair);
    assert_eq!((strict.past, strict.tried), (None, 2));
    let drawn = Exogenous::draw(&world, 1500, 3, Stream::new(2));
    let none = Alternatives::Sampled(0, Stream::new(1));
    let own_past = strict_unfairness(&world, &full, &drawn, none).unwrap();
    assert_same(own_past.metric.mean, evaluate(&world, &full, &drawn, DISCOUNT).unfairness.metric.mean);
    assert_eq!(own_past.tried, 1);
}

/// The best fair policy of the fixture, on [s¹, s², s³].
fn best_fair(world: &FiniteWorld) -> Greedy<LinearQ<Augmented, OneHot>> {
    let mdp = FiniteMdp::augmented(world);
    let q = mdp.optimum(DISCOUNT);
    let weights = (0..ACTIONS).flat_map(|a| q.iter().skip(a).step_by(ACTIONS).copied().collect::<Vec<_>>()).collect();
    Greedy(LinearQ::new(OneHot::new(mdp.points().to_vec()).unwrap(), ACTIONS, weights))
}

#[test]
fn replay_is_strictly_fair_and_acts_as_the_policy_it_replays() {
    let world = plain();
    let census = world.census(3, 1, 1).unwrap();
    let replay = Replay::new(&world, best_fair(&world));
    let greedy = Deployed::new(Oracle::new(&world, world.level_probabilities().to_vec()), best_fair(&world));
    let every = Alternatives::Every;
    assert_eq!(strict_unfairness(&world, &replay, &census, every).unwrap().metric.mean, 0.0);
    assert!(strict_unfairness(&world, &greedy, &census, every).unwrap().metric.mean > 0.0);
    let (of_replay, of_greedy) =
        (evaluate(&world, &replay, &census, DISCOUNT), evaluate(&world, &greedy, &census, DISCOUNT));
    assert_eq!(of_replay, of_greedy);
    assert_eq!(of_replay.unfairness.metric.mean, 0.0);
    assert!(replay.is_deterministic());
    assert_eq!(replay.actions(), ACTIONS);
}

/// E Σ γ^{t−2} R from the second decision on, when the first action was logged and not the agent's.
fn value_after_logged(world: &FiniteWorld, agent: &dyn Agent, exogenous: &Exogenous) -> f64 {
    let n = exogenous.people();
    let mut total = 0.0;
    for i in 0..n {
        let level = exogenous.levels()[i] as usize;
        let mut state = [world.tables().initial[level] as f64 + exogenous.states(0)[i]];
        let mut memory = agent.begin(&[level as u32], &state, &exogenous.coins()[i..=i]);
        let (mut next, mut reward) = ([0.0], [0.0]);
        for t in 0..exogenous.horizon() {
            let mut action = [(exogenous.uniforms(t)[i] * ACTIONS as f64) as u32];
            if t > 0 {
                agent.act(&mut memory, &exogenous.uniforms(t)[i..=i], &mut action);
            }
            counterfair::kernel::model::Mechanism::mean(world, level, &state, &action, &mut next, &mut reward);
            if t > 0 {
                total += DISCOUNT.powi(t as i32 - 1) * (reward[0] + exogenous.rewards(t)[i]) / n as f64;
            }
            state = [next[0] + exogenous.states(t + 1)[i]];
            agent.advance(&mut memory, &action, &state);
        }
    }
    total
}

#[test]
fn after_logged_actions_replay_is_worth_less() {
    let world = plain();
    let census = world.census(3, 3, 1).unwrap();
    let replay = value_after_logged(&world, &Replay::new(&world, best_fair(&world)), &census);
    let oracle = Oracle::new(&world, world.level_probabilities().to_vec());
    let greedy = value_after_logged(&world, &Deployed::new(oracle, best_fair(&world)), &census);
    assert!(replay < greedy - 0.01, "replay {replay}, greedy {greedy}");
}

#[test]
fn replay_agrees_with_its_policy_in_a_world_of_two_coordinates() {
    let world = ThreeLevels::new(0.7);
    let features = counterfair::kernel::learn::features::Polynomial::new(6, 1).unwrap();
    let weights: Vec<f64> = (0..21).map(|j| ((j * j * 5 + 3 * j) % 11) as f64 - 5.0).collect();
    let policy = || Greedy(LinearQ::<Augmented, _>::new(features.clone(), 3, weights.clone()));
    let exogenous = Exogenous::draw(&world, 1300, 5, Stream::new(31));
    let replay = Replay::new(&world, policy());
    let greedy = Deployed::new(Oracle::new(&world, world.level_probabilities().to_vec()), policy());
    let (of_replay, of_greedy) =
        (evaluate(&world, &replay, &exogenous, DISCOUNT), evaluate(&world, &greedy, &exogenous, DISCOUNT));
    assert_eq!(of_replay.value, of_greedy.value);
    let sampled = Alternatives::Sampled(12, Stream::new(1).named("pasts"));
    let of_replay = strict_unfairness(&world, &replay, &exogenous, sampled).unwrap();
    assert_eq!((of_replay.metric.mean, of_replay.tried), (0.0, 13));
    assert!(strict_unfairness(&world, &greedy, &exogenous, sampled).unwrap().metric.mean > 0.05);
}

#[test]
#[should_panic(expected = "only a deterministic policy")]
fn a_random_policy_cannot_be_replayed() {
    let _ = Replay::new(plain(), UniformlyRandom { actions: ACTIONS });
}

#[test]
fn more_pasts_than_can_be_listed_are_refused_and_can_be_sampled() {
    let world = plain();
    let agent = Deployed::new(Unaware { state_dim: 1 }, UniformlyRandom { actions: ACTIONS });
    let long = Exogenous::draw(&world, 3, 12, Stream::new(1));
    let refused = strict_unfairness(&world, &agent, &long, Alternatives::Every).unwrap_err();
    assert_eq!(refused, TooManyPasts { actions: 3, decisions: 11, limit: 65_536 });
    let sampled = strict_unfairness(&world, &agent, &long, Alternatives::Sampled(4, Stream::new(7))).unwrap();
    assert_eq!((sampled.metric.mean, sampled.tried), (0.0, 5));
}
