//! Shards, threads, interruptions.

use super::{SYNTHETIC, small};
use counterfair::reproduction::journal::JournalError;
use counterfair::reproduction::{Cell, Context, Plan, Progress, RunError, Shard, merge, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("counterfair-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn cells() -> Vec<Cell> {
    small().cells(&SYNTHETIC, &[])
}

fn plan(folder: &Path, shard: &str, resume: bool, threads: usize) -> Plan {
    Plan { folder: folder.into(), shard: shard.parse().expect("k/n"), resume, threads: Some(threads) }
}

fn quiet(_: Progress) {}

/// The file of a run of everything on one thread.
fn serial(folder: &Folder) -> Vec<u8> {
    let finished = run(&cells(), &Context::default(), &plan(&folder.0, "1/1", false, 1), &quiet).expect("cells run");
    fs::read(finished.file).expect("a finished file")
}

#[test]
fn threads_shards_and_merging_change_no_byte() {
    let whole = Folder::new("whole");
    let expected = serial(&whole);
    let threads = Folder::new("threads");
    run(&cells(), &Context::default(), &plan(&threads.0, "1/1", false, 3), &quiet).expect("cells run");
    assert!(fs::read(threads.0.join("cells.jsonl")).expect("a file") == expected, "three threads");

    let (left, right, joined) = (Folder::new("left"), Folder::new("right"), Folder::new("joined"));
    for (folder, shard) in [(&left, "2/3"), (&right, "1/3"), (&left, "3/3")] {
        run(&cells(), &Context::default(), &plan(&folder.0, shard, false, 2), &quiet).expect("a shard runs");
    }
    merge(&[left.0.clone(), right.0.clone()], &joined.0).expect("shards join");
    assert!(fs::read(joined.0.join("cells.jsonl")).expect("a file") == expected, "three shards");
}

#[test]
fn a_run_cut_off_anywhere_is_resumed_to_the_same_bytes() {
    let folder = Folder::new("cut");
    let expected = serial(&folder);
    let file = folder.0.join("cells.jsonl");
    let lines: Vec<usize> = (0..expected.len()).filter(|&i| expected[i] == b'\n').collect();
    // In the header; just after it; in the middle of a line; at the end of one; before the last byte.
    for cut in [5, lines[0] + 1, lines[3] + 40, lines[5] + 1, expected.len() - 1] {
        fs::write(&file, &expected[..cut]).expect("a cut file");
        let done = AtomicUsize::new(0);
        let count = |p: Progress| {
            done.fetch_max(p.done - p.resumed, Ordering::Relaxed);
        };
        let finished = run(&cells(), &Context::default(), &plan(&folder.0, "1/1", true, 2), &count).expect("resumed");
        assert!(fs::read(&file).expect("a file") == expected, "cut at byte {cut}");
        assert_eq!(finished.resumed, lines.iter().filter(|&&end| end < cut).count().saturating_sub(1));
        assert_eq!(done.load(Ordering::Relaxed) + finished.resumed, cells().len(), "only what was missing is done");
    }
}

#[test]
fn cells_of_another_grid_stay_in_the_file() {
    let folder = Folder::new("grids");
    let expected = serial(&folder);
    let (first, rest) = cells().split_first().map(|(first, rest)| (first.clone(), rest.to_vec())).expect("cells");
    let resumed = run(std::slice::from_ref(&first), &Context::default(), &plan(&folder.0, "1/1", true, 1), &quiet)
        .expect("nothing to do");
    assert_eq!((resumed.records.len(), resumed.resumed), (1, 1), "the run speaks of its own cells only");
    assert!(fs::read(&resumed.file).expect("a file") == expected, "and loses no other");
    let replaced = run(&rest, &Context::default(), &plan(&folder.0, "1/1", false, 2), &quiet).expect("cells run");
    assert_eq!((replaced.records.len(), replaced.resumed), (rest.len(), 0));
    let lines = fs::read_to_string(&replaced.file).expect("a file").lines().count();
    assert_eq!(lines, 1 + rest.len(), "without --resume the file begins anew");
    let added = run(&[first], &Context::default(), &plan(&folder.0, "1/1", true, 1), &quiet).expect("a cell runs");
    assert_eq!((added.records.len(), added.resumed), (1, 0));
    assert!(fs::read(&added.file).expect("a file") == expected, "a new cell beside those of another grid");
}

#[test]
fn a_damaged_line_that_is_not_the_last_is_named() {
    let folder = Folder::new("damaged");
    let mut text = serial(&folder);
    let file = folder.0.join("cells.jsonl");
    let second = text.iter().position(|&b| b == b'\n').expect("a header") + 1;
    text[second] = b'?';
    fs::write(&file, &text).expect("a damaged file");
    let error = run(&cells(), &Context::default(), &plan(&folder.0, "1/1", true, 1), &quiet);
    assert!(matches!(error, Err(RunError::Journal(JournalError::Line { line: 2, .. }))), "{error:?}");
    assert!(fs::read(&file).expect("a file") == text, "a refused file stays as it was");
}

#[test]
fn results_of_another_version_are_not_mixed_with_ours() {
    let folder = Folder::new("version");
    let text = String::from_utf8(serial(&folder)).expect("JSON is text");
    let version = env!("CARGO_PKG_VERSION");
    let file = folder.0.join("cells.jsonl");
    fs::write(&file, text.replacen(version, "0.0.0", 1)).expect("a file");
    let error = run(&cells(), &Context::default(), &plan(&folder.0, "1/1", true, 1), &quiet);
    assert!(matches!(error, Err(RunError::Journal(JournalError::Header { .. }))), "{error:?}");
}

#[test]
fn shards_that_contradict_each_other_are_not_joined() {
    let (first, second, joined) = (Folder::new("one"), Folder::new("two"), Folder::new("three"));
    let text = String::from_utf8(serial(&first)).expect("JSON is text");
    fs::create_dir_all(&second.0).expect("a folder");
    let changed = text.replacen("\"mean\":0.", "\"mean\":0.9", 1);
    assert_ne!(changed, text);
    fs::write(second.0.join("cells.jsonl"), changed).expect("a file");
    let error = merge(&[first.0.clone(), second.0.clone()], &joined.0);
    assert!(matches!(error, Err(RunError::Journal(JournalError::Contradiction { .. }))), "{error:?}");
}

#[test]
fn merging_nothing_says_where_it_looked() {
    let folder = Folder::new("empty");
    fs::create_dir_all(&folder.0).expect("a folder");
    assert!(matches!(merge(std::slice::from_ref(&folder.0), &folder.0), Err(RunError::NothingToMerge { .. })));
    assert_eq!(Shard::WHOLE.file_name(), "cells.jsonl");
}

#[test]
fn a_method_that_is_added_moves_no_other_digit() {
    let cells = cells();
    let Some(Cell::Synthetic(cell)) = cells.iter().find(|c| matches!(c, Cell::Synthetic(c) if c.methods.len() > 7))
    else {
        panic!("a cell with mixtures")
    };
    let (all, _) = cell.run();
    let mut fewer = cell.clone();
    fewer.methods.truncate(2);
    fewer.methods.reverse();
    let (some, _) = fewer.run();
    assert_eq!(some[0], all[1]);
    assert_eq!(some[1], all[0]);
}
