//! One colour for one meaning, in notebooks, report and paper. Policies have Okabe and Ito's colours, which survive colour-blindness; levels
//! and controls have four darker ones; three greys a page may recolour for the dark.

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

/// Plum, of a level.
pub const PLUM: RGBColor = RGBColor(0x5B, 0x2A, 0x86);
/// Sand, of a level.
pub const SAND: RGBColor = RGBColor(0xB0, 0x8D, 0x2C);
/// Pine, of a level and of FLAP.
pub const PINE: RGBColor = RGBColor(0x1F, 0x5F, 0x5B);
/// Brown, of a level and of controls.
pub const BROWN: RGBColor = RGBColor(0x8C, 0x3B, 0x1F);

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
    const fn solid(color: RGBColor, marker: Marker) -> Self {
        Self { color, marker, dashed: false }
    }

    /// Ours.
    pub const OURS: Self = Self::solid(BLUE, Marker::Disc);
    /// Full.
    pub const FULL: Self = Self::solid(VERMILION, Marker::Square);
    /// Unaware.
    pub const UNAWARE: Self = Self::solid(ORANGE, Marker::Triangle);
    /// The Oracle, and whatever else knows the true worlds.
    pub const ORACLE: Self = Self::solid(GREEN, Marker::Diamond);
    /// Who collected the data.
    pub const BEHAVIOUR: Self = Self::solid(PURPLE, Marker::Cross);
    /// Drawing lots.
    pub const RANDOM: Self = Self::solid(MUTED, Marker::Ring);
    /// A mixture of Full and Ours.
    pub const MIXTURE: Self = Self { color: INK, marker: Marker::Ring, dashed: true };
    /// FLAP, made for a single decision.
    pub const FLAP: Self = Self::solid(PINE, Marker::Square);
    /// What was measured where theory says what must come out.
    pub const MEASURED: Self = Self::solid(INK, Marker::Disc);
    /// What theory says.
    pub const THEORY: Self = Self { color: MUTED, marker: Marker::None, dashed: true };
    /// The same measurement where its answer must turn.
    pub const CONTROL: Self = Self::solid(BROWN, Marker::Square);

    /// The same ink in every figure.
    pub fn of(method: Method) -> Self {
        match method {
            Method::Ours => Self::OURS,
            Method::Full => Self::FULL,
            Method::Unaware => Self::UNAWARE,
            Method::Oracle => Self::ORACLE,
            Method::Behaviour => Self::BEHAVIOUR,
            Method::Random => Self::RANDOM,
            Method::TrueMeans => Self { color: SKY, marker: Marker::Ring, dashed: true },
            Method::KnownForm => Self { color: BLUE, marker: Marker::Ring, dashed: true },
            Method::BestRule => Self { color: MUTED, marker: Marker::Diamond, dashed: true },
            Method::Mixture(_) => Self::MIXTURE,
        }
    }

    /// The ink of a level of the sensitive attribute: colours that no policy has.
    pub fn level(k: usize) -> Self {
        let inks = [(SAND, Marker::Triangle), (PLUM, Marker::Disc), (PINE, Marker::Diamond), (BROWN, Marker::Cross)];
        let (color, marker) = inks[k % inks.len()];
        Self { color, marker, dashed: k >= inks.len() }
    }

    /// Ours from ever more people: the same blue, darker.
    pub fn ours_by_size(k: usize) -> Self {
        let ramp = [RGBColor(0x8C, 0xC2, 0xE6), RGBColor(0x2E, 0x8F, 0xCC), RGBColor(0x00, 0x45, 0x78)];
        let markers = [Marker::Triangle, Marker::Disc, Marker::Diamond];
        Self::solid(ramp[k.min(2)], markers[k.min(2)])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_has_one_meaning() {
        let policies =
            [Ink::OURS, Ink::FULL, Ink::UNAWARE, Ink::ORACLE, Ink::BEHAVIOUR, Ink::RANDOM].map(|ink| ink.color);
        for (i, color) in policies.iter().enumerate() {
            assert!(!policies[..i].contains(color), "two policies share {color:?}");
        }
        for k in 0..4 {
            assert!(!policies.contains(&Ink::level(k).color), "level {k} has a policy's colour");
        }
        assert!(!policies.contains(&Ink::CONTROL.color) && !policies.contains(&Ink::FLAP.color));
    }
}
