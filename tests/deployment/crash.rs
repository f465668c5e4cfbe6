//! Killed at any moment, on a full disk: what was answered is remembered, what was not can be sent again.

use super::*;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::Child;
use std::time::Duration;

const DURABLE: [&str; 5] = ["decide", "--policy", "policy.json", "--memory", "people.memory"];

fn start(folder: &Folder) -> Child {
    Command::new(env!("CARGO_BIN_EXE_counterfair"))
        .args(DURABLE)
        .current_dir(&folder.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Sends what is unanswered, reads `wanted` answers, waits a little and kills; all answers that came out.
fn until_killed(folder: &Folder, unanswered: String, wanted: usize, wait: Duration) -> Vec<String> {
    let mut child = start(folder);
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    // The reader's end may be gone in the middle of a line: that is the point.
    let writer = std::thread::spawn(move || drop(input.write_all(unanswered.as_bytes())));
    let mut output = BufReader::new(output);
    let mut answers = Vec::new();
    let mut line = String::new();
    while answers.len() < wanted && output.read_line(&mut line).unwrap() > 0 {
        answers.push(std::mem::take(&mut line));
    }
    std::thread::sleep(wait);
    child.kill().unwrap();
    child.wait().unwrap();
    writer.join().unwrap();
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    // An answer that was cut off was not given.
    answers.extend(rest.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(Into::into));
    answers
}

/// A stream killed again and again, restarted and sent again, against one that was left alone.
fn killed(name: &str, kills: usize) {
    let folder = Folder::new(name);
    learned(&folder, "three-levels", "ours", "linear");
    let requests = requests(&folder);
    let lines: Vec<String> = requests.iter().map(|line| format!("{line}\n")).collect();
    let expected = folder.run_with(&["decide", "--policy", "policy.json"], &lines.concat());
    let expected: Vec<String> =
        String::from_utf8(expected.stdout).unwrap().split_inclusive('\n').map(Into::into).collect();
    assert_eq!(expected.len(), lines.len());
    let mut answered: Vec<String> = Vec::new();
    let mut moments = 0;
    for kill in 0..kills {
        // A fresh file now and then, so that the first commits are killed as often as the last ones.
        if answered.len() >= lines.len() {
            assert_eq!(answered, expected);
            answered.clear();
            fs::remove_file(folder.0.join("people.memory")).unwrap();
        }
        let left = lines.len() - answered.len();
        // Off every rhythm of the program: after 0 to 60 answers, and 0 to 7 ms.
        let (wanted, wait) = ((kill * 37 % 61).min(left), Duration::from_micros((kill * 1009 % 7001) as u64));
        answered.extend(until_killed(&folder, lines[answered.len()..].concat(), wanted, wait));
        moments += usize::from(answered.len() < lines.len());
    }
    assert!(moments > kills / 4, "only {moments} of {kills} kills fell into the stream");
    let rest = folder.run_with(&DURABLE, &lines[answered.len()..].concat());
    assert!(rest.status.success(), "{}", String::from_utf8_lossy(&rest.stderr));
    answered.extend(String::from_utf8(rest.stdout).unwrap().split_inclusive('\n').map(Into::into));
    assert_eq!(answered, expected);
    // None twice: everybody has as many decisions as were asked for.
    for line in folder.succeed(&["memory", "list", "--memory", "people.memory"]).lines() {
        let person: Value = serde_json::from_str(line).unwrap();
        assert_eq!(person["decisions"], requests.last().unwrap()["time"]);
    }
}

#[test]
fn a_stream_killed_at_twenty_moments_decides_as_one_left_alone() {
    killed("killed-20", 20);
}

#[test]
#[ignore = "minutes"]
fn a_stream_killed_at_two_hundred_moments_decides_as_one_left_alone() {
    killed("killed-200", 200);
}

/// A file that may not grow beyond a limit fails as on a full disk: the system refuses to write.
#[cfg(unix)]
#[test]
fn on_a_full_disk_no_answer_is_given_that_is_not_kept() {
    let folder = Folder::new("full-disk");
    learned(&folder, "linear", "ours", "linear");
    // Forty thousand people: several times what an empty memory has room for.
    let requests: Vec<Value> = (0..40_000)
        .map(|i| json!({ "id": format!("person {i}"), "z": i % 2, "state": [f64::from(i % 201) / 100.0 - 1.0], "time": 1 }))
        .collect();
    let lines = text(&requests);
    let run = |limit: &str| {
        let program = env!("CARGO_BIN_EXE_counterfair");
        let script = format!("trap '' XFSZ; ulimit -f {limit}; exec '{program}' {}", DURABLE.join(" "));
        let mut child = Command::new("sh")
            .args(["-c", &script])
            .current_dir(&folder.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut input, lines) = (child.stdin.take().unwrap(), lines.clone());
        let writer = std::thread::spawn(move || drop(input.write_all(lines.as_bytes())));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output
    };
    // A memory that starts before the disk is full.
    folder.run_with(&DURABLE, "");
    let blocks = fs::metadata(folder.0.join("people.memory")).unwrap().len() / 512;
    let full = run(&blocks.to_string());
    let message = String::from_utf8_lossy(&full.stderr).into_owned();
    assert_eq!(full.status.code(), Some(2), "{message}");
    assert!(message.contains("people.memory") && !message.contains("panicked"), "{message}");
    let given = String::from_utf8(full.stdout).unwrap().lines().count();
    assert!(given < requests.len(), "the disk was never full");
    // With space again: what was answered is known, the rest is answered, and all is as if nothing had happened.
    assert!(given > 0, "the disk was full from the start");
    let last = given - 1;
    let again = answers(&folder, &DURABLE, &text(&requests[last..]));
    let alone = answers(&folder, &["decide", "--policy", "policy.json"], &lines);
    assert!(again == alone[last..], "{} answers differ from those of a stream left alone", again.len());
}

#[test]
fn a_second_process_is_told_that_the_memory_is_in_use() {
    let folder = Folder::new("in-use");
    learned(&folder, "linear", "ours", "linear");
    let requests = requests(&folder);
    let mut child = start(&folder);
    let mut input = child.stdin.take().unwrap();
    input.write_all(text(&requests[..1]).as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let message = folder.refuse(&DURABLE, "");
    assert!(message.contains("people.memory is in use by another process"), "{message}");
    drop(input);
    assert!(child.wait().unwrap().success());
    assert_eq!(answers(&folder, &DURABLE, &text(&requests[..1])), [serde_json::from_str::<Value>(&line).unwrap()]);
}
