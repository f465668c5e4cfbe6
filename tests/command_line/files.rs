//! Files as people have them, through the commands: odd studies are said to be odd, and no name of a file, column, level or action does harm.

use super::folder::Folder;
use counterfair::files::is_treacherous;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A study of `people` with `rows` rows each; `cells` gives level and action, `blank` says which rows are there but not filled in.
fn study(people: usize, rows: usize, cells: impl Fn(usize, usize) -> (String, String), separator: char) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let mut text = "ID,timestamp,z1,action,reward,state1\n".to_string();
    for i in 0..people {
        for t in 0..rows {
            let (level, action) = cells(i, t);
            let s = ((i * 7 + t * 3 + i * t) % 11) as f64 / 5.0;
            let reward = ((i * 5 + t * 2 + i * i) % 7) as f64;
            let decision = if t == 0 { ",".into() } else { format!("{},{reward}", quoted(&action)) };
            text += &format!("p{i},{t},{},{decision},{s}\n", quoted(&level));
        }
    }
    if separator == ',' { text } else { text.replace(',', &separator.to_string()) }
}

fn plain(i: usize, t: usize) -> (String, String) {
    (if i.is_multiple_of(3) { "f".into() } else { "m".into() }, ((i * i + t) % 2).to_string())
}

fn said(folder: &Folder, arguments: &[&str]) -> String {
    let output = folder.run(arguments);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{message}");
    message
}

fn quick<'a>(command: &'a str, data: &'a str, out: &'a str) -> Vec<&'a str> {
    match command {
        "preprocess" => vec!["preprocess", "--data", data, "--model", "linear", "--out", out],
        _ => vec![
            "learn",
            "--data",
            data,
            "--model",
            "linear",
            "--learner",
            "least-squares",
            "--save-anyway",
            "--overwrite",
            "--replicates",
            "20",
            "--splits",
            "0",
            "--save",
            out,
        ],
    }
}

#[test]
fn an_odd_study_is_said_to_be_odd() {
    let folder = Folder::new("odd");
    let levels = |i: usize, t: usize| (["Female", "female", "male"][i % 3].to_string(), plain(i, t).1);
    for (name, text, expected) in [
        ("one-level", study(30, 4, |i, t| ("x".into(), plain(i, t).1), ','), "everybody is in group x"),
        ("one-action", study(30, 4, |i, t| (plain(i, t).0, "go".into()), ','), "everybody received action go"),
        ("spelling", study(30, 4, levels, ','), "groups \"Female\" and \"female\" differ only in case"),
        ("semicolons", study(30, 4, plain, ';'), "its cells are separated by semicolons"),
    ] {
        let file = format!("{name}.csv");
        fs::write(folder.0.join(&file), text).unwrap();
        let message = said(&folder, &quick("preprocess", &file, "fair.csv"));
        assert!(message.contains(expected), "{name}: {message}");
    }
    let sixty = study(60, 4, |i, t| (format!("level{i}"), plain(i, t).1), ',');
    fs::write(folder.0.join("sixty.csv"), sixty).unwrap();
    let output = folder.run(&quick("preprocess", "sixty.csv", "fair.csv"));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("60 of 60 groups have fewer than 10 people, of 60 in all"), "{message}");
    // One row per person in outgoing rows: decisions that no state follows.
    let one: String = (0..30).map(|i| format!("p{i},1,{},{},1,{}\n", plain(i, 0).0, i % 2, i)).collect();
    fs::write(folder.0.join("one.csv"), format!("ID,timestamp,z1,action,reward,state1\n{one}")).unwrap();
    let output = folder.run(&["learn", "--data", "one.csv", "--rows", "outgoing", "--save", "p.json"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("no decision is followed by a state") && !message.contains("panicked"), "{message}");
    let twice = folder.refuse(
        &["preprocess", "--data", "one.csv", "--rows", "outgoing", "--states", "state1,state1", "--out", "o.csv"],
        "",
    );
    assert!(twice.contains("column state1 was named twice"), "{twice}");
    fs::write(folder.0.join("book.xlsx"), b"PK\x03\x04....").unwrap();
    let excel = folder.refuse(&["learn", "--data", "book.xlsx", "--save", "p.json"], "");
    assert!(excel.contains("Excel") && excel.contains("save the sheet as CSV"), "{excel}");
}

#[test]
fn a_study_with_too_many_columns_is_refused_before_the_work_with_what_it_would_take() {
    let folder = Folder::new("wide");
    let width = 3000;
    let mut text = "ID,timestamp,z1,action,reward".to_string();
    (1..=width).for_each(|j| text += &format!(",state{j}"));
    for (i, t) in (0..8).flat_map(|i| [(i, 0), (i, 1)]) {
        let decision = if t == 0 { ",".into() } else { format!("{},{i}", i / 2 % 2) };
        text += &format!("\n{i},{t},{},{decision}", i % 2);
        (0..width).for_each(|j| text += &format!(",{}", (i * 7 + t * 3 + j * j) % 11));
    }
    fs::write(folder.0.join("wide.csv"), text + "\n").unwrap();
    let data = ["--data", "wide.csv"];
    for (arguments, words) in [
        (vec!["preprocess", "--out", "x"], "columns on 4 rows would take"),
        (vec!["learn", "--save", "x"], "columns on 4 rows would take"),
        (vec!["learn", "--save", "x", "--method", "unaware"], "3000 coordinates makes 3001 of them, and at most 2000"),
        (vec!["learn", "--save", "x", "--method", "full", "--learner", "least-squares"], "more than 2000 features"),
        (vec!["study", "--out", "x"], "9004 coefficients (3000 states, 2 levels, 2 actions)"),
    ] {
        let message = folder.refuse(&[&arguments[..], &data].concat(), "");
        assert!(message.contains(words), "{arguments:?}: {message}");
        assert!(message.lines().count() < 30, "{message}");
    }
    assert_eq!(folder.names(), ["wide.csv"]);
}

#[test]
fn a_compressed_file_is_written_and_read_as_its_name_says() {
    let folder = Folder::new("gzip");
    fs::write(folder.0.join("study.csv"), study(30, 4, plain, ',')).unwrap();
    folder.succeed(&quick("preprocess", "study.csv", "fair.csv"));
    folder.succeed(&quick("preprocess", "study.csv", "fair.csv.gz"));
    let packed = fs::read(folder.0.join("fair.csv.gz")).unwrap();
    assert!(packed.starts_with(b"\x1f\x8b"));
    for (data, policy) in [("fair.csv", "a.json"), ("fair.csv.gz", "b.json")] {
        folder.succeed(&quick("learn", data, policy));
    }
    let policy = |name: &str| {
        let mut policy: Value = serde_json::from_slice(&fs::read(folder.0.join(name)).unwrap()).unwrap();
        policy["manifest"]["command"] = Value::Null;
        policy
    };
    assert_eq!(policy("a.json"), policy("b.json"));
}

#[test]
fn cuts_are_listed_and_those_who_stay_are_weighed_with_the_model_shown() {
    let folder = Folder::new("weigh");
    let text = study(60, 6, plain, ',');
    // Men leave when their state is high at time 3: the cell is blank; p2 has no row at time 2.
    let holed: String = text
        .lines()
        .filter(|line| !line.starts_with("p2,2,"))
        .map(|line| {
            let high =
                line.rsplit(',').next().and_then(|state| state.parse().ok()).is_some_and(|state: f64| state > 1.0);
            let leaves = high && line.contains(",3,\"m\"");
            let line = if leaves { line.rsplit_once(',').unwrap().0.to_string() + "," } else { line.into() };
            line + "\n"
        })
        .collect();
    fs::write(folder.0.join("study.csv"), holed).unwrap();
    let mut learn = quick("learn", "study.csv", "policy.json");
    assert!(folder.refuse(&learn, "").contains("study.csv"));
    learn.extend(["--missing", "weigh", "--name-people"]);
    let message = said(&folder, &learn);
    assert!(message.contains("person p2: 3 of 5 rows dropped, no row between times 1 and 3"), "{message}");
    assert!(message.contains("column state1 is missing on line"), "{message}");
    let evaluate = |missing: &str| {
        let arguments =
            ["evaluate", "--policy", "policy.json", "--data", "study.csv", "--replicates", "30", "--missing", missing];
        folder.succeed(&arguments)
    };
    let (plain, weighed) = (evaluate("drop-tail"), evaluate("weigh"));
    assert!(
        weighed.contains("staying for another decision") && weighed.contains("log-odds") && weighed.contains("level m"),
        "{weighed}"
    );
    assert!(!plain.contains("staying for another decision"), "{plain}");
    let value = |text: &str| text.lines().find(|line| line.contains("what people received")).unwrap().to_string();
    assert_ne!(value(&plain), value(&weighed), "weights are used");
}

#[test]
fn what_is_kept_is_kept_from_the_file_to_the_decision() {
    let folder = Folder::new("keep");
    fs::write(folder.0.join("study.csv"), study(40, 5, plain, ',')).unwrap();
    let mut learn = quick("learn", "study.csv", "policy.json");
    learn.extend(["--keep", "state1"]);
    folder.succeed(&learn);
    let line = "{\"id\": \"ann\", \"z\": \"f\", \"state\": [0.4], \"action\": null}\n";
    let next = "{\"id\": \"ann\", \"z\": \"f\", \"state\": [1.4], \"action\": \"1\"}\n";
    let output = folder.run_with(&["decide", "--policy", "policy.json", "--serve-anyway"], &format!("{line}{next}"));
    let answers = String::from_utf8(output.stdout).unwrap();
    let states: Vec<Value> =
        answers.lines().map(|a| serde_json::from_str::<Value>(a).unwrap()["counterfactual_states"].clone()).collect();
    assert_eq!(states, [serde_json::json!({ "f": [0.4], "m": [0.4] }), serde_json::json!({ "f": [1.4], "m": [1.4] })]);
    let evaluated =
        folder.succeed(&["evaluate", "--policy", "policy.json", "--data", "study.csv", "--json", "--replicates", "20"]);
    let evaluated: Value = serde_json::from_str(&evaluated).unwrap();
    assert!(
        evaluated["cf_metric"]["problem"].to_string().contains("accepted by assumption"),
        "that a state is the same in every world was assumed, not measured"
    );
}

/// Names that try to be something else: markup, a formula, an escape sequence, a line of their own, a turned direction.
const HOSTILE: [&str; 5] = [
    "\"><img src=x onerror=alert(1)>",
    "=cmd()|' /C calc'!A0",
    "\u{1b}[31mred\u{1b}[0m",
    "two\nwarning: lines, 'quoted'",
    "\u{202e}abc\u{9b}2J",
];

#[track_caller]
fn assert_seen(text: &str) {
    let bad: Vec<char> = text.chars().filter(|&c| c != '\n' && is_treacherous(c)).collect();
    assert!(bad.is_empty(), "{bad:?} in {text:?}");
}

#[test]
fn hostile_names_harm_no_terminal_and_no_json() {
    let folder = Folder::new("hostile");
    let name = |k: usize| HOSTILE[k % HOSTILE.len()].to_string();
    let text = study(60, 5, |i, t| (name(i), name(i * i + t)), ',');
    let header = format!("\"{0}\",time,z1,action,reward,\"{0}\"\n", "x\u{1b}]0;title\u{7}");
    let header = header.replacen(&"x\u{1b}]0;title\u{7}".to_string(), "who\u{1b}[1m", 1);
    let renamed = header + text.split_once('\n').unwrap().1;
    let file = "a\u{1b}[31m\"><img src=x onerror=alert(1)>.csv";
    fs::write(folder.0.join(file), renamed).unwrap();
    let columns = ["--id", "who\u{1b}[1m", "--time", "time", "--states", "x\u{1b}]0;title\u{7}"];
    let run = |arguments: &[&str]| -> String {
        let output = folder.run(arguments);
        let (out, message) = (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        );
        assert!(output.status.success(), "{message}");
        assert_seen(&out);
        assert_seen(&message);
        out
    };
    for json in [false, true] {
        let mut preprocess = [quick("preprocess", file, "fair.csv"), columns.to_vec()].concat();
        let mut learn = [quick("learn", file, "policy.json"), columns.to_vec()].concat();
        let mut evaluate = vec!["evaluate", "--policy", "policy.json", "--data", file, "--replicates", "20"];
        let out = if json { "study-json" } else { "study" };
        let study = ["study", "--data", file, "--model", "linear", "--replicates", "20", "--out", out];
        let mut study = [&study[..], &columns].concat();
        if json {
            [&mut preprocess, &mut learn, &mut evaluate, &mut study]
                .into_iter()
                .for_each(|arguments| arguments.push("--json"));
        }
        for arguments in [preprocess, learn, evaluate, study] {
            let out = run(&arguments);
            if json {
                let value: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"));
                assert!(value.is_object());
            }
        }
    }
    // The policy file is JSON, and its names are the names.
    let policy: Value = serde_json::from_slice(&fs::read(folder.0.join("policy.json")).unwrap()).unwrap();
    let mut levels: Vec<&str> =
        policy["levels"].as_array().unwrap().iter().map(|level| level.as_str().unwrap()).collect();
    let mut expected = HOSTILE;
    levels.sort_unstable();
    expected.sort_unstable();
    assert_eq!(levels, expected);
    let request = serde_json::json!({ "id": HOSTILE[4], "z": HOSTILE[4], "state": [0.4], "action": null });
    let decide = ["decide", "--policy", "policy.json", "--serve-anyway", "--memory", "a.memory", "--history", "1"];
    let output = folder.run_with(&decide, &format!("{request}\n"));
    let answer = String::from_utf8(output.stdout).unwrap();
    assert_seen(&answer);
    assert_eq!(serde_json::from_str::<Value>(&answer).unwrap()["id"], HOSTILE[4], "escaped, and the same");
    // So it is remembered, listed and printed as a request.
    for task in ["list", "export"] {
        let listed = run(&["memory", task, "--memory", "a.memory"]);
        assert_eq!(serde_json::from_str::<Value>(&listed).unwrap()["id"], HOSTILE[4]);
    }
    run(&["memory", "show", "--memory", "a.memory"]);
    let asked = run(&["memory", "export", "--requests", "--memory", "a.memory"]);
    assert_eq!(serde_json::from_str::<Value>(&asked).unwrap()["z"], HOSTILE[4]);
    // An error, too.
    let refused = folder.refuse(&["learn", "--data", file, "--save", "p.json"], "");
    assert_seen(&refused);
}

#[test]
fn hostile_names_harm_no_page_and_no_file_name() {
    let folder = Folder::new("hostile-page");
    let file = "a\"><img src=x onerror=alert(1)>.csv";
    let text = study(60, 5, |i, t| (HOSTILE[i % 2].to_string(), HOSTILE[(i * i + t) % 2].to_string()), ',');
    fs::write(folder.0.join(file), text).unwrap();
    let output = folder.run(&["reproduce", "--quick", "--only", "table:real_data", "--data", file, "--out", "out"]);
    let (out, message) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{message}");
    assert_seen(&out);
    assert_seen(&message);
    let report = folder.0.join("out/report");
    let page = fs::read_to_string(report.join("index.html")).unwrap();
    assert!(page.contains("&lt;img src=x"), "the names are shown");
    for entry in fs::read_dir(&report).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)), "{name:?}");
        let text = fs::read_to_string(&path).unwrap();
        match Path::new(name).extension().and_then(|end| end.to_str()) {
            Some("html" | "svg") => {
                assert!(!text.contains("<img"), "{name}");
                assert_seen(&text);
            }
            Some("csv") => {
                let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
                for record in reader.records() {
                    let record = record.unwrap();
                    let formula = record.iter().find(|cell| cell.starts_with(['=', '@']));
                    assert_eq!(formula, None, "{name}");
                }
            }
            _ => {}
        }
    }
}

#[test]
fn a_bare_command_prints_help_that_begins_with_what_people_come_for_and_writes_nothing() {
    let folder = Folder::new("bare");
    let help = folder.succeed(&[]);
    let at = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text}: {help}"));
    assert!(at("counterfair study --data FILE") < at("Usage:") && at("reproduce --quick") < at("Usage:"), "{help}");
    assert_eq!(help.trim_end(), folder.succeed(&["-h"]).trim_end());
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn names_in_a_list_may_stand_after_a_blank() {
    let folder = Folder::new("blank-in-list");
    let text = study(40, 4, plain, ',').replace("z1,action,reward,state1", "z1,action,reward,pain");
    let text: String = text
        .lines()
        .map(|line| {
            if line.starts_with("ID") {
                format!("{line},interference\n")
            } else {
                format!("{line},{}\n", line.len() % 7)
            }
        })
        .collect();
    fs::write(folder.0.join("scores.csv"), text).unwrap();
    folder.succeed(&[
        "preprocess",
        "--data",
        "scores.csv",
        "--states",
        "pain, interference",
        "--noise",
        "additive",
        "--out",
        "fair.csv",
    ]);
}

#[test]
fn a_file_that_does_not_fit_in_the_memory_allowed_is_laid_down_on_disk_and_gives_the_same_file() {
    let folder = Folder::new("larger_than_memory");
    folder.succeed(&["simulate", "--world", "linear", "--n", "300", "--t", "6", "--out", "people.csv"]);
    let preprocess = |out: &'static str, memory: &'static str| {
        ["preprocess", "--data", "people.csv", "--out", out, "--ram", memory, "--scratch", ".", "--noise", "additive"]
    };
    folder.succeed(&preprocess("whole.csv", "1GB"));
    let message = said(&folder, &preprocess("blocks.csv", "200KB"));
    assert!(message.contains("300 people would take about") && message.contains("0.2 are allowed"), "{message}");
    let number = |name: &str| -> Vec<f64> {
        let text = fs::read_to_string(folder.0.join(name)).unwrap();
        text.split([',', '\n']).filter_map(|cell| cell.parse().ok()).collect()
    };
    let (whole, blocks) = (number("whole.csv"), number("blocks.csv"));
    assert!(whole.len() > 10_000 && whole.len() == blocks.len());
    // Regressions of 1800 rows in another order of sums.
    assert!(whole.iter().zip(&blocks).all(|(a, b)| (a - b).abs() < 1e-9));
    assert_eq!(folder.names(), ["blocks.csv", "people.csv", "whole.csv"], "nothing else is left");
    let refused = |arguments: &[&str]| folder.refuse(arguments, "");
    assert!(refused(&preprocess("no.csv", "12 parsecs")).contains("no unit of memory"));
    for (command, out) in [("learn", "--save"), ("preprocess", "--out")] {
        let nowhere = [command, "--data", "people.csv", out, "p.json", "--ram", "200KB", "--scratch", "nowhere"];
        assert!(refused(&nowhere).contains("there is no such folder"), "{command}");
        // Where nothing can be written is known before anything is read: there is no such file of people.
        let unwritable = refused(&[command, "--data", "nobody.csv", out, "nowhere/p.json"]);
        assert!(unwritable.contains("nowhere/p.json: cannot be written"), "{unwritable}");
    }
}

#[test]
fn where_not_everybody_can_be_judged_a_sample_is_and_it_is_said_which() {
    let folder = Folder::new("sample");
    folder.succeed(&["simulate", "--world", "linear", "--n", "600", "--t", "4", "--out", "people.csv"]);
    let learn = ["learn", "--data", "people.csv", "--save", "p.json", "--noise", "additive", "--replicates", "10"];
    folder.succeed(&learn);
    let evaluate = |memory: &'static str, seed: &'static str| {
        ["evaluate", "--policy", "p.json", "--data", "people.csv", "--replicates", "9", "--ram", memory, "--seed", seed]
    };
    let said_of_sample = |message: &str| message.contains("a random sample of 1 in ");
    assert!(!said_of_sample(&said(&folder, &evaluate("1GB", "1"))));
    assert!(said_of_sample(&said(&folder, &evaluate("4500KB", "1"))));
    let json = |seed: &'static str| -> serde_json::Value {
        let output = folder.succeed(&[&evaluate("4500KB", seed)[..], &["--json"]].concat());
        serde_json::from_str(&output).unwrap()
    };
    let (first, second) = (json("1"), json("2"));
    let one_in = first["sample"]["one_in"].as_u64().unwrap();
    assert!(one_in >= 2 && one_in.is_power_of_two());
    assert_eq!((&first["sample"]["people"], &first["sample"]["rows_in_file"]), (&first["people"], &3000.into()));
    assert!(first["people"].as_u64().unwrap() < 600);
    assert_ne!(first["value"], second["value"], "another seed takes other people");
    assert!(first["learned_from_these_people"].is_null(), "a sample of those learned from is not the same people");
    let study = [
        "study",
        "--data",
        "people.csv",
        "--replicates",
        "9",
        "--noise",
        "additive",
        "--out",
        "study",
        "--ram",
        "4500KB",
    ];
    assert!(said_of_sample(&said(&folder, &study)));
    let page = fs::read_to_string(folder.0.join("study/index.html")).unwrap();
    assert!(said_of_sample(&page) && page.contains(&format!("They are 1 in {one_in} people of the file")));
    let study: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.0.join("study/study.json")).unwrap()).unwrap();
    assert_eq!(study["data"]["sample"], first["sample"], "one seed takes the same people everywhere");
}
