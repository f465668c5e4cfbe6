//! A rate that a notebook's cell measures in a loop of its own.

use super::OrStop;
use crate::kernel::numeric::Stream;
use crate::report::Rate;
use crate::theory::theorems::{Found, Limit, Slope};

/// Values by size, of what is checked and of a control.
#[derive(Debug, Clone)]
pub struct Check {
    quantity: String,
    axis: String,
    sizes: Vec<f64>,
    values: Vec<Vec<f64>>,
    controls: Vec<Vec<f64>>,
}

impl Check {
    /// Nothing recorded yet.
    pub fn new(quantity: &str, axis: &str) -> Self {
        let (quantity, axis) = (quantity.into(), axis.into());
        Self { quantity, axis, sizes: vec![], values: vec![], controls: vec![] }
    }

    /// One run at a size: what came out, and what came out for the control.
    pub fn record(&mut self, size: f64, value: f64, control: f64) {
        let at = self.sizes.iter().position(|known| *known == size).unwrap_or_else(|| {
            self.sizes.push(size);
            self.values.push(vec![]);
            self.controls.push(vec![]);
            self.sizes.len() - 1
        });
        self.values[at].push(value);
        self.controls[at].push(control);
    }

    /// Both slopes beside what a theorem promises and what a law says; ends the cell where no slope can be taken.
    pub fn against(&self, promise: Limit, law: f64, control: &str) -> Rate {
        let slope = |samples: &[Vec<f64>]| match Slope::measured(
            &self.quantity,
            &self.axis,
            &self.sizes,
            samples,
            Stream::new(0).named("which runs are resampled"),
        ) {
            Found::Slope(slope) => Ok(*slope),
            Found::Nothing { reason } => Err(reason),
            Found::Sides(_) => Err("no slope".into()),
        };
        Rate {
            found: slope(&self.values).or_stop(),
            promise: Some(promise),
            law: Some(Limit::Law { slope: law }),
            control: Some((control.into(), slope(&self.controls).or_stop())),
        }
    }
}

/// The largest difference between numbers in the same place.
///
/// # Panics
/// If there is not the same count of either.
pub fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "as many numbers on either side");
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_sorted_by_their_size() {
        let mut check = Check::new("regret", "N");
        for _ in 0..3 {
            for n in [100.0, 200.0, 400.0] {
                check.record(n, 1.0 / n, 0.5);
            }
        }
        let rate = check.against(Limit::SlopeAtMost { slope: -0.5 }, -1.0, "nothing changes");
        assert!((rate.found.slope + 1.0).abs() < 1e-12 && rate.found.sizes == [100.0, 200.0, 400.0]);
        assert_eq!(rate.control.map(|(_, slope)| (slope.slope, slope.seeds)), Some((0.0, 3)));
        assert_eq!(largest_difference(&[1.0, 2.0], &[1.5, 2.25]), 0.5);
    }
}
