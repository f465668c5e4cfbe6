//! Neural mechanisms, as in supplement F.1: a net a level, [64, 64], early stopping on a fifth of the rows.

use super::regression::RegressionReport;
use super::{FitError, Pooling};
use crate::data::Panel;
use crate::numeric::Stream;
use crate::numeric::network::{Network, Standardizer, Training, TrainingOutcome, Workspace, train};
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
        Pooling::PerLevel | Pooling::Chosen => ((0..levels).map(Some).collect(), 0),
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
