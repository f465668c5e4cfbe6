//! The paper's runs: the runner and its files, the tables of a small reproduction, the report's folder, the text of the paper, the simulated trial.

mod experiment;
#[path = "../folder.rs"]
mod folder;
mod paper;
mod report_folder;
mod runs;
mod simulated_trial;
