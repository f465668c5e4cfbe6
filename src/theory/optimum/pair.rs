//! The decision problem of a fair rule: one action for a pair of counterfactual states that share their noise.

use super::PaperWorld;
use super::means::Means;

/// A rule that sees the states of levels z⁰ and z¹ at once, and acts on both.
///
/// States (s⁰, s¹) are written s = (s⁰ + s¹)/2 and d = s¹ − s⁰, so that noise moves s alone. With z⁰ = z¹ = z and d = 0 this
/// is the unrestricted problem within level z.
///
/// # Equation
/// ```text
/// R̃(s, d, a) = ½ μᵣ(s⁰, a, z⁰) + ½ μᵣ(s¹, a, z¹)
/// G(m, d) = E max_a Q(m + U, d, a),   Q(s, d, a) = R̃(s, d, a) + γ G(means after a in (s, d))
/// ```
/// It is solved for H = G − A with an affine A(s, d) = α + β⁰s⁰ + β¹s¹. As E A(m + U, d) = A(m, d), the same equation holds
/// for H with the reward
/// ```text
/// r(s, d, a) = R̃(s, d, a) + γ A(means after a in (s, d)) − A(s, d).
/// ```
/// In the linear world A is the value of always playing 1: then r(·, 1) = 0, and H, the gain over always playing 1, fades
/// where 1 is best for good. In the non-linear world A = 0.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pair {
    pub means: Means,
    pub levels: [usize; 2],
    pub discount: f64,
    /// α, β⁰ and β¹.
    affine: [f64; 3],
}

impl Pair {
    pub fn new(world: PaperWorld, delta: f64, levels: [usize; 2], discount: f64) -> Self {
        let means = Means::new(world, delta);
        let affine = match world {
            PaperWorld::Linear => always_one(&means, levels, discount),
            PaperWorld::Nonlinear => [0.0; 3],
        };
        Self { means, levels, discount, affine }
    }

    /// The means (m, d) of the first states.
    pub fn initial(&self) -> [f64; 2] {
        let [x, y] = self.levels.map(|z| self.means.initial(z));
        [0.5 * (x + y), y - x]
    }

    /// The means (m, d) after action `a` in (s, d), and R̃(s, d, a).
    pub fn transition(&self, s: f64, d: f64, a: usize) -> ([f64; 2], f64) {
        let (x, r0) = self.means.step(s - 0.5 * d, a, self.levels[0]);
        let (y, r1) = self.means.step(s + 0.5 * d, a, self.levels[1]);
        ([0.5 * (x + y), y - x], 0.5 * (r0 + r1))
    }

    /// A(s, d).
    pub fn affine(&self, s: f64, d: f64) -> f64 {
        let [α, β0, β1] = self.affine;
        α + β0 * (s - 0.5 * d) + β1 * (s + 0.5 * d)
    }

    /// The means (m, d) after action `a` in (s, d), and r(s, d, a).
    pub fn step(&self, s: f64, d: f64, a: usize) -> ([f64; 2], f64) {
        let (next, reward) = self.transition(s, d, a);
        (next, reward + self.discount * self.affine(next[0], next[1]) - self.affine(s, d))
    }
}

/// α, β⁰ and β¹ of always playing 1 in the linear world, where μₛ(s, 1, z) = k s + b and μᵣ(s, 1, z) = c + l s:
/// βⁱ = ½ lⁱ / (1 − γ kⁱ) and α = Σᵢ (½ cⁱ + γ βⁱ bⁱ) / (1 − γ).
fn always_one(means: &Means, levels: [usize; 2], discount: f64) -> [f64; 3] {
    let (mut α, mut β) = (0.0, [0.0; 2]);
    for (β, z) in β.iter_mut().zip(levels) {
        let (b, c) = means.step(0.0, 1, z);
        let l = means.step(1.0, 1, z).1 - c;
        *β = 0.5 * l / (1.0 - discount * means.gain(1, z));
        α += 0.5 * c + discount * *β * b;
    }
    [α / (1.0 - discount), β[0], β[1]]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of a few numbers below 100.
    const ROUNDING: f64 = 1e-13;

    #[test]
    fn the_linear_pair_moves_as_its_mean_and_difference_do() {
        // M′ = −0.3 + c M + 0.075 δ D + 0.4 (a − ½), D′ = δ + c D + 0.3 δ M + 0.4 δ (a − ½), c = ½ + 0.3 (a − ½).
        let (delta, m, d) = (0.7, -1.3, 2.1);
        let pair = Pair::new(PaperWorld::Linear, delta, [0, 1], 0.8);
        for a in [0, 1] {
            let ([m_next, d_next], _) = pair.transition(m, d, a);
            let a = a as f64 - 0.5;
            let c = 0.5 + 0.3 * a;
            assert!((m_next - (-0.3 + c * m + 0.075 * delta * d + 0.4 * a)).abs() < ROUNDING);
            assert!((d_next - (delta + c * d + 0.3 * delta * m + 0.4 * delta * a)).abs() < ROUNDING);
        }
        let [m, d] = pair.initial();
        assert!((m - 0.05).abs() < ROUNDING && (d - 0.7).abs() < ROUNDING);
    }

    #[test]
    fn the_reward_of_a_pair_is_the_average_of_its_levels() {
        let delta = 0.7;
        for world in [PaperWorld::Linear, PaperWorld::Nonlinear] {
            let pair = Pair::new(world, delta, [0, 1], 0.8);
            let ([m, d], reward) = pair.transition(0.4, 1.2, 1);
            let ((x, r0), (y, r1)) = (pair.means.step(-0.2, 1, 0), pair.means.step(1.0, 1, 1));
            assert!((reward - 0.5 * (r0 + r1)).abs() < ROUNDING);
            assert!((m - 0.5 * (x + y)).abs() < ROUNDING && (d - (y - x)).abs() < ROUNDING);
        }
        // The myopic contrast R̃(·, 1) − R̃(·, 0) = 0.5 + 0.7 M − 0.5 δ of the linear world.
        let pair = Pair::new(PaperWorld::Linear, delta, [0, 1], 0.8);
        let contrast = pair.transition(0.4, 1.2, 1).1 - pair.transition(0.4, 1.2, 0).1;
        assert!((contrast - (0.5 + 0.7 * 0.4 - 0.5 * delta)).abs() < ROUNDING);
    }

    #[test]
    fn always_playing_one_earns_the_affine_value() {
        for levels in [[0, 1], [0, 0], [1, 1]] {
            let pair = Pair::new(PaperWorld::Linear, 1.3, levels, 0.8);
            for (s, d) in [(-2.1, 0.4), (0.3, -1.7), (5.0, 3.0)] {
                let ([m, e], reward) = pair.transition(s, d, 1);
                assert!((pair.affine(s, d) - (reward + 0.8 * pair.affine(m, e))).abs() < ROUNDING);
                assert!(pair.step(s, d, 1).1.abs() < ROUNDING);
            }
        }
        // A by hand at s⁰ = s¹ = 0, γ = 0.5, δ = 0: k = 0.65, b = −0.1, c = 0.2, l = 1, so β = ½/(1 − 0.325) for each level.
        let pair = Pair::new(PaperWorld::Linear, 0.0, [0, 1], 0.5);
        assert!((pair.affine(0.0, 0.0) - 2.0 * (0.2 - 0.5 * 0.1 / 0.675)).abs() < ROUNDING);
    }

    #[test]
    fn the_reward_of_the_remainder_is_what_the_affine_part_leaves() {
        let pair = Pair::new(PaperWorld::Linear, 1.3, [0, 1], 0.8);
        let (s, d) = (-2.1, 0.4);
        let ([m, e], reward) = pair.transition(s, d, 0);
        let (next, rest) = pair.step(s, d, 0);
        assert_eq!(next, [m, e]);
        assert!((pair.affine(s, d) + rest - (reward + 0.8 * pair.affine(m, e))).abs() < ROUNDING);
        let plain = Pair::new(PaperWorld::Nonlinear, 1.3, [0, 1], 0.8);
        assert_eq!(plain.affine(s, d), 0.0);
        assert_eq!(plain.step(s, d, 0), plain.transition(s, d, 0));
    }
}
