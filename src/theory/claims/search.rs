//! Looking for counterexamples: keep the worst case, climb towards a worse one.

use super::{Verdict, Witness};
use crate::kernel::numeric::Stream;
use rand::{Rng, RngExt};

/// Relative excess of a left side over its right side that is still put down to rounding.
///
/// Both sides of every inequality here come from at most a few thousand operations on numbers of like size, or from
/// solves with condition numbers below 1e4, which leaves relative errors under 1e−12; several corrected statements hold
/// with equality, so the slack cannot be zero. The mistakes looked for are factors, four orders of magnitude larger.
pub const ROUNDING: f64 = 1e-10;

/// Absolute error put down to rounding in a comparison of two numbers of size one: 2⁻⁵² times a few thousand operations.
pub const EQUAL: f64 = 1e-12;

/// The worst case met so far.
#[derive(Debug, Clone, Default)]
pub struct Search {
    trials: usize,
    worst: f64,
    witness: Option<Witness>,
}

impl Search {
    /// Nothing looked at yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// One case of left ≤ right. A right side of 0 demands a left side of 0.
    ///
    /// A side that is not a number counts as a violation: it is a failure of the check that must not pass in silence.
    pub fn case(&mut self, left: f64, right: f64, text: impl FnOnce() -> String) -> f64 {
        self.trials += 1;
        let ratio = if left <= 0.0 && right >= 0.0 { 0.0 } else { left / right };
        let ratio = if right < 0.0 && left > right || ratio.is_nan() { f64::INFINITY } else { ratio };
        // The first witness is kept: the cases that can be checked by hand come first.
        if ratio > 1.0 + ROUNDING && self.witness.is_none() {
            self.witness = Some(Witness { text: text(), left, right, law: None });
        }
        self.worst = self.worst.max(ratio);
        ratio
    }

    /// One case of left < right, for numbers without rounding error: equality is a counterexample.
    pub fn less(&mut self, left: f64, right: f64, text: impl FnOnce() -> String) {
        self.trials += 1;
        if (left >= right || left.is_nan() || right.is_nan()) && self.witness.is_none() {
            self.witness = Some(Witness { text: text(), left, right, law: None });
        }
        self.worst = self.worst.max(if right > 0.0 { left / right } else { 0.0 });
    }

    /// Refuted with the first witness, or not.
    pub fn verdict(self) -> Verdict {
        match self.witness {
            Some(witness) => Verdict::Refuted { witness },
            None if self.trials == 0 => Verdict::Inconclusive { reason: "no case was looked at".into() },
            None => Verdict::NotRefuted { trials: self.trials, worst_ratio: self.worst, law: None },
        }
    }
}

/// Largest deviation of equalities, with the first case that breaks one.
#[derive(Debug, Clone, Default)]
pub struct Equalities {
    checked: usize,
    error: f64,
    witness: Option<Witness>,
}

impl Equalities {
    /// Nothing compared yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// left = right up to `tolerance`.
    pub fn case(&mut self, left: f64, right: f64, tolerance: f64, text: impl FnOnce() -> String) {
        self.checked += 1;
        let error = (left - right).abs();
        if (error > tolerance || error.is_nan()) && self.witness.is_none() {
            self.witness = Some(Witness { text: text(), left, right, law: None });
        }
        self.error = self.error.max(error);
    }

    /// Exact with the largest deviation, or refuted.
    pub fn verdict(self) -> Verdict {
        match self.witness {
            Some(witness) => Verdict::Refuted { witness },
            None if self.checked == 0 => Verdict::Inconclusive { reason: "nothing was compared".into() },
            None => Verdict::Exact { error: self.error },
        }
    }
}

/// Climbs `ratio` from a random start: coordinates are moved one or all at a time, by steps that shrink when nothing helps.
///
/// Returns the best point found. Deterministic in the stream.
pub fn climb(dimension: usize, steps: usize, stream: Stream, ratio: &mut dyn FnMut(&[f64]) -> f64) -> Vec<f64> {
    let mut rng = stream.rng();
    let mut best: Vec<f64> = (0..dimension).map(|_| signed(&mut rng)).collect();
    let mut height = ratio(&best);
    let (mut scale, mut failures) = (1.0, 0);
    let mut point = best.clone();
    for step in 0..steps {
        point.copy_from_slice(&best);
        if step % 3 == 0 {
            point.iter_mut().for_each(|x| *x += scale * 0.3 * signed(&mut rng));
        } else {
            let j = crate::kernel::numeric::uniform_index(&mut rng, dimension);
            point[j] += scale * signed(&mut rng);
        }
        let there = ratio(&point);
        if there > height {
            (height, failures) = (there, 0);
            best.copy_from_slice(&point);
        } else {
            failures += 1;
            if failures > 4 * dimension + 10 {
                (scale, failures) = (scale * 0.5, 0);
            }
        }
    }
    best
}

/// A uniform draw on [−1, 1).
pub fn signed(rng: &mut impl Rng) -> f64 {
    2.0 * rng.random::<f64>() - 1.0
}

/// A uniform draw on [low, high).
pub fn between(rng: &mut impl Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * rng.random::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_that_is_no_number_or_negative_is_a_violation() {
        for (left, right) in [(f64::NAN, 1.0), (1.0, f64::NAN), (0.0, -1.0), (1.0, 0.0)] {
            let mut search = Search::new();
            search.case(left, right, String::new);
            assert!(matches!(search.verdict(), Verdict::Refuted { .. }), "{left} ≤ {right}");
        }
        let mut search = Search::new();
        search.case(0.0, 0.0, String::new);
        assert!(matches!(search.verdict(), Verdict::NotRefuted { .. }));
    }

    #[test]
    fn nothing_looked_at_is_inconclusive() {
        assert!(matches!(Search::new().verdict(), Verdict::Inconclusive { .. }));
        assert!(matches!(Equalities::new().verdict(), Verdict::Inconclusive { .. }));
    }
}
