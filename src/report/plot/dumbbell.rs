//! Two groups side by side: how far apart a policy treats them.

use super::axis::{Axis, Placed};
use super::canvas::{Canvas, Hang, svg};
use super::chart::{Span, WIDTH};
use super::palette::{INK, Ink, MUTED};
use crate::report::number::significant;

/// One row: a name and a share for each of two groups.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// What the row is about.
    pub name: String,
    /// The share of the first and of the second group.
    pub shares: [Span; 2],
}

/// Rows of pairs on a common axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Dumbbell {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The names of the two groups.
    pub groups: [String; 2],
    /// The rows, from top to bottom.
    pub rows: Vec<Pair>,
}

/// Least room for names on the left.
const LEFT: f64 = 78.0;
/// Room of a letter.
const LETTER: f64 = 7.2;
const TOP: f64 = 48.0;
const ROW: f64 = 34.0;
const BOTTOM: f64 = 46.0;

impl Dumbbell {
    /// The chart as SVG.
    pub fn svg(&self) -> String {
        self.svg_at(WIDTH)
    }

    /// The chart as SVG of another width; text and lines keep their sizes.
    pub fn svg_at(&self, width: u32) -> String {
        let height = TOP + ROW * self.rows.len() as f64 + BOTTOM;
        svg(width, height as u32, |canvas| self.draw(canvas, f64::from(width)))
    }

    /// The chart in words and numbers.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n{}, {} and {}\n", self.title, self.x.title, self.groups[0], self.groups[1]);
        for Pair { name, shares: [first, second] } in &self.rows {
            text += &format!("  {name}  {}, {}\n", significant(first.mean), significant(second.mean));
        }
        text
    }

    fn draw(&self, canvas: &Canvas, width: f64) {
        let longest = self.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
        let left = LEFT.max(16.0 + LETTER * longest as f64);
        let (right, bottom) = (width - 16.0, TOP + ROW * self.rows.len() as f64);
        let values: Vec<f64> = self.rows.iter().flat_map(|r| r.shares).flat_map(|s| [s.mean, s.low, s.high]).collect();
        let x = Placed::new(&self.x, &values, (left, right));
        canvas.title(&self.title, (4.0, 11.0));
        for (value, text) in &x.ticks {
            canvas.grid((x.at(*value), TOP), (x.at(*value), bottom));
            canvas.note(text, (x.at(*value), bottom + 13.0), Hang::Center);
        }
        canvas.note(&self.x.title, ((left + right) / 2.0, bottom + 33.0), Hang::Center);
        let looks = [0, 1].map(|k| (Ink::level(k).color, Ink::level(k).marker));
        let mut at = left;
        for (name, (color, marker)) in self.groups.iter().zip(looks) {
            canvas.marker(marker, (at + 4.0, 32.0), color);
            canvas.text(name, (at + 13.0, 32.0), 12.5, INK, Hang::Left);
            at += 36.0 + 7.0 * name.chars().count() as f64;
        }
        for (i, row) in self.rows.iter().enumerate() {
            let y = TOP + ROW * (i as f64 + 0.5);
            canvas.text(&row.name, (left - 10.0, y), 12.5, INK, Hang::Right);
            let ends = row.shares.map(|s| (x.at(s.mean), y));
            canvas.line(&ends, MUTED, 1.2, false);
            // Each group has its own height, so that intervals that overlap can still be told apart.
            for ((share, (color, marker)), shift) in row.shares.iter().zip(looks).zip([-4.0, 4.0]) {
                canvas.line(&[(x.at(share.low), y + shift), (x.at(share.high), y + shift)], color, 1.6, false);
                canvas.marker(marker, (x.at(share.mean), y + shift), color);
            }
        }
    }
}
