//! The measured rates behind the laws: slope, interval and means, for those who want more than a verdict.

use super::scaling::Runs;
use super::{Budget, circle, lattice, scaling};
use crate::numeric::{Estimate, SlopeError, SlopeFit, Stream};

/// One law as measured: the numbers that its claim judges.
#[derive(Debug, Clone, PartialEq)]
pub struct Rate {
    /// The label of the claim.
    pub label: &'static str,
    /// The test bed it was measured on.
    pub bed: &'static str,
    /// What falls or grows.
    pub quantity: &'static str,
    /// With what: `n`, `N` or `ε`.
    pub size: &'static str,
    /// The slope that theory gives.
    pub target: f64,
    /// Sizes, and means over seeds at each.
    pub means: Vec<(f64, Estimate)>,
    /// Slope of log mean against log size with the interval that decides.
    pub fit: SlopeFit,
}

/// All of them, in the order of the claims.
///
/// # Errors
/// [`SlopeError`] when a mean has no logarithm.
pub fn rates(budget: Budget) -> Result<Vec<Rate>, SlopeError> {
    let mut all = Vec::new();
    {
        let mut add = |label, bed, size, source: &dyn Source, statistic, quantity, target| -> Result<(), SlopeError> {
            let (means, fit) = source.read(statistic)?;
            all.push(Rate { label, bed, quantity, size, target, means, fit });
            Ok(())
        };
        let hat = (scaling::sample_sizes(budget, false), scaling::SAMPLE_SIZES);
        add("rate:n", "bed:hat", "n", &hat, 0, "‖f̂ − Q*‖∞", -0.5)?;
        add("rate:n", "bed:hat", "n", &hat, 1, "regret", -1.0)?;
        let disturbed = scaling::errors(budget, 1.0);
        add("rate:epsilon", "bed:hat", "ε", &(&disturbed, scaling::ERRORS), 0, "|f̂(ε) − f̂(0)|", 1.0)?;
        let circle = (circle::people(budget, false), circle::PEOPLE);
        add("rate:end-to-end", "bed:circle", "N", &circle, 0, "error of states", -0.5)?;
        add("rate:end-to-end", "bed:circle", "N", &circle, 1, "‖f̂ − Q*‖∞", -0.5)?;
        add("rate:end-to-end", "bed:circle", "N", &circle, 2, "regret", -1.0)?;
        add("rate:end-to-end", "bed:circle", "N", &circle, 3, "unfairness", -0.5)?;
        let lattice = lattice::people(budget, 0.0);
        add("bed:lattice", "bed:lattice", "N", &(&lattice, lattice::PEOPLE), 0, "error of states", -0.5)?;
    }
    Ok(all)
}

/// Runs of any number of statistics, with the seed of their resamples.
trait Source {
    /// Means and slope of one statistic.
    fn read(&self, statistic: usize) -> Result<(Vec<(f64, Estimate)>, SlopeFit), SlopeError>;
}

impl<const K: usize> Source for (&Runs<K>, u64) {
    fn read(&self, statistic: usize) -> Result<(Vec<(f64, Estimate)>, SlopeFit), SlopeError> {
        Ok((self.0.means(statistic), self.0.fit(statistic, Stream::new(self.1))?))
    }
}
