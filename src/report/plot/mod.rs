//! Charts as SVG: a few kinds, drawn the same way in the report, the notebooks and the paper.
//!
//! Bands and bars are 95 % intervals. Lines are labelled where they end. Text and axes use three fixed greys, which a page may recolour with a
//! style sheet: `svg [fill="#1A1C20"] { fill: … }`.

mod axis;
mod canvas;
mod chart;
mod dumbbell;
mod forest;
mod palette;

pub use axis::{Axis, Spacing};
pub use chart::{Chart, Reference, SIZE, Series, Span, WIDTH};
pub use dumbbell::{Dumbbell, Pair};
pub use forest::{Forest, ForestRow};
pub use palette::{
    BLUE, BROWN, GREEN, GRID, INK, Ink, MUTED, Marker, ORANGE, PINE, PLUM, PURPLE, SAND, SKY, VERMILION,
};
