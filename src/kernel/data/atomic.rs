//! Writing a file so that a crash never leaves half of it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The system refused to write a file.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot be written: {source}", path.display())]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// Writes a file aside in the same directory, then renames it into place: whoever looks at `path` sees the old file or the
/// whole new one. On failure, a panic of `write` included, the file aside is removed and the old one stays.
///
/// A symbolic link is followed. What is neither a file nor a directory (a pipe, `/dev/stdout`) is written to directly, since
/// there a rename would replace the device by a file.
///
/// # Errors
/// [`WriteError`] with what the system said.
///
/// # Example
/// ```
/// let path = std::env::temp_dir().join(format!("counterfair-{}.txt", std::process::id()));
/// counterfair::kernel::data::atomically(&path, |out| writeln!(out, "whole or not at all"))?;
/// assert_eq!(std::fs::read_to_string(&path)?, "whole or not at all\n");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn atomically(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), WriteError> {
    in_place(path, write).map_err(|source| WriteError { path: path.to_path_buf(), source })
}

fn in_place(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let target = match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory")),
        Ok(found) if !found.is_file() => return fill(OpenOptions::new().write(true).open(path)?, write).map(drop),
        Ok(_) => fs::canonicalize(path)?,
        Err(_) => path.to_path_buf(),
    };
    let (aside, file) = Aside::create(&target)?;
    fill(file, write)?.sync_all()?;
    aside.rename_to(&target)
}

fn fill(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let mut out = BufWriter::with_capacity(1 << 16, file);
    write(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)
}

/// A file beside the target, removed unless it was renamed.
struct Aside(Option<PathBuf>);

impl Aside {
    fn create(target: &Path) -> io::Result<(Self, File)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = target.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it names no file"))?;
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let mut beside = std::ffi::OsString::from(".");
            // A name of the full length allowed leaves no room for a suffix; its first letters are enough here.
            beside.push(name.to_string_lossy().chars().take(40).collect::<String>());
            beside.push(format!(".{}-{count}.part", std::process::id()));
            let path = target.with_file_name(beside);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((Self(Some(path)), file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
        }
    }

    fn rename_to(mut self, target: &Path) -> io::Result<()> {
        if let Some(path) = &self.0 {
            fs::rename(path, target)?;
            self.0 = None;
        }
        Ok(())
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // Nothing is left to do when the removal fails too: the error on its way out says what went wrong first.
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory of its own for each test, removed at the end.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("counterfair-atomic-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap();
            let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_file_is_there_whole_and_nothing_else_is() {
        let scratch = Scratch::new("whole");
        let path = scratch.0.join("out.csv");
        fs::write(&path, "old").unwrap();
        atomically(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(scratch.names(), ["out.csv"]);
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_other() {
        let scratch = Scratch::new("failed");
        let path = scratch.0.join("out.csv");
        fs::write(&path, "old").unwrap();
        let failed = atomically(&path, |out| {
            out.write_all(&[b'x'; 1 << 18])?;
            Err(io::Error::other("disk on fire"))
        });
        let message = failed.unwrap_err().to_string();
        assert!(message.contains("out.csv") && message.contains("disk on fire"), "{message}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(scratch.names(), ["out.csv"]);
    }

    #[test]
    fn a_panic_while_writing_leaves_the_old_file_and_no_other() {
        let scratch = Scratch::new("panic");
        let path = scratch.0.join("out.csv");
        fs::write(&path, "old").unwrap();
        let panicked = std::panic::catch_unwind(|| atomically(&path, |_| panic!("on purpose")));
        assert!(panicked.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(scratch.names(), ["out.csv"]);
    }

    #[test]
    fn the_old_file_is_seen_until_the_new_one_is_whole() {
        let scratch = Scratch::new("until");
        let path = scratch.0.join("out.csv");
        fs::write(&path, "old").unwrap();
        atomically(&path, |out| {
            out.write_all(b"new")?;
            out.flush()?;
            assert_eq!(fs::read(&path)?, b"old");
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn a_directory_is_refused_by_name() {
        let scratch = Scratch::new("directory");
        let message = atomically(&scratch.0, |_| Ok(())).unwrap_err().to_string();
        assert!(message.contains("counterfair-atomic-directory"), "{message}");
        assert!(atomically(&scratch.0.join("absent/out.csv"), |_| Ok(())).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_and_a_device_is_not_replaced() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let scratch = Scratch::new("link");
        let (file, link) = (scratch.0.join("file"), scratch.0.join("link"));
        fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        atomically(&link, |out| out.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        atomically(Path::new("/dev/null"), |out| out.write_all(b"gone")).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }
}
