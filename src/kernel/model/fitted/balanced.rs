//! What the design of a study knows better than its sample means.

use crate::kernel::model::{Mechanism, NoiseLaw, Output};

/// A mechanism some of whose first-state coordinates are known not to depend on the level: they were drawn by lot, say.
///
/// Sample means of such a coordinate differ between levels by chance, and `alg:cf:1` would carry that chance over into every other world:
/// somebody in a small class (1) would be in 0.99 of one there. Here the coordinate has one mean for all, so its counterfactual is itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Balanced<M> {
    mechanism: M,
    coordinates: Vec<usize>,
    initial: Vec<Vec<f64>>,
}

impl<M: Mechanism> Balanced<M> {
    /// Gives `coordinates` (from 0) of the first state the mean over levels, weighted by P(Z).
    ///
    /// # Panics
    /// If there is not one weight a level, or no such coordinate.
    pub fn new(mechanism: M, coordinates: &[usize], weights: &[f64]) -> Self {
        assert_eq!(weights.len(), mechanism.levels(), "one weight a level");
        let mut initial: Vec<Vec<f64>> = (0..mechanism.levels()).map(|z| mechanism.initial_mean(z).to_vec()).collect();
        for &j in coordinates {
            let mean = initial.iter().zip(weights).map(|(mean, weight)| weight * mean[j]).sum();
            initial.iter_mut().for_each(|at| at[j] = mean);
        }
        Self { mechanism, coordinates: coordinates.to_vec(), initial }
    }
}

impl<M: Mechanism> Mechanism for Balanced<M> {
    fn state_dim(&self) -> usize {
        self.mechanism.state_dim()
    }

    fn levels(&self) -> usize {
        self.mechanism.levels()
    }

    fn actions(&self) -> usize {
        self.mechanism.actions()
    }

    fn initial_mean(&self, level: usize) -> &[f64] {
        &self.initial[level]
    }

    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        self.mechanism.mean(level, states, actions, next, rewards);
    }

    fn noise(&self) -> Option<&dyn NoiseLaw> {
        self.mechanism.noise().map(|_| self as &dyn NoiseLaw)
    }
}

/// The noise of the mechanism within, but balanced coordinates start at the same value in every world.
impl<M: Mechanism> NoiseLaw for Balanced<M> {
    fn initial_spread(&self, level: usize) -> &[f64] {
        self.within().initial_spread(level)
    }

    fn spread(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        self.within().spread(level, states, actions, next, rewards);
    }

    fn to_common(&self, output: Output, level: usize, noise: f64) -> f64 {
        self.within().to_common(output, level, noise)
    }

    fn of_common(&self, output: Output, level: usize, common: f64) -> f64 {
        self.within().of_common(output, level, common)
    }

    fn is_kept(&self, output: Output) -> bool {
        matches!(output, Output::First(j) if self.coordinates.contains(&j)) || self.within().is_kept(output)
    }
}

impl<M: Mechanism> Balanced<M> {
    fn within(&self) -> &dyn NoiseLaw {
        self.mechanism.noise().expect("a law is asked only of a mechanism that has one")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::model::worlds::ThreeLevels;

    #[test]
    fn a_balanced_coordinate_keeps_its_value_in_every_world_and_the_others_do_not() {
        let world = ThreeLevels::new(0.8);
        let balanced = Balanced::new(&world, &[1], &[0.5, 0.3, 0.2]);
        let shift = |j: usize| balanced.initial_mean(2)[j] - balanced.initial_mean(0)[j];
        assert_eq!(shift(1), 0.0);
        assert_eq!(shift(0), world.initial_mean(2)[0] - world.initial_mean(0)[0]);
        let expected: f64 = (0..3).map(|z| [0.5, 0.3, 0.2][z] * world.initial_mean(z)[1]).sum();
        assert_eq!(balanced.initial_mean(1)[1], expected);
    }

    #[test]
    fn everything_else_is_that_of_the_mechanism_within() {
        let world = ThreeLevels::new(0.8);
        let balanced = Balanced::new(&world, &[0], &[0.5, 0.3, 0.2]);
        assert_eq!((balanced.state_dim(), balanced.levels(), balanced.actions()), (2, 3, 3));
        let mean = |mechanism: &dyn Mechanism| {
            let (mut next, mut reward) = ([0.0; 2], [0.0]);
            mechanism.mean(1, &[0.7, -1.2], &[2], &mut next, &mut reward);
            (next, reward)
        };
        assert_eq!(mean(&balanced), mean(&world));
        assert_ne!(mean(&balanced), ([0.0; 2], [0.0]));
    }

    #[test]
    fn a_balanced_coordinate_starts_at_itself_even_where_its_spread_depends_on_the_level() {
        use crate::kernel::model::noise::{first_noise, first_state};
        use crate::kernel::model::worlds::three_levels_mixed;
        let world = three_levels_mixed(0.8);
        let balanced = Balanced::new(&world, &[1], &[0.5, 0.3, 0.2]);
        let mut state = [0.7, -1.3];
        first_noise(&balanced, 0, &mut state);
        first_state(&balanced, 1, &mut state);
        assert_eq!(state[1], -1.3);
        // The other coordinate: m₁ + (1/0.7)(s − m₀).
        let expected = balanced.initial_mean(1)[0] + (0.7 - balanced.initial_mean(0)[0]) / 0.7;
        assert!((state[0] - expected).abs() < 1e-14, "{state:?}");
    }
}
