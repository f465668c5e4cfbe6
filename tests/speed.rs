//! The README says of speed what was measured, and nothing else.

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

/// The README as it should be, given what was measured.
fn made(peers: &Value, scaling: &Value) -> String {
    readme::with_speed(&read("README.md"), peers, scaling).expect("the README has a section on speed")
}

#[test]
fn every_figure_of_speed_in_the_readme_was_measured() {
    let made = made(&measured("benches/peers/results.json"), &measured("benches/scaling.json"));
    assert!(made == read("README.md"), "the README's figures are not those kept: run benches/peers/run --readme");
}

#[test]
fn a_figure_that_was_not_measured_is_seen() {
    let ratio = serde_json::json!({"median": 123_456.0, "low": 1.0, "high": 2.0});
    let row = serde_json::json!({"what": "fitted Q iteration", "peer": "NumPy", "threads": 1, "size": {"n": 1000, "d": 6}, "ratio": ratio});
    let made = made(&serde_json::json!({"machine": {}, "rows": [row]}), &Value::Null);
    assert!(made.contains("123456 [1, 2]") && made != read("README.md"));
}

#[test]
fn without_measurements_there_are_no_figures() {
    let made = made(&Value::Null, &Value::Null);
    let (_, section) = made.split_once("<!-- speed: written by benches/peers/run -->").expect("a section");
    assert!(section.trim_start().starts_with("<!-- speed: end -->"));
}

#[test]
fn outside_the_section_nothing_counts_times_faster() {
    let readme = read("README.md");
    let (before, rest) = readme.split_once("<!-- speed: written").expect("a section on speed");
    let (_, after) = rest.split_once("<!-- speed: end -->").expect("its end");
    for text in [before, after] {
        assert!(!text.contains("times faster") && !text.contains("× faster"), "a claim of speed outside its section");
    }
}
