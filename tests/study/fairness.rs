//! No bound of unfairness where it is not known: a state is kept, or recorded in categories.

use crate::folder::Folder;
use serde_json::Value;
use std::fs;

/// What the first line says where `state1` is kept.
const ACCEPTED: &str = "unfairness that goes through state1 is accepted by assumption, not measured";

/// The linear world in `NAME`, with the state recorded as `record` says.
fn recorded(folder: &Folder, name: &str, seed: &str, record: impl Fn(f64) -> f64) {
    folder.succeed(&["simulate", "--world", "linear", "--n", "150", "--t", "6", "--seed", seed, "--out", name]);
    let text = fs::read_to_string(folder.0.join(name)).unwrap();
    let line = |(i, line): (usize, &str)| match line.rsplit_once(',') {
        Some((rest, state)) if i > 0 => format!("{rest},{}\n", record(state.parse().unwrap())),
        _ => format!("{line}\n"),
    };
    fs::write(folder.0.join(name), text.lines().enumerate().map(line).collect::<String>()).unwrap();
}

fn in_steps(step: f64) -> impl Fn(f64) -> f64 {
    move |x| (x / step).round() * step
}

fn json(folder: &Folder, path: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.0.join(path)).unwrap()).unwrap()
}

/// Bounds of policies that look at people, anywhere in a study's numbers; and those on the page and in the tables.
fn bounds(folder: &Folder, out: &str) -> usize {
    let found = json(folder, &format!("{out}/study.json"));
    let rows = found["policies"]["rows"].as_array().unwrap();
    let names = ["Ours", "Full", "Unaware"];
    let looks = |row: &&Value| names.iter().any(|name| row["name"].as_str().is_some_and(|found| found.contains(name)));
    let of_rows = rows.iter().filter(looks).filter(|row| !row["cf_metric"].is_null()).count();
    let pairs = found["policies"]["pairs"].as_array().unwrap().len();
    let curves = ["cross_world_correlation", "causal_share"].map(|curve| found["sensitivity"][curve].is_array());
    let gained = rows.iter().filter(looks).filter(|row| !row["gained_by_unfairness"].is_null()).count();
    let table = fs::read_to_string(folder.0.join(out).join("4-unfairness.csv")).unwrap();
    let in_table =
        table.lines().filter(|line| names.iter().any(|name| line.starts_with(name) || line.contains("% Full")));
    let in_table = in_table
        .filter(|line| line.split(',').nth(3).is_some_and(|cell| cell.contains(|c: char| c.is_ascii_digit())))
        .count();
    let page = fs::read_to_string(folder.0.join(out).join("index.html")).unwrap();
    let on_page = page.matches("unfairness at most").count() + page.matches("(at most").count();
    of_rows + pairs + curves.iter().filter(|there| **there).count() + gained + in_table + on_page
}

/// A lower bound needs no noise: it is there in any case.
fn lower_bounds(folder: &Folder, out: &str) -> usize {
    let found = json(folder, &format!("{out}/study.json"));
    found["policies"]["rows"].as_array().unwrap().iter().filter(|row| row["parity_gap"].is_object()).count()
}

#[test]
fn a_kept_state_is_said_on_the_first_line_and_nothing_bounds_the_unfairness() {
    let folder = Folder::new("fairness kept");
    recorded(&folder, "exact.csv", "3", |x| x);
    let study = ["study", "--data", "exact.csv", "--replicates", "30"];
    let plain = folder.succeed(&[&study[..], &["--out", "plain"]].concat());
    assert!(plain.contains("unfairness at most") && bounds(&folder, "plain") > 10, "{plain}");
    let said = folder.succeed(&[&study[..], &["--out", "kept", "--keep", "state1"]].concat());
    let first = format!("U{}", &ACCEPTED[1..]);
    assert!(said.starts_with(&first), "{said}");
    assert!(!said.contains("at most") && said.contains("No policy is recommended and none is saved"), "{said}");
    assert_eq!(bounds(&folder, "kept"), 0);
    assert!(lower_bounds(&folder, "kept") >= 3);
    let found = json(&folder, "kept/study.json");
    // A state that is the same in all worlds may lie where nobody of another level was seen, which is then said as well.
    let kind = found["verdict"]["kind"].as_str().unwrap();
    assert!(["not_measured", "not_believable"].contains(&kind), "{kind}");
    assert_eq!(found["accepted"], ACCEPTED);
    let text = fs::read_to_string(folder.0.join("kept/study.json")).unwrap();
    assert!(text.lines().nth(1).unwrap().contains(ACCEPTED), "the first line of the file");
    let page = fs::read_to_string(folder.0.join("kept/index.html")).unwrap();
    assert!(page.contains(&format!("<h1>{first}")) && page.contains("class=\"verdict no\""));
    assert!(!folder.0.join("kept/policy.json").exists());
}

#[test]
fn a_state_in_steps_gives_no_bound_and_says_why_and_keeping_it_is_not_offered() {
    let folder = Folder::new("fairness steps");
    for (name, step) in [("integer", 1.0), ("half", 0.5), ("third", 0.3)] {
        recorded(&folder, "rounded.csv", "3", in_steps(step));
        let study = ["study", "--data", "rounded.csv", "--replicates", "30", "--out", name];
        let output = folder.run(&study);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let all = said.clone() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{all}");
        assert!(said.starts_with("Counterfactuals are not to be believed here"), "{name}: {said}");
        assert!(said.contains(&format!("state1 is recorded in steps of {step}")), "{name}: {said}");
        assert!(!all.contains("keep"), "{all}");
        assert_eq!(bounds(&folder, name), 0, "{name}");
        let page = fs::read_to_string(folder.0.join(name).join("index.html")).unwrap();
        assert!(!page.contains("--keep"), "{name}");
        // Keeping it makes nothing green.
        let kept = folder.succeed(&[&study[..], &["--keep", "state1"]].concat());
        assert!(kept.starts_with(&format!("U{}", &ACCEPTED[1..])), "{kept}");
        assert_eq!(bounds(&folder, name), 0, "{name}");
    }
    // Blurred, and by one of the two levels only: neither hides it.
    let text = fs::read_to_string(folder.0.join("rounded.csv")).unwrap();
    let fine = |i: usize| 1e-3 * ((i * 7_919) % 1000) as f64 / 1000.0;
    let blurred = |(i, line): (usize, &str)| match line.rsplit_once(',') {
        Some((rest, state)) if i > 0 => format!("{rest},{}\n", state.parse::<f64>().unwrap() + fine(i)),
        _ => format!("{line}\n"),
    };
    fs::write(folder.0.join("rounded.csv"), text.lines().enumerate().map(blurred).collect::<String>()).unwrap();
    let said = folder.succeed(&["study", "--data", "rounded.csv", "--replicates", "30", "--out", "blurred"]);
    assert!(said.contains("state1 is recorded in steps of 0.3"), "{said}");
    assert_eq!(bounds(&folder, "blurred"), 0);
    // Rounding that is small beside what is not known anyway.
    recorded(&folder, "fine.csv", "3", in_steps(0.001));
    let said = folder.succeed(&["study", "--data", "fine.csv", "--replicates", "30", "--out", "fine"]);
    assert!(said.contains("unfairness at most"), "{said}");
}

#[test]
fn an_evaluation_bounds_nothing_where_a_state_is_kept_or_in_steps_and_gives_the_lower_bound() {
    let folder = Folder::new("fairness evaluated");
    recorded(&folder, "exact.csv", "3", |x| x);
    recorded(&folder, "others.csv", "4", |x| x);
    recorded(&folder, "rounded.csv", "4", in_steps(0.5));
    let learn = |data: &'static str, save: &'static str, more: &[&'static str]| {
        let all = ["learn", "--data", data, "--save", save, "--replicates", "20", "--splits", "0", "--save-anyway"];
        folder.succeed(&[&all[..], more].concat());
    };
    learn("exact.csv", "exact.json", &[]);
    learn("exact.csv", "kept.json", &["--keep", "state1"]);
    learn("rounded.csv", "rounded.json", &[]);
    let evaluated = |policy: &str, data: &str, more: &[&str]| {
        let all = ["evaluate", "--policy", policy, "--data", data, "--replicates", "2"];
        let text = folder.succeed(&[&all[..], more].concat());
        let found = folder.succeed(&[&all[..], more, &["--json"]].concat());
        (text, serde_json::from_str::<Value>(&found).unwrap(), found)
    };
    let (text, found, _) = evaluated("exact.json", "others.csv", &[]);
    assert!(
        text.contains("CF metric") && text.contains("at most") && found["cf_metric"]["upper"].is_number(),
        "{text}"
    );
    for (policy, data, kept) in [
        ("kept.json", "others.csv", true),
        ("rounded.json", "others.csv", false),
        ("exact.json", "rounded.csv", false),
        ("rounded.json", "rounded.csv", false),
    ] {
        let (text, found, json) = evaluated(policy, data, &[]);
        assert!(!text.contains("at most") && text.contains("CF metric: not given"), "{policy} {data}: {text}");
        assert!(text.contains("at least"), "{policy} {data}: {text}");
        assert!(found["cf_metric"]["upper"].is_null() && found["cf_metric"]["problem"].is_string(), "{policy} {data}");
        assert!(found["pairs"].as_array().unwrap().is_empty() && found["sensitivity"].is_null(), "{policy} {data}");
        assert!(found["parity_gap"]["mean"].is_number(), "{policy} {data}");
        assert_eq!(text.starts_with(ACCEPTED), kept, "{text}");
        assert_eq!(json.lines().nth(1).unwrap().contains(ACCEPTED), kept, "{json}");
    }
}

/// The file says so, and whoever serves it does.
#[test]
fn what_study_refuses_is_learned_only_when_asked_for_and_said_again_when_it_is_served() {
    let folder = Folder::new("fairness learned");
    recorded(&folder, "exact.csv", "3", |x| x);
    recorded(&folder, "rounded.csv", "3", in_steps(0.5));
    let text = fs::read_to_string(folder.0.join("exact.csv")).unwrap();
    let cells = |change: &dyn Fn(&mut Vec<String>)| -> String {
        let line = |(i, line): (usize, &str)| {
            let mut cells: Vec<String> = line.split(',').map(String::from).collect();
            if i > 0 && !cells[3].is_empty() {
                change(&mut cells);
            }
            cells.join(",") + "\n"
        };
        text.lines().enumerate().map(line).collect()
    };
    fs::write(folder.0.join("reward.csv"), cells(&|cells| cells[4] = "2".into())).unwrap();
    fs::write(folder.0.join("action.csv"), cells(&|cells| cells[3] = "1".into())).unwrap();
    let learn =
        ["learn", "--noise", "additive", "--splits", "0", "--replicates", "0", "--save", "p.json", "--overwrite"];
    for (data, more, about, reason) in [
        ("exact.csv", &["--keep", "state1"][..], "kept-state", ACCEPTED),
        ("rounded.csv", &[], "recorded-steps", "state1 is recorded in steps of 0.5"),
        ("reward.csv", &["--method", "unaware"], "data", "the reward is 2 after every decision"),
        ("action.csv", &["--method", "unaware"], "data", "everybody received the same action"),
    ] {
        let _ = fs::remove_file(folder.0.join("p.json"));
        let all = [&learn[..], &["--data", data], more].concat();
        let message = folder.refuse(&all, "");
        assert!(message.contains(reason) && message.contains("--save-anyway"), "{data}: {message}");
        assert!(!folder.0.join("p.json").exists(), "{data}");
        folder.succeed(&[&all[..], &["--save-anyway"]].concat());
        let policy = json(&folder, "p.json");
        assert_eq!(policy["version"], 2, "{data}");
        assert_eq!(policy["reservations"][0]["about"], about, "{data}");
        assert!(policy["reservations"][0]["says"].as_str().unwrap().contains(reason), "{data}");
        let line = "{\"id\": \"ann\", \"z\": \"1\", \"state\": [0.3], \"action\": null}\n";
        let served = folder.run_with(&["decide", "--policy", "p.json"], &line.repeat(2).replacen("ann", "bob", 1));
        let message = String::from_utf8_lossy(&served.stderr).into_owned();
        assert!(served.status.success(), "{data}: {message}");
        assert_eq!(message.matches(reason).count(), 1, "{data}: {message}");
    }
    folder.succeed(&[&learn[..], &["--data", "exact.csv"]].concat());
    let policy = json(&folder, "p.json");
    assert_eq!((policy["version"].as_u64(), policy.get("reservations")), (Some(1), None));
}
