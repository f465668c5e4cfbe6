//! The options of `simulate`, `optimum`, `reproduce`, `merge` and `memory`: a test for each that fails when it is ignored.
//! Those of `decide` are in tests/deployment and tests/program.

use super::folder::Folder;
use counterfair::files::{ReadOptions, read_csv};
use serde_json::Value;
use std::fs;

#[test]
fn a_simulation_has_the_world_the_people_and_the_times_asked_for() {
    let folder = Folder::new("simulate-options");
    let simulated = |options: &[&str]| {
        let all = [&["simulate", "--n", "7", "--t", "3", "--out", "x.csv"], options].concat();
        let said = folder.succeed(&all);
        (said, read_csv(&folder.0.join("x.csv"), &ReadOptions::default()).unwrap().panel)
    };
    let (said, panel) = simulated(&["--world", "three-levels", "--delta", "0.5"]);
    assert_eq!((panel.people(), panel.horizon(), panel.state_dim()), (7, 3, 2));
    assert!(said.contains("7 people, 21 decisions") && said.contains("δ = 0.5") && said.contains("seed 1"), "{said}");
    let (_, strong) = simulated(&["--world", "linear", "--delta", "3"]);
    let (_, weak) = simulated(&["--world", "linear", "--delta", "0"]);
    let (_, default) = simulated(&["--world", "linear"]);
    let (_, one) = simulated(&["--world", "linear", "--delta", "1"]);
    assert_eq!(strong.level_codes(), weak.level_codes());
    assert!(strong.states() != weak.states() && default.states() == one.states());
    let (_, nonlinear) = simulated(&["--world", "nonlinear", "--delta", "1"]);
    assert_ne!(nonlinear.rewards(), one.rewards());
}

#[test]
fn an_optimum_follows_world_strength_and_discount() {
    let folder = Folder::new("optimum-options");
    let found = |options: &[&str]| -> Value {
        serde_json::from_str(&folder.succeed(&[&["optimum", "--json"], options].concat())).unwrap()
    };
    let base = found(&["--world", "linear", "--delta", "0.5", "--gamma", "0.6"]);
    assert_eq!(
        (&base["world"], base["delta"].as_f64(), base["gamma"].as_f64()),
        (&"linear".into(), Some(0.5), Some(0.6))
    );
    let fair = |value: &Value| value["fair"]["value"].as_f64().unwrap();
    for other in [
        ["--world", "nonlinear", "--delta", "0.5", "--gamma", "0.6"],
        ["--world", "linear", "--delta", "1", "--gamma", "0.6"],
        ["--world", "linear", "--delta", "0.5", "--gamma", "0.5"],
    ] {
        assert!((fair(&found(&other)) - fair(&base)).abs() > 1e-3, "{other:?}");
    }
    let price = base["price_of_fairness"]["value"].as_f64().unwrap();
    assert!((price - (base["full"]["value"].as_f64().unwrap() - fair(&base))).abs() < 1e-12 && price > 0.0);
    let table = folder.succeed(&["optimum", "--world", "linear", "--delta", "0.5", "--gamma", "0.6"]);
    assert!(table.contains(&format!("{:.12}", fair(&base))) && !table.contains('{'), "{table}");
    let default = folder.succeed(&["optimum", "--world", "linear", "--delta", "0.5"]);
    assert_eq!(default, folder.succeed(&["optimum", "--world", "linear", "--delta", "0.5", "--gamma", "0.9"]));
}

#[test]
fn a_reproduction_has_the_data_the_threads_and_the_folders_asked_for() {
    let folder = Folder::new("reproduce-options");
    folder.succeed(&["simulate", "--world", "linear", "--n", "60", "--t", "4", "--out", "mine.csv"]);
    let run = ["reproduce", "--quick", "--only", "table:real_data", "--data", "mine.csv"];
    let said = folder.succeed(&[&run[..], &["--threads", "3", "--out", "here"]].concat());
    assert!(said.contains("mine") && said.contains("3 threads"), "{said}");
    assert!(!said.contains("fig:sim_all") && !folder.names().contains(&"out".into()), "{said}");
    let cells = fs::read_to_string(folder.0.join("here/cells.jsonl")).unwrap();
    // Shards joined into another folder are the same cells.
    for k in ["1/2", "2/2"] {
        folder.succeed(&[&run[..], &["--threads", "1", "--shard", k, "--out", "shards"]].concat());
    }
    let before = fs::read_dir(folder.0.join("shards")).unwrap().count();
    folder.succeed(&["merge", "shards", "--data", "mine.csv", "--out", "joined"]);
    assert_eq!(fs::read_dir(folder.0.join("shards")).unwrap().count(), before);
    let mut joined: Vec<String> =
        fs::read_to_string(folder.0.join("joined/cells.jsonl")).unwrap().lines().map(Into::into).collect();
    let mut whole: Vec<String> = cells.lines().map(Into::into).collect();
    joined.sort();
    whole.sort();
    assert_eq!(joined[..], whole[..]);
    // Without --out the first folder gets the report.
    folder.succeed(&["merge", "shards", "--data", "mine.csv"]);
    assert!(folder.0.join("shards/report/index.html").exists());
    for (option, file) in [("--star", "no-star.csv"), ("--data", "no-data.csv")] {
        let message =
            folder.refuse(&["reproduce", "--quick", "--only", "table:real_data", option, file, "--out", "x"], "");
        assert!(message.contains(file), "{message}");
        let message = folder.refuse(&["merge", "shards", option, file], "");
        assert!(message.contains(file), "{message}");
    }
    for (option, value) in
        [("--threads", "0"), ("--seeds", "0"), ("--learner", "oracle"), ("--only", "fig:none"), ("--shard", "3/2")]
    {
        let message = folder.refuse(&["reproduce", "--quick", option, value, "--out", "x"], "");
        assert!(message.contains(option) && message.contains(value), "{message}");
    }
    let message = folder.refuse(&["reproduce", "--data", "mine.csv", "--star", "mine.csv"], "");
    assert!(message.contains("cannot be used with"), "{message}");
    assert!(!folder.names().contains(&"x".into()));
}

#[test]
fn a_memory_shows_what_it_is_and_leaves_people_out_only_when_told() {
    let folder = Folder::new("memory-options");
    folder.succeed(&["simulate", "--world", "linear", "--n", "60", "--t", "4", "--out", "data.csv"]);
    let learn = ["learn", "--data", "data.csv", "--model", "linear", "--replicates", "0", "--splits", "0"];
    folder.succeed(&[&learn[..], &["--save", "old.json", "--save-anyway"]].concat());
    let decide = ["decide", "--policy", "old.json", "--serve-anyway", "--memory", "a.memory", "--history", "1"];
    let input = concat!(
        "{\"id\": \"ann\", \"z\": \"1\", \"state\": [0.4]}\n{\"id\": \"bob\", \"z\": \"0\", \"state\": [0.1]}\n",
        "{\"id\": \"ann\", \"z\": \"1\", \"state\": [0.6], \"action\": \"0\"}\n"
    );
    let output = folder.run_with(&decide, input);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let about: Value = serde_json::from_str(&folder.succeed(&["memory", "show", "--memory", "a.memory"])).unwrap();
    assert_eq!((&about["people"], &about["history"]), (&2.into(), &1.into()), "{about}");
    assert!(about["bytes"].as_u64().unwrap() > 0, "{about}");
    let export = ["memory", "export", "--requests", "--memory", "a.memory"];
    let message = folder.refuse(&export, "");
    assert!(message.contains("1 of 2 people") && !message.contains("ann"), "{message}");
    let asked = folder.succeed(&[&export[..], &["--leave-out"]].concat());
    let expected = serde_json::json!({ "id": "bob", "z": "0", "state": [0.1], "action": null, "time": 1 });
    assert_eq!(serde_json::from_str::<Value>(&asked).unwrap(), expected);
    assert!(folder.refuse(&["memory", "export", "--leave-out", "--memory", "a.memory"], "").contains("--requests"));
}
