//! The command line with a program in the policy's place.

use super::follows::{follows, schema};
use super::*;
use folder::Folder;
use serde_json::{Value, json};
use std::fs;

pub const TESTS: &[Test] = &[
    ("both_routes_judge_alike", both_routes_judge_alike),
    ("saved_preprocessing_is_enough", saved_preprocessing_is_enough),
    ("a_program_can_be_compared_with", a_program_can_be_compared_with),
    ("what_a_program_reads_decides_how_fair_it_is", what_a_program_reads_decides_how_fair_it_is),
    ("the_conversation_follows_its_schema", the_conversation_follows_its_schema),
    ("options_of_programs_are_refused_without_one", options_of_programs_are_refused_without_one),
    ("failures_of_a_program_end_the_command", failures_of_a_program_end_the_command),
    ("a_study_judges_a_program_as_evaluate_does", a_study_judges_a_program_as_evaluate_does),
    ("a_study_makes_the_views_of_a_program_itself", a_study_makes_the_views_of_a_program_itself),
    ("a_program_that_fails_ends_a_study", a_program_that_fails_ends_a_study),
];

/// People to learn from, others, and a policy, in a folder.
fn study(name: &str, method: &str) -> Folder {
    let folder = Folder::new(name);
    for (seed, file) in [("3", "data.csv"), ("4", "others.csv")] {
        folder.succeed(&[
            "simulate",
            "--world",
            "three-levels",
            "--n",
            "90",
            "--t",
            "5",
            "--seed",
            seed,
            "--out",
            file,
        ]);
    }
    let learn = [
        "learn",
        "--data",
        "data.csv",
        "--method",
        method,
        "--save",
        "policy.json",
        "--overwrite",
        "--discount",
        "0.7",
    ];
    folder.succeed(
        &[
            &learn[..],
            &["--model", "linear", "--noise", "additive", "--replicates", "10", "--splits", "0"],
            &["--learner", "least-squares", "--save-anyway"],
        ]
        .concat(),
    );
    folder
}

/// The child that decides as `policy.json` of a folder.
fn twin(folder: &Folder) -> String {
    text(&playing_with("policy", &folder.0.join("policy.json")))
}

#[track_caller]
fn evaluated(folder: &Folder, options: &[&str]) -> Value {
    let arguments = [&["evaluate", "--data", "others.csv", "--replicates", "20", "--json"], options].concat();
    serde_json::from_str(&folder.succeed(&arguments)).unwrap()
}

fn both_routes_judge_alike() {
    for method in ["ours", "full", "unaware"] {
        let folder = study(&format!("program-judge-{method}"), method);
        let built_in = evaluated(&folder, &["--policy", "policy.json"]);
        let command = ["--policy-command", &twin(&folder), "--preprocessing", "policy.json", "--reads", method];
        let mut program = evaluated(&folder, &command);
        let words = program.as_object_mut().unwrap().remove("program").unwrap();
        assert_eq!(words[1], "--child");
        // The same library on both sides: the same bits.
        assert_eq!(built_in, program, "{method}");
    }
}

/// Requests about everybody in a file, in the order of times.
fn requests(folder: &Folder, file: &str) -> String {
    let panel = counterfair::files::read(&folder.0.join(file), &Default::default()).unwrap().panel;
    let p = panel.state_dim();
    let mut lines = String::new();
    for t in 0..panel.horizon() {
        for person in panel.iter() {
            let action = (t > 0).then(|| panel.action_names().name(person.actions[t - 1] as usize));
            let z = panel.levels().name(person.level as usize);
            let state = &person.states[t * p..(t + 1) * p];
            lines +=
                &format!("{}\n", json!({ "id": person.id, "z": z, "state": state, "action": action, "time": t + 1 }));
        }
    }
    lines
}

#[track_caller]
fn decided(folder: &Folder, options: &[&str], input: &str) -> Vec<Value> {
    fs::write(folder.0.join("requests"), input).unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_counterfair"))
        .arg("decide")
        .args(options)
        .current_dir(&folder.0)
        .stdin(fs::File::open(folder.0.join("requests")).unwrap())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn saved_preprocessing_is_enough() {
    let folder = study("program-saved", "ours");
    let fitted = ["--model", "linear", "--noise", "additive"];
    let preprocess = ["preprocess", "--data", "data.csv", "--out", "fair.csv", "--save", "m.json"];
    folder.succeed(&[&preprocess[..], &fitted].concat());
    let saved: Value = serde_json::from_slice(&fs::read(folder.0.join("m.json")).unwrap()).unwrap();
    assert_eq!(follows(&schema("preprocessing.json"), &saved), None);
    let policy: Value = serde_json::from_slice(&fs::read(folder.0.join("policy.json")).unwrap()).unwrap();
    assert_eq!(saved["transitions"], policy["manifest"]["transitions"]);
    let twin = twin(&folder);
    let program = ["--policy-command", &twin, "--preprocessing", "m.json"];
    assert_eq!((&saved["mechanism"], &saved["level_weights"]), (&policy["mechanism"], &policy["level_weights"]));
    // It is judged with a mechanism refitted to others; the discount can be said.
    let (plain, said) =
        (evaluated(&folder, &program), evaluated(&folder, &[&program[..], &["--discount", "0.5"]].concat()));
    assert_eq!((&plain["discount"], &said["discount"]), (&json!(0.9), &json!(0.5)));
    assert_ne!(plain["value"], said["value"]);
    let metric = plain["cf_metric"]["mean"].as_f64().unwrap();
    assert!((0.0..0.3).contains(&metric), "{metric}");
    let judge = |file| ["evaluate", "--data", "others.csv", "--policy-command", "x", "--preprocessing", file];
    for (change, to, message) in [
        ("/version", json!(2), "version 2"),
        ("/format", json!("counterfair memory"), "counterfair memory"),
        ("/level_weights", json!([0.5]), "1 level weights for 3 levels"),
        ("/levels", json!(["b", "a", "c"]), "not sorted"),
        ("/state_dim", json!(5), "coordinates"),
        ("/mechanism", Value::Null, "without a mechanism"),
        ("/actions", json!([]), "0 actions"),
        ("/rows", json!(7), "neither fitted preprocessing nor a policy"),
    ] {
        let mut broken = saved.clone();
        *broken.pointer_mut(change).unwrap() = to;
        fs::write(folder.0.join("broken.json"), broken.to_string()).unwrap();
        let refused = folder.refuse(&judge("broken.json"), "");
        assert!(refused.contains(message) && refused.contains("broken.json"), "{change}: {refused}");
    }
    let refused = folder.refuse(&judge("missing.json"), "");
    assert!(refused.contains("missing.json"), "{refused}");
}

fn a_program_can_be_compared_with() {
    let folder = study("program-against", "ours");
    fs::copy(folder.0.join("policy.json"), folder.0.join("same.json")).unwrap();
    let twin = format!("same={}", twin(&folder));
    let file = evaluated(&folder, &["--policy", "policy.json", "--against", "same.json"]);
    let program = evaluated(&folder, &["--policy", "policy.json", "--against-command", &twin]);
    assert_eq!(file, program);
    assert!(file["difference"].get("policy minus same, recorded horizon").is_some());
    let first = format!("first={}", text(&playing("anything")));
    let two = evaluated(&folder, &["--policy", "policy.json", "--against-command", &twin, "--against-command", &first]);
    assert_ne!(
        two["value"]["first, fitted Q evaluation, recorded horizon"],
        two["value"]["same, fitted Q evaluation, recorded horizon"]
    );
    for name in ["policy", "received", "Random", "same"] {
        let command = format!("{name}=x");
        let options = ["evaluate", "--policy", "policy.json", "--data", "others.csv", "--against", "same.json"];
        let message = folder.refuse(&[&options[..], &["--against-command", &command]].concat(), "");
        assert!(message.contains(&format!("`{name}` already names")), "{message}");
    }
    for wrong in ["python policy.py", "=x", "name=python 'x"] {
        let options = ["evaluate", "--policy", "policy.json", "--data", "others.csv", "--against-command", wrong];
        assert!(folder.refuse(&options, "").contains("--against-command"), "{wrong}");
    }
}

fn what_a_program_reads_decides_how_fair_it_is() {
    let folder = study("program-reads", "ours");
    let chance = text(&playing("probabilities"));
    // The share of decisions that differ between worlds, with the draws that all worlds share.
    let metric = |reads: &str| {
        let options = ["--policy-command", &chance, "--preprocessing", "policy.json", "--reads", reads];
        let judged = evaluated(&folder, &options);
        assert_eq!(judged["method"], reads);
        (judged["cf_metric"]["mean"].as_f64().unwrap(), judged["total_variation"]["mean"].as_f64().unwrap())
    };
    let (fair, unaware, full) = (metric("ours"), metric("unaware"), metric("full"));
    // The law of the metric has the mechanism uncertain, so that a policy on one of its draws is nearly fair only.
    assert!(fair.0 < 0.5 * unaware.0.min(full.0) && unaware.0 > 0.05, "{fair:?} {unaware:?} {full:?}");
    assert!(fair.1 < unaware.1 && fair.1 > 0.0, "{fair:?} {unaware:?}");
}

fn the_conversation_follows_its_schema() {
    let folder = study("program-lines", "ours");
    let log = folder.0.join("lines");
    let lines: String = requests(&folder, "others.csv").lines().take(90).map(|line| format!("{line}\n")).collect();
    let answers = decided(&folder, &["--policy", "policy.json"], &lines);
    // Everybody's first decision, by the program.
    let fitted = FittedPreprocessing::load(folder.0.join("policy.json")).unwrap();
    let agent = fitted.with_program(Method::Ours, &playing_with("records", &log)).unwrap().agent();
    let panel = counterfair::files::read(&folder.0.join("others.csv"), &Default::default()).unwrap().panel;
    let first: Vec<f64> = panel.iter().flat_map(|person| person.states[..panel.state_dim()].to_vec()).collect();
    let mut memory = agent.begin(panel.level_codes(), &first, &[0.5; 90]);
    agent.act(&mut memory, &[0.5; 90], &mut [0; 90]);
    let written = fs::read_to_string(&log).unwrap();
    let asked: Vec<Value> = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rules = schema("program.json");
    asked.iter().for_each(|line| assert_eq!(follows(&rules, line), None));
    // One batch in which everybody is asked about, and one that asks again.
    let sizes: Vec<usize> = asked.iter().map(|line| line["views"].as_array().unwrap().len()).collect();
    assert_eq!(sizes, [90, 16]);
    // The views are the counterfactual states of the answers, level by level.
    for (view, answer) in asked[0]["views"].as_array().unwrap().iter().zip(&answers) {
        let states: Vec<&Value> = answer["counterfactual_states"].as_object().unwrap().values().collect();
        let flat: Vec<&Value> = states.into_iter().flat_map(|state| state.as_array().unwrap()).collect();
        assert!(flat.into_iter().eq(view.as_array().unwrap()));
    }
    for (line, right) in [
        (json!({ "version": 1, "answers": "actions" }), true),
        (json!({ "version": 2, "answers": "actions" }), false),
        (json!({ "batch": 1, "actions": ["0", 1] }), true),
        (json!({ "batch": 1, "probabilities": [[0.5, 0.5]] }), true),
        (json!({ "batch": 1, "probabilities": [[-0.5, 1.5]] }), false),
        (json!({ "batch": 1, "actions": [["0"]] }), false),
        (
            json!({ "format": "counterfair program", "version": 1, "reads": "ours", "levels": ["f"], "actions": ["0"], "state_dim": 1, "width": 1 }),
            true,
        ),
        (
            json!({ "format": "counterfair program", "version": 1, "reads": "all", "levels": ["f"], "actions": ["0"], "state_dim": 1, "width": 1 }),
            false,
        ),
    ] {
        assert_eq!(follows(&rules, &line).is_none(), right, "{line}");
    }
}

fn options_of_programs_are_refused_without_one() {
    let folder = study("program-idle", "ours");
    for option in [["--preprocessing", "policy.json"], ["--reads", "full"], ["--timeout", "3"]] {
        let evaluate = ["evaluate", "--policy", "policy.json", "--data", "others.csv"];
        let message = folder.refuse(&[&evaluate[..], &option].concat(), "");
        assert!(message.contains(option[0]) && message.contains("programs only"), "{message}");
    }
    let judged = ["evaluate", "--data", "others.csv"];
    let both = ["--policy", "policy.json", "--policy-command", "x", "--preprocessing", "policy.json"];
    assert!(folder.refuse(&[&judged[..], &both].concat(), "").contains("cannot be used with"));
    assert!(folder.refuse(&[&judged[..], &["--policy-command", "x"]].concat(), "").contains("--preprocessing"));
    assert!(folder.refuse(&judged, "").contains("--policy"));
    assert!(folder.refuse(&["decide"], "").contains("--policy"));
    assert!(folder.refuse(&["decide", "--policy-command", "x"], "").contains("--policy-command"), "not served");
    let discount = ["evaluate", "--policy", "policy.json", "--data", "others.csv", "--discount", "0.5"];
    assert!(folder.refuse(&discount, "").contains("--policy-command"));
    let command = ["evaluate", "--policy-command", "x", "--preprocessing", "policy.json", "--data", "others.csv"];
    assert!(folder.refuse(&[&command[..], &["--discount", "1"]].concat(), "").contains("--discount"));
    assert!(folder.refuse(&[&command[..], &["--timeout", "0"]].concat(), "").contains("--timeout"));
}

fn failures_of_a_program_end_the_command() {
    let folder = study("program-fails", "ours");
    let given = |part: &str| text(&playing(part));
    let judge = |part: &str, more: &[&str]| {
        let command = given(part);
        let options =
            ["evaluate", "--policy-command", &command, "--preprocessing", "policy.json", "--data", "others.csv"];
        folder.refuse(&[&options[..], more].concat(), "")
    };
    // A program's last words are passed on.
    let message = judge("policy", &[]);
    assert!(message.contains("the child was given no policy"), "{message}");
    assert!(message.contains("error: the policy's program ended before it answered (exit status: 5)"), "{message}");
    assert!(judge("unknown-action", &[]).contains("surgery"));
    let begun = std::time::Instant::now();
    assert!(judge("never-ready", &["--timeout", "1"]).contains("more than 1 seconds"));
    assert!(begun.elapsed() < Duration::from_secs(20));
}

/// The row of the program in the study of `others.csv`.
#[track_caller]
fn studied(folder: &Folder, options: &[&str]) -> (Value, Value) {
    let arguments =
        ["study", "--data", "others.csv", "--out", "o", "--replicates", "20", "--discount", "0.7", "--json"];
    let found: Value = serde_json::from_str(&folder.succeed(&[&arguments[..], options].concat())).unwrap();
    let rows = found["policies"]["rows"].as_array().unwrap_or_else(|| panic!("{}", found["sentence"]));
    let row = rows.iter().find(|row| row["name"] == "Program").expect("a row for the program").clone();
    (found, row)
}

/// 90 people of two levels to learn from, and others.
fn two_levels(name: &str, method: &str) -> Folder {
    let folder = Folder::new(name);
    for (seed, file) in [("3", "data.csv"), ("4", "others.csv")] {
        let simulate = ["simulate", "--world", "linear", "--n", "90", "--t", "4", "--seed", seed, "--out", file];
        folder.succeed(&simulate);
    }
    let learn = [
        "learn",
        "--data",
        "data.csv",
        "--method",
        method,
        "--save",
        "policy.json",
        "--overwrite",
        "--discount",
        "0.7",
    ];
    let quick = ["--replicates", "10", "--splits", "0", "--learner", "least-squares", "--save-anyway"];
    folder.succeed(&[&learn[..], &quick].concat());
    folder
}

fn a_study_judges_a_program_as_evaluate_does() {
    for method in ["ours", "full"] {
        let folder = two_levels(&format!("program-study-{method}"), method);
        let judged = evaluated(&folder, &["--policy", "policy.json"]);
        let command = ["--policy-command", &twin(&folder), "--preprocessing", "policy.json", "--reads", method];
        let (found, row) = studied(&folder, &command);
        let mean = |number: &Value| number["mean"].as_f64().unwrap_or_else(|| panic!("{number}"));
        let value = &judged["value"]["fitted Q evaluation, recorded horizon"];
        assert!((mean(value) - mean(&row["value"])).abs() < 1e-9, "{method}: {value} and {}", row["value"]);
        let metrics = (mean(&judged["cf_metric"]), mean(&row["cf_metric"]));
        // A program that reads what was observed carries no means: a study follows it by the mechanism of its own people.
        assert!(method == "full" || (metrics.0 - metrics.1).abs() < 1e-9, "{method}: {metrics:?}");
        // Policies that were learned here are judged beside it, and the page says on whom.
        assert!(found["cautions"].to_string().contains("judged on everybody"), "{found}");
        let page = fs::read_to_string(folder.0.join("o/index.html")).unwrap();
        assert!(page.contains("Program is a policy from elsewhere"));
        // Views of other people's mechanism carry an error that these people do not show.
        assert_eq!(row["gained_by_unfairness"].is_null(), method == "ours", "{row}");
        assert!(mean(&row["cf_metric"]) > if method == "ours" { 0.0 } else { 0.1 }, "{row}");
    }
}

fn a_study_makes_the_views_of_a_program_itself() {
    let folder = two_levels("program-study-views", "ours");
    let (_, row) = studied(&folder, &["--policy-command", &twin(&folder)]);
    let mean = |number: &Value| number["mean"].as_f64().unwrap_or_else(|| panic!("{number}"));
    // Fair by construction up to what is not known about the means: far from the third or more of a policy that reads the level.
    assert!(mean(&row["cf_metric"]) < 0.2, "{row}");
    assert!(mean(&row["gained_by_unfairness"]).abs() < 0.5 && !row["fair_value"]["interval"].is_null(), "{row}");
    assert!(row["value"]["interval"].is_array() && row["parity_gap"].is_object(), "{row}");
}

fn a_program_that_fails_ends_a_study() {
    let folder = two_levels("program-study-fails", "full");
    let given = |part: &str| text(&playing(part));
    let judge = |part: &str, more: &[&str]| {
        let command = given(part);
        let study = ["study", "--data", "others.csv", "--out", "o", "--replicates", "20", "--policy-command", &command];
        folder.refuse(&[&study[..], more].concat(), "")
    };
    assert!(judge("exits-at-once", &[]).contains("ended"), "a program that does not start");
    assert!(judge("dies-later", &[]).contains("ended before it answered"));
    assert!(judge("unknown-action", &["--reads", "full"]).contains("surgery"));
    assert!(judge("policy", &["--preprocessing", "data.csv"]).contains("data.csv"));
    assert!(!folder.0.join("o").exists(), "something was written");
    let idle = ["study", "--data", "others.csv", "--reads", "full"];
    assert!(folder.refuse(&idle, "").contains("--policy-command"));
}
