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
//! # From a file to a decision
//! ```
//! use counterfair::prelude::*;
//!
//! # fn main() -> Result<(), counterfair::fair::Error> {
//! # let folder = std::env::temp_dir().join(format!("counterfair-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder).unwrap();
//! # let (study, file) = (folder.join("study.csv"), folder.join("policy.json"));
//! # use counterfair::kernel::{model::{Exogenous, simulate, worlds::Linear}, numeric::Stream};
//! # let world = Linear::new(1.0);
//! # let panel = simulate(&world, &Exogenous::draw(&world, 200, 8, Stream::new(1)));
//! # counterfair::files::write(&study, &panel, &Columns::default(), RowConvention::Incoming)?;
//! let people = People::read(&study)?;
//! Learner::new(Method::Ours).learn(&people)?.save(&file)?;
//!
//! let mut desk = Policy::load(&file)?.deploy();
//! let first = desk.decide(&Request::first("ann", "1", [0.4]))?;
//! println!("{} {:?}", first.action, first.counterfactual_states);
//! let next = desk.decide(&Request::after("ann", "1", &first.action, [-0.2]))?;
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # let _ = next;
//! # Ok(())
//! # }
//! ```
//!
//! # Where things are
//! A module names only modules to its left:
//!
//! ```text
//! kernel → files → nets → estimate → audit → fair → theory → reproduction → report
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`fair`] | the front door: people in, a policy out, saved, loaded, audited, deployed |
//! | [`kernel`] | the numerical kernel, a crate of its own: the objects of the theory |
//! | [`files`] | people and policies in files, read defensively and written whole or not at all |
//! | [`nets`] | the paper's networks |
//! | [`estimate`] | what is learned from recorded data: mechanisms, noise, the stable learner |
//! | [`audit`] | what a policy is worth and how fair it is, from recorded data |
//! | `theory` | exact optima, worlds that can be listed, theorems as checks, and errata (feature `theory`) |
//! | `reproduction`, `report` | the paper's figures and tables, and how they are shown (feature `report`) |
#![forbid(unsafe_code)]
#![warn(missing_docs)]
// A type that can be reached can be named.
#![warn(unnameable_types)]
// The paper's symbols are the names of locals: γ beside y is how it is written there too.
#![allow(confusable_idents, mixed_script_confusables)]

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use counterfair_kernel as kernel;

pub mod audit;
pub mod estimate;
pub mod fair;
pub mod files;
pub mod nets;
pub mod prelude;
#[cfg(feature = "report")]
pub mod report;
#[cfg(feature = "report")]
pub use report::notebook;
#[cfg(feature = "report")]
pub mod reproduction;
#[cfg(feature = "theory")]
pub mod theory;
