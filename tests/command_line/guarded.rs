//! No command replaces a file that it reads, by whatever name; and `learn` replaces none unless told to.

use super::folder::Folder;
use std::fs;

fn linear(folder: &Folder) {
    folder.succeed(&["simulate", "--world", "linear", "--n", "60", "--t", "4", "--out", "data.csv"]);
}

const LEARN: [&str; 9] = ["learn", "--data", "data.csv", "--noise", "additive", "--splits", "0", "--replicates", "3"];

#[test]
fn a_study_spares_what_it_reads_whatever_it_is_called_and_however_it_is_named() {
    let folder = Folder::new("study-spares");
    linear(&folder);
    let text = fs::read(folder.0.join("data.csv")).unwrap();
    let at = |name: &str| folder.0.join(name);
    fs::create_dir(at("own")).unwrap();
    let study = |data: &'static str| {
        ["study", "--data", data, "--out", "own", "--replicates", "2", "--noise", "additive", "--overwrite"]
    };
    for name in ["4-values.csv", "1-worth-and-unfairness.svg", "index.html", "study.json", "policy.json"] {
        let path = at("own").join(name);
        fs::write(&path, &text).unwrap();
        let path_given: &'static str = Box::leak(format!("own/{name}").into_boxed_str());
        let message = folder.refuse(&study(path_given), "");
        assert!(message.contains("--out and --data are the same file"), "{name}: {message}");
        assert_eq!(fs::read(&path).unwrap(), text, "{name}");
        fs::remove_file(path).unwrap();
    }
    #[cfg(unix)]
    for linked in [true, false] {
        let path = at("own/4-values.csv");
        if linked {
            std::os::unix::fs::symlink("../data.csv", &path).unwrap();
        } else {
            fs::hard_link(at("data.csv"), &path).unwrap();
        }
        let message = folder.refuse(&study("data.csv"), "");
        assert!(message.contains("own/4-values.csv"), "{message}");
        assert_eq!(fs::read(at("data.csv")).unwrap(), text);
        fs::remove_file(path).unwrap();
    }
    // Another file in the folder is not in the way.
    fs::write(at("own/people.csv"), &text).unwrap();
    folder.succeed(&study("own/people.csv"));
    assert_eq!(fs::read(at("own/people.csv")).unwrap(), text);
}

#[test]
fn the_policy_that_a_study_takes_its_preprocessing_from_stays() {
    let folder = Folder::new("study-preprocessing");
    linear(&folder);
    fs::create_dir(folder.0.join("d")).unwrap();
    folder.succeed(&[&LEARN[..], &["--save", "d/policy.json"]].concat());
    // As an earlier study would have left it.
    fs::write(folder.0.join("d/study.json"), r#"{"format": "counterfair study", "files": ["policy.json"]}"#).unwrap();
    let policy = fs::read(folder.0.join("d/policy.json")).unwrap();
    let study =
        ["study", "--data", "data.csv", "--policy-command", "cat", "--preprocessing", "d/policy.json", "--out", "d"];
    let message = folder.refuse(&study, "");
    assert!(message.contains("--out and --preprocessing are the same file"), "{message}");
    assert_eq!(fs::read(folder.0.join("d/policy.json")).unwrap(), policy);
}

#[test]
fn what_serves_people_is_not_written_over() {
    let folder = Folder::new("serving-spares");
    linear(&folder);
    folder.succeed(&[&LEARN[..], &["--save", "p.json"]].concat());
    let files = |options: &[&'static str]| [&["decide", "--policy", "p.json"], options].concat();
    for options in [&["--memory", "p.json"][..], &["--log", "./p.json"], &["--memory", "one", "--log", "one"]] {
        let message = folder.refuse(&files(options), "");
        assert!(message.contains("are the same file"), "{options:?}: {message}");
    }
    fs::create_dir_all(folder.0.join("r")).unwrap();
    fs::write(folder.0.join("r/claims.html"), "[]").unwrap();
    let message = folder.refuse(&["verify", "--from", "r/claims.html", "--out", "r"], "");
    assert!(message.contains("--out and --from are the same file"), "{message}");
    fs::create_dir_all(folder.0.join("out/report")).unwrap();
    fs::copy(folder.0.join("data.csv"), folder.0.join("out/report/a.csv")).unwrap();
    let message =
        folder.refuse(&["reproduce", "--quick", "--only", "table:real_data", "--data", "out/report/a.csv"], "");
    assert!(message.contains("--out and --data are the same file"), "{message}");
}

#[test]
fn learning_replaces_a_file_only_when_told_to() {
    let folder = Folder::new("learn-overwrite");
    linear(&folder);
    let learn = [&LEARN[..], &["--save", "p.json"]].concat();
    fs::write(folder.0.join("p.json"), "mine").unwrap();
    let message = folder.refuse(&learn, "");
    assert!(message.contains("p.json") && message.contains("--overwrite"), "{message}");
    assert_eq!(fs::read(folder.0.join("p.json")).unwrap(), b"mine");
    folder.succeed(&[&learn[..], &["--overwrite"]].concat());
    assert!(folder.refuse(&learn, "").contains("--overwrite"), "the same policy is no exception");
    // What is no file cannot be replaced.
    folder.succeed(&[&LEARN[..], &["--save", "/dev/null"]].concat());
}

/// A log that is also the stream of requests would be asked for decisions without end.
#[test]
#[cfg(target_os = "linux")]
fn what_serves_people_writes_neither_to_its_input_nor_among_its_answers() {
    let folder = Folder::new("serving-streams");
    linear(&folder);
    folder.succeed(&[&LEARN[..], &["--save", "p.json"]].concat());
    let request = "{\"id\": \"ann\", \"z\": \"1\", \"state\": [0.3], \"action\": null}\n";
    for (options, redirected, message) in [
        ("--log in", "< in > out", "--log and standard input are the same file"),
        ("--log link", "< in > out", "--log and standard input are the same file"),
        ("--memory in", "< in > out", "--memory and standard input are the same file"),
        ("--log out", "< in > out", "--log and standard output are the same file"),
        ("", "< in >> in", "standard output and standard input are the same file"),
    ] {
        fs::write(folder.0.join("in"), request).unwrap();
        fs::write(folder.0.join("out"), "").unwrap();
        let _ = std::os::unix::fs::symlink("in", folder.0.join("link"));
        let line = format!("exec \"$0\" decide --policy p.json --serve-anyway {options} {redirected}");
        let output = std::process::Command::new("sh")
            .args(["-c", &line, env!("CARGO_BIN_EXE_counterfair")])
            .current_dir(&folder.0)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(message), "{line}: {said}");
        assert_eq!(fs::read_to_string(folder.0.join("in")).unwrap(), request, "{line}");
        assert_eq!(fs::read_to_string(folder.0.join("out")).unwrap(), "", "{line}");
    }
}

#[test]
fn a_log_is_begun_in_no_file_that_holds_something_else() {
    let folder = Folder::new("log-elsewhere");
    linear(&folder);
    folder.succeed(&[&LEARN[..], &["--save", "p.json"]].concat());
    for name in ["data.csv", "other.json"] {
        if name == "other.json" {
            fs::write(folder.0.join(name), "{\"version\": 1}\n").unwrap();
        }
        let before = fs::read(folder.0.join(name)).unwrap();
        let message = folder.refuse(&["decide", "--policy", "p.json", "--serve-anyway", "--log", name], "");
        assert!(message.contains(&format!("{name} holds something that is not the log")), "{message}");
        assert_eq!(fs::read(folder.0.join(name)).unwrap(), before);
    }
}

#[test]
#[cfg(unix)]
fn a_folder_that_cannot_be_made_is_told_before_any_work() {
    let folder = Folder::new("early");
    std::os::unix::fs::symlink("nowhere/deep", folder.0.join("link")).unwrap();
    for command in [
        &["verify", "--from", "absent.json", "--out", "link"][..],
        &["reproduce", "--quick", "--data", "absent.csv", "--out", "link"],
        &["simulate", "--world", "linear", "--n", "100000000", "--t", "1000000", "--out", "link"],
    ] {
        let message = folder.refuse(command, "");
        assert!(message.contains("link: ") && !message.contains("absent"), "{command:?}: {message}");
    }
}
