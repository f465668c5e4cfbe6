//! Drawings with their captions, alone or several as one: a cell has a single result, and panels belong together.

use crate::report::plot::{Chart, Dumbbell};
use crate::report::{Figure, escape};

/// Something that was drawn.
pub trait Picture {
    /// The drawing as it stands beside others.
    fn svg(&self) -> String;

    /// The drawing as it stands alone, as wide as the text.
    fn wide(&self) -> String {
        self.svg()
    }

    /// Its words and numbers.
    fn text(&self) -> String;

    /// The drawing with a caption from which alone it can be understood.
    fn caption(&self, caption: &str) -> Captioned {
        Captioned { svg: captioned(&self.wide(), caption), text: format!("{caption}\n\n{}", self.text()) }
    }
}

/// Width and height of a chart that stands alone.
const WIDE: (u32, u32) = (680, 390);

impl Picture for Chart {
    fn svg(&self) -> String {
        Self::svg(self)
    }

    fn wide(&self) -> String {
        self.svg_at(WIDE.0, WIDE.1)
    }

    fn text(&self) -> String {
        Self::text(self)
    }
}

impl Picture for Dumbbell {
    fn svg(&self) -> String {
        Self::svg(self)
    }

    fn wide(&self) -> String {
        self.svg_at(WIDE.0)
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

/// A drawing with its caption below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captioned {
    pub(super) svg: String,
    pub(super) text: String,
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
}

impl Picture for Gallery {
    fn svg(&self) -> String {
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
        framed(width, top.saturating_sub(BETWEEN), &inner)
    }

    fn text(&self) -> String {
        self.pictures.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

fn framed(width: u32, height: u32, inner: &str) -> String {
    format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\">\n{inner}\n</svg>\n"
    )
}

/// Pixels of a caption's line, of a letter in it, and above the first line.
const LINE: u32 = 18;
const LETTER: f64 = 6.4;
const ABOVE: u32 = 10;

/// A drawing with lines of text below it. The group says how high it is, so that a page may take it out and set the words itself.
fn captioned(svg: &str, caption: &str) -> String {
    let (width, height) = size(svg);
    let lines = wrapped(caption, (f64::from(width) / LETTER) as usize);
    let room = ABOVE + LINE * lines.len() as u32;
    let line = |(i, words): (usize, &String)| {
        let y = height + ABOVE + LINE * i as u32 + 12;
        format!(
            "<text x=\"4\" y=\"{y}\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#1A1C20\">{}</text>\n",
            escape(words)
        )
    };
    let text: String = lines.iter().enumerate().map(line).collect();
    framed(width, height + room, &format!("{svg}<g class=\"caption\" data-height=\"{room}\">\n{text}</g>"))
}

/// Words in lines of at most so many letters.
fn wrapped(text: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is a first line");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= letters {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.into());
        }
    }
    lines
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

    #[test]
    fn a_caption_is_below_the_drawing_and_first_in_words() {
        let chart = Chart::new("a", Axis::linear("x"), Axis::linear("y"));
        let caption = "Mean of something & its interval, ".repeat(8);
        let shown = chart.caption(caption.trim());
        let (width, height) = size(&shown.svg);
        let lines = shown.svg.matches("<text x=\"4\"").count() as u32;
        assert!((3..=5).contains(&lines), "{lines} lines");
        assert_eq!((width, height), (WIDE.0, WIDE.1 + ABOVE + LINE * lines));
        assert!(shown.svg.contains(&format!("data-height=\"{}\"", ABOVE + LINE * lines)));
        assert!(shown.svg.contains("something &amp; its"));
        assert!(shown.text.starts_with("Mean of something & its") && shown.text.contains("\n\na\ny against x"));
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("longerthanfits a", 4), ["longerthanfits", "a"]);
    }
}
