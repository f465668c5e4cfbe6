//! What the benchmarks share: clocks, data of any size, how criterion is set up.
#![allow(dead_code, reason = "every benchmark uses another part")]

pub mod clock;
pub mod data;
pub mod processor_time;
pub mod stream;
