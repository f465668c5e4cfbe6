//! People who do not fit in memory give what they give in memory: the same files, the same policies to rounding, the same errors.

mod sample;

use counterfair::estimate::{Basis, FitSettings, NoiseChoice, Pooling};
use counterfair::fair::{Explain, LargePeople, Memory, preprocess};
use counterfair::files::{Columns, MissingRepair, RowConvention, write};
use counterfair::kernel::model::worlds::by_name;
use counterfair::kernel::model::{Exogenous, simulate};
use counterfair::notebook::prelude::*;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder of its own for each test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("counterfair-large-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Memory for a few dozen people at a time.
    fn memory(&self) -> Memory {
        Memory { bytes: 300_000, scratch: self.0.clone() }
    }

    fn scratch_is_empty(&self) -> bool {
        let names = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("counterfair-scratch")).count() == 0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A simulated file: 700 people, six decisions.
fn simulated(folder: &Folder, world: &str) -> String {
    let world = by_name(world, 1.0).unwrap();
    let panel = simulate(&*world, &Exogenous::draw(&*world, 700, 6, Stream::new(5)));
    let path = folder.file("simulated.csv");
    write(&path, &panel, &Columns::default(), RowConvention::Incoming).unwrap();
    fs::read_to_string(&path).unwrap()
}

fn settings(noise: NoiseChoice) -> Preprocessing {
    Preprocessing { mechanism: FitSettings { noise, ..FitSettings::default() }, ..Preprocessing::default() }
}

/// How near is equal, in units of the larger number. Mechanisms have the same digits; fitted Q iteration adds up its rows in other parts.
///
/// Sums of a few thousand terms in another order, times condition numbers of some thousands.
const ROUNDING: f64 = 1e-9;

/// Contrasts of a level and their squares depend on each other, and penalties as small as 1e-9 of the rows hold them apart: weights lose as many digits.
/// Values do not, and are asked for as everywhere.
const DEPENDENT: f64 = 1e-6;

/// The largest difference of two JSON values of one shape.
fn apart(a: &Value, b: &Value, place: &str) -> f64 {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>(), "{place}");
            a.iter().map(|(key, value)| apart(value, &b[key], &format!("{place}/{key}"))).fold(0.0, f64::max)
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{place}");
            a.iter().zip(b).map(|(a, b)| apart(a, b, place)).fold(0.0, f64::max)
        }
        (Value::Number(x), Value::Number(y)) => {
            let (x, y) = (x.as_f64().unwrap(), y.as_f64().unwrap());
            if x == y { 0.0 } else { (x - y).abs() / x.abs().max(y.abs()) }
        }
        _ => {
            assert_eq!(a, b, "{place}");
            0.0
        }
    }
}

fn same_policy(path: &Path, folder: &Folder, options: &ReadOptions, learner: &Learner, tolerance: f64) -> [Policy; 2] {
    let learner = Learner { replicates: 0, splits: 0, ..learner.clone() };
    let whole = learner.learn(&People::read_with(path, options).unwrap()).unwrap();
    let large = LargePeople::read(path, options, &folder.memory(), false).unwrap();
    let streamed = learner.learn_large(&large, &mut |_| {}).unwrap().policy;
    let json = |policy: &Policy, name: &str| -> Value {
        let path = folder.file(name);
        policy.save(&path).unwrap();
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    };
    let (whole_json, streamed_json) = (json(&whole, "whole.json"), json(&streamed, "streamed.json"));
    assert_eq!(whole_json["mechanism"], streamed_json["mechanism"], "the same sums in the same order");
    let difference = apart(&whole_json, &streamed_json, "");
    assert!(difference < tolerance, "{difference}");
    drop(large);
    assert!(folder.scratch_is_empty());
    [whole, streamed]
}

/// The values of all actions at some first states of every level.
fn action_values(policy: Policy, levels: usize, states: usize) -> Vec<f64> {
    let mut desk = policy.deploy().explaining(Explain::InDecision);
    let mut values = Vec::new();
    for (i, level) in (0..5).flat_map(|i| (0..levels).map(move |level| (i, level))) {
        let state: Vec<f64> = (0..states).map(|j| (1.3 * i as f64 + 0.7 * j as f64).sin()).collect();
        let decision = desk.decide(&Request::first(format!("{i} {level}"), level.to_string(), state)).unwrap();
        values.extend(decision.explanation.unwrap().values.into_values());
    }
    values
}

fn learner(method: Method) -> Learner {
    Learner { preprocessing: settings(NoiseChoice::Additive), ..Learner::new(method) }
}

#[test]
fn a_policy_is_the_one_learned_in_memory_for_each_method_and_number_of_levels_and_states() {
    let folder = Folder::new("methods");
    let path = folder.file("people.csv");
    for (world, levels, states) in [("linear", 2, 1), ("three-levels-mixed", 3, 2)] {
        fs::write(&path, simulated(&folder, world)).unwrap();
        for method in [Method::Ours, Method::Full, Method::Unaware] {
            let tolerance = if method == Method::Full { DEPENDENT } else { ROUNDING };
            let policies = same_policy(&path, &folder, &ReadOptions::default(), &learner(method), tolerance);
            let [whole, streamed] = policies.map(|policy| action_values(policy, levels, states));
            let largest = whole.iter().fold(0.0f64, |most, q| most.max(q.abs()));
            for (a, b) in whole.iter().zip(&streamed) {
                assert!((a - b).abs() < ROUNDING * largest, "{world}, {method}: {a} and {b}");
            }
        }
    }
}

#[test]
fn bases_without_knots_and_levels_together_or_apart_are_fitted_alike() {
    let folder = Folder::new("bases");
    let path = folder.file("people.csv");
    fs::write(&path, simulated(&folder, "three-levels-mixed")).unwrap();
    for (basis, pooling) in [
        (Basis::Linear, Pooling::Pooled),
        (Basis::Polynomial(2), Pooling::PerLevel),
        (Basis::Trigonometric, Pooling::Chosen),
        (Basis::Spline, Pooling::Pooled),
    ] {
        let mechanism = FitSettings { basis, pooling, ..FitSettings::default() };
        let preprocessing = Preprocessing { mechanism, ..Preprocessing::default() };
        same_policy(
            &path,
            &folder,
            &ReadOptions::default(),
            &Learner { preprocessing, ..learner(Method::Ours) },
            ROUNDING,
        );
    }
}

#[test]
fn noise_is_chosen_and_fitted_alike() {
    let folder = Folder::new("noise");
    let path = folder.file("people.csv");
    for (world, choices) in [
        ("spread-by-state", &[NoiseChoice::Chosen, NoiseChoice::Scale][..]),
        ("skewed", &[NoiseChoice::Chosen, NoiseChoice::Rank]),
        ("three-levels-mixed", &[NoiseChoice::Chosen]),
    ] {
        fs::write(&path, simulated(&folder, world)).unwrap();
        for &noise in choices {
            let learner = Learner { preprocessing: settings(noise), ..learner(Method::Ours) };
            same_policy(&path, &folder, &ReadOptions::default(), &learner, ROUNDING);
        }
    }
    // The last file has two states; one is kept, and dropout leaves rewards without a next state.
    fs::write(&path, with_dropout(&fs::read_to_string(&path).unwrap())).unwrap();
    let keep = counterfair::estimate::OutputSet::default().with(1).unwrap();
    let mechanism = FitSettings { noise: NoiseChoice::Chosen, keep, ..FitSettings::default() };
    let preprocessing = Preprocessing { mechanism, ..Preprocessing::default() };
    let options = ReadOptions { missing: MissingRepair::DropTail, ..ReadOptions::default() };
    same_policy(&path, &folder, &options, &Learner { preprocessing, ..learner(Method::Ours) }, ROUNDING);
}

/// Rows in another order, a header first.
fn shuffled(text: &str) -> String {
    let (header, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    let n = rows.len();
    assert!(!n.is_multiple_of(2741), "a prime that is no factor of the number of rows visits each once");
    let moved = (0..n).map(|i| rows[(i * 2741 + 17) % n]);
    std::iter::once(header).chain(moved).map(|row| format!("{row}\n")).collect()
}

/// People who end early: some rows in the middle of some trajectories are gone, and cells are missing.
fn with_dropout(text: &str) -> String {
    // Nobody loses the first of seven rows: an action on what is then the first is an error.
    let drop = |i: usize| i % 61 == 17 && i % 7 != 1;
    let blank =
        |i: usize, row: &str| if i % 97 == 40 { format!("{},", &row[..row.rfind(',').unwrap()]) } else { row.into() };
    let rows = text.lines().enumerate().filter(|(i, _)| *i == 0 || !drop(*i));
    rows.map(|(i, row)| if i == 0 { format!("{row}\n") } else { format!("{}\n", blank(i, row)) }).collect()
}

#[test]
fn the_order_of_rows_ids_that_are_words_and_dropout_make_no_difference() {
    let folder = Folder::new("orders");
    let path = folder.file("people.csv");
    let text = simulated(&folder, "linear");
    let words: String = text
        .lines()
        .enumerate()
        .map(|(i, row)| if i == 0 { format!("{row}\n") } else { format!("p{row}\n") })
        .collect();
    let dropped = ReadOptions { missing: MissingRepair::DropTail, ..ReadOptions::default() };
    for (text, options) in [
        (shuffled(&text), ReadOptions::default()),
        (words.clone(), ReadOptions::default()),
        (shuffled(&words), ReadOptions::default()),
        (with_dropout(&text), dropped.clone()),
        (shuffled(&with_dropout(&text)), dropped),
    ] {
        fs::write(&path, text).unwrap();
        let whole = People::read_with(&path, &options).unwrap();
        let large = LargePeople::read(&path, &options, &folder.memory(), false).unwrap();
        let blocks: Vec<_> = large.panel().blocks().unwrap().collect::<Result<_, _>>().unwrap();
        assert!(blocks.len() > 3, "{} blocks are hardly a test", blocks.len());
        let people = blocks.iter().flat_map(|block| block.iter());
        assert!(people.eq(whole.panel().iter()), "the same people in the same order");
        assert_eq!(whole.cuts(), large.cuts());
        let (whole, large) = (whole.naming_people(true), large.naming_people(true));
        assert_eq!(whole.repairs(), large.sketch().repairs());
        assert!(whole.cuts() == (0, 0) || !whole.repairs().cuts.is_empty(), "people are named where they may be");
        drop(large);
        same_policy(&path, &folder, &options, &learner(Method::Ours), ROUNDING);
    }
}

#[test]
fn a_preprocessed_file_is_the_one_written_in_memory() {
    let folder = Folder::new("preprocess");
    let path = folder.file("people.csv");
    let text = simulated(&folder, "three-levels-mixed");
    let extra: String = text
        .lines()
        .enumerate()
        .map(|(i, row)| if i == 0 { format!("{row},note\n") } else { format!("{row},\"row, {i}\"\n") })
        .collect();
    fs::write(&path, &extra).unwrap();
    let settings = settings(NoiseChoice::Additive);
    let people = People::read(&path).unwrap();
    let done = preprocess(people.panel(), &settings, &mut |_| {}).unwrap();
    let (whole, streamed) = (folder.file("whole.csv"), folder.file("streamed.csv"));
    people.write_preprocessed(&whole, done.experience.views(), done.experience.rewards()).unwrap();
    let read = |options: &ReadOptions| LargePeople::read(&path, options, &folder.memory(), true).unwrap();
    read(&ReadOptions::default()).preprocess(&settings, &streamed, &mut |_| {}).unwrap();
    let table = |path: &Path| -> Vec<Vec<String>> {
        csv::Reader::from_path(path).unwrap().records().map(|r| r.unwrap().iter().map(String::from).collect()).collect()
    };
    let near = |a: &[Vec<String>], b: &[Vec<String>]| {
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().flatten().zip(b.iter().flatten()) {
            let close = a.parse::<f64>().ok().zip(b.parse::<f64>().ok()).is_some_and(|(x, y)| (x - y).abs() < 1e-9);
            assert!(a == b || close, "{a} and {b}");
        }
    };
    near(&table(&whole), &table(&streamed));

    // Rows that have to be sorted come back in the order of people and times, with all of their cells.
    fs::write(&path, shuffled(&extra)).unwrap();
    let large = read(&ReadOptions::default());
    assert!(large.was_sorted());
    large.preprocess(&settings, &streamed, &mut |_| {}).unwrap();
    near(&table(&whole), &table(&streamed));
}

#[cfg(feature = "gzip")]
#[test]
fn a_compressed_file_is_read_in_parts_too() {
    use std::io::Write;
    let folder = Folder::new("gzip");
    let path = folder.file("people.csv.gz");
    let mut packed = flate2::write::GzEncoder::new(fs::File::create(&path).unwrap(), flate2::Compression::fast());
    packed.write_all(simulated(&folder, "linear").as_bytes()).unwrap();
    packed.finish().unwrap();
    same_policy(&path, &folder, &ReadOptions::default(), &learner(Method::Ours), ROUNDING);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let error = LargePeople::read(&path, &ReadOptions::default(), &folder.memory(), false).unwrap_err();
    assert!(error.to_string().contains("ends in the middle"), "{error}");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_is_read_in_parts_too() {
    let folder = Folder::new("parquet");
    let (csv, path) = (folder.file("people.csv"), folder.file("people.parquet"));
    fs::write(&csv, simulated(&folder, "linear")).unwrap();
    write(&path, People::read(&csv).unwrap().panel(), &Columns::default(), RowConvention::Incoming).unwrap();
    same_policy(&path, &folder, &ReadOptions::default(), &learner(Method::Ours), ROUNDING);
}

#[test]
fn what_is_wrong_with_a_file_is_said_in_the_same_words() {
    let folder = Folder::new("errors");
    let path = folder.file("people.csv");
    let text = simulated(&folder, "linear");
    let rows: Vec<&str> = text.lines().collect();
    // Line 3001 of a file of 4901; people have seven rows each.
    let change = |what: &dyn Fn(&str) -> String| -> String {
        rows.iter().enumerate().map(|(i, row)| if i == 3000 { what(row) } else { format!("{row}\n") }).collect()
    };
    let cell = |row: &str, column: usize, to: &str| -> String {
        let cells = row.split(',').enumerate().map(|(j, cell)| if j == column { to } else { cell });
        format!("{}\n", cells.collect::<Vec<_>>().join(","))
    };
    for text in [
        change(&|row| cell(row, 5, "tall")),
        change(&|row| cell(row, 5, "")),
        change(&|row| cell(row, 2, "other")),
        change(&|row| cell(row, 1, "99")),
        change(&|row| format!("{row}\n{row}\n")),
        change(&|_| String::new()),
        change(&|row| format!("{row},7\n")),
        change(&|row| format!("\"{row}\n")),
        rows[0].to_string() + "\n",
        String::new(),
    ] {
        fs::write(&path, &text).unwrap();
        let whole = People::read(&path).unwrap_err().to_string();
        let large = LargePeople::read(&path, &ReadOptions::default(), &folder.memory(), false).unwrap_err();
        assert_eq!(large.to_string(), whole);
        assert!(folder.scratch_is_empty());
    }
}

#[test]
fn a_step_that_only_late_people_show_is_the_step_of_all() {
    let folder = Folder::new("steps");
    let path = folder.file("people.csv");
    let text = simulated(&folder, "linear");
    // Everybody is seen every second month but for the last person, who shows that the step is one.
    let twice = |row: &str| -> String {
        let mut cells: Vec<String> = row.split(',').map(String::from).collect();
        cells[1] = (2 * cells[1].parse::<usize>().unwrap()).to_string();
        format!("{}\n", cells.join(","))
    };
    let n = text.lines().count();
    let late: String = text
        .lines()
        .enumerate()
        .map(|(i, row)| if i == 0 || i >= n - 7 { format!("{row}\n") } else { twice(row) })
        .collect();
    fs::write(&path, &late).unwrap();
    let whole = People::read(&path).unwrap_err().to_string();
    let large = |options: &ReadOptions| LargePeople::read(&path, options, &folder.memory(), false);
    assert_eq!(large(&ReadOptions::default()).unwrap_err().to_string(), whole);
    let options = ReadOptions { missing: MissingRepair::DropTail, ..ReadOptions::default() };
    let (whole, large) = (People::read_with(&path, &options).unwrap(), large(&options).unwrap());
    assert_eq!(whole.repairs(), large.sketch().repairs());
    assert_eq!(
        (whole.panel().people(), whole.panel().decisions()),
        (large.panel().people(), large.panel().decisions())
    );
}

#[test]
fn what_needs_everybody_in_memory_says_so() {
    let folder = Folder::new("refused");
    let path = folder.file("people.csv");
    fs::write(&path, simulated(&folder, "linear")).unwrap();
    let large = LargePeople::read(&path, &ReadOptions::default(), &folder.memory(), false).unwrap();
    let refused = |learner: Learner| learner.learn_large(&large, &mut |_| {}).unwrap_err().to_string();
    let neural = FitSettings { basis: Basis::Neural, ..FitSettings::default() };
    let folds = Preprocessing { folds: Some(3), ..settings(NoiseChoice::Additive) };
    let preprocessing = Preprocessing { mechanism: neural, ..Preprocessing::default() };
    assert!(
        refused(Learner { preprocessing, ..learner(Method::Ours) }).contains("a net needs all 700 people in memory")
    );
    assert!(refused(Learner { preprocessing: folds, ..learner(Method::Ours) }).contains("--folds"));
    assert!(refused(Learner::of_the_paper(Method::Full)).contains("least-squares"));
    let out = folder.file("out.parquet");
    let error = large.preprocess(&settings(NoiseChoice::Additive), &out, &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains(".csv") && !out.exists(), "{error}");
}

/// A file whose people have other levels and rewards: those of the i-th person.
fn changed(text: &str, level: impl Fn(usize) -> usize, reward: impl Fn(usize, &str) -> String) -> String {
    let rows = text.lines().enumerate().map(|(at, row)| {
        // A header, then seven rows for each person, with the level in the third column and the reward in the fifth.
        let mut cells: Vec<String> = row.split(',').map(String::from).collect();
        if at > 0 {
            let person = (at - 1) / 7;
            cells[2] = level(person).to_string();
            if !cells[4].is_empty() {
                cells[4] = reward(person, &cells[4]);
            }
        }
        cells.join(",") + "\n"
    });
    rows.collect()
}

#[test]
fn levels_in_blocks_or_in_one_fold_and_rewards_of_few_values_make_no_difference() {
    let folder = Folder::new("levels");
    let path = folder.file("people.csv");
    let text = simulated(&folder, "spread-by-level");
    assert!(text.starts_with("ID,timestamp,z1,action,reward,"));
    let preprocessing = settings(NoiseChoice::Rank);
    let learner = Learner { preprocessing, ..learner(Method::Ours) };
    // One level after another, the first without rewards; then one that begins in every fifth place, so that one fold would have all of it.
    let ordered = changed(&text, |i| i / 300, |i, reward| if i < 300 { "0".into() } else { reward.into() });
    let bunched = |i: usize| usize::from(if i < 300 { i.is_multiple_of(5) } else { i.is_multiple_of(3) });
    let bunched = changed(&text, bunched, |_, reward| reward.into());
    // Rewards of two values, and of a third at the end of the file.
    let few = |i: usize, reward: &str| (usize::from(reward.starts_with('-')) + usize::from(i > 600)).to_string();
    let few = changed(&text, |i| i % 2, few);
    for text in [ordered, bunched, few] {
        fs::write(&path, text).unwrap();
        same_policy(&path, &folder, &ReadOptions::default(), &learner, ROUNDING);
    }
}

#[test]
fn where_decisions_stand_is_found_on_disk_in_whatever_order_rows_come() {
    let folder = Folder::new("rows");
    let world = by_name("linear", 1.0).unwrap();
    let panel = simulate(&*world, &Exogenous::draw(&*world, 700, 6, Stream::new(5)));
    let path = folder.file("outgoing.csv");
    write(&path, &panel, &Columns::default(), RowConvention::Outgoing).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let backwards: Vec<&str> = rows.lines().rev().collect();
    for text in [text.clone(), format!("{header}\n{}\n", backwards.join("\n"))] {
        fs::write(&path, text).unwrap();
        let options = ReadOptions::of(Columns::default());
        let large = LargePeople::read(&path, &options, &folder.memory(), false).unwrap();
        assert_eq!((large.sketch().rows(), large.panel().people()), (RowConvention::Outgoing, 700));
        let notes = large.sketch().notes().join("\n");
        assert!(notes.contains("read as outgoing"), "{notes}");
    }
}
