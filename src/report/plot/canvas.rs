//! The few marks every chart is made of.

use super::palette::{GRID, INK, MUTED, Marker};
use crate::files::visible;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Units a pixel: plotters places marks on whole numbers, and a quarter of a pixel is fine enough for smooth lines.
const UNITS: f64 = 4.0;
/// plotters divides font sizes by this before it writes them.
const FONT: f64 = 1.24;

/// A drawing in pixels.
pub(super) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
}

/// Where text hangs from its point.
#[derive(Clone, Copy)]
pub(super) enum Hang {
    Left,
    Center,
    Right,
}

/// Draws an SVG of `width` × `height` pixels.
pub(super) fn svg(width: u32, height: u32, draw: impl FnOnce(&Canvas)) -> String {
    let mut text = String::new();
    let (w, h) = (width * UNITS as u32, height * UNITS as u32);
    {
        let canvas = Canvas { area: SVGBackend::with_string(&mut text, (w, h)).into_drawing_area() };
        draw(&canvas);
        canvas.area.present().expect("text takes every drawing");
    }
    text.replacen(&format!("width=\"{w}\" height=\"{h}\""), &format!("width=\"{width}\" height=\"{height}\""), 1)
}

fn unit((x, y): (f64, f64)) -> (i32, i32) {
    ((x * UNITS).round() as i32, (y * UNITS).round() as i32)
}

impl Canvas<'_> {
    /// A line through points, `width` pixels wide.
    pub fn line(&self, points: &[(f64, f64)], color: RGBColor, width: f64, dashed: bool) {
        let style = color.stroke_width((width * UNITS).round() as u32);
        let pieces = if dashed { dashes(points) } else { vec![points.to_vec()] };
        for piece in pieces {
            let units: Vec<(i32, i32)> = piece.into_iter().map(unit).collect();
            self.area.draw(&PathElement::new(units, style)).expect("text takes every drawing");
        }
    }

    /// A filled shape that lets what is behind it through.
    pub fn shade(&self, points: &[(f64, f64)], color: RGBColor, opacity: f64) {
        let units: Vec<(i32, i32)> = points.iter().copied().map(unit).collect();
        self.area.draw(&Polygon::new(units, color.mix(opacity).filled())).expect("text takes every drawing");
    }

    /// Text of `size` pixels at a point, centred vertically on it.
    pub fn text(&self, text: &str, at: (f64, f64), size: f64, color: RGBColor, hang: Hang) {
        let h = match hang {
            Hang::Left => HPos::Left,
            Hang::Center => HPos::Center,
            Hang::Right => HPos::Right,
        };
        let style = ("sans-serif", size * FONT * UNITS).into_font().color(&color).pos(Pos::new(h, VPos::Center));
        self.area.draw(&Text::new(visible(text), unit(at), style)).expect("text takes every drawing");
    }

    /// A marker.
    pub fn marker(&self, marker: Marker, at: (f64, f64), color: RGBColor) {
        let (x, y) = at;
        let r = 3.0;
        match marker {
            Marker::Disc | Marker::Ring => {
                let filled = marker == Marker::Disc;
                let style = if filled { color.filled() } else { color.stroke_width((1.4 * UNITS) as u32) };
                self.area.draw(&Circle::new(unit(at), (r * UNITS) as i32, style)).expect("text takes every drawing");
            }
            Marker::Square => self.shade(&[(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)], color, 1.0),
            Marker::Triangle => self.shade(&[(x, y - r - 1.0), (x + r + 0.6, y + r), (x - r - 0.6, y + r)], color, 1.0),
            Marker::Diamond => {
                self.shade(&[(x, y - r - 1.0), (x + r + 1.0, y), (x, y + r + 1.0), (x - r - 1.0, y)], color, 1.0);
            }
            Marker::None => {}
            Marker::Cross => {
                self.line(&[(x - r, y - r), (x + r, y + r)], color, 1.6, false);
                self.line(&[(x - r, y + r), (x + r, y - r)], color, 1.6, false);
            }
        }
    }

    /// A grid line.
    pub fn grid(&self, from: (f64, f64), to: (f64, f64)) {
        self.line(&[from, to], GRID, 1.0, false);
    }

    /// A chart's title.
    pub fn title(&self, text: &str, at: (f64, f64)) {
        self.text(text, at, 14.0, INK, Hang::Left);
    }

    /// A tick label or an axis title.
    pub fn note(&self, text: &str, at: (f64, f64), hang: Hang) {
        self.text(text, at, 12.0, MUTED, hang);
    }
}

/// A polyline cut into dashes of five pixels with gaps of four.
fn dashes(points: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
    const PATTERN: [f64; 2] = [5.0, 4.0];
    let (mut pieces, mut piece, mut drawing, mut left) = (vec![], vec![], true, PATTERN[0]);
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let length = (to.0 - from.0).hypot(to.1 - from.1);
            if drawing && piece.is_empty() {
                piece.push(from);
            }
            if length <= left {
                left -= length;
                if drawing {
                    piece.push(to);
                }
                break;
            }
            let share = left / length;
            from = (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            if drawing {
                piece.push(from);
                pieces.push(std::mem::take(&mut piece));
            }
            drawing = !drawing;
            left = PATTERN[usize::from(!drawing)];
        }
    }
    pieces.push(piece);
    pieces.retain(|piece| piece.len() > 1);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_cover_five_ninths_of_a_line() {
        let pieces = dashes(&[(0.0, 0.0), (90.0, 0.0)]);
        let drawn: f64 = pieces.iter().map(|p| p[p.len() - 1].0 - p[0].0).sum();
        assert_eq!((pieces.len(), drawn), (10, 50.0));
    }
}
