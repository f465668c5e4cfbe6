//! Shards that learn together give the policy of one machine.

use super::{Folder, SCORING, apart, learner, same_policy, settings, simulated};
use counterfair::fair::{LargePeople, Memory, Shard};
use counterfair::kernel::data::{Columns, RowConvention, write};
use counterfair::kernel::model::fitted::NoiseChoice;
use counterfair::kernel::model::worlds::by_name;
use counterfair::kernel::model::{Exogenous, simulate};
use counterfair::prelude::*;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

fn shard(folder: &Path, number: usize, of: usize) -> Shard {
    Shard { number, of, folder: folder.to_path_buf() }
}

/// What `of` shards learn, each in a thread of its own.
pub fn learned(path: &Path, folder: &Folder, options: &ReadOptions, learner: &Learner, of: usize) -> Policy {
    let exchange = folder.file("exchange");
    let people = People::read_with(path, options).unwrap();
    let repaired = (people.cuts().0, people.repairs().rows_dropped);
    let one = |number: usize| {
        // Machines differ in how much they allow; stretches are cut by the least.
        let memory = Memory { bytes: folder.memory().bytes + 40_000 * (number - 1), ..folder.memory() };
        let large = LargePeople::read_shard(path, options, &memory, &shard(&exchange, number, of), |_| {}).unwrap();
        assert!(large.own_people() > 0 && large.own_people() < large.panel().people());
        assert_eq!((large.cuts().0, large.sketch().repairs().rows_dropped), repaired, "repairs of all shards");
        (large.own_people(), large.panel().people(), learner.learn_large(&large, &mut |_| {}).unwrap().policy)
    };
    let found: Vec<(usize, usize, Policy)> = thread::scope(|scope| {
        let handles: Vec<_> = (1..=of).map(|number| scope.spawn(move || one(number))).collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    fs::remove_dir_all(&exchange).unwrap();
    assert_eq!(found.iter().map(|(own, ..)| own).sum::<usize>(), found[0].1, "everybody is in one shard");
    assert!(found.iter().all(|(_, _, policy)| *policy == found[0].2), "all shards have one policy");
    found.into_iter().next().unwrap().2
}

/// A policy file without the degrees of freedom of what has no noise: any smoothness fits it to rounding.
pub fn determined(mut policy: Value) -> Value {
    for report in policy.pointer_mut("/mechanism/reports").and_then(Value::as_array_mut).into_iter().flatten() {
        let sd: Vec<f64> = report["residual_sd"].as_array().unwrap().iter().map(|sd| sd.as_f64().unwrap()).collect();
        for (degrees, sd) in report["degrees"].as_array_mut().unwrap().iter_mut().zip(sd) {
            if sd < 1e-9 {
                *degrees = Value::Null;
            }
        }
    }
    policy
}

#[test]
fn what_is_wrong_in_one_stretch_is_told_to_all_shards() {
    let folder = Folder::new("told");
    let path = folder.file("people.csv");
    let text = simulated(&folder, "linear");
    // One row in the second half of the file has another level than its person: only whoever has that person finds it.
    let wrong = text.lines().enumerate().map(|(i, row)| {
        let mut cells: Vec<&str> = row.split(',').collect();
        if i == 4000 {
            cells[2] = if cells[2] == "0" { "1" } else { "0" };
        }
        cells.join(",") + "\n"
    });
    fs::write(&path, wrong.collect::<String>()).unwrap();
    let exchange = folder.file("exchange");
    let error = |number: usize| {
        LargePeople::read_shard(&path, &ReadOptions::default(), &folder.memory(), &shard(&exchange, number, 2), |_| {})
            .unwrap_err()
            .to_string()
    };
    thread::scope(|scope| {
        let [first, second] =
            [1, 2].map(|number| scope.spawn(move || error(number))).map(|shard| shard.join().unwrap());
        assert!(second.contains("line 4001, column z1"), "{second}");
        assert_eq!(first, format!("shard 2/2 stopped: {second}"));
    });
}

#[test]
fn a_shard_that_goes_no_further_ends_the_others() {
    let folder = Folder::new("ended");
    let path = folder.file("people.csv");
    fs::write(&path, simulated(&folder, "linear")).unwrap();
    let exchange = folder.file("exchange");
    let read = |number: usize| {
        let shard = shard(&exchange, number, 2);
        LargePeople::read_shard(&path, &ReadOptions::default(), &folder.memory(), &shard, |_| {}).unwrap()
    };
    thread::scope(|scope| {
        // The second one reads, and does not learn.
        scope.spawn(|| drop(read(2)));
        let error = learner(Method::Ours).learn_large(&read(1), &mut |_| {}).unwrap_err().to_string();
        assert_eq!(error, "shard 2/2 stopped: it ended before it had learned");
    });
}

#[test]
fn shards_that_were_given_different_files_are_told_apart() {
    let folder = Folder::new("copies");
    // Longer than what is looked at before a file is read.
    let world = by_name("linear", 1.0).unwrap();
    let panel = simulate(&*world, &Exogenous::draw(&*world, 8000, 6, Stream::new(5)));
    let whole = folder.file("whole.csv");
    write(&whole, &panel, &Columns::default(), RowConvention::Incoming).unwrap();
    let text = fs::read_to_string(whole).unwrap();
    let [one, two] = ["one.csv", "two.csv"].map(|name| folder.file(name));
    fs::write(&one, &text).unwrap();
    // One digit is another: in what is looked at before, and in what is not.
    let piece = text.len() / 32;
    assert!(piece > 80_000);
    for (from, why) in [(16 * piece, "not started alike"), (17 * piece - 5000, "has read another file than this one")] {
        let at = from + text[from..].find("3").unwrap();
        fs::write(&two, format!("{}7{}", &text[..at], &text[at + 1..])).unwrap();
        let exchange = folder.file("exchange");
        let error = |path: &Path, number: usize| {
            let shard = shard(&exchange, number, 2);
            let read = LargePeople::read_shard(path, &ReadOptions::default(), &folder.memory(), &shard, |_| {});
            read.unwrap_err().to_string()
        };
        thread::scope(|scope| {
            let (first, second) = (scope.spawn(|| error(&one, 1)), scope.spawn(|| error(&two, 2)));
            for error in [first.join().unwrap(), second.join().unwrap()] {
                assert!(error.contains(why), "{error}");
            }
        });
        fs::remove_dir_all(&exchange).unwrap();
    }
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
fn levels_that_a_stretch_lacks_or_has_in_one_fold_alone_make_no_difference() {
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
    // Rewards of two values, of which the last stretch has a third.
    let few = |i: usize, reward: &str| (usize::from(reward.starts_with('-')) + usize::from(i > 600)).to_string();
    let few = changed(&text, |i| i % 2, few);
    for text in [ordered, bunched, few] {
        fs::write(&path, text).unwrap();
        same_policy(&path, &folder, &ReadOptions::default(), &learner, SCORING);
    }
}

/// `learn` as the k-th of n shards, from the command line.
fn started(folder: &Folder, save: &str, shard: &str, memory: &str, more: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_counterfair"));
    command.arg("learn").arg("--data").arg(folder.file("people.csv")).arg("--save").arg(folder.file(save));
    command.args(["--replicates", "0", "--splits", "0", "--memory", memory, "--scratch"]).arg(&folder.0);
    if !shard.is_empty() {
        command.args(["--shard", shard, "--exchange"]).arg(folder.file("exchange"));
    }
    command.args(more).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Standard output and error of a run that has to end well.
fn ended(child: Child) -> (String, String) {
    let out = child.wait_with_output().unwrap();
    let (said, noted) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{said}{noted}");
    (said.into_owned(), noted.into_owned())
}

#[test]
fn a_shard_that_was_killed_is_started_again_and_the_first_one_saves_the_policy_of_one_machine() {
    let folder = Folder::new("killed");
    fs::write(folder.file("people.csv"), simulated(&folder, "spread-by-state")).unwrap();
    let first = started(&folder, "first.json", "1/2", "300KB", &[]);
    let mut second = started(&folder, "second.json", "2/2", "300KB", &[]);
    // In the middle: once some thirty sums were said.
    let journal = folder.file("exchange/shard-2-of-2");
    for _ in 0..6000 {
        if fs::metadata(&journal).is_ok_and(|found| found.len() > 20_000) {
            break;
        }
        thread::sleep(Duration::from_millis(2));
    }
    second.kill().unwrap();
    let gone = second.wait_with_output().unwrap();
    assert!(!gone.status.success(), "it was done before it could be killed: nothing was tested");
    let said_before = fs::metadata(&journal).unwrap().len();
    // It may be started again on a machine with more memory.
    let (_, noted) = ended(started(&folder, "second.json", "2/2", "400KB", &[]));
    assert!(noted.contains("shard 2/2 has") && noted.contains("of 700 people"), "{noted}");
    assert!(noted.contains("shards said their sums"), "{noted}");
    let (said, _) = ended(first);
    assert!(said.contains("first.json: 4200 transitions; converged"), "{said}");
    assert!(fs::metadata(&journal).unwrap().len() > said_before);
    assert!(folder.file("first.json").exists() && !folder.file("second.json").exists());

    ended(started(&folder, "alone.json", "", "300KB", &[]));
    let policy = |name: &str| -> Value {
        let mut policy: Value = serde_json::from_str(&fs::read_to_string(folder.file(name)).unwrap()).unwrap();
        policy["manifest"]["command"] = Value::Null;
        policy
    };
    let (alone, together) = (determined(policy("alone.json")), determined(policy("first.json")));
    let difference = apart(&alone, &together, SCORING.floor, "");
    assert!(difference < SCORING.most, "{difference}");
    assert!(folder.scratch_is_empty());

    // The folder is that of this run: another one does not go on with its sums.
    let other = started(&folder, "first.json", "1/2", "300KB", &["--discount", "0.8"]).wait_with_output().unwrap();
    let noted = String::from_utf8_lossy(&other.stderr);
    assert!(!other.status.success() && noted.contains("said something else at the step “how to learn”"), "{noted}");
}

#[test]
fn a_shard_without_a_folder_or_with_a_number_that_is_not_there_is_refused() {
    let folder = Folder::new("refused");
    fs::write(folder.file("people.csv"), simulated(&folder, "linear")).unwrap();
    for (shard, more, why) in [
        ("", &["--shard", "1/2"][..], "--exchange"),
        ("3/2", &[], "`3/2` is not a shard"),
        ("", &["--exchange", "folder"], "--shard"),
        ("1/2", &["--folds", "3"], "--folds needs everybody"),
        ("1/2", &["--learner", "neural"], "--learner other than stable needs everybody"),
        ("1/2", &["--model", "neural"], "--model neural needs everybody"),
        ("1/2", &["--pessimism", "1"], "--pessimism needs everybody"),
        ("1/18446744073709551615", &[], "more than the 10000"),
    ] {
        let out = started(&folder, "policy.json", shard, "300KB", more).wait_with_output().unwrap();
        let noted = String::from_utf8_lossy(&out.stderr);
        assert!(!out.status.success() && noted.contains(why), "{noted}");
    }
}
