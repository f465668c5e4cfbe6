//! How strongly a mechanism answers to its state: the ℓ that decides whether errors grow or fade.

use crate::kernel::data::Panel;
use crate::kernel::model::{Mechanism, Output};

/// States looked at: enough to meet the steep places, few enough to cost nothing.
const STATES: usize = 512;

/// From this many coordinates on fewer states are looked at, so that the time stays what it is here: below a second.
const WIDE: usize = 50;

/// Noise of this many standard deviations is met once in a hundred steps.
const LARGE_NOISE: f64 = 2.5;

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
pub fn one_step_gain(mechanism: &impl Mechanism, panel: &Panel) -> f64 {
    let p = panel.state_dim();
    let (mut low, mut high) = (vec![f64::INFINITY; p], vec![f64::NEG_INFINITY; p]);
    for state in panel.states().chunks_exact(p) {
        for j in 0..p {
            low[j] = low[j].min(state[j]);
            high[j] = high[j].max(state[j]);
        }
    }
    let sample: Vec<f64> =
        panel.states().chunks_exact(p).step_by(stride(panel.state_rows())).flatten().copied().collect();
    gain_at(mechanism, (&low, &high), &sample)
}

/// How many states are looked at where there are p coordinates: the slopes at one state cost p³.
fn states_at_width(p: usize) -> usize {
    if p <= WIDE { STATES } else { ((STATES as f64 * (WIDE as f64 / p as f64).powi(3)) as usize).max(1) }
}

/// Every so many of `rows` states are looked at.
pub(super) fn stride(rows: usize) -> usize {
    rows.div_ceil(STATES).max(1)
}

/// [`one_step_gain`] from the range of all states and a sample of them.
pub(super) fn gain_at(mechanism: &impl Mechanism, (low, high): (&[f64], &[f64]), sample: &[f64]) -> f64 {
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
    let (mut up, mut down) = (vec![0.0; n * p], vec![0.0; n * p]);
    let mut gain = 0.0f64;
    for level in 0..mechanism.levels() {
        for action in 0..mechanism.actions() {
            let actions = vec![action as u32; n];
            let mut row_sums = vec![0.0; n * p];
            let (mut wide, mut narrow) = (vec![0.0; n * p], vec![0.0; n * p]);
            for (j, range) in ranges.iter().enumerate() {
                let step = 1e-4 * range;
                let moved = |by: f64| -> Vec<f64> {
                    points.iter().enumerate().map(|(i, x)| if i % p == j { x + by } else { *x }).collect()
                };
                mechanism.mean(level, &moved(step), &actions, &mut up, &mut rewards);
                mechanism.mean(level, &moved(-step), &actions, &mut down, &mut rewards);
                if let Some(law) = mechanism.noise() {
                    law.spread(level, &moved(step), &actions, &mut wide, &mut rewards);
                    law.spread(level, &moved(-step), &actions, &mut narrow, &mut rewards);
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
    use crate::kernel::data::{Labels, PanelBuilder, Person};

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

    /// The first coordinate is −1, 0.5 and 1, a range of 2, in some unit; the second is 7, 5 and 6.
    fn gain_in(unit: f64, slope: fn(usize, f64, u32) -> f64) -> f64 {
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 2).unwrap();
        let states = [-unit, 7.0, 0.5 * unit, 5.0, unit, 6.0];
        builder.push(Person { id: "a", level: 0, states: &states, actions: &[0, 1], rewards: &[0.0, 0.0] }).unwrap();
        one_step_gain(&Bent(slope, unit), &builder.finish())
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
}
