//! Adam, the optimiser the source document uses throughout.

use crate::kernel::numeric::lanes::{Quad, Work, dispatch};

/// Adaptive moments: each parameter moves by about the learning rate, whatever the size of its gradient.
///
/// # Equation
/// At step t = 1, 2, … with gradient g,
/// ```text
/// m ← β₁ m + (1 − β₁) g,   v ← β₂ v + (1 − β₂) g²,   θ ← θ − α m̂ / (√v̂ + ε),   m̂ = m / (1 − β₁ᵗ),   v̂ = v / (1 − β₂ᵗ)
/// ```
/// where α is the learning rate, β₁ = 0.9, β₂ = 0.999, ε = 10⁻⁸, and m = v = 0 at the start.
///
/// # Reference
/// Kingma and Ba, *Adam: a method for stochastic optimization*, algorithm 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Adam {
    learning_rate: f64,
    /// β₁ᵗ and β₂ᵗ, multiplied up: `powi` is allowed to differ between machines.
    powers: [f64; 2],
    /// m.
    mean: Vec<f64>,
    /// v.
    square: Vec<f64>,
}

impl Adam {
    /// β₁, the memory of the mean gradient.
    pub const BETA1: f64 = 0.9;
    /// β₂, the memory of the squared gradient.
    pub const BETA2: f64 = 0.999;
    /// ε, which keeps a parameter without gradient from dividing by zero.
    pub const EPSILON: f64 = 1e-8;

    /// An optimiser that has taken no step, for so many parameters.
    pub fn new(learning_rate: f64, parameters: usize) -> Self {
        Adam { learning_rate, powers: [1.0; 2], mean: vec![0.0; parameters], square: vec![0.0; parameters] }
    }

    /// α, the learning rate.
    pub fn learning_rate(&self) -> f64 {
        self.learning_rate
    }

    /// Forgets all steps, as if newly made.
    pub fn reset(&mut self) {
        self.powers = [1.0; 2];
        self.mean.fill(0.0);
        self.square.fill(0.0);
    }

    /// One step on the parameters θ with gradient g.
    ///
    /// # Panics
    /// If there are more or fewer of either than the optimiser was made for.
    pub fn step(&mut self, parameters: &mut [f64], gradient: &[f64]) {
        assert_eq!(parameters.len(), self.mean.len(), "parameters of the optimiser");
        assert_eq!(gradient.len(), self.mean.len(), "gradient of each parameter");
        self.powers[0] *= Self::BETA1;
        self.powers[1] *= Self::BETA2;
        dispatch(Step { adam: self, parameters, gradient });
    }
}

struct Step<'a> {
    adam: &'a mut Adam,
    parameters: &'a mut [f64],
    gradient: &'a [f64],
}

impl Work for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn run<Q: Quad>(self, _: Q) {
        let Adam { learning_rate, powers, mean, square } = self.adam;
        let rate = *learning_rate / (1.0 - powers[0]);
        let correction = 1.0 - powers[1];
        for (((p, &g), m), v) in self.parameters.iter_mut().zip(self.gradient).zip(mean).zip(square) {
            *m = Adam::BETA1 * *m + (1.0 - Adam::BETA1) * g;
            *v = Adam::BETA2 * *v + (1.0 - Adam::BETA2) * g * g;
            *p -= rate * *m / ((*v / correction).sqrt() + Adam::EPSILON);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_steps_follow_the_recursion_worked_out_in_forty_digits() {
        let mut adam = Adam::new(0.1, 1);
        let mut parameter = [1.0];
        let expected = [0.900_000_001, 0.873_366_297_370_903, 0.839_323_383_064_846_3, 0.811_437_499_177_522_4];
        for (gradient, expected) in [1.0, -0.5, 0.25, 0.0].into_iter().zip(expected) {
            adam.step(&mut parameter, &[gradient]);
            // A handful of roundings of numbers below 1.
            assert!((parameter[0] - expected).abs() <= 8.0 * f64::EPSILON, "{} against {expected}", parameter[0]);
        }
    }

    #[test]
    fn epsilon_halves_the_step_of_a_gradient_of_its_own_size() {
        let mut adam = Adam::new(0.25, 2);
        let mut parameters = [0.0, 3.0];
        adam.step(&mut parameters, &[Adam::EPSILON, 0.0]);
        assert!((parameters[0] + 0.125).abs() <= 8.0 * f64::EPSILON);
        assert_eq!(parameters[1], 3.0);
    }

    #[test]
    fn each_parameter_moves_alone() {
        let gradient: Vec<f64> = (0..11).map(|i| (i as f64 - 4.5) / 3.0).collect();
        let mut together: Vec<f64> = (0..11).map(f64::from).collect();
        let mut adam = Adam::new(0.03, 11);
        for _ in 0..3 {
            adam.step(&mut together, &gradient);
        }
        for i in 0..11 {
            let mut alone = [i as f64];
            let mut adam = Adam::new(0.03, 1);
            for _ in 0..3 {
                adam.step(&mut alone, &gradient[i..i + 1]);
            }
            assert_eq!(alone[0], together[i]);
        }
    }

    #[test]
    fn reset_forgets_all_steps() {
        let mut adam = Adam::new(0.1, 2);
        adam.step(&mut [0.5, 0.25], &[1.0, -2.0]);
        assert_ne!(adam, Adam::new(0.1, 2));
        adam.reset();
        assert_eq!(adam, Adam::new(0.1, 2));
        assert_eq!(adam.learning_rate(), 0.1);
    }

    #[test]
    #[should_panic(expected = "parameters of the optimiser")]
    fn parameters_of_another_network_are_refused() {
        Adam::new(0.1, 2).step(&mut [0.0], &[0.0, 0.0]);
    }

    #[test]
    #[should_panic(expected = "gradient of each parameter")]
    fn a_gradient_of_another_length_is_refused() {
        Adam::new(0.1, 2).step(&mut [0.0, 0.0], &[0.0]);
    }
}
