//! What the repository says of itself is so: its rooms, labels and proofs, its README, its notebooks, its tables of speed.

mod architecture;
#[path = "../folder.rs"]
mod folder;
mod labels;
mod notebooks;
mod readme;
mod speed;
