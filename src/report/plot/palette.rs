//! Colours that survive colour-blindness: Okabe and Ito's, and three greys that a page may recolour for the dark.

use crate::reproduction::Method;
use plotters::style::RGBColor;

/// Text and axes; a page shows it in its own ink.
pub const INK: RGBColor = RGBColor(0x1A, 0x1C, 0x20);
/// Tick labels and reference lines.
pub const MUTED: RGBColor = RGBColor(0x5F, 0x66, 0x70);
/// Grid lines.
pub const GRID: RGBColor = RGBColor(0xE3, 0xE5, 0xE8);

/// Blue.
pub const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xB2);
/// Vermilion.
pub const VERMILION: RGBColor = RGBColor(0xD5, 0x5E, 0x00);
/// Orange.
pub const ORANGE: RGBColor = RGBColor(0xE6, 0x9F, 0x00);
/// Bluish green.
pub const GREEN: RGBColor = RGBColor(0x00, 0x9E, 0x73);
/// Reddish purple.
pub const PURPLE: RGBColor = RGBColor(0xCC, 0x79, 0xA7);
/// Sky blue.
pub const SKY: RGBColor = RGBColor(0x56, 0xB4, 0xE9);

/// The shape that marks a point: with the colour, but enough without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// A disc.
    Disc,
    /// A ring.
    Ring,
    /// A square.
    Square,
    /// A triangle.
    Triangle,
    /// A cross.
    Cross,
    /// A diamond.
    Diamond,
    /// Nothing: for curves drawn through many points.
    None,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ink {
    /// Its colour.
    pub color: RGBColor,
    /// Its marker.
    pub marker: Marker,
    /// Whether its line is broken.
    pub dashed: bool,
}

impl Ink {
    /// The same ink in every figure.
    pub fn of(method: Method) -> Self {
        let (color, marker, dashed) = match method {
            Method::Ours => (BLUE, Marker::Disc, false),
            Method::Full => (VERMILION, Marker::Square, false),
            Method::Unaware => (ORANGE, Marker::Triangle, false),
            Method::Oracle => (GREEN, Marker::Diamond, false),
            Method::Behaviour => (PURPLE, Marker::Cross, false),
            Method::Random => (MUTED, Marker::Ring, false),
            Method::TrueMeans => (SKY, Marker::Ring, true),
            Method::KnownForm => (BLUE, Marker::Ring, true),
            Method::BestRule => (MUTED, Marker::Diamond, true),
            Method::Mixture(_) => (INK, Marker::Ring, true),
        };
        Self { color, marker, dashed }
    }

    /// The ink of a sensitive level, or of whatever is counted.
    pub fn level(k: usize) -> Self {
        let inks =
            [(ORANGE, Marker::Triangle), (BLUE, Marker::Disc), (GREEN, Marker::Diamond), (PURPLE, Marker::Cross)];
        let (color, marker) = inks[k % inks.len()];
        Self { color, marker, dashed: k >= inks.len() }
    }

    /// The same colour for a curve through many points.
    pub fn curve(self) -> Self {
        Self { marker: Marker::None, ..self }
    }

    /// The same ink with a broken line.
    pub fn dashed(self) -> Self {
        Self { dashed: true, ..self }
    }
}
