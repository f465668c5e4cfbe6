//! `counterfair study`: the command and its files, its verdicts, its intervals, and what it says of real studies.

mod agrees;
mod command;
mod coverage;
mod fairness;
#[path = "../command_line/folder.rs"]
mod folder;
mod honest;
mod real;
