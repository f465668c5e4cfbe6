//! Weighted sums of mechanisms.

use super::{Mechanism, NoiseLaw, Output};

/// μ = Σᵢ cᵢ μᵢ, coefficient by coefficient of whatever the parts are made of.
///
/// Means estimated from two groups of people are pooled this way, in whatever bases they were fitted.
pub struct Blend<'a> {
    parts: Vec<(f64, &'a dyn Mechanism)>,
    initial: Vec<Vec<f64>>,
    noise: Option<BlendedNoise<'a>>,
}

/// Spreads σ = Πᵢ σᵢ^{cᵢ}; shapes are those of the last part that has any.
///
/// Spreads differ by factors, so their logarithms are averaged, as means are. Shapes are quantile functions on scales of their own, which
/// do not add up.
struct BlendedNoise<'a> {
    laws: Vec<(f64, &'a dyn NoiseLaw)>,
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
        let law = |(c, mechanism): (f64, &'a dyn Mechanism)| Some((c, mechanism.noise()?));
        let laws: Vec<(f64, &'a dyn NoiseLaw)> = parts.iter().copied().filter_map(law).collect();
        let spread = |level: usize, j: usize| -> f64 {
            laws.iter().map(|(c, law)| c * law.initial_spread(level)[j].ln()).sum::<f64>().exp()
        };
        let spreads = (0..levels).map(|level| (0..p).map(|j| spread(level, j)).collect()).collect();
        let noise = (!laws.is_empty()).then_some(BlendedNoise { laws, initial: spreads });
        Self { parts, initial, noise }
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

    fn noise(&self) -> Option<&dyn NoiseLaw> {
        self.noise.as_ref().map(|noise| noise as &dyn NoiseLaw)
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

impl BlendedNoise<'_> {
    fn last(&self) -> &dyn NoiseLaw {
        self.laws[self.laws.len() - 1].1
    }
}

impl NoiseLaw for BlendedNoise<'_> {
    fn initial_spread(&self, level: usize) -> &[f64] {
        &self.initial[level]
    }

    fn spread(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        let (mut part_next, mut part_rewards) = (vec![0.0; next.len()], vec![0.0; rewards.len()]);
        next.fill(0.0);
        rewards.fill(0.0);
        for (c, law) in &self.laws {
            law.spread(level, states, actions, &mut part_next, &mut part_rewards);
            next.iter_mut().zip(&part_next).for_each(|(sum, x)| *sum += c * x.ln());
            rewards.iter_mut().zip(&part_rewards).for_each(|(sum, x)| *sum += c * x.ln());
        }
        next.iter_mut().chain(rewards).for_each(|x| *x = x.exp());
    }

    fn to_common(&self, output: Output, level: usize, noise: f64) -> f64 {
        self.last().to_common(output, level, noise)
    }

    fn of_common(&self, output: Output, level: usize, common: f64) -> f64 {
        self.last().of_common(output, level, common)
    }

    fn is_kept(&self, output: Output) -> bool {
        self.last().is_kept(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::worlds::ThreeLevels;
    use crate::model::worlds::by_name;

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

    #[test]
    fn logarithms_of_spreads_add_up() {
        let [level, state] = ["spread-by-level", "spread-by-state"].map(|name| by_name(name, 1.0).unwrap());
        let blend = Blend::new(vec![(0.25, &*level), (0.75, &*state)]);
        assert!(Blend::new(vec![(1.0, &ThreeLevels::new(0.3))]).noise().is_none());
        let at = |m: &dyn Mechanism, z: usize| {
            let (mut next, mut rewards) = ([9.0; 2], [9.0; 2]);
            m.noise().unwrap().spread(z, &[0.4, -0.7], &[1, 0], &mut next, &mut rewards);
            [m.noise().unwrap().initial_spread(z), &next].concat()
        };
        for z in 0..2 {
            for ((found, a), b) in at(&blend, z).iter().zip(at(&*level, z)).zip(at(&*state, z)) {
                assert!((found - a.powf(0.25) * b.powf(0.75)).abs() < 1e-14, "{found}");
            }
        }
    }
}
