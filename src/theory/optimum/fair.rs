//! The best counterfactually fair policy.

use super::pair::Pair;
use super::resolved::Resolved;
use super::{Bounded, OptimumError, PaperWorld, admit};

/// Q* of the augmented process whose state is the pair of counterfactual states (S⁰, S¹).
///
/// A rule is counterfactually fair exactly when its action depends on the past through the counterfactual states of all
/// levels and the past actions (`thm:cf`, and its converse), and a stationary function of (S⁰, S¹) attains the best value
/// (`thm:sr_policy`). So the best fair value is that of a Markov decision process with this state, which noise moves along the
/// diagonal:
///
/// # Equation
/// ```text
/// Q*(s⁰, s¹, a) = ½ Σ_z μᵣ(sᶻ, a, z) + γ G(μₛ(s⁰, a, 0), μₛ(s¹, a, 1)),
/// G(x, y) = E max_a Q*(x + U, y + U, a),   U ~ N(0, 1),
/// J*CF = G(m(0), m(1)).
/// ```
///
/// # Precision
/// Where the process goes with a probability worth mention, Q* carries an error like that of the value. In the linear world Q* is
/// known on a rectangle of seven standard deviations around it; farther out the gain over always playing 1 is taken from
/// the rectangle's edge, which leaves the better action right and its value rough.
///
/// # Example
/// ```
/// use counterfair::theory::optimum::{FairOptimum, PaperWorld};
/// let best = FairOptimum::new(PaperWorld::Nonlinear, 1.0, 0.9)?;
/// assert!((best.value() - 5.1252357500).abs() < 1e-10);
/// let [idle, active] = best.q(-0.4, 0.4);
/// assert_eq!(best.action(-0.4, 0.4), usize::from(active > idle));
/// # Ok::<(), counterfair::theory::optimum::OptimumError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FairOptimum(Resolved);

impl FairOptimum {
    /// Solves the augmented process.
    ///
    /// # Errors
    /// Those of [`optimum`](super::optimum()).
    pub fn new(world: PaperWorld, delta: f64, discount: f64) -> Result<Self, OptimumError> {
        admit(world, delta, discount)?;
        Ok(Self(Resolved::new(Pair::new(world, delta, [0, 1], discount))))
    }

    /// Q*(s⁰, s¹, ·).
    pub fn q(&self, s0: f64, s1: f64) -> [f64; 2] {
        self.0.solution.q(0.5 * (s0 + s1), s1 - s0)
    }

    /// The better action; 0 when they tie.
    pub fn action(&self, s0: f64, s1: f64) -> usize {
        let [idle, active] = self.q(s0, s1);
        usize::from(active > idle)
    }

    /// J*CF.
    pub fn value(&self) -> f64 {
        self.0.value.value
    }

    /// J*CF with its error.
    pub fn bounded(&self) -> Bounded {
        self.0.value
    }
}
