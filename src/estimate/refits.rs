//! Mechanisms that the data do not tell apart: a refit for each of many resamplings of people.

use super::refit::{RefitError, Refitter};
use super::{Fitted, FittedNoise, Means, StateBasis};
use crate::kernel::model::Mechanism;
use crate::kernel::numeric::{Stream, person_weights};
use crate::kernel::people::Panel;

/// B refits of a mechanism with random weights on people ([`Refitter::draw`]), in full precision: initial means and coefficients, and their noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Refits {
    mechanism: Fitted,
    seed: u64,
    refits: Vec<Numbers>,
}

/// What one refit has for itself.
#[derive(Debug, Clone, PartialEq)]
struct Numbers {
    numbers: Vec<f64>,
    noise: Option<FittedNoise>,
}

impl Refitter {
    /// `count` refits with weights that are a function of (seed, replicate, id), of the people who were fitted.
    ///
    /// # Errors
    /// [`RefitError`].
    pub fn refits(&self, count: usize, seed: u64) -> Result<Refits, RefitError> {
        let weighting = |b| (weights(self.panel(), seed, b), Some(replicate_stream(seed, b)));
        let refits = self.each(count, &weighting, &|_, fitted: Fitted| {
            let numbers = numbers(&fitted);
            Numbers { numbers, noise: fitted.noise.filter(|noise| !noise.is_additive()) }
        })?;
        Ok(Refits { mechanism: self.fitted().clone(), seed, refits })
    }
}

impl Refits {
    /// The mechanism fitted to everybody with weight 1.
    pub fn fitted(&self) -> &Fitted {
        &self.mechanism
    }

    /// What weights were drawn from.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// B.
    pub fn count(&self) -> usize {
        self.refits.len()
    }

    /// The b-th refit (from 0), with rewards and in full precision.
    ///
    /// # Panics
    /// If there is no such refit.
    pub fn replicate(&self, b: usize) -> Fitted {
        let Numbers { numbers, noise } = &self.refits[b];
        let refitted = with_numbers(&self.mechanism, numbers, Outputs::All);
        Fitted { noise: noise.clone().or_else(|| self.mechanism.noise.clone()), ..refitted }
    }

    /// Initial means and coefficients of the next state of every refit, and the noises that are more than added.
    pub(super) fn of_states(&self) -> (Vec<f64>, Vec<FittedNoise>) {
        let Fitted { state_dim: p, actions, initial, .. } = &self.mechanism;
        let functions = |level| self.mechanism.basis(level).map_or(0, StateBasis::count);
        let mut states = vec![];
        for Numbers { numbers, .. } in &self.refits {
            let (first, mut rest) = numbers.split_at(initial.len() * p);
            states.extend_from_slice(first);
            for q in (0..initial.len()).flat_map(|level| vec![functions(level); *actions]) {
                let (own, others) = rest.split_at((p + 1) * q);
                states.extend_from_slice(&own[..p * q]);
                rest = others;
            }
        }
        (states, self.refits.iter().filter_map(|refit| refit.noise.clone()).collect())
    }
}

/// Exp(1) weights by (seed, replicate, id).
pub(crate) fn weights(panel: &Panel, seed: u64, b: usize) -> Vec<f64> {
    person_weights(panel.ids(), replicate_stream(seed, b))
}

/// What the b-th replicate is drawn from.
pub(super) fn replicate_stream(seed: u64, b: usize) -> Stream {
    Stream::new(seed).named("people").index(b as u64)
}

/// Which coefficients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Outputs {
    /// Those of the next state.
    States,
    /// Those of the reward too.
    All,
}

impl Outputs {
    fn count(self, fitted: &Fitted) -> usize {
        fitted.state_dim + usize::from(self == Self::All)
    }
}

/// How many numbers there are for [`with_numbers`].
pub(super) fn count_of_numbers(fitted: &Fitted, outputs: Outputs) -> usize {
    let (p, actions) = (fitted.state_dim, fitted.actions);
    let functions = |level| fitted.basis(level).map_or(0, StateBasis::count);
    (0..fitted.levels()).map(|level| p + actions * outputs.count(fitted) * functions(level)).sum()
}

/// Initial means, then all coefficients at each level and action; nets have none of these.
fn numbers(fitted: &Fitted) -> Vec<f64> {
    let mut numbers: Vec<f64> = fitted.initial.concat();
    if let Means::Table(table) = &fitted.means {
        table.coefficients().iter().flatten().for_each(|c| numbers.extend_from_slice(c));
    }
    numbers
}

/// The mechanism with these numbers in place of its own.
pub(super) fn with_numbers(fitted: &Fitted, numbers: &[f64], outputs: Outputs) -> Fitted {
    let mut changed = fitted.clone();
    let mut numbers = numbers.iter().copied();
    for (x, new) in changed.initial.iter_mut().flatten().zip(numbers.by_ref()) {
        *x = new;
    }
    if let Means::Table(table) = &fitted.means {
        let mut coefficients = table.coefficients().to_vec();
        for (level, by_action) in coefficients.iter_mut().enumerate() {
            let size = outputs.count(fitted) * table.basis(level).count();
            for c in by_action {
                c[..size].fill_with(|| numbers.next().expect("as many numbers as coefficients"));
            }
        }
        changed.means = Means::Table(table.with_coefficients(coefficients));
    }
    changed
}
