//! Shards, threads, interruptions.

use super::{Folder, grid, plan, quiet, serial, small};
use counterfair::reproduction::{Cell, Context, Grid, Label, Progress, RunError, Scale, Shard, merge, run};
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

fn cells() -> Vec<Cell> {
    grid().cells(&[])
}

#[test]
fn results_are_bit_identical_on_1_2_4_and_7_threads_and_in_shards() {
    let whole = Folder::new("whole");
    let expected = serial(&whole);
    for threads in [2, 4, 7] {
        let folder = Folder::new(&format!("threads-{threads}"));
        run(&grid(), &Context::default(), &plan(&folder.0, "1/1", false, threads), &quiet).expect("cells run");
        assert!(folder.text() == expected, "{threads} threads");
    }
    let (left, right, joined) = (Folder::new("left"), Folder::new("right"), Folder::new("joined"));
    for (folder, shard) in [(&left, "2/3"), (&right, "1/3"), (&left, "3/3")] {
        run(&grid(), &Context::default(), &plan(&folder.0, shard, false, 2), &quiet).expect("a shard runs");
    }
    let folders = [left.0.clone(), right.0.clone()];
    let merged = merge(&folders, &joined.0, &Context::default(), false).expect("shards join");
    assert_eq!((merged.missing, merged.contents.grids), (0, vec![grid()]));
    assert!(joined.text() == expected, "three shards");
}

#[test]
fn a_merge_without_all_shards_is_refused_by_name_unless_told() {
    let (folder, joined) = (Folder::new("two-thirds"), Folder::new("two-thirds-joined"));
    for shard in ["1/3", "3/3"] {
        run(&grid(), &Context::default(), &plan(&folder.0, shard, false, 2), &quiet).expect("a shard runs");
    }
    let folders = [folder.0.clone()];
    let refused = merge(&folders, &joined.0, &Context::default(), false).expect_err("a third is missing");
    let count = cells().len();
    let gone = (0..count).filter(|i| i % 3 == 1).count();
    let message = refused.to_string();
    let expected = format!("{gone} of {count} cells are missing (shard 2/3: {gone}, not there");
    assert!(message.starts_with(&expected) && message.contains(&cells()[1].key()), "{message}");
    assert!(!joined.0.exists(), "nothing is written");
    let merged = merge(&folders, &joined.0, &Context::default(), true).expect("told to");
    assert_eq!((merged.missing, merged.contents.records.len()), (gone, count - gone));

    // A shard that was cut off is told from one that is not there.
    let shard = folder.0.join("cells.3-of-3.jsonl");
    let text = fs::read_to_string(&shard).expect("a shard");
    let cut = text.lines().take(text.lines().count() - 2).collect::<Vec<_>>().join("\n") + "\n";
    fs::write(&shard, cut).expect("a cut shard");
    let message = merge(&folders, &joined.0, &Context::default(), false).expect_err("more is missing").to_string();
    assert!(message.contains("shard 3/3: 2, cut off"), "{message}");
}

#[test]
fn a_run_cut_off_anywhere_is_resumed_to_the_same_bytes() {
    let folder = Folder::new("cut");
    let expected = serial(&folder);
    let lines: Vec<usize> = (0..expected.len()).filter(|&i| expected[i] == b'\n').collect();
    // In the header; after the grid, which is the second line; in the middle of a line; at the end of one; before the last byte.
    for cut in [5, lines[1] + 1, lines[4] + 40, lines[6] + 1, expected.len() - 1] {
        fs::write(folder.file(), &expected[..cut]).expect("a cut file");
        let done = AtomicUsize::new(0);
        let count = |p: Progress| {
            done.fetch_max(p.done - p.resumed, Ordering::Relaxed);
        };
        let finished = run(&grid(), &Context::default(), &plan(&folder.0, "1/1", true, 2), &count).expect("resumed");
        assert!(folder.text() == expected, "cut at byte {cut}");
        // The last line is whole without its end too.
        let whole = lines.iter().filter(|&&end| end < cut).count() + usize::from(cut == expected.len() - 1);
        assert_eq!(finished.resumed, whole.saturating_sub(2), "cut at byte {cut}");
        assert_eq!(done.load(Ordering::Relaxed) + finished.resumed, cells().len(), "only what was missing is done");
        let torn = cut == lines[4] + 40;
        assert_eq!(finished.damaged.len(), usize::from(torn), "a torn line is told");
    }
}

#[test]
fn cells_of_another_grid_stay_in_the_file_with_and_without_resume() {
    let folder = Folder::new("grids");
    serial(&folder);
    let other = Grid::new(&[Label::SimAll], Scale { seeds: 1, evaluation_people: 200, ..small() }, &[]);
    let count = other.cells(&[]).len();
    for resume in [true, false] {
        let finished = run(&other, &Context::default(), &plan(&folder.0, "1/1", resume, 2), &quiet).expect("cells run");
        let again = if resume { 0 } else { count };
        assert_eq!((finished.records.len(), finished.resumed), (count, 0), "{again} are done again without --resume");
        assert_eq!(finished.set_aside, None);
        let contents = counterfair::reproduction::journal::read(&finished.file).expect("a file");
        assert_eq!((contents.grids.len(), contents.records.len()), (2, cells().len() + count), "resume {resume}");
    }
    let resumed = run(&grid(), &Context::default(), &plan(&folder.0, "1/1", true, 1), &quiet).expect("nothing to do");
    assert_eq!((resumed.records.len(), resumed.resumed), (cells().len(), cells().len()), "none of the first is lost");
}

#[test]
fn merging_nothing_says_where_it_looked() {
    let folder = Folder::new("empty");
    fs::create_dir_all(&folder.0).expect("a folder");
    let found = merge(std::slice::from_ref(&folder.0), &folder.0, &Context::default(), false);
    assert!(matches!(found, Err(RunError::NothingToMerge { .. })));
    assert_eq!(Shard::WHOLE.file_name(), "cells.jsonl");
}

#[test]
fn a_file_with_a_header_alone_is_no_result_of_anything() {
    let folder = Folder::new("header-alone");
    let finished = run(&grid(), &Context::default(), &plan(&folder.0, "1/1", false, 1), &quiet).expect("cells");
    let text = fs::read_to_string(&finished.file).expect("a file");
    fs::write(&finished.file, text.lines().next().expect("a header").to_string() + "\n").expect("a file");
    for partial in [false, true] {
        let found = merge(std::slice::from_ref(&folder.0), &folder.0, &Context::default(), partial);
        assert!(matches!(found, Err(RunError::NoResults { file }) if file == finished.file), "partial {partial}");
    }
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
