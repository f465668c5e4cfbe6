//! How strongly a mechanism answers to its state: the ℓ that decides whether errors grow or fade.

use super::census::Census;
use crate::kernel::model::{Mechanism, Output};

/// A mechanism that may say of itself that its mean is a sum of functions of one coordinate each.
pub trait Additive: Mechanism {
    /// Writes the part of μₛ that depends on coordinate `j`, at x, and answers true; false where the mean is no such sum. What else the
    /// mean consists of cancels in a difference along the coordinate, so that all slopes at a state cost p² instead of p³.
    fn along(&self, _level: usize, _action: u32, _j: usize, _x: f64, _next: &mut [f64]) -> bool {
        false
    }
}

/// States looked at: enough to meet the steep places, few enough to cost nothing.
const STATES: usize = 512;

/// From this many coordinates on fewer states are looked at, so that the time stays what it is here: below a second.
const WIDE: usize = 50;

/// Noise of this many standard deviations is met once in a hundred steps.
const LARGE_NOISE: f64 = 2.5;

/// How many states are looked at where there are p coordinates: the slopes at one state cost p³.
fn states_at_width(p: usize) -> usize {
    if p <= WIDE { STATES } else { ((STATES as f64 * (WIDE as f64 / p as f64).powi(3)) as usize).max(1) }
}

/// Every so many of `rows` states are looked at.
pub(super) fn stride(rows: usize) -> usize {
    rows.div_ceil(STATES).max(1)
}

/// The largest ‖∂μₛ/∂s‖∞ over levels, actions, a sample of the panel's states and the same states moved out by one range.
///
/// Every coordinate is measured in its own range: a norm like any other, and the one in which the unit of a column (grams, kilograms) does
/// not decide whether errors seem to grow.
///
/// Counterfactual states leave the data, so the slope out there matters as much as inside. With ℓ the error of `alg:cf:1` after T
/// steps is at most 2η₁ℓ^{T−1} + 2η(ℓ^{T−1} − 1)/(ℓ − 1): bounded below 1, exponential above.
///
/// Where the spread of noise depends on the state, the slope is that of μₛ + σₛ e at noise e = 0 and at ±`LARGE_NOISE`; the shape of
/// noise does not enter, because the noise carried over comes from the observed history alone. Coordinates that are kept as
/// observed follow no slope.
///
/// # Precision
/// Central differences with a step of 1e-4 of each coordinate's range: exact to eight digits where the mean is straight.
pub fn one_step_gain(mechanism: &impl Additive, census: &Census) -> f64 {
    let Census { low, high, sample, .. } = census;
    let p = low.len();
    let ranges: Vec<f64> = low.iter().zip(high).map(|(l, h)| if h > l { h - l } else { 1.0 }).collect();
    let mut points: Vec<f64> = Vec::new();
    let every = (sample.len() / p.max(1)).div_ceil(states_at_width(p)).max(1);
    for state in sample.chunks_exact(p).step_by(every) {
        for shift in [-1.0, 0.0, 1.0] {
            points.extend(state.iter().zip(&ranges).map(|(s, r)| s + shift * r));
        }
    }
    let n = points.len() / p;
    let mut rewards = vec![0.0; n];
    let moved = |j: usize, by: f64| -> Vec<f64> {
        points.iter().enumerate().map(|(i, x)| if i % p == j { x + by } else { *x }).collect()
    };
    let (mut up, mut down) = (vec![0.0; n * p], vec![0.0; n * p]);
    let mut gain = 0.0f64;
    for level in 0..mechanism.levels() {
        for action in 0..mechanism.actions() {
            let actions = vec![action as u32; n];
            let mut row_sums = vec![0.0; n * p];
            let (mut wide, mut narrow) = (vec![0.0; n * p], vec![0.0; n * p]);
            for (j, range) in ranges.iter().enumerate() {
                let step = 1e-4 * range;
                for (by, means) in [(step, &mut up), (-step, &mut down)] {
                    let mut rows = points.chunks_exact(p).zip(means.chunks_exact_mut(p));
                    if !rows.all(|(state, next)| mechanism.along(level, action as u32, j, state[j] + by, next)) {
                        mechanism.mean(level, &moved(j, by), &actions, means, &mut rewards);
                    }
                }
                if let Some(law) = mechanism.noise() {
                    law.spread(level, &moved(j, step), &actions, &mut wide, &mut rewards);
                    law.spread(level, &moved(j, -step), &actions, &mut narrow, &mut rewards);
                }
                for (i, (sum, (up, down))) in row_sums.iter_mut().zip(up.iter().zip(&down)).enumerate() {
                    if mechanism.noise().is_some_and(|law| law.is_kept(Output::Next(i % p))) {
                        continue;
                    }
                    let widening = LARGE_NOISE * ((wide[i] - narrow[i]) / (2.0 * step)).abs();
                    *sum += (((up - down) / (2.0 * step)).abs() + widening) * range / ranges[i % p];
                }
            }
            gain = row_sums.iter().fold(gain, |gain, sum| if sum.is_nan() { f64::INFINITY } else { gain.max(*sum) });
        }
    }
    gain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{Basis, FitSettings, Fitted, Pooling, fit};
    use crate::kernel::people::{Labels, PanelBuilder, Person};

    /// s′ = (slope(z, s₁, a) · s₁ + u s₂/4, s₂/8) near each s₁, where u is the unit of s₁.
    struct Bent(fn(usize, f64, u32) -> f64, f64);

    impl Mechanism for Bent {
        fn state_dim(&self) -> usize {
            2
        }
        fn levels(&self) -> usize {
            2
        }
        fn actions(&self) -> usize {
            2
        }
        fn initial_mean(&self, _level: usize) -> &[f64] {
            &[0.0, 0.0]
        }
        fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
            let rows = actions.len();
            assert_eq!((states.len(), next.len(), rewards.len()), (2 * rows, 2 * rows, rows), "one shape");
            rewards.fill(0.0);
            for ((s, next), &a) in states.chunks_exact(2).zip(next.chunks_exact_mut(2)).zip(actions) {
                next.copy_from_slice(&[(self.0)(level, s[0], a) * s[0] + self.1 * s[1] / 4.0, s[1] / 8.0]);
            }
        }
    }

    impl Additive for Bent {}

    /// The first coordinate is −1, 0.5 and 1, a range of 2, in some unit; the second is 7, 5 and 6.
    fn gain_in(unit: f64, slope: fn(usize, f64, u32) -> f64) -> f64 {
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 2).unwrap();
        let states = [-unit, 7.0, 0.5 * unit, 5.0, unit, 6.0];
        builder.push(Person { id: "a", level: 0, states: &states, actions: &[0, 1], rewards: &[0.0, 0.0] }).unwrap();
        one_step_gain(&Bent(slope, unit), &Census::of(&builder.finish()).unwrap())
    }

    fn gain(slope: fn(usize, f64, u32) -> f64) -> f64 {
        gain_in(1.0, slope)
    }

    #[test]
    fn a_gain_has_no_unit() {
        for unit in [1e-6, 1e6] {
            // Rounding of 10⁶ over a step of 10⁻⁴ in the other coordinate is near 10⁻⁶.
            let found = gain_in(unit, |_, _, _| -0.5);
            assert!((found - 0.75).abs() < 1e-5, "{found}");
        }
    }

    #[test]
    fn slopes_count_inside_the_data_and_one_range_out_on_either_side() {
        let close = |found: f64, slope: f64| assert!((found - slope - 0.25).abs() < 1e-8, "{found}");
        close(gain(|_, _, _| -0.5), 0.5);
        close(gain(|_, s, _| if s > 2.8 { -3.0 } else { 0.5 }), 3.0);
        close(gain(|_, s, _| if s < -2.8 { 3.0 } else { 0.5 }), 3.0);
        close(gain(|_, s, _| if (0.4..0.6).contains(&s) { 2.0 } else { 0.5 }), 2.0);
        // Two ranges out nobody looks.
        close(gain(|_, s, _| if s.abs() > 3.2 { 9.0 } else { 0.5 }), 0.5);
    }

    #[test]
    fn the_steepest_level_and_action_decide() {
        let close = |found: f64, slope: f64| assert!((found - slope - 0.25).abs() < 1e-8, "{found}");
        close(gain(|z, _, a| if (z, a) == (1, 1) { 3.0 } else { 0.5 }), 3.0);
        close(gain(|z, _, a| if (z, a) == (0, 0) { 3.0 } else { 0.5 }), 3.0);
    }

    #[test]
    fn a_mean_that_is_no_number_has_no_bound() {
        assert_eq!(gain(|_, s, _| if s > 2.8 { f64::NAN } else { 0.5 }), f64::INFINITY);
    }
    /// A fitted mechanism that does not say that it is a sum.
    struct Silent<'a>(&'a Fitted);

    impl Mechanism for Silent<'_> {
        fn state_dim(&self) -> usize {
            self.0.state_dim()
        }
        fn levels(&self) -> usize {
            self.0.levels()
        }
        fn actions(&self) -> usize {
            self.0.actions()
        }
        fn initial_mean(&self, level: usize) -> &[f64] {
            self.0.initial_mean(level)
        }
        fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
            self.0.mean(level, states, actions, next, rewards);
        }
    }

    impl Additive for Silent<'_> {}

    #[test]
    fn the_slopes_of_a_sum_are_those_of_its_parts() {
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 3).unwrap();
        for i in 0..40u32 {
            let x = f64::from(i);
            let draw = |k: usize| 2.0 * (x * (1.3 + 0.7 * k as f64) + 0.4).sin();
            let start = [draw(1), draw(2), draw(3)];
            let bent = |z: f64| [(1.5 * start[0]).sin() + 0.3 * z, start[1] * (0.2 + z), 0.9 * (start[2] - start[0])];
            let states = [start, bent(f64::from(i % 2))].concat();
            let (id, action) = (i.to_string(), [i / 2 % 2]);
            builder.push(Person { id: &id, level: i % 2, states: &states, actions: &action, rewards: &[x] }).unwrap();
        }
        let panel = builder.finish();
        for basis in [Basis::Spline, Basis::Linear] {
            let settings = FitSettings { basis, pooling: Pooling::Pooled, ..FitSettings::default() };
            let fitted = fit(&panel, &settings).unwrap();
            let by_means = one_step_gain(&Silent(&fitted), &Census::of(&panel).unwrap());
            // Differences of means of size 10 over a step of 10⁻⁴.
            approx::assert_relative_eq!(fitted.gain(), by_means, max_relative = 1e6 * f64::EPSILON);
            assert!(by_means > 0.5);
        }
    }
}
