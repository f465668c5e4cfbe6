//! Estimates below each other on one scale, as in a meta-analysis.

use super::axis::{Axis, Placed};
use super::canvas::{Canvas, Hang, svg};
use super::chart::{Span, WIDTH};
use super::palette::{INK, Ink, MUTED};
use crate::report::number::significant;

/// One estimate.
#[derive(Debug, Clone, PartialEq)]
pub struct ForestRow {
    /// What it is of.
    pub name: String,
    /// Its value and its interval.
    pub span: Span,
    /// How it is drawn.
    pub ink: Ink,
}

/// Rows of estimates on a common axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Forest {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// A vertical line that is not data, such as no difference.
    pub reference: Option<f64>,
    /// The rows, from top to bottom.
    pub rows: Vec<ForestRow>,
}

const TOP: f64 = 30.0;
const ROW: f64 = 24.0;
const BOTTOM: f64 = 46.0;
/// Width of a letter of a row's name, and the most letters shown.
const LETTER: f64 = 6.6;
const MOST: usize = 26;

impl Forest {
    /// The chart as SVG.
    pub fn svg(&self) -> String {
        let height = TOP + ROW * self.rows.len() as f64 + BOTTOM;
        svg(WIDTH, height as u32, |canvas| self.draw(canvas, f64::from(WIDTH)))
    }

    /// The chart in words and numbers.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n{}\n", self.title, self.x.title);
        for ForestRow { name, span, .. } in &self.rows {
            text += &format!(
                "  {name}  {} ({} to {})\n",
                significant(span.mean),
                significant(span.low),
                significant(span.high)
            );
        }
        text
    }

    fn draw(&self, canvas: &Canvas, width: f64) {
        let names: Vec<String> = self.rows.iter().map(|row| shortened(&row.name)).collect();
        let letters = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let left = 20.0 + LETTER * letters as f64;
        let (right, bottom) = (width - 16.0, TOP + ROW * self.rows.len() as f64);
        let mut values: Vec<f64> =
            self.rows.iter().flat_map(|row| [row.span.mean, row.span.low, row.span.high]).collect();
        values.extend(self.reference);
        let x = Placed::new(&self.x, &values, (left, right));
        canvas.title(&self.title, (4.0, 11.0));
        for (value, text) in &x.ticks {
            canvas.grid((x.at(*value), TOP), (x.at(*value), bottom));
            canvas.note(text, (x.at(*value), bottom + 13.0), Hang::Center);
        }
        canvas.note(&self.x.title, ((left + right) / 2.0, bottom + 33.0), Hang::Center);
        if let Some(at) = self.reference {
            canvas.line(&[(x.at(at), TOP), (x.at(at), bottom)], MUTED, 1.4, false);
        }
        for (i, (row, name)) in self.rows.iter().zip(&names).enumerate() {
            let y = TOP + ROW * (i as f64 + 0.5);
            canvas.text(name, (left - 10.0, y), 12.5, INK, Hang::Right);
            canvas.line(&[(x.at(row.span.low), y), (x.at(row.span.high), y)], row.ink.color, 1.8, row.ink.dashed);
            canvas.marker(row.ink.marker, (x.at(row.span.mean), y), row.ink.color);
        }
    }
}

/// A name that leaves room for the axis.
fn shortened(name: &str) -> String {
    if name.chars().count() <= MOST { name.into() } else { name.chars().take(MOST - 1).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::plot::{BLUE, Marker};

    #[test]
    fn rows_stand_where_their_numbers_are_and_long_names_are_cut() {
        let ink = Ink { color: BLUE, marker: Marker::Disc, dashed: false };
        let row = |name: &str, mean| ForestRow {
            name: name.into(),
            span: Span { mean, low: mean - 1.0, high: mean + 1.0 },
            ink,
        };
        let forest = Forest {
            title: "values".into(),
            x: Axis::linear("x"),
            reference: Some(0.0),
            rows: vec![row("<b>", 1.0), row(&"long ".repeat(20), 2.0)],
        };
        let svg = forest.svg();
        assert!(svg.contains("&lt;b&gt;") && !svg.contains("<b>") && svg.contains('…'), "{svg}");
        let places: Vec<f64> = svg.split("cx=\"").skip(1).filter_map(|s| s.split('"').next()?.parse().ok()).collect();
        assert!(places.len() == 2 && places[0] < places[1], "{places:?}");
        assert!(forest.text().contains("1 (0 to 2)"), "{}", forest.text());
    }
}
