//! Counterfactually fair reinforcement learning: learn, evaluate and audit fair policies for sequential decisions.
//!
//! A person has a sensitive attribute Z ∈ {z⁽¹⁾, …, z⁽ᴷ⁾}, states S₁, S₂, …, and receives actions A₁, A₂, … and rewards R₁, R₂, …:
//!
//! ```text
//! S₁ = m(Z) + U₁,   Sₜ₊₁ = μₛ(Sₜ, Aₜ, Z) + Uₜ₊₁,   Rₜ = μᵣ(Sₜ, Aₜ, Z) + Uᴿₜ.
//! ```
//!
//! A decision rule is *counterfactually fair* when the action it takes for a person is the one it would have taken had Z
//! been different, with the same noise U and the same past actions. Labels such as `alg:cf:1` are those of the source
//! document, Wang, Shi, Piette, Loftus, Zeng and Wu, *Counterfactually Fair Reinforcement Learning via Sequential Data
//! Preprocessing*.
//!
//! Modules depend on each other from left to right only:
//!
//! ```text
//! kernel (numeric → data → model → preprocess → learn → evaluate) → theory → reproduction → report
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]
// The paper's symbols are the names of locals: γ beside y is how it is written there too.
#![allow(confusable_idents, mixed_script_confusables)]

pub mod kernel;
pub mod report;
pub mod reproduction;
pub mod theory;
