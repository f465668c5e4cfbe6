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
