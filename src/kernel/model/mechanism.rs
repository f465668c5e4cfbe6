//! A decision process as counterfactual inference sees it: its means, and the noise around them.

use super::NoiseLaw;

/// E(S₁ | Z), μₛ and μᵣ: all that counterfactual inference needs to know of a process whose noise is additive; and its
/// [`NoiseLaw`] where the noise is not.
///
/// # Equation
/// ```text
/// S₁ = m(Z) + U₁,   Sₜ₊₁ = μₛ(Sₜ, Aₜ, Z) + Uₜ₊₁,   Rₜ = μᵣ(Sₜ, Aₜ, Z) + Uᴿₜ      (asm:additive)
/// ```
///
/// Only differences μ(·, z′) − μ(·, z) ever enter a counterfactual, so the noise need not have mean zero.
pub trait Mechanism: Send + Sync {
    /// p, the number of state coordinates.
    fn state_dim(&self) -> usize;

    /// K, the number of sensitive levels.
    fn levels(&self) -> usize;

    /// |A|, the number of actions.
    fn actions(&self) -> usize;

    /// m(z) = E(S₁ | Z = z), `state_dim` numbers.
    fn initial_mean(&self, level: usize) -> &[f64];

    /// μₛ and μᵣ at one level for a block of rows.
    ///
    /// `states` and `next` are row-major with `state_dim` numbers a row; `actions` and `rewards` have one entry a row.
    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]);

    /// How the noise around the means spreads and what shape it has; `None` when it is merely added.
    fn noise(&self) -> Option<&dyn NoiseLaw> {
        None
    }
}

impl<M: Mechanism + ?Sized> Mechanism for &M {
    fn state_dim(&self) -> usize {
        (**self).state_dim()
    }
    fn levels(&self) -> usize {
        (**self).levels()
    }
    fn actions(&self) -> usize {
        (**self).actions()
    }
    fn initial_mean(&self, level: usize) -> &[f64] {
        (**self).initial_mean(level)
    }
    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        (**self).mean(level, states, actions, next, rewards);
    }
    fn noise(&self) -> Option<&dyn NoiseLaw> {
        (**self).noise()
    }
}

impl<M: Mechanism + ?Sized> Mechanism for std::sync::Arc<M> {
    fn state_dim(&self) -> usize {
        (**self).state_dim()
    }
    fn levels(&self) -> usize {
        (**self).levels()
    }
    fn actions(&self) -> usize {
        (**self).actions()
    }
    fn initial_mean(&self, level: usize) -> &[f64] {
        (**self).initial_mean(level)
    }
    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        (**self).mean(level, states, actions, next, rewards);
    }
    fn noise(&self) -> Option<&dyn NoiseLaw> {
        (**self).noise()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::worlds::ThreeLevels;

    fn sizes(mechanism: impl Mechanism) -> [usize; 3] {
        [mechanism.state_dim(), mechanism.levels(), mechanism.actions()]
    }

    #[test]
    fn a_reference_and_a_shared_pointer_are_the_mechanism_they_point_to() {
        let world = ThreeLevels::new(0.5);
        assert_eq!(sizes(&world), [2, 3, 3]);
        assert_eq!(sizes(std::sync::Arc::new(world.clone())), [2, 3, 3]);
        let at = |mechanism: &dyn Mechanism| {
            let (mut next, mut rewards) = ([9.0; 2], [9.0]);
            mechanism.mean(1, &[0.4, -0.7], &[2], &mut next, &mut rewards);
            (mechanism.initial_mean(2).to_vec(), next, rewards)
        };
        assert!(at(&world).0 != [0.0, 0.0] && at(&world).1 != [9.0; 2] && at(&world).2 != [9.0]);
        assert_eq!(at(&&world), at(&world));
        assert_eq!(at(&std::sync::Arc::new(world.clone())), at(&world));
    }
}
