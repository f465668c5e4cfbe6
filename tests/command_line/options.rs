//! Every option does something: a test for each that fails when the option is ignored.

use super::folder::Folder;
use serde_json::Value;
use std::fs;

/// Forty people, five decisions each, reward `reward(i, t)`; levels `f` and `m`, actions 0 and 1, states that wander
/// and lie on no lattice: no two are equal.
fn study(folder: &Folder, reward: impl Fn(usize, usize) -> f64) {
    let mut csv = String::from("ID,timestamp,z1,action,reward,state1\n");
    for i in 0..40 {
        for t in 0..6 {
            let between = (i * 6 + t) as f64 * 0.618_033_988_7 % 1.0;
            let (s, a) = ((((i * 7 + t * 3 + i * t) % 11) as f64 + between) / 5.0, (i * i + t) % 2);
            let decision = if t == 0 { String::from(",") } else { format!("{a},{}", reward(i, t)) };
            csv.push_str(&format!("{i},{t},{},{decision},{s}\n", if i % 3 == 0 { "f" } else { "m" }));
        }
    }
    fs::write(folder.0.join("study.csv"), csv).unwrap();
}

/// The policy that `learn` saves with these further options.
#[track_caller]
fn learned(folder: &Folder, options: &[&str]) -> Value {
    let mut arguments =
        vec!["learn", "--data", "study.csv", "--save", "policy.json", "--overwrite", "--learner", "least-squares"];
    // Some of these studies end before their values have settled, on purpose.
    arguments.extend(["--model", "linear", "--fit", "per-level", "--save-anyway"]);
    arguments.extend(options);
    folder.succeed(&arguments);
    serde_json::from_slice(&fs::read(folder.0.join("policy.json")).unwrap()).unwrap()
}

fn weights(policy: &Value) -> Vec<f64> {
    policy["q"]["linear"]["weights"].as_array().unwrap().iter().map(|w| w.as_f64().unwrap()).collect()
}

#[track_caller]
fn assert_all_near(weights: &[f64], expected: f64) {
    assert!(!weights.is_empty() && weights.iter().all(|w| (w - expected).abs() < 1e-9), "{weights:?}, not {expected}");
}

#[test]
fn clip_holds_rewards_and_values() {
    let folder = Folder::new("clip");
    study(&folder, |_, _| 2.0);
    let constant = ["--method", "unaware", "--degree", "0", "--discount", "0.7"];
    // 2 / (1 − 0.7), and 1.5 / (1 − 0.7) with rewards held at 1.5.
    assert_all_near(&weights(&learned(&folder, &constant)), 2.0 / 0.3);
    assert_all_near(&weights(&learned(&folder, &[&constant[..], &["--clip", "1.5"]].concat())), 5.0);
    let message = folder.refuse(
        &["learn", "--data", "study.csv", "--save", "p.json", "--overwrite", "--learner", "least-squares", "--clip=-1"],
        "",
    );
    assert!(message.contains("-1"), "{message}");
}

#[test]
fn iterations_and_tolerance_end_the_iteration() {
    let folder = Folder::new("iterations");
    study(&folder, |_, _| 2.0);
    let constant = ["--method", "unaware", "--degree", "0", "--discount", "0.5"];
    let one = learned(&folder, &[&constant[..], &["--iterations", "1"]].concat());
    assert_all_near(&weights(&one), 2.0);
    assert!(one["manifest"]["outcome"].as_str().unwrap().starts_with("1 iterations"));
    let loose = learned(&folder, &[&constant[..], &["--tolerance", "0.01"]].concat());
    let ended = loose["manifest"]["outcome"].as_str().unwrap();
    assert!(ended.starts_with("converged after"), "{ended}");
    // Value 4 (1 − 2⁻ᵇ): its share of change falls below 0.01 at b = 7.
    assert_all_near(&weights(&loose), 4.0 * (1.0 - 0.5f64.powi(7)));
}

#[test]
fn folds_change_what_is_learned_from_and_not_the_mechanism_that_is_saved() {
    let folder = Folder::new("learn-folds");
    study(&folder, |i, t| ((i * 5 + t * 2) % 7) as f64);
    let (plain, folded) = (learned(&folder, &[]), learned(&folder, &["--folds", "4"]));
    assert_eq!(plain["mechanism"], folded["mechanism"]);
    assert_ne!(weights(&plain), weights(&folded));
}

#[test]
fn level_weights_are_brought_to_sum_one_and_used() {
    let folder = Folder::new("learn-weights");
    study(&folder, |i, t| if i % 3 == 0 { 1.0 } else { (t % 3) as f64 });
    let level_weights = |policy: &Value| -> Vec<f64> {
        policy["level_weights"].as_array().unwrap().iter().map(|w| w.as_f64().unwrap()).collect()
    };
    let (given, shares) = (learned(&folder, &["--weights", "1,3"]), learned(&folder, &[]));
    assert_eq!(level_weights(&given), [0.25, 0.75]);
    assert_eq!(level_weights(&shares), [14.0 / 40.0, 26.0 / 40.0]);
    assert_eq!(weights(&given), weights(&learned(&folder, &["--weights", "0.5,1.5"])));
    assert_ne!(weights(&given), weights(&shares));
}

#[test]
fn degree_method_model_and_fit_shape_the_policy() {
    let folder = Folder::new("shape");
    study(&folder, |i, t| ((i * 5 + t * 2) % 7) as f64);
    // Monomials of degree ≤ 2 and ≤ 3 in two states, for each of two actions.
    assert_eq!(weights(&learned(&folder, &["--degree", "2"])).len(), 2 * 6);
    assert_eq!(weights(&learned(&folder, &["--degree", "3"])).len(), 2 * 10);
    for (method, mechanism) in [("ours", true), ("full", false), ("unaware", false)] {
        let policy = learned(&folder, &["--method", method]);
        assert_eq!(policy["method"], method);
        assert_eq!(policy["mechanism"].is_object(), mechanism);
    }
    let learn = |options: &[&str]| {
        let mut all =
            vec!["learn", "--data", "study.csv", "--learner", "least-squares", "--save", "policy.json", "--overwrite"];
        all.extend(options);
        folder.succeed(&all);
        fs::read_to_string(folder.0.join("policy.json")).unwrap()
    };
    let shapes = [
        learn(&["--model", "linear", "--fit", "pooled"]),
        learn(&["--model", "linear", "--fit", "per-level"]),
        learn(&["--model", "poly:2", "--fit", "pooled"]),
        learn(&["--model", "trig", "--fit", "pooled"]),
        learn(&["--model", "spline", "--fit", "pooled"]),
    ];
    for (k, one) in shapes.iter().enumerate() {
        assert!(shapes[..k].iter().all(|other| mechanism_of(other) != mechanism_of(one)), "{k}");
    }
}

fn mechanism_of(policy: &str) -> Value {
    serde_json::from_str::<Value>(policy).unwrap()["mechanism"].clone()
}

#[test]
fn columns_may_have_any_names() {
    let folder = Folder::new("columns");
    study(&folder, |i, t| ((i * 5 + t * 2) % 7) as f64);
    let default = learned(&folder, &[]);
    let text = fs::read_to_string(folder.0.join("study.csv")).unwrap();
    let renamed = text.replacen("ID,timestamp,z1,action,reward,state1", "who,week,sex,dose,gain,weight", 1);
    fs::write(folder.0.join("study.csv"), renamed).unwrap();
    let names =
        ["--id", "who", "--time", "week", "--z", "sex", "--action", "dose", "--reward", "gain", "--states", "weight"];
    let other = learned(&folder, &names);
    assert_eq!(weights(&default), weights(&other));
    assert_eq!(other["columns"]["level"], serde_json::json!(["sex"]));
    for missing in 0..names.len() / 2 {
        let mut some = names.to_vec();
        some.drain(2 * missing..2 * missing + 2);
        let mut arguments = vec!["learn", "--data", "study.csv", "--save", "p.json", "--overwrite"];
        arguments.extend(some);
        folder.refuse(&arguments, "");
    }
}

#[test]
fn rows_and_missing_say_how_a_file_is_read() {
    let folder = Folder::new("missing");
    study(&folder, |i, t| ((i * 5 + t * 2) % 7) as f64);
    let text = fs::read_to_string(folder.0.join("study.csv")).unwrap();
    // A blank first decision is how incoming rows begin, and a missing cell of outgoing ones.
    folder.refuse(&["learn", "--data", "study.csv", "--rows", "outgoing", "--save", "p.json", "--overwrite"], "");
    let holed = text.replacen("7,3,m,", "7,3,m,,,\n#", 1);
    let holed: String = holed.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    fs::write(folder.0.join("study.csv"), holed).unwrap();
    folder.refuse(&["learn", "--data", "study.csv", "--save", "p.json", "--overwrite"], "");
    let output =
        folder.run(&["learn", "--data", "study.csv", "--missing", "drop-tail", "--save", "p.json", "--overwrite"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && message.contains("3 rows dropped; 1 people truncated, 0 removed"), "{message}");
}

#[test]
fn an_option_of_another_learner_is_refused() {
    let folder = Folder::new("other-learner");
    study(&folder, |_, t| t as f64);
    for (learner, option) in [
        ("stable", ["--degree", "2"]),
        ("stable", ["--clip", "1"]),
        ("least-squares", ["--pessimism", "1"]),
        ("neural", ["--tolerance", "0.1"]),
    ] {
        let arguments = [
            "learn",
            "--data",
            "study.csv",
            "--save",
            "p.json",
            "--overwrite",
            "--learner",
            learner,
            option[0],
            option[1],
        ];
        let message = folder.refuse(&arguments, "");
        assert!(message.contains(option[0]) && message.contains(learner), "{message}");
    }
    assert_eq!(folder.names(), ["study.csv"]);
}

#[test]
fn what_is_learned_by_default_has_converged_and_keeps_a_certificate() {
    let folder = Folder::new("default-learner");
    study(&folder, |i, t| ((i * 5 + t * 2) % 7) as f64);
    let learn = |options: &[&str]| -> Value {
        let mut all = vec!["learn", "--data", "study.csv", "--save", "policy.json", "--overwrite"];
        all.extend(options);
        folder.succeed(&all);
        serde_json::from_slice(&fs::read(folder.0.join("policy.json")).unwrap()).unwrap()
    };
    let policy = learn(&[]);
    assert!(policy["manifest"]["outcome"].as_str().unwrap().starts_with("converged"), "{}", policy["manifest"]);
    assert_eq!(policy["certificate"]["replicates"], 200);
    assert_eq!(learn(&["--replicates", "7"])["certificate"]["replicates"], 7);
    assert!(learn(&["--replicates", "0"])["certificate"].is_null());
    assert_ne!(learn(&["--pessimism", "2"])["q"], policy["q"]);
    assert_ne!(learn(&["--discount", "0.3"])["q"], policy["q"]);
    let stability = |options: &[&str]| -> Value {
        let mut all = vec!["learn", "--data", "study.csv", "--save", "policy.json", "--overwrite", "--json"];
        all.extend(options);
        serde_json::from_str::<Value>(&folder.succeed(&all)).unwrap()["stability"].clone()
    };
    assert_eq!(stability(&["--splits", "2"])["splits"], 2);
    assert!(stability(&["--splits", "0"]).is_null());
}

#[test]
fn noise_and_keep_say_how_worlds_are_made() {
    let folder = Folder::new("noise");
    let world =
        ["simulate", "--world", "spread-by-level", "--n", "300", "--t", "6", "--seed", "5", "--out", "data.csv"];
    folder.succeed(&world);
    let preprocess = |options: &[&str]| -> String {
        let mut all = vec!["preprocess", "--data", "data.csv", "--model", "linear", "--out", "out.csv"];
        all.extend(options);
        folder.succeed(&all);
        fs::read_to_string(folder.0.join("out.csv")).unwrap()
    };
    let [additive, scale, rank] = ["additive", "scale", "rank"].map(|noise| preprocess(&["--noise", noise]));
    assert!(additive != scale && scale != rank && additive != rank);
    // Spreads differ twofold between the levels, so scale at least is chosen.
    assert_ne!(preprocess(&[]), additive);
    let kept = preprocess(&["--keep", "state1"]);
    for line in kept.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[cells.len() - 2], cells[cells.len() - 1], "the observed state in every world: {line}");
    }
    let message = folder.refuse(&["preprocess", "--data", "data.csv", "--out", "o.csv", "--keep", "mood"], "");
    assert!(message.contains("mood") && message.contains("state1"), "{message}");
}

/// Evaluates `policy.json` on `study.csv` with these further options.
#[track_caller]
fn evaluated(folder: &Folder, options: &[&str]) -> Value {
    let mut arguments = vec!["evaluate", "--policy", "policy.json", "--data", "study.csv", "--json"];
    arguments.extend(options);
    serde_json::from_str(&folder.succeed(&arguments)).unwrap()
}

const RECEIVED: &str = "what people received, recorded horizon";
const FITTED: &str = "fitted Q evaluation, recorded horizon";

#[test]
fn values_have_the_discount_of_the_policy() {
    let folder = Folder::new("evaluate-discount");
    study(&folder, |_, _| 2.0);
    learned(&folder, &["--method", "unaware", "--discount", "0.5"]);
    let summary = evaluated(&folder, &[]);
    assert_eq!(summary["discount"], 0.5);
    // 2 (1 + ½ + ¼ + ⅛ + 1/16).
    for name in [RECEIVED, FITTED] {
        let mean = summary["value"][name]["mean"].as_f64().unwrap();
        assert!((mean - 3.875).abs() < 1e-9, "{name}: {mean}");
    }
    assert_eq!((&summary["format"], &summary["version"]), (&Value::from("counterfair evaluation"), &Value::from(2)));
}

#[test]
fn every_estimate_of_an_evaluation_has_an_interval_that_holds_it() {
    let folder = Folder::new("evaluate-intervals");
    study(&folder, |i, t| ((i * 5 + t * 2) % 7) as f64);
    learned(&folder, &["--method", "unaware"]);
    fs::copy(folder.0.join("policy.json"), folder.0.join("other.json")).unwrap();
    learned(&folder, &[]);
    let summary = evaluated(&folder, &["--against", "other.json"]);
    let holds = |estimate: &Value, what: &str| {
        let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{what}: {estimate}"));
        let (low, mean, high) =
            (number(&estimate["interval"][0]), number(&estimate["mean"]), number(&estimate["interval"][1]));
        assert!(low <= mean && mean <= high, "{what}: {estimate}");
    };
    for name in [
        RECEIVED,
        FITTED,
        "other, fitted Q evaluation, recorded horizon",
        "Random, fitted Q evaluation, recorded horizon",
    ] {
        holds(&summary["value"][name], name);
    }
    for from in ["what people received", "Random", "other"] {
        let name = format!("policy minus {from}, recorded horizon");
        holds(&summary["difference"][&name], &name);
        let of = |name: &str| summary["value"][name]["mean"].as_f64().unwrap();
        let subtracted = match from {
            "what people received" => of(RECEIVED),
            other => of(&format!("{other}, fitted Q evaluation, recorded horizon")),
        };
        let difference = summary["difference"][&name]["mean"].as_f64().unwrap();
        assert!((difference - (of(FITTED) - subtracted)).abs() < 1e-9, "{name}");
    }
    let metric = &summary["cf_metric"];
    holds(metric, "CF metric");
    assert!(metric["upper"].as_f64().unwrap() >= metric["mean"].as_f64().unwrap());
    assert!(metric["mean"].as_f64().unwrap() > 0.0, "estimated means are never known exactly");
    assert_eq!(summary["learned_from_these_people"], true);
    assert!(
        summary["warnings"].to_string().contains("40 people learned from and 40 judged on"),
        "{}",
        summary["warnings"]
    );
    folder.succeed(&["simulate", "--world", "linear", "--n", "60", "--t", "3", "--out", "a.csv"]);
    folder.succeed(&["learn", "--data", "a.csv", "--save", "stranger.json", "--splits", "0", "--save-anyway"]);
    let stranger = ["evaluate", "--policy", "policy.json", "--data", "study.csv", "--against", "stranger.json"];
    assert!(folder.refuse(&stranger, "").contains("policy stranger knows other levels"));
    let itself = ["evaluate", "--policy", "other.json", "--data", "study.csv", "--against", "policy.json"];
    assert!(folder.refuse(&itself, "").contains("already names something"));
    assert!(summary["warnings"].to_string().contains("these very people"));
    assert!(summary["sensitivity"]["cross_world_correlation"].as_array().unwrap().len() > 3);
    let shares = summary["action_shares"].as_array().unwrap();
    let of = |level: &str| -> f64 {
        shares.iter().filter(|s| s["level"] == level).map(|s| s["share"]["mean"].as_f64().unwrap()).sum()
    };
    assert!((of("f") - 1.0).abs() < 1e-12 && (of("m") - 1.0).abs() < 1e-12, "shares of a group add up to one");
}

#[test]
fn replicates_degree_and_seed_of_an_evaluation_are_used() {
    let folder = Folder::new("evaluate-options");
    study(&folder, |i, t| ((i * 5 + t * 2) % 7) as f64);
    learned(&folder, &["--method", "full"]);
    let of = |options: &[&str]| evaluated(&folder, options)["value"][FITTED].clone();
    let plain = of(&[]);
    assert_ne!(of(&["--degree", "1"])["mean"], plain["mean"]);
    assert_ne!(of(&["--seed", "9"])["standard_error"], plain["standard_error"]);
    assert_ne!(of(&["--replicates", "50"])["standard_error"], plain["standard_error"]);
    let message =
        folder.refuse(&["evaluate", "--policy", "policy.json", "--data", "study.csv", "--replicates", "1"], "");
    assert!(message.contains("replicates is 1"), "{message}");
}

#[test]
fn an_output_that_is_the_input_is_refused() {
    let folder = Folder::new("same-file");
    study(&folder, |_, t| t as f64);
    let before = fs::read(folder.0.join("study.csv")).unwrap();
    for arguments in [
        vec!["learn", "--data", "study.csv", "--save", "./study.csv"],
        vec!["preprocess", "--data", "study.csv", "--out", "study.csv"],
        vec!["preprocess", "--data", "study.csv", "--out", "o.csv", "--save", "study.csv"],
    ] {
        assert!(folder.refuse(&arguments, "").contains("it would be lost"), "{arguments:?}");
    }
    assert_eq!(fs::read(folder.0.join("study.csv")).unwrap(), before);
    assert_eq!(folder.names(), ["study.csv"]);
    folder.succeed(&[
        "learn",
        "--data",
        "study.csv",
        "--method",
        "unaware",
        "--save",
        "p.json",
        "--overwrite",
        "--save-anyway",
    ]);
    let policy = fs::read(folder.0.join("p.json")).unwrap();
    for option in ["--log", "--memory"] {
        let refused = folder.refuse(&["decide", "--policy", "p.json", option, "./p.json", "--serve-anyway"], "");
        assert!(refused.contains("it would be lost"), "{refused}");
    }
    assert_eq!(fs::read(folder.0.join("p.json")).unwrap(), policy);
}

#[test]
fn the_order_of_rows_changes_neither_policy_nor_evaluation() {
    let folder = Folder::new("row-order");
    study(&folder, |i, t| ((i * 5 + t * 2) % 7) as f64);
    let run = || {
        // Rows of the output are those of the input, in its order: compared as a set.
        folder.succeed(&["preprocess", "--data", "study.csv", "--out", "fair.csv", "--save", "m.json", "--folds", "3"]);
        let fair = fs::read_to_string(folder.0.join("fair.csv")).unwrap();
        let mut fair: Vec<String> = fair.lines().map(String::from).collect();
        fair.sort();
        let mechanism = fs::read_to_string(folder.0.join("m.json")).unwrap();
        folder.succeed(&["learn", "--data", "study.csv", "--save", "policy.json", "--overwrite", "--folds", "3"]);
        let mut policy: Value = serde_json::from_slice(&fs::read(folder.0.join("policy.json")).unwrap()).unwrap();
        policy["manifest"] = Value::Null;
        (fair, mechanism, policy, evaluated(&folder, &[]))
    };
    let before = run();
    let text = fs::read_to_string(folder.0.join("study.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let mut rows: Vec<&str> = rows.lines().collect();
    rows.sort_by_key(|row| row.bytes().rev().fold(7u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into())));
    fs::write(folder.0.join("study.csv"), format!("{header}\n{}\n", rows.join("\n"))).unwrap();
    assert_eq!(run(), before);
}
