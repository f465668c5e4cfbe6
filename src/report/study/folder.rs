//! The folder of a study: nobody's files are overwritten, and nothing of an earlier study is left to be mistaken for this one.

use super::{Numbers, Picture, html, json, pictures, tables};
use crate::fair::study::Study;
use crate::files::{Readers, WriteError, create_private_folder, written};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Why a study is not written.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The folder has something in it that is not an earlier study's.
    #[error(
        "{folder} holds {file}, which is not part of an earlier study; choose another --out, or --overwrite to write there all the same"
    )]
    Foreign {
        /// The folder.
        folder: String,
        /// The first such file.
        file: String,
    },
    /// The folder cannot be read.
    #[error("{folder}: {source}")]
    Read {
        /// The folder.
        folder: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The policy cannot be written.
    #[error("{0}")]
    Policy(String),
}

/// The file that tells what else belongs to a study.
const INDEX: &str = "study.json";

/// Files that are called the same in every study.
const FIXED: [&str; 3] = ["index.html", INDEX, "policy.json"];

/// What can be seen before any work: whether the folder is free, or an earlier study's.
///
/// # Errors
/// [`FolderError::Foreign`], [`FolderError::Read`].
pub fn check(folder: &Path) -> Result<(), FolderError> {
    let known = earlier(folder);
    let name = folder.display().to_string();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(FolderError::Read { folder: name, source }),
        Ok(entries) => entries,
    };
    let mut files: Vec<String> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    files.sort();
    match files.into_iter().find(|file| !known.contains(file)) {
        None => Ok(()),
        Some(file) => Err(FolderError::Foreign { folder: name, file }),
    }
}

/// What can be seen before any work: whether something can be written there. Nothing is left behind.
///
/// # Errors
/// [`FolderError::Read`], with what the system said.
pub fn writable(folder: &Path) -> Result<(), FolderError> {
    let refused = |problem: &str| FolderError::Read {
        folder: folder.display().to_string(),
        source: std::io::Error::new(std::io::ErrorKind::NotFound, problem),
    };
    if folder.ancestors().any(|path| path.is_symlink() && !path.exists()) {
        return Err(refused("it is, or lies behind, a link to something that is not there"));
    }
    let there = folder.ancestors().find(|path| path.exists()).filter(|path| !path.as_os_str().is_empty());
    let probe = there.unwrap_or(Path::new(".")).join(format!(".counterfair-{}", std::process::id()));
    let tried = fs::create_dir(&probe).and_then(|()| fs::remove_dir(&probe));
    tried.map_err(|source| FolderError::Read { folder: folder.display().to_string(), source })
}

/// Whether a study may write, or remove, a file of this name in a folder.
///
/// Pictures and tables are named after their section: `4-values.csv`.
pub fn may_write(folder: &Path) -> impl Fn(&str) -> bool {
    let known = earlier(folder);
    move |name| {
        let is_numbered = name.split_once('-').is_some_and(|(section, _)| section.parse::<u8>().is_ok());
        FIXED.contains(&name) || is_numbered || known.contains(name)
    }
}

/// The files of the earlier study in a folder, itself included; none when there is no study.
fn earlier(folder: &Path) -> BTreeSet<String> {
    let found = fs::read_to_string(folder.join(INDEX)).ok().and_then(|text| serde_json::from_str(&text).ok());
    let Some(found): Option<serde_json::Value> = found else { return BTreeSet::new() };
    if found["format"] != "counterfair study" {
        return BTreeSet::new();
    }
    // Names come from a file that anybody may have written: only such as a study has.
    let ours =
        |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c)) && !name.starts_with('.');
    let listed = found["files"].as_array().into_iter().flatten().filter_map(|name| name.as_str());
    listed.filter(|name| ours(name)).map(String::from).chain([INDEX.to_string()]).collect()
}

/// Writes the page and everything beside it, and gives the path of the page. Where ids were asked for, files and a new folder are their
/// owner's alone.
///
/// # Errors
/// [`FolderError`]. A folder with files of others is refused unless `overwrite`.
pub fn write(study: &Study, command: &str, folder: &Path, overwrite: bool) -> Result<PathBuf, FolderError> {
    if !overwrite {
        check(folder)?;
    }
    let old = earlier(folder);
    let (pictures, tables) = (pictures::all(study), tables::all(study));
    let policy = study.policy.as_ref().filter(|_| study.verdict.recommends());
    let mut files: Vec<String> = vec!["index.html".into(), INDEX.into()];
    files.extend(pictures.iter().map(|Picture { name, .. }| format!("{name}.svg")));
    files.extend(tables.iter().map(|Numbers { name, .. }| format!("{name}.csv")));
    files.extend(policy.map(|_| "policy.json".to_string()));
    let page = html(study, command, &pictures, &tables);
    let text = format!("{:#}\n", json(study, command, &files));

    debug_assert!(files.iter().all(|name| may_write(folder)(name)), "names that inputs are compared with");
    let names_people = study.names_people();
    let made = if names_people { create_private_folder(folder) } else { fs::create_dir_all(folder) };
    made.map_err(|source| WriteError { path: folder.into(), source })?;
    // An earlier page in this folder may have named nobody and have been shared.
    let readers = if names_people { Readers::OwnerAloneFromNowOn } else { Readers::AsUsual };
    let put = |name: &str, text: &str| written(&folder.join(name), readers, |out| out.write_all(text.as_bytes()));
    // First what tells which files are ours, so that a run that was killed can be repeated.
    put(INDEX, &text)?;
    for name in old.iter().filter(|name| !files.contains(name)) {
        let path = folder.join(name);
        if path.is_file() {
            fs::remove_file(&path).map_err(|source| WriteError { path, source })?;
        }
    }
    for Picture { name, svg, .. } in &pictures {
        put(&format!("{name}.svg"), svg)?;
    }
    for Numbers { name, table, .. } in &tables {
        put(&format!("{name}.csv"), &table.csv())?;
    }
    if let Some(policy) = policy {
        let mut policy = policy.clone();
        policy.manifest.command = command.into();
        policy.save(folder.join("policy.json")).map_err(|error| FolderError::Policy(error.to_string()))?;
    }
    put("index.html", &page)?;
    Ok(folder.join("index.html"))
}
