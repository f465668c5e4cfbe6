//! Exact counterfactuals of one person: abduct the noise, set the level, predict.

use super::Mechanism;
use crate::kernel::data::Person;

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
pub fn abduct(mechanism: &impl Mechanism, person: Person<'_>) -> Noise {
    let p = mechanism.state_dim();
    let level = person.level as usize;
    let mut noise = Noise { states: person.states.to_vec(), rewards: person.rewards.to_vec() };
    subtract(&mut noise.states[..p], mechanism.initial_mean(level));
    let (mut next, mut reward) = (vec![0.0; p], [0.0]);
    for (t, action) in person.actions.iter().enumerate() {
        let state = &person.states[t * p..(t + 1) * p];
        mechanism.mean(level, state, &[*action], &mut next, &mut reward);
        noise.rewards[t] -= reward[0];
        if let Some(after) = noise.states.get_mut((t + 1) * p..(t + 2) * p) {
            subtract(after, &next);
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
pub fn predict(mechanism: &impl Mechanism, noise: &Noise, actions: &[u32], level: usize) -> Trajectory {
    let p = mechanism.state_dim();
    let mut world = Trajectory { states: noise.states.clone(), rewards: noise.rewards.clone() };
    add(&mut world.states[..p], mechanism.initial_mean(level));
    let (mut next, mut reward) = (vec![0.0; p], [0.0]);
    for (t, action) in actions.iter().enumerate() {
        mechanism.mean(level, &world.states[t * p..(t + 1) * p], &[*action], &mut next, &mut reward);
        world.rewards[t] += reward[0];
        if let Some(after) = world.states.get_mut((t + 1) * p..(t + 2) * p) {
            add(after, &next);
        }
    }
    world
}

fn subtract(from: &mut [f64], mean: &[f64]) {
    for (x, m) in from.iter_mut().zip(mean) {
        *x -= m;
    }
}

fn add(to: &mut [f64], mean: &[f64]) {
    for (x, m) in to.iter_mut().zip(mean) {
        *x += m;
    }
}
