//! Means of the circle, estimated as the method estimates them.

use crate::data::Panel;
use crate::model::Mechanism;
use crate::numeric::least_squares;

/// Means of the circle as `alg:cf:1` estimates them.
#[derive(Debug, Clone, PartialEq)]
pub struct CircleFit {
    /// m̂ by level.
    pub initial: [[f64; 1]; 2],
    /// Mean increments by level and action.
    pub increments: [[f64; 2]; 2],
    /// Coefficients of (1, cos s, sin s) by level and action.
    pub rewards: [[[f64; 3]; 2]; 2],
}

impl CircleFit {
    /// Means by level and action, least squares for rewards; `None` when some level never saw some action often enough.
    pub fn from_panel(panel: &Panel) -> Option<Self> {
        let mut fit = Self { initial: [[0.0]; 2], increments: [[0.0; 2]; 2], rewards: [[[0.0; 3]; 2]; 2] };
        for z in 0..2 {
            let people: Vec<_> =
                (0..panel.people()).map(|i| panel.person(i)).filter(|p| p.level as usize == z).collect();
            if people.is_empty() {
                return None;
            }
            fit.initial[z][0] = people.iter().map(|p| p.states[0]).sum::<f64>() / people.len() as f64;
            for a in 0..2 {
                let (mut moved, mut count, mut design, mut target) = (0.0, 0.0, vec![], vec![]);
                for p in &people {
                    for (t, _) in p.actions.iter().enumerate().filter(|(_, x)| **x as usize == a) {
                        design.extend([1.0, p.states[t].cos(), p.states[t].sin()]);
                        target.push(p.rewards[t]);
                        moved += p.states[t + 1] - p.states[t];
                        count += 1.0;
                    }
                }
                let solution = least_squares(&design, &target, 3, 1).ok().filter(|s| s.is_full_rank())?;
                fit.increments[z][a] = moved / count;
                fit.rewards[z][a].copy_from_slice(&solution.coefficients);
            }
        }
        Some(fit)
    }

    /// ε_s, the largest error of a counterfactual state over t = 1 … T: it does not depend on the state.
    ///
    /// # Equation
    /// ```text
    /// ε_s = |δm₁ − δm₀| + (T − 1) maxₐ |δθ₁ₐ − δθ₀ₐ|
    /// ```
    pub fn state_error(&self, truth: &CircleFit, horizon: usize) -> f64 {
        let first = (self.initial[1][0] - truth.initial[1][0]) - (self.initial[0][0] - truth.initial[0][0]);
        let step = |a: usize| {
            (self.increments[1][a] - truth.increments[1][a]) - (self.increments[0][a] - truth.increments[0][a])
        };
        first.abs() + (horizon - 1) as f64 * step(0).abs().max(step(1).abs())
    }
}

impl Mechanism for CircleFit {
    fn state_dim(&self) -> usize {
        1
    }

    fn levels(&self) -> usize {
        2
    }

    fn actions(&self) -> usize {
        2
    }

    fn initial_mean(&self, level: usize) -> &[f64] {
        &self.initial[level]
    }

    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        for (((&s, &a), next), r) in states.iter().zip(actions).zip(next).zip(rewards) {
            let ρ = self.rewards[level][a as usize];
            *next = s + self.increments[level][a as usize];
            *r = ρ[0] + ρ[1] * s.cos() + ρ[2] * s.sin();
        }
    }
}
