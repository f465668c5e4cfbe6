//! Several drawings as one: a cell has a single result, and panels belong together.

use crate::report::Figure;
use crate::report::plot::{Chart, Dumbbell};

/// Something that was drawn.
pub trait Picture {
    /// The drawing.
    fn svg(&self) -> String;

    /// Its words and numbers.
    fn text(&self) -> String;
}

impl Picture for Chart {
    fn svg(&self) -> String {
        Self::svg(self)
    }

    fn text(&self) -> String {
        Self::text(self)
    }
}

impl Picture for Dumbbell {
    fn svg(&self) -> String {
        Self::svg(self)
    }

    fn text(&self) -> String {
        Self::text(self)
    }
}

impl Picture for Figure {
    fn svg(&self) -> String {
        self.svg.clone()
    }

    fn text(&self) -> String {
        Self::text(self)
    }
}

/// Drawings in rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gallery {
    columns: usize,
    pictures: Vec<(String, String)>,
}

/// Pixels between two drawings.
const BETWEEN: u32 = 18;

impl Gallery {
    /// Drawings, `columns` in a row.
    pub fn new<'a, P: Picture + 'a>(columns: usize, pictures: impl IntoIterator<Item = &'a P>) -> Self {
        let pictures = pictures.into_iter().map(|picture| (picture.svg(), picture.text())).collect();
        Self { columns: columns.max(1), pictures }
    }

    /// One drawing of them all.
    pub fn svg(&self) -> String {
        let (mut inner, mut width, mut top) = (String::new(), 0, 0);
        for row in self.pictures.chunks(self.columns) {
            let (mut left, mut height) = (0, 0);
            for (svg, _) in row {
                let (w, h) = size(svg);
                inner += &svg.replacen("<svg ", &format!("<svg x=\"{left}\" y=\"{top}\" "), 1);
                left += w + BETWEEN;
                height = height.max(h);
            }
            width = width.max(left.saturating_sub(BETWEEN));
            top += height + BETWEEN;
        }
        let height = top.saturating_sub(BETWEEN);
        format!(
            "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\">\n{inner}\n</svg>\n"
        )
    }

    /// The words and numbers of them all.
    pub fn text(&self) -> String {
        self.pictures.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

/// Width and height that an SVG of ours says it has.
fn size(svg: &str) -> (u32, u32) {
    let number = |name: &str| {
        let rest = svg.split_once(&format!("{name}=\""))?.1;
        rest.split('"').next()?.parse().ok()
    };
    (number("width").unwrap_or(0), number("height").unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::plot::{Axis, WIDTH};

    #[test]
    fn drawings_stand_in_rows_and_none_is_lost() {
        let charts = ["a", "b", "c"].map(|title| Chart::new(title, Axis::linear("x"), Axis::linear("y")));
        let gallery = Gallery::new(2, &charts);
        let (width, height) = size(&gallery.svg());
        let (_, one) = size(&charts[0].svg());
        assert_eq!((width, height), (2 * WIDTH + BETWEEN, 2 * one + BETWEEN));
        assert_eq!(gallery.svg().matches("<svg ").count(), 4);
        assert!(["a", "b", "c"].iter().all(|title| gallery.text().contains(title)));
    }
}
