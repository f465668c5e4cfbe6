//! People followed over time: validated once, then facts.

mod labels;
mod panel;

pub use labels::{Labels, PRODUCT, Part, key};
pub use panel::{Panel, PanelBuilder, PanelError, Person, Stored};
