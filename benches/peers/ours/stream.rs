//! Reading numbers from memory, as fast as one thread can.

use super::measure::clock::timed;
use super::measure::stream::read;
use serde::Deserialize;
use serde_json::{Value, json};
use std::error::Error;
use std::hint::black_box;

/// Reads so many numbers, `repeat` times.
#[derive(Deserialize)]
pub struct Stream {
    numbers: usize,
    repeat: usize,
}

impl Stream {
    pub fn answer(self) -> Result<Value, Box<dyn Error>> {
        let numbers = vec![1.5; self.numbers];
        let (sum, time) = timed(self.repeat, || read(black_box(&numbers)));
        Ok(json!({"time": time, "sum": sum}))
    }
}
