//! The world, the policies and the tolerances.

use counterfair::kernel::learn::Policy;
use counterfair::kernel::people::{Labels, Panel, PanelBuilder, Person};
use counterfair::kernel::preprocess::View;
use counterfair::theory::FiniteWorld;
use counterfair::theory::finite_world::Tables;

/// γ.
pub const DISCOUNT: f64 = 0.7;

/// Two ways of adding up at most 10⁵ terms of order 1 in a different order: errors of order 10⁵ ε at the very worst, √ of that
/// typically.
pub const SUMMATION: f64 = 1e-11;

/// Standard errors beyond which a statistical test raises an alarm: 6e−7 two-sided under the normal law, so that all of them together
/// would fail on one seed in ten thousand or more.
pub const ALARM: f64 = 5.0;

pub const LEVELS: usize = 3;
pub const ACTIONS: usize = 3;
pub const POINTS: usize = 4;

/// μₛ by level, point and action. Every action's mean depends on the point at every level; 27 triples of counterfactual states can be
/// reached, all of them by the third decision.
const NEXT: [[[u32; ACTIONS]; POINTS]; LEVELS] = [
    [[0, 1, 0], [1, 1, 2], [1, 1, 2], [1, 2, 2]],
    [[2, 2, 1], [2, 0, 2], [0, 0, 2], [0, 0, 2]],
    [[1, 1, 2], [1, 0, 2], [0, 0, 0], [0, 0, 0]],
];
const INITIAL: [u32; LEVELS] = [0, 2, 1];

/// The world with the given laws of noise. P(Z) = (3, 2, 1)/6; the behaviour policy takes every action, in quarters.
fn world(noise: Vec<u32>, reward_noise: Vec<(f64, u32)>) -> FiniteWorld {
    let (mut next, mut reward, mut behaviour) = (vec![], vec![], vec![]);
    for z in 0..LEVELS {
        for s in 0..POINTS {
            for a in 0..ACTIONS {
                next.push(NEXT[z][s][a]);
                reward.push(((s * s + 3 * a * s + 5 * z * a + 2 * z + a + 1) % 11) as f64 / 4.0 - 1.0);
                behaviour.push(if a == (s + z) % 3 { 2 } else { 1 });
            }
        }
    }
    let initial = INITIAL.to_vec();
    FiniteWorld::new(Tables {
        points: POINTS,
        actions: ACTIONS,
        levels: vec![3, 2, 1],
        noise,
        reward_noise,
        initial,
        next,
        reward,
        behaviour,
    })
    .expect("the tables fit")
}

/// P(U = 0) = ⅔, and rewards with noise of two values, whose mean is not zero.
pub fn noisy() -> FiniteWorld {
    world(vec![2, 1], vec![(-0.25, 2), (0.75, 1)])
}

/// P(U = 0) = ⅔, and rewards shifted by a constant: a census of three decisions stays small.
pub fn plain() -> FiniteWorld {
    world(vec![2, 1], vec![(0.125, 1)])
}

/// P(U = 0) = ½: a census of three decisions is smaller still, for fits that pass over it many times.
pub fn even() -> FiniteWorld {
    world(vec![1, 1], vec![(0.125, 1)])
}

/// A random rule on (s, z) in quarters.
pub fn full_rule(s: usize, z: usize) -> [f64; ACTIONS] {
    [[0.25, 0.5, 0.25], [0.0, 0.25, 0.75], [1.0, 0.0, 0.0], [0.5, 0.25, 0.25]][(s + 2 * z) % 4]
}

/// A random rule on [s¹, s², s³] in quarters.
pub fn fair_rule(s: &[usize]) -> [f64; ACTIONS] {
    [[0.25, 0.25, 0.5], [0.0, 0.75, 0.25], [0.5, 0.0, 0.5], [0.0, 0.0, 1.0]][(2 * s[0] + s[1] + 3 * s[2]) % 4]
}

/// A deterministic rule on [s¹, s², s³].
pub fn fair_choice(s: &[usize]) -> [f64; ACTIONS] {
    let mut row = [0.0; ACTIONS];
    row[(2 * s[0] + s[1] + s[2] * s[2]) % 3] = 1.0;
    row
}

/// A deterministic rule on s.
pub fn unaware_choice(s: usize) -> [f64; ACTIONS] {
    let mut row = [0.0; ACTIONS];
    row[(2 * s + 1) % 3] = 1.0;
    row
}

/// A rule on points as a policy on views.
pub struct Rule<F> {
    pub rule: F,
    pub deterministic: bool,
}

impl<V: View, F: Fn(&[usize]) -> [f64; ACTIONS] + Send + Sync> Policy<V> for Rule<F> {
    fn actions(&self) -> usize {
        ACTIONS
    }

    fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]) {
        for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(ACTIONS)) {
            let points: Vec<usize> = row.iter().map(|x| *x as usize).collect();
            out.copy_from_slice(&(self.rule)(&points));
        }
    }

    fn is_deterministic(&self) -> bool {
        self.deterministic
    }
}

/// The same people cut off after the horizons `length(i)`, keeping the state after the last decision where `keep(i)`.
pub fn cut(panel: &Panel, length: impl Fn(usize) -> usize, keep: impl Fn(usize) -> bool) -> Panel {
    let p = panel.state_dim();
    let mut builder = PanelBuilder::new(panel.levels().clone(), panel.action_names().clone(), p).unwrap();
    for (i, person) in panel.iter().enumerate() {
        let t = length(i).min(person.actions.len());
        let states = if keep(i) || t == 0 { t + 1 } else { t };
        builder
            .push(Person {
                states: &person.states[..states * p],
                actions: &person.actions[..t],
                rewards: &person.rewards[..t],
                ..person
            })
            .unwrap();
    }
    builder.finish()
}

/// People chosen with repetition, under new names.
pub fn resample(panel: &Panel, people: &[usize]) -> Panel {
    let mut builder =
        PanelBuilder::new(panel.levels().clone(), panel.action_names().clone(), panel.state_dim()).unwrap();
    for (position, &i) in people.iter().enumerate() {
        builder.push(Person { id: &position.to_string(), ..panel.person(i) }).unwrap();
    }
    builder.finish()
}

/// A person of one-dimensional states: level, states, actions, rewards.
pub type Row<'a> = (u32, &'a [f64], &'a [u32], &'a [f64]);

/// A panel of such people, named p0, p1, …
pub fn panel(levels: usize, actions: usize, people: &[Row<'_>]) -> Panel {
    let mut builder = PanelBuilder::new(Labels::numbered(levels), Labels::numbered(actions), 1).unwrap();
    for (i, (level, states, actions, rewards)) in people.iter().enumerate() {
        builder.push(Person { id: &format!("p{i}"), level: *level, states, actions, rewards }).unwrap();
    }
    builder.finish()
}

/// Whether two numbers agree up to [`SUMMATION`].
#[track_caller]
pub fn assert_same(found: f64, expected: f64) {
    assert!((found - expected).abs() <= SUMMATION * expected.abs().max(1.0), "{found} is not {expected}");
}

/// Whether they clearly differ: by more than any rounding explains.
#[track_caller]
pub fn assert_differs(found: f64, expected: f64) {
    assert!((found - expected).abs() > 1e-3, "{found} was meant to differ from {expected}");
}
