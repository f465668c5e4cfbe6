//! The committed notebooks, as files: executed from top to bottom, without an error, in small cells, with text beside every picture.
//!
//! That they still give what they show is the business of `notebooks/run --check`; this looks at what is there, without a kernel.

use counterfair::reproduction::Label;
use counterfair::theory::errata::{ELSEWHERE, errata};
use counterfair::theory::theorems::theorems;
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
fn there_are_nine_and_they_are_numbered() {
    let numbers: Vec<String> = notebooks().iter().map(|n| n.name.split('-').next().unwrap_or("").to_string()).collect();
    assert_eq!(numbers, ["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
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
fn cells_are_short_and_the_first_two_name_the_library_and_the_parameters() {
    for notebook in notebooks() {
        for (number, cell) in notebook.code() {
            let lines = text(&cell["source"]).lines().count();
            assert!(lines <= CELL_LINES, "{}, code cell {number} has {lines} lines", notebook.name);
        }
        let (_, first) = notebook.code().next().expect("a code cell");
        assert_eq!(
            text(&first["source"]).trim_end(),
            ":dep counterfair = { path = \"..\", default-features = false, features = [\"report\"] }\nuse counterfair::notebook::prelude::*;",
            "{}",
            notebook.name
        );
        let (_, second) = notebook.code().nth(1).expect("a second code cell");
        let parameters = text(&second["source"]);
        assert!(
            parameters.lines().all(|line| line.starts_with("const ")),
            "{} has no parameters on top",
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
fn every_picture_has_a_caption_that_can_be_seen() {
    for notebook in notebooks() {
        for (number, cell) in notebook.code() {
            for output in cell["outputs"].as_array().expect("outputs") {
                let Some(svg) = output["data"].get("image/svg+xml").map(text) else { continue };
                assert!(svg.contains("<g class=\"caption\""), "{}, code cell {number}: no caption", notebook.name);
            }
        }
    }
}

#[test]
fn every_notebook_invites_two_changes_and_says_what_to_expect() {
    for notebook in notebooks() {
        let prose = notebook.prose();
        let (_, tried) = prose.split_once("## Try this").unwrap_or_else(|| panic!("{}: nothing to try", notebook.name));
        assert!(tried.matches("*Expect*").count() >= 2, "{}", notebook.name);
    }
}

/// The text of every output of the cells of a notebook, in order.
fn shown(number: &str) -> String {
    let notebook = notebooks().into_iter().find(|n| n.name.starts_with(number)).expect("a notebook");
    let outputs = notebook.code().flat_map(|(_, cell)| cell["outputs"].as_array().expect("outputs").clone());
    let words = |output: Value| match output["data"].get("text/plain") {
        Some(words) => text(words),
        None => text(&output["text"]),
    };
    outputs.map(|output| words(output) + "\n").collect()
}

/// The cells of the first line that begins with a name and has an interval or an exact number, split where two spaces are.
fn row(text: &str, name: &str) -> Vec<String> {
    let judged = |line: &&str| line.contains('±') || line.contains("exactly");
    let line = text.lines().filter(judged).find(|line| line.trim_start().starts_with(name));
    let line = line.unwrap_or_else(|| panic!("no line begins with {name} in\n{text}"));
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(String::from).collect()
}

/// The number a cell begins with.
fn number(cell: &str) -> f64 {
    let first = cell.split_whitespace().next().unwrap_or("").replace('−', "-");
    first.parse().unwrap_or_else(|_| panic!("{cell} begins with no number"))
}

/// What the text of a notebook says of its numbers holds for the numbers it shows; that these are what comes out is `notebooks/run --check`.
#[test]
fn the_text_about_policies_holds_for_the_numbers_shown() {
    let one = shown("1-");
    let by_hand = one.lines().find(|line| line.starts_with("Z ← 0")).expect("by hand").to_string();
    assert!(one.matches(by_hand.trim_end()).count() >= 2, "by hand and by the library: {by_hand}");
    for true_worlds in ["true worlds, N = 1000", "true worlds  "] {
        assert_eq!(row(&one, true_worlds)[1], "0 exactly");
    }
    let metrics = ["FLAP, N = 100 ", "FLAP, N = 1000 ", "FLAP, N = 10000 "].map(|name| number(&row(&one, name)[1]));
    assert!(metrics[0] > metrics[1] && metrics[1] > metrics[2], "{metrics:?}");
    assert!(number(&row(&one, "FLAP at every step")[1]) > 5.0 * number(&row(&one, "alg:cf:1  ")[1]));

    let two = shown("2-");
    assert_eq!(row(&two, "Behaviour")[2], "0 exactly", "Behaviour does not look at the state");
    assert_eq!(row(&two, "Unaware")[1], "0 exactly", "Unaware is not told the level");
    assert!(number(&row(&two, "Unaware")[3]) > 0.1 && number(&row(&two, "Full ")[1]) > 0.0);
    assert!(two.contains("CF metric: 0.5000"), "three of six decisions");
    assert!(two.contains("CF metric of Unaware: 0\n"), "δ = 0");

    let three = shown("3-");
    assert_eq!(
        row(&three, "Ours, true means")[1..],
        row(&three, "Oracle  ")[1..],
        "with true means Ours is the Oracle"
    );
    assert_eq!(row(&three, "Oracle  ")[1], "0 exactly");
    let metric = |name: &str| number(&row(&three, name)[1]);
    assert!(metric("Ours, N / 5") > metric("Ours  ") && metric("Ours, straight lines") > metric("Ours  "));

    let six = shown("6-");
    assert_eq!(row(&six, "fair policy")[1..], row(&six, "its replay")[1..], "the same actions, the same value");
    let straight = |words: &str| {
        let line =
            six.lines().find(|line| line.contains(words)).expect("a line").replace("above the straight line:", "");
        let parts: Vec<f64> = line.split(['±', '(']).take(2).map(|cell| number(cell.trim())).collect();
        (parts[0].abs(), parts[1])
    };
    let ((one_coin, its), (many, theirs)) = (straight("(one coin per person)"), straight("(one coin per decision)"));
    assert!(one_coin <= 2.0 * its, "straight: {one_coin} ± {its}");
    assert!(many > 2.0 * theirs, "and the same test sees the curved one: {many} ± {theirs}");
}

/// The sentences that the cells of the four checks end in.
#[test]
fn the_four_checks_come_back_as_their_text_says() {
    let five = shown("5-");
    let verdicts: Vec<&str> =
        five.lines().filter(|line| line.contains(" to the power ") && line.contains("Control")).collect();
    assert_eq!(verdicts.len(), 6, "four checks and two changes of them: {verdicts:#?}");
    let parts = |verdict: &str| {
        let after = |word: &str| {
            let rest = verdict.split(word).nth(1).unwrap_or_else(|| panic!("no {word} in {verdict}"));
            rest.split(". ")
                .next()
                .unwrap_or_default()
                .rsplit(", ")
                .next()
                .unwrap_or_default()
                .trim_end_matches('.')
                .to_string()
        };
        [after("Promised: "), after("Law: "), after("Control, ")]
    };
    for verdict in &verdicts[..4] {
        assert_eq!(parts(verdict), ["not refuted", "not refuted", "refuted"], "{verdict}");
    }
    assert_eq!(parts(verdicts[4])[1], "inconclusive", "eight seeds: {}", verdicts[4]);
    assert_eq!(parts(verdicts[5])[1], "refuted", "large errors: {}", verdicts[5]);
    for what in ["states", "rewards", "weights of f̂", "actions"] {
        let line = five.lines().find(|line| line.starts_with(what)).expect("a line of the Oracle's table");
        let differences: Vec<&str> = line[what.len()..].split_whitespace().collect();
        assert_eq!(differences[0], "0e0", "{line}");
        assert!(number(differences[1]) > 0.1, "{line}");
    }
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
fn every_label_in_a_notebook_is_one_of_a_claim_an_erratum_or_a_figure() {
    let claims = theorems();
    let mut known: BTreeSet<String> = claims.iter().map(|claim| claim.label.to_string()).collect();
    known.extend(claims.iter().flat_map(|claim| claim.assumes).map(|assumed| assumed.to_string()));
    known.extend(errata().iter().map(|erratum| erratum.label.to_string()));
    known.extend(ELSEWHERE.iter().map(|(label, _)| label.to_string()));
    known.extend(Label::EVERY.iter().map(Label::to_string));
    for notebook in notebooks() {
        let code: String = notebook.code().map(|(_, cell)| text(&cell["source"]) + "\n").collect();
        let unknown: Vec<String> =
            labels_in(&(notebook.prose() + &code)).into_iter().filter(|l| !known.contains(l)).collect();
        assert!(unknown.is_empty(), "{} names {unknown:?}", notebook.name);
    }
}
