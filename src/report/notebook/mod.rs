//! What a value looks like at the end of a notebook's cell, and how a cell ends when something went wrong.
//!
//! `use counterfair::notebook::prelude::*;` in the first cell is all a notebook needs: results of the library then show themselves, tables as
//! HTML with plain text beside it, charts as SVG drawn by the report's own code, and `.or_stop()` ends a cell with the words of an error.

mod audited;
mod check;
mod claims;
mod gallery;
mod grid;
mod judged;
mod learned;
mod people;
pub mod prelude;
mod rules;

pub use audited::{against_correlation, fairness, followers, noise_models, treated, worth};
pub use check::{Check, largest_difference};
pub(super) use claims::slope_chart;
pub use claims::slope_panels;
pub use gallery::{Captioned, Gallery, Picture};
pub use grid::{rates_over_size, unfairness_by_strength};
pub use judged::{comparison, rates, shares};
pub use learned::{dependence, support};
pub use people::worlds;
pub use rules::{Followed, Rule, advantage, follow};

use super::plot::{Chart, Dumbbell};
use super::{Figure, Table};
use crate::kernel::numeric::Estimate;
use std::fmt;

/// One thing in the forms that a notebook may choose from, the best first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content(Vec<(&'static str, String)>);

impl Content {
    /// A table: HTML, and text for what cannot show it.
    pub fn table(table: &Table) -> Self {
        Self(vec![("text/html", table.notebook_html()), ("text/plain", table.terminal())])
    }

    /// A drawing, and its words and numbers for what cannot show it.
    pub fn picture(svg: &str, text: &str) -> Self {
        // A picture carries its own paper: its ink is dark, and a notebook's page may be too.
        let svg = svg.replacen("<svg ", "<svg style=\"background:#ffffff\" ", 1);
        Self(vec![("image/svg+xml", svg), ("text/plain", text.into())])
    }

    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self(vec![("text/plain", text.into())])
    }
}

/// The lines by which the kernel tells content from what a cell prints.
impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (mime, text) in &self.0 {
            writeln!(f, "EVCXR_BEGIN_CONTENT {mime}\n{}\nEVCXR_END_CONTENT", text.trim_end())?;
        }
        Ok(())
    }
}

/// A result that shows itself when it ends a cell.
pub trait Show {
    /// What is shown.
    fn content(&self) -> Content;

    /// Called by the kernel.
    fn evcxr_display(&self) {
        print!("{}", self.content());
    }
}

impl Show for Content {
    fn content(&self) -> Content {
        self.clone()
    }
}

/// Nothing to show: a cell that ends in a check.
impl Show for () {
    fn content(&self) -> Content {
        Content(vec![])
    }
}

impl Show for Table {
    fn content(&self) -> Content {
        Content::table(self)
    }
}

impl Show for Chart {
    fn content(&self) -> Content {
        Content::picture(&self.svg(), &self.text())
    }
}

impl Show for Dumbbell {
    fn content(&self) -> Content {
        Content::picture(&self.svg(), &self.text())
    }
}

impl Show for Figure {
    fn content(&self) -> Content {
        Content::picture(&self.svg, &self.text())
    }
}

impl Show for Gallery {
    fn content(&self) -> Content {
        Content::picture(&self.svg(), &self.text())
    }
}

impl Show for Captioned {
    fn content(&self) -> Content {
        Content::picture(&self.svg, &self.text)
    }
}

impl Show for Estimate {
    fn content(&self) -> Content {
        Content::text(format!("{self} ({} units)", self.count))
    }
}

/// A value, or the end of the cell.
impl<T: Show, E: fmt::Display> Show for Result<T, E> {
    fn content(&self) -> Content {
        match self {
            Ok(value) => value.content(),
            Err(error) => stop(error),
        }
    }
}

/// Going on with a value, or ending the cell with the words of the error.
pub trait OrStop {
    /// What is there when all went well.
    type Value;

    /// The value; when there is none, the process that runs the cells ends with the words of the error.
    fn or_stop(self) -> Self::Value;
}

impl<T, E: fmt::Display> OrStop for Result<T, E> {
    type Value = T;

    fn or_stop(self) -> T {
        self.unwrap_or_else(|error| stop(&error))
    }
}

/// Ends the process that runs the cells. A panic cannot unwind through the kernel's own frames: it aborts, and two pages of backtrace bury the
/// words of the error. The kernel passes lines on from another thread and does not wait for it when the process has ended: a line that comes
/// last may be lost, so it is given time.
fn stop(error: &dyn fmt::Display) -> ! {
    eprintln!("error: {error}");
    std::thread::sleep(std::time::Duration::from_millis(500));
    std::process::exit(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_wrapped_in_the_kernels_lines_best_form_first() {
        let mut table = Table::new("Two.", 1, ["method", "value"]);
        table.push(["Full", "0.5"]);
        let text = table.content().to_string();
        let html = text.find("EVCXR_BEGIN_CONTENT text/html\n<p>Two.</p>\n<table").expect("HTML first");
        let plain = text.find("EVCXR_END_CONTENT\nEVCXR_BEGIN_CONTENT text/plain\nTwo.").expect("text second");
        assert!(html < plain && text.ends_with("EVCXR_END_CONTENT\n"), "{text}");
    }

    #[test]
    fn a_result_shows_its_value() {
        let estimate = Estimate::of(&[1.0, 2.0, 3.0]);
        assert_eq!(Ok::<_, String>(estimate).content(), estimate.content());
    }
}
