//! The exact optimal values of the paper's two worlds: the best counterfactually fair policy, and the best of all.
//!
//! ```text
//! J(π) = E Σₜ γᵗ⁻¹ Rₜ,  t = 1, 2, …        J*CF = max over fair π,        J*Full = max over all π
//! ```
//!
//! The noise is additive, normal and common to the counterfactual states of a person, so both optima solve a Bellman
//! equation whose expectation is a one-dimensional integral. It is solved to about ten digits, in steps that each have
//! a file:
//!
//! | step | file |
//! |---|---|
//! | a pair of levels that share noise and action; one level, twice, is the unrestricted problem | `pair` |
//! | the rectangle of means (m, d) it visits | `region` |
//! | a function on that rectangle, piecewise polynomial | `axis`, `grid` |
//! | E max_a Q, cut where the better action changes | `line` |
//! | policy iteration | `solve`, `greedy`, `gmres` |
//! | twice, at two resolutions, for an error | `resolved` |
//!
//! J*Full − J*CF is the price of fairness. [`FairOptimum`] and [`FullOptimum`] are the policies themselves, against which
//! the regret of a learned one can be measured.

mod axis;
mod fair;
mod full;
mod gmres;
mod greedy;
mod grid;
mod line;
mod means;
mod pair;
mod region;
mod resolved;
mod solve;
#[cfg(test)]
mod tests;

pub use fair::FairOptimum;
pub use full::FullOptimum;

use means::Means;
use serde::{Deserialize, Serialize};

/// The two worlds of supplement F.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PaperWorld {
    /// [`Linear`](crate::kernel::model::worlds::Linear).
    Linear,
    /// [`Nonlinear`](crate::kernel::model::worlds::Nonlinear).
    Nonlinear,
}

impl std::fmt::Display for PaperWorld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Linear => "linear",
            Self::Nonlinear => "nonlinear",
        })
    }
}

/// A number and how far it may be off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounded {
    /// The number.
    pub value: f64,
    /// An a-posteriori estimate of its error, meant to be too large: see [`optimum()`].
    pub error: f64,
}

/// The two optimal values of a world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Optimum {
    /// J*CF.
    pub fair: Bounded,
    /// J*Full.
    pub full: Bounded,
}

impl Optimum {
    /// The price of fairness, J*Full − J*CF; the errors of both add up.
    pub fn price_of_fairness(&self) -> Bounded {
        Bounded { value: self.full.value - self.fair.value, error: self.full.error + self.fair.error }
    }
}

/// Why a world has no optimal value that can be computed here.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum OptimumError {
    /// γ ≤ 0 or γ ≥ 1.
    #[error("the discount {0} is not strictly between 0 and 1")]
    DiscountOutsideUnitInterval(f64),
    /// δ is not a finite number.
    #[error("the strength {0} is not a finite number")]
    StrengthNotFinite(f64),
    /// γ · max |kᶻ(a)| ≥ 1 in the linear world: rewards grow as fast as they are discounted, and J diverges.
    #[error("the linear world at strength {delta} has gain {gain}, which discount {discount} does not outweigh")]
    Unstable {
        /// δ.
        delta: f64,
        /// γ.
        discount: f64,
        /// The largest |kᶻ(a)| = |½ + 0.3 (a − ½) + 0.3 δ (z − ½)|.
        gain: f64,
    },
    /// |δ| > [`STRONGEST`].
    #[error("the strength {0} is beyond the ±{STRONGEST} for which the worlds are resolved")]
    StrengthTooLarge(f64),
}

/// The largest |δ| that is solved for; the paper's is 2.
///
/// The non-linear world's rectangle of means grows with δ, and beyond 9 the linear world has gains below −1, whose swings
/// leave any rectangle.
pub const STRONGEST: f64 = 8.0;

/// J*CF and J*Full of a world at strength δ (`delta`) and discount γ.
///
/// # Equation
/// J(π) = E Σ_{t ≥ 1} γᵗ⁻¹ Rₜ over an infinite horizon, P(Z = 0) = P(Z = 1) = ½; J*CF as in [`FairOptimum`], J*Full as in
/// [`FullOptimum`].
///
/// # Assumptions
/// The optimum over fair policies is attained by a stationary one (`thm:sr_policy`): noise is additive and its law constant.
/// Rewards are unbounded; that they grow linearly and that γ times the largest gain is below 1 takes the place of boundedness.
///
/// # Precision
/// Each value is computed at two resolutions that differ in every respect: extent of the rectangle, points of the two axes,
/// points of the quadrature. The finer value is given. Its error is the difference between the two, which is about that
/// of the coarser one, plus the Bellman residual left by the iteration divided by 1 − γ, plus rounding. At γ = 0.9 and
/// 0 ≤ δ ≤ 2 it is below 1e-8, and the value itself is good to about 1e-11.
///
/// # Errors
/// [`OptimumError`]: γ outside (0, 1), δ not finite, the linear world too unstable for γ, |δ| beyond [`STRONGEST`].
///
/// # Example
/// ```
/// use counterfair::theory::optimum::{PaperWorld, optimum};
/// let best = optimum(PaperWorld::Linear, 0.5, 0.9)?;
/// assert!((best.fair.value - 2.4411465809).abs() < 1e-10);
/// assert!(best.price_of_fairness().value > 0.44);
/// # Ok::<(), counterfair::theory::optimum::OptimumError>(())
/// ```
pub fn optimum(world: PaperWorld, delta: f64, discount: f64) -> Result<Optimum, OptimumError> {
    let fair = FairOptimum::new(world, delta, discount)?.bounded();
    let full = FullOptimum::new(world, delta, discount)?.bounded();
    Ok(Optimum { fair, full })
}

/// Lets those worlds pass in which the optimal values exist and can be resolved.
fn admit(world: PaperWorld, delta: f64, discount: f64) -> Result<(), OptimumError> {
    if !(discount > 0.0 && discount < 1.0) {
        return Err(OptimumError::DiscountOutsideUnitInterval(discount));
    }
    if !delta.is_finite() {
        return Err(OptimumError::StrengthNotFinite(delta));
    }
    if world == PaperWorld::Linear {
        let means = Means::new(world, delta);
        let gains = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(a, z)| means.gain(a, z).abs());
        let gain = gains.into_iter().fold(0.0, f64::max);
        if discount * gain >= 1.0 {
            return Err(OptimumError::Unstable { delta, discount, gain });
        }
    }
    if delta.abs() > STRONGEST {
        return Err(OptimumError::StrengthTooLarge(delta));
    }
    Ok(())
}
