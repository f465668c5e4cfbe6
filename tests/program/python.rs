//! The same least-squares policy in Python, with NumPy alone.

use super::*;
use folder::Folder;
use serde_json::Value;
use std::process::{Command, Stdio};

pub const TESTS: &[Test] =
    &[("a_policy_in_python_is_judged_alike_to_twelve_digits", a_policy_in_python_is_judged_alike)];

/// Python with NumPy: `COUNTERFAIR_PYTHON`, or python3.
fn python() -> Option<String> {
    let program = std::env::var("COUNTERFAIR_PYTHON").unwrap_or("python3".into());
    let found = Command::new(&program).args(["-c", "import numpy"]).stderr(Stdio::null()).status();
    found.is_ok_and(|status| status.success()).then_some(program)
}

fn a_policy_in_python_is_judged_alike() {
    let Some(python) = python() else {
        eprintln!("skipped: no python3 with numpy");
        return;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reader/program.py");
    for method in ["ours", "full"] {
        for learner in ["least-squares", "stable"] {
            let folder = Folder::new(&format!("program-python-{method}-{learner}"));
            for (seed, file) in [("3", "data.csv"), ("4", "others.csv")] {
                let world = ["simulate", "--world", "three-levels", "--n", "80", "--t", "5"];
                folder.succeed(&[&world[..], &["--seed", seed, "--out", file]].concat());
            }
            let learn = [
                "learn",
                "--data",
                "data.csv",
                "--method",
                method,
                "--learner",
                learner,
                "--save",
                "policy.json",
                "--overwrite",
            ];
            let fit =
                ["--model", "linear", "--noise", "additive", "--replicates", "10", "--splits", "0", "--save-anyway"];
            folder.succeed(&[&learn[..], &fit].concat());
            let command = text(&ProgramCommand::new([python.as_str(), script, "policy.json"]));
            let evaluate = ["evaluate", "--data", "others.csv", "--replicates", "20", "--json"];
            let program = ["--policy-command", &command, "--preprocessing", "policy.json", "--reads", method];
            let read = |text: String| serde_json::from_str::<Value>(&text).unwrap();
            let ours = read(folder.succeed(&[&evaluate[..], &["--policy", "policy.json"]].concat()));
            let mut theirs = read(folder.succeed(&[&evaluate[..], &program].concat()));
            theirs.as_object_mut().unwrap().remove("program").unwrap();
            let compared = near(&ours, &theirs, method);
            assert!(compared > 50, "{compared} numbers");
        }
    }
}

/// How many numbers are equal to 1e-12 of the larger of 1 and their size: all of them.
fn near(a: &Value, b: &Value, context: &str) -> usize {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            assert!(a.keys().eq(b.keys()), "{context}");
            a.iter().map(|(key, a)| near(a, &b[key], &format!("{context}, {key}"))).sum()
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{context}");
            a.iter().zip(b).map(|(a, b)| near(a, b, context)).sum()
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= 1e-12 * a.abs().max(1.0), "{context}: {a} and {b}");
            1
        }
        _ => {
            assert_eq!(a, b, "{context}");
            0
        }
    }
}
