//! One vocabulary: a label in `proofs/` or in the paper is a label of a claim, and a claim without a proof says why.

use counterfair::theory::claims;
use std::collections::BTreeSet;
use std::path::Path;

/// Labels of claims that no proof carries, with the reason.
const UNPROVED: &[(&str, &str)] = &[
    ("ALG1-b", "a count of rows in the library, not a theorem"),
    ("D10", "elementary, and superseded by lemma:P"),
    ("D11", "Weyl's inequality, a textbook fact"),
    ("D18", "its refutation follows from D4; the witness is numerical"),
    ("D20", "probability of sums of signs, evaluated instead"),
    ("D21", "a sign in print, visible at once"),
    ("E1", "the triangle inequality"),
    ("E11", "the counterpart of E8"),
    ("X1", "an instance of D16"),
    ("X2", "an instance of D13"),
    ("X5", "an instance of D22 and D3"),
    ("M-TXT2", "an instance in numbers"),
    ("X13", "an instance in numbers"),
    ("X15", "a property of the library's metric"),
    ("asm:completeness", "a witness in numbers; the closure is proved under alg:cf:2"),
    ("asm:markov", "a process written out; its law is enumerated"),
    ("bed:circle", "a test bed"),
    ("bed:hat", "a test bed"),
    ("rate:end-to-end", "statistical"),
    ("rate:epsilon", "statistical"),
    ("rate:minimax", "closed forms evaluated"),
    ("bed:lattice", "a test bed"),
    ("rate:n", "statistical"),
    ("ALG1-g", "a witness written out"),
    ("ALG2-a", "one number against another"),
    ("C1", "an index, shown on two bits"),
    ("C10", "a condition on the worlds of the simulations"),
    ("C11", "enumerated; in the proofs it is part of C12"),
    ("C2", "enumerated; in the proofs it is part of thm:sr_policy"),
    ("D1", "the library's step against the formula"),
    ("D12", "D11 and D10 together"),
    ("D15", "two numbers"),
    ("D17", "quoted from elsewhere; binomial laws are evaluated"),
    ("D2", "as D1"),
    ("D5", "an identity of matrices"),
    ("D8", "the definition of the norm"),
    ("E2", "the triangle inequality twice"),
    ("E3", "inherits X4"),
    ("E4", "inherits D16"),
    ("F-3", "a value of the simulations"),
    ("F-7", "a value of the simulations"),
    ("M-D1", "a witness written out"),
    ("M-J", "a factor γ"),
    ("M-TXT1", "a witness written out"),
    ("X14", "an instance in numbers"),
    ("asm:bounded_reward", "a tail probability of the simulations"),
    ("asm:coverage", "the trace bounds the least eigenvalue"),
    ("asm:lipschitz", "a comparison of norms"),
    ("rate:cf_metric", "statistical"),
    ("rate:oracle", "statistical"),
];

/// Labels of proofs that are proved for use in others and have no check of their own.
const UNCHECKED: &[(&str, &str)] = &[];

/// Every `(* label: … *)` in the Coq files of a folder.
fn proof_labels(folder: &Path) -> BTreeSet<String> {
    let files = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut labels = BTreeSet::new();
    for file in files.map(|entry| entry.expect("a readable folder").path()) {
        if file.extension().is_some_and(|extension| extension == "v") {
            labels.extend(labels_in(&std::fs::read_to_string(&file).expect("a readable file")));
        }
    }
    labels
}

fn labels_in(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split("(* label:").skip(1).filter_map(|rest| Some(rest.split("*)").next()?.trim().to_string()))
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
    "bed:hat",
    "bed:circle",
    "bed:lattice",
    "M-TXT3",
    "M-TXT4",
    "E12",
];

/// Every label that a Typst text quotes: the text between quotes in `lab("…")`, `witness("…")`, in lists after `backs:` and at the head of a row of
/// the errata.
fn quoted_labels(text: &str) -> BTreeSet<String> {
    let mut labels = BTreeSet::new();
    for opening in ["lab(\"", "witness(\"", "witness-left(\"", "witness-right(\"", "\n  (\""] {
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

fn claim_labels() -> BTreeSet<String> {
    claims().into_iter().map(|claim| claim.label.to_string()).collect()
}

#[test]
fn labels_are_read_from_coq_comments() {
    let text = "(* label: thm:cf *)\nTheorem a. (* a remark *) (* label: D3 *) Qed.";
    assert_eq!(labels_in(text).collect::<Vec<_>>(), ["thm:cf", "D3"]);
}

/// Fails unless every label found in a place is a claim's and every claim's label is found there, but for those excused.
///
/// Another place joins by reading its labels and calling this with two lists of its own.
fn share_labels(place: &str, found: &BTreeSet<String>, unclaimed: &[(&str, &str)], missing: &[(&str, &str)]) {
    let claims = claim_labels();
    let excused =
        |list: &[(&str, &str)]| -> BTreeSet<String> { list.iter().map(|(label, _)| label.to_string()).collect() };
    let without_claim: BTreeSet<_> = found.difference(&claims).cloned().collect();
    assert_eq!(without_claim, excused(unclaimed), "labels in {place} without a claim, against those excused");
    let not_found: BTreeSet<_> = claims.difference(found).cloned().collect();
    assert_eq!(not_found, excused(missing), "labels of claims that are not in {place}, against those excused");
}

#[test]
fn proofs_and_claims_share_their_labels_both_ways() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs");
    share_labels("proofs/", &proof_labels(&folder), UNCHECKED, UNPROVED);
}

#[test]
fn labels_are_read_from_the_text_of_the_paper() {
    let text = "#lab(\"D3\") and\n  (\"X1\", [a], [b]),\n#statement(\"T\", backs: (\"thm:cf\", \"M-TXT4\"), x)[#witness-left(\"E8\")]";
    assert_eq!(quoted_labels(text).into_iter().collect::<Vec<_>>(), ["D3", "E8", "M-TXT4", "X1", "thm:cf"]);
}

#[test]
fn the_paper_quotes_labels_that_exist_and_all_that_matter() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("paper");
    let text = std::fs::read_to_string(folder.join("counterfair.typ")).expect("the text of the paper");
    let (quoted, claims) = (quoted_labels(&text), claim_labels());
    let unknown: Vec<_> = quoted.difference(&claims).collect();
    assert!(unknown.is_empty(), "labels in the paper without a claim: {unknown:?}");
    let missing: Vec<_> = IN_THE_PAPER.iter().filter(|label| !quoted.contains(**label)).collect();
    assert!(missing.is_empty(), "labels that the paper should speak of: {missing:?}");
}
