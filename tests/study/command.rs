//! The command: files, refusals, hostile names, verdicts of data that carry nothing.

use crate::folder::Folder;
use counterfair::fair::study::{Study, StudySettings, study};
use counterfair::fair::{People, Policy};
use counterfair::kernel::people::{Labels, PanelBuilder, Person};
use counterfair::report::study::{check, write};
use std::fs;

/// A small simulated study in `study.csv`.
fn simulated(folder: &Folder, world: &str, people: &str, decisions: &str) {
    folder.succeed(&[
        "simulate",
        "--world",
        world,
        "--n",
        people,
        "--t",
        decisions,
        "--seed",
        "3",
        "--out",
        "study.csv",
    ]);
}

fn json(folder: &Folder, path: &str) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(folder.0.join(path)).unwrap()).unwrap()
}

#[test]
fn a_file_becomes_a_page_with_json_tables_pictures_and_a_policy() {
    let folder = Folder::new("study page");
    simulated(&folder, "linear", "150", "6");
    let said = folder.succeed(&["study", "--data", "study.csv", "--replicates", "60"]);
    assert!(said.starts_with("A fair policy would be worth"), "{said}");
    assert!(said.contains("out/study/study/index.html"), "{said}");
    let found = json(&folder, "out/study/study/study.json");
    assert_eq!((found["format"].as_str(), found["version"].as_u64()), (Some("counterfair study"), Some(1)));
    assert_eq!(found["verdict"]["kind"], "better");
    assert!(said.starts_with(found["sentence"].as_str().unwrap()));
    let out = folder.0.join("out/study/study");
    for name in found["files"].as_array().unwrap() {
        let path = out.join(name.as_str().unwrap());
        assert!(fs::metadata(&path).is_ok_and(|file| file.len() > 0), "{name}");
    }
    let policy = Policy::load(out.join("policy.json")).unwrap();
    assert!(policy.fitness().is_ok());
    assert!(policy.manifest.command.ends_with("study --data study.csv --replicates 60"), "{}", policy.manifest.command);

    // Every answer has a picture, numbers, and what it does not show.
    let page = fs::read_to_string(out.join("index.html")).unwrap();
    for section in 2..=7 {
        let part = page.split(&format!("id=\"s{section}\"")).nth(1).unwrap().split("</section>").next().unwrap();
        assert!(part.contains("<svg") && part.contains("<table") && part.contains("Not shown:"), "section {section}");
    }
    // No number is outside what rewards allow.
    let policies = &found["policies"];
    let (low, high) = (policies["allowed"][0].as_f64().unwrap(), policies["allowed"][1].as_f64().unwrap());
    let rows = policies["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3 + 3 + 1 + 2);
    for row in rows {
        for number in [&row["value"]["mean"], &row["value"]["interval"][0], &row["value"]["interval"][1]] {
            let number = number.as_f64().unwrap();
            assert!(low <= number && number <= high, "{row}");
        }
        let (metric, upper) = (&row["cf_metric"], row["cf_metric"]["upper"].as_f64().unwrap());
        assert!(metric["mean"].as_f64().unwrap() <= upper.max(metric["interval"][1].as_f64().unwrap()), "{row}");
    }
    // A mixture of two lies between them.
    let value = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap()["value"]["mean"].as_f64().unwrap();
    let half = value("50 % Ours, 50 % Full");
    assert!((half - (value("Ours") + value("Full")) / 2.0).abs() < 1e-9, "{half}");
    // Ids are shown only where they were asked for.
    assert!(found["treated"]["people"].as_array().unwrap().is_empty());
    folder.succeed(&["study", "--data", "study.csv", "--replicates", "60", "--show-ids", "4"]);
    assert_eq!(json(&folder, "out/study/study/study.json")["treated"]["people"].as_array().unwrap().len(), 4);
}

#[test]
fn the_order_of_rows_has_no_effect() {
    let folder = Folder::new("study order");
    simulated(&folder, "linear", "60", "4");
    let text = fs::read_to_string(folder.0.join("study.csv")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].reverse();
    fs::write(folder.0.join("turned.csv"), lines.join("\n") + "\n").unwrap();
    let mut found = ["study.csv", "turned.csv"].map(|file| {
        folder.succeed(&["study", "--data", file, "--out", "o", "--replicates", "20"]);
        json(&folder, "o/study.json")
    });
    for one in &mut found {
        one["command"] = "".into();
        one["data"]["file"] = "".into();
    }
    assert_eq!(found[0], found[1]);
}

#[test]
fn nobodys_files_are_overwritten_and_nothing_of_an_earlier_study_is_left() {
    let folder = Folder::new("study folder");
    simulated(&folder, "linear", "60", "4");
    let study = ["study", "--data", "study.csv", "--replicates", "20", "--out"];
    let with = |more: &[&'static str]| [&study[..], more].concat();

    assert_eq!(folder.names(), ["study.csv"]);
    fs::create_dir(folder.0.join("mine")).unwrap();
    fs::write(folder.0.join("mine/index.html"), "mine").unwrap();
    let message = folder.refuse(&with(&["mine"]), "");
    assert!(message.contains("mine holds index.html") && message.contains("--overwrite"), "{message}");
    assert_eq!(fs::read_to_string(folder.0.join("mine/index.html")).unwrap(), "mine");
    assert_eq!(fs::read_dir(folder.0.join("mine")).unwrap().count(), 1);
    folder.succeed(&with(&["mine", "--overwrite"]));
    // The folder of the data is somebody's too.
    let message = folder.refuse(&with(&["."]), "");
    assert!(message.contains("study.csv") || message.contains("mine"), "{message}");

    // An earlier study gives way, and its policy does not outlive it.
    fs::write(folder.0.join("mine/policy.json"), "{}").unwrap();
    let listed = fs::read_to_string(folder.0.join("mine/study.json")).unwrap();
    if !listed.contains("policy.json") {
        fs::write(
            folder.0.join("mine/study.json"),
            listed.replace("\"index.html\",", "\"index.html\", \"policy.json\","),
        )
        .unwrap();
    }
    let one_level: String = fs::read_to_string(folder.0.join("study.csv"))
        .unwrap()
        .lines()
        .filter(|line| line.split(',').nth(2) != Some("1"))
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(folder.0.join("study.csv"), one_level).unwrap();
    let said = folder.succeed(&with(&["mine"]));
    assert!(said.starts_with("These data cannot support a policy, because everybody is in the same group"), "{said}");
    assert!(!folder.0.join("mine/policy.json").exists());
    // Two sections have nothing to show, and say so.
    let page = fs::read_to_string(folder.0.join("mine/index.html")).unwrap();
    assert!(page.contains("No policy could be learned") && page.contains("Not computed."), "{page}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_folder_that_cannot_be_written_is_told_before_any_work() {
    let folder = Folder::new("study unwritable");
    // Nobody makes folders in /proc, root neither; the file is not there, and is not what is told.
    let message = folder.refuse(&["study", "--data", "absent.csv", "--out", "/proc/nowhere/x"], "");
    assert!(message.contains("/proc/nowhere/x: "), "{message}");
    fs::create_dir(folder.0.join("mine")).unwrap();
    let message = folder.refuse(&["study", "--data", "absent.csv", "--out", "mine/a/b"], "");
    assert!(message.contains("absent.csv"), "{message}");
    assert_eq!(fs::read_dir(folder.0.join("mine")).unwrap().count(), 0, "the probe is gone");
}

#[test]
fn a_damaged_memory_is_an_error_and_no_panic_is_printed() {
    let folder = Folder::new("damaged memory");
    simulated(&folder, "linear", "60", "4");
    folder.succeed(&["learn", "--data", "study.csv", "--method", "unaware", "--save", "p.json", "--replicates", "0"]);
    let decide = ["decide", "--policy", "p.json", "--memory", "people.memory"];
    let line =
        |id: usize| format!("{{\"id\": \"p{id}\", \"z\": \"{}\", \"state\": [0.3], \"action\": null}}\n", id % 2);
    let fed = folder.run_with(&decide, &(0..200).map(line).collect::<String>());
    assert!(fed.status.success(), "{fed:?}");
    let whole = fs::read(folder.0.join("people.memory")).unwrap();
    let mut refused = 0;
    for seed in 1..=12usize {
        let mut damaged = whole.clone();
        for k in 1..=50usize {
            let at = (seed * 7_919 + k * 104_729) * 31 % damaged.len();
            damaged[at] ^= 1 << (k % 8);
        }
        fs::write(folder.0.join("people.memory"), damaged).unwrap();
        let found = folder.run_with(&decide, &line(777));
        let said = String::from_utf8_lossy(&found.stderr).into_owned();
        assert!(!said.contains("panicked"), "{said}");
        refused += usize::from(!found.status.success());
    }
    assert!(refused > 0, "no damage was seen");
}

#[test]
fn where_data_carry_nothing_the_first_line_says_so() {
    let folder = Folder::new("study nothing");
    let header = "ID,timestamp,z1,action,reward,state1\n";
    let people = |level: &dyn Fn(usize) -> String, action: &dyn Fn(usize, usize) -> usize| {
        let mut text = header.to_string();
        for i in 0..60usize {
            for t in 0..4usize {
                let x = ((i * 7919 + t * 104_729) % 1000) as f64 / 500.0 - 1.0;
                let (a, r) =
                    if t == 0 { (String::new(), String::new()) } else { (action(i, t).to_string(), format!("{x}")) };
                text += &format!("{i},{t},{},{a},{r},{x}\n", level(i));
            }
        }
        text
    };
    let verdict = |text: &str| {
        fs::write(folder.0.join("study.csv"), text).unwrap();
        folder.succeed(&["study", "--data", "study.csv", "--out", "o", "--replicates", "20"])
    };
    let two = |i: usize| (i % 2).to_string();
    let said = verdict(&people(&two, &|_, _| 1));
    assert!(said.contains("cannot support") && said.contains("same action"), "{said}");
    let said = verdict(&people(&|i| format!("level {i}"), &|i, t| (i + t) % 2));
    assert!(said.contains("cannot support") && said.contains("has 1 people"), "{said}");
    // Rewards that do not depend on actions: whatever is learned is not sold as a policy.
    let said = verdict(&people(&two, &|i, t| (i * 31 + t * 17) / 3 % 2));
    assert!(!said.starts_with("A fair policy would be worth"), "{said}");
    assert!(!folder.0.join("o/policy.json").exists());
}

#[test]
fn noise_that_is_not_as_modelled_is_said_first() {
    let folder = Folder::new("study noise");
    simulated(&folder, "spread-by-level", "300", "6");
    let run = |noise: &str| {
        folder.succeed(&["study", "--data", "study.csv", "--out", "o", "--replicates", "20", "--noise", noise])
    };
    let said = run("additive");
    assert!(
        said.starts_with("Counterfactuals are not to be believed here") && said.contains("residual spread"),
        "{said}"
    );
    let said = run("chosen");
    assert!(!said.contains("not to be believed"), "{said}");
}

#[test]
fn names_from_a_file_run_nowhere() {
    let folder = Folder::new("study names");
    simulated(&folder, "linear", "60", "4");
    let text = fs::read_to_string(folder.0.join("study.csv")).unwrap();
    let hostile: String = text
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let mut cells: Vec<String> = line.split(',').map(String::from).collect();
            if i > 0 {
                cells[2] = format!("\"<script>alert({})</script>\"", cells[2]);
                if !cells[3].is_empty() {
                    cells[3] = format!("=cmd|'{}'!A1", cells[3]);
                }
            } else {
                cells[5] = "\"state1\"\"><img src=x onerror=alert(1)>\"".into();
            }
            cells.join(",") + "\n"
        })
        .collect();
    fs::write(folder.0.join("a\"><img src=x>.csv"), hostile).unwrap();
    let states = "state1\"><img src=x onerror=alert(1)>";
    folder.succeed(&[
        "study",
        "--data",
        "a\"><img src=x>.csv",
        "--states",
        states,
        "--replicates",
        "20",
        "--show-ids",
        "2",
    ]);
    let out = folder.0.join("out/study/a---img-src-x");
    for entry in fs::read_dir(&out).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c)), "{name}");
        if name.ends_with(".html") || name.ends_with(".svg") {
            assert!(!text.contains("<script") && !text.contains("<img"), "{name}");
        }
        if name.ends_with(".csv") {
            assert!(
                text.lines().all(|line| line.split(',').all(|cell| !cell.trim_matches('"').starts_with('='))),
                "{name}"
            );
        }
    }
}

/// A study of people at one level: it ends with its data, in no time.
fn of_one_level() -> Study {
    let mut builder = PanelBuilder::new(Labels::new(["f"]), Labels::new(["no", "yes"]), 1).unwrap();
    for i in 0..30 {
        let (id, action) = (format!("{i:02}"), i % 2);
        let states = [f64::from(i), f64::from(i) / 2.0];
        builder.push(Person { id: &id, level: 0, states: &states, actions: &[action], rewards: &[0.5] }).unwrap();
    }
    study(&People::from(builder.finish()), &StudySettings::default(), &mut |_| {}).unwrap()
}

#[test]
fn a_study_json_of_somebody_else_makes_no_file_ours() {
    let folder = Folder::new("study of others");
    let out = folder.0.join("theirs");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("notes.txt"), "mine").unwrap();
    let put = |format: &str| {
        fs::write(out.join("study.json"), format!(r#"{{"format": "{format}", "files": ["notes.txt"]}}"#)).unwrap();
    };
    put("a study of somebody else");
    let message = check(&out).unwrap_err().to_string();
    assert!(message.contains("holds notes.txt"), "{message}");
    put("counterfair study");
    check(&out).unwrap();
}

#[test]
fn names_that_lead_out_of_the_folder_are_nobodys_to_remove() {
    let folder = Folder::new("study names");
    let out = folder.0.join("out");
    fs::create_dir_all(out.join("below")).unwrap();
    let others = [folder.0.join("precious.txt"), out.join("below/precious.txt"), out.join(".hidden")];
    for path in &others {
        fs::write(path, "mine").unwrap();
    }
    fs::write(out.join("old.csv"), "of the earlier study").unwrap();
    let files = r#"["old.csv", "../precious.txt", "below/precious.txt", ".hidden", "below"]"#;
    fs::write(out.join("study.json"), format!(r#"{{"format": "counterfair study", "files": {files}}}"#)).unwrap();
    write(&of_one_level(), "", &out, true).unwrap();
    assert!(!out.join("old.csv").exists());
    for path in &others {
        assert_eq!(fs::read_to_string(path).unwrap(), "mine", "{}", path.display());
    }
}

#[test]
fn there_is_a_page_only_when_everything_beside_it_is_there() {
    let folder = Folder::new("study page last");
    let study = of_one_level();
    write(&study, "", &folder.0.join("whole"), false).unwrap();
    let files = json(&folder, "whole/study.json")["files"].clone();
    let tables: Vec<&str> = files
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|name| name.as_str())
        .filter(|name| name.ends_with(".csv"))
        .collect();
    assert!(!tables.is_empty(), "{files}");
    // A folder where the last table belongs: it cannot be written.
    let out = folder.0.join("broken");
    fs::create_dir_all(out.join(tables[tables.len() - 1]).join("x")).unwrap();
    write(&study, "", &out, true).unwrap_err();
    assert!(!out.join("index.html").exists());
}
