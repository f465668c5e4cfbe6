//! Exact counterfactuals of one person: abduct the noise, set the level, predict.

use super::Mechanism;
use super::noise::{Step, first_noise, first_state};
use crate::people::Person;

/// The noise of one person: U₁, U₂, … of the states and Uᴿ₁, Uᴿ₂, … of the rewards.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    /// State noise, `state_dim` numbers a time.
    pub states: Vec<f64>,
    /// Reward noise, one number a decision.
    pub rewards: Vec<f64>,
}

/// The states and rewards of one person in one world.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectory {
    /// States, `state_dim` numbers a time.
    pub states: Vec<f64>,
    /// Rewards, one number a decision.
    pub rewards: Vec<f64>,
}

/// Pearl's first step: the noise that, at the person's own level, makes the person's history (`asm:unique`).
///
/// # Equation
/// ```text
/// U₁ = s₁ − m(z),   Uₜ₊₁ = sₜ₊₁ − μₛ(sₜ, aₜ, z),   Uᴿₜ = rₜ − μᵣ(sₜ, aₜ, z)
/// ```
/// where noise is additive; with spread and shape, U = G_z((s − μ)/σ) in the place of s − μ.
pub fn abduct(mechanism: &impl Mechanism, person: Person<'_>) -> Noise {
    let p = mechanism.state_dim();
    let level = person.level as usize;
    let mut noise = Noise { states: person.states.to_vec(), rewards: person.rewards.to_vec() };
    first_noise(mechanism, level, &mut noise.states[..p]);
    let mut step = Step::default();
    for (t, action) in person.actions.iter().enumerate() {
        step.prepare(mechanism, level, &person.states[t * p..(t + 1) * p], &[*action]);
        step.reward_noise(mechanism, level, &mut noise.rewards[t..=t]);
        if let Some(after) = noise.states.get_mut((t + 1) * p..(t + 2) * p) {
            step.state_noise(mechanism, level, after);
        }
    }
    noise
}

/// Pearl's second and third step: the history that the same noise and the same actions make under `do(Z = level)`.
///
/// # Equation
/// ```text
/// S₁ᶻ = m(z) + U₁,   Sₜ₊₁ᶻ = μₛ(Sₜᶻ, aₜ, z) + Uₜ₊₁,   Rₜᶻ = μᵣ(Sₜᶻ, aₜ, z) + Uᴿₜ
/// ```
/// where noise is additive; with spread and shape, σ G_z⁻¹(U) in the place of U.
pub fn predict(mechanism: &impl Mechanism, noise: &Noise, actions: &[u32], level: usize) -> Trajectory {
    let p = mechanism.state_dim();
    let mut world = Trajectory { states: noise.states.clone(), rewards: noise.rewards.clone() };
    first_state(mechanism, level, &mut world.states[..p]);
    let mut step = Step::default();
    for (t, action) in actions.iter().enumerate() {
        step.prepare(mechanism, level, &world.states[t * p..(t + 1) * p], &[*action]);
        step.rewards(mechanism, level, &mut world.rewards[t..=t]);
        if let Some(after) = world.states.get_mut((t + 1) * p..(t + 2) * p) {
            step.states(mechanism, level, after);
        }
    }
    world
}
