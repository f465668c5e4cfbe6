//! Q*(·, 1) − Q*(·, 0) on a grid fine enough for cubic interpolation.

use crate::kernel::model::{Exogenous, World};
use crate::theory::optimum::FairOptimum;

/// The advantage of action 1 over action 0 under the best fair policy, as a function of m = (s⁰ + s¹)/2 and d = s¹ − s⁰.
///
/// It is as smooth as a Gaussian average, so cubic interpolation at a spacing of 0.05 leaves about 1e-7. Outside the table Q* itself is asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Advantage {
    low: [f64; 2],
    step: [f64; 2],
    count: [usize; 2],
    /// Values with m running fastest.
    values: Vec<f64>,
}

/// Spacing of the grid along m and d.
const STEP: [f64; 2] = [0.05, 0.1];

impl Advantage {
    /// A table over what is reached from these draws under either action always, and under both in turn.
    pub fn new(world: &dyn World, optimum: &FairOptimum, draws: &Exogenous) -> Self {
        let [m, d] = reached(world, draws);
        let (mut low, mut step, mut count) = ([0.0; 2], STEP, [0; 2]);
        for (axis, [least, most]) in [m, d].into_iter().enumerate() {
            // Two points more on either side, so that a cubic has its four.
            low[axis] = least - 2.0 * STEP[axis];
            count[axis] = ((most - least) / STEP[axis]).ceil() as usize + 5;
            step[axis] = STEP[axis];
        }
        let mut values = Vec::with_capacity(count[0] * count[1]);
        for j in 0..count[1] {
            for i in 0..count[0] {
                let (m, d) = (low[0] + i as f64 * step[0], low[1] + j as f64 * step[1]);
                values.push(exact(optimum, m, d));
            }
        }
        Self { low, step, count, values }
    }

    /// V*(s⁰, s¹) − Q*(s⁰, s¹, a) for one of the two actions.
    #[inline]
    pub fn loss(&self, optimum: &FairOptimum, s0: f64, s1: f64, action: u32) -> f64 {
        let advantage = self.at(optimum, 0.5 * (s0 + s1), s1 - s0);
        if action == 0 { advantage.max(0.0) } else { (-advantage).max(0.0) }
    }

    /// Q*(·, 1) − Q*(·, 0) at (m, d).
    #[inline]
    pub fn at(&self, optimum: &FairOptimum, m: f64, d: f64) -> f64 {
        let (x, y) = ((m - self.low[0]) / self.step[0], (d - self.low[1]) / self.step[1]);
        let inside = |x: f64, count: usize| x >= 1.0 && x < (count - 2) as f64;
        if !inside(x, self.count[0]) || !inside(y, self.count[1]) {
            return exact(optimum, m, d);
        }
        let (i, j) = (x as usize, y as usize);
        let (across, along) = (cubic(x - i as f64), cubic(y - j as f64));
        let mut sum = 0.0;
        for (k, weight) in along.iter().enumerate() {
            let first = (j + k - 1) * self.count[0] + i - 1;
            let row = &self.values[first..first + 4];
            sum += weight * (across[0] * row[0] + across[1] * row[1] + across[2] * row[2] + across[3] * row[3]);
        }
        sum
    }
}

fn exact(optimum: &FairOptimum, m: f64, d: f64) -> f64 {
    let [idle, active] = optimum.q(m - 0.5 * d, m + 0.5 * d);
    active - idle
}

/// Lagrange's weights of the points −1, 0, 1, 2 at t ∈ [0, 1).
#[inline]
fn cubic(t: f64) -> [f64; 4] {
    let (u, v, w) = (t + 1.0, t - 1.0, t - 2.0);
    [-t * v * w / 6.0, u * v * w / 2.0, -u * t * w / 2.0, u * t * v / 6.0]
}

/// The ranges of m and d over these draws when everybody receives 0, or 1, or both in turn.
fn reached(world: &dyn World, draws: &Exogenous) -> [[f64; 2]; 2] {
    let n = draws.people();
    let mut ranges = [[f64::INFINITY, f64::NEG_INFINITY]; 2];
    let (mut next, mut rewards) = (vec![0.0; n], vec![0.0; n]);
    for plan in 0..3u32 {
        let mut worlds =
            [0, 1].map(|k| draws.states(0).iter().map(|u| world.initial_mean(k)[0] + u).collect::<Vec<f64>>());
        for t in 0..draws.horizon() {
            for (s0, s1) in worlds[0].iter().zip(&worlds[1]) {
                for (range, x) in ranges.iter_mut().zip([0.5 * (s0 + s1), s1 - s0]) {
                    *range = [range[0].min(x), range[1].max(x)];
                }
            }
            let actions = vec![if plan < 2 { plan } else { t as u32 % 2 }; n];
            for (k, states) in worlds.iter_mut().enumerate() {
                world.mean(k, states, &actions, &mut next, &mut rewards);
                for ((s, mean), u) in states.iter_mut().zip(&next).zip(draws.states(t + 1)) {
                    *s = mean + u;
                }
            }
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::model::worlds::{Linear, Nonlinear};
    use crate::kernel::numeric::Stream;
    use crate::theory::optimum::PaperWorld;

    #[test]
    fn between_its_points_the_table_is_good_to_a_millionth() {
        let worlds: [(PaperWorld, Box<dyn World>); 2] =
            [(PaperWorld::Linear, Box::new(Linear::new(0.8))), (PaperWorld::Nonlinear, Box::new(Nonlinear::new(0.8)))];
        for (kind, world) in worlds {
            let optimum = FairOptimum::new(kind, 0.8, 0.7).unwrap();
            let table = Advantage::new(&*world, &optimum, &Exogenous::draw(&*world, 50, 10, Stream::new(5)));
            for i in 0..60 {
                let at = |axis: usize, phase: f64| {
                    let share = (f64::from(i) * phase).fract();
                    table.low[axis] + table.step[axis] * share * (table.count[axis] - 1) as f64
                };
                let (m, d) = (at(0, 0.618), at(1, 0.414));
                let apart = (table.at(&optimum, m, d) - exact(&optimum, m, d)).abs();
                assert!(apart < 1e-6, "{kind:?} at ({m}, {d}): {apart}");
            }
            let far = table.low[0] - 3.0;
            assert_eq!(table.at(&optimum, far, 0.5), exact(&optimum, far, 0.5));
        }
    }

    #[test]
    fn cubics_come_back_exactly() {
        let f = |t: f64| 1.0 - 2.0 * t + 0.5 * t * t - 0.25 * t * t * t;
        for t in [0.0, 0.3, 0.77] {
            let sum: f64 = cubic(t).iter().zip([-1.0, 0.0, 1.0, 2.0]).map(|(w, x)| w * f(x)).sum();
            assert!((sum - f(t)).abs() < 1e-14);
        }
    }
}
