//! The only place that formats or writes: tables, charts, and the report that holds them.

mod claims;
mod comma_separated;
mod learners;
mod manifest;
pub mod notebook;
pub mod number;
mod page;
pub mod paper;
pub mod plot;
mod real_data;
mod regret;
mod regret_panels;
mod semi;
mod sim_all;
mod sim_all_panels;
pub mod study;
mod table;

pub use claims::{Detail, claims, claims_listing, claims_table};
pub use learners::learners;
pub use manifest::Manifest;
pub use page::{Figure, Report, Section};
pub use real_data::{additivity_table, paper_table, real_data};
pub use regret::regret;
pub use semi::semi;
pub use sim_all::sim_all;
pub use table::Table;

/// Text with what means something to HTML written out.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
