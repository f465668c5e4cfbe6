//! How often intervals cover, in worlds where the truth is known.

pub mod unfairness;
