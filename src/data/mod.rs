//! Panels of people followed over time: validated once, then facts.

mod labels;
mod panel;

pub use labels::Labels;
pub use panel::{Panel, PanelBuilder, PanelError, Person};
