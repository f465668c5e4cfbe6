//! How results are shown: tables, charts, pages, the paper's inputs, and display in notebooks.
//!
//! | what | where |
//! |---|---|
//! | numbers and words as text | [`number`], `text`, `comma_separated` |
//! | a table in four forms; charts | [`Table`], [`plot`] |
//! | a section per figure or table of the paper | `sim_all`, `regret`, `semi`, `real_data`, `learners`, `claims`, each with its panels |
//! | what matters of a section; a measured slope | [`Finding`], [`Rate`] |
//! | the report as pages and as one screen | [`Report`], `screen` |
//! | the page of a study | [`study`] |
//! | what a notebook shows | [`notebook`] |
//! | what `paper/` includes | [`paper`] |

mod claims;
mod comma_separated;
mod finding;
mod learners;
mod manifest;
pub mod notebook;
pub mod number;
mod page;
pub mod paper;
pub mod plot;
mod rate;
mod real_data;
mod regret;
mod regret_panels;
mod screen;
mod semi;
mod sim_all;
mod sim_all_panels;
pub mod study;
mod table;
mod text;

pub use claims::theorems;
pub use finding::{Agreement, Finding};
pub use learners::learners;
pub use manifest::Manifest;
pub use page::{Figure, Report, Section};
pub use rate::Rate;
pub use real_data::real_data;
pub use regret::regret;
pub use semi::semi;
pub use sim_all::sim_all;
pub use table::Table;
pub use text::wrapped;
use text::{escape, safe_name};
