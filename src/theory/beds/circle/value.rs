//! Action values on the circle: the Bellman operator, Q*, and the value of a greedy rule, all in closed form.

use super::arc::CircleArc;
use super::{Circle, EXTRA, Weights};
use crate::kernel::numeric::small;
use std::f64::consts::{PI, TAU};

impl Circle {
    /// Mean reward over levels in a block, as coefficients of 1, cos s₀, sin s₀: harmonics of level 1 change sign with the difference.
    fn mean_reward(&self, action: usize, block: usize) -> [f64; 3] {
        let sign = if block == 0 { 1.0 } else { -1.0 };
        let [p0, p1] = self.level_law();
        let (r0, r1) = (self.rewards[0][action], self.rewards[1][action]);
        [p0 * r0[0] + p1 * r1[0], p0 * r0[1] + p1 * sign * r1[1], p0 * r0[2] + p1 * sign * r1[2]]
    }

    /// The block after an action.
    pub(super) fn next_block(block: usize, action: usize) -> usize {
        if EXTRA[action] == 0.0 { block } else { 1 - block }
    }

    /// y ↦ E h(y + c + U) as coefficients of 1, cos y, sin y, from (mean, cosine, sine) moments of h.
    fn smooth(&self, [h0, hc, hs]: [f64; 3], c: f64) -> [f64; 3] {
        let half = self.concentration / 2.0;
        [h0, half * (hc * c.cos() + hs * c.sin()), half * (hs * c.cos() - hc * c.sin())]
    }

    /// r + γ E h(S′) on weights, given the moments of h in each block.
    fn backup(&self, moments: [[f64; 3]; 2]) -> Weights {
        let mut weights = [[[0.0; 3]; 2]; 2];
        for (a, by_block) in weights.iter_mut().enumerate() {
            for (block, w) in by_block.iter_mut().enumerate() {
                let next = self.smooth(moments[Self::next_block(block, a)], self.turn[a]);
                let reward = self.mean_reward(a, block);
                *w = [0, 1, 2].map(|k| reward[k] + self.discount * next[k]);
            }
        }
        weights
    }

    /// (mean, cosine, sine) moments of max(f, g) for two first-order trigonometric functions, in closed form.
    ///
    /// # Equation
    /// ```text
    /// g − f = A + B cos(x − ω),  τ = arccos(−A/B):  ∫(g−f)₊ = 2Aτ + 2B sin τ,  ∫(g−f)₊ cos(x−ω) = 2A sin τ + B(τ + sin τ cos τ)
    /// ```
    fn larger(f: [f64; 3], g: [f64; 3]) -> [f64; 3] {
        let CircleArc { level: a, size: b, centre: ω, half: τ } = CircleArc::of(f, g);
        let mass = 2.0 * a * τ + 2.0 * b * τ.sin();
        let along = 2.0 * a * τ.sin() + b * (τ + τ.sin() * τ.cos());
        [f[0] + mass / TAU, f[1] + along * ω.cos() / PI, f[2] + along * ω.sin() / PI]
    }

    /// T w.
    pub fn bellman(&self, w: &Weights) -> Weights {
        self.backup([0, 1].map(|block| Self::larger(w[0][block], w[1][block])))
    }

    /// The weights of Q*, by iteration to rounding.
    pub fn optimum(&self) -> Weights {
        let mut w = [[[0.0; 3]; 2]; 2];
        loop {
            let next = self.bellman(&w);
            let change = distance(&next, &w);
            w = next;
            if change <= 4.0 * f64::EPSILON {
                return w;
            }
        }
    }

    /// E V(S₁) of max-values: J of an action value that is its own greedy value, as Q* is.
    pub fn start_value(&self, w: &Weights) -> f64 {
        self.at_start(Self::larger(w[0][1], w[1][1]))
    }

    fn at_start(&self, moments: [f64; 3]) -> f64 {
        let [a, b, c] = self.smooth(moments, 0.0);
        let m = self.initial[0][0];
        a + b * m.cos() + c * m.sin()
    }

    /// J of the greedy rule of `w` on true states, by one solve with exact arc integrals.
    pub fn value_of_greedy(&self, w: &Weights) -> f64 {
        // moments of V^π in a block are linear in the six weights of the block: rows (mean, cos, sin), columns a·3 + k.
        let arcs = [0, 1].map(|block| CircleArc::of(w[0][block], w[1][block]).moments());
        let full = CircleArc { level: 1.0, size: 0.0, centre: 0.0, half: PI }.moments();
        let row = |block: usize, k: usize, a: usize, j: usize| {
            let inside = arcs[block][k][j];
            (if a == 1 { inside } else { full[k][j] - inside }) / if k == 0 { TAU } else { PI }
        };
        // Unknown u[a][block][k]; u = r + γ smooth(moments(next block)).
        let index = |a: usize, block: usize, k: usize| (a * 2 + block) * 3 + k;
        let mut matrix = vec![0.0; 144];
        let mut right = vec![0.0; 12];
        for a in 0..2 {
            for block in 0..2 {
                let (next, c) = (Self::next_block(block, a), self.turn[a]);
                let reward = self.mean_reward(a, block);
                for (k, mean) in reward.into_iter().enumerate() {
                    let i = index(a, block, k);
                    right[i] = mean;
                    matrix[i * 12 + i] += 1.0;
                    for b in 0..2 {
                        for j in 0..3 {
                            let moments = [0, 1, 2].map(|m| row(next, m, b, j));
                            matrix[i * 12 + index(b, next, j)] -= self.discount * self.smooth(moments, c)[k];
                        }
                    }
                }
            }
        }
        let u = small::solve(&matrix, &right).expect("I − γP is invertible for γ < 1");
        let moments = [0, 1, 2]
            .map(|m| (0..2).map(|b| (0..3).map(|j| row(1, m, b, j) * u[index(b, 1, j)]).sum::<f64>()).sum::<f64>());
        self.at_start(moments)
    }
}

/// max |w − v| over all weights.
fn distance(w: &Weights, v: &Weights) -> f64 {
    w.as_flattened()
        .as_flattened()
        .iter()
        .zip(v.as_flattened().as_flattened())
        .fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twelve-by-twelve solve with numbers of size one.
    const CLOSE: f64 = 1e-12;

    #[test]
    fn the_greedy_rule_of_the_optimum_earns_the_optimum() {
        let bed = Circle::default();
        let w = bed.optimum();
        assert!((bed.start_value(&w) - bed.value_of_greedy(&w)).abs() < CLOSE);
        assert!(distance(&bed.bellman(&w), &w) < CLOSE);
    }

    #[test]
    fn mean_rewards_are_those_of_the_mechanism_where_levels_agree_and_where_they_are_opposite() {
        use crate::kernel::model::Mechanism;
        let bed = Circle::default();
        for (block, apart) in [(0, 0.0), (1, PI)] {
            for (action, s0) in [(0u32, 0.4), (1, -2.1)] {
                let mean = |z: usize, s: f64| {
                    let (mut next, mut reward) = ([0.0], [0.0]);
                    bed.truth().mean(z, &[s], &[action], &mut next, &mut reward);
                    reward[0]
                };
                let expected = bed.level_law()[0] * mean(0, s0) + bed.level_law()[1] * mean(1, s0 + apart);
                let [constant, cosine, sine] = bed.mean_reward(action as usize, block);
                assert!((constant + cosine * s0.cos() + sine * s0.sin() - expected).abs() < CLOSE, "{block}, {action}");
            }
        }
    }

    #[test]
    fn moments_of_the_larger_agree_with_quadrature() {
        let (f, g) = ([0.1, 0.5, -0.2], [0.0, -0.3, 0.4]);
        let at = |w: [f64; 3], x: f64| w[0] + w[1] * x.cos() + w[2] * x.sin();
        let arc = CircleArc::of(f, g);
        let rule = crate::kernel::numeric::quadrature::gauss_legendre(40);
        let integral = |h: &dyn Fn(f64) -> f64| {
            let (a, b) = (arc.centre - arc.half, arc.centre + arc.half);
            rule.on(a, b).integrate(h) + rule.on(b, a + TAU).integrate(h)
        };
        let max = |x: f64| at(f, x).max(at(g, x));
        let expected =
            [integral(&max) / TAU, integral(&|x| max(x) * x.cos()) / PI, integral(&|x| max(x) * x.sin()) / PI];
        let closed = Circle::larger(f, g);
        assert!((0..3).all(|k| (closed[k] - expected[k]).abs() < CLOSE), "{closed:?} against {expected:?}");
    }

    /// Steps of a sum over the circle. A function with kinks is integrated with an error of the square of a step.
    const STEPS: usize = 4000;
    /// (2π/4000)² = 2.5e-6, times a slope of at most two over twelve a kink; two kinks.
    const SUMMED: f64 = 2e-6;

    /// E h(U) by a sum over equal steps.
    fn expected(bed: &Circle, h: impl Fn(f64) -> f64) -> f64 {
        let angles = (0..STEPS).map(|k| TAU * (k as f64 + 0.25) / STEPS as f64);
        angles.map(|u| h(u) * (1.0 + bed.concentration * u.cos()) / STEPS as f64).sum()
    }

    /// Action values with no zero and no two numbers alike; in both blocks the better action changes on the way round.
    const WEIGHTS: Weights = [[[0.3, 0.5, -0.2], [-0.1, -0.7, 0.4]], [[0.05, -0.3, 0.45], [0.25, 0.35, 0.15]]];

    /// The action value at s₀ with the worlds together (block 0) or half a turn apart (block 1).
    fn value(w: &Weights, action: usize, block: usize, s: f64) -> f64 {
        w[action][block][0] + w[action][block][1] * s.cos() + w[action][block][2] * s.sin()
    }

    #[test]
    fn the_difference_of_the_worlds_moves_with_the_true_means() {
        let truth = Circle::default().truth();
        for block in 0..2 {
            for action in 0..2 {
                let apart = block as f64 * PI + truth.increments[1][action] - truth.increments[0][action];
                let expected = usize::from(apart.cos() < 0.0);
                assert_eq!(Circle::next_block(block, action), expected, "{block}, {action}");
            }
        }
    }

    #[test]
    fn the_bellman_operator_is_the_reward_and_the_expected_larger_value() {
        use crate::kernel::model::Mechanism;
        let bed = Circle::default();
        let (truth, image) = (bed.truth(), bed.bellman(&WEIGHTS));
        for (action, block) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            for s0 in [0.3, 1.9, -2.2] {
                let states = [s0, s0 + block as f64 * PI];
                let mut next = [0.0; 2];
                let mut reward = [0.0; 2];
                for z in 0..2 {
                    let row = z..=z;
                    truth.mean(z, &states[row.clone()], &[action as u32], &mut next[row.clone()], &mut reward[row]);
                }
                let after = usize::from((next[1] - next[0]).cos() < 0.0);
                let better =
                    |u: f64| value(&WEIGHTS, 0, after, next[0] + u).max(value(&WEIGHTS, 1, after, next[0] + u));
                let target = 0.6 * reward[0] + 0.4 * reward[1] + 0.7 * expected(&bed, better);
                let made = value(&image, action, block, s0);
                assert!((made - target).abs() < SUMMED, "{action}, {block}, {s0}: {made} and {target}");
            }
        }
    }

    #[test]
    fn the_value_at_the_start_is_an_expectation_over_the_first_state() {
        let bed = Circle::default();
        let better = |u: f64| value(&WEIGHTS, 0, 1, 0.4 + u).max(value(&WEIGHTS, 1, 1, 0.4 + u));
        let target = expected(&bed, better);
        assert!((bed.start_value(&WEIGHTS) - target).abs() < SUMMED, "{} and {target}", bed.start_value(&WEIGHTS));
    }
}
