//! Is a policy counterfactually fair? Asked at every history that a finite world can make, for anybody's policy.

use super::Worst;
use super::listed::told;
use crate::kernel::learn::Agent;
use crate::kernel::model::Mechanism;
use crate::kernel::preprocess::{Augmented, Preprocessor};
use crate::theory::FiniteWorld;

/// What came of asking a policy at every history.
#[derive(Debug, Clone, PartialEq)]
pub struct Fairness {
    /// The largest difference in probability between h and some h^{z′}; a fair policy has 0.
    pub found: Worst,
    /// The control: the same policy, told the first level in every world. Where this is 0 as well, the policy is fair without being told
    /// the level, and what it does with the level was not put to the test.
    pub told_one_level: Worst,
}

/// Decisions that [`assert_counterfactually_fair`] looks at.
const DECISIONS: usize = 3;

/// Asks a policy at every history of some decisions, and at its counterfactuals (`def:cf_policy`).
///
/// A history is a level, noise at each time and *any* past actions, not only those that the policy would take. States are listed from the
/// world's tables, so that nothing of the method under test is used to make them.
///
/// # Equation
/// ```text
/// max over h, z′, a of |π(a | h) − π(a | h^{z′})|
/// ```
pub fn counterfactual_fairness(world: &FiniteWorld, policy: &dyn Agent, decisions: usize) -> Fairness {
    Fairness {
        found: largest_difference(world, policy, decisions, |level| level),
        told_one_level: largest_difference(world, policy, decisions, |_| 0),
    }
}

/// Panics unless a policy is counterfactually fair at every history of three decisions in a finite world.
///
/// # Panics
/// With the history that shows it, when the policy treats somebody otherwise than it would have at another level. Also when states are
/// the same at all levels of this world, in which case every policy that reads them is fair and nothing is tested.
///
/// # Example
/// One's own method in the place of `Deployed`, in a world of two levels that start apart:
/// ```
/// use counterfair::kernel::learn::{Deployed, Greedy, LinearQ, features::Polynomial};
/// use counterfair::kernel::preprocess::Sequential;
/// use counterfair::theory::FiniteWorld;
/// use counterfair::theory::finite_world::Tables;
/// use counterfair::theory::theorems::assert_counterfactually_fair;
///
/// let world = FiniteWorld::new(Tables {
///     points: 3,
///     actions: 2,
///     levels: vec![1, 1],                                // P(Z = 0) = P(Z = 1)
///     noise: vec![1, 1],                                 // U is 0 or 1
///     reward_noise: vec![(0.0, 1)],
///     initial: vec![0, 1],                               // S₁ = z + U
///     next: vec![0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0],    // S′ = a + U at level 0, 1 − a + U at level 1
///     reward: vec![0.0; 12],
///     behaviour: vec![1; 12],
/// })?;
/// let rule = Greedy(LinearQ::new(Polynomial::new(2, 1).unwrap(), 2, vec![0.0, 0.0, 0.0, -1.5, 1.0, 1.0]));
/// assert_counterfactually_fair(&world, &Deployed::new(Sequential::new(world.clone(), vec![0.5, 0.5]), rule));
/// # Ok::<(), counterfair::theory::finite_world::TablesError>(())
/// ```
pub fn assert_counterfactually_fair(world: &FiniteWorld, policy: &dyn Agent) {
    let histories = Histories::of(world, DECISIONS);
    let states: Vec<_> = (0..world.levels()).map(|z| histories.states(world, z)).collect();
    assert!(
        states.iter().any(|of_level| *of_level != states[0]),
        "states are the same at all levels of this world: every policy that reads them is fair in it, and nothing is tested"
    );
    let found = counterfactual_fairness(world, policy, DECISIONS).found;
    assert!(found.left == 0.0, "not counterfactually fair: {} (of {} comparisons the worst)", found.text, found.cases);
}

/// The states that a method makes of every history of some decisions, against the true states of all levels.
pub fn counterfactual_states(
    world: &FiniteWorld,
    method: &dyn Preprocessor<View = Augmented>,
    decisions: usize,
    within: f64,
) -> Worst {
    let histories = Histories::of(world, decisions);
    let truth: Vec<_> = (0..world.levels()).map(|z| histories.states(world, z)).collect();
    let mut worst = Worst::default();
    for (z, seen) in truth.iter().enumerate() {
        let mut memory = method.begin(&vec![z as u32; histories.people], &seen[0]);
        for t in 0..decisions {
            if t > 0 {
                method.advance(&mut memory, &histories.actions[t - 1], &seen[t]);
            }
            for (i, view) in memory.view.chunks_exact(world.levels()).enumerate() {
                for (k, (made, truth)) in view.iter().zip(truth.iter().map(|of| of[t][i])).enumerate() {
                    worst.equal(*made, truth, within, || {
                        let taken: Vec<u32> = histories.actions[..t].iter().map(|a| a[i]).collect();
                        format!(
                            "at level {z}, after actions {taken:?}, t = {}: the state of level {k} is made {made} and is {truth}; the world: {}",
                            t + 1,
                            told(world)
                        )
                    });
                }
            }
        }
    }
    worst
}

/// Panics unless a method that is given the true means makes the true counterfactual states of every history of three decisions, up to `within`.
///
/// # Panics
/// With the history that shows it.
pub fn assert_counterfactual_states(world: &FiniteWorld, method: &dyn Preprocessor<View = Augmented>, within: f64) {
    let found = counterfactual_states(world, method, DECISIONS, within);
    assert!(
        found.left <= within,
        "not the counterfactual states: {} (of {} comparisons the worst)",
        found.text,
        found.cases
    );
}

/// Every combination of noise and past actions over some decisions.
struct Histories {
    /// By time and person.
    noise: Vec<Vec<usize>>,
    actions: Vec<Vec<u32>>,
    people: usize,
}

impl Histories {
    fn of(world: &FiniteWorld, decisions: usize) -> Self {
        let values: Vec<usize> = world.noise_law().map(|(u, _)| u).collect();
        let (noises, actions) = (values.len(), world.actions());
        let all = noises.pow(decisions as u32);
        let people = all * actions.pow(decisions as u32 - 1);
        let digit = |code: usize, base: usize, t: usize| code / base.pow(t as u32) % base;
        let noise = |t| (0..people).map(|i| values[digit(i % all, noises, t)]).collect();
        let action = |t| (0..people).map(|i| digit(i / all, actions, t) as u32).collect();
        Self { noise: (0..decisions).map(noise).collect(), actions: (0..decisions - 1).map(action).collect(), people }
    }

    /// Everybody's states at one level, by time: from the tables.
    fn states(&self, world: &FiniteWorld, level: usize) -> Vec<Vec<f64>> {
        let start = world.initial_mean(level)[0] as usize;
        let mut now: Vec<usize> = self.noise[0].iter().map(|u| start + u).collect();
        let mut by_time = vec![now.clone()];
        for (actions, noise) in self.actions.iter().zip(&self.noise[1..]) {
            for ((s, &a), u) in now.iter_mut().zip(actions).zip(noise) {
                *s = world.next_point(level, *s, a as usize) + u;
            }
            by_time.push(now.clone());
        }
        by_time.into_iter().map(|states| states.into_iter().map(|s| s as f64).collect()).collect()
    }

    /// What a policy would do at each time, told a level: |A| probabilities for each person.
    fn answers(&self, policy: &dyn Agent, states: &[Vec<f64>], level: usize) -> Vec<Vec<f64>> {
        let mut memory = policy.begin(&vec![level as u32; self.people], &states[0], &vec![0.5; self.people]);
        let ask = |memory: &mut _| {
            let mut odds = vec![0.0; self.people * policy.actions()];
            policy.probabilities(memory, &mut odds);
            odds
        };
        let mut answers = vec![ask(&mut memory)];
        for (actions, states) in self.actions.iter().zip(&states[1..]) {
            policy.advance(&mut memory, actions, states);
            answers.push(ask(&mut memory));
        }
        answers
    }
}

fn largest_difference(
    world: &FiniteWorld,
    policy: &dyn Agent,
    decisions: usize,
    tell: impl Fn(usize) -> usize,
) -> Worst {
    let histories = Histories::of(world, decisions);
    let states: Vec<_> = (0..world.levels()).map(|z| histories.states(world, z)).collect();
    let answers: Vec<_> = states.iter().enumerate().map(|(z, s)| histories.answers(policy, s, tell(z))).collect();
    let (mut worst, actions) = (Worst::default(), policy.actions());
    for (z, other) in (0..world.levels()).flat_map(|other| (0..other).map(move |z| (z, other))) {
        for t in 0..decisions {
            for (cell, (here, there)) in answers[z][t].iter().zip(&answers[other][t]).enumerate() {
                let (i, a) = (cell / actions, cell % actions);
                worst.equal(*here, *there, 0.0, || {
                    let path = |z: usize| states[z][..=t].iter().map(|s| s[i]).collect::<Vec<_>>();
                    let taken: Vec<u32> = histories.actions[..t].iter().map(|a| a[i]).collect();
                    format!(
                        "with past actions {taken:?} and states {:?}, action {a} has probability {here} at level {z}; with the same noise and actions at level {other}, states {:?}, it has {there}; the world: {}",
                        path(z),
                        path(other),
                        told(world)
                    )
                });
            }
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::super::listed::{AnyRule, Moved, Reads, by_hand, changed, random_world};
    use super::*;
    use crate::kernel::numeric::Stream;
    use crate::kernel::preprocess::{Oracle, Sequential};

    fn rule(certain: bool) -> AnyRule {
        AnyRule { actions: 2, certain, stream: Stream::new(210) }
    }

    #[test]
    fn a_fair_policy_passes_and_its_control_shows_that_it_needs_the_level() {
        let world = by_hand();
        let fair = Reads::Worlds.deployed(&world, rule(false));
        assert_counterfactually_fair(&world, &*fair);
        let found = counterfactual_fairness(&world, &*fair, 3);
        // Two noises three times and two actions twice, three times, two actions.
        assert_eq!((found.found.cases, found.found.left), (32 * 3 * 2, 0.0));
        assert!(found.told_one_level.left > 0.0);
    }

    #[test]
    #[should_panic(expected = "not counterfactually fair")]
    fn a_policy_that_reads_the_state_alone_does_not_pass() {
        let world = by_hand();
        assert_counterfactually_fair(&world, &*Reads::State.deployed(&world, rule(true)));
    }

    #[test]
    #[should_panic(expected = "nothing is tested")]
    fn a_world_without_any_effect_of_the_level_tests_nothing() {
        let world = changed(&by_hand(), |tables| {
            tables.initial = vec![0, 0];
            tables.next.fill(0);
        });
        assert_counterfactually_fair(&world, &*Reads::State.deployed(&world, rule(true)));
    }

    #[test]
    fn the_oracle_makes_the_true_states() {
        let world = random_world(3, Stream::new(211));
        assert_counterfactual_states(&world, &Oracle::new(world.clone(), vec![0.2, 0.5, 0.3]), 0.0);
        // Two noises twice, two actions once, three levels seen and made; twice.
        assert_eq!(counterfactual_states(&world, &Oracle::new(world.clone(), vec![1.0; 3]), 2, 0.0).cases, 8 * 9 * 2);
    }

    #[test]
    #[should_panic(expected = "not the counterfactual states")]
    fn wrong_means_do_not() {
        let world = by_hand();
        let method = Sequential::new(Moved::by_level(world.clone(), 1e-3), vec![0.5, 0.5]);
        assert_counterfactual_states(&world, &method, 1e-4);
    }
}
