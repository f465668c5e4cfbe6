//! What a command reads and what it writes, gathered in one place and compared before anything is done.
//!
//! Files are compared by what they are (device and inode, at the end of links), not by their names: no command replaces a file that it
//! reads, whatever other permission it was given.

use super::error::CliError;
use counterfair::fair::ProgramCommand;
use counterfair::files::{SameFile, can_be_written, distinct_files};
use counterfair::report::study::{FolderError, writable};
use std::path::{Path, PathBuf};

/// The files of one command.
#[derive(Default)]
pub struct Files {
    reads: Vec<(&'static str, PathBuf)>,
    writes: Vec<(&'static str, PathBuf)>,
    /// Files in folders that are replaced if they are there.
    replaces: Vec<(&'static str, PathBuf)>,
    folders: Vec<PathBuf>,
}

impl Files {
    /// Adds files that are read.
    pub fn reading<'a>(mut self, option: &'static str, paths: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        self.reads.extend(paths.into_iter().map(|path| (option, path.clone())));
        self
    }

    /// Adds the files that a command line names, its program among them.
    pub fn running<'a>(self, option: &'static str, commands: impl IntoIterator<Item = &'a ProgramCommand>) -> Self {
        let words = commands.into_iter().flat_map(|command| &command.words);
        let files: Vec<PathBuf> = words.map(PathBuf::from).filter(|path| path.is_file()).collect();
        self.reading(option, &files)
    }

    /// Adds files that are read: what there is in a folder.
    pub fn reading_in(self, option: &'static str, folder: &Path) -> Self {
        let files: Vec<PathBuf> = entries(folder).collect();
        self.reading(option, &files)
    }

    /// Adds standard input and output where they are files: what is written must be neither.
    pub fn streaming(self) -> Self {
        let file = |stream: &str| Some(PathBuf::from(stream)).filter(|path| path.is_file());
        self.reading("standard input", &file("/dev/stdin")).writing("standard output", &file("/dev/stdout"))
    }

    /// Adds files that are written, each whole.
    pub fn writing<'a>(mut self, option: &'static str, paths: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        self.writes.extend(paths.into_iter().map(|path| (option, path.clone())));
        self
    }

    /// Adds a folder in which files of these names are written.
    pub fn filling(mut self, option: &'static str, folder: &Path, is_written: impl Fn(&str) -> bool) -> Self {
        let name = |path: &PathBuf| path.file_name().is_some_and(|name| is_written(&name.to_string_lossy()));
        self.replaces.extend(entries(folder).filter(name).map(|path| (option, path)));
        self.folders.push(folder.into());
        self
    }

    /// Makes sure that nothing that is read, and nothing twice, is written.
    ///
    /// # Errors
    /// [`SameFile`], with the two options.
    pub fn check(&self) -> Result<(), SameFile> {
        let reads = named(&self.reads);
        distinct_files(&named(&self.writes), &reads)?;
        named(&self.replaces).into_iter().try_for_each(|replaced| distinct_files(&[replaced], &reads))
    }

    /// Makes sure that folders are there or could be made.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn check_folders(&self) -> Result<(), FolderError> {
        self.folders.iter().try_for_each(|folder| writable(folder))
    }

    /// All of this; and that each file could be written.
    ///
    /// # Errors
    /// [`CliError`].
    pub fn check_writable(&self) -> Result<(), CliError> {
        self.check()?;
        self.check_folders()?;
        self.writes.iter().try_for_each(|(_, path)| can_be_written(path))?;
        Ok(())
    }
}

fn named<'a>(files: &'a [(&'static str, PathBuf)]) -> Vec<(&'a str, &'a Path)> {
    files.iter().map(|(option, path)| (*option, path.as_path())).collect()
}

/// What there is in a folder; nothing, where there is none.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Refuses to replace a file unless it was said.
///
/// # Errors
/// [`CliError::Argument`], where there is a regular file.
pub fn refuse_to_replace(option: &str, path: &Path, overwrite: bool) -> Result<(), CliError> {
    if overwrite || !path.is_file() {
        return Ok(());
    }
    Err(CliError::Argument(format!(
        "{option} {}: there is a file of this name; choose another, or --overwrite to replace it",
        path.display()
    )))
}
