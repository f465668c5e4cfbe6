//! The ladder of noise models: exact reconstruction, the rung that is chosen, and what it does to unfairness.

mod choice;
mod exact;
mod metric;
mod peers;
mod real_studies;
mod sensitivity;
