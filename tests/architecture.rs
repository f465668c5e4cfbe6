//! Modules name only modules to their left, and the top level holds what it should.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms of the kernel's crate, as its own paths name them.
const KERNEL: &[&str] = &["numeric", "people", "model", "preprocess", "learn", "evaluate"];

/// The rooms of the package, as paths of its library name them; the kernel and the command line are crates of their own.
const PACKAGE: &[&str] = &["files", "nets", "estimate", "audit", "fair", "theory", "reproduction", "report"];

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
        named.extend(heads(&code[at + "crate::".len()..]).into_iter().map(|item| head(item).to_string()));
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

fn wrong_edges(order: &[&str], module: &str, text: &str) -> Vec<String> {
    let position = order.iter().position(|m| *m == module).unwrap();
    let right = &order[position + 1..];
    named_modules(text).into_iter().filter(|named| right.contains(&named.as_str())).collect()
}

#[test]
fn modules_name_only_modules_to_their_left() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut read = 0;
    for (order, folder) in [(KERNEL, src.join("kernel")), (PACKAGE, src)] {
        for module in order {
            for file in sources(&folder.join(module)) {
                let text = fs::read_to_string(&file).unwrap();
                let wrong = wrong_edges(order, module, &text);
                assert!(wrong.is_empty(), "{} names {wrong:?}", file.display());
                read += 1;
            }
        }
    }
    assert!(read > 30, "only {read} files were read");
}

#[test]
fn an_edge_to_the_right_is_seen_however_it_is_written() {
    for text in [
        "use crate::learn::Agent;",
        "use crate::{\n    people::Panel,\n    learn::Agent,\n};",
        "use crate::{people::{Panel, Labels}, learn::Agent};",
        "fn f() { crate::learn::x(); }",
    ] {
        assert_eq!(wrong_edges(KERNEL, "model", text), ["learn"], "{text}");
    }
    assert_eq!(wrong_edges(PACKAGE, "files", "use crate::{kernel::people, theory::errata};"), ["theory"]);
    assert!(wrong_edges(KERNEL, "model", "// crate::learn\nuse crate::numeric::Stream;").is_empty());
    assert!(wrong_edges(PACKAGE, "audit", "use crate::{kernel::numeric::Stream, estimate};").is_empty());
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
