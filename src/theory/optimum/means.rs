//! The means of the paper's two worlds for one person and one level at a time, and what they say of the states.

use super::PaperWorld;
use crate::kernel::model::Mechanism;
use crate::kernel::model::worlds::{Linear, Nonlinear};
use std::f64::consts::FRAC_PI_4;

/// One of the two worlds of supplement F.2 at a strength δ.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Means {
    Linear(Linear),
    Nonlinear(Nonlinear),
}

impl Means {
    pub fn new(world: PaperWorld, delta: f64) -> Self {
        match world {
            PaperWorld::Linear => Means::Linear(Linear::new(delta)),
            PaperWorld::Nonlinear => Means::Nonlinear(Nonlinear::new(delta)),
        }
    }

    /// m(z), the mean of the first state.
    pub fn initial(&self, z: usize) -> f64 {
        match self {
            Means::Linear(world) => world.initial_mean(z)[0],
            Means::Nonlinear(world) => world.initial_mean(z)[0],
        }
    }

    /// μₛ(s, a, z) and μᵣ(s, a, z): the mean of the next state, and the reward.
    pub fn step(&self, s: f64, a: usize, z: usize) -> (f64, f64) {
        let (mut next, mut reward) = ([0.0], [0.0]);
        match self {
            Means::Linear(world) => world.mean(z, &[s], &[a as u32], &mut next, &mut reward),
            Means::Nonlinear(world) => world.mean(z, &[s], &[a as u32], &mut next, &mut reward),
        }
        (next[0], reward[0])
    }

    /// kᶻ(a) = μₛ(1, a, z) − μₛ(0, a, z); in the linear world the slope ½ + 0.3 (a − ½) + 0.3 δ (z − ½).
    pub fn gain(&self, a: usize, z: usize) -> f64 {
        self.step(1.0, a, z).0 - self.step(0.0, a, z).0
    }

    /// The interval that the non-linear world's μₛ(·, ·, z) fills: μₛ is affine in sin s + cos s, which is largest at π/4
    /// and smallest half a turn away.
    pub fn nonlinear_range(&self, z: usize) -> [f64; 2] {
        let mut range = [f64::INFINITY, f64::NEG_INFINITY];
        for a in [0, 1] {
            for s in [FRAC_PI_4, -3.0 * FRAC_PI_4] {
                let mean = self.step(s, a, z).0;
                range = [range[0].min(mean), range[1].max(mean)];
            }
        }
        range
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of a few numbers of size 1.
    const ROUNDING: f64 = 1e-14;

    #[test]
    fn the_linear_gain_is_the_slope_of_the_paper() {
        let (delta, means) = (0.7, Means::new(PaperWorld::Linear, 0.7));
        for (a, z) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let expected = 0.5 + 0.3 * (a as f64 - 0.5) + 0.3 * delta * (z as f64 - 0.5);
            assert!((means.gain(a, z) - expected).abs() < ROUNDING);
        }
    }

    #[test]
    fn the_nonlinear_means_fill_their_interval_and_do_not_leave_it() {
        for delta in [-1.3, 0.4, 1.0] {
            for z in [0, 1] {
                let means = Means::new(PaperWorld::Nonlinear, delta);
                let [low, high] = means.nonlinear_range(z);
                let sampled = (0..20_000).map(|i| means.step(f64::from(i / 2) * 1e-3 - 4.0, i as usize % 2, z).0);
                let (least, most) = sampled.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
                assert!(low <= least + ROUNDING && most <= high + ROUNDING, "{delta} {z}");
                // A step of 1e-3 misses an extremum of curvature below 1 by less than 1e-6.
                assert!(least - low < 1e-6 && high - most < 1e-6, "{delta} {z}");
            }
        }
    }

    #[test]
    fn the_first_means_of_the_two_worlds_are_those_of_the_supplement() {
        let first = |world| [0, 1].map(|z| Means::new(world, 0.7).initial(z));
        assert_eq!(first(PaperWorld::Linear), [-0.3, -0.3 + 0.7]);
        assert_eq!(first(PaperWorld::Nonlinear), [-0.7, -0.7 + 0.8]);
    }
}
