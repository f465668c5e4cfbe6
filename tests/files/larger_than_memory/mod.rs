//! People who do not fit in memory give what they give in memory, to the last bit: the same files, the same policies, the same errors.

mod sample;

use crate::folder::Folder;
use counterfair::estimate::{Basis, FitSettings, NoiseChoice, Pooling};
use counterfair::fair::{LargePeople, Memory, preprocess};
use counterfair::files::{Columns, MissingRepair, RowConvention, write};
use counterfair::kernel::learn::TASK_ROWS;
use counterfair::kernel::model::worlds::by_name;
use counterfair::kernel::model::{Exogenous, simulate};
use counterfair::kernel::people::hash_of;
use counterfair::notebook::prelude::*;
use std::fs;
use std::path::Path;

/// Memory for a few dozen people at a time.
fn memory_in(folder: &Folder) -> Memory {
    Memory { bytes: 300_000, scratch: folder.0.clone() }
}

fn scratch_is_empty(folder: &Folder) -> bool {
    !folder.names().iter().any(|name| name.starts_with("counterfair-scratch"))
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

/// Learns a policy in memory and from disk, with the memory of the folder and with less.
fn same_policy(path: &Path, folder: &Folder, options: &ReadOptions, learner: &Learner) {
    let learner = Learner { replicates: 0, splits: 0, ..learner.clone() };
    let whole = learner.learn(&People::read_with(path, options).unwrap()).unwrap();
    let text = |policy: &Policy, name: &str| -> String {
        let path = folder.file(name);
        policy.save(&path).unwrap();
        fs::read_to_string(path).unwrap()
    };
    let whole = text(&whole, "whole.json");
    for memory in [memory_in(folder), Memory { bytes: 60_000, ..memory_in(folder) }] {
        let large = LargePeople::read(path, options, &memory, false).unwrap();
        let streamed = learner.learn_large(&large, &mut |_| {}).unwrap().policy;
        assert!(text(&streamed, "streamed.json") == whole, "the same sums in the same order");
    }
    assert!(scratch_is_empty(folder));
}

fn learner(method: Method) -> Learner {
    Learner { preprocessing: settings(NoiseChoice::Additive), ..Learner::new(method) }
}

#[test]
fn a_policy_is_the_one_learned_in_memory_for_each_method_and_number_of_levels_and_states() {
    let folder = Folder::new("methods");
    let path = folder.file("people.csv");
    for world in ["linear", "three-levels-mixed"] {
        fs::write(&path, simulated(&folder, world)).unwrap();
        for method in [Method::Ours, Method::Full, Method::Unaware] {
            same_policy(&path, &folder, &ReadOptions::default(), &learner(method));
        }
    }
}

#[test]
fn sums_over_several_tasks_and_blocks_are_those_in_memory() {
    // 6 600 people with six views each are two tasks of the learner, the border between them within a person, and more than one block of rows.
    let folder = Folder::new("tasks");
    let path = folder.file("people.csv");
    let world = by_name("linear", 1.0).unwrap();
    let panel = simulate(&*world, &Exogenous::draw(&*world, 6600, 5, Stream::new(9)));
    assert!(panel.state_rows() > TASK_ROWS && !TASK_ROWS.is_multiple_of(6));
    write(&path, &panel, &Columns::default(), RowConvention::Incoming).unwrap();
    fs::write(&path, shuffled(&fs::read_to_string(&path).unwrap())).unwrap();
    same_policy(&path, &folder, &ReadOptions::default(), &learner(Method::Ours));
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
        same_policy(&path, &folder, &ReadOptions::default(), &Learner { preprocessing, ..learner(Method::Ours) });
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
            same_policy(&path, &folder, &ReadOptions::default(), &learner);
        }
    }
    // The last file has two states; one is kept, and dropout leaves rewards without a next state.
    fs::write(&path, with_dropout(&fs::read_to_string(&path).unwrap())).unwrap();
    let keep = counterfair::estimate::OutputSet::default().with(1).unwrap();
    let mechanism = FitSettings { noise: NoiseChoice::Chosen, keep, ..FitSettings::default() };
    let preprocessing = Preprocessing { mechanism, ..Preprocessing::default() };
    let options = ReadOptions { missing: MissingRepair::DropTail, ..ReadOptions::default() };
    same_policy(&path, &folder, &options, &Learner { preprocessing, ..learner(Method::Ours) });
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
        let large = LargePeople::read(&path, &options, &memory_in(&folder), false).unwrap();
        let blocks: Vec<_> = large.panel().blocks().unwrap().collect::<Result<_, _>>().unwrap();
        assert!(blocks.len() > 3, "{} blocks are hardly a test", blocks.len());
        let people = blocks.iter().flat_map(|block| block.iter());
        assert!(people.eq(whole.panel().iter()), "the same people in the same order");
        assert_eq!(whole.cuts(), large.cuts());
        let (whole, large) = (whole.naming_people(true), large.naming_people(true));
        assert_eq!(whole.repairs(), large.sketch().repairs());
        assert!(whole.cuts() == (0, 0) || !whole.repairs().cuts.is_empty(), "people are named where they may be");
        drop(large);
        same_policy(&path, &folder, &options, &learner(Method::Ours));
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
    let table = |path: &Path| -> Vec<Vec<String>> {
        csv::Reader::from_path(path).unwrap().records().map(|r| r.unwrap().iter().map(String::from).collect()).collect()
    };
    // On disk rows come out person by person and in the order of their times; in memory in that of the file, which is that of times too.
    let mut expected = table(&whole);
    expected.sort_by_key(|row| hash_of(&row[0]));
    for text in [extra.clone(), shuffled(&extra)] {
        fs::write(&path, text).unwrap();
        let large = LargePeople::read(&path, &ReadOptions::default(), &memory_in(&folder), true).unwrap();
        large.preprocess(&settings, &streamed, &mut |_| {}).unwrap();
        assert_eq!(table(&streamed), expected);
    }
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
    same_policy(&path, &folder, &ReadOptions::default(), &learner(Method::Ours));
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let error = LargePeople::read(&path, &ReadOptions::default(), &memory_in(&folder), false).unwrap_err();
    assert!(error.to_string().contains("ends in the middle"), "{error}");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_is_read_in_parts_too() {
    let folder = Folder::new("parquet");
    let (csv, path) = (folder.file("people.csv"), folder.file("people.parquet"));
    fs::write(&csv, simulated(&folder, "linear")).unwrap();
    write(&path, People::read(&csv).unwrap().panel(), &Columns::default(), RowConvention::Incoming).unwrap();
    same_policy(&path, &folder, &ReadOptions::default(), &learner(Method::Ours));
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
        let large = LargePeople::read(&path, &ReadOptions::default(), &memory_in(&folder), false).unwrap_err();
        assert_eq!(large.to_string(), whole);
        assert!(scratch_is_empty(&folder));
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
    let large = |options: &ReadOptions| LargePeople::read(&path, options, &memory_in(&folder), false);
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
    let large = LargePeople::read(&path, &ReadOptions::default(), &memory_in(&folder), false).unwrap();
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
fn levels_in_blocks_or_in_turns_and_rewards_of_few_values_make_no_difference() {
    let folder = Folder::new("levels");
    let path = folder.file("people.csv");
    let text = simulated(&folder, "spread-by-level");
    assert!(text.starts_with("ID,timestamp,z1,action,reward,"));
    let preprocessing = settings(NoiseChoice::Rank);
    let learner = Learner { preprocessing, ..learner(Method::Ours) };
    // One level after another, the first without rewards; then one that begins in every fifth place.
    let ordered = changed(&text, |i| i / 300, |i, reward| if i < 300 { "0".into() } else { reward.into() });
    let in_turns = |i: usize| usize::from(if i < 300 { i.is_multiple_of(5) } else { i.is_multiple_of(3) });
    let in_turns = changed(&text, in_turns, |_, reward| reward.into());
    // Rewards of two values, and of a third at the end of the file.
    let few = |i: usize, reward: &str| (usize::from(reward.starts_with('-')) + usize::from(i > 600)).to_string();
    let few = changed(&text, |i| i % 2, few);
    for text in [ordered, in_turns, few] {
        fs::write(&path, text).unwrap();
        same_policy(&path, &folder, &ReadOptions::default(), &learner);
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
        let large = LargePeople::read(&path, &options, &memory_in(&folder), false).unwrap();
        assert_eq!((large.sketch().rows(), large.panel().people()), (RowConvention::Outgoing, 700));
        let notes = large.sketch().notes().join("\n");
        assert!(notes.contains("read as outgoing"), "{notes}");
    }
}
