//! What a study says of four real ones: the verdict and the main numbers, as snapshots.
//!
//! Project STAR and the HELP trial stand beside the tests. ACTG 175 and wagepan are not in the repository: their stories are ignored, and run where
//! `COUNTERFAIR_STUDIES` names the folder that has them.

use counterfair::estimate::OutputSet;
use counterfair::fair::study::{Study, StudySettings, study};
use counterfair::fair::{Learner, Method, People};
use counterfair::files::{Columns, MissingRepair, ReadOptions};
use counterfair::kernel::people::{Labels, Panel, PanelBuilder, Person};
use counterfair::reproduction::Study as Known;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Fewer replicates than by default: a story, not a paper.
fn settings(keep: &[usize]) -> StudySettings {
    let mut learner = Learner { replicates: 40, splits: 1, ..Learner::new(Method::Ours) };
    learner.preprocessing.mechanism.keep = keep.iter().fold(OutputSet::default(), |set, &j| set.with(j).unwrap());
    StudySettings { learner, replicates: 60, group_replicates: 100, ..StudySettings::default() }
}

fn star_settings() -> StudySettings {
    StudySettings { notes: vec![STAR.into()], ..settings(&[2]) }
}

/// What the file of Project STAR does not say.
const STAR: &str = "Class type was assigned at random within schools and at entry to the study; later moves between classes were not random, and \
                    schools are not among the states. Differences at later decisions are adjusted for the recorded states only.";

/// The page's main numbers, to as many digits as every machine agrees on.
fn story(found: &Study) -> String {
    let mut text = format!("{}\n", counterfair::report::study::sentence(found));
    let data = &found.data;
    let levels: Vec<String> = data.levels.iter().map(|l| format!("{} {}", l.name, l.people)).collect();
    writeln!(
        text,
        "{} people, {} decisions, at most {}; {}",
        data.people,
        data.decisions,
        data.horizon,
        levels.join(", ")
    )
    .unwrap();
    found.notes.iter().for_each(|note| writeln!(text, "note: {note}").unwrap());
    if let Some(staying) = &data.staying {
        writeln!(text, "left early: {:.1} %", 100.0 * staying.share_of_people).unwrap();
    }
    if let Some(policies) = &found.policies {
        writeln!(text, "received {:.2}", policies.received.mean).unwrap();
        for row in policies.rows.iter().take(3) {
            let metric = row.cf_metric.map_or("not given".into(), |metric| format!("at most {:.2}", metric.upper));
            writeln!(text, "{}: {:+.2} to received, CF metric {metric}", row.name, row.minus_received.mean).unwrap();
            let (low, high) = row.value.interval.unwrap();
            assert!(policies.allowed.0 <= low && high <= policies.allowed.1, "{row:?}");
        }
    }
    found.cautions.iter().for_each(|caution| writeln!(text, "caution: {caution}").unwrap());
    text
}

/// A file of the folder of studies that are not in the repository.
fn elsewhere(name: &str) -> PathBuf {
    let folder = std::env::var_os("COUNTERFAIR_STUDIES").expect("COUNTERFAIR_STUDIES names the folder of studies");
    Path::new(&folder).join(name)
}

fn star() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/star/star_long.csv")).unwrap()
}

#[test]
fn project_star_by_ethnicity() {
    let known = Known::star(star().as_bytes()).unwrap();
    // The small class is given by the experiment: no effect of ethnicity on it, by design.
    let found = study(&People::from(known.panel("ethnicity").unwrap()), &star_settings(), &mut |_| {}).unwrap();
    insta::assert_snapshot!("star_ethnicity", story(&found));
}

/// Free lunch changes within one pupil in six: both rules are shown, as first recorded and ever.
#[test]
fn project_star_by_free_lunch_under_two_rules() {
    let text = star();
    let known = Known::star(text.as_bytes()).unwrap();
    let first = known.panel("free lunch").unwrap();
    let mut statuses: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        if !cells[4].is_empty() {
            statuses.entry(cells[0].into()).or_default().push(cells[4].into());
        }
    }
    let none = Vec::new();
    let of = |id: &str| statuses.get(id.trim_start_matches('0')).unwrap_or(&none);
    let changes = |id: &String| of(id).windows(2).any(|pair| pair[0] != pair[1]);
    let share = first.ids().iter().filter(|id| changes(id)).count() as f64 / first.people() as f64;
    let ever = relevelled(&first, |person| if of(person.id).iter().any(|s| s == "free") { "free" } else { "non-free" });
    assert!((0.1..0.25).contains(&share), "{share}");
    let mut text = format!("free lunch changes within {:.0} % of pupils\n\nas first recorded\n", 100.0 * share);
    text += &story(&study(&People::from(first), &star_settings(), &mut |_| {}).unwrap());
    text += "\never recorded\n";
    text += &story(&study(&People::from(ever), &star_settings(), &mut |_| {}).unwrap());
    insta::assert_snapshot!("star_free_lunch", text);
}

/// The same people with other levels.
fn relevelled(panel: &Panel, level: impl Fn(&Person<'_>) -> &'static str) -> Panel {
    let levels = Labels::new(["free", "non-free"]);
    let mut builder = PanelBuilder::new(levels.clone(), panel.action_names().clone(), panel.state_dim()).unwrap();
    for person in panel.iter() {
        let code = levels.code(level(&person)).unwrap() as u32;
        builder.push(Person { level: code, ..person }).unwrap();
    }
    builder.finish()
}

fn read(path: &Path, columns: Columns) -> People {
    let options = ReadOptions { columns, missing: MissingRepair::DropTail, ..ReadOptions::default() };
    People::read_with(path, &options).unwrap()
}

#[test]
fn the_help_trial_by_sex_and_by_race() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/help/help_trial.csv");
    let of = |attribute: &str| {
        let people = read(&path, Columns { level: vec![attribute.into()], ..Columns::default() });
        story(&study(&people, &settings(&[]), &mut |_| {}).unwrap())
    };
    insta::assert_snapshot!("help", format!("by sex\n{}\nby race\n{}", of("sex"), of("race")));
}

#[test]
#[ignore = "needs wagepan.csv, which is not in the repository: COUNTERFAIR_STUDIES=FOLDER"]
fn wages_of_men_by_race() {
    let found = study(&read(&elsewhere("wagepan.csv"), Columns::default()), &settings(&[]), &mut |_| {}).unwrap();
    insta::assert_snapshot!("wagepan", story(&found));
}

/// Weeks 0, 20 and 96 are visits 0, 1 and 2.
#[test]
#[ignore = "needs actg175_long.csv, which is not in the repository: COUNTERFAIR_STUDIES=FOLDER"]
fn actg_175_by_race() {
    let text = std::fs::read_to_string(elsewhere("actg175_long.csv")).unwrap();
    let mut visits = String::from("ID,timestamp,z1,action,reward,state1\n");
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let visit = ["0", "20", "96"].iter().position(|week| *week == cells[1]).unwrap();
        let reward = if visit == 0 { "" } else { cells[7] };
        writeln!(visits, "{},{visit},{},{},{reward},{}", cells[0], cells[2], cells[6], cells[7]).unwrap();
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("actg.csv");
    std::fs::write(&file, visits).unwrap();
    let found = study(&read(&file, Columns::default()), &settings(&[]), &mut |_| {}).unwrap();
    insta::assert_snapshot!("actg175", story(&found));
}
