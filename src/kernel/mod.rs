//! The numerical kernel: from a panel of people to counterfactual states, action values, policies and what they are worth.
//!
//! ```text
//! numeric → data → model → preprocess → learn → evaluate
//! ```

pub mod data;
pub mod evaluate;
pub mod learn;
pub mod model;
pub mod numeric;
pub mod preprocess;
