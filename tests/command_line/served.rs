//! Serving, where something goes wrong: a reader that dies, a log that was torn, a request that is none.

use super::folder::Folder;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

const REQUEST: &str = "{\"id\": \"ann\", \"z\": \"1\", \"state\": [0.3], \"action\": null}\n";

fn with_policy(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.succeed(&["simulate", "--world", "linear", "--n", "60", "--t", "4", "--out", "data.csv"]);
    let learn = ["learn", "--data", "data.csv", "--method", "unaware", "--noise", "additive", "--splits", "0"];
    folder.succeed(&[&learn[..], &["--replicates", "0", "--save", "p.json", "--save-anyway"]].concat());
    folder
}

#[test]
fn a_reader_that_dies_is_an_error() {
    let folder = with_policy("reader-dies");
    let mut child = Command::new(env!("CARGO_BIN_EXE_counterfair"))
        .args(["decide", "--policy", "p.json", "--serve-anyway"])
        .current_dir(&folder.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let _ = child.stdin.take().unwrap().write_all(REQUEST.as_bytes());
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    let told = "Requests up to line 1 were decided; the answers to lines 1 to 1 were not delivered";
    assert!(message.contains("standard output") && message.contains(told), "{message}");
}

/// Of what was asked a line at a time, the last answers are those that nobody read.
#[test]
fn a_reader_that_dies_later_is_told_where() {
    use std::io::{BufRead, BufReader};
    let folder = with_policy("reader-dies-later");
    let mut child = Command::new(env!("CARGO_BIN_EXE_counterfair"))
        .args(["decide", "--policy", "p.json", "--serve-anyway"])
        .current_dir(&folder.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for id in ["ann", "bob"] {
        input.write_all(REQUEST.replace("ann", id).as_bytes()).unwrap();
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        assert!(answer.contains(id), "{answer}");
    }
    drop(output);
    // A blank line is no request and has a number all the same.
    let _ = input.write_all(format!("\n{}{}", REQUEST.replace("ann", "cy"), REQUEST.replace("ann", "di")).as_bytes());
    drop(input);
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("up to line 5 were decided; the answers to lines 4 to 5 were not"), "{message}");
}

#[test]
fn a_torn_log_eats_no_entry_and_one_that_cannot_be_written_is_named() {
    let folder = with_policy("torn-log");
    fs::write(folder.0.join("log"), "{\"at\": \"2026-").unwrap();
    let decide = ["decide", "--policy", "p.json", "--serve-anyway", "--log", "log"];
    assert!(folder.run_with(&decide, REQUEST).status.success());
    let text = fs::read_to_string(folder.0.join("log")).unwrap();
    let entries: Vec<Option<Value>> = text.lines().map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(entries.len(), 2, "{text}");
    assert!(entries[0].is_none() && entries[1].as_ref().is_some_and(|entry| entry["id"] == "ann"), "{text}");
    assert!(folder.run_with(&decide, &REQUEST.replace("ann", "bob")).status.success());
    assert_eq!(fs::read_to_string(folder.0.join("log")).unwrap().lines().count(), 3);
    #[cfg(target_os = "linux")]
    {
        let full = ["decide", "--policy", "p.json", "--serve-anyway", "--log", "/dev/full"];
        assert!(folder.refuse(&full, REQUEST).contains("/dev/full"));
    }
}

#[test]
fn a_list_is_no_request() {
    let folder = with_policy("list-request");
    let message =
        folder.refuse(&["decide", "--policy", "p.json", "--serve-anyway"], "[\"a\",\"0\",[0.1],null,null,null]\n");
    assert!(message.contains("line 1") && message.contains("this is a list"), "{message}");
}

/// Text that shrinks a hundredfold.
#[test]
fn a_packed_file_is_taken_for_as_much_as_it_holds() {
    let folder = Folder::new("packed");
    let mut text = String::from("ID,timestamp,z1,action,reward,state1,note\n");
    for i in 0..200usize {
        for t in 0..4usize {
            let decision = if t == 0 { ",".into() } else { format!("{},{}.5", (i / 2 + t) % 2, (i * 5 + t) % 7) };
            let state = (1.7 * (7 * i + t) as f64).sin();
            text += &format!("{i},{t},{},{decision},{state},{}\n", i % 2, "x".repeat(2000));
        }
    }
    fs::write(folder.0.join("plain.csv"), &text).unwrap();
    let packed = Command::new("gzip").args(["-k", "plain.csv"]).current_dir(&folder.0).status().unwrap();
    assert!(packed.success());
    let size = fs::metadata(folder.0.join("plain.csv.gz")).unwrap().len();
    assert!(4 * size < text.len() as u64 / 10, "{size} bytes are no test");
    let preprocess = ["preprocess", "--noise", "additive", "--ram", "5MB", "--scratch", ".", "--out", "out.csv"];
    for data in ["plain.csv", "plain.csv.gz"] {
        let output = folder.run(&[&preprocess[..], &["--data", data]].concat());
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && message.contains("would take about"), "{data}: {message}");
    }
}

#[test]
#[cfg(unix)]
fn a_folder_behind_a_link_to_nothing_is_told_before_any_work() {
    let folder = Folder::new("dangling");
    std::os::unix::fs::symlink("nowhere", folder.0.join("link")).unwrap();
    for out in ["link", "link/below"] {
        let message = folder.refuse(&["study", "--data", "absent.csv", "--out", out], "");
        assert!(message.contains(out) && message.contains("a link to something that is not there"), "{message}");
    }
}

/// Seventy thousand bytes that become seventy million, without a line end: more than is held to look for one.
#[test]
fn a_packed_row_without_an_end_is_an_error_and_no_end_of_memory() {
    let folder = Folder::new("packed-row");
    let pack =
        "(echo ID,timestamp,z1,action,reward,state1; head -c 70000000 /dev/zero | tr '\\0' x) | gzip > row.csv.gz";
    assert!(Command::new("sh").args(["-c", pack]).current_dir(&folder.0).status().unwrap().success());
    for command in [&["learn", "--save", "p.json"][..], &["study", "--out", "o"], &["preprocess", "--out", "x.csv"]] {
        let message = folder.refuse(&[command, &["--data", "row.csv.gz", "--ram", "5MB"]].concat(), "");
        assert!(message.contains("row.csv.gz, line 2: no row ends within"), "{command:?}: {message}");
    }
}
