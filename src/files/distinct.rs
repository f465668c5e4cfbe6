//! Outputs that are not inputs, and not each other.

use super::atomic::end_of_links;
use std::path::{Path, PathBuf};

/// Two options that name one file, one of them to write it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{output} and {other} are the same file, {}: it would be lost", path.display())]
pub struct SameFile {
    /// The option whose file is to be written.
    pub output: String,
    /// The other option.
    pub other: String,
    /// The file, as the first option names it.
    pub path: PathBuf,
}

/// Makes sure that no output is an input or another output, by whatever names: `(option, path)` each.
///
/// Links are followed and hard links are seen. What is no regular file (`/dev/null`, a pipe) may be named twice.
///
/// # Errors
/// [`SameFile`] with the two options.
///
/// # Example
/// ```
/// use counterfair::files::distinct_files;
/// use std::path::Path;
/// let refused = distinct_files(&[("--out", Path::new("./a.csv"))], &[("--data", Path::new("a.csv"))]).unwrap_err();
/// assert_eq!(refused.to_string(), "--out and --data are the same file, ./a.csv: it would be lost");
/// ```
pub fn distinct_files(outputs: &[(&str, &Path)], inputs: &[(&str, &Path)]) -> Result<(), SameFile> {
    for (i, (output, path)) in outputs.iter().enumerate() {
        let Some(file) = identity(path) else { continue };
        let others = outputs[..i].iter().chain(inputs);
        if let Some((other, _)) = others.into_iter().find(|(_, other)| identity(other).as_ref() == Some(&file)) {
            return Err(SameFile { output: output.to_string(), other: other.to_string(), path: path.to_path_buf() });
        }
    }
    Ok(())
}

/// What makes a file the same file.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    /// Device and number of a file that exists.
    #[cfg(unix)]
    Exists(u64, u64),
    /// Folder and name.
    At(PathBuf),
}

/// `None` for what is no regular file, and where there is no such folder: writing will say so.
fn identity(path: &Path) -> Option<Identity> {
    let end = end_of_links(path).ok()?;
    if let Ok(found) = std::fs::metadata(&end) {
        if !found.is_file() {
            return None;
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            return Some(Identity::Exists(found.dev(), found.ino()));
        }
    }
    let folder = end.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(Identity::At(folder.canonicalize().ok()?.join(end.file_name()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn one_file_under_two_names_is_refused_and_two_files_are_not() {
        let folder = std::env::temp_dir().join(format!("counterfair-distinct-{}", std::process::id()));
        fs::create_dir_all(folder.join("inner")).unwrap();
        let at = |name: &str| folder.join(name);
        fs::write(at("data.csv"), "x").unwrap();
        fs::write(at("other.csv"), "x").unwrap();
        fs::hard_link(at("data.csv"), at("twin.csv")).unwrap();
        let check = |out: &str, data: &str| distinct_files(&[("--out", &at(out))], &[("--data", &at(data))]);
        let mut same = vec!["data.csv", "inner/../data.csv", "twin.csv"];
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("data.csv", at("link.csv")).unwrap();
            same.push("link.csv");
        }
        for name in same {
            let refused = check(name, "data.csv").expect_err(name);
            assert_eq!((refused.output.as_str(), refused.other.as_str()), ("--out", "--data"), "{name}");
        }
        for name in ["other.csv", "new.csv", "inner/data.csv"] {
            assert_eq!(check(name, "data.csv"), Ok(()), "{name}");
        }
        let (new, again, nowhere) = (at("new.json"), at("inner/../new.json"), at("absent/new.json"));
        assert!(distinct_files(&[("--out", &new), ("--save", &again)], &[]).is_err(), "before either exists");
        assert_eq!(distinct_files(&[("--out", &nowhere), ("--save", &nowhere)], &[]), Ok(()), "writing will say so");
        fs::remove_dir_all(&folder).unwrap();
    }
}
