//! What is left of each output once its mean is taken away, beside what its spread may depend on.

use crate::estimate::RegressionReport;
use crate::kernel::model::{Means, Mechanism, abduct_panel};
use crate::kernel::numeric::column_moments;
use crate::kernel::people::Panel;
use serde::{Deserialize, Serialize};

/// States are looked at within this many standard deviations of their mean: counterfactual states leave the data, and a log-linear
/// spread would grow without bound out there.
const CLIP: f64 = 2.5;

/// What log σ is linear in: 1, each state coordinate in units of its spread and held within ±2.5 of them, and each action's indicator
/// but the first's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Inputs {
    centre: Vec<f64>,
    scale: Vec<f64>,
    actions: usize,
}

impl Inputs {
    /// No input is larger.
    pub const LARGEST: f64 = CLIP;

    /// Centre and scale of a panel's states.
    pub fn of(panel: &Panel) -> Self {
        let (centre, scale) = column_moments(panel.states(), panel.state_dim(), panel.state_dim());
        Self::new(centre, scale, panel.action_names().len())
    }

    /// From the mean and the variance of each state coordinate.
    pub fn new(centre: Vec<f64>, mut variance: Vec<f64>, actions: usize) -> Self {
        for x in &mut variance {
            *x = if *x > 0.0 && x.is_finite() { x.sqrt() } else { 1.0 };
        }
        Self { centre, scale: variance, actions }
    }

    /// How many numbers there are.
    pub fn width(&self) -> usize {
        self.centre.len() + self.actions
    }

    /// Whether they fit a mechanism of this shape.
    pub fn is_consistent(&self, p: usize, actions: usize) -> bool {
        let fine = |x: &f64| x.is_finite();
        self.centre.len() == p
            && self.scale.len() == p
            && self.actions == actions
            && self.centre.iter().all(fine)
            && self.scale.iter().all(|x| fine(x) && *x > 0.0)
    }

    /// γ · x at a state and action.
    #[inline]
    pub fn dot(&self, γ: &[f64], state: &[f64], action: u32) -> f64 {
        let mut sum = γ[0];
        for (j, s) in state.iter().enumerate() {
            sum += γ[1 + j] * self.coordinate(j, *s);
        }
        if action > 0 { sum + γ[state.len() + action as usize] } else { sum }
    }

    #[inline]
    fn coordinate(&self, j: usize, s: f64) -> f64 {
        ((s - self.centre[j]) / self.scale[j]).clamp(-CLIP, CLIP)
    }

    fn push(&self, state: &[f64], action: u32, out: &mut Vec<f64>) {
        out.push(1.0);
        out.extend(state.iter().enumerate().map(|(j, s)| self.coordinate(j, *s)));
        out.extend((1..self.actions).map(|a| f64::from(u8::from(a == action as usize))));
    }
}

/// One residual.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Row {
    /// Place of the person in the panel.
    pub person: usize,
    pub level: usize,
    /// The row of the inputs, or `None` for a first state.
    pub decision: Option<usize>,
    pub residual: f64,
}

/// The residuals of every output: p coordinates of the state, then the reward.
pub(super) struct Residuals {
    /// Flat, `Inputs::width` numbers a decision of the panel.
    pub inputs: Vec<f64>,
    pub outputs: Vec<Vec<Row>>,
    /// Largest absolute value of each output, against which residuals may be rounding.
    pub size: Vec<f64>,
    /// How many values each output takes, counted up to [`MANY`].
    pub distinct: Vec<usize>,
}

/// Nobody counts further.
pub(super) const MANY: usize = 64;

impl Residuals {
    /// Residuals around a mechanism's means. Where each level has a regression of its own, residuals are blown up by √(n/(n − degrees of
    /// freedom)), so that small levels do not seem quieter than large ones because their fit follows them closer.
    pub fn of(means: &impl Mechanism, reports: &[RegressionReport], inputs: &Inputs, panel: &Panel) -> Self {
        let mut people = vec![0usize; panel.levels().len()];
        panel.level_codes().iter().for_each(|&z| people[z as usize] += 1);
        Self::among(means, reports, inputs, panel, &people)
    }

    /// The same for a panel of some people among `people` at each level.
    pub fn among(
        means: &impl Mechanism,
        reports: &[RegressionReport],
        inputs: &Inputs,
        panel: &Panel,
        people: &[usize],
    ) -> Self {
        let p = panel.state_dim();
        let levels = panel.levels().len();
        let later = |level: usize, output: usize| {
            let report = reports.iter().find(|report| report.level == Some(level));
            report.map_or(1.0, |report| inflation(report.rows, report.degrees[output]))
        };
        let first: Vec<f64> = people.iter().map(|&n| inflation(n, 1.0)).collect();
        let later: Vec<Vec<f64>> = (0..levels).map(|z| (0..=p).map(|j| later(z, j)).collect()).collect();

        let mut found = Self {
            inputs: Vec::with_capacity(panel.decisions() * inputs.width()),
            outputs: vec![Vec::with_capacity(panel.state_rows()); p + 1],
            size: vec![0.0; p + 1],
            distinct: vec![],
        };
        let noise = abduct_panel(&Means(means), panel);
        for (i, person) in panel.iter().enumerate() {
            let (level, start) = (person.level as usize, panel.states_of(i).start);
            for (j, s) in person.states[..p].iter().enumerate() {
                let residual = first[level] * noise.states[start * p + j];
                found.outputs[j].push(Row { person: i, level, decision: None, residual });
                found.size[j] = found.size[j].max(s.abs());
            }
            for (t, decision) in panel.decisions_of(i).enumerate() {
                inputs.push(&person.states[t * p..(t + 1) * p], person.actions[t], &mut found.inputs);
                let mut push = |output: usize, value: f64, residual: f64| {
                    let residual = later[level][output] * residual;
                    found.outputs[output].push(Row { person: i, level, decision: Some(decision), residual });
                    found.size[output] = found.size[output].max(value.abs());
                };
                for j in 0..p {
                    if let Some(s) = person.states.get((t + 1) * p + j) {
                        push(j, *s, noise.states[(start + t + 1) * p + j]);
                    }
                }
                push(p, person.rewards[t], noise.rewards[decision]);
            }
        }
        found.distinct = (0..p).map(|j| distinct(panel.states().iter().skip(j).step_by(p))).collect();
        found.distinct.push(distinct(panel.rewards().iter()));
        found
    }
}

/// √(n/(n − d)), for fits that leave at least half of their rows free.
fn inflation(rows: usize, degrees: f64) -> f64 {
    let n = rows as f64;
    (n / (n - degrees).max(0.5 * n).max(1.0)).max(1.0).sqrt()
}

fn distinct<'a>(values: impl Iterator<Item = &'a f64>) -> usize {
    let mut seen: Vec<f64> = Vec::new();
    meet(&mut seen, values);
    seen.len()
}

/// Adds values to the sorted ones that were seen, up to [`MANY`].
pub(super) fn meet<'a>(seen: &mut Vec<f64>, values: impl Iterator<Item = &'a f64>) {
    for value in values {
        if seen.len() == MANY {
            break;
        }
        if let Err(at) = seen.binary_search_by(|x| x.total_cmp(value)) {
            seen.insert(at, *value);
        }
    }
}
