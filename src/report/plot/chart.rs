//! Lines with bands, labelled where they end.

use super::axis::{Axis, Placed, Spacing};
use super::canvas::{Canvas, Hang, svg};
use super::palette::{INK, Ink, MUTED};
use crate::report::number::significant;

/// A number with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// The number.
    pub mean: f64,
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Span {
    /// A number that is known.
    pub fn exact(mean: f64) -> Self {
        Self { mean, low: mean, high: mean }
    }

    /// An estimate with its 95 % interval; the number alone when there is no interval.
    pub fn of(estimate: crate::kernel::numeric::Estimate) -> Self {
        let (low, high) = estimate.interval(crate::reproduction::summary::CONFIDENCE);
        if low.is_finite() { Self { mean: estimate.mean, low, high } } else { Self::exact(estimate.mean) }
    }
}

impl From<f64> for Span {
    fn from(number: f64) -> Self {
        Self::exact(number)
    }
}

impl From<crate::kernel::numeric::Estimate> for Span {
    fn from(estimate: crate::kernel::numeric::Estimate) -> Self {
        Self::of(estimate)
    }
}

impl Span {
    /// An estimate of a share. Its interval is taken on the scale of log odds, so that it ends within 0 and 1 by itself.
    pub fn share(estimate: crate::kernel::numeric::Estimate) -> Self {
        let Self { mean, low, high } = Self::of(estimate);
        if mean <= 0.0 || mean >= 1.0 || low == high {
            return Self { mean, low: low.max(0.0), high: high.min(1.0) };
        }
        let odds = |p: f64| (p / (1.0 - p)).ln();
        let half = 0.5 * (high - low) / (mean * (1.0 - mean));
        let share = |x: f64| 1.0 / (1.0 + (-x).exp());
        Self { mean, low: share(odds(mean) - half), high: share(odds(mean) + half) }
    }
}

/// A line through points, with a band when only y is uncertain and with crosses when both are.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What stands at its end; empty for nothing.
    pub name: String,
    /// How it is drawn.
    pub ink: Ink,
    /// Its points, from left to right.
    pub points: Vec<(Span, Span)>,
}

impl Series {
    /// A series through numbers or estimates.
    pub fn new<X: Into<Span>, Y: Into<Span>>(name: &str, ink: Ink, points: impl IntoIterator<Item = (X, Y)>) -> Self {
        let points = points.into_iter().map(|(x, y)| (x.into(), y.into())).collect();
        Self { name: name.into(), ink, points }
    }
}

/// A horizontal line that is not data.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// Where it is.
    pub at: f64,
    /// What it is.
    pub name: String,
}

/// A chart with numbers on both axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
    /// The lines that are not data.
    pub references: Vec<Reference>,
}

/// Width in pixels: close to a phone's, so that text keeps its size there.
pub const WIDTH: u32 = 440;
const HEIGHT: u32 = 330;
/// Width and height of a chart in the report, in pixels.
pub const SIZE: (u32, u32) = (WIDTH, HEIGHT);
const LEFT: f64 = 52.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 46.0;
/// Space on the right for labels, by letters of the longest one.
const LETTER: f64 = 7.0;
/// How far below the least mean a logarithmic axis follows a band.
const BELOW: f64 = 2.0;
/// Points of a series that its words give at most.
const LISTED: usize = 12;
/// Least distance between two labels.
const APART: f64 = 14.0;

impl Chart {
    /// A chart without lines.
    pub fn new(title: &str, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, series: vec![], references: vec![] }
    }

    /// The same chart with one more line.
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// The same chart with a horizontal line that is not data.
    pub fn with_reference(mut self, at: f64, name: &str) -> Self {
        self.references.push(Reference { at, name: name.into() });
        self
    }

    /// The chart in words and numbers, for readers without eyes for it. Of long series every tenth point or so is given.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n{} against {}\n", self.title, self.y.title, self.x.title);
        for series in &self.series {
            let every = series.points.len().div_ceil(LISTED).max(1);
            let points = series.points.iter().step_by(every);
            let pairs = points.map(|(x, y)| format!("{}: {}", significant(x.mean), significant(y.mean)));
            text += &format!("  {}  {}\n", series.name, pairs.collect::<Vec<_>>().join(", "));
        }
        for reference in &self.references {
            text += &format!("  {}  {}\n", reference.name, significant(reference.at));
        }
        text
    }

    /// The chart as SVG.
    pub fn svg(&self) -> String {
        self.svg_at(WIDTH, HEIGHT)
    }

    /// The chart as SVG of another size; text and lines keep theirs, so that a smaller chart may stand in a narrower column.
    pub fn svg_at(&self, width: u32, height: u32) -> String {
        svg(width, height, |canvas| self.draw(canvas, f64::from(width), f64::from(height)))
    }

    fn draw(&self, canvas: &Canvas, width: f64, height: f64) {
        let names = self.series.iter().map(|s| &s.name).chain(self.references.iter().map(|r| &r.name));
        let letters = names.map(|name| name.chars().count()).max().unwrap_or(0);
        let right = width - 14.0 - LETTER * letters as f64;
        let bottom = height - BOTTOM;
        let spans = |pick: fn(&(Span, Span)) -> Span| -> Vec<f64> {
            let points = self.series.iter().flat_map(|s| &s.points).map(pick);
            points.flat_map(|s| [s.mean, s.low, s.high]).collect()
        };
        let (xs, mut ys) = (spans(|p| p.0), spans(|p| p.1));
        ys.extend(self.references.iter().map(|r| r.at));
        // Towards zero a band has no end on a logarithmic axis: it is cut, and only reaches as far as keeps the means readable.
        let keep = |axis: &Axis, values: Vec<f64>, means: Vec<f64>| match axis.spacing {
            Spacing::Linear => values,
            Spacing::Log => {
                let least = means.iter().copied().filter(|m| *m > 0.0).fold(f64::INFINITY, f64::min);
                let shown = values.into_iter().filter(|v| *v >= least / BELOW);
                shown.chain(means.iter().copied().filter(|m| *m <= 0.0)).collect()
            }
        };
        let mean = |pick: fn(&(Span, Span)) -> f64| -> Vec<f64> {
            self.series.iter().flat_map(|s| &s.points).map(pick).collect()
        };
        let x = Placed::new(&self.x, &keep(&self.x, xs, mean(|p| p.0.mean)), (LEFT, right));
        let y = Placed::new(&self.y, &keep(&self.y, ys, mean(|p| p.1.mean)), (bottom, TOP));

        let beyond = |span: &Span| self.y.spacing == Spacing::Log && span.mean > 0.0 && y.is_below(span.low);
        let cut = self.series.iter().flat_map(|s| &s.points).any(|(_, v)| beyond(v));
        self.frame(canvas, &x, &y, right, bottom, if cut { " (arrow: the interval goes on below)" } else { "" });
        let mut labels: Vec<(f64, String, plotters::style::RGBColor)> = Vec::new();
        for reference in &self.references {
            let at = y.at(reference.at);
            canvas.line(&[(LEFT, at), (right, at)], MUTED, 1.2, true);
            labels.push((at, reference.name.clone(), MUTED));
        }
        for series in &self.series {
            draw_series(canvas, series, &x, &y, bottom);
        }
        for series in &self.series {
            let Some(last) = series.points.last() else { continue };
            if !series.name.is_empty() {
                labels.push((y.at(last.1.mean), series.name.clone(), series.ink.color));
            }
        }
        let ends: Vec<f64> = labels.iter().map(|l| l.0).collect();
        for ((end, name, color), at) in labels.iter().zip(spread(&ends, TOP, bottom)) {
            if (at - end).abs() > 2.0 {
                canvas.line(&[(right + 1.0, *end), (right + 6.0, at)], *color, 0.7, false);
            }
            canvas.text(name, (right + 8.0, at), 12.5, *color, Hang::Left);
        }
    }

    fn frame(&self, canvas: &Canvas, x: &Placed, y: &Placed, right: f64, bottom: f64, note: &str) {
        canvas.title(&self.title, (4.0, 11.0));
        canvas.note(&format!("{}{note}", self.y.title), (4.0, 30.0), Hang::Left);
        for (value, text) in &y.ticks {
            let at = y.at(*value);
            canvas.grid((LEFT, at), (right, at));
            canvas.note(text, (LEFT - 6.0, at), Hang::Right);
        }
        for (value, text) in &x.ticks {
            let at = x.at(*value);
            canvas.line(&[(at, bottom), (at, bottom + 4.0)], MUTED, 1.0, false);
            canvas.note(text, (at, bottom + 13.0), Hang::Center);
        }
        canvas.line(&[(LEFT, bottom), (right, bottom)], INK, 1.0, false);
        if let Some(at) = y.break_at() {
            canvas.line(&[(LEFT - 4.0, at + 3.0), (LEFT + 4.0, at - 1.0)], MUTED, 1.0, false);
            canvas.line(&[(LEFT - 4.0, at + 6.0), (LEFT + 4.0, at + 2.0)], MUTED, 1.0, false);
        }
        canvas.note(&self.x.title, ((LEFT + right) / 2.0, bottom + 33.0), Hang::Center);
    }
}

fn draw_series(canvas: &Canvas, series: &Series, x: &Placed, y: &Placed, bottom: f64) {
    let Ink { color, marker, dashed } = series.ink;
    let floor = y.break_at().unwrap_or(bottom);
    // On a logarithmic axis a lower end at or below zero has no place of its own: it is drawn at the foot.
    let y_low = |s: &Span| if s.mean > 0.0 && s.low <= 0.0 { y.at(s.low).min(floor) } else { y.at(s.low) };
    let x_is_known = series.points.iter().all(|(at, _)| at.low == at.high);
    if x_is_known && series.points.len() > 1 {
        let upper = series.points.iter().map(|(at, v)| (x.at(at.mean), y.at(v.high)));
        let lower = series.points.iter().rev().map(|(at, v)| (x.at(at.mean), y_low(v)));
        canvas.shade(&upper.chain(lower).collect::<Vec<_>>(), color, 0.16);
    } else {
        for (at, v) in &series.points {
            canvas.line(&[(x.at(at.low), y.at(v.mean)), (x.at(at.high), y.at(v.mean))], color, 1.0, false);
            canvas.line(&[(x.at(at.mean), y_low(v)), (x.at(at.mean), y.at(v.high))], color, 1.0, false);
        }
    }
    // What the axis cannot show of an interval is said by an arrow, not left out.
    for (at, v) in series.points.iter().filter(|(_, v)| y.is_log() && v.mean > 0.0 && y.is_below(v.low)) {
        let (x, foot) = (x.at(at.mean), y_low(v));
        canvas.line(&[(x - 4.0, foot - 6.0), (x, foot - 1.0), (x + 4.0, foot - 6.0)], color, 1.3, false);
    }
    let path: Vec<(f64, f64)> = series.points.iter().map(|(at, v)| (x.at(at.mean), y.at(v.mean))).collect();
    if path.len() > 1 {
        canvas.line(&path, color, 1.8, dashed);
    }
    for at in path {
        canvas.marker(marker, at, color);
    }
}

/// Moves labels apart: each at least [`APART`] from the next, all between `top` and `bottom`, order kept, as little as that takes.
fn spread(ends: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by(|&a, &b| ends[a].total_cmp(&ends[b]));
    let mut at: Vec<f64> = order.iter().map(|&i| ends[i]).collect();
    for _ in 0..200 {
        for i in 1..at.len() {
            let overlap = APART - (at[i] - at[i - 1]);
            if overlap > 0.0 {
                at[i] += overlap / 2.0;
                at[i - 1] -= overlap / 2.0;
            }
        }
        if let (Some(first), Some(last)) = (at.first().copied(), at.last().copied()) {
            let shift = (top - first).max(0.0) - (last - bottom).max(0.0);
            let count = at.len();
            if shift > 0.0 {
                at[0] += shift;
            } else {
                at[count - 1] += shift;
            }
        }
    }
    let mut placed = vec![0.0; ends.len()];
    for (&i, at) in order.iter().zip(at) {
        placed[i] = at;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_would_overlap_are_moved_apart_and_stay_in_order() {
        let at = spread(&[100.0, 101.0, 290.0, 100.5], 40.0, 284.0);
        let mut sorted = at.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|w| w[1] - w[0] > 0.9 * APART), "{at:?}");
        assert!(at[0] < at[3] && at[3] < at[1] && at[1] < at[2], "{at:?}");
        assert!(at[2] < 290.0, "{at:?}");
    }

    #[test]
    fn a_chart_shows_its_words() {
        let points = [(10.0, 0.5), (20.0, 0.0)].map(|(x, y)| (Span::exact(x), Span::exact(y))).to_vec();
        let ink = Ink::of(crate::reproduction::Method::Ours);
        let series = vec![Series { name: "Ours".into(), ink, points }];
        let references = vec![Reference { at: 0.1, name: "target".into() }];
        let (x, y) = (Axis::log("people"), Axis::log("CF metric"));
        let svg = Chart { title: "a & b".into(), x, y, series, references }.svg();
        for word in ["Ours", "target", "people", "CF metric", "a &amp; b", "viewBox"] {
            assert!(svg.contains(word), "{word} is missing");
        }
    }

    #[test]
    fn an_interval_that_the_axis_cannot_show_has_an_arrow_and_a_note() {
        let chart = |low: f64| {
            let span = Span { mean: 0.1, low, high: 0.2 };
            let points = [10.0, 20.0].map(|x| (Span::exact(x), span)).to_vec();
            let series = vec![Series { name: "Ours".into(), ink: Ink::OURS, points }];
            Chart { title: "t".into(), x: Axis::log("N"), y: Axis::log("CF"), series, references: vec![] }.svg()
        };
        assert!(chart(-0.05).contains("goes on below") && chart(0.001).contains("goes on below"));
        assert!(!chart(0.09).contains("goes on below"));
    }

    #[test]
    fn the_interval_of_a_share_stays_a_share() {
        let estimate =
            |mean: f64, standard_error: f64| crate::kernel::numeric::Estimate { mean, standard_error, count: 50 };
        let near = Span::share(estimate(0.98, 0.02));
        assert!(near.low > 0.8 && near.low < 0.94 && near.high < 1.0 && near.high > 0.99, "{near:?}");
        let middle = Span::share(estimate(0.5, 0.01));
        assert!((middle.high - 0.5 - 2.0096 * 0.01).abs() < 1e-4, "{middle:?}");
        assert_eq!(Span::share(estimate(0.0, 0.0)), Span::exact(0.0));
    }

    #[test]
    fn a_chart_in_words_gives_its_numbers() {
        let ink = Ink::of(crate::reproduction::Method::Ours);
        let chart = Chart::new("rates", Axis::log("N"), Axis::log("CF metric"))
            .with(Series::new("Ours", ink, [(100.0, 0.123_456), (200.0, 0.05)]))
            .with_reference(0.1, "target");
        assert_eq!(chart.text(), "rates\nCF metric against N\n  Ours  100: 0.1235, 200: 0.05\n  target  0.1\n");
    }
}
