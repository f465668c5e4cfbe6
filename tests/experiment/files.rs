//! Files of results that are damaged, do not fit, contradict each other, or belong to somebody else.

use super::{Folder, grid, plan, quiet, serial};
use counterfair::kernel::people::{Labels, PanelBuilder, Person};
use counterfair::reproduction::journal;
use counterfair::reproduction::journal::{Header, Journal, JournalError, Lock, Misfit};
use counterfair::reproduction::{
    Attribute, Context, Finished, Grid, Label, MethodOutcome, Origin, Plan, Record, RunError, Study, merge, run,
};
use std::fs;
use std::path::Path;

fn resume(folder: &Folder) -> Result<Finished, RunError> {
    run(&grid(), &Context::default(), &plan(&folder.0, "1/1", true, 2), &quiet)
}

/// Writes the file again with another header, sealed like any other.
fn with_header(folder: &Folder, change: impl FnOnce(&mut Header)) {
    let mut contents = journal::read(&folder.file()).expect("our own file");
    change(&mut contents.header);
    journal::write(&folder.file(), &contents.header, &contents.grids, &contents.records).expect("a folder of ours");
}

#[test]
fn damaged_lines_are_dropped_told_and_done_again() {
    let folder = Folder::new("damaged");
    let expected = serial(&folder);
    let starts: Vec<usize> = (0..expected.len()).filter(|&i| i == 0 || expected[i - 1] == b'\n').collect();
    let mut text = expected.clone();
    // A digit of a number, a brace, and the newline between two lines, which costs both of them.
    let digit = starts[3] + text[starts[3]..].windows(7).position(|w| w == b"\"mean\":").expect("a mean") + 9;
    text[digit] = if text[digit] == b'7' { b'3' } else { b'7' };
    text[starts[5]] = b'?';
    text[starts[8] - 1] = b' ';
    fs::write(folder.file(), &text).expect("a damaged file");
    let finished = resume(&folder).expect("damage is no reason to stop");
    assert_eq!(finished.damaged.iter().map(|d| d.line).collect::<Vec<_>>(), [4, 6, 8]);
    assert_eq!(finished.records.len() - finished.resumed, 4, "two lines and two more are done again");
    assert!(folder.text() == expected);
}

#[test]
fn a_damaged_header_is_an_error_to_resume_from_and_is_set_aside_otherwise() {
    let folder = Folder::new("header");
    let mut text = serial(&folder);
    let whole = text.clone();
    text[3] ^= 1;
    fs::write(folder.file(), &text).expect("a damaged file");
    let refused = resume(&folder).expect_err("nobody knows what its numbers depend on");
    assert!(matches!(refused, RunError::Journal(JournalError::NoHeader { .. })), "{refused:?}");
    assert!(folder.text() == text, "a refused file stays as it was");
    let plan = Plan { resume: false, ..plan(&folder.0, "1/1", false, 2) };
    let finished = run(&grid(), &Context::default(), &plan, &quiet).expect("a new file");
    let (aside, why) = finished.set_aside.expect("the old one is told");
    assert!(fs::read(&aside).expect("the old file") == text && why.contains("first line"), "{why}");
    assert!(folder.text() == whole);
}

#[test]
fn results_of_another_version_or_build_are_not_mixed_with_ours() {
    let folder = Folder::new("version");
    serial(&folder);
    type Change = fn(&mut Header);
    let changes: [(&str, Change); 3] = [
        ("version 0.0.0", |h| h.version = "0.0.0".into()),
        ("other numbers", |h| h.numbers = "0123456789abcdef".into()),
        ("format", |h| h.format = "counterfair cells 3".into()),
    ];
    for (word, change) in changes {
        serial(&folder);
        with_header(&folder, change);
        let before = folder.text();
        for refused in [
            resume(&folder).map(|_| ()).expect_err(word),
            merge(std::slice::from_ref(&folder.0), &folder.0, &Context::default(), true).map(|_| ()).expect_err(word),
        ] {
            assert!(matches!(refused, RunError::Journal(JournalError::Misfit { .. })), "{refused:?}");
            assert!(refused.to_string().contains(word), "{refused}");
        }
        assert!(folder.text() == before, "a refused file stays as it was");
    }
}

/// What a study of twelve people can be told from another by.
struct Told {
    ids: &'static str,
    levels: [&'static str; 2],
    actions: [&'static str; 2],
    attribute: &'static str,
    state: f64,
    action: u32,
    reward: f64,
    code: u32,
}

const PLAIN: Told = Told {
    ids: "",
    levels: ["a", "b"],
    actions: ["0", "1"],
    attribute: "z1",
    state: 0.25,
    action: 0,
    reward: 0.5,
    code: 0,
};

impl Told {
    fn study(&self, name: &str) -> Study {
        let levels = Labels::new(self.levels);
        let mut builder = PanelBuilder::new(levels.clone(), Labels::new(self.actions), 1).expect("two actions");
        for i in 0..12u32 {
            let x = f64::from(i);
            let (mut states, mut rewards) = ([x.sin(), (x + 0.3).cos(), x / 7.0], [x, 1.0]);
            let mut actions = [i % 2, (i / 2) % 2];
            if i == 0 {
                (states[1], actions[1], rewards[0]) = (self.state, self.action, self.reward);
            }
            let id = format!("{}{i}", self.ids);
            builder
                .push(Person { id: &id, level: i % 2, states: &states, actions: &actions, rewards: &rewards })
                .expect("a person");
        }
        let codes = (0..12).map(|i| if i == 0 { self.code } else { i % 2 }).collect();
        let attribute = Attribute { name: self.attribute.into(), levels, codes };
        Study::new(name, Origin::File, "", &[], vec![attribute], builder.finish())
    }
}

/// A study whose first reward can be chosen.
pub fn study(name: &str, reward: f64) -> Study {
    Told { reward, ..PLAIN }.study(name)
}

#[test]
fn a_study_has_another_fingerprint_when_anything_in_it_is_another() {
    let others = [
        PLAIN,
        Told { ids: "p", ..PLAIN },
        Told { levels: ["a", "c"], ..PLAIN },
        Told { actions: ["0", "2"], ..PLAIN },
        Told { attribute: "z2", ..PLAIN },
        Told { state: 0.26, ..PLAIN },
        Told { action: 1, ..PLAIN },
        Told { reward: 0.75, ..PLAIN },
        Told { code: 1, ..PLAIN },
    ];
    let prints: std::collections::BTreeSet<String> = others.iter().map(|told| told.study("x").fingerprint()).collect();
    assert_eq!(prints.len(), others.len());
    assert_eq!(PLAIN.study("x").fingerprint(), PLAIN.study("y").fingerprint(), "a name is no data");
}

#[test]
fn results_on_other_data_or_on_unknown_data_are_refused_by_name() {
    let folder = Folder::new("data");
    let here = |name: &str, reward| Context::new(vec![study(name, reward)]);
    let context = here("mine", 0.5);
    // What was asked for names the study, before any cell of it is finished.
    let asked = Grid::new(&[Label::RealData], super::small(), context.studies());
    let header = context.header(counterfair::reproduction::Shard::WHOLE);
    journal::write(&folder.file(), &header, &[asked], &[]).expect("a file");
    let folders = std::slice::from_ref(&folder.0);
    let refused = |context: &Context| match merge(folders, &folder.0, context, true) {
        Err(RunError::Journal(JournalError::Misfit { misfit, .. })) => Some(misfit),
        _ => None,
    };
    assert!(matches!(refused(&here("mine", 0.75)), Some(Misfit::Data { study, .. }) if study == "mine"));
    assert_eq!(refused(&here("yours", 0.5)), Some(Misfit::UnknownStudy("mine".into())));
    assert_eq!(refused(&context), None);
}

#[test]
fn shards_that_contradict_each_other_are_not_joined() {
    let (first, second, joined) = (Folder::new("one"), Folder::new("two"), Folder::new("three"));
    serial(&first);
    serial(&second);
    let mut contents = journal::read(&second.file()).expect("our own file");
    let outcome = &mut contents.records[2].results[0].outcome;
    let MethodOutcome::Evaluated(measured) = outcome else { panic!("Full can be learned") };
    measured.value.mean += 1e-12;
    journal::write(&second.file(), &contents.header, &contents.grids, &contents.records).expect("a folder of ours");
    let error = merge(&[first.0.clone(), second.0.clone()], &joined.0, &Context::default(), false);
    let Err(RunError::Journal(JournalError::Contradiction { key, path })) = error else { panic!("{error:?}") };
    assert_eq!((key, path), (contents.records[2].cell.key(), second.file()));
}

#[test]
fn of_two_runs_in_one_folder_the_second_is_refused() {
    let folder = Folder::new("locked");
    let before = serial(&folder);
    let lock = Lock::take(&folder.file()).expect("nobody else is there");
    let refused = resume(&folder).expect_err("somebody is writing");
    assert!(matches!(refused, RunError::Journal(JournalError::Locked { .. })), "{refused:?}");
    assert!(refused.to_string().contains("another run") && folder.text() == before);
    let merged = merge(std::slice::from_ref(&folder.0), &folder.0, &Context::default(), false);
    assert!(matches!(merged, Err(RunError::Journal(JournalError::Locked { .. }))), "{merged:?}");
    // Shards have files of their own and run side by side.
    assert!(Lock::take(&folder.0.join("cells.1-of-2.jsonl")).is_ok());
    drop(lock);
    resume(&folder).expect("nobody is there any more");
}

#[test]
fn records_that_cannot_be_are_dropped_though_their_checksum_fits() {
    let folder = Folder::new("impossible");
    serial(&folder);
    let mut contents = journal::read(&folder.file()).expect("our own file");
    let break_one = |record: &mut Record, change: fn(&mut counterfair::reproduction::Measured)| {
        let MethodOutcome::Evaluated(measured) = &mut record.results[1].outcome else { panic!("can be learned") };
        change(measured);
    };
    break_one(&mut contents.records[0], |m| m.shares.clear());
    break_one(&mut contents.records[1], |m| m.unfairness.mean = -5.0);
    break_one(&mut contents.records[2], |m| m.value.mean = 1e300);
    contents.records[3].results.clear();
    journal::write(&folder.file(), &contents.header, &contents.grids, &contents.records).expect("a folder of ours");
    let found = journal::read(&folder.file()).expect("a header");
    assert_eq!(found.damaged.iter().map(|d| d.line).collect::<Vec<_>>(), [3, 4, 5, 6]);
    assert_eq!(found.records.len(), contents.records.len() - 4);
}

#[test]
fn of_a_cell_that_was_done_twice_the_later_line_counts() {
    let folder = Folder::new("twice");
    serial(&folder);
    let contents = journal::read(&folder.file()).expect("our own file");
    let mut again = contents.records[4].clone();
    again.results[0].outcome = MethodOutcome::NotLearned("on another day".into());
    Journal::open(&folder.file()).and_then(|mut journal| journal.append(&again)).expect("a folder of ours");
    let found = journal::read(&folder.file()).expect("our own file");
    assert_eq!((found.records.len(), &found.records[4]), (contents.records.len(), &again));
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_is_written_after_a_line_that_could_not_be() {
    let folder = Folder::new("full");
    serial(&folder);
    let record = journal::read(&folder.file()).expect("our own file").records.remove(0);
    // A device that is always full, which writing cannot harm.
    let mut journal = Journal::open(Path::new("/dev/full")).expect("a device");
    assert!(matches!(journal.append(&record), Err(JournalError::Io { .. })));
    assert!(matches!(journal.append(&record), Err(JournalError::Broken { .. })));
}
