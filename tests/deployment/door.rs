//! Policies are checked at the door, memories belong to one policy, and people can be forgotten, listed and exported.

use super::*;
use std::fs;

/// With 3 iterations at γ = 0.9 values still move by a tenth; a degree of 9 in a state with few values is rank-deficient.
#[test]
fn a_policy_that_did_not_end_well_is_neither_saved_nor_served_unless_told_to() {
    let folder = Folder::new("unfit");
    folder.succeed(&[
        "simulate", "--world", "linear", "--n", "60", "--t", "5", "--delta", "1", "--seed", "2", "--out", "data.csv",
    ]);
    let learn = ["learn", "--data", "data.csv", "--model", "linear", "--iterations", "3", "--save", "p.json"];
    let message = folder.refuse(&learn, "");
    assert!(message.contains("p.json was not saved: learning had not settled: 3 iterations"), "{message}");
    assert!(!folder.0.join("p.json").exists());
    folder.succeed(&[&learn[..], &["--save-anyway"]].concat());
    let stored: Value = serde_json::from_slice(&fs::read(folder.0.join("p.json")).unwrap()).unwrap();
    assert_eq!(stored["manifest"]["ended"]["iteration_limit"]["iterations"], 3);
    let message = folder.refuse(&["decide", "--policy", "p.json"], "");
    assert!(message.contains("p.json is not served: learning had not settled"), "{message}");
    folder.succeed(&["decide", "--policy", "p.json", "--serve-anyway"]);

    // Diverged, and silent about how it ended.
    let mut other = stored.clone();
    other["manifest"]["ended"] = json!({ "diverged": { "iteration": 12 } });
    fs::write(folder.0.join("diverged.json"), other.to_string()).unwrap();
    assert!(folder.refuse(&["decide", "--policy", "diverged.json"], "").contains("diverged at iteration 12"));
    other["manifest"].as_object_mut().unwrap().remove("ended");
    fs::write(folder.0.join("silent.json"), other.to_string()).unwrap();
    assert!(folder.refuse(&["decide", "--policy", "silent.json"], "").contains("does not say how learning ended"));

    // One value of the state only: nothing but the constant is determined.
    let mut csv = String::from("ID,timestamp,z1,action,reward,state1\n");
    for i in 0..20 {
        for t in 0..3 {
            let blank = if t == 0 { String::from(",") } else { format!("{},2", (i + t) % 2) };
            csv.push_str(&format!("{i},{t},{},{blank},1\n", i % 2));
        }
    }
    fs::write(folder.0.join("flat.csv"), csv).unwrap();
    let message = folder.refuse(
        &["learn", "--data", "flat.csv", "--method", "unaware", "--learner", "least-squares", "--save", "flat.json"],
        "",
    );
    assert!(message.contains("rank-deficient"), "{message}");
}

#[test]
fn far_states_are_flagged_or_refused() {
    let folder = Folder::new("far");
    learned(&folder, "linear", "ours", "linear");
    let line = |id: u32, x: &str| format!("{{\"id\": {id}, \"z\": 1, \"state\": [{x}]}}\n");
    let input = [line(1, "0.1"), line(2, "50"), line(3, "1e155"), line(4, "1e300")].concat();
    let all = answers(&folder, &["decide", "--policy", "policy.json", "--keep-going", "--explain"], &input);
    assert_eq!((all[0].get("outside"), all[0]["distance"].as_f64()), (None, Some(0.0)));
    assert!(all[0]["margin"].as_f64().unwrap() >= 0.0);
    assert!(all[1]["outside"] == true && all[1]["distance"].as_f64().unwrap() > 1.0, "{}", all[1]);
    // Held within what was learned from, values stay numbers; that the state is far from it is said.
    assert!(all[2..].iter().all(|answer| answer["outside"] == true && answer["action"].is_string()), "{:?}", &all[2..]);
    let plain = [
        "learn",
        "--data",
        "data.csv",
        "--learner",
        "least-squares",
        "--save",
        "policy.json",
        "--overwrite",
        "--noise",
        "additive",
    ];
    folder.succeed(&plain);
    let all = answers(&folder, &["decide", "--policy", "policy.json", "--keep-going", "--explain"], &input);
    for answer in &all[2..] {
        assert!(answer["error"].as_str().unwrap().contains("beyond what the policy can value"), "{answer}");
        assert!(answer["id"].is_number());
    }
}

#[test]
fn long_lines_are_skipped_and_large_ids_are_kept_apart() {
    let folder = Folder::new("long");
    learned(&folder, "linear", "ours", "linear");
    let long = format!("{{\"id\": \"{}\", \"z\": 1, \"state\": [0.5]}}\n", "x".repeat(3 << 20));
    let big = |id: &str, more: &str| format!("{{\"id\": {id}, \"z\": 1, \"state\": [0.5]{more}}}\n");
    let (one, two) = ("36893488147419103232", "36893488147419103233");
    let input = [big(one, ""), long, big(two, ""), big(one, ", \"action\": 0")].concat();
    let output = folder.run_with(&["decide", "--policy", "policy.json", "--keep-going"], &input);
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(output.status.success() && lines.len() == 4, "{text}");
    assert!(lines[0].contains(one) && lines[2].contains(two) && lines[3].contains(one), "{text}");
    assert_eq!(lines[1], r#"{"error":"longer than 1048576 bytes","line":2}"#);
    let message = folder.refuse(&["decide", "--policy", "policy.json"], &input);
    assert!(message.contains("line 2: longer than 1048576 bytes"), "{message}");
}

#[test]
fn a_memory_is_listed_exported_and_emptied_and_another_policy_is_asked_the_same() {
    let folder = Folder::new("life");
    learned(&folder, "three-levels", "ours", "linear");
    let requests = requests(&folder);
    let decide = |policy: &str, memory: &str, lines: &[Value]| {
        answers(&folder, &["decide", "--policy", policy, "--memory", memory], &text(lines))
    };
    let half = requests.len() / 2;
    let told = decide("policy.json", "a.memory", &requests[..half]);
    let memory = |task: &str, file: &str| -> Vec<Value> {
        let text = folder.succeed(&["memory", task, "--memory", file]);
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let exported = memory("export", "a.memory");
    assert_eq!(exported.len(), 90);
    let last = told.last().unwrap();
    let person = exported.iter().find(|person| person["id"] == last["id"]).unwrap();
    assert_eq!(person["counterfactual_states"], last["counterfactual_states"]);
    assert_eq!((&person["decided"], &person["decisions"]), (&last["action"], &requests[half - 1]["time"]));
    assert_eq!(person["states"].as_array().unwrap().last(), Some(&requests[half - 1]["state"]));

    // Another policy is refused, and is asked the same instead.
    folder.succeed(&["learn", "--data", "data.csv", "--model", "poly:2", "--discount", "0.7", "--save", "new.json"]);
    let message = folder.refuse(&["decide", "--policy", "new.json", "--memory", "a.memory"], "");
    assert!(message.contains("a.memory belongs to policy") && message.contains("--requests"), "{message}");
    let asked = folder.succeed(&["memory", "export", "--requests", "--memory", "a.memory"]);
    let asked: Vec<Value> = asked.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let known =
        |lines: &[Value]| -> std::collections::BTreeSet<String> { lines.iter().map(|line| line.to_string()).collect() };
    assert_eq!(known(&asked), known(&requests[..half]));
    assert!(asked.is_sorted_by_key(|line| line["time"].as_u64()), "everybody's first request, then the second");
    let replayed = decide("new.json", "b.memory", &asked);
    let moved = decide("new.json", "b.memory", &requests[half..]);
    // As if the new policy had been there from the start.
    let fresh = decide("new.json", "c.memory", &requests);
    assert_eq!(moved, fresh[half..]);
    assert_eq!(known(&replayed), known(&fresh[..half]));

    // Of histories that were cut short not all is known any more; it is said, and nothing printed.
    let short = ["decide", "--policy", "policy.json", "--memory", "short.memory", "--history", "2"];
    answers(&folder, &short, &text(&requests[..half]));
    let export = ["memory", "export", "--requests", "--memory", "short.memory"];
    let message = folder.refuse(&export, "");
    assert!(message.contains("90 of 90 people have had more decisions than the 2 that were kept"), "{message}");
    assert_eq!(folder.succeed(&[&export[..], &["--leave-out"]].concat()), "");

    // Forgotten on request and by the command.
    let id = requests[0]["id"].as_str().unwrap();
    let forgotten = decide("policy.json", "a.memory", &[json!({ "id": id, "forget": true })]);
    assert_eq!(forgotten, [json!({ "id": id, "forgotten": true })]);
    folder.succeed(&["memory", "forget", "--memory", "a.memory", "--id", last["id"].as_str().unwrap()]);
    folder.refuse(&["memory", "forget", "--memory", "a.memory", "--id", "nobody"], "");
    assert_eq!(memory("list", "a.memory").len(), 88);
    let message =
        folder.refuse(&["decide", "--policy", "policy.json", "--memory", "a.memory"], &text(&requests[half..=half]));
    assert!(message.contains("leaves a gap: 0 decisions are remembered"), "{message}");
}

#[test]
fn the_log_says_who_when_what_and_why_and_nothing_else_is_written() {
    let folder = Folder::new("log");
    learned(&folder, "linear", "ours", "linear");
    let requests = requests(&folder);
    let before = folder.names();
    let input = [text(&requests[..2]), text(&requests[1..2]), "{\"id\": \"x\", \"forget\": true}\n".into()].concat();
    let plain = answers(&folder, &["decide", "--policy", "policy.json"], &input);
    assert_eq!(folder.names(), before, "without being asked to, nothing is written");
    let logged = answers(&folder, &["decide", "--policy", "policy.json", "--log", "log.jsonl"], &input);
    assert_eq!(plain, logged);
    let log = fs::read_to_string(folder.0.join("log.jsonl")).unwrap();
    let log: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(log.len(), 4);
    for (entry, answer) in log.iter().zip(&plain).take(3) {
        assert_eq!(
            (&entry["id"], &entry["action"], &entry["time"]),
            (&answer["id"], &answer["action"], &answer["time"])
        );
        assert_eq!(entry["counterfactual_states"], answer["counterfactual_states"]);
        assert!(entry["margin"].as_f64().unwrap() >= 0.0 && entry["values"].is_object());
        assert!(entry["policy"].as_str().unwrap().len() == 64 && entry["at"].as_str().unwrap().ends_with('Z'));
    }
    assert_eq!([0, 1, 2].map(|i| log[i]["repeated"].as_bool().unwrap()), [false, false, true]);
    assert_eq!((&log[3]["id"], &log[3]["forgotten"]), (&json!("x"), &json!(true)));
}
