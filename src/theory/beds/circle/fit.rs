//! Means of the circle, estimated as the method estimates them.

use crate::kernel::model::Mechanism;
use crate::kernel::numeric::least_squares;
use crate::kernel::people::Panel;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::people::{Labels, PanelBuilder, Person};

    /// Least squares on four rows, of condition number below a hundred.
    const CLOSE: f64 = 1e-12;

    const REWARDS: [[[f64; 3]; 2]; 2] = [[[0.1, 0.5, -0.2], [0.3, -0.3, 0.4]], [[-0.1, 0.3, 0.35], [0.15, 0.2, -0.5]]];

    /// People with the given levels and states, who take the actions 0, 1, 1, 0 and earn exactly the means of `REWARDS`.
    fn panel(people: &[(u32, [f64; 5])]) -> Panel {
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).expect("a panel with a state");
        for (i, (level, states)) in people.iter().enumerate() {
            let (id, actions) = (i.to_string(), [0, 1, 1, 0]);
            let rewards: Vec<f64> = (0..4)
                .map(|t: usize| {
                    let [constant, cosine, sine] = REWARDS[*level as usize][actions[t] as usize];
                    constant + cosine * states[t].cos() + sine * states[t].sin()
                })
                .collect();
            builder
                .push(Person { id: &id, level: *level, states, actions: &actions, rewards: &rewards })
                .expect("finite");
        }
        builder.finish()
    }

    const PEOPLE: [(u32, [f64; 5]); 5] = [
        (0, [0.2, 1.0, 0.7, 2.7, 2.0]),
        (1, [3.5, 5.0, 8.25, 9.0, 9.5]),
        (0, [0.9, 3.0, 2.5, 1.5, 2.75]),
        (1, [2.0, 2.5, 6.5, 7.0, 8.0]),
        (1, [4.5, 7.0, 9.0, 13.0, 12.25]),
    ];

    #[test]
    fn a_fit_holds_averages_by_level_and_action() {
        let fit = CircleFit::from_panel(&panel(&PEOPLE)).expect("enough rows");
        let close = |made: f64, expected: f64| assert!((made - expected).abs() < CLOSE, "{made} for {expected}");
        close(fit.initial[0][0], 0.55);
        close(fit.initial[1][0], 10.0 / 3.0);
        // First and last moves of level 0: 0.8, −0.7, 2.1, 1.25; those between: −0.3, 2.0, −0.5, −1.0.
        close(fit.increments[0][0], 3.45 / 4.0);
        close(fit.increments[0][1], 0.2 / 4.0);
        // Of level 1: 1.5, 0.5, 0.5, 1.0, 2.5, −0.75, and 3.25, 0.75, 4.0, 0.5, 2.0, 4.0.
        close(fit.increments[1][0], 5.25 / 6.0);
        close(fit.increments[1][1], 14.5 / 6.0);
        for (made, expected) in
            fit.rewards.as_flattened().as_flattened().iter().zip(REWARDS.as_flattened().as_flattened())
        {
            close(*made, *expected);
        }
        assert_eq!(CircleFit::from_panel(&panel(&[PEOPLE[0], PEOPLE[2]])), None, "nobody of level 1");
        assert_eq!(CircleFit::from_panel(&panel(&PEOPLE[..2])), None, "two rows for three coefficients");
    }

    /// A mechanism with the given first means and increments.
    fn means(initial: [f64; 2], increments: [[f64; 2]; 2]) -> CircleFit {
        CircleFit { initial: initial.map(|m| [m]), increments, rewards: REWARDS }
    }

    #[test]
    fn errors_of_states_add_up_over_time() {
        let truth = means([0.4, 3.5], [[0.9, -0.5], [0.7, 2.6]]);
        // δm = (0.1, −0.25); δθ₀ = (0.02, −0.03), δθ₁ = (−0.05, 0.06) at first, and then with actions exchanged.
        let fit = means([0.5, 3.25], [[0.92, -0.53], [0.65, 2.66]]);
        assert!((fit.state_error(&truth, 4) - (0.35 + 3.0 * 0.09)).abs() < CLOSE, "{}", fit.state_error(&truth, 4));
        let fit = means([0.15, 3.6], [[0.87, -0.48], [0.76, 2.55]]);
        assert!((fit.state_error(&truth, 6) - (0.35 + 5.0 * 0.09)).abs() < CLOSE, "{}", fit.state_error(&truth, 6));
    }

    #[test]
    fn means_are_those_of_the_fit() {
        let fit = means([0.4, 3.5], [[0.9, -0.5], [0.7, 2.6]]);
        assert_eq!((fit.state_dim(), fit.levels(), fit.actions()), (1, 2, 2));
        assert_eq!((fit.initial_mean(0), fit.initial_mean(1)), (&[0.4][..], &[3.5][..]));
        let (mut next, mut rewards) = ([0.0; 2], [0.0; 2]);
        // At a sixth of π the cosine is √3/2 and the sine ½; at twice that they change places.
        let (sixth, root) = (std::f64::consts::FRAC_PI_6, 3f64.sqrt() / 2.0);
        fit.mean(1, &[sixth, 2.0 * sixth], &[0, 1], &mut next, &mut rewards);
        let expected = [sixth + 0.7, 2.0 * sixth + 2.6, -0.1 + 0.3 * root + 0.175, 0.15 + 0.1 - 0.5 * root];
        assert!(next.iter().chain(&rewards).zip(expected).all(|(a, b)| (a - b).abs() < CLOSE), "{next:?}, {rewards:?}");
    }
}
