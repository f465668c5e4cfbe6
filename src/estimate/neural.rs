//! Neural mechanisms, as in supplement F.1: a net a level, [64, 64], early stopping on a fifth of the rows.

use super::mean_table::RegressionReport;
use super::{FitError, Pooling};
use crate::kernel::numeric::Stream;
use crate::kernel::people::Panel;
use crate::nets::{Network, Standardizer, Training, TrainingOutcome, Workspace, train};
use serde::{Deserialize, Serialize};

/// How nets are built and trained.
#[derive(Debug, Clone, PartialEq)]
pub struct NeuralSettings {
    /// Widths of the hidden layers.
    pub hidden: Vec<usize>,
    /// Mini-batches, learning rate and early stopping.
    pub training: Training,
}

impl Default for NeuralSettings {
    /// Supplement F.1.
    fn default() -> Self {
        Self { hidden: vec![64, 64], training: Training::default() }
    }
}

/// One net for all levels, or one for each. A net reads the state, one indicator an action and, when pooled, one a level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Nets {
    actions: usize,
    /// K when pooled, 0 when every level has its own net.
    level_inputs: usize,
    nets: Vec<Net>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Net {
    states: Standardizer,
    outputs: Standardizer,
    network: Network,
}

/// Fits nets to the transitions of a panel.
pub(super) fn fit_nets(
    panel: &Panel,
    pooling: Pooling,
    settings: &NeuralSettings,
    stream: Stream,
) -> Result<(Nets, Vec<RegressionReport>), FitError> {
    let (p, levels) = (panel.state_dim(), panel.levels().len());
    let (groups, level_inputs): (Vec<Option<usize>>, usize) = match pooling {
        Pooling::Pooled => (vec![None], levels),
        Pooling::PerLevel | Pooling::Chosen | Pooling::Cautious => ((0..levels).map(Some).collect(), 0),
    };
    let mut fitted = Nets { actions: panel.action_names().len(), level_inputs, nets: Vec::new() };
    let mut reports = Vec::new();
    for (index, only) in groups.into_iter().enumerate() {
        let rows = Rows::of(panel, only);
        if rows.actions.is_empty() {
            let level = only.map_or_else(|| "(all)".into(), |k| panel.levels().name(k).to_string());
            return Err(FitError::EmptyLevel { level });
        }
        let (states, outputs) = (Standardizer::fit(&rows.states, p)?, Standardizer::fit(&rows.outputs, p + 1)?);
        let mut inputs = Vec::new();
        fitted.inputs(&states, &rows.states, &rows.actions, &rows.levels, &mut inputs);
        let mut targets = rows.outputs.clone();
        outputs.apply(&mut targets);
        let mut rng = stream.index(index as u64).rng();
        let mut widths = vec![p + fitted.actions + level_inputs];
        widths.extend(&settings.hidden);
        widths.push(p + 1);
        let mut network = Network::new(&widths, &mut rng);
        let outcome = train(&mut network, &inputs, &targets, &settings.training, &mut rng).outcome;
        if let TrainingOutcome::Diverged { epoch } = outcome {
            return Err(FitError::Diverged { epoch });
        }
        let mut predicted = vec![0.0; targets.len()];
        network.predict(&inputs, &mut predicted, &mut Workspace::default());
        outputs.invert(&mut predicted);
        let n = rows.actions.len();
        let mut residual_sd = vec![0.0; p + 1];
        for (i, (observed, predicted)) in rows.outputs.iter().zip(&predicted).enumerate() {
            residual_sd[i % (p + 1)] += (observed - predicted).powi(2) / n as f64;
        }
        residual_sd.iter_mut().for_each(|v| *v = v.sqrt());
        let columns = network.parameters();
        let degrees = vec![columns as f64; p + 1];
        reports.push(RegressionReport { level: only, rows: n, columns, rank: columns, degrees, residual_sd });
        fitted.nets.push(Net { states, outputs, network });
    }
    Ok((fitted, reports))
}

impl Nets {
    fn net(&self, level: usize) -> &Net {
        &self.nets[if self.level_inputs > 0 { 0 } else { level }]
    }

    /// Inputs of a net, row by row: standardised state, indicators of the action, indicators of the level.
    fn inputs(&self, scale: &Standardizer, states: &[f64], actions: &[u32], levels: &[u32], inputs: &mut Vec<f64>) {
        let p = scale.width();
        let width = p + self.actions + self.level_inputs;
        inputs.clear();
        inputs.resize(actions.len() * width, 0.0);
        for (i, (row, state)) in inputs.chunks_exact_mut(width).zip(states.chunks_exact(p)).enumerate() {
            row[..p].copy_from_slice(state);
            scale.apply(&mut row[..p]);
            row[p + actions[i] as usize] = 1.0;
            if self.level_inputs > 0 {
                row[p + self.actions + levels[i] as usize] = 1.0;
            }
        }
    }

    /// μ̂ at one level for a block of rows.
    pub(super) fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        let net = self.net(level);
        let p = net.states.width();
        let mut inputs = Vec::new();
        self.inputs(&net.states, states, actions, &vec![level as u32; actions.len()], &mut inputs);
        let mut outputs = vec![0.0; actions.len() * (p + 1)];
        net.network.predict(&inputs, &mut outputs, &mut Workspace::default());
        net.outputs.invert(&mut outputs);
        for ((row, next), reward) in outputs.chunks_exact(p + 1).zip(next.chunks_exact_mut(p)).zip(rewards) {
            next.copy_from_slice(&row[..p]);
            *reward = row[p];
        }
    }

    /// Whether the parts fit a mechanism of this shape.
    pub(super) fn is_consistent(&self, p: usize, levels: usize, actions: usize) -> bool {
        let pooled = self.level_inputs == levels && self.nets.len() == 1;
        let apart = self.level_inputs == 0 && self.nets.len() == levels;
        self.actions == actions
            && (pooled || apart)
            && self.nets.iter().all(|net| {
                (net.states.width(), net.outputs.width()) == (p, p + 1)
                    && (net.network.inputs(), net.network.outputs()) == (p + actions + self.level_inputs, p + 1)
            })
    }
}

/// The transitions of one group of people.
#[derive(Default)]
struct Rows {
    states: Vec<f64>,
    actions: Vec<u32>,
    levels: Vec<u32>,
    /// Next state and reward, p + 1 numbers a row.
    outputs: Vec<f64>,
}

impl Rows {
    fn of(panel: &Panel, only: Option<usize>) -> Self {
        let p = panel.state_dim();
        let mut rows = Self::default();
        for person in panel.iter().filter(|person| only.is_none_or(|k| k == person.level as usize)) {
            let steps = person.states.chunks_exact(p).zip(person.states.chunks_exact(p).skip(1));
            for ((state, next), (&action, &reward)) in steps.zip(person.actions.iter().zip(person.rewards)) {
                rows.states.extend_from_slice(state);
                rows.actions.push(action);
                rows.levels.push(person.level);
                rows.outputs.extend_from_slice(next);
                rows.outputs.push(reward);
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::people::{Labels, PanelBuilder, Person};

    /// A last decision whose next state was not seen, and a person seen once.
    fn uneven(levels: usize) -> Panel {
        let mut builder = PanelBuilder::new(Labels::numbered(levels), Labels::numbered(3), 2).unwrap();
        let mut push = |id: &str, level: u32, states: &[f64], actions: &[u32], rewards: &[f64]| {
            builder.push(Person { id, level, states, actions, rewards }).unwrap();
        };
        push("a", 1, &[1.0, 10.0, 2.0, 20.0, 3.0, 30.0], &[2, 0], &[0.5, -0.5]);
        push("b", 0, &[4.0, 40.0, 5.0, 50.0], &[1, 2], &[7.0, 8.0]);
        push("c", levels as u32 - 1, &[6.0, 60.0], &[1], &[9.0]);
        builder.finish()
    }

    #[test]
    fn rows_are_the_transitions_of_the_people_asked_for() {
        let all = Rows::of(&uneven(2), None);
        assert_eq!(all.states, [1.0, 10.0, 2.0, 20.0, 4.0, 40.0]);
        assert_eq!((all.actions, all.levels), (vec![2, 0, 1], vec![1, 1, 0]));
        assert_eq!(all.outputs, [2.0, 20.0, 0.5, 3.0, 30.0, -0.5, 5.0, 50.0, 7.0]);
        let one = Rows::of(&uneven(2), Some(0));
        assert_eq!((one.states, one.actions, one.levels), (vec![4.0, 40.0], vec![1], vec![0]));
        assert_eq!(one.outputs, [5.0, 50.0, 7.0]);
    }

    /// Centre (2, 30) and scale (1, 20) of the state; centre (2, 1, 4) and scale (2, 1, 3) of the outputs.
    fn scales() -> (Standardizer, Standardizer) {
        let states = Standardizer::fit(&[1.0, 10.0, 3.0, 50.0], 2).unwrap();
        (states, Standardizer::fit(&[0.0, 0.0, 1.0, 4.0, 2.0, 7.0], 3).unwrap())
    }

    #[test]
    fn a_net_reads_the_scaled_state_and_indicators_of_action_and_level() {
        let (scale, _) = scales();
        let mut pooled = Nets { actions: 3, level_inputs: 2, nets: vec![] };
        let mut inputs = vec![9.0; 4];
        pooled.inputs(&scale, &[1.0, 10.0, 5.0, 70.0], &[2, 0], &[1, 0], &mut inputs);
        assert_eq!(inputs, [-1.0, -1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 3.0, 2.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
        pooled.level_inputs = 0;
        pooled.inputs(&scale, &[1.0, 10.0, 5.0, 70.0], &[2, 0], &[1, 0], &mut inputs);
        assert_eq!(inputs, [-1.0, -1.0, 0.0, 0.0, 1.0, 3.0, 2.0, 1.0, 0.0, 0.0]);
    }

    /// A net without hidden layers: the weights of two coordinates, three actions and, when pooled, two levels; then the biases.
    fn net(pooled: bool, bias: f64) -> Net {
        let mut values = vec![1.0, 0.0, 2.0, 0.0, 1.0, -1.0, 0.5, 0.0, 0.0, 0.0, 0.25, 1.0, 0.9, -0.4, 0.6];
        if pooled {
            values.extend([0.0, 0.0, 0.5, 2.0, 0.0, -1.0]);
        }
        values.extend([bias, 0.2, 0.3]);
        let (states, outputs) = scales();
        let widths = vec![if pooled { 7 } else { 5 }, 3];
        Net { states, outputs, network: Network::from_values(widths, values).unwrap() }
    }

    fn assert_mean(nets: &Nets, level: usize, expected: &[[f64; 3]; 2]) {
        let (mut next, mut rewards) = ([0.0; 4], [0.0; 2]);
        nets.mean(level, &[1.0, 10.0, 5.0, 70.0], &[1, 0], &mut next, &mut rewards);
        let found = [next[0], next[1], rewards[0], next[2], next[3], rewards[1]];
        found.iter().zip(expected.as_flattened()).for_each(|(x, y)| assert!((x - y).abs() < 1e-12, "{found:?}"));
    }

    #[test]
    fn means_of_nets_that_are_lines_are_the_lines() {
        let pooled = Nets { actions: 3, level_inputs: 2, nets: vec![net(true, 0.1)] };
        // The first row at level 1: (−1, −1), action 1 and the level make 1.1, −0.55 and −0.7, which are scaled back.
        assert_mean(&pooled, 1, &[[4.2, 0.45, 1.9], [13.2, 3.2, 13.9]]);
        assert_mean(&pooled, 0, &[[0.2, 0.45, 6.4], [9.2, 3.2, 18.4]]);
        let apart = Nets { actions: 3, level_inputs: 0, nets: vec![net(false, 0.1), net(false, 1.1)] };
        assert_mean(&apart, 0, &[[0.2, 0.45, 4.9], [9.2, 3.2, 16.9]]);
        assert_mean(&apart, 1, &[[2.2, 0.45, 4.9], [11.2, 3.2, 16.9]]);
    }

    #[test]
    fn parts_that_do_not_fit_are_seen() {
        let pooled = Nets { actions: 3, level_inputs: 2, nets: vec![net(true, 0.1)] };
        let apart = Nets { actions: 3, level_inputs: 0, nets: vec![net(false, 0.1), net(false, 1.1)] };
        for nets in [&pooled, &apart] {
            assert!(nets.is_consistent(2, 2, 3));
            assert!(!nets.is_consistent(3, 2, 3) && !nets.is_consistent(2, 3, 3) && !nets.is_consistent(2, 2, 4));
            let mut wrong = nets.clone();
            wrong.nets[0].states = wrong.nets[0].outputs.clone();
            assert!(!wrong.is_consistent(2, 2, 3));
            let mut wrong = nets.clone();
            wrong.nets[0].outputs = wrong.nets[0].states.clone();
            assert!(!wrong.is_consistent(2, 2, 3));
            let mut wrong = nets.clone();
            wrong.nets[0].network = Network::from_values(vec![4, 3], vec![0.5; 15]).unwrap();
            assert!(!wrong.is_consistent(2, 2, 3));
        }
        assert!(!Nets { nets: vec![net(true, 0.1); 2], ..pooled }.is_consistent(2, 2, 3));
        assert!(!Nets { nets: vec![net(false, 0.1)], ..apart }.is_consistent(2, 2, 3));
    }

    /// Next state and reward; levels shift them, and `twist` makes them turn the state differently.
    fn law(twist: f64, z: f64, s: [f64; 2], a: f64) -> [f64; 3] {
        [
            (0.6 + twist * z) * s[0] + 0.2 * s[1] + 0.8 * a + 1.5 * z,
            0.5 * a - 0.4 * s[1] + 0.3 * z,
            s[0] - s[1] + 2.0 * a - z,
        ]
    }

    /// What pairs of equal decisions differ by, up and down.
    const SPREAD: [f64; 3] = [0.3, 0.1, 0.7];

    fn pairs(twist: f64) -> Panel {
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 2).unwrap();
        for i in 0..120 {
            let (pair, sign) = (i / 2, if i % 2 == 0 { 1.0 } else { -1.0 });
            let s = [2.5 * (1.7 * f64::from(pair)).sin(), 1.5 * (2.9 * f64::from(pair)).cos() + 0.5];
            let (z, a) = (u32::from(pair % 3 == 0), (pair / 2) % 2);
            let [x, y, r] = law(twist, f64::from(z), s, f64::from(a));
            let states = [s[0], s[1], x + sign * SPREAD[0], y + sign * SPREAD[1]];
            let (id, rewards) = (i.to_string(), [r + sign * SPREAD[2]]);
            builder.push(Person { id: &id, level: z, states: &states, actions: &[a], rewards: &rewards }).unwrap();
        }
        builder.finish()
    }

    fn lines(learning_rate: f64) -> NeuralSettings {
        let training = Training {
            epochs_max: 800,
            batch: 1000,
            learning_rate,
            validation_share: 0.0,
            patience: 800,
            min_improvement: 0.0,
        };
        NeuralSettings { hidden: vec![], training }
    }

    #[test]
    fn a_net_that_contains_the_law_finds_it_and_reports_the_spread_around_it() {
        for (pooling, twist) in [(Pooling::Pooled, 0.0), (Pooling::PerLevel, 0.4), (Pooling::Chosen, 0.4)] {
            let (nets, reports) = fit_nets(&pairs(twist), pooling, &lines(0.05), Stream::new(4)).unwrap();
            for (level, action) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let (mut next, mut reward) = ([0.0; 2], [0.0]);
                nets.mean(level, &[0.7, -1.2], &[action], &mut next, &mut reward);
                let expected = law(twist, level as f64, [0.7, -1.2], f64::from(action));
                for (x, y) in [next[0], next[1], reward[0]].iter().zip(expected) {
                    // What 800 steps leave of the loss.
                    assert!((x - y).abs() < 0.02, "{pooling:?}, level {level}: {x} and {y}");
                }
            }
            // A weight for each input, and a bias, to each of three outputs.
            let shapes: Vec<_> = reports.iter().map(|r| (r.level, r.rows, r.columns, r.rank)).collect();
            match pooling {
                Pooling::Pooled => assert_eq!(shapes, [(None, 120, 21, 21)]),
                _ => assert_eq!(shapes, [(Some(0), 80, 15, 15), (Some(1), 40, 15, 15)]),
            }
            for report in &reports {
                assert_eq!(report.degrees, vec![report.columns as f64; 3]);
                report.residual_sd.iter().zip(SPREAD).for_each(|(x, y)| assert!((x - y).abs() < 0.005, "{x} and {y}"));
            }
        }
    }

    #[test]
    fn levels_that_nobody_moved_on_from_and_steps_that_run_away_are_named() {
        let run = |panel: &Panel, pooling| fit_nets(panel, pooling, &lines(0.05), Stream::new(1)).unwrap_err();
        // Level 2 has one person, who was seen once.
        assert_eq!(run(&uneven(3), Pooling::PerLevel), FitError::EmptyLevel { level: "2".into() });
        let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(1), 1).unwrap();
        builder.push(Person { id: "a", level: 0, states: &[1.0], actions: &[0], rewards: &[1.0] }).unwrap();
        assert_eq!(run(&builder.finish(), Pooling::Pooled), FitError::EmptyLevel { level: "(all)".into() });
        let diverged = fit_nets(&pairs(0.0), Pooling::Pooled, &lines(1e200), Stream::new(1)).unwrap_err();
        assert_eq!(diverged, FitError::Diverged { epoch: 1 });
    }

    #[test]
    fn what_was_fitted_fits_together() {
        let mut settings = lines(0.05);
        settings.training.epochs_max = 1;
        for pooling in [Pooling::Pooled, Pooling::PerLevel] {
            let (nets, _) = fit_nets(&pairs(0.4), pooling, &settings, Stream::new(4)).unwrap();
            assert!(nets.is_consistent(2, 2, 2), "{pooling:?}");
        }
    }
}
