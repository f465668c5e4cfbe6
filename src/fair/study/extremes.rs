//! How far the shares of groups are apart: intervals of their largest difference and of their smallest ratio.
//!
//! The largest of several differences is biased: where groups are alike that of a sample is above 0, and that of resampled people above it, so
//! that the central share of resamples may leave out the estimate itself. Here every pair of groups has an interval of its own, by Bonferroni all
//! of them hold together, and where they do the largest difference lies between the largest of their lower and of their upper ends. The same
//! ends enclose the estimate, which lies in the interval of each pair.

use crate::audit::wilson;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Intervals of the shares of groups, and of how far they are apart.
pub(super) struct Intervals {
    /// Of each share by itself.
    pub of_shares: Vec<(f64, f64)>,
    /// max − min.
    pub difference: (f64, f64),
    /// min / max; 1 where all shares are 0.
    pub ratio: (f64, f64),
}

impl Intervals {
    pub fn of(shares: &[Share], confidence: f64) -> Self {
        // Where all groups always, or never, take the action, nothing is estimated.
        let alike = |rate: f64| shares.iter().all(|share| share.rate == rate && share.standard_error == 0.0);
        if alike(0.0) || alike(1.0) {
            let itself = shares.iter().map(|share| (share.rate, share.rate)).collect();
            return Self { of_shares: itself, difference: (0.0, 0.0), ratio: (1.0, 1.0) };
        }
        let pairs = pairs(shares, confidence);
        Self {
            of_shares: shares.iter().map(|share| share.limits(confidence)).collect(),
            difference: largest_difference(&pairs),
            ratio: smallest_ratio(&pairs),
        }
    }
}

/// The share of a group's decisions that take an action.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    pub rate: f64,
    /// Over resamples of people: decisions of one person hang together.
    pub standard_error: f64,
    /// People who decide.
    pub people: f64,
}

impl Share {
    /// Wilson's interval with as many independent decisions as would have this standard error. Where nobody differs from anybody, each person
    /// counts as one.
    ///
    /// # Equation
    /// ```text
    /// n = p(1 − p)/s²,   z the quantile of Student's law with people − 1 degrees of freedom
    /// ```
    fn limits(&self, confidence: f64) -> (f64, f64) {
        let Self { rate, standard_error, people } = *self;
        let degrees = (people - 1.0).max(1.0);
        let z = StudentsT::new(0.0, 1.0, degrees).map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + confidence / 2.0));
        let spread = rate * (1.0 - rate);
        if spread <= 0.0 {
            let (low, high) = wilson(rate.clamp(0.0, 1.0), people, z);
            return (low.clamp(0.0, rate), high.clamp(rate, 1.0));
        }
        if standard_error == 0.0 {
            return (rate, rate);
        }
        let (low, high) = wilson(rate, spread / (standard_error * standard_error), z);
        (low.clamp(0.0, rate), high.clamp(rate, 1.0))
    }
}

/// max − min of the shares.
///
/// # Equation
/// ```text
/// for each pair, with limits (l, u) of each share p (Newcombe, 1998, method 10):
///   p₁ − p₂ − √((p₁ − l₁)² + (u₂ − p₂)²)  ≤  difference  ≤  p₁ − p₂ + √((u₁ − p₁)² + (p₂ − l₂)²)
/// ```
fn largest_difference(pairs: &[Pair]) -> (f64, f64) {
    let of_pair = |(a, b): &Pair| {
        let apart = a.rate - b.rate;
        (apart - (a.rate - a.low).hypot(b.high - b.rate), apart + (a.high - a.rate).hypot(b.rate - b.low))
    };
    let largest = |(low, high): (f64, f64), (l, h): (f64, f64)| (low.max(l), high.max(h));
    let (low, high) = pairs.iter().map(of_pair).fold((0.0, 0.0), largest);
    (low, high.min(1.0))
}

/// min / max of the shares; 1 where all are 0.
///
/// # Equation
/// ```text
/// for each pair, in a form that stays finite where a share is 0 (Donner and Zou, 2012), with v = p₁p₂ and q(x, p) = x(2p − x):
///   q(l₁, p₁) / (v + √(v² − q(l₁, p₁) q(u₂, p₂)))  ≤  ratio  ≤  (v + √(v² − q(u₁, p₁) q(l₂, p₂))) / q(l₂, p₂)
/// ```
fn smallest_ratio(pairs: &[Pair]) -> (f64, f64) {
    let both = |a: f64, b: f64, product: f64| product + (product * product - a * b).max(0.0).sqrt();
    let of_pair = |(a, b): &Pair| {
        let product = a.rate * b.rate;
        let q = |limit: f64, rate: f64| limit * (2.0 * rate - limit);
        let (q1, q2) = (q(a.low, a.rate), q(b.low, b.rate));
        let below = both(q1, q(b.high, b.rate), product);
        let above = both(q(a.high, a.rate), q2, product);
        (if below > 0.0 { q1 / below } else { 0.0 }, if q2 > 0.0 { above / q2 } else { f64::INFINITY })
    };
    let smallest = |(low, high): (f64, f64), (l, h): (f64, f64)| (low.min(l), high.min(h));
    pairs.iter().map(of_pair).fold((1.0, 1.0), smallest)
}

/// A share with its limits.
#[derive(Clone, Copy)]
struct Limited {
    rate: f64,
    low: f64,
    high: f64,
}

type Pair = (Limited, Limited);

/// All ordered pairs of groups, with limits such that the intervals of all pairs hold together.
fn pairs(shares: &[Share], confidence: f64) -> Vec<Pair> {
    let groups = shares.len();
    let count = (groups * groups.saturating_sub(1) / 2).max(1);
    let together = 1.0 - (1.0 - confidence) / count as f64;
    let limited: Vec<Limited> = shares
        .iter()
        .map(|share| {
            let (low, high) = share.limits(together);
            Limited { rate: share.rate, low, high }
        })
        .collect();
    let others = |a: usize| (0..groups).filter(move |b| *b != a).map(move |b| (a, b));
    (0..groups).flat_map(others).map(|(a, b)| (limited[a], limited[b])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::numeric::Stream;
    use rand::RngExt;

    fn share(rate: f64, n: f64) -> Share {
        Share { rate, standard_error: (rate * (1.0 - rate) / n).sqrt(), people: n }
    }

    fn two(p: f64, n: f64, q: f64, m: f64) -> Intervals {
        Intervals::of(&[share(p, n), share(q, m)], 0.95)
    }

    /// Newcombe (1998), table II, method 10: 56/70 against 48/80 has 0.0524 to 0.3339 with normal quantiles; Student's with 69 and 79 degrees of
    /// freedom are 1.018 and 1.016 times as large, and so is the half-width.
    #[test]
    fn a_difference_of_two_shares_is_newcombes() {
        let (low, high) = two(0.8, 70.0, 0.6, 80.0).difference;
        assert!((low - 0.0524).abs() < 0.02 * 0.15 && low < 0.0524, "{low}");
        assert!((high - 0.3339).abs() < 0.02 * 0.15 && high > 0.3339, "{high}");
        assert_eq!((low, high), two(0.6, 80.0, 0.8, 70.0).difference);
    }

    /// What the percentile bootstrap left out: 0.001 (0.004 to 0.044), 0.999 (0.896 to 0.990).
    #[test]
    fn an_interval_holds_its_own_estimate_whatever_the_shares() {
        let mut rng = Stream::new(5).named("shares").rng();
        for round in 0..4000 {
            let groups = 2 + round % 5;
            let mut rate = || match rng.random::<f64>() {
                u if u < 0.1 => 0.0,
                u if u < 0.2 => 1.0,
                u if u < 0.4 => 0.5 + 1e-3 * (u - 0.3),
                u => (u - 0.4) / 0.6,
            };
            let rates: Vec<f64> = (0..groups).map(|_| rate()).collect();
            let shares: Vec<Share> = rates.iter().map(|p| share(*p, 3.0 + (round % 97) as f64)).collect();
            let (least, most) = rates.iter().fold((1.0f64, 0.0f64), |(l, m), p| (l.min(*p), m.max(*p)));
            let found = Intervals::of(&shares, 0.95);
            let (low, high) = found.difference;
            assert!(
                0.0 <= low && low <= most - least && most - least <= high && high <= 1.0,
                "{rates:?}: {low}, {high}"
            );
            let ratio = if most > 0.0 { least / most } else { 1.0 };
            let (low, high) = found.ratio;
            let rounding = 1e-12;
            assert!(
                0.0 <= low && low <= ratio + rounding && ratio <= high + rounding && high <= 1.0,
                "{rates:?}: {low}, {high}"
            );
            for (rate, (low, high)) in rates.iter().zip(found.of_shares) {
                assert!(0.0 <= low && low <= *rate && *rate <= high && high <= 1.0, "{rate}: {low}, {high}");
            }
        }
    }

    #[test]
    fn one_action_for_all_is_known_exactly_and_one_for_all_of_a_sample_is_not() {
        let never = two(0.0, 40.0, 0.0, 60.0);
        assert_eq!(
            (never.difference, never.ratio, &never.of_shares[..]),
            ((0.0, 0.0), (1.0, 1.0), &[(0.0, 0.0); 2][..])
        );
        let (low, high) = two(1.0, 40.0, 0.9, 60.0).difference;
        assert!(low == 0.0 && high > 0.15, "{low}, {high}: forty people who all did it do not make it certain");
        let (low, high) = two(0.0, 40.0, 0.5, 60.0).ratio;
        assert!(low == 0.0 && (0.1..0.3).contains(&high), "{low}, {high}");
    }
}
