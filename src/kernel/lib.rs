//! The numerical kernel of counterfair: the objects of the theory, and nothing else.
//!
//! A person has a sensitive attribute Z ∈ {z⁽¹⁾, …, z⁽ᴷ⁾}, states S₁, S₂, …, and receives actions A₁, A₂, … and rewards R₁, R₂, …:
//!
//! ```text
//! S₁ = m(Z) + U₁,   Sₜ₊₁ = μₛ(Sₜ, Aₜ, Z) + Uₜ₊₁,   Rₜ = μᵣ(Sₜ, Aₜ, Z) + Uᴿₜ.
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`numeric`] | least squares with its rank reported, random streams, estimates |
//! | [`people`] | who was followed, validated once |
//! | [`model`] | the mechanism and its noise; `abduct`, `predict`, `simulate`; worlds whose mechanism is known |
//! | [`preprocess`] | what a policy may see: `alg:cf:1`, Oracle, Full, Unaware |
//! | [`learn`] | features, `alg:cf:2`, policies |
//! | [`evaluate`] | a policy followed in a known world: value, fair value, CF metric |
//!
//! A module names only modules above it. What is *estimated* about somebody's own data stands in the crate `counterfair`; here is what its theorems
//! are about. Labels such as `alg:cf:1` are those of the source document, Wang, Shi, Piette, Loftus, Zeng and Wu, *Counterfactually Fair Reinforcement
//! Learning via Sequential Data Preprocessing*.
//!
//! # From the source document to the code
//! Every statement that is checked by running this crate: its label and line there, what is checked (`cargo test --test theorems`), the code that runs,
//! and its theorem in `proofs/`.
//!
#![doc = include_str!("MAP.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
// The paper's symbols are the names of locals: γ beside y is how it is written there too.
#![allow(confusable_idents, mixed_script_confusables)]

pub mod evaluate;
pub mod learn;
pub mod model;
pub mod numeric;
pub mod people;
pub mod preprocess;
