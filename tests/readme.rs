//! The README says what is so: its example prints what stands below it, its study says the sentence that is quoted, and it is short.

use counterfair::fair::study::{StudySettings, study};
use counterfair::prelude::*;
use counterfair::report::study::sentence;
use counterfair::reproduction::{ScoreScale, WeeklyCalls};
use std::path::Path;

const README: &str = include_str!("../README.md");

/// The example, line by line as in the README, but for what it does with its text.
fn printed() -> Result<String, Error> {
    let columns = Columns::default().time("week").group("ethnicity").action("call").states(["pain", "interference"]);
    let people = People::read_with("notebooks/data/weekly-calls.csv", &ReadOptions::of(columns))?;
    let mut desk = Learner::new(Method::Ours).learn(&people)?.deploy();
    let decision = desk.decide(&Request::first("ann", "Black", [6.0, 5.5]))?;
    Ok(format!("{}: {:.1?}", decision.action, decision.counterfactual_states))
}

/// What stands between ` ```LANGUAGE ` and the end of that block.
fn block(language: &str) -> &'static str {
    let (_, rest) = README.split_once(&format!("```{language}\n")).expect("a block of code");
    rest.split_once("```").expect("its end").0
}

#[test]
fn the_example_prints_what_stands_below_it() {
    assert_eq!(printed().unwrap(), block("text").trim_end());
    let own = include_str!("readme.rs");
    for line in block("rust").lines().filter(|line| line.starts_with("    let")) {
        assert!(own.contains(line), "{line} is not what was run here");
    }
}

#[test]
fn the_study_says_the_sentence_that_is_quoted() {
    let columns = Columns::default().time("week").group("ethnicity").action("call").states(["pain", "interference"]);
    let people = People::read_with("notebooks/data/weekly-calls.csv", &ReadOptions::of(columns)).unwrap();
    let found = study(&people, &StudySettings::default(), &mut |_| {}).unwrap();
    let said = sentence(&found);
    let quoted: String = README.lines().filter_map(|line| line.strip_prefix("> ")).collect::<Vec<_>>().join(" ");
    assert_eq!(said, quoted);
}

#[test]
fn the_file_is_what_the_command_beside_it_makes() {
    let trial = WeeklyCalls { scale: ScoreScale::Exact, ..WeeklyCalls::default() };
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join("weekly-calls.csv");
    trial.write(&made, 300, 12, 1).unwrap();
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    assert!(read(&made) == read(Path::new("notebooks/data/weekly-calls.csv")), "made anew, the file is another");
}

#[test]
fn it_is_short_and_every_link_leads_somewhere() {
    let words = README.split_whitespace().count();
    assert!(words <= 600, "{words} words");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let links: Vec<&str> = README.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(links.len() >= 8, "{links:?}");
    for link in links {
        assert!(root.join(link).exists(), "{link}");
    }
}
