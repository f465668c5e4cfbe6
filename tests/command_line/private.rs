//! Nobody's id leaves unless it was asked for, and what is about people is its owner's alone.

use super::folder::Folder;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What all ids begin with, and nothing else.
const MARK: &str = "Zq7Xw";

/// 90 people of two levels with five visits each. One cell in twenty is blank from visit 3 on, one time is not there, and one cell is far from all
/// others.
fn people(change: impl Fn(usize, usize, Vec<String>) -> Option<Vec<String>>) -> String {
    let mut text = "ID,timestamp,z1,action,reward,state1\n".to_string();
    for i in 0..90usize {
        for t in 0..5usize {
            let wave = |k: usize| (1.7 * (7 * i + k) as f64).sin() + 0.01 * ((i * 31 + k * 17) % 101) as f64;
            let (action, reward) = match t {
                0 => (String::new(), String::new()),
                _ => (((i / 2 + t * t) % 2).to_string(), format!("{}", wave(t + 40))),
            };
            let cells = vec![
                format!("{MARK}{i:03}"),
                t.to_string(),
                (i % 2).to_string(),
                action,
                reward,
                format!("{}", wave(t)),
            ];
            text.extend(change(i, t, cells).map(|cells| cells.join(",") + "\n"));
        }
    }
    text
}

fn with_holes() -> String {
    people(|i, t, mut cells| {
        match (i, t) {
            (40, 3) => return None,
            (50, 1) => cells[5] = "1e12".into(),
            _ if i % 20 == 7 && t == 3 => cells[5] = String::new(),
            _ => {}
        }
        Some(cells)
    })
}

/// Everything in a folder and below, but for what `skip` names.
fn contents(folder: &Path, skip: &[&str]) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        if skip.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            found.extend(contents(&path, skip));
        } else {
            found.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
    found
}

fn holds(bytes: &[u8]) -> bool {
    bytes.windows(MARK.len()).any(|part| part == MARK.as_bytes())
}

/// Commands that read people, each in its quickest form, and whether they are to fail.
fn commands() -> Vec<(Vec<&'static str>, bool)> {
    let drop = ["--data", "holes.csv", "--missing", "drop-tail", "--noise", "additive", "--model", "linear"];
    let learn = ["--learner", "least-squares", "--splits", "0", "--replicates", "4", "--save-anyway", "--overwrite"];
    let evaluate =
        ["evaluate", "--policy", "p.json", "--data", "holes.csv", "--missing", "drop-tail", "--replicates", "2"];
    let study = ["--replicates", "2", "--overwrite"];
    let all = |parts: &[&[&'static str]]| parts.concat();
    vec![
        (all(&[&["learn", "--save", "p.json"], &drop, &learn]), false),
        (all(&[&["learn", "--save", "p.json", "--json"], &drop, &learn]), false),
        (
            all(&[
                &["learn", "--save", "large.json", "--ram", "100KB", "--scratch", "."],
                &drop,
                &["--overwrite", "--save-anyway"],
            ]),
            false,
        ),
        (all(&[&["preprocess", "--out", "out.csv", "--save", "pre.json"], &drop]), false),
        (all(&[&["preprocess", "--out", "out.csv", "--json"], &drop]), false),
        (all(&[&["preprocess", "--out", "out.csv", "--ram", "100KB", "--scratch", "."], &drop]), false),
        (evaluate.to_vec(), false),
        (all(&[&evaluate, &["--json"]]), false),
        (all(&[&["study", "--out", "study"], &drop, &study]), false),
        (all(&[&["study", "--out", "study", "--json"], &drop, &study]), false),
        (vec!["learn", "--data", "holes.csv", "--save", "no.json"], true),
        (vec!["learn", "--data", "gap.csv", "--save", "no.json"], true),
        (vec!["study", "--data", "twice.csv", "--out", "no"], true),
        (vec!["preprocess", "--data", "moves.csv", "--out", "no.csv"], true),
        (vec!["preprocess", "--data", "first.csv", "--out", "no.csv"], true),
        (vec!["learn", "--data", "between.csv", "--rows", "outgoing", "--save", "no.json"], true),
    ]
}

fn write_files(folder: &Folder) {
    let put = |name: &str, text: String| fs::write(folder.0.join(name), text).unwrap();
    put("holes.csv", with_holes());
    put("gap.csv", people(|i, t, cells| ((i, t) != (40, 3)).then_some(cells)));
    let cell = |at: usize, text: &'static str, (who, when): (usize, usize)| {
        people(move |i, t, mut cells| {
            if (i, t) == (who, when) {
                cells[at] = text.into();
            }
            Some(cells)
        })
    };
    put("twice.csv", cell(1, "2", (30, 3)));
    put("moves.csv", cell(2, "1", (30, 3)));
    put("first.csv", cell(3, "1", (30, 0)));
    put("between.csv", cell(3, "", (30, 2)));
}

const INPUTS: [&str; 6] = ["holes.csv", "gap.csv", "twice.csv", "moves.csv", "first.csv", "between.csv"];

#[test]
fn no_file_and_no_stream_of_any_command_has_an_id_that_was_not_asked_for() {
    let folder = Folder::new("ids");
    write_files(&folder);
    // What `preprocess` writes back has the input's rows, which is what it is for.
    let skip = [&INPUTS[..], &["out.csv"]].concat();
    for (arguments, fails) in commands() {
        let output = folder.run(&arguments);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(!output.status.success(), fails, "{arguments:?}: {message}");
        assert!(!holds(&output.stdout) && !holds(&output.stderr), "{arguments:?}: {message}");
        for (name, bytes) in contents(&folder.0, &skip) {
            assert!(!holds(&bytes), "{name} after {arguments:?}");
        }
        if fails {
            assert!(message.contains("line ") || message.contains("column "), "a place is named: {message}");
            continue;
        }
        // The same where they may be named.
        let named = folder.run(&[&arguments[..], &["--name-people"]].concat());
        assert!(holds(&named.stderr), "{arguments:?}: {}", String::from_utf8_lossy(&named.stderr));
        if arguments[0] == "study" {
            fs::remove_dir_all(folder.0.join("study")).unwrap();
        }
    }
}

/// Cells in the wrong place, columns taken for others, a header that is not there, letters in another encoding.
#[test]
fn a_file_that_is_laid_out_wrong_names_nobody_in_what_is_said_about_it() {
    let folder = Folder::new("ids-misplaced");
    let whole = people(|_, _, cells| Some(cells));
    let header = whole.lines().next().unwrap();
    let rows = |change: &dyn Fn(usize, Vec<&str>) -> String| -> String {
        whole.lines().skip(1).enumerate().map(|(i, line)| change(i, line.split(',').collect()) + "\n").collect()
    };
    let in_order = |order: [usize; 6]| rows(&|_, cells| order.map(|at| cells[at]).join(","));
    let of_line = |change: &dyn Fn(&str) -> String| {
        rows(&|i, cells| if i == 30 { change(&cells.join(",")) } else { cells.join(",") })
    };
    let texts = [
        ("cells-1", of_line(&|line| format!(",{line}"))),
        ("cells-2", of_line(&|line| line.replacen(',', ";", 1))),
        ("quote", of_line(&|line| format!("\"{line}"))),
        ("swapped", of_line(&|line| format!("1,{line}"))),
        ("time", in_order([1, 0, 2, 3, 4, 5])),
        ("state", in_order([5, 1, 2, 3, 4, 0])),
        ("reward", in_order([4, 1, 2, 3, 0, 5])),
    ];
    let command = |data: &str, more: &[&str]| {
        let learn = ["learn", "--data", data, "--save", "no.json", "--splits", "0", "--replicates", "0"];
        let message = folder.refuse(&[&learn[..], more].concat(), "");
        assert!(!message.contains(MARK) && message.contains(data), "{data} {more:?}: {message}");
        message
    };
    for (name, text) in texts {
        fs::write(folder.0.join(name), format!("{header}\n{text}")).unwrap();
        assert!(command(name, &[]).contains("line "), "{name}");
    }
    fs::write(folder.0.join("headless"), rows(&|_, cells| cells.join(","))).unwrap();
    assert!(command("headless", &[]).contains("without a header"));
    let mut latin = whole.clone().into_bytes();
    let at = latin.windows(MARK.len()).rposition(|part| part == MARK.as_bytes()).unwrap();
    latin[at + 3] = 0xfc;
    fs::write(folder.0.join("latin"), latin).unwrap();
    // What is left of the id around a letter that cannot be read.
    assert!(!command("latin", &[]).contains("Zq7"));
    fs::write(folder.0.join("whole"), &whole).unwrap();
    for more in [&["--time", "ID"][..], &["--id", "state1", "--states", "ID"], &["--id", "reward", "--reward", "ID"]] {
        let learn = ["learn", "--data", "whole", "--save", "no.json"];
        let message = folder.refuse(&[&learn[..], more].concat(), "");
        assert!(!message.contains(MARK), "{more:?}: {message}");
    }
}

/// `decide` speaks of people by their ids, which is what it was given; what it complains of on standard error names a line.
#[test]
fn serving_and_its_files_name_people_where_they_are_for_it_and_nowhere_else() {
    let folder = Folder::new("ids-served");
    write_files(&folder);
    folder.succeed(&commands()[0].0);
    let line = |id: &str, action: &str| {
        format!("{{\"id\": \"{MARK}{id}\", \"z\": \"1\", \"state\": [0.3], \"action\": {action}}}\n")
    };
    let decide = ["decide", "--policy", "p.json", "--serve-anyway", "--memory", "m", "--log", "log"];
    let served = folder.run_with(&decide, &line("1", "null"));
    assert!(served.status.success() && holds(&served.stdout) && !holds(&served.stderr));
    for bad in [line("2", "\"1\""), line("1", "null"), line("1", "\"9\"")] {
        let message = folder.refuse(&decide, &bad);
        assert!(message.contains("standard input, line 1") && !message.contains(MARK), "{message}");
    }
    for (name, bytes) in contents(&folder.0, &[&INPUTS[..], &["m", "log"]].concat()) {
        assert!(!holds(&bytes), "{name}");
    }
    folder.succeed(&[&commands()[0].0[..], &["--discount", "0.8"]].concat());
    // Whole histories of no decision are none that another policy could take over.
    let shown = folder.run(&["memory", "show", "--memory", "m"]);
    assert!(shown.status.success() && !holds(&shown.stdout) && !holds(&shown.stderr));
}

#[cfg(unix)]
mod modes {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn mode(folder: &Folder, name: &str) -> u32 {
        fs::metadata(folder.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}")).permissions().mode() & 0o777
    }

    /// Runs the command with the umask that most systems have, which lets everybody read.
    #[track_caller]
    fn run(folder: &Folder, arguments: &[&str], input: &str) {
        fs::write(folder.0.join("input"), input).unwrap();
        let output = Command::new("sh")
            .args(["-c", "umask 022; exec \"$0\" \"$@\" < input", env!("CARGO_BIN_EXE_counterfair")])
            .args(arguments)
            .current_dir(&folder.0)
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn what_is_about_people_is_made_for_its_owner_alone_and_what_is_not_is_made_as_the_umask_says() {
        let folder = Folder::new("modes");
        write_files(&folder);
        let [learn, large, preprocess, study] = [0, 2, 3, 8].map(|i| commands().swap_remove(i).0);
        for arguments in [&learn, &large, &preprocess, &study] {
            run(&folder, arguments, "");
        }
        let first = format!("{{\"id\": \"{MARK}1\", \"z\": \"1\", \"state\": [0.3], \"action\": null}}\n");
        run(&folder, &["decide", "--policy", "p.json", "--serve-anyway", "--memory", "m", "--log", "log"], &first);
        for name in ["p.json", "large.json", "out.csv", "pre.json", "m", "log"] {
            assert_eq!(mode(&folder, name), 0o600, "{name}");
        }
        run(&folder, &["memory", "forget", "--memory", "m", "--id", &format!("{MARK}1")], "");
        assert_eq!(mode(&folder, "m"), 0o600);
        let packed = [&preprocess[..], &["--out", "packed.csv.gz"]].concat();
        let packed: Vec<&str> =
            packed.iter().enumerate().filter(|(i, _)| ![1, 2].contains(i)).map(|(_, a)| *a).collect();
        run(&folder, &packed, "");
        assert_eq!(mode(&folder, "packed.csv.gz"), 0o600);
        assert_eq!(
            ["study", "study/index.html", "study/4-values.csv"].map(|name| mode(&folder, name)),
            [0o755, 0o644, 0o644]
        );
        // Pages on which ids were asked for: in a folder of their own, and in that of an earlier study, which everybody could read.
        run(&folder, &["simulate", "--world", "linear", "--n", "80", "--t", "4", "--out", "linear.csv"], "");
        let linear = ["study", "--data", "linear.csv", "--replicates", "2", "--noise", "additive", "--out"];
        let named = ["--show-ids", "3"];
        run(&folder, &[&linear[..], &["shown/a"], &named].concat(), "");
        let shown = ["shown", "shown/a", "shown/a/index.html", "shown/a/study.json", "shown/a/5-people.csv"];
        assert_eq!(shown.map(|name| mode(&folder, name)), [0o700, 0o700, 0o600, 0o600, 0o600]);
        run(&folder, &[&linear[..], &["again"]].concat(), "");
        run(&folder, &[&linear[..], &["again"], &named].concat(), "");
        let pages = ["again/index.html", "again/study.json", "again/4-values.csv", "again/5-people.csv"];
        assert_eq!(pages.map(|name| mode(&folder, name)), [0o600; 4]);
    }
}
