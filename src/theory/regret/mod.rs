//! Regret of a policy in the paper's worlds, by the performance difference and not by subtracting two noisy means.

mod advantage;
mod best_rule;
#[cfg(test)]
mod tests;

use super::optimum::{Bounded, FairOptimum, OptimumError, PaperWorld};
use crate::kernel::evaluate::{FairValue, Reading, follow_readings};
use crate::kernel::learn::Agent;
use crate::kernel::model::worlds::{Linear, Nonlinear};
use crate::kernel::model::{Exogenous, World};
use crate::kernel::numeric::{Estimate, Stream};
use advantage::Advantage;

pub use best_rule::BestRule;

/// What a policy is worth beside the best fair one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Regret {
    /// J*CF − Ṽ up to decisions after the horizon: the mean of terms none of which is negative.
    pub regret: Estimate,
    /// What decisions after the horizon would add if they lost as much as the last ones: γᵀ/(1 − γ) times their mean loss.
    pub tail: f64,
    /// J, Ṽ and J − Ṽ over the horizon.
    pub values: FairValue,
}

impl Regret {
    /// J*CF − Ṽ over an endless horizon.
    pub fn lost(&self) -> f64 {
        self.regret.mean + self.tail
    }
}

/// Measures regret in one of the paper's worlds at one strength and discount; the optimum is solved for once.
///
/// # Equation
/// ```text
/// J*CF − Ṽ = Σ_z p_z E Σₜ γ^{t−1} ( V*(𝕊ₜ) − Q*(𝕊ₜ, Aₜ) )        along read_z, 𝕊ₜ = (Sₜ⁰, Sₜ¹) the true counterfactual states
/// ```
/// It is the performance difference of the augmented process. A term is 0 where the action is a best one, so the
/// standard error is of the size of the regret and not of that of the value.
///
/// # Example
/// ```
/// use counterfair::kernel::learn::{Deployed, UniformlyRandom};
/// use counterfair::kernel::model::Exogenous;
/// use counterfair::kernel::numeric::Stream;
/// use counterfair::kernel::preprocess::Unaware;
/// use counterfair::theory::{RegretMeter, optimum::PaperWorld};
/// let meter = RegretMeter::new(PaperWorld::Nonlinear, 1.0, 0.7)?;
/// let random = Deployed::new(Unaware { state_dim: 1 }, UniformlyRandom { actions: 2 });
/// let found = meter.measure(&random, &Exogenous::draw(meter.world(), 500, 20, Stream::new(4)));
/// // J*CF − Ṽ either way, but here with less error.
/// assert!((meter.optimum().value - found.values.fair.mean - found.regret.mean).abs() < 0.2);
/// assert!(found.regret.standard_error < found.values.fair.standard_error);
/// # Ok::<(), counterfair::theory::optimum::OptimumError>(())
/// ```
pub struct RegretMeter {
    world: Box<dyn World>,
    optimum: FairOptimum,
    advantage: Advantage,
    discount: f64,
}

/// Decisions whose mean loss stands for those after the horizon.
const LAST: usize = 10;

impl RegretMeter {
    /// Solves for the best fair policy and tabulates its advantages.
    ///
    /// # Errors
    /// Those of [`optimum`](super::optimum::optimum()).
    pub fn new(world: PaperWorld, delta: f64, discount: f64) -> Result<Self, OptimumError> {
        let optimum = FairOptimum::new(world, delta, discount)?;
        let world: Box<dyn World> = match world {
            PaperWorld::Linear => Box::new(Linear::new(delta)),
            PaperWorld::Nonlinear => Box::new(Nonlinear::new(delta)),
        };
        let draws = Exogenous::draw(&*world, 2000, 60, Stream::new(0).named("where advantages are tabulated"));
        let advantage = Advantage::new(&*world, &optimum, &draws);
        Ok(Self { world, optimum, advantage, discount })
    }

    /// The world.
    pub fn world(&self) -> &dyn World {
        &*self.world
    }

    /// J*CF with its error.
    pub fn optimum(&self) -> Bounded {
        self.optimum.bounded()
    }

    /// The best fair policy itself.
    pub fn best(&self) -> &FairOptimum {
        &self.optimum
    }

    /// Q*(s⁰, s¹, 1) − Q*(s⁰, s¹, 0), to about 1e-6: positive where action 1 is the better one.
    pub fn advantage(&self, s0: f64, s1: f64) -> f64 {
        self.advantage.at(&self.optimum, 0.5 * (s0 + s1), s1 - s0)
    }

    /// Regret and values of an agent on given draws; their levels are not used, everybody is followed at both.
    ///
    /// # Precision
    /// Advantages are interpolated to about 1e-6, which the sum over time multiplies by at most 1/(1 − γ); actions that are best up to that
    /// count as best or lose that little.
    pub fn measure(&self, agent: &dyn Agent, exogenous: &Exogenous) -> Regret {
        let (horizon, n, γ) = (exogenous.horizon(), exogenous.people(), self.discount);
        let last = horizon - LAST.min(horizon);
        let lose = |from: usize, undiscounted: bool| {
            move |_: usize, _: usize, reading: &Reading<'_>, sums: &mut [f64]| {
                if reading.t < from {
                    return;
                }
                let weight = if undiscounted { 1.0 } else { reading.weight };
                let states = reading.worlds[0].iter().zip(&reading.worlds[1]);
                for (((s0, s1), action), sum) in states.zip(reading.actions).zip(sums) {
                    *sum += weight * self.advantage.loss(&self.optimum, *s0, *s1, *action);
                }
            }
        };
        let (values, losses) = follow_readings(self.world(), agent, exogenous, γ, lose(0, false));
        // The loss of the last decisions, from a twentieth of the people: it is multiplied by γᵀ/(1 − γ).
        let late = exogenous.first(n.div_ceil(TAIL_SHARE));
        let (_, ends) = follow_readings(self.world(), agent, &late, γ, lose(last, true));
        let readings = (ends.len() * 2 * (horizon - last)) as f64;
        let tail = γ.powi(horizon as i32) / (1.0 - γ) * ends.iter().sum::<f64>() / readings.max(1.0);
        Regret { regret: Estimate::of(&losses), tail, values }
    }
}

/// One in so many people is followed for the tail.
const TAIL_SHARE: usize = 20;
