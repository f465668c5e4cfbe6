//! What is random about the circle, in closed form: coverage, margins, and how often two readers decide otherwise.

use super::arc::CircleArc;
use super::{Circle, CircleFit, Weights};
use crate::kernel::numeric::small;
use std::f64::consts::{PI, TAU};

/// Somebody who decides at t = 1 by the greedy rule of `weights`, believing the worlds `apart` and reading s₀ + `shift` for s₀.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reader<'a> {
    /// The action value.
    pub weights: &'a Weights,
    /// ŝ₁ − ŝ₀.
    pub apart: f64,
    /// ŝ₀ − s₀.
    pub shift: f64,
}

impl Reader<'_> {
    /// Where the second action is preferred.
    fn arc(&self) -> CircleArc {
        let near = (1.0 + self.apart.cos()) / 2.0;
        let blend = |a: usize| [0, 1, 2].map(|k| near * self.weights[a][0][k] + (1.0 - near) * self.weights[a][1][k]);
        CircleArc::of(blend(0), blend(1))
    }
}

impl Circle {
    /// P(U₁ in a set) for a set that can change only at the given places, U₁ being s₀ − m₀.
    fn first_mass(&self, places: impl IntoIterator<Item = f64>, holds: impl Fn(f64) -> bool) -> f64 {
        let wrap = |x: f64| (x + PI).rem_euclid(TAU) - PI;
        let mut cuts = vec![-PI, PI];
        cuts.extend(places.into_iter().map(wrap));
        cuts.sort_by(f64::total_cmp);
        let law = |u: f64| (u + self.concentration * u.sin()) / TAU;
        cuts.windows(2).filter(|c| holds((c[0] + c[1]) / 2.0)).map(|c| law(c[1]) - law(c[0])).sum()
    }

    /// P(two readers act otherwise at t = 1), in closed form: s₀ between the ends of two arcs.
    pub fn first_disagreement(&self, one: &Reader<'_>, other: &Reader<'_>) -> f64 {
        let m = self.initial[0][0];
        let (first, second) = (one.arc(), other.arc());
        let ends = |arc: &CircleArc, shift: f64| [arc.centre - arc.half, arc.centre + arc.half].map(|x| x - m - shift);
        let places = ends(&first, one.shift).into_iter().chain(ends(&second, other.shift));
        self.first_mass(places, |u| first.contains(m + u + one.shift) != second.contains(m + u + other.shift))
    }

    /// What the method reads at t = 1 when somebody's level is z: own states exactly, the other world's by estimated means.
    pub fn method<'a>(&self, weights: &'a Weights, fit: &CircleFit, level: usize) -> Reader<'a> {
        let apart = fit.initial[1][0] - fit.initial[0][0];
        let shift = if level == 0 { 0.0 } else { self.initial[1][0] - self.initial[0][0] - apart };
        Reader { weights, apart, shift }
    }

    /// What a reader of true states reads at t = 1.
    pub fn oracle<'a>(&self, weights: &'a Weights) -> Reader<'a> {
        Reader { weights, apart: self.initial[1][0] - self.initial[0][0], shift: 0.0 }
    }

    /// P(the greedy rule of `w` acts otherwise at t = 1 in the two worlds), when initial means are estimated as `fit` has them.
    ///
    /// Both worlds see the same difference of states and s₀ shifted by e = (m₁−m₀) − (m̂₁−m̂₀).
    pub fn first_unfairness(&self, w: &Weights, fit: &CircleFit) -> f64 {
        self.first_disagreement(&self.method(w, fit, 0), &self.method(w, fit, 1))
    }

    /// P(gap ≤ x) at t = 1, where the worlds are half a turn apart.
    pub fn first_gap_mass(&self, w: &Weights, x: f64) -> f64 {
        let arc = CircleArc::of(w[0][1], w[1][1]);
        let m = self.initial[0][0];
        self.first_mass(arc.heights(x).into_iter().map(|v| arc.centre + v - m), |u| arc.gap(m + u) <= x)
    }

    /// C_m at α = 1 for S₁: the largest density, (1 + κ)/2π, times the widest set of small gaps for its height.
    pub fn first_margin(&self, w: &Weights) -> f64 {
        (1.0 + self.concentration) / TAU * CircleArc::of(w[0][1], w[1][1]).widest()
    }

    /// C_m at α = 1 for the states at every time, under any policy: given the past, s₀ has density at most (1 + κ)/2π.
    pub fn margin(&self, w: &Weights) -> f64 {
        let widest = [0, 1].map(|block| CircleArc::of(w[0][block], w[1][block]).widest());
        (1.0 + self.concentration) / TAU * widest[0].max(widest[1])
    }

    /// L_Q, from above, for the largest change of either angle.
    ///
    /// # Equation
    /// ```text
    /// q = n(D) q₀(s₀) + (1 − n(D)) q₁(s₀), n = (1 + cos D)/2, D = s₁ − s₀:  |∂q/∂s₀| + |∂q/∂s₁| ≤ sup|q₀ − q₁| + max(|q₀′|, |q₁′|)
    /// ```
    pub fn lipschitz(&self, w: &Weights) -> f64 {
        let of_action = |[near, far]: &[[f64; 3]; 2]| {
            let apart = (near[0] - far[0]).abs() + (near[1] - far[1]).hypot(near[2] - far[2]);
            apart + near[1].hypot(near[2]).max(far[1].hypot(far[2]))
        };
        w.iter().map(of_action).fold(0.0, f64::max)
    }

    /// sup over all states and actions, true or estimated, of the distance of two action values: largest at a block.
    pub fn sup_distance(&self, w: &Weights, v: &Weights) -> f64 {
        let of_block = |(w, v): (&[f64; 3], &[f64; 3])| (w[0] - v[0]).abs() + (w[1] - v[1]).hypot(w[2] - v[2]);
        w.iter().flatten().zip(v.iter().flatten()).map(of_block).fold(0.0, f64::max)
    }

    /// λ₀ of the law of (S̃ₜ, Aₜ) averaged over t = 1 … T under the behaviour policy, in closed form.
    ///
    /// # Equation
    /// ```text
    /// H_{t+1}(D′) = Σₐ P(a|z)(κ/2)e^{icₐ} Hₜ(D′ − βₐ),   E[vvᵀ; D] = [[p, Re H, Im H], [Re H, p/2, 0], [Im H, 0, p/2]]
    /// ```
    pub fn coverage(&self, horizon: usize) -> f64 {
        let half = self.concentration / 2.0;
        let mut blocks = [[[0.0f64; 3]; 2]; 2];
        for z in 0..2 {
            let m = self.initial[0][0];
            let (mut p, mut h) = ([0.0, 1.0], [[0.0, 0.0], [half * m.cos(), half * m.sin()]]);
            let share = [1.0 - self.treated[z], self.treated[z]];
            for _ in 0..horizon {
                let (mut next_p, mut next_h) = ([0.0; 2], [[0.0; 2]; 2]);
                for block in 0..2 {
                    for a in 0..2 {
                        let weight = self.level_law()[z] * share[a] / horizon as f64;
                        for (k, x) in [p[block], h[block][0], h[block][1]].into_iter().enumerate() {
                            blocks[a][block][k] += weight * x;
                        }
                        let to = Self::next_block(block, a);
                        let (sin, cos) = self.turn[a].sin_cos();
                        next_p[to] += share[a] * p[block];
                        next_h[to][0] += share[a] * half * (cos * h[block][0] - sin * h[block][1]);
                        next_h[to][1] += share[a] * half * (sin * h[block][0] + cos * h[block][1]);
                    }
                }
                (p, h) = (next_p, next_h);
            }
        }
        let least = |[p, re, im]: &[f64; 3]| {
            small::symmetric_eigenvalues(&[*p, *re, *im, *re, p / 2.0, 0.0, *im, 0.0, p / 2.0], 3)[0]
        };
        blocks.iter().flatten().map(least).fold(f64::INFINITY, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::numeric::Stream;

    /// Cells of a Riemann sum on the circle; each end of an arc costs at most one of them.
    const CELLS: usize = 200_000;

    fn riemann(bed: &Circle, holds: impl Fn(f64) -> bool) -> f64 {
        let width = TAU / CELLS as f64;
        let at = |k: usize| -PI + (k as f64 + 0.5) * width;
        let density = |u: f64| (1.0 + bed.concentration * u.cos()) / TAU;
        (0..CELLS).map(at).filter(|u| holds(*u)).map(|u| density(u) * width).sum()
    }

    #[test]
    fn masses_agree_with_sums_over_the_circle() {
        let bed = Circle::default();
        let w = bed.optimum();
        let m = bed.initial[0][0];
        let q = |a: usize, u: f64| w[a][1][0] + w[a][1][1] * (m + u).cos() + w[a][1][2] * (m + u).sin();
        // Four ends, each within one cell of density (1 + κ)/2π.
        let close = 4.0 * (1.0 + bed.concentration) / CELLS as f64;
        for x in [0.01, 0.1, 0.4, 3.0] {
            let sum = riemann(&bed, |u| (q(1, u) - q(0, u)).abs() <= x);
            assert!((bed.first_gap_mass(&w, x) - sum).abs() < close, "{x}: {} and {sum}", bed.first_gap_mass(&w, x));
            assert!(sum <= bed.first_margin(&w) * x + close, "{x}");
        }
        let fit = CircleFit::from_panel(&bed.simulate(300, 4, Stream::new(3))).expect("enough people");
        let (here, there) = (bed.method(&w, &fit, 0), bed.method(&w, &fit, 1));
        let decides = |r: &Reader<'_>, u: f64| {
            let (s0, near) = (m + u + r.shift, (1.0 + r.apart.cos()) / 2.0);
            let value = |a: usize| -> f64 {
                let v = [1.0, s0.cos(), s0.sin()];
                (0..3).map(|k| (near * w[a][0][k] + (1.0 - near) * w[a][1][k]) * v[k]).sum()
            };
            value(1) > value(0)
        };
        let sum = riemann(&bed, |u| decides(&here, u) != decides(&there, u));
        assert!((bed.first_unfairness(&w, &fit) - sum).abs() < close, "{} and {sum}", bed.first_unfairness(&w, &fit));
        assert_eq!(bed.first_disagreement(&bed.oracle(&w), &bed.oracle(&w)), 0.0);
    }

    #[test]
    fn the_tied_bed_has_no_gap_anywhere() {
        let bed = Circle::tied();
        let w = bed.optimum();
        assert!(bed.sup_distance(&[w[0]; 2], &[w[1]; 2]) < 1e-12, "{w:?}");
        assert!(bed.sup_distance(&[w[0]; 2], &[[[0.0; 3]; 2]; 2]) > 0.1, "not because all values are zero");
    }

    #[test]
    fn the_lipschitz_constant_bounds_differences() {
        let bed = Circle::default();
        let w = bed.optimum();
        let q = |s0: f64, s1: f64, a: usize| -> f64 {
            let (near, v) = ((1.0 + (s1 - s0).cos()) / 2.0, [1.0, s0.cos(), s0.sin()]);
            (0..3).map(|k| (near * w[a][0][k] + (1.0 - near) * w[a][1][k]) * v[k]).sum()
        };
        let (limit, h) = (bed.lipschitz(&w), 1e-3);
        for k in 0..400 {
            let (s0, s1) = (0.37 * f64::from(k), 0.61 * f64::from(k));
            for (d0, d1) in [(h, h), (h, -h), (-h, h), (h, 0.0), (0.0, h)] {
                for a in 0..2 {
                    let change = (q(s0 + d0, s1 + d1, a) - q(s0, s1, a)).abs();
                    assert!(change <= limit * h * (1.0 + h), "({s0}, {s1}): {change} > {limit}·{h}");
                }
            }
        }
    }

    #[test]
    fn coverage_is_the_least_eigenvalue_of_sums_over_the_circle() {
        // Two decisions. Sums over equal steps are exact for trigonometric polynomials of degree below their number.
        const STEPS: usize = 12;
        let bed = Circle::default();
        let steps = || (0..STEPS).map(|k| TAU * k as f64 / STEPS as f64);
        let density = |u: f64| (1.0 + bed.concentration * u.cos()) / STEPS as f64;
        let mut moments = [[[0.0; 9]; 2]; 2];
        let mut add = |action: usize, block: usize, s: f64, weight: f64| {
            let v = [1.0, s.cos(), s.sin()];
            moments[action][block].iter_mut().enumerate().for_each(|(k, x)| *x += weight * v[k / 3] * v[k % 3]);
        };
        for z in 0..2 {
            let share = [1.0 - bed.treated[z], bed.treated[z]];
            for u in steps() {
                let (s, here) = (bed.initial[0][0] + u, 0.5 * bed.level_law()[z] * density(u));
                for a in 0..2 {
                    add(a, 1, s, here * share[a]);
                    for later in steps() {
                        for b in 0..2 {
                            let weight = here * share[a] * density(later) * share[b];
                            add(b, Circle::next_block(1, a), s + bed.turn[a] + later, weight);
                        }
                    }
                }
            }
        }
        let least =
            moments.iter().flatten().map(|m| small::symmetric_eigenvalues(m, 3)[0]).fold(f64::INFINITY, f64::min);
        // Sums of a few hundred numbers of size one.
        assert!(least > 0.001 && (bed.coverage(2) - least).abs() < 1e-13, "{} and {least}", bed.coverage(2));
    }

    /// Action values with no zero and no two numbers alike.
    const WEIGHTS: Weights = [[[0.3, 0.5, -0.2], [-0.1, -0.7, 0.4]], [[0.05, -0.3, 0.45], [0.25, 0.35, 0.15]]];

    /// c₀ + c₁ cos s + c₂ sin s.
    fn at(c: [f64; 3], s: f64) -> f64 {
        c[0] + c[1] * s.cos() + c[2] * s.sin()
    }

    #[test]
    fn readers_disagree_where_their_values_do() {
        let bed = Circle::default();
        let reader = |apart: f64, shift: f64| Reader { weights: &WEIGHTS, apart, shift };
        let decides = |r: &Reader<'_>, u: f64| {
            let s0 = bed.initial[0][0] + u + r.shift;
            let near = (r.apart / 2.0).cos().powi(2);
            let value = |a: usize| near * at(WEIGHTS[a][0], s0) + (1.0 - near) * at(WEIGHTS[a][1], s0);
            value(1) > value(0)
        };
        let close = 4.0 * (1.0 + bed.concentration) / CELLS as f64;
        for (one, other) in [(reader(1.1, 0.4), reader(2.3, -0.7)), (reader(2.0, -0.35), reader(2.0, 0.8))] {
            let sum = riemann(&bed, |u| decides(&one, u) != decides(&other, u));
            let exact = bed.first_disagreement(&one, &other);
            assert!(sum > 0.05 && (exact - sum).abs() < close, "{exact} and {sum}");
        }
    }

    #[test]
    fn the_method_reads_its_own_world_exactly_and_the_other_by_estimated_means() {
        let bed = Circle::default();
        let fit = CircleFit { initial: [[0.55], [3.9]], ..bed.truth() };
        let (here, there, oracle) =
            (bed.method(&WEIGHTS, &fit, 0), bed.method(&WEIGHTS, &fit, 1), bed.oracle(&WEIGHTS));
        // At level 1, s₁ is known and s₀ is read as s₁ − 3.35, where it is s₁ − π.
        for (found, expected) in [
            (here.apart, 3.35),
            (here.shift, 0.0),
            (there.apart, 3.35),
            (there.shift, PI - 3.35),
            (oracle.apart, PI),
            (oracle.shift, 0.0),
        ] {
            assert!((found - expected).abs() < 1e-14, "{found} for {expected}");
        }
    }

    #[test]
    fn margins_of_constant_gaps_are_known() {
        // A gap of g everywhere is met at x = g, by all of the circle: C = (1 + κ)/2π · 2π/g.
        let bed = Circle::default();
        let with_gaps = |gaps: [f64; 2]| {
            let lifted = [0, 1].map(|block: usize| {
                let [constant, cosine, sine] = WEIGHTS[0][block];
                [constant + gaps[block], cosine, sine]
            });
            [WEIGHTS[0], lifted]
        };
        for (gaps, first, all) in [([0.7, 0.5], 3.6, 3.6), ([-0.4, 0.9], 2.0, 4.5)] {
            let w = with_gaps(gaps);
            assert!((bed.first_margin(&w) - first).abs() < 1e-13, "{}", bed.first_margin(&w));
            assert!((bed.margin(&w) - all).abs() < 1e-13, "{}", bed.margin(&w));
        }
    }

    #[test]
    fn the_lipschitz_constant_is_the_distance_of_blocks_and_their_steepest_slope() {
        let bed = Circle::default();
        let largest =
            |f: &dyn Fn(f64) -> f64| (0..20_000).map(|k| f(f64::from(k) * PI / 10_000.0).abs()).fold(0.0, f64::max);
        let of_action = |[near, far]: [[f64; 3]; 2]| {
            let slope = |c: [f64; 3]| largest(&|s| c[2] * s.cos() - c[1] * s.sin());
            largest(&|s| at(near, s) - at(far, s)) + slope(near).max(slope(far))
        };
        // Either action may be the steeper, and either block. The grid misses a maximum by 10⁻⁸ of it.
        for w in [WEIGHTS, [WEIGHTS[1], WEIGHTS[0]], [[WEIGHTS[0][1], WEIGHTS[0][0]], WEIGHTS[1]], [WEIGHTS[1]; 2]] {
            let expected = of_action(w[0]).max(of_action(w[1]));
            assert!((bed.lipschitz(&w) - expected).abs() < 1e-7, "{} and {expected}", bed.lipschitz(&w));
        }
    }

    /// Adds E[vvᵀ; action, block] of the `left` decisions from here, summed over equal steps of the noise.
    fn walk(
        bed: &Circle,
        z: usize,
        (block, s, weight): (usize, f64, f64),
        left: usize,
        moments: &mut [[[f64; 9]; 2]; 2],
    ) {
        // A path's weight has degree one in each noise and the moments degree two: five steps are exact.
        const STEPS: usize = 5;
        if left == 0 {
            return;
        }
        for a in 0..2 {
            let here = weight * if a == 1 { bed.treated[z] } else { 1.0 - bed.treated[z] };
            let v = [1.0, s.cos(), s.sin()];
            moments[a][block].iter_mut().enumerate().for_each(|(k, x)| *x += here * v[k / 3] * v[k % 3]);
            for u in (0..STEPS).map(|k| TAU * k as f64 / STEPS as f64) {
                let density = (1.0 + bed.concentration * u.cos()) / STEPS as f64;
                // The second action turns level 1 by half a turn more.
                let next = if a == 1 { 1 - block } else { block };
                walk(bed, z, (next, s + bed.turn[a] + u, here * density), left - 1, moments);
            }
        }
    }

    #[test]
    fn coverage_over_three_decisions_is_that_of_all_paths_whichever_cell_is_rarest() {
        const HORIZON: usize = 3;
        let base = Circle::default();
        for (treated, level_share, turn) in [
            ([0.35, 0.6], 0.4, [0.9, -0.5]),
            ([0.7, 0.85], 0.25, [0.9, -0.5]),
            ([0.1, 0.15], 0.7, [-0.4, 1.7]),
            ([0.9, 0.2], 0.55, [0.2, 0.3]),
            ([0.45, 0.5], 0.45, [0.15, 0.25]),
        ] {
            let bed = Circle { treated, level_share, turn, ..base.clone() };
            let mut moments = [[[0.0; 9]; 2]; 2];
            for (z, p) in [(0, 1.0 - level_share), (1, level_share)] {
                for k in 0..5 {
                    let u = TAU * f64::from(k) / 5.0;
                    let weight = p * (1.0 + bed.concentration * u.cos()) / 5.0 / HORIZON as f64;
                    walk(&bed, z, (1, bed.initial[0][0] + u, weight), HORIZON, &mut moments);
                }
            }
            let least =
                moments.iter().flatten().map(|m| small::symmetric_eigenvalues(m, 3)[0]).fold(f64::INFINITY, f64::min);
            // Sums of a few thousand numbers below one.
            assert!(
                least > 1e-4 && (bed.coverage(HORIZON) - least).abs() < 1e-13,
                "{} and {least}",
                bed.coverage(HORIZON)
            );
        }
    }
}
