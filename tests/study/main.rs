//! `counterfair study`: the command and its files, its verdicts, and what it says of real studies.

mod agrees;
mod command;
mod fairness;
#[path = "../folder.rs"]
mod folder;
mod honest;
mod real;
mod said;
