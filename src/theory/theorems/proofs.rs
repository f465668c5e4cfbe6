//! Which theorems stand in a folder of Coq files, and under which labels.

use std::io;
use std::path::Path;

/// A theorem, lemma or corollary of a Coq file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proved {
    /// Its file.
    pub file: String,
    /// Its name.
    pub name: String,
    /// The labels of the lines `(* label: … *)` above it; none for a lemma that serves others.
    pub labels: Vec<String>,
}

/// Every theorem of a folder of Coq files, file by file.
///
/// # Errors
/// What the operating system says.
pub fn proofs(folder: &Path) -> io::Result<Vec<Proved>> {
    let mut files: Vec<_> = std::fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    files.sort_by_key(std::fs::DirEntry::file_name);
    let mut found = vec![];
    for file in files {
        let name = file.file_name().to_string_lossy().into_owned();
        if name.ends_with(".v") {
            found.extend(in_file(&name, &std::fs::read_to_string(file.path())?));
        }
    }
    Ok(found)
}

/// How many theorems of a folder carry a label, where the folder is at hand.
pub fn proved(folder: &Path) -> Option<usize> {
    Some(proofs(folder).ok()?.iter().filter(|theorem| !theorem.labels.is_empty()).count())
}

fn in_file(file: &str, text: &str) -> Vec<Proved> {
    let (mut labels, mut found) = (vec![], vec![]);
    for line in text.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("(* label:") {
            let named = rest.split("*)").next().unwrap_or_default();
            labels.extend(named.split_whitespace().map(String::from));
        } else if let Some(rest) = ["Theorem ", "Lemma ", "Corollary "].iter().find_map(|word| line.strip_prefix(word))
        {
            let name = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_' || *c == '\'').collect();
            found.push(Proved { file: file.into(), name, labels: std::mem::take(&mut labels) });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_theorem_may_have_several_labels_or_none() {
        let text = "(* label: D3 *)\n  (* label: thm:cf *)\nTheorem one (x : nat) : x = x.\nLemma between : True.\n(* label: D3 *)\nTheorem two: True.";
        let found: Vec<(String, Vec<String>)> = in_file("a.v", text).into_iter().map(|t| (t.name, t.labels)).collect();
        let owned = |labels: &[&str]| labels.iter().map(|l| l.to_string()).collect::<Vec<_>>();
        let expected = [("one", owned(&["D3", "thm:cf"])), ("between", vec![]), ("two", owned(&["D3"]))];
        assert_eq!(found, expected.map(|(name, labels)| (name.to_string(), labels)));
    }
}
