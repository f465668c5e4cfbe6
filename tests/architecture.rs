//! Modules name only modules to their left, and the top level holds what it should.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const ORDER: [&str; 9] =
    ["numeric", "data", "model", "preprocess", "learn", "evaluate", "verify", "experiment", "report"];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files
}

/// Every module of the crate that a line of code names, in `crate::x`, `crate::{x, y}` and multi-line lists alike.
fn named_modules(text: &str) -> BTreeSet<String> {
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut named = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let list = match rest.strip_prefix('{') {
            Some(inner) => inner.split('}').next().unwrap_or("").to_string(),
            None => rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect(),
        };
        for item in list.split(',') {
            let head: String = item.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            named.insert(head);
        }
    }
    named
}

fn wrong_edges(module: &str, text: &str) -> Vec<String> {
    let position = ORDER.iter().position(|m| *m == module).unwrap();
    let right = &ORDER[position + 1..];
    named_modules(text).into_iter().filter(|named| right.contains(&named.as_str())).collect()
}

#[test]
fn modules_name_only_modules_to_their_left() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut read = 0;
    for module in ORDER {
        let mut files = sources(&src.join(module));
        files.extend(Some(src.join(format!("{module}.rs"))).filter(|file| file.exists()));
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let wrong = wrong_edges(module, &text);
            assert!(wrong.is_empty(), "{} names {wrong:?}", file.display());
            read += 1;
        }
    }
    assert!(read > 30, "only {read} files were read");
}

#[test]
fn an_edge_to_the_right_is_seen_however_it_is_written() {
    for text in [
        "use crate::learn::Agent;",
        "use crate::{\n    data::Panel,\n    learn::Agent,\n};",
        "fn f() { crate::learn::x(); }",
    ] {
        assert_eq!(wrong_edges("model", text), ["learn"], "{text}");
    }
    assert!(wrong_edges("model", "// crate::learn\nuse crate::numeric::Stream;").is_empty());
    assert!(wrong_edges("model", "use crate::{numeric::Stream, data};").is_empty());
}

#[test]
fn the_top_level_holds_nothing_unexpected() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let expected = [
        "Cargo.toml",
        "Cargo.lock",
        "LICENSE",
        "README.md",
        "src",
        "proofs",
        "notebooks",
        "tests",
        "benches",
        "paper",
        "target",
        "out",
    ];
    for entry in fs::read_dir(root).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(name.starts_with('.') || expected.contains(&name.as_str()), "{name} is not part of the layout");
    }
}
