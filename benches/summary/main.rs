//! What the other benchmarks found, in numbers a reader can use: an exponent an axis, the share of the machine's limits reached, memory.
//!
//! `cargo bench` runs it last. It reads criterion's samples, prints tables and draws `out/bench/*.svg`. `cargo bench --bench summary
//! -- --save` also writes `benches/scaling.json`, from which benches/README.md quotes.

#[path = "../measure/mod.rs"]
mod measure;

mod limit;
mod memory;
mod samples;
mod scaling;

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().any(|argument| argument == memory::MEASURE) {
        memory::measure();
        return Ok(());
    }
    // `cargo test --benches` only asks whether it starts.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let samples = samples::read(&samples::folder())?;
    if samples.is_empty() {
        println!("nothing was measured yet: run `cargo bench`");
        return Ok(());
    }
    let out = Path::new(env!("CARGO_MANIFEST_DIR")).join("out/bench");
    std::fs::create_dir_all(&out)?;
    println!("\nScaling: time ∝ size^exponent, with a 95 % interval\n");
    let scaling = scaling::report(&samples, &out)?;
    println!("\nLimits: an iteration of fitted Q beside what one core can do\n");
    let limits = limit::report(&samples);
    println!("\nMemory of a fit beyond its data\n");
    memory::report()?;
    if std::env::args().any(|argument| argument == "--save") {
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/scaling.json");
        std::fs::write(kept, format!("{:#}\n", serde_json::json!({"scaling": scaling, "limits": limits})))?;
    }
    println!("\ncharts: {}", out.display());
    Ok(())
}
