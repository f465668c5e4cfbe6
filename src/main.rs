//! The `counterfair` command.

fn main() {}
