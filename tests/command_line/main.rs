//! The commands as people and scripts use them: files in, files out, exit codes, and nothing half-written.

use counterfair::fair::{Deployment, Policy};
use counterfair::files::{ReadOptions, read_csv};
mod every_command;
mod files;
mod folder;
mod guarded;
mod options;
mod other_options;
mod private;
mod reproduced;
mod served;
mod shown;

use folder::Folder;
use proptest::prelude::*;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn simulated(folder: &Folder, world: &str, n: &str) {
    folder.succeed(&[
        "simulate", "--world", world, "--n", n, "--t", "6", "--delta", "0.8", "--seed", "11", "--out", "data.csv",
    ]);
}

#[test]
fn simulating_twice_with_one_seed_gives_one_file_and_another_seed_another() {
    let folder = Folder::new("simulate");
    simulated(&folder, "three-levels", "40");
    let first = fs::read(folder.0.join("data.csv")).unwrap();
    simulated(&folder, "three-levels", "40");
    assert_eq!(fs::read(folder.0.join("data.csv")).unwrap(), first);
    folder.succeed(&[
        "simulate",
        "--world",
        "three-levels",
        "--n",
        "40",
        "--t",
        "6",
        "--seed",
        "12",
        "--out",
        "data.csv",
    ]);
    assert_ne!(fs::read(folder.0.join("data.csv")).unwrap(), first);
}

#[test]
fn preprocessing_keeps_rows_and_the_persons_own_state() {
    let folder = Folder::new("preprocess");
    simulated(&folder, "three-levels", "60");
    folder.succeed(&["preprocess", "--data", "data.csv", "--model", "linear", "--out", "pre.csv", "--save", "m.json"]);
    let options = ReadOptions::default();
    let before = read_csv(&folder.0.join("data.csv"), &options).unwrap().panel;
    let after = read_csv(&folder.0.join("pre.csv"), &options).unwrap().panel;
    assert_eq!(after.state_dim(), 6);
    assert_eq!(
        (after.ids(), after.level_codes(), after.actions()),
        (before.ids(), before.level_codes(), before.actions())
    );
    for (old, new) in before.iter().zip(after.iter()) {
        for (s, view) in old.states.chunks_exact(2).zip(new.states.chunks_exact(6)) {
            let own = 2 * old.level as usize;
            assert_eq!(&view[own..own + 2], s);
        }
    }
    let mechanism: Value = serde_json::from_slice(&fs::read(folder.0.join("m.json")).unwrap()).unwrap();
    assert_eq!(mechanism["state_dim"], 2);
}

#[test]
fn the_row_convention_is_a_matter_of_layout_only() {
    let folder = Folder::new("rows");
    simulated(&folder, "linear", "50");
    folder.succeed(&[
        "simulate",
        "--world",
        "linear",
        "--n",
        "50",
        "--t",
        "6",
        "--delta",
        "0.8",
        "--seed",
        "11",
        "--rows",
        "outgoing",
        "--out",
        "outgoing.csv",
    ]);
    folder.succeed(&["preprocess", "--data", "data.csv", "--model", "poly:2", "--fit", "pooled", "--out", "a.csv"]);
    folder.succeed(&[
        "preprocess",
        "--data",
        "outgoing.csv",
        "--rows",
        "outgoing",
        "--model",
        "poly:2",
        "--fit",
        "pooled",
        "--out",
        "b.csv",
    ]);
    let a = read_csv(&folder.0.join("a.csv"), &ReadOptions::default()).unwrap().panel;
    let outgoing = ReadOptions { rows: counterfair::files::RowConvention::Outgoing, ..ReadOptions::default() };
    let b = read_csv(&folder.0.join("b.csv"), &outgoing).unwrap().panel;
    assert_eq!(a, b);
}

#[test]
fn cross_fitting_changes_the_states_of_others_but_not_ones_own() {
    let folder = Folder::new("folds");
    simulated(&folder, "linear", "50");
    folder.succeed(&["preprocess", "--data", "data.csv", "--model", "linear", "--out", "a.csv"]);
    folder.succeed(&["preprocess", "--data", "data.csv", "--model", "linear", "--folds", "3", "--out", "b.csv"]);
    let read = |name: &str| read_csv(&folder.0.join(name), &ReadOptions::default()).unwrap().panel;
    let (a, b) = (read("a.csv"), read("b.csv"));
    assert_ne!(a.states(), b.states());
    for (a, b) in a.iter().zip(b.iter()) {
        for (x, y) in a.states.chunks_exact(2).zip(b.states.chunks_exact(2)) {
            assert_eq!(x[a.level as usize], y[b.level as usize]);
        }
    }
    let message = folder.refuse(&["preprocess", "--data", "data.csv", "--folds", "51", "--out", "c.csv"], "");
    assert!(message.contains("51 folds cannot be made of 50 people"), "{message}");
}

/// Every decision of a panel, asked one line at a time, against the same agent on whole cross-sections.
#[test]
fn deciding_on_a_stream_gives_exactly_the_batch_actions() {
    let folder = Folder::new("decide");
    simulated(&folder, "three-levels", "80");
    for method in ["ours", "full", "unaware"] {
        folder.succeed(&[
            "learn",
            "--data",
            "data.csv",
            "--method",
            method,
            "--model",
            "spline",
            "--save-anyway",
            "--overwrite",
            "--save",
            "policy.json",
        ]);
        let panel = read_csv(&folder.0.join("data.csv"), &ReadOptions::default()).unwrap().panel;
        let agent = Policy::load(folder.0.join("policy.json")).unwrap().agent();
        let (n, p, horizon) = (panel.people(), panel.state_dim(), panel.horizon());
        let at = |t: usize| -> Vec<f64> { panel.iter().flat_map(|x| x.states[t * p..(t + 1) * p].to_vec()).collect() };
        let mut expected = vec![vec![]; n];
        let mut memory = agent.begin(panel.level_codes(), &at(0), &vec![0.5; n]);
        let mut lines = String::new();
        let mut chosen = vec![0; n];
        for t in 0..horizon {
            let previous: Vec<u32> = panel.iter().map(|x| if t > 0 { x.actions[t - 1] } else { 0 }).collect();
            if t > 0 {
                agent.advance(&mut memory, &previous, &at(t));
            }
            agent.act(&mut memory, &vec![0.5; n], &mut chosen);
            for (i, person) in panel.iter().enumerate() {
                expected[i].push(panel.action_names().name(chosen[i] as usize).to_string());
                let action = if t > 0 { Value::from(previous[i]) } else { Value::Null };
                let state = &person.states[t * p..(t + 1) * p];
                let line = serde_json::json!({ "id": person.id, "z": person.level, "state": state, "action": action });
                lines.push_str(&format!("{line}\n"));
            }
        }
        let output = folder.run_with(&["decide", "--policy", "policy.json", "--serve-anyway"], &lines);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let answers = String::from_utf8(output.stdout).unwrap();
        assert_eq!(answers.lines().count(), n * horizon);
        for (line, answer) in answers.lines().enumerate() {
            let answer: Value = serde_json::from_str(answer).unwrap();
            assert_eq!(answer["action"].as_str().unwrap(), expected[line % n][line / n]);
            assert_eq!(answer.get("counterfactual_states").is_some(), method == "ours");
        }
    }
}

#[test]
fn a_bad_line_names_itself_and_earlier_decisions_stand() {
    let folder = Folder::new("lines");
    simulated(&folder, "linear", "50");
    folder.succeed(&["learn", "--data", "data.csv", "--model", "linear", "--save", "policy.json"]);
    let good = r#"{"id": 7, "z": 1, "state": [0.3]}"#;
    let cases = [
        ("nonsense", "line 2"),
        (r#"{"id": 8, "z": 3, "state": [0.3]}"#, "z is \"3\"; the policy knows [\"0\", \"1\"]"),
        (r#"{"id": 8, "z": 1, "state": [0.3, 1.0]}"#, "state has 2 numbers, the policy reads 1"),
        (r#"{"id": 8, "z": 1, "state": [1e999]}"#, "line 2"),
        (r#"{"id": 8, "z": 1, "state": [0.3], "action": 0}"#, "nothing is remembered of them"),
        (r#"{"id": 7, "z": 1, "state": [0.3]}"#, "needs the action taken since"),
        (r#"{"id": 7, "z": 0, "state": [0.3], "action": 0}"#, "z of this person was \"1\", now \"0\""),
        (r#"{"id": 7, "z": 1, "state": [0.3], "action": 5}"#, "action is \"5\""),
        (r#"{"id": [1], "z": 1, "state": [0.3]}"#, "neither a string nor a number"),
        (r#"{"id": 8, "z": 1, "state": [0.3], "sate": 1}"#, "unknown field"),
    ];
    for (bad, expected) in cases {
        let input = format!("{good}\n{bad}\n");
        let message = folder.refuse(&["decide", "--policy", "policy.json"], &input);
        assert!(message.contains(expected) && message.contains("line 2"), "{bad}: {message}");
        let output = folder.run_with(&["decide", "--policy", "policy.json"], &input);
        assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1);
        let input = format!("{good}\n{bad}\n{}\n", r#"{"id": 7, "z": 1, "state": [0.1], "action": 1}"#);
        let output = folder.run_with(&["decide", "--policy", "policy.json", "--keep-going"], &input);
        let answers = String::from_utf8(output.stdout).unwrap();
        let answers: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(answers[1]["error"].is_string() && answers[1]["line"] == 2, "{bad}");
        assert!(answers[2]["action"].is_string(), "{bad}: a refused line must leave the memory as it was");
    }
}

#[test]
fn bad_input_names_the_place_exits_with_two_and_leaves_nothing_behind() {
    let folder = Folder::new("bad");
    fs::write(folder.0.join("bad.csv"), "ID,timestamp,z1,action,reward,state1\n1,1,0,,,0.5\n1,2,0,1,oops,0.1\n")
        .unwrap();
    let message = folder.refuse(&["preprocess", "--data", "bad.csv", "--out", "out.csv"], "");
    for part in ["bad.csv", "3", "reward", "oops"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    folder.refuse(&["learn", "--data", "bad.csv", "--save", "policy.json"], "");
    folder.refuse(&["learn", "--data", "missing.csv", "--save", "policy.json"], "");
    folder.refuse(&["decide", "--policy", "bad.csv"], "");
    folder.refuse(&["simulate", "--world", "linear", "--n", "0", "--t", "3", "--out", "x.csv"], "");
    let far = ["simulate", "--world", "linear", "--n", "2", "--t", "2000", "--delta", "50", "--out", "x.csv"];
    assert!(folder.refuse(&far, "").contains("not a finite number"));
    folder.refuse(&["simulate", "--world", "moon", "--n", "3", "--t", "3", "--out", "x.csv"], "");
    folder.refuse(&["preprocess", "--data", "bad.csv", "--model", "poly:x", "--out", "out.csv"], "");
    folder.refuse(&["optimum", "--world", "linear", "--delta", "9"], "");
    assert_eq!(folder.names(), ["bad.csv"]);
}

#[test]
fn population_weights_replace_the_shares() {
    let folder = Folder::new("weights");
    simulated(&folder, "linear", "50");
    let args = |weights: &'static str| {
        ["preprocess", "--data", "data.csv", "--model", "linear", "--out", "p.csv", "--weights", weights]
    };
    folder.succeed(&args("1,0"));
    let read = |name: &str| read_csv(&folder.0.join(name), &ReadOptions::default()).unwrap().panel;
    let (data, all_on_first) = (read("data.csv"), read("p.csv"));
    for (before, after) in data.iter().zip(all_on_first.iter()).filter(|(x, _)| x.level == 0) {
        assert_eq!(before.rewards, after.rewards, "with all weight on a person's own level the reward stays");
    }
    for (weights, expected) in
        [("1", "1 numbers for 2 levels"), ("1,-1", "-1 is not a weight"), ("0,0", "they sum to 0")]
    {
        let message = folder.refuse(&args(weights), "");
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_constant_reward_learns_the_geometric_sum() {
    let folder = Folder::new("constant");
    let mut csv = String::from("ID,timestamp,z1,action,reward,state1\n");
    for i in 0..40 {
        for t in 0..5 {
            let (s, a) = (((i * 7 + t * 3) % 11) as f64 / 5.0, (i + t) % 2);
            let blank = if t == 0 { String::from(",") } else { format!("{a},2") };
            csv.push_str(&format!("{i},{t},{},{blank},{s}\n", i % 2));
        }
    }
    fs::write(folder.0.join("data.csv"), csv).unwrap();
    folder.succeed(&[
        "learn",
        "--data",
        "data.csv",
        "--method",
        "unaware",
        "--learner",
        "least-squares",
        "--degree",
        "0",
        "--discount",
        "0.5",
        "--save-anyway",
        "--save",
        "p.json",
    ]);
    let policy: Value = serde_json::from_slice(&fs::read(folder.0.join("p.json")).unwrap()).unwrap();
    for weight in policy["q"]["linear"]["weights"].as_array().unwrap() {
        assert!((weight.as_f64().unwrap() - 4.0).abs() < 1e-9);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]
    /// Policy files with bytes changed, cut or repeated: an error or a policy that can be deployed, never a panic.
    #[test]
    fn mutated_policy_files_are_errors_or_policies(seed in any::<u64>(), at in any::<prop::sample::Index>(), len in 0usize..40) {
        let mut bytes = POLICY.as_bytes().to_vec();
        let at = at.index(bytes.len());
        match seed % 4 {
            0 => bytes[at] = (seed >> 8) as u8,
            1 => bytes.truncate(at),
            2 => { let end = (at + len).min(bytes.len()); bytes.drain(at..end); }
            _ => { let end = (at + len).min(bytes.len()); let piece = bytes[at..end].to_vec(); bytes.splice(at..at, piece); }
        }
        if let Ok(policy) = Policy::from_json(&bytes, "mutated") {
            let agent = policy.agent();
            let mut memory = agent.begin(&[0], &vec![0.5; policy.state_dim], &[0.5]);
            agent.act(&mut memory, &[0.5], &mut [0]);
            agent.advance(&mut memory, &[0], &vec![0.25; policy.state_dim]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]
    /// Lines with bytes changed, cut or repeated: an error or a decision, never a panic, and a refused line leaves no trace.
    #[test]
    fn mutated_lines_are_errors_or_decisions(byte in any::<u8>(), at in any::<prop::sample::Index>(), len in 0usize..20, kind in 0u8..4) {
        const FIRST: &[u8] = br#"{"id": "ann", "z": "1", "state": [0.25]}"#;
        const NEXT: &[u8] = br#"{"id": "ann", "z": 1, "state": [-1.5e0], "action": "0"}"#;
        let policy = Policy::from_json(POLICY.as_bytes(), "policy").unwrap();
        let (mut mutated, mut clean) = (Deployment::new(policy.clone()), Deployment::new(policy));
        mutated.answer(FIRST).unwrap();
        clean.answer(FIRST).unwrap();
        let mut line = NEXT.to_vec();
        let at = at.index(line.len());
        let end = (at + len).min(line.len());
        match kind {
            0 => line[at] = byte,
            1 => line.truncate(at),
            2 => { line.drain(at..end); }
            _ => { let piece = line[at..end].to_vec(); line.splice(at..at, piece); }
        }
        if mutated.answer(&line).is_err() {
            prop_assert_eq!(mutated.answer(NEXT), clean.answer(NEXT));
        }
    }
}

/// A small policy of each part's shape, written by hand.
const POLICY: &str = r#"{"format":"counterfair policy","version":1,"method":"ours","levels":["0","1"],"actions":["0","1"],
"state_dim":1,"columns":{"id":"ID","time":"timestamp","level":["z1"],"action":"action","reward":"reward","states":["state1"]},
"rows":"incoming","level_weights":[0.5,0.5],"mechanism":{"state_dim":1,"actions":2,"initial":[[0.1],[0.2]],
"means":{"table":{"bases":[{"spline":[[0.0,0.5,1.0]]}],"coefficients":[[[0.1,0.5,0.1,1.0,0.0,0.2],[0.1,0.4,0.1,1.0,0.0,0.2]],
[[0.2,0.5,0.3,1.0,0.0,0.2],[0.1,0.5,0.1,1.0,0.5,0.2]]]}},"reports":[],"gain":0.7},
"q":{"linear":{"features":{"kind":"polynomial","degree":1,"center":[0.0,0.0],"scale":[1.0,1.0],"levels":1},"weights":[0.1,1.0,2.0,0.2,0.5,1.0]}},
"manifest":{"program":"counterfair","command":"learn","seed":1,"discount":0.9,"transitions":10,"outcome":"none"}}"#;

#[test]
fn what_the_fuzzer_starts_from_is_sound() {
    let seeds = |reader: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/seeds").join(reader);
        let files: Vec<Vec<u8>> =
            fs::read_dir(folder).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect();
        assert_eq!(files.len(), 3, "Full, Unaware and Ours");
        files
    };
    for policy in seeds("policy") {
        Policy::from_json(&policy, "seed").unwrap();
    }
    for file in seeds("decide") {
        let mut lines = file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let mut deployment = Deployment::new(Policy::from_json(lines.next().unwrap(), "seed").unwrap());
        assert_eq!(lines.map(|line| deployment.answer(line).unwrap()).count(), 3);
    }
}

#[test]
fn the_policy_that_is_mutated_is_itself_sound() {
    Policy::from_json(POLICY.as_bytes(), "policy").unwrap();
}

#[test]
fn parts_that_do_not_fit_are_named() {
    let cases = [
        (r#""version":1"#, r#""version":2"#, "version 2"),
        (r#""state_dim":1,"columns""#, r#""state_dim":2,"columns""#, "reads 2 numbers"),
        (r#""levels":["0","1"]"#, r#""levels":["1","0"]"#, "not sorted"),
        (r#""actions":["0","1"]"#, r#""actions":["0","1","2"]"#, "weights for 3 actions"),
        (r#""level_weights":[0.5,0.5]"#, r#""level_weights":[1.0]"#, "1 level weights for 2 levels"),
        ("[0.0,0.5,1.0]", "[0.0,0.0,1.0]", "strictly increasing knots"),
        (r#""initial":[[0.1],[0.2]]"#, r#""initial":[[0.1]]"#, "do not fit together"),
    ];
    for (from, to, expected) in cases {
        assert!(POLICY.contains(from), "{from}");
        let broken = POLICY.replacen(from, to, 1);
        match Policy::from_json(broken.as_bytes(), "policy") {
            Err(error) => assert!(error.to_string().contains(expected), "{to}: {error}"),
            Ok(_) => panic!("{to} was accepted"),
        }
    }
}

/// The smallest grid of `fig:sim_all`, on one thread.
const SMALL_GRID: [&str; 8] = ["reproduce", "--quick", "--only", "fig:sim_all", "--seeds", "1", "--threads", "1"];

#[test]
fn a_run_killed_in_the_middle_is_resumed_to_the_bytes_of_an_undisturbed_one() {
    let folder = Folder::new("killed");
    folder.succeed(&[&SMALL_GRID[..], &["--out", "whole"]].concat());
    let journal = folder.0.join("killed/cells.jsonl");
    let cells = || fs::read_to_string(&journal).map_or(0, |text| text.matches("\"cell\"").count());
    let mut child = Command::new(env!("CARGO_BIN_EXE_counterfair"))
        .args([&SMALL_GRID[..], &["--out", "killed"]].concat())
        .current_dir(&folder.0)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while cells() < 2 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let (kept, all) = (cells(), fs::read_to_string(folder.0.join("whole/cells.jsonl")).unwrap());
    assert!(
        kept >= 2 && kept < all.matches("\"cell\"").count(),
        "killed after {kept} cells: too late to mean anything"
    );
    folder.succeed(&[&SMALL_GRID[..], &["--out", "killed", "--resume"]].concat());
    assert_eq!(fs::read_to_string(&journal).unwrap(), all);
}

#[test]
fn a_merge_says_what_is_missing_and_asks_for_a_study_it_does_not_know() {
    let folder = Folder::new("merge_missing");
    let two_seeds = ["reproduce", "--quick", "--only", "fig:sim_all", "--seeds", "2", "--shard", "1/3"];
    folder.succeed(&[&two_seeds[..], &["--out", "shards"]].concat());
    let message = folder.refuse(&["merge", "shards"], "");
    assert!(message.contains("cells are missing") && message.contains("--partial"), "{message}");

    simulated(&folder, "linear", "60");
    let real = ["reproduce", "--quick", "--only", "table:real_data", "--data", "data.csv", "--shard", "1/2"];
    folder.succeed(&[&real[..], &["--out", "own"]].concat());
    let message = folder.refuse(&["merge", "own", "--partial"], "");
    assert!(message.contains("study `data`") && message.contains("--data"), "{message}");
    fs::create_dir_all(folder.0.join("other")).unwrap();
    let text = fs::read_to_string(folder.0.join("data.csv")).unwrap();
    fs::write(folder.0.join("other/data.csv"), text.lines().take(300).collect::<Vec<_>>().join("\n")).unwrap();
    let message = folder.refuse(&["merge", "own", "--partial", "--data", "other/data.csv"], "");
    assert!(message.contains("has other data"), "{message}");
    folder.succeed(&["merge", "own", "--partial", "--data", "data.csv"]);
    assert!(folder.0.join("own/report/index.html").exists());
}

/// What `counterfair verify --json` prints for some errata and no claim.
fn examined() -> serde_json::Value {
    use counterfair::theory::errata::{errata, recompute};
    use counterfair::theory::theorems::Examined;
    let some: Vec<_> = errata().into_iter().filter(|erratum| ["D9", "E8"].contains(&erratum.label)).collect();
    serde_json::to_value(Examined { theorems: vec![], errata: recompute(&some) }).unwrap()
}

#[test]
fn rows_of_an_earlier_run_are_judged_and_shown_again() {
    let folder = Folder::new("verify-from");
    fs::write(folder.0.join("rows.json"), examined().to_string()).unwrap();
    let table = folder.succeed(&["verify", "--from", "rows.json", "--out", "page"]);
    assert!(table.contains("2 errata recomputed") && !table.contains("D9"), "{table}");
    let table = folder.succeed(&["verify", "--from", "rows.json", "--all"]);
    assert!(table.contains("D9 (step)") && table.contains("witness: n = 2"), "{table}");
    let page = fs::read_to_string(folder.0.join("page/index.html")).unwrap();
    assert!(page.contains("Theorems and errata") && page.contains("D9"));
    let json = folder.succeed(&["verify", "--from", "rows.json", "--json"]);
    let (again, before) =
        (serde_json::from_str::<Value>(&json).unwrap(), fs::read_to_string(folder.0.join("rows.json")));
    assert_eq!(again, serde_json::from_str::<Value>(&before.unwrap()).unwrap(), "the same rows");
}

#[test]
fn a_row_that_is_not_as_expected_makes_the_exit_code_one() {
    let folder = Folder::new("verify-unexpected");
    let mut rows = examined();
    // A witness at which the document's form holds refutes nothing.
    rows["errata"][0]["witness"]["printed"] = serde_json::json!({ "is": 1.0, "relation": "at_most", "said": 2.0 });
    fs::write(folder.0.join("rows.json"), rows.to_string()).unwrap();
    let output = folder.run(&["verify", "--from", "rows.json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = "0 of 0 claims and 1 of 2 errata are not as expected";
    assert!(String::from_utf8_lossy(&output.stderr).contains(said), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 NOT AS EXPECTED"));
}

#[test]
fn a_file_that_holds_no_rows_is_refused() {
    let folder = Folder::new("verify-refused");
    fs::write(folder.0.join("rows.json"), "[{\"claim\": 3}]").unwrap();
    let message = folder.refuse(&["verify", "--from", "rows.json"], "");
    assert!(message.contains("rows.json: not what `counterfair verify --json` writes"), "{message}");
    let message = folder.refuse(&["verify", "--from", "nothing.json"], "");
    assert!(message.contains("nothing.json"), "{message}");
    fs::write(folder.0.join("rows.json"), examined().to_string().replace("\"D9\"", "\"D900\"")).unwrap();
    let message = folder.refuse(&["verify", "--from", "rows.json"], "");
    assert!(message.contains("erratum 1: there is no D900"), "{message}");
}
