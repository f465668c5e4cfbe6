//! benches/README.md says of speed what was measured, and nothing else; README.md says nothing.

#[path = "../benches/peers/readme.rs"]
mod readme;

use serde_json::Value;
use std::path::Path;

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect(path)
}

/// What was measured; null where nothing was kept yet.
fn measured(path: &str) -> Value {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
    text.map_or(Value::Null, |text| serde_json::from_str(&text).expect("measurements are JSON"))
}

/// benches/README.md as it should be, given what was measured.
fn made(peers: &Value, scaling: &Value) -> String {
    readme::with_speed(&read("benches/README.md"), peers, scaling).expect("a section on speed")
}

#[test]
fn every_figure_of_speed_was_measured() {
    let (peers, scaling) = (measured("benches/peers/results.json"), measured("benches/scaling.json"));
    let stale = "the figures are not those kept: run benches/peers/run --readme";
    assert!(made(&peers, &scaling) == read("benches/README.md"), "benches/README.md: {stale}");
}

#[test]
fn a_figure_that_was_not_measured_is_seen() {
    let ratio = serde_json::json!({"median": 123_456.0, "low": 1.0, "high": 2.0});
    let row = |n: u64, d: u64| serde_json::json!({"what": "fitted Q iteration", "peer": "NumPy", "threads": 1, "size": {"n": n, "d": d}, "ratio": ratio});
    let peers = serde_json::json!({"machine": {}, "rows": [row(1000, 6), row(10_000, 15), row(2_000_000, 15)]});
    let figure = "123456 [1, 2]";
    assert!(made(&peers, &Value::Null).contains(figure));
}

#[test]
fn without_measurements_there_are_no_figures() {
    let made = made(&Value::Null, &Value::Null);
    let (_, section) = made.split_once("<!-- speed: written by benches/peers/run -->").expect("a section");
    assert!(section.trim_start().starts_with("<!-- speed: end -->"));
}

#[test]
fn outside_the_section_nothing_counts_times_faster() {
    let page = read("benches/README.md");
    let (before, rest) = page.split_once("<!-- speed: written").expect("a section on speed");
    let (_, after) = rest.split_once("<!-- speed: end -->").expect("its end");
    for text in [before, after, &read("README.md")] {
        assert!(!text.contains("times faster") && !text.contains("× faster"), "a claim of speed outside its section");
    }
}
