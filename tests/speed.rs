//! The README says of speed what was measured, and nothing else.

#[path = "../benches/peers/readme.rs"]
mod readme;

use serde_json::Value;
use std::path::Path;

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect(path)
}

fn measured(path: &str) -> Value {
    serde_json::from_str(&read(path)).expect("measurements are JSON")
}

#[test]
fn every_figure_of_speed_in_the_readme_was_measured() {
    let (peers, scaling) = (measured("benches/peers/results.json"), measured("benches/scaling.json"));
    let readme = read("README.md");
    let made = readme::with_speed(&readme, &peers, &scaling).expect("the README has a section on speed");
    assert!(
        made == readme,
        "the README's section on speed is not that of benches/peers/results.json: run benches/peers/run --readme"
    );
}

#[test]
fn a_figure_that_was_not_measured_is_seen() {
    let (mut peers, scaling) = (measured("benches/peers/results.json"), measured("benches/scaling.json"));
    peers["rows"][0]["ratio"]["median"] = (123_456.0).into();
    let readme = read("README.md");
    let made = readme::with_speed(&readme, &peers, &scaling).expect("the README has a section on speed");
    assert!(made != readme && made.contains("123456"));
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
