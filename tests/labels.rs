//! One vocabulary: a label in `proofs/`, in the paper or among what was audited leads to a claim, an erratum, a slip or a reason; names of theorems in
//! Coq exist; words of the source document stand where they are said to.

use counterfair::theory::errata::{ELSEWHERE, SLIPS, errata};
use counterfair::theory::theorems::{Proved, Quotation, proofs, theorems};
use std::collections::BTreeSet;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn in_coq() -> Vec<Proved> {
    proofs(&root().join("proofs")).expect("the proofs")
}

/// Labels of claims and of errata.
fn examined() -> BTreeSet<&'static str> {
    theorems().iter().map(|claim| claim.label).chain(errata().iter().map(|erratum| erratum.label)).collect()
}

/// All labels that lead somewhere.
fn known() -> BTreeSet<&'static str> {
    let elsewhere = ELSEWHERE.iter().map(|(label, _)| *label);
    examined().into_iter().chain(SLIPS.iter().map(|slip| slip.label)).chain(elsewhere).collect()
}

/// What was gone through, statement by statement and display by display, beside C1 … C13, D1 … D22, E1 … E12 and X1 … X15.
const AUDITED: &[&str] = &[
    "thm:cf",
    "thm:sr_policy",
    "thm:regret",
    "thm:cf_metric",
    "alg:cf:1",
    "alg:cf:2",
    "eq:cf_metric",
    "def:cf_policy",
    "def:cf_policy_cb",
    "def:cf_policy_strict",
    "asm:unmeasured_confounders",
    "asm:markov",
    "asm:unique",
    "asm:additive",
    "asm:hypothesis",
    "asm:completeness",
    "asm:coverage",
    "asm:lipschitz",
    "asm:bounded_reward",
    "asm:margin",
    "M-D1",
    "M-A1",
    "M-A2",
    "M-A3",
    "M-A4",
    "M-D2",
    "M-D3",
    "M-FLAP",
    "M-RT",
    "M-T1",
    "M-T2",
    "M-J",
    "M-MET",
    "M-TXT1",
    "M-TXT2",
    "M-TXT3",
    "M-TXT4",
    "ALG1-a",
    "ALG1-b",
    "ALG1-c",
    "ALG1-d",
    "ALG1-e",
    "ALG1-f",
    "ALG1-g",
    "ALG2-a",
    "ALG2-b",
    "D-A1",
    "D-A2",
    "D-A3",
    "D-A4",
    "D-A5",
    "D-iid",
    "E-A6",
    "E-extra",
    "F-1",
    "F-2",
    "F-3",
    "F-4",
    "F-5",
    "F-6",
    "F-7",
];

#[test]
fn nothing_that_was_audited_is_left_without_a_claim_an_erratum_or_a_reason() {
    let numbered = [('C', 13), ('D', 22), ('E', 12), ('X', 15)];
    let displays = numbered.into_iter().flat_map(|(letter, last)| (1..=last).map(move |k| format!("{letter}{k}")));
    let audited: Vec<String> = displays.chain(AUDITED.iter().map(|label| label.to_string())).collect();
    let known = known();
    let left: Vec<&String> = audited.iter().filter(|label| !known.contains(label.as_str())).collect();
    assert!(left.is_empty(), "left out: {left:?}");
}

#[test]
fn a_reason_is_given_only_where_it_is_needed_and_leads_somewhere() {
    let (examined, known) = (examined(), known());
    for (label, reason) in ELSEWHERE {
        assert!(!examined.contains(label), "{label} has a reason for not being examined, and is");
        if let Some(named) = reason.strip_prefix("is ") {
            let named = named.split([' ', ',']).next().unwrap_or_default().trim_end_matches(':');
            assert!(known.contains(named), "{label} points to {named}, which leads nowhere");
        }
    }
}

#[test]
fn what_a_claim_or_an_erratum_says_is_proved_is_a_theorem_in_coq() {
    let found: BTreeSet<String> = in_coq().into_iter().map(|theorem| theorem.name).collect();
    let named = theorems().into_iter().map(|claim| (claim.label, claim.proved_by));
    let named = named.chain(errata().into_iter().map(|erratum| (erratum.label, erratum.proved_by)));
    let mut count = 0;
    for (label, names) in named {
        for name in names {
            assert!(found.contains(*name), "{label}: proofs/ has no theorem {name}");
            count += 1;
        }
    }
    assert!(count > 30, "only {count} names");
}

#[test]
fn a_label_in_the_proofs_leads_somewhere() {
    let known = known();
    for theorem in in_coq() {
        for label in &theorem.labels {
            assert!(known.contains(label.as_str()), "{}, {}: nothing is called {label}", theorem.file, theorem.name);
        }
    }
}

/// Labels that the paper must speak of: the theorems, the algorithms, and what replaces what.
const IN_THE_PAPER: &[&str] = &[
    "thm:cf",
    "thm:sr_policy",
    "thm:regret",
    "thm:cf_metric",
    "def:cf_policy",
    "def:cf_policy_strict",
    "alg:cf:1",
    "alg:cf:2",
    "asm:margin",
    "lemma:P",
    "M-TXT3",
    "M-TXT4",
    "E12",
    "X7",
];

/// Every label that a Typst text quotes: the text between quotes in `lab("…")`, `witness("…")`, and in lists after `backs:`.
fn quoted_labels(text: &str) -> BTreeSet<String> {
    let mut labels = BTreeSet::new();
    for opening in ["lab(\"", "witness(\"", "witness-left(\"", "witness-right(\""] {
        for rest in text.split(opening).skip(1) {
            labels.extend(rest.split('"').next().map(String::from));
        }
    }
    for rest in text.split("backs: (").skip(1) {
        let list = rest.split(')').next().unwrap_or_default();
        labels.extend(list.split('"').skip(1).step_by(2).map(String::from));
    }
    labels
}

#[test]
fn labels_are_read_from_the_text_of_the_paper() {
    let text = "#lab(\"D3\") and\n#statement(\"T\", backs: (\"thm:cf\", \"M-TXT4\"), x)[#witness-left(\"E8\")]";
    assert_eq!(quoted_labels(text).into_iter().collect::<Vec<_>>(), ["D3", "E8", "M-TXT4", "thm:cf"]);
}

#[test]
fn the_paper_quotes_labels_that_exist_and_all_that_matter() {
    let text = std::fs::read_to_string(root().join("paper/counterfair.typ")).expect("the text of the paper");
    let quoted = quoted_labels(&text);
    // The paper's own list of labels has those of claims, errata and proofs.
    let proved: Vec<Proved> = in_coq();
    let mut known: BTreeSet<&str> = examined();
    known.extend(proved.iter().flat_map(|theorem| &theorem.labels).map(String::as_str));
    let unknown: Vec<_> = quoted.iter().filter(|label| !known.contains(label.as_str())).collect();
    assert!(unknown.is_empty(), "labels in the paper that lead nowhere: {unknown:?}");
    let missing: Vec<_> = IN_THE_PAPER.iter().filter(|label| !quoted.contains(**label)).collect();
    assert!(missing.is_empty(), "labels that the paper should speak of: {missing:?}");
}

/// Every quotation of the source document with the label that it stands under.
fn quotations() -> Vec<(&'static str, Quotation)> {
    let claims = theorems().into_iter().filter_map(|claim| Some((claim.label, claim.source?)));
    let errata = errata().into_iter().map(|erratum| (erratum.label, erratum.source));
    claims.chain(errata).chain(SLIPS.iter().map(|slip| (slip.label, slip.source))).collect()
}

#[test]
fn quotations_are_long_enough_to_be_found_and_short_enough_for_a_table() {
    for (label, Quotation { words, .. }) in quotations() {
        assert!((5..=130).contains(&words.chars().count()), "{label} quotes {words:?}");
    }
}

#[test]
#[ignore = "needs the source document, which is not in the repository: COUNTERFAIR_SOURCE=FILE"]
fn quotations_are_verbatim() {
    let path = std::env::var_os("COUNTERFAIR_SOURCE").expect("COUNTERFAIR_SOURCE names the source document");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines: Vec<&str> = text.split('\n').collect();
    let quotations = quotations();
    assert!(quotations.len() > 50);
    for (label, Quotation { line, words }) in quotations {
        let found = lines.get(line - 1).unwrap_or_else(|| panic!("{label}: no line {line}"));
        assert!(found.contains(words), "{label}: line {line} does not say {words:?}");
    }
}

/// `kernel::x::{A, B}, y::C` as kernel::x::A, kernel::x::B and y::C.
fn paths(runs: &str) -> Vec<String> {
    let mut found = vec![];
    let mut rest = runs;
    while !rest.is_empty() {
        let end = rest.find([',', '{']).unwrap_or(rest.len());
        let (head, tail) = rest.split_at(end);
        if let Some(inner) = tail.strip_prefix('{') {
            let (names, after) = inner.split_once('}').expect("a closing brace");
            found.extend(names.split(',').map(|name| format!("{}{}", head.trim(), name.trim())));
            rest = after;
        } else {
            found.push(head.trim().to_string());
            rest = tail;
        }
        rest = rest.trim_start_matches([',', ' ']);
    }
    found
}

/// The map of the kernel: every checked statement that runs it, from the line of the source document to its theorem in Coq.
fn map() -> String {
    let mut text = String::from("| label | line | what is checked | runs | in Coq |\n|---|---|---|---|---|\n");
    for claim in theorems() {
        let kernel: Vec<String> = paths(claim.runs).into_iter().filter(|path| path.starts_with("kernel::")).collect();
        if kernel.is_empty() {
            continue;
        }
        let line = claim.source.map_or("ours".into(), |quotation| quotation.line.to_string());
        let code = |names: Vec<String>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let proved = code(claim.proved_by.iter().map(|name| name.to_string()).collect());
        let proved = if proved.is_empty() { "–".to_string() } else { proved };
        let runs = code(kernel.iter().map(|path| path.replacen("kernel::", "", 1)).collect());
        let says = claim.says.replace('|', "\\|");
        text += &format!("| `{}` | {line} | {says} | {runs} | {proved} |\n", claim.label);
    }
    text
}

/// Every end of the map is there: the kernel has what a claim says that it runs. Theorems in Coq are looked up above, lines of the source below.
#[test]
fn what_a_claim_runs_is_in_the_kernel() {
    let mut looked_up = 0;
    for claim in theorems() {
        for path in paths(claim.runs).iter().filter(|path| path.starts_with("kernel::")) {
            let mut parts = path.split("::").skip(1);
            let (room, name) = (parts.next().unwrap_or_default(), path.rsplit("::").next().unwrap_or_default());
            let sources = sources(&root().join("src/kernel").join(room));
            let defined = ["fn", "struct", "trait", "enum", "mod"]
                .iter()
                .any(|kind| sources.iter().any(|text| text.contains(&format!("pub {kind} {name}"))));
            assert!(defined, "{}: the kernel has no {path}", claim.label);
            looked_up += 1;
        }
    }
    assert!(looked_up > 30, "only {looked_up} paths");
}

fn sources(folder: &Path) -> Vec<String> {
    let mut found = vec![];
    for entry in std::fs::read_dir(folder).expect("a room of the kernel").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(std::fs::read_to_string(path).expect("a source file"));
        }
    }
    found
}

/// The map in the kernel's documentation is the one that the claims make; `COUNTERFAIR_MAP=write` writes it.
#[test]
fn the_map_of_the_kernel_is_the_one_that_the_claims_make() {
    let file = root().join("src/kernel/MAP.md");
    if std::env::var("COUNTERFAIR_MAP").is_ok_and(|word| word == "write") {
        std::fs::write(&file, map()).expect("the map written");
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(committed == map(), "src/kernel/MAP.md is stale: COUNTERFAIR_MAP=write cargo test --test labels writes it");
}
