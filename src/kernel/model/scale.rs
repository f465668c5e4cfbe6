//! States that are recorded on a scale: a score from 0 to 10 in steps of 1.

use super::{Mechanism, NoiseLaw, World};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

/// The values low, low + h, …, high.
///
/// # Equation
/// ```text
/// S = low + h · clip(⌊(S* − low)/h + ½⌋, 0, (high − low)/h),   S* = μ(s, a, z) + σ(s, a, z) G_z⁻¹(U)
/// ```
/// The record is the state: what comes next depends on S, not on S*. So a record tells U up to its category.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct Scale {
    low: f64,
    high: f64,
    step: f64,
}

/// A scale as a file has it.
#[derive(Deserialize)]
struct Written {
    low: f64,
    high: f64,
    step: f64,
}

impl TryFrom<Written> for Scale {
    type Error = ScaleError;

    fn try_from(Written { low, high, step }: Written) -> Result<Self, ScaleError> {
        Self::new(low, high, step)
    }
}

/// Why three numbers are no scale.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "a scale from {low} to {high} in steps of {step}: a whole number of positive steps leads from the lower to the higher end"
)]
pub struct ScaleError {
    /// The lower end.
    pub low: f64,
    /// The higher end.
    pub high: f64,
    /// The step.
    pub step: f64,
}

/// Numbers this share of a step away from a value of the scale are that value, written or computed in another way.
const SAME: f64 = 1e-6;

impl Scale {
    /// # Errors
    /// [`ScaleError`].
    pub fn new(low: f64, high: f64, step: f64) -> Result<Self, ScaleError> {
        let steps = (high - low) / step;
        let fits = step > 0.0 && low.is_finite() && steps.is_finite() && steps > 0.5 && is_near_whole(steps);
        if fits { Ok(Self { low, high, step }) } else { Err(ScaleError { low, high, step }) }
    }

    /// The lowest value.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The highest value.
    pub fn high(&self) -> f64 {
        self.high
    }

    /// h.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// The number of values.
    pub fn values(&self) -> usize {
        self.last() as usize + 1
    }

    /// Whether a number is a value of the scale.
    pub fn holds(&self, x: f64) -> bool {
        let place = (x - self.low) / self.step;
        place > -0.5 && place < self.last() + 0.5 && is_near_whole(place)
    }

    /// S: the value nearest to S*.
    pub fn record(&self, x: f64) -> f64 {
        let place = ((x - self.low) / self.step + 0.5).floor().clamp(0.0, self.last());
        if place == self.last() { self.high } else { self.low + place * self.step }
    }

    /// Whether a value is an end of the scale, from which on everything below or above has the same record.
    pub fn is_end(&self, x: f64) -> (bool, bool) {
        let record = self.record(x);
        (record == self.low, record == self.high)
    }

    fn last(&self) -> f64 {
        ((self.high - self.low) / self.step).round()
    }
}

impl std::fmt::Display for Scale {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} to {} in steps of {}", self.low, self.high, self.step)
    }
}

fn is_near_whole(x: f64) -> bool {
    (x - x.round()).abs() < SAME * (1.0 + x.abs()).min(1e3)
}

/// States as they are recorded, row by row; scales of all coordinates, or none.
pub(super) fn record(scales: &[Option<Scale>], states: &mut [f64]) {
    if scales.is_empty() {
        return;
    }
    for row in states.chunks_exact_mut(scales.len()) {
        for (s, scale) in row.iter_mut().zip(scales) {
            if let Some(scale) = scale {
                *s = scale.record(*s);
            }
        }
    }
}

/// A mechanism, or a world, some of whose states are recorded on scales at every level.
#[derive(Debug, Clone, PartialEq)]
pub struct OnScales<M> {
    mechanism: M,
    scales: Vec<Option<Scale>>,
}

impl<M: Mechanism> OnScales<M> {
    /// One scale per coordinate of the state, or none at all.
    ///
    /// # Panics
    /// If there is another number of them.
    pub fn new(mechanism: M, scales: impl Into<Vec<Option<Scale>>>) -> Self {
        let scales = scales.into();
        assert!(scales.is_empty() || scales.len() == mechanism.state_dim(), "one scale per coordinate, or none at all");
        Self { mechanism, scales }
    }
}

impl<M: Mechanism> Mechanism for OnScales<M> {
    fn state_dim(&self) -> usize {
        self.mechanism.state_dim()
    }
    fn levels(&self) -> usize {
        self.mechanism.levels()
    }
    fn actions(&self) -> usize {
        self.mechanism.actions()
    }
    fn initial_mean(&self, level: usize) -> &[f64] {
        self.mechanism.initial_mean(level)
    }
    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        self.mechanism.mean(level, states, actions, next, rewards);
    }
    fn noise(&self) -> Option<&dyn NoiseLaw> {
        self.mechanism.noise()
    }
    fn scales(&self) -> &[Option<Scale>] {
        &self.scales
    }
}

impl<W: World> World for OnScales<W> {
    fn name(&self) -> &'static str {
        self.mechanism.name()
    }
    fn level_probabilities(&self) -> &[f64] {
        self.mechanism.level_probabilities()
    }
    fn behaviour(&self, level: usize, state: &[f64], probabilities: &mut [f64]) {
        self.mechanism.behaviour(level, state, probabilities);
    }
    fn state_noise_sd(&self) -> &[f64] {
        self.mechanism.state_noise_sd()
    }
    fn reward_noise_sd(&self) -> f64 {
        self.mechanism.reward_noise_sd()
    }
    fn draw_state_noise(&self, rng: &mut Pcg64Mcg, out: &mut [f64]) {
        self.mechanism.draw_state_noise(rng, out);
    }
    fn draw_reward_noise(&self, rng: &mut Pcg64Mcg, out: &mut [f64]) {
        self.mechanism.draw_reward_noise(rng, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_the_nearest_values_and_end_where_the_scale_ends() {
        let halves = Scale::new(-1.0, 2.0, 0.5).unwrap();
        for (x, record) in [(-7.0, -1.0), (-0.76, -1.0), (-0.74, -0.5), (0.2, 0.0), (0.3, 0.5), (1.76, 2.0), (9.0, 2.0)]
        {
            assert_eq!(halves.record(x), record, "{x}");
        }
        assert_eq!(halves.values(), 7);
        // Every record is its own record, and a half way belongs to the value above.
        let thirds = Scale::new(0.1, 0.1 + 40.0 / 3.0, 1.0 / 3.0).unwrap();
        for k in 0..=40 {
            let x = 0.1 + f64::from(k) / 3.0;
            assert!((thirds.record(x) - x).abs() < 1e-12 && thirds.holds(x) && !thirds.holds(x + 0.1), "{x}");
            assert_eq!(thirds.record(thirds.record(x)), thirds.record(x));
        }
        assert_eq!(Scale::new(0.0, 10.0, 1.0).unwrap().record(3.5), 4.0);
        assert!(!halves.holds(2.5) && !halves.holds(-1.5));
        assert_eq!(
            (halves.is_end(-1.0), halves.is_end(2.0), halves.is_end(0.5)),
            ((true, false), (false, true), (false, false))
        );
    }

    #[test]
    fn what_is_no_scale_is_refused_with_its_numbers() {
        for (low, high, step) in [
            (0.0, 10.0, 0.0),
            (0.0, 10.0, -1.0),
            (10.0, 0.0, 1.0),
            (0.0, 0.0, 1.0),
            (0.0, 10.0, 3.0),
            (f64::NAN, 1.0, 1.0),
            (0.0, f64::INFINITY, 1.0),
        ] {
            let error = Scale::new(low, high, step).unwrap_err();
            assert!(error.to_string().contains(&format!("in steps of {step}")), "{error}");
        }
        assert!(serde_json::from_str::<Scale>(r#"{"low":0,"high":10,"step":3}"#).is_err());
        let scale = Scale::new(0.0, 10.0, 0.5).unwrap();
        assert_eq!(serde_json::from_str::<Scale>(&serde_json::to_string(&scale).unwrap()).unwrap(), scale);
    }
}
