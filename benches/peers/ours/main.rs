//! Our side of `benches/peers/run`: one JSON request a line on standard input, one JSON answer a line on standard output.
//!
//! The script starts it once and asks in turns with the peer, so both meet the same moments of the machine.

#[path = "../../measure/mod.rs"]
mod measure;
mod mechanism;
mod network;
mod pipeline;
#[path = "../readme.rs"]
mod readme;
mod stream;
mod tuples;

use serde::Deserialize;
use serde_json::{Value, json};
use std::error::Error;
use std::io::{BufRead, Write};
use std::path::Path;

/// What may be asked.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Request {
    FittedQ(tuples::FittedQ),
    Simulate(pipeline::Simulate),
    Pipeline(pipeline::Pipeline),
    Network(network::Steps),
    Stream(stream::Stream),
    Read(mechanism::Read),
    Splines(mechanism::Splines),
    /// The figures of speed in README.md and benches/README.md, from the measurements there are.
    Readme,
}

fn answer(line: &str, loaded: &mut tuples::Loaded) -> Result<Value, Box<dyn Error>> {
    match serde_json::from_str(line)? {
        Request::FittedQ(request) => request.answer(loaded),
        Request::Simulate(request) => request.answer(),
        Request::Pipeline(request) => request.answer(),
        Request::Network(request) => request.answer(),
        Request::Stream(request) => request.answer(),
        Request::Read(request) => request.answer(),
        Request::Splines(request) => request.answer(),
        Request::Readme => write_readme(),
    }
}

fn write_readme() -> Result<Value, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let measured = |path: &str| -> Result<Value, Box<dyn Error>> {
        let path = root.join("benches").join(path);
        Ok(if path.exists() { serde_json::from_slice(&std::fs::read(path)?)? } else { Value::Null })
    };
    let (peers, scaling) = (measured("peers/results.json")?, measured("scaling.json")?);
    let page = root.join("benches/README.md");
    let made = readme::with_speed(&std::fs::read_to_string(&page)?, &peers, &scaling);
    std::fs::write(&page, made.ok_or("benches/README.md has no section on speed")?)?;
    Ok(json!({}))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut loaded = tuples::Loaded::default();
    for line in std::io::stdin().lock().lines() {
        let answer = answer(&line?, &mut loaded).unwrap_or_else(|error| json!({"error": error.to_string()}));
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}
