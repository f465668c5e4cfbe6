//! What to look at before trusting preprocessed data: residuals, support and whether noise depends on the level.

use super::{Augmented, Experience};
use crate::data::Panel;
use crate::model::Mechanism;
use crate::numeric::Estimate;
use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Diagnostics of `alg:cf:1` on one panel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnostics {
    /// Residual mean and spread for each level, action and output.
    pub residuals: Vec<ResidualCell>,
    /// Whether the spread of the noise depends on the level, for each output.
    pub dependence: Vec<Dependence>,
    /// For each level, how many counterfactual states lie where that level has no data.
    pub support: Vec<Support>,
    /// Level–action pairs that nobody shows: the mechanism there is extrapolation alone.
    pub unseen: Vec<(usize, usize)>,
}

/// Residuals of one level and action.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResidualCell {
    /// The level.
    pub level: usize,
    /// The action.
    pub action: usize,
    /// The state coordinate, or p for the reward.
    pub output: usize,
    /// Mean residual, with people as units.
    pub mean: Estimate,
    /// Standard deviation.
    pub spread: f64,
}

/// A Brown–Forsythe test: is the mean absolute residual the same at all levels?
///
/// Under `asm:additive` one noise serves every level, so residuals have one distribution. Their means are near zero by
/// construction; their spread is not. The statistic is a Wald statistic with people as units, because residuals of one person need not be
/// independent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dependence {
    /// The state coordinate, or p for the reward.
    pub output: usize,
    /// Mean |residual| at each level.
    pub spread: Vec<Estimate>,
    /// Wald statistic, χ² with K − 1 degrees of freedom under additivity.
    pub statistic: f64,
    /// Its p-value.
    pub p_value: f64,
}

/// How far counterfactual states of a level leave that level's own data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Support {
    /// The level.
    pub level: usize,
    /// Counterfactual states made for it from people of other levels.
    pub states: usize,
    /// How many of them have a coordinate outside the range that the level's own people show.
    pub outside: usize,
}

/// Residuals of every output are zero to rounding below this share of the output's own spread; a test of them would test rounding.
const NOISELESS: f64 = 1e-9;

/// Looks at a mechanism, the panel it was fitted on, and what `alg:cf:1` made of it.
pub fn diagnose(mechanism: &impl Mechanism, panel: &Panel, preprocessed: &Experience<Augmented>) -> Diagnostics {
    let residuals = Residuals::new(mechanism, panel);
    let (levels, actions, outputs) = (panel.levels().len(), panel.action_names().len(), panel.state_dim() + 1);
    let mut cells = Vec::new();
    let mut unseen = Vec::new();
    for level in 0..levels {
        for action in 0..actions {
            if !residuals.rows.iter().any(|row| (row.level, row.action) == (level, action)) {
                unseen.push((level, action));
            }
            for output in 0..outputs {
                let (mean, spread) = residuals.cell(level, action, output);
                if mean.count > 0 {
                    cells.push(ResidualCell { level, action, output, mean, spread });
                }
            }
        }
    }
    let dependence = (0..outputs).filter_map(|output| residuals.dependence(levels, output)).collect();
    Diagnostics { residuals: cells, dependence, support: support(panel, preprocessed), unseen }
}

struct ResidualRow {
    person: usize,
    level: usize,
    action: usize,
    /// p state residuals (`None` where the next state is unknown), then the reward's.
    values: Vec<Option<f64>>,
}

struct Residuals {
    rows: Vec<ResidualRow>,
    /// Largest absolute value of each output, the scale against which residuals may be rounding.
    scale: Vec<f64>,
}

impl Residuals {
    fn new(mechanism: &impl Mechanism, panel: &Panel) -> Self {
        let p = panel.state_dim();
        let (mut rows, mut scale) = (Vec::with_capacity(panel.decisions()), vec![0.0f64; p + 1]);
        let (mut next, mut reward) = (vec![0.0; p], [0.0]);
        for (i, person) in panel.iter().enumerate() {
            for (t, &action) in person.actions.iter().enumerate() {
                let state = &person.states[t * p..(t + 1) * p];
                mechanism.mean(person.level as usize, state, &[action], &mut next, &mut reward);
                let after = person.states.get((t + 1) * p..(t + 2) * p);
                let mut values: Vec<Option<f64>> = (0..p).map(|j| after.map(|s| s[j] - next[j])).collect();
                values.push(Some(person.rewards[t] - reward[0]));
                for (j, scale) in scale.iter_mut().enumerate() {
                    let observed = if j < p { after.map_or(0.0, |s| s[j]) } else { person.rewards[t] };
                    *scale = scale.max(observed.abs());
                }
                rows.push(ResidualRow { person: i, level: person.level as usize, action: action as usize, values });
            }
        }
        Self { rows, scale }
    }

    fn cell(&self, level: usize, action: usize, output: usize) -> (Estimate, f64) {
        let rows = self.rows.iter().filter(|row| (row.level, row.action) == (level, action));
        let values: Vec<(usize, f64)> = rows.filter_map(|row| Some((row.person, row.values[output]?))).collect();
        let mean = by_person(&values);
        let squares: f64 = values.iter().map(|(_, x)| (x - mean.mean).powi(2)).sum();
        (mean, (squares / values.len().max(1) as f64).sqrt())
    }

    fn dependence(&self, levels: usize, output: usize) -> Option<Dependence> {
        let noiseless = NOISELESS * self.scale[output];
        let spread: Vec<Estimate> = (0..levels)
            .map(|level| {
                let rows = self.rows.iter().filter(|row| row.level == level);
                let values: Vec<(usize, f64)> =
                    rows.filter_map(|row| Some((row.person, row.values[output]?.abs()))).collect();
                by_person(&values)
            })
            .collect();
        if spread.iter().any(|s| s.count < 2) || spread.iter().all(|s| s.mean <= noiseless) {
            return None;
        }
        // Inverse-variance weighted common spread, then Σ ((spreadₖ − common) / seₖ)²: χ² with K − 1 degrees of freedom.
        let weights: Vec<f64> = spread.iter().map(|s| s.standard_error.max(f64::MIN_POSITIVE).powi(-2)).collect();
        let common = spread.iter().zip(&weights).map(|(s, w)| w * s.mean).sum::<f64>() / weights.iter().sum::<f64>();
        let statistic: f64 = spread.iter().zip(&weights).map(|(s, w)| w * (s.mean - common).powi(2)).sum();
        let chi = ChiSquared::new((levels - 1) as f64).ok()?;
        Some(Dependence { output, spread, statistic, p_value: chi.sf(statistic) })
    }
}

/// The mean of values that come in runs of one person.
fn by_person(values: &[(usize, f64)]) -> Estimate {
    let (mut sums, mut counts, mut last) = (Vec::new(), Vec::new(), None);
    for &(person, x) in values {
        if last != Some(person) {
            sums.push(0.0);
            counts.push(0.0);
            last = Some(person);
        }
        if let (Some(sum), Some(count)) = (sums.last_mut(), counts.last_mut()) {
            *sum += x;
            *count += 1.0;
        }
    }
    Estimate::clustered(&sums, &counts)
}

fn support(panel: &Panel, preprocessed: &Experience<Augmented>) -> Vec<Support> {
    let (p, levels) = (panel.state_dim(), panel.levels().len());
    let mut range = vec![vec![(f64::INFINITY, f64::NEG_INFINITY); p]; levels];
    for person in panel.iter() {
        for state in person.states.chunks_exact(p) {
            for (r, &s) in range[person.level as usize].iter_mut().zip(state) {
                *r = (r.0.min(s), r.1.max(s));
            }
        }
    }
    let mut found: Vec<Support> = (0..levels).map(|level| Support { level, states: 0, outside: 0 }).collect();
    for (i, person) in panel.iter().enumerate() {
        for row in preprocessed.views_of(i) {
            let view = &preprocessed.views()[row * p * levels..(row + 1) * p * levels];
            for (k, world) in view.chunks_exact(p).enumerate().filter(|(k, _)| *k != person.level as usize) {
                found[k].states += 1;
                let leaves = world.iter().zip(&range[k]).any(|(s, (low, high))| s < low || s > high);
                found[k].outside += usize::from(leaves);
            }
        }
    }
    found
}
