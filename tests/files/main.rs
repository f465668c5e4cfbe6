//! People in files: what a well-formed file means, what is said of one that is not, what is written, and files that do not fit in memory.

mod errors;
#[path = "../folder.rs"]
mod folder;
mod formats;
mod larger_than_memory;
mod mutated;
mod parquet;
mod properties;
mod reading;
mod writing;
