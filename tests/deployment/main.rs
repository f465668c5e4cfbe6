//! `counterfair decide` as a service relies on it: crashes, full disks, retries, policies at the door, formats.

mod crash;
mod door;
#[path = "../command_line/folder.rs"]
mod folder;
mod follows;
mod reader;
mod schema;

use counterfair::files::{ReadOptions, read_csv};
use folder::Folder;
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

/// People of a world and a policy learned from them, in the folder.
fn learned(folder: &Folder, world: &str, method: &str, model: &str) {
    let n = "90";
    folder.succeed(&[
        "simulate", "--world", world, "--n", n, "--t", "6", "--delta", "1", "--seed", "3", "--out", "data.csv",
    ]);
    folder.succeed(&[
        "learn",
        "--data",
        "data.csv",
        "--method",
        method,
        "--model",
        model,
        "--noise",
        "additive",
        "--discount",
        "0.7",
        "--save",
        "policy.json",
        "--overwrite",
    ]);
}

/// Every decision of the file's people as a request with its time, in the order of times.
fn requests(folder: &Folder) -> Vec<Value> {
    let panel = read_csv(&folder.0.join("data.csv"), &ReadOptions::default()).unwrap().panel;
    let p = panel.state_dim();
    let (levels, actions) = (panel.levels(), panel.action_names());
    let mut lines = Vec::new();
    for t in 0..panel.horizon() {
        for person in panel.iter() {
            let action = if t > 0 { json!(actions.name(person.actions[t - 1] as usize)) } else { Value::Null };
            lines.push(json!({
                "id": person.id, "z": levels.name(person.level as usize), "state": &person.states[t * p..(t + 1) * p],
                "action": action, "time": t + 1,
            }));
        }
    }
    lines
}

fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The answers of a command that must succeed.
#[track_caller]
fn answers(folder: &Folder, arguments: &[&str], input: &str) -> Vec<Value> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_counterfair"))
        .args(arguments)
        .current_dir(&folder.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Beside the reading: a long input and its answers fill both pipes.
    let (mut pipe, input) = (child.stdin.take().unwrap(), input.to_string());
    let writer = std::thread::spawn(move || drop(pipe.write_all(input.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
