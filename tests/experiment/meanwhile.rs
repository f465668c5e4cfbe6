//! What is in the folder while a run lasts, and what a run leaves alone.

use super::files::study;
use super::{Folder, grid, plan, quiet, serial, small};
use counterfair::reproduction::journal;
use counterfair::reproduction::journal::{JournalError, Lock};
use counterfair::reproduction::{Context, Grid, Label, Progress, RunError, Scale, Shard, merge, run};
use std::fs;
use std::sync::Mutex;

/// A grid that asks for nothing, since there is no study.
fn nothing() -> Grid {
    Grid::new(&[Label::RealData], small(), &[])
}

#[test]
fn earlier_cells_are_in_the_file_and_the_file_is_locked_while_a_run_lasts() {
    let folder = Folder::new("meanwhile");
    serial(&folder);
    let before = journal::read(&folder.file()).expect("our own file").records.len();
    let other = Grid::new(&[Label::SimAll], Scale { seeds: 1, evaluation_people: 150, ..small() }, &[]);
    let seen = Mutex::new(Vec::new());
    let watch = |p: Progress| {
        let cells = journal::read(&folder.file()).expect("a file").records.len();
        let locked = matches!(Lock::take(&folder.file()), Err(JournalError::Locked { .. }));
        seen.lock().expect("no panic").push((cells - before, p, locked));
    };
    for resume in [true, false] {
        let finished = run(&other, &Context::default(), &plan(&folder.0, "1/1", resume, 1), &watch).expect("cells run");
        let told: Vec<_> = seen.lock().expect("no panic").drain(..).collect();
        let total = other.cells(&[]).len();
        // The second time the cells are done again, over those of the first.
        let first = if resume { 0 } else { total };
        let expected: Vec<_> =
            (0..=total).map(|done| (first.max(done), Progress { done, resumed: 0, total }, true)).collect();
        assert_eq!(told, expected, "resume {resume}");
        assert_eq!(finished.records.len(), total);
    }
    let resumed = run(&other, &Context::default(), &plan(&folder.0, "1/1", true, 1), &watch).expect("nothing to do");
    let total = other.cells(&[]).len();
    let told: Vec<_> = seen.lock().expect("no panic").drain(..).collect();
    assert_eq!(told, [(total, Progress { done: total, resumed: total, total }, true)]);
    assert_eq!(resumed.resumed, total);
}

#[test]
fn cells_are_done_on_as_many_threads_as_were_asked_for() {
    let folder = Folder::new("threads-asked");
    for threads in [1, 3] {
        let pools = Mutex::new(Vec::new());
        // The first word comes from the caller's thread, all others from the pool.
        let watch = |_: Progress| pools.lock().expect("no panic").push(rayon::current_num_threads());
        let one = Grid::new(&[Label::SimAll], Scale { seeds: 1, ..small() }, &[]);
        run(&one, &Context::default(), &plan(&folder.0, "1/4", false, threads), &watch).expect("cells run");
        let pools = pools.into_inner().expect("no panic");
        assert!(pools.len() > 1 && pools[1..].iter().all(|&found| found == threads), "{pools:?}");
    }
}

#[test]
fn a_file_of_results_is_replaced_and_never_written_over() {
    let folder = Folder::new("replaced");
    let before = serial(&folder);
    let link = folder.0.join("link");
    fs::hard_link(folder.file(), &link).expect("a second name");
    let contents = journal::read(&folder.file()).expect("our own file");
    journal::write(&folder.file(), &contents.header, &contents.grids, &contents.records[..2]).expect("our folder");
    assert!(fs::read(&link).expect("the old file") == before, "whoever reads the old file goes on reading it");
    assert!(folder.text().len() < before.len());
}

#[test]
fn files_that_do_not_fit_are_set_aside_one_by_one_and_not_merged() {
    let folder = Folder::new("aside");
    fs::create_dir_all(&folder.0).expect("a folder");
    for i in 1..=2 {
        fs::write(folder.file(), format!("no header {i}\n")).expect("a file");
        let finished =
            run(&nothing(), &Context::default(), &plan(&folder.0, "1/1", false, 1), &quiet).expect("nothing to do");
        let (aside, _) = finished.set_aside.expect("it does not fit");
        assert_eq!(aside, folder.0.join(format!("cells.jsonl.old-{i}")));
    }
    for i in 1..=2 {
        let old = fs::read_to_string(folder.0.join(format!("cells.jsonl.old-{i}"))).expect("set aside");
        assert_eq!(old, format!("no header {i}\n"));
    }
    merge(std::slice::from_ref(&folder.0), &folder.0, &Context::default(), false).expect("what is aside is left alone");
}

#[test]
fn what_cannot_be_read_is_an_error_and_no_new_file() {
    let folder = Folder::new("unreadable");
    fs::create_dir_all(folder.file()).expect("a folder where the file should be");
    for resume in [true, false] {
        let refused = run(&nothing(), &Context::default(), &plan(&folder.0, "1/1", resume, 1), &quiet);
        assert!(matches!(refused, Err(RunError::Journal(JournalError::Io { .. }))), "{refused:?}");
    }
}

#[test]
fn a_file_names_the_studies_of_all_its_runs() {
    let folder = Folder::new("studies");
    for name in ["mine", "yours"] {
        let context = Context::new(vec![study(name, 0.5)]);
        run(&nothing(), &context, &plan(&folder.0, "1/1", true, 1), &quiet).expect("nothing to do");
    }
    let header = journal::read(&folder.file()).expect("our own file").header;
    assert_eq!(header.studies.keys().collect::<Vec<_>>(), ["mine", "yours"]);
    // A file whose header does not say which data its cells are of is refused, whatever is here.
    let context = Context::new(vec![study("mine", 0.5)]);
    let asked = Grid::new(&[Label::RealData], small(), context.studies());
    journal::write(&folder.file(), &Context::default().header(Shard::WHOLE), &[asked], &[]).expect("our folder");
    let refused = merge(std::slice::from_ref(&folder.0), &folder.0, &context, true).expect_err("data of no known kind");
    assert!(refused.to_string().contains("study `mine`"), "{refused}");
}

#[test]
fn a_merge_is_in_canonical_order_and_tells_damage_by_file() {
    let (left, right, joined) = (Folder::new("order-left"), Folder::new("order-right"), Folder::new("order-joined"));
    let small = Grid::new(&[Label::SimAll], Scale { seeds: 1, ..small() }, &[]);
    for (folder, shard) in [(&left, "2/2"), (&right, "1/2")] {
        run(&small, &Context::default(), &plan(&folder.0, shard, false, 2), &quiet).expect("a shard runs");
    }
    let folders = [left.0.clone(), right.0.clone()];
    let merged = merge(&folders, &joined.0, &Context::default(), false).expect("shards join");
    let keys: Vec<String> = merged.contents.records.iter().map(|r| r.cell.key()).collect();
    assert!(keys.is_sorted(), "{keys:?}");
    // The same shard in two folders, one of them with a torn end: the cell is there, and the tear is told.
    let copy = Folder::new("order-copy");
    fs::create_dir_all(&copy.0).expect("a folder");
    let shard = "cells.1-of-2.jsonl";
    let text = fs::read(right.0.join(shard)).expect("a shard");
    fs::write(copy.0.join(shard), &text[..text.len() - 9]).expect("a torn copy");
    let folders = [left.0.clone(), right.0.clone(), copy.0.clone()];
    let again = merge(&folders, &joined.0, &Context::default(), false).expect("no cell is missing");
    assert_eq!(again.contents.records, merged.contents.records);
    let lines = text.split(|&b| b == b'\n').count() - 1;
    let told: Vec<_> = again.damaged.iter().map(|(file, damage)| (file.clone(), damage.line)).collect();
    assert_eq!(told, [(copy.0.join(shard), lines)]);
}

#[test]
fn grids_of_all_shards_are_kept() {
    let (left, right, joined) = (Folder::new("g-left"), Folder::new("g-right"), Folder::new("g-joined"));
    let of = |people| Grid::new(&[Label::SimAll], Scale { seeds: 1, evaluation_people: people, ..small() }, &[]);
    let header = Context::default().header(Shard::WHOLE);
    for (folder, people) in [(&left, 150), (&right, 170)] {
        journal::write(&folder.file(), &header, &[of(people)], &[]).expect("our folder");
    }
    let folders = [left.0.clone(), right.0.clone()];
    let merged = merge(&folders, &joined.0, &Context::default(), true).expect("told to");
    assert_eq!(merged.contents.grids, [of(150), of(170)]);
    assert_eq!(merged.missing, of(150).cells(&[]).len() + of(170).cells(&[]).len());
    // Asking twice is asking once, in what is written and in what is read.
    journal::write(&left.file(), &header, &[grid(), grid()], &[]).expect("our folder");
    let text = fs::read_to_string(left.file()).expect("a file");
    assert_eq!(text.lines().count(), 2);
    let last = text.lines().last().expect("a grid");
    fs::write(left.file(), format!("{text}{last}\n")).expect("our folder");
    assert_eq!(journal::read(&left.file()).expect("our own file").grids, [grid()]);
}

#[test]
fn a_file_does_not_show_in_which_order_its_cells_were_done() {
    let folder = Folder::new("order");
    let expected = serial(&folder);
    let mut contents = journal::read(&folder.file()).expect("our own file");
    contents.records.reverse();
    journal::write(&folder.file(), &contents.header, &contents.grids, &contents.records).expect("our folder");
    assert!(folder.text() == expected);
}
