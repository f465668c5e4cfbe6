//! A folder for what does not fit in memory: readable by its owner alone, and gone afterwards.

use crate::files::{DataError, WriteError};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How the names of scratch folders begin; the process and a count follow.
const PREFIX: &str = "counterfair-scratch-";

/// The file that a run at work holds locked.
const LOCK: &str = "lock";

/// A folder of scratch files, removed when it is dropped; what a run that was killed has left is removed when the next one starts.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    count: AtomicU64,
    _lock: File,
}

impl Scratch {
    /// A new folder in `parent`, mode 700; its files have mode 600.
    ///
    /// # Errors
    /// [`DataError`] with what the system said.
    pub fn new(parent: &Path) -> Result<Self, DataError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        remove_leftovers(parent);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let folder = parent.join(format!("{PREFIX}{}-{count}", std::process::id()));
            match private_folder(&folder) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(source) => return Err(WriteError { path: folder, source }.into()),
            }
            let lock = folder.join(LOCK);
            return match held(&folder, &lock) {
                Ok(file) => Ok(Self { folder, count: AtomicU64::new(0), _lock: file }),
                Err(source) => {
                    let _ = fs::remove_dir_all(&folder);
                    Err(WriteError { path: lock, source }.into())
                }
            };
        }
    }

    /// A new file in the folder.
    pub(crate) fn create(&self) -> Result<(PathBuf, File), DataError> {
        let path = self.folder.join(self.count.fetch_add(1, Ordering::Relaxed).to_string());
        let file = private_file(&path).map_err(|source| WriteError { path: path.clone(), source })?;
        Ok((path, file))
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If this fails the next run removes it.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A lock that is held from the moment at which it has its name: whoever starts at the same time would take a free one for that of a killed run.
fn held(folder: &Path, lock: &Path) -> io::Result<File> {
    let unnamed = folder.join("unnamed");
    let file = private_file(&unnamed)?;
    file.try_lock().map_err(io::Error::other)?;
    fs::rename(&unnamed, lock)?;
    Ok(file)
}

fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Removes the folders of runs that were killed: their lock is free. A folder without a lock may be that of a run just starting.
fn remove_leftovers(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let ours = name.to_str().and_then(|name| name.strip_prefix(PREFIX)).and_then(|rest| rest.split_once('-'));
        let is_name =
            ours.is_some_and(|(process, count)| process.parse::<u32>().is_ok() && count.parse::<u64>().is_ok());
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let lock = || OpenOptions::new().write(true).open(entry.path().join(LOCK));
        if is_name && is_folder && lock().is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_start_at_the_same_time_leave_each_other_alone() {
        let parent = std::env::temp_dir().join(format!("counterfair-scratch-race-{}", std::process::id()));
        fs::create_dir_all(&parent).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let scratch = Scratch::new(&parent).unwrap();
                        scratch.create().unwrap();
                    }
                });
            }
        });
        fs::remove_dir_all(&parent).unwrap();
    }

    #[test]
    fn a_folder_at_work_is_left_alone_one_of_a_killed_run_is_removed_and_files_are_private() {
        let parent = std::env::temp_dir().join(format!("counterfair-scratch-test-{}", std::process::id()));
        fs::create_dir_all(&parent).unwrap();
        let at_work = Scratch::new(&parent).unwrap();
        let (path, _) = at_work.create().unwrap();
        let killed = parent.join(format!("{PREFIX}4000000-7"));
        fs::create_dir(&killed).unwrap();
        fs::write(killed.join(LOCK), "").unwrap();
        fs::write(killed.join("0"), "people").unwrap();
        let other = parent.join(format!("{PREFIX}mine"));
        fs::create_dir(&other).unwrap();
        let second = Scratch::new(&parent).unwrap();
        assert!(path.exists() && !killed.exists() && other.exists());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            assert_eq!(fs::metadata(second.folder()).unwrap().permissions().mode() & 0o777, 0o700);
        }
        let folders = [at_work.folder().to_path_buf(), second.folder().to_path_buf()];
        drop((at_work, second));
        assert!(folders.iter().all(|folder| !folder.exists()));
        fs::remove_dir_all(&parent).unwrap();
    }
}
