//! Options that several commands share, given to each of them: a file that is read, or a number that comes out, only when the option is used.

use super::folder::Folder;
use serde_json::Value;
use std::fs;

/// 66 people, levels 0, 1 and 5, four decisions each; a cell is anything the closure makes of it (row, column, text).
fn panel(cell: impl Fn(usize, usize, String) -> String) -> Vec<u8> {
    let mut rows = vec!["ID,timestamp,z1,action,reward,state1".split(',').map(String::from).collect::<Vec<_>>()];
    for i in 0..66 {
        for t in 0..5 {
            // No two states are equal: on a lattice, unfairness is not bounded.
            let between = (i * 5 + t) as f64 * 0.618_033_988_7 % 1.0;
            let (s, a) = ((((i * 7 + t * 3 + i * t) % 11) as f64 + between) / 5.0 + 0.1, (i * i + t) % 2);
            let decision = match t {
                0 => [String::new(), String::new()],
                _ => [a.to_string(), ((i * 5 + t * 2 + i * i) % 7).to_string()],
            };
            let [action, reward] = decision;
            let level = ["0", "1", "5"][i % 3].to_string();
            rows.push(vec![format!("p{i:02}"), t.to_string(), level, action, reward, format!("{s:?}")]);
        }
    }
    let lines = rows.into_iter().enumerate().map(|(row, cells)| {
        cells.into_iter().enumerate().map(|(j, text)| cell(row, j, text)).collect::<Vec<_>>().join(",")
    });
    lines.map(|line| line + "\n").collect::<String>().into_bytes()
}

fn plain() -> Vec<u8> {
    panel(|_, _, text| text)
}

/// A command on `study.csv` in its quickest form. An evaluation is that of a policy learned from the plain file.
fn command(name: &str) -> Vec<&'static str> {
    let data = ["--data", "study.csv"];
    let more: &[&str] = match name {
        "preprocess" => &["--out", "out.csv", "--noise", "additive"],
        "learn" => &[
            "--learner",
            "least-squares",
            "--save-anyway",
            "--overwrite",
            "--replicates",
            "5",
            "--splits",
            "0",
            "--save",
            "learned.json",
        ],
        "study" => &["--out", "study", "--overwrite", "--noise", "additive", "--replicates", "2"],
        "evaluate" => &["--policy", "policy.json", "--json", "--replicates", "2"],
        other => unreachable!("{other}"),
    };
    let name = ["preprocess", "learn", "study", "evaluate"].into_iter().find(|known| *known == name).unwrap();
    [&[name], &data[..], more].concat()
}

/// Learns `policy.json` from the plain file, without a certificate, and leaves `study.csv` plain.
fn with_policy(folder: &Folder) {
    fs::write(folder.0.join("study.csv"), plain()).unwrap();
    let learn = ["--method", "full", "--learner", "least-squares", "--save-anyway", "--overwrite", "--replicates", "0"];
    folder.succeed(&[&["learn", "--data", "study.csv", "--save", "policy.json"], &learn[..]].concat());
}

#[test]
fn each_command_reads_a_file_as_it_is_told_to() {
    let folder = Folder::new("reading-options");
    with_policy(&folder);
    let holed = panel(|row, j, text| if (row, j) == (13, 4) { String::new() } else { text });
    // Visits every seven days, each up to two days late.
    let uneven = panel(|row, j, text| match (row, j) {
        (1.., 1) => (7 * text.parse::<usize>().unwrap() + row % 3).to_string(),
        _ => text,
    });
    let tilde = String::from_utf8(plain()).unwrap().replace(',', "~").into_bytes();
    let commas = String::from_utf8(plain()).unwrap().replace(',', ";").replace('.', ",").into_bytes();
    let mut latin = plain();
    for at in 0..latin.len() - 3 {
        if &latin[at..at + 3] == b"p07" {
            latin[at] = 0xe9;
        }
    }
    for name in ["preprocess", "learn", "study", "evaluate"] {
        for (file, option) in [
            (&holed, ["--missing", "drop-tail"]),
            (&uneven, ["--step", "7"]),
            (&tilde, ["--separator", "~"]),
            (&latin, ["--encoding", "windows-1252"]),
        ] {
            fs::write(folder.0.join("study.csv"), file).unwrap();
            folder.refuse(&command(name), "");
            folder.succeed(&[&command(name)[..], &option].concat());
        }
        // Decimal commas show themselves, and are no numbers where points were asked for.
        fs::write(folder.0.join("study.csv"), &commas).unwrap();
        folder.succeed(&command(name));
        folder.refuse(&[&command(name)[..], &["--decimal", "point"]].concat(), "");
    }
}

#[test]
fn each_command_that_fits_takes_columns_and_rows_as_they_are_named() {
    let folder = Folder::new("column-options");
    let names = ["who", "week", "sex", "dose", "gain", "weight"];
    let renamed = panel(|row, j, text| if row == 0 { names[j].into() } else { text });
    let options = ["--id", "--time", "--z", "--action", "--reward", "--states"];
    // The same decisions, each on the row of the state it was taken in.
    let text = String::from_utf8(plain()).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let outgoing: String = (0..lines.len())
        .map(|row| {
            let own = &lines[row];
            let next = lines.get(row + 1).filter(|next| row > 0 && next[0] == own[0]);
            let decision = if row == 0 {
                format!("{},{}", own[3], own[4])
            } else {
                next.map_or(",".into(), |n| format!("{},{}", n[3], n[4]))
            };
            format!("{},{},{},{decision},{}\n", own[0], own[1], own[2], own[5])
        })
        .collect();
    for name in ["preprocess", "learn", "study"] {
        fs::write(folder.0.join("study.csv"), &renamed).unwrap();
        let all: Vec<&str> = options.iter().zip(names).flat_map(|(option, name)| [*option, name]).collect();
        folder.succeed(&[&command(name)[..], &all].concat());
        for left_out in 0..names.len() {
            let mut some = all.clone();
            some.drain(2 * left_out..2 * left_out + 2);
            folder.refuse(&[&command(name)[..], &some].concat(), "");
        }
        fs::write(folder.0.join("study.csv"), &outgoing).unwrap();
        folder.refuse(&[&command(name)[..], &["--rows", "incoming"]].concat(), "");
        folder.succeed(&command(name));
        folder.succeed(&[&command(name)[..], &["--rows", "outgoing"]].concat());
    }
}

/// What a command makes of `study.csv` with these further options.
fn made(folder: &Folder, name: &str, options: &[&str]) -> String {
    let said = folder.succeed(&[&command(name)[..], options].concat());
    match name {
        "preprocess" => fs::read_to_string(folder.0.join("out.csv")).unwrap(),
        "learn" => {
            let policy: Value = serde_json::from_slice(&fs::read(folder.0.join("learned.json")).unwrap()).unwrap();
            format!("{} {} {} {}", policy["mechanism"], policy["q"], policy["certificate"], policy["level_weights"])
        }
        "study" => {
            let study: Value = serde_json::from_slice(&fs::read(folder.0.join("study/study.json")).unwrap()).unwrap();
            format!("{} {} {}", study["believe"], study["policies"], study["treated"])
        }
        _ => serde_json::from_str::<Value>(&said).unwrap()["pairs"].to_string(),
    }
}

/// The mechanism asked for is the one that is fitted. For an evaluation that is the one of a policy that brings none.
#[test]
fn each_command_fits_the_mechanism_asked_for() {
    let folder = Folder::new("model-options");
    with_policy(&folder);
    let given = &["--model", "linear", "--fit", "pooled"];
    for name in ["preprocess", "study", "evaluate"] {
        let base = made(&folder, name, given);
        assert_ne!(base, made(&folder, name, &["--model", "trig", "--fit", "pooled"]), "{name} --model");
        let numbers = made(&folder, name, &[&given[..], &["--level-code", "number"]].concat());
        assert_ne!(base, numbers, "{name} --level-code");
        assert_ne!(base, made(&folder, name, &["--model", "linear", "--fit", "per-level"]), "{name} --fit");
        assert_ne!(base, made(&folder, name, &[&given[..], &["--keep", "state1"]].concat()), "{name} --keep");
        // Levels have a third of the people each.
        let weighed = made(&folder, name, &[&given[..], &["--weights", "0.1,0.1,0.8"]].concat());
        assert_eq!(base == weighed, name == "evaluate", "{name} --weights");
        let message = folder.refuse(&[&command(name)[..], given, &["--weights", "0.5,0.5"]].concat(), "");
        assert!(message.contains("weights [0.5, 0.5]"), "{name}: {message}");
    }
    let evaluated = |options: &[&str]| made(&folder, "evaluate", options);
    let additive = evaluated(&["--model", "linear", "--noise", "additive"]);
    assert_ne!(additive, evaluated(&["--model", "linear", "--noise", "rank"]));
    let ours = |options: &[&str]| made(&folder, "learn", &[&given[..], options].concat());
    assert_ne!(ours(&[]), ours(&["--level-code", "number"]));
    assert_ne!(ours(&[]), ours(&["--seed", "9"]), "resampled people are others");
    let net = |seed| made(&folder, "preprocess", &["--model", "neural", "--seed", seed]);
    assert_ne!(net("1"), net("9"), "nets start elsewhere");
}

#[test]
fn a_study_follows_its_own_options() {
    let folder = Folder::new("study-options");
    fs::write(folder.0.join("study.csv"), plain()).unwrap();
    let study = |options: &[&str]| -> Value {
        folder.succeed(&[&command("study")[..], options].concat());
        serde_json::from_slice(&fs::read(folder.0.join("study/study.json")).unwrap()).unwrap()
    };
    let [plain, other] =
        [&[][..], &["--seed", "9", "--folds", "3", "--dropout", "weighted", "--note", "drawn by lot"]].map(study);
    assert_eq!((&plain["done"]["seed"], &other["done"]["seed"]), (&1.into(), &9.into()));
    assert_eq!((&plain["done"]["folds"], &other["done"]["folds"]), (&5.into(), &3.into()));
    assert_eq!(other["done"]["fold_sizes"].as_array().unwrap().len(), 3);
    assert_ne!(plain["done"]["dropout"], other["done"]["dropout"]);
    assert!(other["done"]["dropout"].to_string().contains("eighted"), "{}", other["done"]["dropout"]);
    assert!(!plain["notes"].to_string().contains("lot") && other["notes"].to_string().contains("drawn by lot"));
    let page = fs::read_to_string(folder.0.join("study/index.html")).unwrap();
    assert!(page.contains("drawn by lot"));
    let start = std::time::Instant::now();
    let hanging = ["--policy-command", "sleep 45", "--timeout", "1"];
    let message = folder.refuse(&[&command("study")[..], &hanging].concat(), "");
    assert!(start.elapsed().as_secs() < 40, "{message}");
    assert!(message.contains("1 s"), "{message}");
}

#[test]
fn what_the_paper_includes_is_made_from_the_folders_that_are_named() {
    let folder = Folder::new("report-options");
    let root = env!("CARGO_MANIFEST_DIR");
    let [results, proofs, peers] =
        ["paper/results", "proofs", "benches/peers/results.json"].map(|p| format!("{root}/{p}"));
    let all = ["--results", &results, "--proofs", &proofs, "--peers", &peers, "--out", "made"];
    let made = |options: &[&str]| -> Option<Vec<(String, Vec<u8>)>> {
        let output = folder.run(&[&["report", "--paper"], options].concat());
        output.status.success().then(|| {
            let entries = fs::read_dir(folder.0.join("made")).unwrap().map(|entry| entry.unwrap());
            let mut files: Vec<_> =
                entries.map(|e| (e.file_name().to_string_lossy().into_owned(), fs::read(e.path()).unwrap())).collect();
            files.sort();
            files
        })
    };
    let whole = made(&all).expect("everything is there");
    assert_eq!(folder.names(), ["made"]);
    assert!(whole.len() > 20, "{} files", whole.len());
    for left_out in 0..3 {
        let mut some = all.to_vec();
        let option = some.drain(2 * left_out..2 * left_out + 2).next().unwrap();
        assert_ne!(made(&some).as_ref(), Some(&whole), "{option}");
    }
}

/// Nobody at level 5 receives action 1: learning and preprocessing say so, and do not where somebody does.
#[test]
fn warnings_of_a_mechanism_are_printed() {
    let folder = Folder::new("mechanism-warnings");
    let lines: Vec<String> = String::from_utf8(plain()).unwrap().lines().map(String::from).collect();
    let never: String = lines.iter().map(|line| line.replace(",5,1,", ",5,0,") + "\n").collect();
    for (text, expected) in [(String::from_utf8(plain()).unwrap(), false), (never, true)] {
        fs::write(folder.0.join("study.csv"), text).unwrap();
        for name in ["preprocess", "learn"] {
            let output = folder.run(&command(name));
            let message = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{message}");
            let said = message.contains("warning: nobody in group 5 ever received action 1");
            assert_eq!(said, expected, "{name}: {message}");
        }
    }
}
