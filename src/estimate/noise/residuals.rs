//! What is left of each output once its mean is taken away, beside what its spread may depend on.

use super::choice::folds;
use crate::estimate::{FitError, RegressionReport};
use crate::kernel::model::{Means, Mechanism, abduct_panel};
use crate::kernel::numeric::Stream;
use crate::kernel::people::{Panel, People, Shape, try_each};
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

    /// Centre and scale of all states.
    pub fn of(people: &dyn People) -> Result<Self, FitError> {
        let Shape { state_dim: p, actions, .. } = people.shape();
        let n = people.state_rows().max(1) as f64;
        let (mut centre, mut variance) = (vec![0.0; *p], vec![0.0; *p]);
        let mut first: Vec<f64> = vec![];
        let mut is_constant = vec![true; *p];
        let each_state = |visit: &mut dyn FnMut(&[f64])| {
            try_each(people, |block| {
                block.states().chunks_exact(*p).for_each(&mut *visit);
                Ok::<(), FitError>(())
            })
        };
        each_state(&mut |state| {
            if first.is_empty() {
                first = state.to_vec();
            }
            for (j, s) in state.iter().enumerate() {
                centre[j] += s / n;
                is_constant[j] &= *s == first[j];
            }
        })?;
        each_state(&mut |state| (0..*p).for_each(|j| variance[j] += (state[j] - centre[j]).powi(2) / n))?;
        // The rounded mean of equal numbers may miss them, and rounding would pass for a spread.
        for j in (0..first.len()).filter(|&j| is_constant[j]) {
            (centre[j], variance[j]) = (first[j], 0.0);
        }
        let scale = |x: &f64| if *x > 0.0 && x.is_finite() { x.sqrt() } else { 1.0 };
        Ok(Self { centre, scale: variance.iter().map(scale).collect(), actions: actions.len() })
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
pub(super) struct Residual {
    /// Place of the person in the block.
    pub person: usize,
    pub level: usize,
    /// The row of the inputs, or `None` for a first state.
    pub decision: Option<usize>,
    pub value: f64,
}

/// The residuals of a block's people.
pub(super) struct Residuals {
    /// Flat, `Inputs::width` numbers per decision.
    inputs: Vec<f64>,
    width: usize,
    /// Of each output: p coordinates of the state, then the reward.
    pub outputs: Vec<Vec<Residual>>,
    /// Largest absolute value of each output, against which residuals may be rounding.
    pub size: Vec<f64>,
    /// The fold of each person; empty where no fold is left out.
    pub folds: Vec<usize>,
}

impl Residuals {
    /// What log σ of a decision is linear in.
    pub fn input(&self, decision: usize) -> &[f64] {
        &self.inputs[decision * self.width..(decision + 1) * self.width]
    }
}

/// Where residuals around some means come from: kept where people are in memory, made anew from each block where they are on disk.
pub(super) struct ResidualSource<'a> {
    pub people: &'a dyn People,
    pub inputs: &'a Inputs,
    /// One for each person of the source; without weights each counts once.
    pub weights: Option<&'a [f64]>,
    means: &'a dyn Mechanism,
    /// What residuals of first states, and of later outputs, are multiplied by at each level.
    first_factor: Vec<f64>,
    later_factor: Vec<Vec<f64>>,
    stream: Option<Stream>,
    kept: Option<Residuals>,
}

/// Residuals of a block, and what its people count for.
pub(super) struct WeightedResiduals<'a> {
    pub panel: &'a Panel,
    pub residuals: &'a Residuals,
    weights: Option<&'a [f64]>,
}

impl WeightedResiduals<'_> {
    pub fn weight(&self, residual: &Residual) -> f64 {
        self.weights.map_or(1.0, |weights| weights[residual.person])
    }
}

impl<'a> ResidualSource<'a> {
    /// Residuals around a mechanism's means. Where each level has a regression of its own, residuals are blown up by √(n/(n − degrees of
    /// freedom)), so that small levels do not seem quieter than large ones because their fit follows them closer. With a stream people are put
    /// into folds.
    pub fn new(
        people: &'a dyn People,
        inputs: &'a Inputs,
        (means, reports): (&'a dyn Mechanism, &[RegressionReport]),
        weights: Option<&'a [f64]>,
        stream: Option<Stream>,
    ) -> Self {
        let p = people.shape().state_dim;
        let later = |level: usize, output: usize| {
            let report = reports.iter().find(|report| report.level == Some(level));
            report.map_or(1.0, |report| inflation(report.rows, report.degrees[output]))
        };
        let sizes = people.level_sizes();
        let later_factor = (0..sizes.len()).map(|z| (0..=p).map(|j| later(z, j)).collect()).collect();
        let first_factor = sizes.iter().map(|&n| inflation(n, 1.0)).collect();
        let mut source = Self { people, inputs, weights, means, first_factor, later_factor, stream, kept: None };
        source.kept = people.in_memory().map(|panel| source.residuals_of(panel));
        source
    }

    pub fn levels(&self) -> usize {
        self.first_factor.len()
    }

    /// p + 1.
    pub fn outputs(&self) -> usize {
        self.people.shape().state_dim + 1
    }

    /// Visits residuals block by block.
    pub fn each(&self, mut visit: impl FnMut(&WeightedResiduals)) -> Result<(), FitError> {
        let mut first = 0;
        try_each(self.people, |panel| {
            let weights = self.weights.map(|weights| &weights[first..first + panel.people()]);
            first += panel.people();
            match &self.kept {
                Some(residuals) => visit(&WeightedResiduals { panel, residuals, weights }),
                None => visit(&WeightedResiduals { panel, residuals: &self.residuals_of(panel), weights }),
            }
            Ok(())
        })
    }

    fn residuals_of(&self, panel: &Panel) -> Residuals {
        let p = panel.state_dim();
        let mut found = Residuals {
            inputs: Vec::with_capacity(panel.decisions() * self.inputs.width()),
            width: self.inputs.width(),
            outputs: vec![Vec::with_capacity(panel.state_rows()); p + 1],
            size: vec![0.0; p + 1],
            folds: self.stream.map_or_else(Vec::new, |stream| folds(panel.ids(), stream)),
        };
        let noise = abduct_panel(&Means(self.means), panel);
        for (i, person) in panel.iter().enumerate() {
            let (level, start) = (person.level as usize, panel.states_of(i).start);
            for (j, s) in person.states[..p].iter().enumerate() {
                let value = self.first_factor[level] * noise.states[start * p + j];
                found.outputs[j].push(Residual { person: i, level, decision: None, value });
                found.size[j] = found.size[j].max(s.abs());
            }
            for (t, decision) in panel.decisions_of(i).enumerate() {
                self.inputs.push(&person.states[t * p..(t + 1) * p], person.actions[t], &mut found.inputs);
                let mut push = |output: usize, observed: f64, residual: f64| {
                    let value = self.later_factor[level][output] * residual;
                    found.outputs[output].push(Residual { person: i, level, decision: Some(decision), value });
                    found.size[output] = found.size[output].max(observed.abs());
                };
                for j in 0..p {
                    if let Some(s) = person.states.get((t + 1) * p + j) {
                        push(j, *s, noise.states[(start + t + 1) * p + j]);
                    }
                }
                push(p, person.rewards[t], noise.rewards[decision]);
            }
        }
        found
    }
}

/// √(n/(n − d)), for fits that leave at least half of their rows free.
fn inflation(rows: usize, degrees: f64) -> f64 {
    let n = rows as f64;
    (n / (n - degrees).max(0.5 * n).max(1.0)).max(1.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Inputs {
        pub fn for_test(width: usize) -> Self {
            Self { centre: vec![], scale: vec![], actions: width }
        }
    }

    impl Residuals {
        /// Those of one output.
        pub fn for_test(residuals: &[Residual], inputs: &[f64], width: usize) -> Self {
            let (inputs, outputs) = (inputs.to_vec(), vec![residuals.to_vec()]);
            Self { inputs, width, outputs, size: vec![1.0], folds: vec![] }
        }
    }

    impl<'a> ResidualSource<'a> {
        /// People of the levels of an empty panel, whose residuals are kept.
        pub fn for_test(panel: &'a Panel, inputs: &'a Inputs, kept: Residuals, weights: &'a [f64]) -> Self {
            let levels = panel.levels().len();
            let means: &dyn Mechanism = &NoMeans;
            let (first_factor, later_factor) = (vec![1.0; levels], vec![vec![1.0; 2]; levels]);
            let weights = Some(weights);
            Self { people: panel, inputs, weights, means, first_factor, later_factor, stream: None, kept: Some(kept) }
        }
    }

    struct NoMeans;

    impl Mechanism for NoMeans {
        fn state_dim(&self) -> usize {
            1
        }
        fn levels(&self) -> usize {
            2
        }
        fn actions(&self) -> usize {
            1
        }
        fn initial_mean(&self, _: usize) -> &[f64] {
            &[0.0]
        }
        fn mean(&self, _: usize, _: &[f64], _: &[u32], _: &mut [f64], _: &mut [f64]) {}
    }
}
