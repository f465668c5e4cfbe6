//! People followed over time: validated once, then facts.

mod blocks;
mod labels;
mod panel;

pub use blocks::{Blocks, BlocksError, People, Shape, try_each};
pub use labels::{Labels, PRODUCT, Part, key};
pub use panel::{Panel, PanelBuilder, PanelError, Person, Stored};
