//! What a policy may see: batch against steps, and counterfactual states against the structural model.

use crate::fixture::*;
use crate::oracle::counterfactual_states;
use counterfair::kernel::model::worlds::{Bandit, Linear, Nonlinear, ThreeLevels};
use counterfair::kernel::model::{Exogenous, Mechanism, World, abduct, predict, simulate};
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::people::Panel;
use counterfair::kernel::preprocess::{
    Full, Memory, Oracle, Preprocessor, Sequential, SingleStage, StateOverflow, Unaware, batch,
};
use proptest::prelude::*;

/// Rounding of twenty additions and products of numbers of order ten.
const STEPS: f64 = 1e-12;

/// A panel of a world, cut to unequal horizons with and without final state as `pattern` says.
fn uneven(world: &dyn World, people: usize, horizon: usize, seed: u64, pattern: u64) -> Panel {
    let panel = simulate(world, &Exogenous::draw(world, people, horizon, Stream::new(seed)));
    let bits = move |i: usize| pattern.rotate_left((7 * i % 64) as u32);
    cut(&panel, |i| (bits(i) % (horizon as u64 + 1)) as usize, |i| bits(i) & 64 == 0)
}

/// The fold of single-person steps: views and rewards as deployment would make them, one person after another.
fn fold_of_steps<P: Preprocessor>(preprocessor: &P, panel: &Panel) -> (Vec<f64>, Vec<f64>) {
    let p = panel.state_dim();
    let (mut views, mut rewards) = (vec![], vec![]);
    for person in panel.iter() {
        let mut memory: Memory = preprocessor.begin(&[person.level], &person.states[..p]);
        views.extend_from_slice(&memory.view);
        for (t, action) in person.actions.iter().enumerate() {
            let mut reward = [person.rewards[t]];
            preprocessor.reward(&mut memory, &[*action], &mut reward);
            rewards.push(reward[0]);
            if let Some(state) = person.states.get((t + 1) * p..(t + 2) * p) {
                preprocessor.advance(&mut memory, &[*action], state);
                views.extend_from_slice(&memory.view);
            }
        }
    }
    (views, rewards)
}

fn assert_batch_is_the_fold<P: Preprocessor>(preprocessor: &P, panel: &Panel) {
    let found = batch(preprocessor, panel).unwrap();
    let (views, rewards) = fold_of_steps(preprocessor, panel);
    assert_eq!(found.views(), views);
    assert_eq!(found.rewards(), rewards);
    assert_eq!(found.width(), preprocessor.width());
    assert_eq!((found.actions(), found.actions_count()), (panel.actions(), panel.action_names().len()));
    assert_eq!((found.people(), found.transitions()), (panel.people(), panel.transitions()));
    for i in 0..panel.people() {
        assert_eq!((found.views_of(i), found.decisions_of(i)), (panel.states_of(i), panel.decisions_of(i)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_batch_is_the_fold_of_steps_bit_for_bit(
        people in 1usize..60, horizon in 0usize..7, seed in any::<u64>(), pattern in any::<u64>(), strength in -1.5f64..1.5,
    ) {
        let world = ThreeLevels::new(strength);
        let panel = uneven(&world, people, horizon, seed, pattern);
        assert_batch_is_the_fold(&Sequential::new(&world, vec![0.2, 0.5, 0.3]), &panel);
        assert_batch_is_the_fold(&Oracle::new(&world, vec![0.2, 0.5, 0.3]), &panel);
        assert_batch_is_the_fold(&Full { state_dim: 2 }, &panel);
        assert_batch_is_the_fold(&Unaware { state_dim: 2 }, &panel);
        if let Some(flap) = SingleStage::fit(&panel) {
            assert_batch_is_the_fold(&flap, &panel);
        }
    }

    #[test]
    fn with_true_means_sequential_oracle_and_structural_model_agree_at_every_level(
        seed in any::<u64>(), strength in -1.0f64..1.5, which in 0usize..4,
    ) {
        let worlds: [Box<dyn World>; 4] = [
            Box::new(Linear::new(strength)),
            Box::new(Nonlinear::new(strength)),
            Box::new(Bandit::new(strength)),
            Box::new(ThreeLevels::new(strength)),
        ];
        assert_true_counterfactuals(&*worlds[which], seed);
    }

    #[test]
    fn the_factual_component_is_exact_for_any_means(
        seed in any::<u64>(), tables in prop::collection::vec(-3.0f64..3.0, 60),
    ) {
        let world = ThreeLevels::new(0.9);
        let panel = uneven(&world, 25, 5, seed, seed ^ 0x5555);
        let found = batch(&Sequential::new(Arbitrary(tables), vec![0.0, 1.0, 0.0]), &panel).unwrap();
        for person in 0..panel.people() {
            let (z, rows) = (panel.level_codes()[person] as usize, panel.states_of(person));
            for row in rows {
                prop_assert_eq!(&found.views()[6 * row + 2 * z..6 * row + 2 * z + 2], &panel.states()[2 * row..2 * row + 2]);
            }
            // All the weight on level 1: people of that level keep their rewards.
            if z == 1 {
                let decisions = panel.decisions_of(person);
                prop_assert_eq!(&found.rewards()[decisions.clone()], &panel.rewards()[decisions]);
            }
        }
    }
}

fn assert_true_counterfactuals(world: &dyn World, seed: u64) {
    let (levels, p) = (world.levels(), world.state_dim());
    let panel = uneven(world, 20, 10, seed, seed.rotate_left(9));
    let weights = world.level_probabilities().to_vec();
    let sequential = batch(&Sequential::new(world, weights.clone()), &panel).unwrap();
    let oracle = batch(&Oracle::new(world, weights.clone()), &panel).unwrap();
    let close = |x: f64, y: f64| assert!((x - y).abs() <= STEPS * y.abs().max(10.0), "{x} is not {y}");
    for (i, person) in panel.iter().enumerate() {
        let noise = abduct(&world, person);
        let worlds: Vec<_> = (0..levels).map(|k| predict(&world, &noise, person.actions, k)).collect();
        for (t, row) in panel.states_of(i).enumerate() {
            for k in 0..levels {
                for j in 0..p {
                    let (truth, at) = (worlds[k].states[t * p + j], (row * levels + k) * p + j);
                    close(sequential.views()[at], truth);
                    close(oracle.views()[at], truth);
                }
            }
        }
        for (t, decision) in panel.decisions_of(i).enumerate() {
            let truth: f64 = (0..levels).map(|k| weights[k] * worlds[k].rewards[t]).sum();
            close(sequential.rewards()[decision], truth);
            close(oracle.rewards()[decision], truth);
        }
        // The world of the person's own level is the one that was seen.
        let own = &worlds[person.level as usize];
        own.states.iter().zip(person.states).for_each(|(x, y)| close(*x, *y));
        own.rewards.iter().zip(person.rewards).for_each(|(x, y)| close(*x, *y));
    }
}

/// Means that have nothing to do with the data: a linear map of its own for each level and action.
struct Arbitrary(Vec<f64>);

impl Mechanism for Arbitrary {
    fn state_dim(&self) -> usize {
        2
    }
    fn levels(&self) -> usize {
        3
    }
    fn actions(&self) -> usize {
        3
    }
    fn initial_mean(&self, level: usize) -> &[f64] {
        &self.0[54 + 2 * level..56 + 2 * level]
    }
    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        for (i, s) in states.chunks_exact(2).enumerate() {
            let c = &self.0[(level * 3 + actions[i] as usize) * 6..];
            next[2 * i] = c[0] * s[0] + c[1] * s[1] + c[2];
            next[2 * i + 1] = c[3] * s[0] * s[1];
            rewards[i] = c[4] * s[0] + c[5];
        }
    }
}

#[test]
fn on_the_census_sequential_states_are_the_triples_of_the_tables() {
    let world = noisy();
    let panel = simulate(&world, &world.census(2, 4, 1).unwrap());
    let found = batch(&Sequential::new(&world, vec![0.5, 0.25, 0.25]), &panel).unwrap();
    for (i, person) in panel.iter().enumerate() {
        let (states, actions): (Vec<usize>, Vec<usize>) =
            (person.states.iter().map(|x| *x as usize).collect(), person.actions.iter().map(|x| *x as usize).collect());
        for (t, row) in panel.states_of(i).enumerate() {
            let truth = counterfactual_states(&world, person.level as usize, &states[..=t], &actions[..t]);
            assert_eq!(found.views()[3 * row..3 * row + 3], truth.iter().map(|x| *x as f64).collect::<Vec<_>>());
        }
        for (t, decision) in panel.decisions_of(i).enumerate() {
            let triple = counterfactual_states(&world, person.level as usize, &states[..=t], &actions[..t]);
            let mean = |k: usize| crate::oracle::reward(&world, k, triple[k], actions[t]);
            let noise = person.rewards[t] - mean(person.level as usize);
            assert_same(found.rewards()[decision], 0.5 * mean(0) + 0.25 * mean(1) + 0.25 * mean(2) + noise);
        }
    }
}

#[test]
fn full_shows_state_and_level_and_unaware_the_state_alone() {
    let world = ThreeLevels::new(1.0);
    let panel = uneven(&world, 30, 4, 3, 0x1234_5678_9abc_def1);
    let (full, unaware) =
        (batch(&Full { state_dim: 2 }, &panel).unwrap(), batch(&Unaware { state_dim: 2 }, &panel).unwrap());
    assert_eq!((full.width(), unaware.width()), (3, 2));
    assert_eq!(unaware.views(), panel.states());
    assert_eq!((full.rewards(), unaware.rewards()), (panel.rewards(), panel.rewards()));
    for i in 0..panel.people() {
        for row in panel.states_of(i) {
            assert_eq!(full.views()[3 * row..3 * row + 2], panel.states()[2 * row..2 * row + 2]);
            assert_eq!(full.views()[3 * row + 2], f64::from(panel.level_codes()[i]));
        }
    }
}

#[test]
fn single_stage_is_right_for_the_bandit_and_wrong_over_time() {
    // Two people a level, so that the level means are exact in both: contexts m(z) ± ½.
    let bandit = Bandit::new(1.5);
    let people: [Row; 4] =
        [(0, &[0.7], &[1], &[0.0]), (0, &[-0.3], &[0], &[0.0]), (1, &[2.2], &[0], &[0.0]), (1, &[1.2], &[1], &[0.0])];
    let contexts = panel(2, 2, &people);
    let flap = SingleStage::fit(&contexts).unwrap();
    let (flap, truth) =
        (batch(&flap, &contexts).unwrap(), batch(&Oracle::new(&bandit, vec![0.6, 0.4]), &contexts).unwrap());
    flap.views().iter().zip(truth.views()).for_each(|(x, y)| assert_same(*x, *y));
    assert_eq!(flap.rewards(), contexts.rewards());

    let world = Linear::new(1.0);
    let panel = simulate(&world, &Exogenous::draw(&world, 4000, 6, Stream::new(12)));
    let flap = batch(&SingleStage::fit(&panel).unwrap(), &panel).unwrap();
    let truth = batch(&Oracle::new(&world, vec![0.5, 0.5]), &panel).unwrap();
    let worst = flap.views().iter().zip(truth.views()).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    assert!(worst > 1.0, "the largest error is {worst}");
}

#[test]
fn single_stage_needs_somebody_at_every_level() {
    let people: [Row; 2] = [(0, &[1.0, 4.0], &[0], &[0.0]), (2, &[3.0], &[0], &[0.0])];
    assert_eq!(SingleStage::fit(&panel(3, 1, &people)), None);
    let flap = SingleStage::fit(&panel(1, 1, &[(0, &[1.0, 4.0], &[0], &[0.0])])).unwrap();
    assert_eq!((flap.width(), flap.begin(&[0], &[7.0]).view), (1, vec![7.0]));
    // Means over all recorded states: 2.5 and 3.
    let flap = SingleStage::fit(&panel(2, 1, &[people[0], (1, &[3.0], &[0], &[0.0])])).unwrap();
    assert_eq!(flap.begin(&[1], &[7.0]).view, [6.5, 7.0]);
}

#[test]
fn a_view_that_leaves_the_finite_numbers_names_person_time_and_value() {
    let people: [Row; 3] = [
        (0, &[0.0, 0.5], &[0], &[0.0]),
        (1, &[1.0, 2.0, 3.0], &[0, 0], &[0.0, 0.0]),
        (1, &[0.0, 0.0], &[0, 0], &[0.0, 0.0]),
    ];
    let data = panel(2, 1, &people);
    // Level 0 multiplies by −1e200: two steps are beyond the range.
    let overflow = batch(&Sequential::new(Scaled(-1e200, 0.0), vec![0.5, 0.5]), &data).unwrap_err();
    assert_eq!(overflow, StateOverflow { id: "p1".into(), t: 3, value: f64::INFINITY });
    assert!(!overflow.to_string().contains("p1"), "{overflow}");
    let overflow = batch(&Sequential::new(Scaled(1.0, f64::INFINITY), vec![0.5, 0.5]), &data).unwrap_err();
    assert_eq!(overflow, StateOverflow { id: "p1".into(), t: 1, value: f64::NEG_INFINITY });
    assert!(overflow.to_string().contains("time 1"));
    assert!(batch(&Sequential::new(Scaled(1.0, 2.0), vec![0.5, 0.5]), &data).is_ok());
}

/// Level 0 has its state multiplied; level 1 earns a constant.
struct Scaled(f64, f64);

impl Mechanism for Scaled {
    fn state_dim(&self) -> usize {
        1
    }
    fn levels(&self) -> usize {
        2
    }
    fn actions(&self) -> usize {
        1
    }
    fn initial_mean(&self, _level: usize) -> &[f64] {
        &[0.0]
    }
    fn mean(&self, level: usize, states: &[f64], _actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        for ((s, next), reward) in states.iter().zip(next).zip(rewards) {
            *next = if level == 0 { s * self.0 } else { *s };
            *reward = if level == 1 { self.1 } else { 0.0 };
        }
    }
}

#[test]
fn more_people_than_a_block_are_processed_alike() {
    let world = ThreeLevels::new(0.4);
    assert_batch_is_the_fold(
        &Sequential::new(&world, vec![0.2, 0.5, 0.3]),
        &uneven(&world, 2100, 3, 8, 0x0fed_cba9_8765_4321),
    );
}

#[test]
fn a_memory_forgets_from_the_end() {
    let mut memory = Full { state_dim: 2 }.begin(&[1, 0, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    memory.truncate(5);
    assert_eq!(memory.people(), 3);
    memory.truncate(2);
    assert_eq!((memory.levels.clone(), memory.states.clone()), (vec![1, 0], vec![1.0, 2.0, 3.0, 4.0]));
    assert_eq!(memory.view, [1.0, 2.0, 1.0, 3.0, 4.0, 0.0]);
    memory.truncate(0);
    assert_eq!((memory.people(), memory.view.len()), (0, 0));
    memory.truncate(0);
    assert_eq!(memory.people(), 0);
}

#[test]
#[should_panic(expected = "one weight a level")]
fn weights_that_do_not_match_the_levels_are_our_own_mistake() {
    let _ = Sequential::new(Linear::new(1.0), vec![1.0]);
}

#[test]
fn what_a_preprocessor_was_given_can_be_read_back() {
    let sequential = Sequential::new(Linear::new(0.5), vec![0.25, 0.75]);
    assert_eq!((sequential.mechanism(), sequential.weights()), (&Linear::new(0.5), &[0.25, 0.75][..]));
}
