//! What `reproduce` and `merge` tell about files that they found, and what they read from a study in any order.

use super::folder::Folder;
use std::fs;

/// The table of a study of one's own, in a second.
const OWN: [&str; 6] = ["reproduce", "--quick", "--only", "table:real_data", "--data", "mine.csv"];

fn with_study(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.succeed(&["simulate", "--world", "linear", "--n", "60", "--t", "4", "--out", "mine.csv"]);
    folder
}

/// Standard error of a command that succeeds.
#[track_caller]
fn told(folder: &Folder, arguments: &[&str]) -> String {
    let output = folder.run(arguments);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{message}");
    message
}

#[test]
fn damage_and_files_that_do_not_fit_are_told_and_only_then() {
    let folder = with_study("reproduce-told");
    let run = |options: &[&str]| told(&folder, &[&OWN[..], &["--out", "here"], options].concat());
    let cells = folder.0.join("here/cells.jsonl");
    assert_eq!(run(&[]), "");
    assert_eq!(run(&["--resume"]), "", "nothing is wrong");
    let whole = fs::read_to_string(&cells).unwrap();
    let last = whole.lines().count();
    fs::write(&cells, &whole[..whole.len() - 20]).unwrap();
    let message = run(&["--resume"]);
    assert!(message.contains(&format!("here/cells.jsonl, line {last} was dropped and done again")), "{message}");
    assert_eq!(fs::read_to_string(&cells).unwrap(), whole);

    fs::write(&cells, whole.replacen("counterfair cells", "counterfair sells", 1)).unwrap();
    let message = folder.refuse(&[&OWN[..], &["--out", "here", "--resume"]].concat(), "");
    assert!(message.contains("here/cells.jsonl cannot be used"), "{message}");
    let message = run(&[]);
    assert!(message.contains("it is now here/cells.jsonl.old-1"), "{message}");
    assert_eq!(fs::read_to_string(&cells).unwrap(), whole);
}

#[test]
fn a_merge_tells_damage_and_several_sizes_and_only_then() {
    let folder = with_study("merge-told");
    for k in ["1/2", "2/2"] {
        folder.succeed(&[&OWN[..], &["--shard", k, "--out", "shards"]].concat());
    }
    assert!(!folder.0.join("shards/report").exists(), "half of the cells are no report");
    let merge =
        |folders: &[&str]| told(&folder, &[&["merge"], folders, &["--data", "mine.csv", "--out", "joined"]].concat());
    assert_eq!(merge(&["shards"]), "");
    // Without --out the first of several folders gets the report.
    fs::create_dir(folder.0.join("none")).unwrap();
    folder.succeed(&["merge", "none", "shards", "--data", "mine.csv"]);
    assert!(folder.0.join("none/report/index.html").exists() && !folder.0.join("shards/report").exists());
    fs::create_dir(folder.0.join("copy")).unwrap();
    let text = fs::read(folder.0.join("shards/cells.2-of-2.jsonl")).unwrap();
    fs::write(folder.0.join("copy/cells.2-of-2.jsonl"), &text[..text.len() - 20]).unwrap();
    let message = merge(&["shards", "copy"]);
    assert!(message.contains("copy/cells.2-of-2.jsonl, line") && message.contains("was dropped"), "{message}");
    assert!(!message.contains("several sizes"), "{message}");
    let full: Vec<&str> = OWN.iter().copied().filter(|&option| option != "--quick").collect();
    folder.succeed(&[&full[..], &["--shard", "1/3", "--out", "full"]].concat());
    let output = folder.run(&["merge", "full", "shards", "--data", "mine.csv", "--partial", "--out", "joined"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && message.contains("was run at several sizes"), "{message}");
    assert!(message.contains("cells are missing"), "{message}");
}

#[test]
fn rows_in_any_order_give_the_same_table() {
    let folder = with_study("reproduce-shuffled");
    folder.succeed(&[&OWN[..], &["--out", "sorted"]].concat());
    let text = fs::read_to_string(folder.0.join("mine.csv")).unwrap();
    let mut rows: Vec<&str> = text.lines().skip(1).collect();
    let before = rows.clone();
    // 7 has no divisor in common with the 300 rows: each is taken once.
    rows = (0..rows.len()).map(|i| rows[(7 * i + 3) % rows.len()]).collect();
    assert_ne!(rows, before);
    let header = text.lines().next().unwrap();
    fs::write(folder.0.join("mine.csv"), format!("{header}\n{}\n", rows.join("\n"))).unwrap();
    folder.succeed(&[&OWN[..], &["--out", "shuffled"]].concat());
    let files = |out: &str| {
        let mut names: Vec<_> =
            fs::read_dir(folder.0.join(out).join("report")).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.retain(|name| name.to_string_lossy().ends_with(".csv"));
        names.sort();
        let texts: Vec<_> =
            names.iter().map(|name| fs::read(folder.0.join(out).join("report").join(name)).unwrap()).collect();
        (names, texts, fs::read(folder.0.join(out).join("cells.jsonl")).unwrap())
    };
    assert!(!files("sorted").0.is_empty());
    assert!(files("sorted") == files("shuffled"), "cells and tables are those of the sorted file");
}
