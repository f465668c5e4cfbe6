//! Modules name only modules to their left, and the top level holds what it should.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of `src`, as paths of the crate name them; the command line is a crate of its own.
const ORDER: [&str; 10] = [
    "kernel::numeric",
    "kernel::data",
    "kernel::model",
    "kernel::preprocess",
    "kernel::learn",
    "kernel::evaluate",
    "fair",
    "theory",
    "reproduction",
    "report",
];

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

/// Every module of the crate that a line of code names, in `crate::x`, `crate::kernel::x`, `crate::{x, y}` and multi-line lists alike.
fn named_modules(text: &str) -> BTreeSet<String> {
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut named = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        for item in heads(&code[at + "crate::".len()..]) {
            match item.strip_prefix("kernel::") {
                None => named.extend([head(item).to_string()]),
                Some(rest) => named.extend(heads(rest).iter().map(|part| format!("kernel::{}", head(part)))),
            }
        }
    }
    named
}

/// The paths at the start of a text: one, or those of a list in braces, which may hold lists itself.
fn heads(text: &str) -> Vec<&str> {
    let Some(inner) = text.strip_prefix('{') else { return vec![text] };
    let (mut items, mut depth, mut start) = (Vec::new(), 0usize, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            '}' | ',' if depth == 0 => {
                items.push(inner[start..at].trim());
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    items
}

/// The name a path starts with.
fn head(path: &str) -> &str {
    path.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("")
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
        for file in sources(&src.join(module.replace("::", "/"))) {
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
    let model = "kernel::model";
    for text in [
        "use crate::kernel::learn::Agent;",
        "use crate::kernel::{\n    data::Panel,\n    learn::Agent,\n};",
        "use crate::kernel::{data::{Panel, Labels}, learn::Agent};",
        "use crate::{kernel::{data::Panel, learn::Agent}};",
        "fn f() { crate::kernel::learn::x(); }",
    ] {
        assert_eq!(wrong_edges(model, text), ["kernel::learn"], "{text}");
    }
    assert_eq!(wrong_edges(model, "use crate::{kernel::data, theory::claims};"), ["theory"]);
    assert!(wrong_edges(model, "// crate::kernel::learn\nuse crate::kernel::numeric::Stream;").is_empty());
    assert!(wrong_edges(model, "use crate::kernel::{numeric::Stream, data};").is_empty());
}

/// Methods of faer's matrices that take the global number of threads: their last digits depend on it.
const ON_ALL_THREADS: [&str; 10] = [
    ".svd()",
    ".thin_svd()",
    ".singular_values()",
    ".partial_piv_lu()",
    ".full_piv_lu()",
    ".qr()",
    ".col_piv_qr()",
    ".llt(",
    ".self_adjoint_eigen",
    "Par::rayon",
];

#[test]
fn every_factorisation_says_that_it_runs_on_one_thread() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in sources(&src) {
        let text = fs::read_to_string(&file).unwrap();
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let found = ON_ALL_THREADS.iter().find(|name| line.contains(**name));
            assert!(found.is_none(), "{}: {} depends on the number of threads", file.display(), line.trim());
        }
    }
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
