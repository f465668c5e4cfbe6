//! A study as a page, with its numbers as JSON and CSV and its pictures as SVG.
//!
//! | file | holds |
//! |---|---|
//! | `index.html` | the page: seven answers in order |
//! | `study.json` | everything on it, versioned: see [`json`] |
//! | `N-name.csv`, `N-name.svg` | tables and pictures of section N |
//! | `policy.json` | the recommended policy, fitted to everybody; absent where none is recommended; its owner's alone |

mod folder;
mod guideline;
mod json;
mod page;
mod pictures;
mod tables;
mod words;

pub use folder::{FolderError, check, may_write, writable, write};
pub use json::json;
use page::html;
pub use words::{recommendation, sentence};

use super::Table;

/// A picture with its name and what it shows.
pub(super) struct Picture {
    /// Its file's name without ending: section and slug.
    name: String,
    /// The drawing.
    svg: String,
    /// What it shows.
    caption: String,
}

/// A table with its name.
pub(super) struct Numbers {
    /// Its file's name without ending: section and slug.
    name: String,
    /// The table.
    table: Table,
    /// Whether the page hides it until asked.
    folded: bool,
}
