//! The generic judges: what a limit is, and what becomes of what was found.

use super::{Found, Worst};
use serde::{Deserialize, Serialize};

/// What a claim must keep.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Limit {
    /// In every case the left side is at most the right side.
    AtMost,
    /// In every case two sides are equal up to the case's rounding.
    Equal,
    /// A promised rate, falling: the slope's interval does not lie above this.
    SlopeAtMost {
        /// The slope that is promised.
        slope: f64,
    },
    /// A promised rate, growing from 0: the slope's interval does not lie below this.
    SlopeAtLeast {
        /// The slope that is promised.
        slope: f64,
    },
    /// A law, judged by equivalence: the slope is within [`NEAR`] of this and its 95 % interval within [`FAR`].
    Law {
        /// The slope of the law.
        slope: f64,
    },
}

impl Limit {
    /// The slope, for a claim about one.
    pub fn slope(self) -> Option<f64> {
        match self {
            Self::AtMost | Self::Equal => None,
            Self::SlopeAtMost { slope } | Self::SlopeAtLeast { slope } | Self::Law { slope } => Some(slope),
        }
    }
}

/// A slope as far as this from a law counts as the law: at six sizes over a 32-fold range a factor of √2 in one of the means moves it by about as much.
pub const NEAR: f64 = 0.1;
/// No end of the slope's 95 % interval may be farther from the law than this.
pub const FAR: f64 = 0.2;

/// Relative excess of a left side over its right side that is still put down to rounding.
///
/// Both sides come from at most a few thousand operations on numbers of like size, or from solves with condition numbers below 1e4, which leaves relative
/// errors under 1e−12; several statements hold with equality, so the slack cannot be zero. The mistakes looked for are factors, four orders larger.
pub const ROUNDING: f64 = 1e-10;

/// What became of a claim. It never says "true".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Equal to rounding in every case.
    Exact,
    /// Searched or measured, and not broken.
    NotRefuted,
    /// Broken, with the case that breaks it.
    Refuted,
    /// The run could not decide.
    Inconclusive,
}

impl Verdict {
    /// Whether the limit was kept.
    pub fn stands(self) -> bool {
        matches!(self, Self::Exact | Self::NotRefuted)
    }

    /// The word for it in tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::NotRefuted => "not refuted",
            Self::Refuted => "refuted",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// What becomes of a finding under a limit. A finding of another kind than the limit's decides nothing.
pub fn judge(limit: Limit, found: &Found) -> Verdict {
    match (limit, found) {
        (Limit::AtMost, Found::Sides(worst)) => of_sides(worst, Verdict::NotRefuted),
        (Limit::Equal, Found::Sides(worst)) => of_sides(worst, Verdict::Exact),
        (Limit::SlopeAtMost { slope }, Found::Slope(found)) => stands(found.interval.0 <= slope),
        (Limit::SlopeAtLeast { slope }, Found::Slope(found)) => stands(found.interval.1 >= slope),
        (Limit::Law { slope }, Found::Slope(found)) => of_law(slope, found.slope, found.interval),
        _ => Verdict::Inconclusive,
    }
}

fn stands(kept: bool) -> Verdict {
    if kept { Verdict::NotRefuted } else { Verdict::Refuted }
}

fn of_sides(worst: &Worst, kept: Verdict) -> Verdict {
    match worst.cases {
        0 => Verdict::Inconclusive,
        _ if worst.ratio() > 1.0 + ROUNDING => Verdict::Refuted,
        _ => kept,
    }
}

/// More seeds make this firmer: an interval that shrinks ends inside or outside, and no longer between.
fn of_law(law: f64, slope: f64, (low, high): (f64, f64)) -> Verdict {
    if (slope - law).abs() <= NEAR && law - FAR <= low && high <= law + FAR {
        Verdict::NotRefuted
    } else if high < law - NEAR || law + NEAR < low {
        Verdict::Refuted
    } else {
        Verdict::Inconclusive
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_law_is_kept_missed_or_left_open() {
        for (slope, interval, verdict) in [
            (-1.05, (-1.15, -0.95), Verdict::NotRefuted),
            (-1.05, (-1.25, -0.85), Verdict::Inconclusive),
            (-0.86, (-0.89, -0.82), Verdict::Refuted),
            (-0.88, (-0.95, -0.81), Verdict::Inconclusive),
            (-0.02, (-0.05, 0.01), Verdict::Refuted),
        ] {
            assert_eq!(of_law(-1.0, slope, interval), verdict, "{slope} {interval:?}");
        }
    }

    #[test]
    fn a_side_that_is_no_number_or_a_negative_bound_is_a_violation() {
        for (left, right) in [(f64::NAN, 1.0), (1.0, f64::NAN), (0.0, -1.0), (1.0, 0.0), (1.0 + 1e-9, 1.0)] {
            let mut worst = Worst::default();
            worst.at_most(left, right, String::new);
            assert_eq!(judge(Limit::AtMost, &worst.found()), Verdict::Refuted, "{left} ≤ {right}");
        }
        let mut worst = Worst::default();
        worst.at_most(0.0, 0.0, String::new);
        assert_eq!(judge(Limit::AtMost, &worst.found()), Verdict::NotRefuted);
    }

    #[test]
    fn nothing_looked_at_and_a_finding_of_another_kind_are_inconclusive() {
        assert_eq!(judge(Limit::AtMost, &Worst::default().found()), Verdict::Inconclusive);
        assert_eq!(judge(Limit::Law { slope: 1.0 }, &Worst::default().found()), Verdict::Inconclusive);
    }
}
