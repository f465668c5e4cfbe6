//! Fitted Q iteration with a net, as in supplement F.1.

use crate::kernel::learn::divergence_limit;
use crate::kernel::learn::{ActionValue, Outcome};
use crate::kernel::numeric::Stream;
use crate::kernel::preprocess::{Experience, View};
use crate::nets::{
    Adam, Examples, Loss, Network, Standardizer, StandardizerError, StepsOutcome, Trainer, Workspace, gradient_steps,
};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

/// How neural fitted Q iteration runs.
#[derive(Debug, Clone, PartialEq)]
pub struct NeuralSettings {
    /// γ ∈ [0, 1).
    pub discount: f64,
    /// B.
    pub iterations: usize,
    /// Gradient steps on all tuples in each iteration.
    pub steps: usize,
    /// Adam's learning rate.
    pub learning_rate: f64,
    /// Widths of the hidden layers.
    pub hidden: Vec<usize>,
}

impl Default for NeuralSettings {
    /// Supplement F.1: one hidden layer of 32, 100 iterations of 500 steps at a learning rate of 0.1.
    fn default() -> Self {
        Self { discount: 0.9, iterations: 100, steps: 500, learning_rate: 0.1, hidden: vec![32] }
    }
}

/// Why neural fitted Q iteration cannot run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NeuralQError {
    /// γ ∉ [0, 1).
    #[error("the discount is {0}, outside [0, 1)")]
    DiscountOutsideUnitInterval(f64),
    /// Nobody was seen twice, so there is no tuple to learn from.
    #[error("there is no transition to learn from: no person has a state after a decision")]
    NoTransitions,
    /// States too large to be standardised.
    #[error(transparent)]
    Standardizer(#[from] StandardizerError),
}

/// A net with one output an action, on standardised inputs. A level code, if there is one, enters as indicators.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QNet {
    scale: Standardizer,
    /// K when the last number of a row is a level code, 1 when there is none.
    levels: usize,
    network: Network,
}

impl QNet {
    /// How many numbers a row has.
    pub fn inputs(&self) -> usize {
        self.scale.width() + usize::from(self.levels > 1)
    }

    /// |A|.
    pub fn actions(&self) -> usize {
        self.network.outputs()
    }

    /// Whether the parts fit together, for a net that comes from a file.
    pub fn is_consistent(&self) -> bool {
        let indicators = if self.levels > 1 { self.levels } else { 0 };
        self.scale.width().checked_add(indicators) == Some(self.network.inputs())
    }

    fn encode(&self, rows: &[f64]) -> Vec<f64> {
        let (width, p) = (self.inputs(), self.scale.width());
        let mut encoded = vec![0.0; rows.len() / width * self.network.inputs()];
        for (to, row) in encoded.chunks_exact_mut(self.network.inputs()).zip(rows.chunks_exact(width)) {
            to[..p].copy_from_slice(&row[..p]);
            self.scale.apply(&mut to[..p]);
            if self.levels > 1 {
                to[p + row[p] as usize] = 1.0;
            }
        }
        encoded
    }

    /// Q of every action, |A| a row.
    fn by_row(&self, encoded: &[f64], workspace: &mut Workspace) -> Vec<f64> {
        let mut q = vec![0.0; encoded.len() / self.network.inputs() * self.actions()];
        self.network.predict(encoded, &mut q, workspace);
        q
    }
}

/// The action value of a net, on views of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct NeuralQ<V> {
    net: QNet,
    kind: PhantomData<V>,
}

impl<V> NeuralQ<V> {
    /// The action value that this net computes.
    pub fn new(net: QNet) -> Self {
        Self { net, kind: PhantomData }
    }

    /// The net.
    pub fn net(&self) -> &QNet {
        &self.net
    }
}

impl<V: View> ActionValue<V> for NeuralQ<V> {
    fn inputs(&self) -> usize {
        self.net.inputs()
    }

    fn actions(&self) -> usize {
        self.net.actions()
    }

    fn values(&self, rows: &[f64], out: &mut [f64]) {
        let q = self.net.by_row(&self.net.encode(rows), &mut Workspace::default());
        let (n, actions) = (rows.len() / self.net.inputs(), self.net.actions());
        for (i, row) in q.chunks_exact(actions).enumerate() {
            for (a, value) in row.iter().enumerate() {
                out[a * n + i] = *value;
            }
        }
    }
}

/// Fitted Q iteration (`alg:cf:2`) with a net.
///
/// The first targets are the rewards (f̂₀ = 0). Each iteration continues from the weights of the one before, with a fresh optimiser.
/// `levels` is K when the last number of a view is a level code, as for Full, and 1 otherwise.
///
/// # Errors
/// [`NeuralQError`]. Divergence is an [`Outcome`].
pub fn neural_fitted_q_iteration<V: View>(
    experience: &Experience<V>,
    levels: usize,
    settings: &NeuralSettings,
    stream: Stream,
) -> Result<(NeuralQ<V>, Outcome), NeuralQError> {
    let γ = settings.discount;
    if !(0.0..1.0).contains(&γ) {
        return Err(NeuralQError::DiscountOutsideUnitInterval(γ));
    }
    if experience.transitions() == 0 {
        return Err(NeuralQError::NoTransitions);
    }
    let tuples = Tuples::of(experience);
    let (width, actions) = (experience.width(), experience.actions_count());
    let p = width - usize::from(levels > 1);
    let coordinates: Vec<f64> = tuples.states.chunks_exact(width).flat_map(|row| &row[..p]).copied().collect();
    let mut widths = vec![p + if levels > 1 { levels } else { 0 }];
    widths.extend(&settings.hidden);
    widths.push(actions);
    let network = Network::new(&widths, &mut stream.named("net").rng());
    let mut net = QNet { scale: Standardizer::fit(&coordinates, p)?, levels, network };
    let (states, next) = (net.encode(&tuples.states), net.encode(&tuples.next));
    let limit = divergence_limit(tuples.rewards.iter().fold(0.0f64, |m, r| m.max(r.abs())), γ);

    let (mut trainer, mut workspace) = (Trainer::default(), Workspace::default());
    let mut targets = tuples.rewards.clone();
    let mut outcome = Outcome::IterationLimit { iterations: 0, change: 0.0 };
    for b in 1..=settings.iterations {
        if b > 1 {
            let q = net.by_row(&next, &mut workspace);
            for ((y, r), q) in targets.iter_mut().zip(&tuples.rewards).zip(q.chunks_exact(actions)) {
                *y = r + γ * q.iter().fold(f64::NEG_INFINITY, |best, q| best.max(*q));
            }
        }
        let before = net.by_row(&states, &mut workspace);
        let examples = Examples { inputs: &states, targets: &targets, loss: Loss::SelectedOutput(&tuples.actions) };
        let mut adam = Adam::new(settings.learning_rate, net.network.parameters());
        let done = gradient_steps(&mut net.network, &mut adam, examples, settings.steps, &mut trainer);
        let after = net.by_row(&states, &mut workspace);
        let size = after.iter().fold(0.0f64, |m, q| m.max(q.abs()));
        if matches!(done, StepsOutcome::Diverged { .. }) || !size.is_finite() || size > limit {
            outcome = Outcome::Diverged { iteration: b };
            break;
        }
        let change = before.iter().zip(&after).fold(0.0f64, |m, (b, a)| m.max((a - b).abs()));
        outcome = Outcome::IterationLimit { iterations: b, change: if size > 0.0 { change / size } else { 0.0 } };
    }
    Ok((NeuralQ::new(net), outcome))
}

/// Tuples (s, a, r, s′), row-major.
struct Tuples {
    states: Vec<f64>,
    actions: Vec<u32>,
    rewards: Vec<f64>,
    next: Vec<f64>,
}

impl Tuples {
    fn of<V: View>(experience: &Experience<V>) -> Self {
        let (n, width) = (experience.transitions(), experience.width());
        let mut tuples = Self {
            states: Vec::with_capacity(n * width),
            actions: Vec::with_capacity(n),
            rewards: Vec::with_capacity(n),
            next: Vec::with_capacity(n * width),
        };
        for i in 0..experience.people() {
            let (views, decisions) = (experience.views_of(i), experience.decisions_of(i));
            let moves = views.len() - 1;
            let rows = |from: usize| &experience.views()[from * width..(from + moves) * width];
            tuples.states.extend_from_slice(rows(views.start));
            tuples.next.extend_from_slice(rows(views.start + 1));
            tuples.actions.extend_from_slice(&experience.actions()[decisions.start..decisions.start + moves]);
            tuples.rewards.extend_from_slice(&experience.rewards()[decisions.start..decisions.start + moves]);
        }
        tuples
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::people::{Labels, Panel, PanelBuilder, Person};
    use crate::kernel::preprocess::{StateOnly, Unaware, batch};

    /// r and s′ by state and action, both states and both actions being seen.
    const REWARD: [[f64; 2]; 2] = [[1.0, -0.5], [0.25, 2.0]];
    const NEXT: [[usize; 2]; 2] = [[0, 1], [1, 0]];

    fn experience(panel: &Panel) -> Experience<StateOnly> {
        batch(&Unaware { state_dim: 1 }, panel).unwrap()
    }

    fn builder() -> PanelBuilder {
        PanelBuilder::new(Labels::numbered(1), Labels::numbered(2), 1).unwrap()
    }

    fn deterministic() -> Experience<StateOnly> {
        let mut builder = builder();
        for (i, actions) in [[0u32, 1, 0, 1, 1], [1, 0, 1, 0, 0], [1, 1, 0, 0, 1]].iter().enumerate() {
            let (mut s, mut states, mut rewards) = (i % 2, vec![(i % 2) as f64], vec![]);
            for &a in actions {
                rewards.push(REWARD[s][a as usize]);
                s = NEXT[s][a as usize];
                states.push(s as f64);
            }
            let id = i.to_string();
            builder.push(Person { id: &id, level: 0, states: &states, actions, rewards: &rewards }).unwrap();
        }
        experience(&builder.finish())
    }

    #[test]
    fn a_flexible_net_does_value_iteration() {
        let settings =
            NeuralSettings { discount: 0.5, iterations: 3, steps: 800, learning_rate: 0.02, hidden: vec![16] };
        let (q, outcome) = neural_fitted_q_iteration(&deterministic(), 1, &settings, Stream::new(3)).unwrap();
        let mut exact = [[0.0; 2]; 2];
        for _ in 0..3 {
            let best = exact.map(|row: [f64; 2]| row[0].max(row[1]));
            exact = [0, 1].map(|s| [0, 1].map(|a: usize| REWARD[s][a] + 0.5 * best[NEXT[s][a]]));
        }
        let mut values = [0.0; 4];
        q.values(&[0.0, 1.0], &mut values);
        for s in 0..2 {
            for a in 0..2 {
                // What 800 steps leave of the loss; one iteration more or less moves values by 0.1 and more.
                assert!((values[2 * a + s] - exact[s][a]).abs() < 0.02, "{values:?} and {exact:?}");
            }
        }
        assert!(matches!(outcome, Outcome::IterationLimit { iterations: 3, change } if 0.01 < change && change < 0.5));
    }

    #[test]
    fn steps_that_run_away_are_called_divergent() {
        let settings = NeuralSettings { learning_rate: 1e12, iterations: 2, steps: 5, ..NeuralSettings::default() };
        let (_, outcome) = neural_fitted_q_iteration(&deterministic(), 1, &settings, Stream::new(3)).unwrap();
        assert_eq!(outcome, Outcome::Diverged { iteration: 1 });
    }

    #[test]
    fn calls_that_make_no_sense_are_errors() {
        let run = |panel: &Panel, discount: f64| {
            let settings = NeuralSettings { discount, iterations: 1, steps: 1, ..NeuralSettings::default() };
            neural_fitted_q_iteration(&experience(panel), 1, &settings, Stream::new(1)).unwrap_err()
        };
        let mut alone = builder();
        alone.push(Person { id: "a", level: 0, states: &[0.5], actions: &[0], rewards: &[1.0] }).unwrap();
        let alone = alone.finish();
        assert_eq!(run(&alone, 1.0), NeuralQError::DiscountOutsideUnitInterval(1.0));
        assert_eq!(run(&alone, 0.9), NeuralQError::NoTransitions);
    }

    #[test]
    fn a_tuple_ends_where_its_person_has_a_next_state() {
        let mut builder = builder();
        builder
            .push(Person { id: "a", level: 0, states: &[0.0, 1.0, 2.0], actions: &[0, 1], rewards: &[1.0, 2.0] })
            .unwrap();
        builder.push(Person { id: "b", level: 0, states: &[4.0], actions: &[1], rewards: &[9.0] }).unwrap();
        builder
            .push(Person { id: "c", level: 0, states: &[7.0, 8.0], actions: &[1, 0], rewards: &[3.0, 5.0] })
            .unwrap();
        let Tuples { states, actions, rewards, next } = Tuples::of(&experience(&builder.finish()));
        assert_eq!((states, next), (vec![0.0, 1.0, 7.0], vec![1.0, 2.0, 8.0]));
        assert_eq!((actions, rewards), (vec![0, 1, 1], vec![1.0, 2.0, 3.0]));
    }

    fn three_levels() -> QNet {
        let scale = Standardizer::fit(&[1.0, 10.0, 3.0, 50.0, 8.0, 30.0], 2).unwrap();
        QNet { scale, levels: 3, network: Network::new(&[5, 4, 2], &mut Stream::new(1).rng()) }
    }

    #[test]
    fn coordinates_are_standardised_and_a_level_becomes_an_indicator() {
        let net = three_levels();
        let mut coordinates = [1.0, 10.0, 3.0, 50.0];
        net.scale.apply(&mut coordinates);
        let [a, b, c, d] = coordinates;
        assert_eq!(net.inputs(), 3);
        assert_eq!(net.encode(&[1.0, 10.0, 2.0, 3.0, 50.0, 0.0]), [a, b, 0.0, 0.0, 1.0, c, d, 1.0, 0.0, 0.0]);
        assert!(net.is_consistent());
        assert!(!QNet { levels: 2, ..net.clone() }.is_consistent() && !QNet { levels: 1, ..net }.is_consistent());
    }

    #[test]
    fn values_come_action_after_action() {
        let q = NeuralQ::<StateOnly>::new(three_levels());
        let rows = [[1.0, 10.0, 2.0], [3.0, 50.0, 0.0]];
        let (mut both, mut alone) = ([0.0; 4], [[0.0; 2]; 2]);
        q.values(&rows.concat(), &mut both);
        rows.iter().zip(&mut alone).for_each(|(row, out)| q.values(row, out));
        assert_eq!(both, [alone[0][0], alone[1][0], alone[0][1], alone[1][1]]);
        assert!(both[0] != both[1] && both[0] != both[2]);
    }

    #[test]
    fn a_level_that_decides_the_reward_is_read() {
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).unwrap();
        for i in 0..8u32 {
            let (id, level, reward) = (i.to_string(), i % 2, if i % 2 == 0 { 1.0 } else { -2.0 });
            let states = [f64::from(i / 2), 0.0];
            builder
                .push(Person { id: &id, level, states: &states, actions: &[i / 2 % 2], rewards: &[reward] })
                .unwrap();
        }
        let data = batch(&crate::kernel::preprocess::Full { state_dim: 1 }, &builder.finish()).unwrap();
        let settings =
            NeuralSettings { discount: 0.0, iterations: 1, steps: 600, learning_rate: 0.02, hidden: vec![16] };
        let (q, _) = neural_fitted_q_iteration(&data, 2, &settings, Stream::new(8)).unwrap();
        assert_eq!(q.inputs(), 2);
        let mut values = [0.0; 4];
        q.values(&[0.0, 0.0, 0.0, 1.0], &mut values);
        // Action 0 was seen at state 0 with both levels; 600 steps leave less than a tenth of the loss.
        assert!((values[0] - 1.0).abs() < 0.1 && (values[1] + 2.0).abs() < 0.1, "{values:?}");
    }

    #[test]
    fn the_change_is_the_last_movement_as_a_share_of_the_largest_value() {
        let run = |iterations| {
            let settings = NeuralSettings { iterations, steps: 40, hidden: vec![8], ..NeuralSettings::default() };
            neural_fitted_q_iteration(&deterministic(), 1, &settings, Stream::new(6)).unwrap()
        };
        let values = |q: NeuralQ<StateOnly>| {
            let mut values = [0.0; 4];
            q.values(&[0.0, 1.0], &mut values);
            values
        };
        let ((before, _), (after, outcome)) = (run(3), run(4));
        let (before, after) = (values(before), values(after));
        let largest = |x: &mut dyn Iterator<Item = f64>| x.fold(0.0f64, |m, x| m.max(x.abs()));
        let moved = largest(&mut before.iter().zip(&after).map(|(b, a)| a - b));
        let expected = moved / largest(&mut after.iter().copied());
        let Outcome::IterationLimit { iterations: 4, change } = outcome else { panic!("{outcome:?}") };
        assert!((change - expected).abs() < 1e-12 * expected && change < 1.0, "{change} and {expected}");
    }
}
