//! The rectangle of means (m, d) that a pair visits.

use super::means::Means;
use super::pair::Pair;

/// An interval [low, high].
pub(super) type Interval = [f64; 2];

/// Steps for which the noise-free linear system is followed: 0.95²⁰⁰, the slowest transient at δ = 2, is 4e-5.
const NOISE_FREE_STEPS: usize = 200;

/// Gains of 1 and beyond have no stationary spread; the rectangle then ends where [`FARTHEST`] says.
const LARGEST_GAIN: f64 = 0.98;

/// Means beyond this multiple of the reach are left to the affine part; for differences, twice that. It matters above δ = 2,
/// where states that drift away do so where 1 is best for good.
const FARTHEST: f64 = 4.0;

/// The rectangle on which H is to be known; `reach` counts standard deviations.
///
/// The non-linear world's means fill an interval per level, and `reach` does not matter. The linear world's are unbounded: its
/// rectangle holds every mean that the system without noise reaches from the start under any actions, widened by `reach`
/// stationary standard deviations of the noise gathered under the larger gain.
pub(super) fn region(pair: &Pair, reach: f64) -> [Interval; 2] {
    match pair.means {
        Means::Linear(_) => linear_region(pair, reach),
        Means::Nonlinear(_) => {
            let [x, y] = pair.levels.map(|z| pair.means.nonlinear_range(z));
            let d = if pair.levels[0] == pair.levels[1] { [0.0, 0.0] } else { [y[0] - x[1], y[1] - x[0]] };
            [[0.5 * (x[0] + y[0]), 0.5 * (x[1] + y[1])], d]
        }
    }
}

fn linear_region(pair: &Pair, reach: f64) -> [Interval; 2] {
    let (m, d) = noise_free(pair);
    let (spread_m, spread_d) = stationary_spread(pair);
    let widen = |[low, high]: Interval, by: f64, end: f64| [(low - by).max(-end), (high + by).min(end)];
    [widen(m, reach * spread_m, FARTHEST * reach), widen(d, reach * spread_d, 2.0 * FARTHEST * reach)]
}

/// Intervals that hold every (m, d) reached without noise. In the two coordinates
/// m′ = k̄ m + (k¹ − k⁰)/4 d + const and d′ = (k¹ − k⁰) m + k̄ d + const, where k̄ = (k⁰ + k¹)/2.
fn noise_free(pair: &Pair) -> (Interval, Interval) {
    let [m, d] = pair.initial();
    let (mut m, mut d) = ([m, m], [d, d]);
    for _ in 0..NOISE_FREE_STEPS {
        let before = [m, d];
        for a in [0, 1] {
            let [k0, k1] = pair.levels.map(|z| pair.means.gain(a, z));
            let ([m_shift, d_shift], _) = pair.transition(0.0, 0.0, a);
            let (same, cross) = (0.5 * (k0 + k1), k1 - k0);
            m = hull(m, affine_image(m_shift, [same, 0.25 * cross], before));
            d = hull(d, affine_image(d_shift, [cross, same], before));
        }
    }
    (m, d)
}

/// Standard deviations of (s⁰ + s¹)/2 and s¹ − s⁰ when sⁱ′ = kⁱ sⁱ + U forever: Cov(sⁱ, sʲ) = 1/(1 − kⁱkʲ).
fn stationary_spread(pair: &Pair) -> (f64, f64) {
    let [k0, k1] = pair.levels.map(|z| {
        let [idle, active] = [0, 1].map(|a| pair.means.gain(a, z));
        let larger = if idle.abs() > active.abs() { idle } else { active };
        larger.clamp(-LARGEST_GAIN, LARGEST_GAIN)
    });
    let [xx, xy, yy] = [k0 * k0, k0 * k1, k1 * k1].map(|product| 1.0 / (1.0 - product));
    (0.5 * (xx + 2.0 * xy + yy).sqrt(), (xx - 2.0 * xy + yy).max(0.0).sqrt())
}

/// {shift + c₁u + c₂v : u ∈ first, v ∈ second}.
fn affine_image(shift: f64, [c1, c2]: [f64; 2], [first, second]: [Interval; 2]) -> Interval {
    let ends = |c: f64, [low, high]: Interval| [(c * low).min(c * high), (c * low).max(c * high)];
    let ([low1, high1], [low2, high2]) = (ends(c1, first), ends(c2, second));
    [shift + low1 + low2, shift + high1 + high2]
}

/// The smallest interval that holds both.
fn hull(a: Interval, b: Interval) -> Interval {
    [a[0].min(b[0]), a[1].max(b[1])]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::numeric::{Stream, fill_standard_normal, fill_uniform};
    use crate::theory::optimum::PaperWorld;

    fn close(a: Interval, b: Interval) {
        // The slowest transient left after the steps followed.
        assert!((a[0] - b[0]).abs() < 1e-3 && (a[1] - b[1]).abs() < 1e-3, "{a:?} is not {b:?}");
    }

    #[test]
    fn the_nonlinear_rectangle_is_the_one_of_the_means() {
        // δ = 1: means fill [−1.447, −0.340] at level 0 and [−1.060, 0.872] at level 1.
        let pair = Pair::new(PaperWorld::Nonlinear, 1.0, [0, 1], 0.9);
        let [m, d] = region(&pair, 7.0);
        close(m, [-1.2536, 0.2657]);
        close(d, [-0.7192, 2.3192]);
        let [m, d] = region(&Pair::new(PaperWorld::Nonlinear, 1.0, [1, 1], 0.9), 7.0);
        close(m, [-1.0596, 0.8718]);
        assert_eq!(d, [0.0, 0.0]);
    }

    #[test]
    fn a_single_level_of_the_linear_world_stays_between_its_fixed_points() {
        // δ = 1, z = 1: from 0.7 towards −0.1/(1 − 0.5) = −0.2 under action 0 and 0.5/(1 − 0.8) = 2.5 under action 1.
        let pair = Pair::new(PaperWorld::Linear, 1.0, [1, 1], 0.9);
        let sd = 1.0 / (1.0f64 - 0.64).sqrt();
        let [m, d] = region(&pair, 3.0);
        close(m, [-0.2 - 3.0 * sd, 2.5 + 3.0 * sd]);
        close(d, [0.0, 0.0]);
    }

    #[test]
    fn without_an_effect_of_the_attribute_the_levels_never_part() {
        let [m, d] = region(&Pair::new(PaperWorld::Linear, 0.0, [0, 1], 0.9), 4.0);
        assert_eq!(d, [0.0, 0.0]);
        // Fixed points −0.5/0.65 and −0.1/0.35, standard deviation 1/√(1 − 0.65²).
        let sd = 1.0 / (1.0f64 - 0.4225).sqrt();
        close(m, [-0.5 / 0.65 - 4.0 * sd, -0.1 / 0.35 + 4.0 * sd]);
    }

    #[test]
    fn the_spread_of_the_pair_is_that_of_two_series_with_common_noise() {
        // δ = 1: gains 0.5 and 0.8 under action 1. Var s⁰ = 4/3, Var s¹ = 25/9, Cov = 5/3.
        let (m, d) = stationary_spread(&Pair::new(PaperWorld::Linear, 1.0, [0, 1], 0.9));
        let (xx, xy, yy): (f64, f64, f64) = (4.0 / 3.0, 5.0 / 3.0, 25.0 / 9.0);
        assert!((m - 0.5 * (xx + 2.0 * xy + yy).sqrt()).abs() < 1e-12);
        assert!((d - (xx - 2.0 * xy + yy).sqrt()).abs() < 1e-12);
        // δ = 5: gains −0.4 (action 0) and −0.1 at level 0, so that the idle one is the larger; level 1 is beyond 1.
        let (m, _) = stationary_spread(&Pair::new(PaperWorld::Linear, 5.0, [0, 0], 0.5));
        assert!((m - 1.0 / (1.0f64 - 0.16).sqrt()).abs() < 1e-12);
        let (m, _) = stationary_spread(&Pair::new(PaperWorld::Linear, 5.0, [1, 1], 0.5));
        assert!((m - 1.0 / (1.0 - LARGEST_GAIN * LARGEST_GAIN).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn an_unstable_gain_is_cut_off_at_the_farthest_mean() {
        let pair = Pair::new(PaperWorld::Linear, 2.9, [0, 1], 0.9);
        let [m, d] = region(&pair, 2.0);
        assert_eq!(m[1], FARTHEST * 2.0);
        assert_eq!(d[1], 2.0 * FARTHEST * 2.0);
        let [m, d] = region(&Pair::new(PaperWorld::Linear, -2.9, [0, 1], 0.9), 2.0);
        assert_eq!((m[1], d[0]), (FARTHEST * 2.0, -2.0 * FARTHEST * 2.0));
        // The linear world at δ = 0 comes down to −0.5/0.65 even without noise.
        let [m, _] = region(&Pair::new(PaperWorld::Linear, 0.0, [0, 1], 0.9), 0.1);
        assert_eq!(m[0], -FARTHEST * 0.1);
    }

    #[test]
    fn noise_free_paths_stay_inside_and_noisy_ones_within_the_reach() {
        let mut rng = Stream::new(1).named("region").rng();
        for delta in [-1.1, 0.6, 2.0] {
            let pair = Pair::new(PaperWorld::Linear, delta, [0, 1], 0.9);
            let (m, d) = noise_free(&pair);
            let wide = region(&pair, 6.0);
            let inside = |x: f64, [low, high]: Interval| low - 1e-12 <= x && x <= high + 1e-12;
            for path in 0..200 {
                let ([mut s, mut e], [mut s_noisy, mut e_noisy]) = (pair.initial(), pair.initial());
                for _ in 0..40 {
                    let (mut uniform, mut noise) = ([0.0], [0.0]);
                    fill_uniform(&mut rng, &mut uniform);
                    fill_standard_normal(&mut rng, &mut noise);
                    // Mostly one action on each path: the ends of the rectangle are its fixed points.
                    let a = usize::from((uniform[0] < 0.05) == (path % 2 == 0));
                    [s, e] = pair.transition(s, e, a).0;
                    assert!(inside(s, m) && inside(e, d), "{delta}: {s} {e} outside {m:?} {d:?}");
                    [s_noisy, e_noisy] = pair.transition(s_noisy + noise[0], e_noisy, a).0;
                    assert!(inside(s_noisy, wide[0]) && inside(e_noisy, wide[1]));
                }
            }
        }
    }

    #[test]
    fn an_affine_image_turns_with_the_sign_of_its_slopes() {
        assert_eq!(affine_image(10.0, [2.0, -3.0], [[-1.0, 4.0], [5.0, 6.0]]), [-10.0, 3.0]);
        assert_eq!(hull([0.0, 1.0], [-2.0, 0.5]), [-2.0, 1.0]);
    }
}
