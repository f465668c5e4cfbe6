//! The generative model of supplement F.3: a study's dynamics as a world in which counterfactuals are known.

use crate::estimate::{FitError, Fitted, NeuralSettings, Pooling, fit_neural};
use crate::kernel::model::{Mechanism, World};
use crate::kernel::numeric::Stream;
use crate::kernel::people::Panel;
use std::sync::Arc;

/// Hidden layers of the generative model.
const HIDDEN: [usize; 2] = [32, 32];

/// A world fitted to a study: a net for each level, normal noise with the variances of the residuals, actions drawn as often as each level
/// received them.
///
/// # Equation
/// ```text
/// S₁ = m̂(z) + η 1{z = 1} + U,   Sₜ₊₁ = μ̂(Sₜ − η 1{z = 1}, Aₜ, z) + η 1{z = 1} + U,   Rₜ = ρ̂(Sₜ − η 1{z = 1}, Aₜ, z) + Uᴿ
/// ```
/// η moves every recorded state of the first level and nothing else, so a policy that knows the level can undo it.
///
/// # Assumptions
/// Residual variances are pooled over levels and over time, where the source document has one Σ_z a level: noise that is shared by the
/// worlds of one person (`asm:additive`) has one variance.
#[derive(Debug, Clone)]
pub struct Generative {
    means: Arc<Fitted>,
    initial: Vec<Vec<f64>>,
    shares: Vec<f64>,
    behaviour: Vec<Vec<f64>>,
    state_sd: Vec<f64>,
    reward_sd: f64,
    shift: f64,
}

impl Generative {
    /// Fits the model; η = 0.
    ///
    /// # Errors
    /// [`FitError`], when a level has nobody, say.
    pub fn fit(panel: &Panel, stream: Stream) -> Result<Self, FitError> {
        let settings = NeuralSettings { hidden: HIDDEN.to_vec(), ..NeuralSettings::default() };
        let means = fit_neural(panel, Pooling::PerLevel, &settings, stream)?;
        let (p, levels, actions) = (panel.state_dim(), panel.levels().len(), panel.action_names().len());
        let (mut state_squares, mut reward_squares, mut states, mut rewards) = (vec![0.0; p], 0.0, 0.0, 0.0);
        let mut behaviour = vec![vec![0.0; actions]; levels];
        let (mut next, mut reward) = (vec![0.0; p], [0.0]);
        for person in panel.iter() {
            let z = person.level as usize;
            let mut add = |observed: &[f64], mean: &[f64]| {
                for ((square, x), m) in state_squares.iter_mut().zip(observed).zip(mean) {
                    *square += (x - m) * (x - m);
                }
                states += 1.0;
            };
            add(&person.states[..p], means.initial_mean(z));
            for (t, (&a, r)) in person.actions.iter().zip(person.rewards).enumerate() {
                behaviour[z][a as usize] += 1.0;
                means.mean(z, &person.states[t * p..(t + 1) * p], &[a], &mut next, &mut reward);
                reward_squares += (r - reward[0]) * (r - reward[0]);
                rewards += 1.0;
                if let Some(observed) = person.states.get((t + 1) * p..(t + 2) * p) {
                    add(observed, &next);
                }
            }
        }
        for row in &mut behaviour {
            let total: f64 = row.iter().sum();
            row.iter_mut().for_each(|x| *x = if total > 0.0 { *x / total } else { 1.0 / actions as f64 });
        }
        let initial = (0..levels).map(|z| means.initial_mean(z).to_vec()).collect();
        let state_sd = state_squares.iter().map(|square: &f64| (square / states).sqrt()).collect();
        let reward_sd = (reward_squares / f64::max(rewards, 1.0)).sqrt();
        let shares = panel.level_shares();
        Ok(Self { means: Arc::new(means), initial, shares, behaviour, state_sd, reward_sd, shift: 0.0 })
    }

    /// The same model with another η.
    pub fn shifted(&self, shift: f64) -> Self {
        let mut initial: Vec<Vec<f64>> = (0..self.levels()).map(|z| self.means.initial_mean(z).to_vec()).collect();
        if let Some(first) = initial.first_mut() {
            first.iter_mut().for_each(|x| *x += shift);
        }
        Self { initial, shift, ..self.clone() }
    }
}

impl Mechanism for Generative {
    fn state_dim(&self) -> usize {
        self.means.state_dim()
    }

    fn levels(&self) -> usize {
        self.means.levels()
    }

    fn actions(&self) -> usize {
        self.means.actions()
    }

    fn initial_mean(&self, level: usize) -> &[f64] {
        &self.initial[level]
    }

    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        if level != 0 || self.shift == 0.0 {
            return self.means.mean(level, states, actions, next, rewards);
        }
        let original: Vec<f64> = states.iter().map(|s| s - self.shift).collect();
        self.means.mean(level, &original, actions, next, rewards);
        next.iter_mut().for_each(|s| *s += self.shift);
    }
}

impl World for Generative {
    fn name(&self) -> &'static str {
        "generative"
    }

    fn level_probabilities(&self) -> &[f64] {
        &self.shares
    }

    fn behaviour(&self, level: usize, _state: &[f64], probabilities: &mut [f64]) {
        probabilities.copy_from_slice(&self.behaviour[level]);
    }

    fn state_noise_sd(&self) -> &[f64] {
        &self.state_sd
    }

    fn reward_noise_sd(&self) -> f64 {
        self.reward_sd
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduction::Study;

    #[test]
    fn a_shift_moves_the_states_of_the_first_level_and_nothing_else() {
        let panel = Study::stand_in().panel("age").expect("an attribute of the study");
        let model = Generative::fit(&panel, Stream::new(3)).expect("both levels have people");
        let shifted = model.shifted(1.5);
        let (mut next, mut moved, mut reward, mut same) = ([0.0; 2], [0.0; 2], [0.0], [0.0]);
        for level in 0..2 {
            let by = if level == 0 { 1.5 } else { 0.0 };
            model.mean(level, &[4.0, 5.5], &[2], &mut next, &mut reward);
            shifted.mean(level, &[4.0 + by, 5.5 + by], &[2], &mut moved, &mut same);
            assert_eq!((next.map(|x| x + by), reward), (moved, same));
            assert_eq!(shifted.initial_mean(level)[1], model.initial_mean(level)[1] + by);
        }
    }

    /// People with many states and one reward each tell the two counts apart: n states, n − people rewards.
    #[test]
    fn spreads_are_those_of_the_residuals_of_states_and_of_rewards() {
        let panel = Study::stand_in().panel("age").expect("an attribute of the study");
        let model = Generative::fit(&panel, Stream::new(3)).expect("both levels have people");
        let (mut squares, mut states, mut reward_squares, mut rewards) = ([0.0; 2], 0.0, 0.0, 0.0);
        for i in 0..panel.people() {
            let person = panel.person(i);
            let level = person.level as usize;
            let mut add = |found: &[f64], mean: &[f64]| {
                (0..2).for_each(|j| squares[j] += (found[j] - mean[j]).powi(2));
                states += 1.0;
            };
            add(&person.states[..2], model.initial_mean(level));
            for (t, (action, r)) in person.actions.iter().zip(person.rewards).enumerate() {
                let (mut next, mut reward) = ([0.0; 2], [0.0]);
                model.mean(level, &person.states[2 * t..2 * t + 2], &[*action], &mut next, &mut reward);
                add(&person.states[2 * t + 2..2 * t + 4], &next);
                reward_squares += (r - reward[0]).powi(2);
                rewards += 1.0;
            }
        }
        assert_eq!(states, rewards + panel.people() as f64);
        for (found, square) in model.state_noise_sd().iter().zip(squares) {
            let sd: f64 = (square / states).sqrt();
            assert!((found - sd).abs() < 1e-12, "{found}, not {sd}");
        }
        let sd = (reward_squares / rewards).sqrt();
        assert!((model.reward_noise_sd() - sd).abs() < 1e-12, "{}, not {sd}", model.reward_noise_sd());
    }
}
