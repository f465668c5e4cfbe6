//! `alg:cf:1`: counterfactual states and rewards, reconstructed step by step.

use super::{Augmented, Memory, Preprocessor};
use crate::model::{Mechanism, NoiseLaw, Output};

/// Sequential data preprocessing (`alg:cf:1`) with given means and level weights.
///
/// Lines 1 and 2 of the algorithm, the fits, are the `mechanism` and the `weights`; the rest is here, with its lines numbered.
///
/// # Equation
/// ```text
/// ŝ₁ᵏ = s₁ − m̂(z) + m̂(k)                                                              line 4
/// [ŝₜᵏ, r̂ₜ₋₁ᵏ] = [sₜ, rₜ₋₁] − μ̂(sₜ₋₁, aₜ₋₁, z) + μ̂(ŝₜ₋₁ᵏ, aₜ₋₁, k)                      line 7
/// s̃ₜ = [ŝₜ¹, …, ŝₜᴷ],   r̃ₜ₋₁ = Σₖ P̂(Z = k) r̂ₜ₋₁ᵏ                                       lines 8, 9
/// ```
/// Where the mechanism says that noise is more than added, lines 4 and 7 carry it over by its spread and shape instead:
/// μ̂ₖ + σ̂ₖ Gₖ⁻¹(G_z((s − μ̂_z)/σ̂_z)).
///
/// # Precision
/// The factual component ŝᶻ is the observed state bit for bit, whatever the means: line 7 subtracts and adds the same number there,
/// so it is copied instead of computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequential<M> {
    mechanism: M,
    weights: Vec<f64>,
}

impl<M: Mechanism> Sequential<M> {
    /// Preprocessing with these means and these weights P̂(Z = z⁽ᵏ⁾).
    ///
    /// # Panics
    /// If there is not one weight a level.
    pub fn new(mechanism: M, weights: Vec<f64>) -> Self {
        assert_eq!(weights.len(), mechanism.levels(), "one weight a level");
        Self { mechanism, weights }
    }

    /// The means it works with.
    pub fn mechanism(&self) -> &M {
        &self.mechanism
    }

    /// P̂(Z = z⁽ᵏ⁾).
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// μ̂(ŝᵏ, a, k) for every level k, from the memory's present view; fills the scratch arrays `all_next` and `all_reward`.
    fn means(&self, memory: &mut Memory, actions: &[u32]) {
        let (p, levels, n) = (self.mechanism.state_dim(), self.mechanism.levels(), memory.people());
        let scratch = &mut memory.scratch;
        scratch.level_states.resize(n * p, 0.0);
        scratch.next.resize(n * p, 0.0);
        scratch.reward.resize(n, 0.0);
        scratch.all_next.resize(n * p * levels, 0.0);
        scratch.all_reward.resize(n * levels, 0.0);
        for k in 0..levels {
            gather(&memory.view, (k * p, p, p * levels), &mut scratch.level_states);
            self.mechanism.mean(k, &scratch.level_states, actions, &mut scratch.next, &mut scratch.reward);
            scatter(&scratch.next, (k * p, p, p * levels), &mut scratch.all_next);
            scatter(&scratch.reward, (k, 1, levels), &mut scratch.all_reward);
            let Some(law) = self.mechanism.noise() else { continue };
            scratch.all_next_spread.resize(n * p * levels, 0.0);
            scratch.all_reward_spread.resize(n * levels, 0.0);
            law.spread(k, &scratch.level_states, actions, &mut scratch.next, &mut scratch.reward);
            scatter(&scratch.next, (k * p, p, p * levels), &mut scratch.all_next_spread);
            scatter(&scratch.reward, (k, 1, levels), &mut scratch.all_reward_spread);
        }
    }
}

impl<M: Mechanism> Preprocessor for Sequential<M> {
    type View = Augmented;

    fn width(&self) -> usize {
        self.mechanism.state_dim() * self.mechanism.levels()
    }

    /// Lines 4 and 5.
    fn begin(&self, levels: &[u32], states: &[f64]) -> Memory {
        let (p, width) = (self.mechanism.state_dim(), self.width());
        let mut view = vec![0.0; levels.len() * width];
        for ((row, state), &z) in view.chunks_exact_mut(width).zip(states.chunks_exact(p)).zip(levels) {
            let factual = self.mechanism.initial_mean(z as usize);
            for (k, world) in row.chunks_exact_mut(p).enumerate() {
                shift(world, state, factual, self.mechanism.initial_mean(k), k == z as usize);
            }
            if let Some(law) = self.mechanism.noise() {
                self.carry_first(law, row, state, z as usize);
            }
        }
        Memory::new(levels, states, view)
    }

    /// Lines 7 and 8, for the state.
    fn advance(&self, memory: &mut Memory, actions: &[u32], states: &[f64]) {
        self.means(memory, actions);
        self.shift_states(memory, states);
    }

    /// Lines 7 and 9, for the reward.
    fn reward(&self, memory: &mut Memory, actions: &[u32], rewards: &mut [f64]) {
        self.means(memory, actions);
        self.shift_rewards(memory, rewards);
    }

    fn step(&self, memory: &mut Memory, actions: &[u32], rewards: &mut [f64], states: &[f64]) {
        self.means(memory, actions);
        self.shift_rewards(memory, rewards);
        self.shift_states(memory, states);
    }
}

impl<M: Mechanism> Sequential<M> {
    fn shift_states(&self, memory: &mut Memory, states: &[f64]) {
        let (p, width) = (self.mechanism.state_dim(), self.width());
        let rows = memory.view.chunks_exact_mut(width).zip(memory.scratch.all_next.chunks_exact(width));
        for (((row, means), state), &z) in rows.zip(states.chunks_exact(p)).zip(&memory.levels) {
            let z = z as usize;
            let factual = &means[z * p..(z + 1) * p];
            for (k, (world, mean)) in row.chunks_exact_mut(p).zip(means.chunks_exact(p)).enumerate() {
                shift(world, state, factual, mean, k == z);
            }
        }
        if let Some(law) = self.mechanism.noise() {
            self.carry_states(law, memory, states);
        }
        memory.states.copy_from_slice(states);
    }

    /// Line 4 for noise with spread and shape.
    fn carry_first(&self, law: &dyn NoiseLaw, row: &mut [f64], state: &[f64], z: usize) {
        let p = state.len();
        let (mean, spread) = (self.mechanism.initial_mean(z), law.initial_spread(z));
        for (k, world) in row.chunks_exact_mut(p).enumerate().filter(|(k, _)| *k != z) {
            let (to_mean, to_spread) = (self.mechanism.initial_mean(k), law.initial_spread(k));
            for j in 0..p {
                let carried = carry(law, Output::First(j), (z, mean[j], spread[j]), (k, to_mean[j], to_spread[j]));
                world[j] = carried(state[j]);
            }
        }
    }

    /// Line 7 for noise with spread and shape.
    fn carry_states(&self, law: &dyn NoiseLaw, memory: &mut Memory, states: &[f64]) {
        let (p, width) = (self.mechanism.state_dim(), self.width());
        let moments =
            memory.scratch.all_next.chunks_exact(width).zip(memory.scratch.all_next_spread.chunks_exact(width));
        let rows = memory.view.chunks_exact_mut(width).zip(moments);
        for (((row, (means, spreads)), state), &z) in rows.zip(states.chunks_exact(p)).zip(&memory.levels) {
            let z = z as usize;
            for (k, world) in row.chunks_exact_mut(p).enumerate().filter(|(k, _)| *k != z) {
                for j in 0..p {
                    let at = |level: usize| (level, means[level * p + j], spreads[level * p + j]);
                    world[j] = carry(law, Output::Next(j), at(z), at(k))(state[j]);
                }
            }
        }
    }

    fn shift_rewards(&self, memory: &Memory, rewards: &mut [f64]) {
        let means = memory.scratch.all_reward.chunks_exact(self.mechanism.levels());
        if let Some(law) = self.mechanism.noise() {
            let spreads = memory.scratch.all_reward_spread.chunks_exact(self.mechanism.levels());
            for (((r, means), spreads), &z) in rewards.iter_mut().zip(means).zip(spreads).zip(&memory.levels) {
                let (z, observed) = (z as usize, *r);
                let at = |level: usize| (level, means[level], spreads[level]);
                let counterfactual =
                    |k| if k == z { observed } else { carry(law, Output::Reward, at(z), at(k))(observed) };
                *r = self.weights.iter().enumerate().map(|(k, weight)| weight * counterfactual(k)).sum();
            }
            return;
        }
        for ((r, means), &z) in rewards.iter_mut().zip(means).zip(&memory.levels) {
            let (z, observed) = (z as usize, *r);
            let counterfactual = |k: usize| if k == z { observed } else { observed - means[z] + means[k] };
            *r = self.weights.iter().enumerate().map(|(k, weight)| weight * counterfactual(k)).sum();
        }
    }
}

/// Where a part of each row lies: its start, its length, and the length of a row.
pub(super) type Part = (usize, usize, usize);

/// One part of every row, packed. A call for each copy costs more than a copy of one number, and one number is what most rows have.
#[inline]
pub(super) fn gather(rows: &[f64], (start, length, width): Part, out: &mut [f64]) {
    if length == 1 {
        return out.iter_mut().zip(rows.iter().skip(start).step_by(width)).for_each(|(x, from)| *x = *from);
    }
    for (x, row) in out.chunks_exact_mut(length).zip(rows.chunks_exact(width)) {
        x.copy_from_slice(&row[start..start + length]);
    }
}

/// The way back.
#[inline]
pub(super) fn scatter(packed: &[f64], (start, length, width): Part, rows: &mut [f64]) {
    if length == 1 {
        return rows.iter_mut().skip(start).step_by(width).zip(packed).for_each(|(x, from)| *x = *from);
    }
    for (row, x) in rows.chunks_exact_mut(width).zip(packed.chunks_exact(length)) {
        row[start..start + length].copy_from_slice(x);
    }
}

/// ŝᵏ = s − mean(z) + mean(k), and s itself when k = z.
fn shift(world: &mut [f64], state: &[f64], factual_mean: &[f64], mean: &[f64], is_factual: bool) {
    for (((w, s), from), to) in world.iter_mut().zip(state).zip(factual_mean).zip(mean) {
        *w = if is_factual { *s } else { s - from + to };
    }
}

/// A level with mean and spread of one output there.
type At = (usize, f64, f64);

/// s ↦ μₖ + σₖ Gₖ⁻¹(G_z((s − μ_z)/σ_z)), or s itself where the output is kept.
#[inline]
fn carry(law: &dyn NoiseLaw, output: Output, from: At, to: At) -> impl Fn(f64) -> f64 {
    move |value| {
        if law.is_kept(output) {
            return value;
        }
        let common = law.to_common(output, from.0, (value - from.1) / from.2);
        to.1 + to.2 * law.of_common(output, to.0, common)
    }
}
