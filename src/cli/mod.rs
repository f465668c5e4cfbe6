//! Subcommands, one file each.

pub mod reproduce;
