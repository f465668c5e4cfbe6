//! Test beds: decision processes in which every assumption of the theory holds exactly and every constant can be computed.
//!
//! | bed | state | why it is complete | what is exact |
//! |---|---|---|---|
//! | [`Hat`] | [0, 1] | transitions are mixtures over the nodes of hat functions | Q*, Q^π, regret, λ₀, L_Q, margin |
//! | [`Circle`] | angles of two worlds | their difference moves on a finite set, noise has rank three | Q*, J*, states of `alg:cf:1`, unfairness |
//! | [`Lattice`] | integers of two worlds | finite | everything, by enumeration |

mod circle;
mod hat;
mod lattice;
mod tent;

pub use circle::{Circle, CircleFit, Harmonics, Reader, Weights};
pub use hat::{Hat, HatRule};
pub use lattice::{Lattice, Pairs};
pub use tent::{Axis, Tent, TentError};
