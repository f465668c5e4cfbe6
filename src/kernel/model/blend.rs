//! Weighted sums of mechanisms.

use super::Mechanism;

/// μ = Σᵢ cᵢ μᵢ, coefficient by coefficient of whatever the parts are made of.
///
/// Means estimated from two groups of people are pooled this way, in whatever bases they were fitted.
pub struct Blend<'a> {
    parts: Vec<(f64, &'a dyn Mechanism)>,
    initial: Vec<Vec<f64>>,
}

impl<'a> Blend<'a> {
    /// The sum of these mechanisms with these coefficients.
    ///
    /// # Panics
    /// If there are none, or they differ in levels, actions or coordinates.
    pub fn new(parts: Vec<(f64, &'a dyn Mechanism)>) -> Self {
        let shape = |m: &dyn Mechanism| (m.levels(), m.actions(), m.state_dim());
        assert!(!parts.is_empty(), "a sum of no mechanisms");
        assert!(parts.iter().all(|(_, m)| shape(*m) == shape(parts[0].1)), "mechanisms of one shape");
        let (levels, _, p) = shape(parts[0].1);
        let sum = |level: usize, j: usize| parts.iter().map(|(c, m)| c * m.initial_mean(level)[j]).sum();
        let initial = (0..levels).map(|level| (0..p).map(|j| sum(level, j)).collect()).collect();
        Self { parts, initial }
    }
}

impl Mechanism for Blend<'_> {
    fn state_dim(&self) -> usize {
        self.parts[0].1.state_dim()
    }

    fn levels(&self) -> usize {
        self.parts[0].1.levels()
    }

    fn actions(&self) -> usize {
        self.parts[0].1.actions()
    }

    fn initial_mean(&self, level: usize) -> &[f64] {
        &self.initial[level]
    }

    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        let (mut part_next, mut part_rewards) = (vec![0.0; next.len()], vec![0.0; rewards.len()]);
        next.fill(0.0);
        rewards.fill(0.0);
        for (c, mechanism) in &self.parts {
            mechanism.mean(level, states, actions, &mut part_next, &mut part_rewards);
            next.iter_mut().zip(&part_next).for_each(|(sum, x)| *sum += c * x);
            rewards.iter_mut().zip(&part_rewards).for_each(|(sum, x)| *sum += c * x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::model::worlds::ThreeLevels;

    #[test]
    fn means_add_up() {
        let (weak, strong) = (ThreeLevels::new(0.3), ThreeLevels::new(1.1));
        let blend = Blend::new(vec![(0.25, &weak), (-0.5, &strong)]);
        assert_eq!((blend.levels(), blend.actions(), blend.state_dim()), (3, 3, 2));
        for level in 0..3 {
            let at = |m: &dyn Mechanism| {
                let (mut next, mut rewards) = ([9.0; 4], [9.0; 2]);
                m.mean(level, &[0.4, -0.7, 1.3, 0.2], &[2, 1], &mut next, &mut rewards);
                [m.initial_mean(level), &next, &rewards].concat()
            };
            for ((found, a), b) in at(&blend).iter().zip(at(&weak)).zip(at(&strong)) {
                assert!((found - (0.25 * a - 0.5 * b)).abs() < 1e-14, "{found}");
            }
        }
    }
}
