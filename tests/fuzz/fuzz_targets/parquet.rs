//! Any bytes are a panel or an error when they are called Parquet; a panel that was accepted is finite.
#![no_main]

use counterfair::files::{ReadOptions, RowConvention};
use counterfair::files::read_parquet;
use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use std::sync::OnceLock;

/// One file for the process, in memory where there is such a folder: the reader seeks, so that it wants a file.
fn file() -> &'static PathBuf {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(|| {
        let memory = PathBuf::from("/dev/shm");
        let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
        folder.join(format!("counterfair-fuzz-{}.parquet", std::process::id()))
    })
}

fuzz_target!(|input: &[u8]| {
    let Some((choice, bytes)) = input.split_first() else { return };
    let rows = if choice & 1 == 0 { RowConvention::Incoming } else { RowConvention::Outgoing };
    std::fs::write(file(), bytes).expect("a folder that can be written to");
    let Ok(read) = read_parquet(file(), &ReadOptions { rows, ..ReadOptions::default() }) else { return };
    assert!(read.panel.states().iter().chain(read.panel.rewards()).all(|x| x.is_finite()));
});
