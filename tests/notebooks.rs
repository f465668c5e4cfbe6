//! The committed notebooks, as files: executed from top to bottom, without an error, in small cells, with text beside every picture.
//!
//! That they still give what they show is the business of `notebooks/run --check`; this looks at what is there, without a kernel.

use counterfair::reproduction::Label;
use counterfair::theory::claims;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Lines that a cell may have.
const CELL_LINES: usize = 25;

/// Bytes of text that may stand without a table or picture.
const SHORT: usize = 120;

struct Notebook {
    name: String,
    cells: Vec<Value>,
}

impl Notebook {
    fn code(&self) -> impl Iterator<Item = (usize, &Value)> {
        self.cells.iter().filter(|cell| cell["cell_type"] == "code").enumerate().map(|(i, cell)| (i + 1, cell))
    }

    fn prose(&self) -> String {
        self.cells
            .iter()
            .filter(|cell| cell["cell_type"] == "markdown")
            .map(|cell| text(&cell["source"]) + "\n")
            .collect()
    }
}

/// A text that the format keeps whole or in lines.
fn text(value: &Value) -> String {
    match value {
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        other => other.as_str().unwrap_or_default().to_string(),
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("notebooks")
}

fn notebooks() -> Vec<Notebook> {
    let files =
        fs::read_dir(folder()).expect("a folder of notebooks").map(|entry| entry.expect("a readable folder").path());
    let mut paths: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|e| e == "ipynb")).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let file: Value = serde_json::from_str(&fs::read_to_string(path).expect("a readable notebook")).expect("JSON");
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Notebook { name, cells: file["cells"].as_array().expect("cells").clone() }
    };
    paths.iter().map(read).collect()
}

#[test]
fn there_are_seven_and_they_are_numbered() {
    let numbers: Vec<String> = notebooks().iter().map(|n| n.name.split('-').next().unwrap_or("").to_string()).collect();
    assert_eq!(numbers, ["1", "2", "3", "4", "5", "6", "7"]);
}

#[test]
fn every_cell_was_executed_once_from_top_to_bottom_without_an_error() {
    for notebook in notebooks() {
        for (number, cell) in notebook.code() {
            assert_eq!(cell["execution_count"], number, "{}, code cell {number}", notebook.name);
            for output in cell["outputs"].as_array().expect("outputs") {
                assert_ne!(output["output_type"], "error", "{}, code cell {number}", notebook.name);
                assert_ne!(
                    output["name"],
                    "stderr",
                    "{}, code cell {number}: {}",
                    notebook.name,
                    text(&output["text"])
                );
            }
        }
    }
}

#[test]
fn cells_are_short_and_the_first_one_names_the_library() {
    for notebook in notebooks() {
        for (number, cell) in notebook.code() {
            let lines = text(&cell["source"]).lines().count();
            assert!(lines <= CELL_LINES, "{}, code cell {number} has {lines} lines", notebook.name);
        }
        let (_, first) = notebook.code().next().expect("a code cell");
        assert!(
            text(&first["source"]).starts_with(
                ":dep counterfair = { path = \"..\", default-features = false, features = [\"report\"] }\n"
            ),
            "{}",
            notebook.name
        );
    }
}

#[test]
fn every_table_and_picture_has_words_beside_it() {
    let (mut tables, mut pictures) = (0, 0);
    for notebook in notebooks() {
        for (number, cell) in notebook.code() {
            for output in cell["outputs"].as_array().expect("outputs") {
                let Some(data) = output["data"].as_object() else { continue };
                tables += usize::from(data.contains_key("text/html"));
                pictures += usize::from(data.contains_key("image/svg+xml"));
                let words = data.get("text/plain").map(text).unwrap_or_default();
                assert!(!words.trim().is_empty(), "{}, code cell {number}", notebook.name);
                // What does not show itself is printed in Rust's debugging form, which is no way to show a chart.
                let shown = data.len() > 1 || words.len() < SHORT;
                assert!(shown, "{}, code cell {number} shows {words}", notebook.name);
            }
        }
    }
    assert!(tables >= 20 && pictures >= 10, "{tables} tables and {pictures} pictures");
}

#[test]
fn links_lead_somewhere_and_nothing_names_a_place_on_one_machine() {
    for notebook in notebooks() {
        for link in notebook.prose().split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(folder().join(link).exists(), "{} links to {link}", notebook.name);
        }
        let whole = fs::read_to_string(folder().join(&notebook.name)).expect("a readable notebook");
        for place in ["/root/", "/home/", "/Users/", "/tmp/"] {
            assert!(!whole.contains(place), "{} names {place}", notebook.name);
        }
    }
}

/// Words such as `thm:regret` and `alg:cf:1`, wherever they stand.
fn labels_in(text: &str) -> BTreeSet<String> {
    const KINDS: [&str; 10] = ["thm", "alg", "eq", "def", "asm", "fig", "table", "rate", "bed", "lemma"];
    let of_a_label = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '_' | '-');
    let words = text.split(|c: char| !of_a_label(c)).map(|word| word.trim_matches([':', '-']));
    words.filter(|word| word.split_once(':').is_some_and(|(kind, _)| KINDS.contains(&kind))).map(String::from).collect()
}

#[test]
fn labels_are_found_in_prose_and_code() {
    let found =
        labels_in("see `thm:regret`, fig:sim_all; (`alg:cf:1`): \"rate:end-to-end\" and std::mem, model::worlds");
    assert_eq!(
        found.iter().map(String::as_str).collect::<Vec<_>>(),
        ["alg:cf:1", "fig:sim_all", "rate:end-to-end", "thm:regret"]
    );
}

#[test]
fn every_label_in_a_notebook_is_one_of_a_claim_or_of_a_figure() {
    let claims = claims();
    let mut known: BTreeSet<String> = claims.iter().map(|claim| claim.label.to_string()).collect();
    known.extend(claims.iter().flat_map(|claim| claim.assumes).map(|assumed| assumed.to_string()));
    known.extend(Label::EVERY.iter().map(Label::to_string));
    for notebook in notebooks() {
        let code: String = notebook.code().map(|(_, cell)| text(&cell["source"]) + "\n").collect();
        let unknown: Vec<String> =
            labels_in(&(notebook.prose() + &code)).into_iter().filter(|l| !known.contains(l)).collect();
        assert!(unknown.is_empty(), "{} names {unknown:?}", notebook.name);
    }
}
