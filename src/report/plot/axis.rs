//! Axes: from numbers to pixels, and where the ticks go.

use crate::report::number::tick;

/// How numbers are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Equal differences are equally far apart.
    Linear,
    /// Equal ratios are equally far apart. Numbers that are not positive are shown on a strip of their own, marked 0.
    Log,
}

/// One axis of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it shows, with its unit.
    pub title: String,
    /// How numbers are laid out.
    pub spacing: Spacing,
    /// Where ticks must be; `None` for round numbers.
    pub ticks: Option<Vec<f64>>,
    /// Whether the axis must reach zero (linear axes only).
    pub from_zero: bool,
}

impl Axis {
    /// A linear axis with round ticks.
    pub fn linear(title: &str) -> Self {
        Self { title: title.into(), spacing: Spacing::Linear, ticks: None, from_zero: false }
    }

    /// A logarithmic axis.
    pub fn log(title: &str) -> Self {
        Self { spacing: Spacing::Log, ..Self::linear(title) }
    }

    /// The same axis with these ticks.
    pub fn with_ticks(self, ticks: impl IntoIterator<Item = f64>) -> Self {
        Self { ticks: Some(ticks.into_iter().collect()), ..self }
    }

    /// The same axis, reaching zero.
    pub fn from_zero(self) -> Self {
        Self { from_zero: true, ..self }
    }
}

/// Share of a logarithmic axis that the strip of zeros takes.
const STRIP: f64 = 0.11;
/// Share of the range left free at each end.
const MARGIN: f64 = 0.04;

/// An axis with its range and its pixels.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    spacing: Spacing,
    low: f64,
    high: f64,
    /// Pixel of `low` and of `high`.
    pixels: (f64, f64),
    /// Pixel of the strip of zeros.
    strip: Option<f64>,
    pub ticks: Vec<(f64, String)>,
}

impl Placed {
    /// Lays out an axis so that all `values` fit between two pixels.
    pub fn new(axis: &Axis, values: &[f64], pixels: (f64, f64)) -> Self {
        let shown = |x: &&f64| x.is_finite() && (axis.spacing == Spacing::Linear || **x > 0.0);
        let all = || values.iter().filter(shown).chain(axis.ticks.iter().flatten()).copied();
        let (mut low, mut high) = all().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
        if low > high {
            (low, high) = if axis.spacing == Spacing::Log { (0.1, 1.0) } else { (0.0, 1.0) };
        }
        let has_zero = axis.spacing == Spacing::Log && values.iter().any(|x| *x <= 0.0);
        match axis.spacing {
            Spacing::Log => {
                let pad = ((high / low).ln() * MARGIN).max(0.05).exp();
                (low, high) = (low / pad, high * pad);
            }
            Spacing::Linear => {
                if axis.from_zero {
                    (low, high) = (low.min(0.0), high.max(0.0));
                }
                let pad = if high > low { (high - low) * MARGIN } else { low.abs().max(1.0) * MARGIN };
                (low, high) = (low - pad, high + pad);
            }
        }
        let (begin, end) = pixels;
        let strip = has_zero.then_some(begin + (end - begin) * STRIP * 0.35);
        let begin = if has_zero { begin + (end - begin) * STRIP } else { begin };
        let mut placed = Self { spacing: axis.spacing, low, high, pixels: (begin, end), strip, ticks: vec![] };
        let at = axis.ticks.clone().unwrap_or_else(|| placed.round_ticks());
        placed.ticks = at.into_iter().map(|x| (x, tick(x))).collect();
        if has_zero {
            placed.ticks.insert(0, (0.0, "0".into()));
        }
        placed
    }

    /// The pixel of a number.
    pub fn at(&self, x: f64) -> f64 {
        let share = match self.spacing {
            Spacing::Linear => (x - self.low) / (self.high - self.low),
            Spacing::Log if x > 0.0 => (x / self.low).ln() / (self.high / self.low).ln(),
            Spacing::Log => return self.strip.unwrap_or(self.pixels.0),
        };
        self.pixels.0 + share.clamp(0.0, 1.0) * (self.pixels.1 - self.pixels.0)
    }

    /// Whether numbers are laid out by their ratios.
    pub fn is_log(&self) -> bool {
        self.spacing == Spacing::Log
    }

    /// Whether a number lies below what the axis shows.
    pub fn is_below(&self, x: f64) -> bool {
        x < self.low
    }

    /// The pixel where the strip of zeros ends and the logarithms begin.
    pub fn break_at(&self) -> Option<f64> {
        self.strip.map(|_| self.pixels.0)
    }

    fn round_ticks(&self) -> Vec<f64> {
        match self.spacing {
            Spacing::Linear => {
                let raw = (self.high - self.low) / 5.0;
                let decade = 10f64.powf(raw.log10().floor());
                let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * decade).into_iter().find(|s| *s >= raw).unwrap_or(raw);
                let first = (self.low / step).ceil() as i64;
                let last = (self.high / step).floor() as i64;
                (first..=last).map(|k| k as f64 * step).collect()
            }
            Spacing::Log => {
                let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
                let wide = (self.high / self.low).log10() > 2.5;
                let steps: &[f64] = if wide { &[1.0] } else { &[1.0, 2.0, 5.0] };
                let all = (first..=last).flat_map(|e| steps.iter().map(move |m| m * 10f64.powi(e)));
                all.filter(|x| (self.low..=self.high).contains(x)).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logarithmic_axis_keeps_zeros_on_a_strip_below_everything_else() {
        let axis = Placed::new(&Axis::log("x"), &[0.0, 0.01, 1.0], (300.0, 0.0));
        assert!(axis.at(0.0) > axis.at(0.01) && axis.at(0.01) > axis.at(1.0));
        assert_eq!(axis.ticks[0], (0.0, "0".into()));
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let axis = Placed::new(&Axis::linear("x"), &[0.13, 6.8], (0.0, 100.0));
        let at: Vec<f64> = axis.ticks.iter().map(|t| t.0).collect();
        assert_eq!(at, [0.0, 2.0, 4.0, 6.0]);
        let log = Placed::new(&Axis::log("x"), &[0.012, 0.6], (0.0, 100.0));
        assert_eq!(log.ticks.iter().map(|t| t.1.as_str()).collect::<Vec<_>>(), ["0.02", "0.05", "0.1", "0.2", "0.5"]);
    }
}
