//! The best policy that may look at the sensitive attribute.

use super::pair::Pair;
use super::resolved::Resolved;
use super::{Bounded, OptimumError, PaperWorld, admit};

/// Q* of each level on its own: an unrestricted rule sees Z and solves one problem per level.
///
/// # Equation
/// ```text
/// Q*_z(s, a) = μᵣ(s, a, z) + γ G_z(μₛ(s, a, z)),   G_z(x) = E max_a Q*_z(x + U, a),   U ~ N(0, 1),
/// J*Full = ½ G₀(m(0)) + ½ G₁(m(1)).
/// ```
///
/// # Precision
/// That of [`FairOptimum`](super::FairOptimum).
///
/// # Example
/// ```
/// use counterfair::theory::optimum::{FullOptimum, PaperWorld};
/// let best = FullOptimum::new(PaperWorld::Nonlinear, 1.0, 0.9)?;
/// assert!((best.value() - 8.62765883193).abs() < 1e-11);
/// # Ok::<(), counterfair::theory::optimum::OptimumError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FullOptimum([Resolved; 2]);

impl FullOptimum {
    /// Solves both levels.
    ///
    /// # Errors
    /// Those of [`optimum`](super::optimum()).
    pub fn new(world: PaperWorld, delta: f64, discount: f64) -> Result<Self, OptimumError> {
        admit(world, delta, discount)?;
        Ok(Self([0, 1].map(|z| Resolved::new(Pair::new(world, delta, [z, z], discount)))))
    }

    /// Q*_z(s, ·).
    ///
    /// # Panics
    /// When `level` is not 0 or 1.
    pub fn q(&self, level: usize, s: f64) -> [f64; 2] {
        self.0[level].solution.q(s, 0.0)
    }

    /// The better action at a level; 0 when they tie.
    ///
    /// # Panics
    /// When `level` is not 0 or 1.
    pub fn action(&self, level: usize, s: f64) -> usize {
        let [idle, active] = self.q(level, s);
        usize::from(active > idle)
    }

    /// J*Full.
    pub fn value(&self) -> f64 {
        self.bounded().value
    }

    /// J*Full with its error.
    pub fn bounded(&self) -> Bounded {
        let [zero, one] = self.by_level();
        Bounded { value: 0.5 * (zero.value + one.value), error: 0.5 * (zero.error + one.error) }
    }

    /// G_z(m(z)) of the two levels with their errors.
    pub fn by_level(&self) -> [Bounded; 2] {
        [self.0[0].value, self.0[1].value]
    }
}
