//! People who are judged in the place of all: who they are, and that they are judged as if nobody else were in the file.

use super::{Folder, shuffled, simulated, with_dropout};
use counterfair::audit::recorded::RecordedSettings;
use counterfair::fair::AuditSettings;
use counterfair::files::{DataError, MissingRepair};
use counterfair::notebook::prelude::*;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Memory for a share of the 4900 rows of a simulated file, with one state.
fn memory_for(folder: &Folder, share: f64) -> u64 {
    let whole = taken(folder, "memory-for.csv", 1_000_000, 1);
    let sample = whole.sample().expect("a megabyte is too little for everybody");
    (share * sample.needed as f64) as u64
}

/// A sample of the simulated linear world.
fn taken(folder: &Folder, name: &str, memory: u64, seed: u64) -> People {
    let path = folder.file(name);
    fs::write(&path, simulated(folder, "linear")).unwrap();
    People::read_within(&path, &ReadOptions::default(), memory, seed).unwrap()
}

/// The rows of some people, with the header.
fn rows_of(text: &str, ids: &[String]) -> String {
    let ids: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
    let is_of = |row: &str| ids.contains(row.split(',').next().unwrap());
    text.lines().enumerate().filter(|(i, row)| *i == 0 || is_of(row)).map(|(_, row)| format!("{row}\n")).collect()
}

fn same_people(a: &People, b: &People) {
    assert!(a.panel().iter().eq(b.panel().iter()));
    assert_eq!((a.panel().levels(), a.panel().action_names()), (b.panel().levels(), b.panel().action_names()));
    assert_eq!((a.notes(), a.repairs()), (b.notes(), b.repairs()));
}

#[test]
fn a_sample_is_what_a_file_of_these_people_gives_in_whatever_order_rows_come() {
    let folder = Folder::new("sample");
    let (path, alone) = (folder.file("people.csv"), folder.file("alone.csv"));
    let text = simulated(&folder, "linear");
    let backwards: String = {
        let (header, rows) = text.split_once('\n').unwrap();
        std::iter::once(header).chain(rows.lines().rev()).map(|row| format!("{row}\n")).collect()
    };
    let memory = memory_for(&folder, 0.35);
    let dropped = ReadOptions { missing: MissingRepair::DropTail, ..ReadOptions::default() };
    for (texts, options) in [
        ([text.clone(), shuffled(&text), backwards], ReadOptions::default()),
        ([with_dropout(&text), shuffled(&with_dropout(&text)), with_dropout(&text)], dropped),
    ] {
        let mut found: Vec<People> = Vec::new();
        for text in texts {
            fs::write(&path, &text).unwrap();
            let people = People::read_within(&path, &options, memory, 3).unwrap();
            assert_eq!(people.sample().unwrap().one_in, 4);
            fs::write(&alone, rows_of(&text, people.panel().ids())).unwrap();
            let expected = People::read_with(&alone, &options).unwrap();
            // A person who was dropped has no id in the panel, and places are lines of another file.
            assert!(people.panel().iter().eq(expected.panel().iter()));
            found.push(people);
        }
        for other in &found[1..] {
            assert!(other.panel().iter().eq(found[0].panel().iter()), "the order of rows has no effect");
            assert_eq!(other.sample(), found[0].sample());
        }
    }
}

#[test]
fn everybody_is_taken_who_fits_and_half_of_them_at_a_time_where_not() {
    let folder = Folder::new("halves");
    let whole = People::read(folder_with(&folder)).unwrap();
    let ids = |people: &People| people.panel().ids().iter().cloned().collect::<BTreeSet<String>>();
    let mut larger = taken(&folder, "people.csv", memory_for(&folder, 1.0) + 1000, 5);
    assert!(larger.sample().is_none());
    same_people(&larger, &whole);
    for (share, one_in) in [(0.8, 2), (0.35, 4), (0.17, 8)] {
        let smaller = taken(&folder, "people.csv", memory_for(&folder, share), 5);
        let sample = smaller.sample().unwrap();
        assert_eq!((sample.one_in, sample.people), (one_in, smaller.panel().people()));
        assert_eq!((sample.rows, sample.rows_in_file), (smaller.panel().state_rows(), 4900));
        assert!(sample.rows as f64 <= share * 4900.0 && (larger.panel().state_rows() as f64) > share * 4900.0);
        assert!(ids(&smaller).is_subset(&ids(&larger)));
        larger = smaller;
    }
}

fn folder_with(folder: &Folder) -> std::path::PathBuf {
    let path = folder.file("whole.csv");
    fs::write(&path, simulated(folder, "linear")).unwrap();
    path
}

/// Over 100 seeds each of 700 people is taken with probability ¼. False alarms: 4 standard errors in the first check, 6e-5; the largest of 700 in
/// the second, 700 times the probability that a binomial of 100 with p = ¼ is outside 6..=47, below 2e-3.
#[test]
fn each_person_is_taken_as_often_as_any_other_wherever_they_stand_in_the_file() {
    let folder = Folder::new("often");
    let path = folder_with(&folder);
    let (memory, seeds) = (memory_for(&folder, 0.37), 100);
    let mut often = vec![0usize; 700];
    for seed in 0..seeds {
        let people = People::read_within(&path, &ReadOptions::default(), memory, seed).unwrap();
        assert_eq!(people.sample().unwrap().one_in, 4);
        people.panel().ids().iter().for_each(|id| often[id.parse::<usize>().unwrap() - 1] += 1);
    }
    let trials = 350.0 * seeds as f64;
    for half in often.chunks(350) {
        let share = half.iter().sum::<usize>() as f64 / trials;
        assert!((share - 0.25).abs() < 4.0 * (0.25 * 0.75 / trials).sqrt(), "{share}");
    }
    assert!(often.iter().all(|n| (6..=47).contains(n)), "{often:?}");
}

#[test]
fn a_policy_is_judged_as_on_a_file_of_these_people() {
    let folder = Folder::new("judged");
    let path = folder_with(&folder);
    let learner = Learner { replicates: 10, splits: 0, ..super::learner(Method::Ours) };
    let policy = learner.learn(&People::read(&path).unwrap()).unwrap();
    let people = policy.read_people_within(&path, &ReadOptions::default(), memory_for(&folder, 0.35), 1).unwrap();
    let alone = folder.file("alone.csv");
    fs::write(&alone, rows_of(&fs::read_to_string(&path).unwrap(), people.panel().ids())).unwrap();
    let values = RecordedSettings { replicates: 10, ..RecordedSettings::default() };
    let settings = AuditSettings { values, ..AuditSettings::default() };
    let audit = |people: &People| policy.audit(people, &[], &settings, &mut |_| {}).unwrap();
    let (sampled, expected) =
        (audit(&people), audit(&policy.read_people_with(&alone, &ReadOptions::default()).unwrap()));
    assert_eq!(sampled.values.received, expected.values.received);
    assert_eq!(sampled.values.policies, expected.values.policies);
    assert_eq!(sampled.unfairness.unwrap().metric, expected.unfairness.unwrap().metric);
    assert_eq!((sampled.own_people, expected.own_people), (None, Some(false)));
    let said = |warnings: &[String]| warnings.iter().any(|line| line.contains("cannot be told from a sample"));
    assert!(said(&sampled.warnings) && !said(&expected.warnings));
}

#[test]
fn a_bad_cell_is_found_in_anybodys_row_and_too_little_memory_is_said() {
    let folder = Folder::new("sample-errors");
    let path = folder_with(&folder);
    let text = fs::read_to_string(&path).unwrap();
    let read = |path: &Path, memory| People::read_within(path, &ReadOptions::default(), memory, 1);
    let memory = memory_for(&folder, 0.1);
    let ids: Vec<String> = read(&path, memory).unwrap().panel().ids().to_vec();
    let outside = (1..).map(|id: usize| id.to_string()).find(|id| !ids.contains(id)).unwrap();
    let broken: String = text
        .lines()
        .map(|row| match row.strip_prefix(&format!("{outside},2,")) {
            Some(_) => format!("{},tall\n", &row[..row.rfind(',').unwrap()]),
            None => format!("{row}\n"),
        })
        .collect();
    assert_ne!(broken, text);
    fs::write(&path, broken).unwrap();
    let expected = People::read(&path).unwrap_err().to_string();
    assert_eq!(read(&path, memory).unwrap_err().to_string(), expected);
    let nobody = read(&folder_with(&folder), 10).unwrap_err();
    let is_told = |error: &DataError| matches!(error, DataError::NobodyFits { rows: 0, .. });
    assert!(matches!(&nobody, counterfair::fair::Error::Data(error) if is_told(error)), "{nobody}");
    fs::write(&path, text.lines().next().unwrap()).unwrap();
    assert_eq!(read(&path, memory).unwrap_err().to_string(), People::read(&path).unwrap_err().to_string());
}

#[test]
fn a_level_that_nobody_in_the_sample_has_is_named() {
    let folder = Folder::new("absent");
    let path = folder_with(&folder);
    let rare: String =
        (1..=7).map(|t| if t == 1 { format!("a,{t},rare,,,0\n") } else { format!("a,{t},rare,0,1,0\n") }).collect();
    fs::write(&path, fs::read_to_string(&path).unwrap() + &rare).unwrap();
    let memory = memory_for(&folder, 0.1);
    let samples = (0..30).map(|seed| People::read_within(&path, &ReadOptions::default(), memory, seed).unwrap());
    let (with, without): (Vec<People>, Vec<People>) =
        samples.partition(|people| people.panel().ids().contains(&"a".to_string()));
    assert!(!with.is_empty() && !without.is_empty());
    assert!(with.iter().all(|people| people.sample().unwrap().absent.is_empty()));
    for people in without {
        assert_eq!(people.sample().unwrap().absent, ["rare"]);
        assert!(people.sample().unwrap().to_string().ends_with("nobody in the sample has rare"));
    }
}
